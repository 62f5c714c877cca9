//! Every phrase, in every language.

use super::super::digest::digest;
use super::super::segment::{Mark, join, join_spoken};
use super::super::template::{TemplatePart, parts};
use super::*;
use crate::announce::text::speakable::Profile;

fn phrases(text: &str) -> Phrases {
    let file = digest(&format!("language = \"en\"\n[phrases]\n{text}")).unwrap();
    let file = BuiltIn {
        tag: "en",
        phrases: file.phrases.leak(),
        rest: "",
    };
    Phrases::built_in(Box::leak(Box::new(file))).unwrap()
}

#[test]
fn every_file_that_is_built_in_can_be_read() {
    for file in &BUILT_IN {
        let phrases = Phrases::built_in(file).unwrap();
        assert!(phrases.has("session.started"));
        assert!(!phrases.has("session.startedX") && !phrases.has("") && !phrases.has("\u{a0}"));
    }
    assert_eq!(BUILT_IN[0].rest, "", "English has its words in the code");
}

/// Reassembles a phrase from its parts.
fn again(text: &str) -> String {
    let part = |part| match part {
        TemplatePart::Literal(text) => text.to_owned(),
        TemplatePart::Key { command, key } => format!("{{key:{command}={key}}}"),
        TemplatePart::Typed(text) => format!("{{type:{text}}}"),
        TemplatePart::Arg(name) => format!("{{{name}}}"),
        TemplatePart::Plural { arg, one, many } => format!("{{{arg}#{one}#{many}}}"),
        TemplatePart::Optional(inner) => format!("[{}]", again(inner)),
    };
    parts(text).map(part).collect()
}

#[test]
fn no_letter_of_a_phrase_is_lost() {
    for file in &BUILT_IN {
        let phrases = Phrases::built_in(file).unwrap();
        for line in file.phrases.lines() {
            let (key, texts) = line.split_once('\t').unwrap();
            let leveled = phrases.find(key).unwrap();
            assert_eq!([leveled.normal, leveled.others].concat(), texts, "{key}");
            let levels = [Verbosity::Terse, Verbosity::Normal, Verbosity::Detailed];
            for text in levels.map(|level| leveled.at(level)) {
                assert_eq!(again(text), text, "{} {key}", file.tag);
                // Malformed text would stay unchanged.
                let has_sign = |part| matches!(part, TemplatePart::Literal(text) if text.contains(['[', ']', '{', '}']));
                assert!(!parts(text).any(has_sign), "{} {key}", file.tag);
            }
        }
    }
}

#[test]
fn a_sentence_ends_with_a_stop_whatever_the_agents_last_sign_is() {
    let n = ("n", Arg::own(1));
    for file in &BUILT_IN {
        let phrases = Phrases::built_in(file).unwrap();
        for key in ["question.default.response", "quit.default.response"] {
            for (response, end) in [
                ("Age 65 (standard)", "Age 65 (standard)."),
                ("Rebate [10 %]", "Rebate [10 %]."),
                ("20 %", "20 %."),
                ("As agreed.", "As agreed."),
                ("Who?", "Who?"),
                ("Monday", "Monday."),
            ] {
                let exact = Arg::Exact(response.to_owned(), None);
                let text = phrases.text(key, &[n.clone(), ("response", exact)]);
                assert!(text.ends_with(end), "{}: {text}", file.tag);
            }
        }
    }
}

