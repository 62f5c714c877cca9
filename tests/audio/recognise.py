"""Picks, for each recording, the candidate question that was said; from the sound alone.

Called as: recognise.py CANDIDATES RECORDING...
CANDIDATES has one question a line; a recording is raw 16-bit mono sound at 16,000 Hz.
Prints one line a recording: the number of the candidate, counted from 0, or - for none.
"""

import sys

from pocketsphinx import Decoder, get_model_path

NUMBERS = "one two three four five six seven eight nine ten".split()
# What may follow the question before the stop key cuts it.
TAIL = "if accepted they leave your list you can move them back at any time".split()
# What is said of every one of them before its action.
RISK = "low risk can be undone"


def grammar(candidates):
    """Any candidate after any number, with as much of the rest as was still said."""
    tail = ""
    for word in reversed(TAIL):
        tail = f" [ {word}{tail} ]"
    choices = " | ".join(f"( {words} )" for words in candidates)
    return (
        "#JSGF V1.0;\ngrammar question;\n"
        f"public <question> = question ( {' | '.join(NUMBERS)} ) {RISK} <action>{tail} ;\n"
        f"<action> = {choices} ;\n"
    )


def main():
    with open(sys.argv[1], encoding="utf-8") as lines:
        candidates = [line.strip().rstrip(".").lower() for line in lines if line.strip()]
    model = get_model_path()
    decoder = Decoder(
        hmm=f"{model}/en-us/en-us",
        dict=f"{model}/en-us/cmudict-en-us.dict",
        lm=None,
        loglevel="FATAL",
    )
    for word in {word for words in candidates for word in words.split()}:
        if decoder.lookup_word(word) is None:
            sys.exit(f"the recogniser does not know the word {word}")
    decoder.add_jsgf_string("question", grammar(candidates))
    decoder.activate_search("question")
    for path in sys.argv[2:]:
        with open(path, "rb") as file:
            sound = file.read()
        decoder.start_utt()
        decoder.process_raw(sound, False, True)
        decoder.end_utt()
        heard = decoder.hyp()
        words = heard.hypstr if heard else ""
        found = [at for at, said in enumerate(candidates) if f" {said}" in f" {words}"]
        print(found[0] if len(found) == 1 else "-", words)


if __name__ == "__main__":
    main()