#[test]
fn an_agents_words_at_the_end_of_a_sentence_end_with_its_stop() {
    let n = ("n", Arg::own(1));
    for file in &BUILT_IN {
        let phrases = Phrases::built_in(file).unwrap();
        for (key, name) in [
            ("question.timeout.response", "response"),
            ("question.choice", "label"),
            ("question.default.response", "response"),
        ] {
            for (text, ended) in [
                ("Age 65 (standard)", "Age 65 (standard)."),
                ("As agreed.", "As agreed."),
                ("Who?", "Who?"),
            ] {
                let args = [n.clone(), (name, Arg::Exact(text.to_owned(), None))];
                let segments = phrases.say(key, Verbosity::Normal, &args);
                let last = segments.last().unwrap();
                assert_eq!(last.text(), ended, "{}: {key}", file.tag);
                assert_eq!(
                    join(&segments).matches('.').count(),
                    ended.matches('.').count()
                );
            }
        }
        // A segment on separate rows may be a command, in which a stop means something.
        let args = [n.clone(), ("label", Arg::Command("rm -r build".to_owned()))];
        let segments = phrases.say("question.choice", Verbosity::Normal, &args);
        assert_eq!(segments.last().unwrap().text(), "rm -r build");
        for key in ["reply.answering", "reply.answering.short"] {
            let answer = ("answer", Arg::own("Age 65 (standard)"));
            let text = phrases.text(key, &[n.clone(), answer]);
            assert!(text.ends_with("Age 65 (standard)."), "{}: {text}", file.tag);
        }
    }
}

#[test]
fn a_stop_that_is_there_is_not_said_twice() {
    let phrases = phrases("a = \"Not sent: {reason}. Again?\"");
    for (reason, said) in [
        ("No time.", "Not sent: No time. Again?"),
        ("No time", "Not sent: No time. Again?"),
        ("Really?", "Not sent: Really? Again?"),
    ] {
        assert_eq!(phrases.text("a", &[("reason", Arg::own(reason))]), said);
        let agents = [("reason", Arg::Agent(reason.to_owned(), None))];
        assert_eq!(phrases.text("a", &agents), said);
    }
}

#[test]
fn the_persons_language_picks_the_file() {
    let of = |tags: &[&str]| {
        let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
        let phrases = Phrases::for_languages(&tags).unwrap();
        (
            phrases.language().to_owned(),
            phrases.voice_language().map(str::to_owned),
        )
    };
    assert_eq!(of(&["en-GB"]), ("en".into(), None));
    assert_eq!(of(&["de-AT", "en"]), ("de".into(), Some("de-AT".into())));
    assert_eq!(of(&["yo", "de"]), ("de".into(), Some("de".into())));
    assert_eq!(of(&["yo"]), ("en".into(), None), "English when none suits");
}

#[test]
fn german_is_spoken_in_german_words() {
    let german = Phrases::for_languages(&["de".into()]).unwrap();
    let args = [
        ("tool", Arg::Tool("send_email".into())),
        ("summary", Arg::Agent("## Fertig -> `ls | wc`".into(), None)),
    ];
    let said = german.say("tool.success", Verbosity::Normal, &args);
    assert_eq!(
        join_spoken(&said),
        "send email erledigt: Überschrift: Fertig zu ls Leitung wc"
    );
    assert_eq!(
        german.lexicon().spell("Ä?", true),
        "groß Ärger, Fragezeichen"
    );
    assert_eq!(german.help("quit"), "beenden");
}

#[test]
fn formulas_units_and_signs_have_words_in_every_language() {
    for (tag, written, wanted) in [
        (
            "de",
            "$\\frac{a+b}{2}$",
            "Bruch a plus b durch 2 Ende Bruch",
        ),
        (
            "de",
            "Es sind 3 kWh und `x > 0`.",
            "Es sind 3 Kilowattstunden und x größer als 0.",
        ),
        ("de", "- a\n  - b 🟥", "a. Ebene 2: b rotes Quadrat"),
        ("de", "10<sup>6</sup> und x²", "10 hoch 6 und x Quadrat"),
        ("es", "$\\sqrt{x}$", "raíz cuadrada de x"),
        (
            "es",
            "Usa 5 GB a 2 GHz.",
            "Usa 5 gigabytes a 2 gigahercios.",
        ),
        ("es", "- a\n  - b ▲", "a. nivel 2: b triángulo hacia arriba"),
        ("es", "🦩 aquí", "aquí, 1 símbolo omitido"),
    ] {
        let phrases = Phrases::for_languages(&[tag.into()]).unwrap();
        let spoken = phrases.lexicon().speak(written, Profile::Prose, None);
        assert_eq!(spoken, wanted, "{tag}: {written}");
    }
}

#[test]
fn the_persons_dictionary_reaches_every_spoken_word_and_no_shown_one() {
    let dictionary = Pronunciation::new([("nginx", "engine x"), ("started", "begun")]);
    let phrases = Phrases::english().unwrap().pronouncing(dictionary);
    let args = [
        ("agent", Arg::Name("Ops".into())),
        ("summary", Arg::Agent("Restarting nginx".into(), None)),
    ];
    let said = phrases.say("session.started", Verbosity::Normal, &args);
    assert_eq!(join(&said), "Ops started: Restarting nginx");
    assert_eq!(join_spoken(&said), "Ops begun: Restarting engine x");
    let args = [("a", Arg::Exact("kill nginx".into(), None))];
    let exact = super::tests::phrases("q = \"{a}\"");
    let exact = exact.pronouncing(Pronunciation::new([("nginx", "engine x")]));
    assert_eq!(
        join_spoken(&exact.say("q", Verbosity::Normal, &args)),
        "kill engine x"
    );
}

#[test]
fn levels_fall_back_to_normal() {
    let phrases = phrases("a = { terse = \"t\", normal = \"n\" }");
    let say = |level| join(&phrases.say("a", level, &[]));
    assert_eq!(
        (
            say(Verbosity::Terse),
            say(Verbosity::Normal),
            say(Verbosity::Detailed)
        ),
        ("t".into(), "n".into(), "n".into())
    );
}

#[test]
fn the_agents_words_are_segments_of_their_own() {
    let phrases = phrases("a = \"Finished[: {summary}]\"");
    let args = [("summary", Arg::Agent("All {done}[!]".into(), None))];
    let said = phrases.say("a", Verbosity::Normal, &args);
    assert_eq!(
        said.iter().map(|s| (s.mark, s.text())).collect::<Vec<_>>(),
        [(Mark::Own, "Finished:"), (Mark::Agent, "All {done}[!]")]
    );
    assert_eq!(join(&phrases.say("a", Verbosity::Normal, &[])), "Finished");
}

#[test]
fn what_was_just_said_is_not_said_again_by_the_agent() {
    let phrases = phrases(
        "a = \"{tool} done[: {summary}]\"\nb = \"Finished.[ The agent says: {summary}]\"\nc = \"{tool} done: {exact}\"\nd = \"{tool} done in 2 seconds: {summary}\"",
    );
    let say = |key: &str, text: &str| {
        let args = [
            ("tool", Arg::Tool("execute".into())),
            ("summary", Arg::Agent(text.into(), None)),
            ("exact", Arg::Exact(text.into(), None)),
        ];
        let said = phrases.say(key, Verbosity::Normal, &args);
        assert_eq!(join(&said), join_spoken(&said));
        join(&said)
    };
    for (key, text, wanted) in [
        ("a", "Done: npm test", "execute done: npm test"),
        ("a", "done:npm test", "execute done: npm test"),
        ("a", "Execute done: npm test", "execute done: npm test"),
        ("a", "Done.", "execute done"),
        ("a", "Done", "execute done"),
        ("a", "Done. All of it", "execute done: Done. All of it"),
        (
            "a",
            "Done well: npm test",
            "execute done: Done well: npm test",
        ),
        (
            "a",
            "Well done: npm test",
            "execute done: Well done: npm test",
        ),
        (
            "b",
            "The agent says: it is ready",
            "Finished. The agent says: it is ready",
        ),
        ("b", "It is ready", "Finished. The agent says: It is ready"),
        ("d", "Done: npm test", "execute done in 2 seconds: npm test"),
        ("c", "Done: npm test", "execute done: Done: npm test"),
    ] {
        assert_eq!(say(key, text), wanted, "{text}");
    }
}

#[test]
fn numbers_pick_their_word() {
    let phrases = phrases("a = \"{n} {n#is#are}\"");
    assert_eq!(phrases.text("a", &[("n", Arg::own(1))]), "1 is");
    assert_eq!(phrases.text("a", &[("n", Arg::own(12))]), "12 are");
}
