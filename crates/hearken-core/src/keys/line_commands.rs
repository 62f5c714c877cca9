//! The lines of the linear and JSON faces: reading them, and the table from which help and docs are generated.

use super::{Command, announcement_lines, voice_keys};

/// Reads a line of the linear or JSON face. An empty line gives `None`.
pub fn line(text: &str) -> Option<Command> {
    let text = text.trim();
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim();
    let not_understood = || {
        Some(Command::NotUnderstood(
            text.chars().filter(|c| !c.is_control()).take(40).collect(),
        ))
    };
    // A word that may be followed by a question's number accepts nothing else: "y please" is not a yes.
    let numbered = |make: fn(Option<u64>) -> Command| match (rest, rest.parse::<u64>()) {
        ("", _) => Some(make(None)),
        (_, Ok(number)) => Some(make(Some(number))),
        (_, Err(_)) => not_understood(),
    };
    let given = || Some(rest.to_owned()).filter(|rest| !rest.is_empty());
    let alone = |command: Command| {
        if rest.is_empty() {
            Some(command)
        } else {
            not_understood()
        }
    };
    match word.to_ascii_lowercase().as_str() {
        "" => None,
        "y" | "yes" => numbered(Command::Accept),
        "c" | "confirm" => numbered(Command::Confirm),
        "n" | "no" => match numbered_text(rest) {
            Some((number, reason)) => Some(Command::Reject(Some(number), Some(reason))),
            None => numbered(|id| Command::Reject(id, None)),
        },
        "d" | "details" => numbered(Command::Details),
        "r" | "reject" if rest.is_empty() => not_understood(),
        "r" | "reject" => Some(Command::Reject(None, Some(rest.to_owned()))),
        "a" | "answer" if rest.is_empty() => not_understood(),
        "a" | "answer" => Some(Command::Answer(None, Some(rest.to_owned()))),
        "o" | "option" => {
            let numbers: Result<Vec<usize>, _> = rest.split_whitespace().map(str::parse).collect();
            match numbers.as_deref() {
                Ok([choice]) => Some(Command::Choose(None, Some(*choice))),
                Ok([question, choice]) => {
                    Some(Command::Choose(Some(*question as u64), Some(*choice)))
                }
                Ok(_) | Err(_) => not_understood(),
            }
        }
        "h" | "history" => alone(Command::History),
        "-" | "back" => alone(Command::Previous),
        "+" | "forward" => alone(Command::Next),
        "again" => alone(Command::Repeat),
        "now" => alone(Command::Latest),
        "w" | "turn" => alone(Command::WholeTurn),
        "find" | "search" if rest.is_empty() => not_understood(),
        "find" | "search" => Some(Command::Search(Some(rest.to_owned()))),
        "l" | "spell" if rest == "<" => Some(Command::PreviousWord),
        "l" | "spell" if rest == ">" => Some(Command::NextWord),
        "l" | "spell" => Some(Command::Spell(
            Some(rest.to_owned()).filter(|rest| !rest.is_empty()),
        )),
        ">" | "prompt" => Some(Command::Prompt(Some(rest.to_owned()))),
        "b" | "away" => alone(Command::Away),
        "m" | "mute" => Some(Command::Mute(
            Some(rest.to_owned()).filter(|name| !name.is_empty()),
        )),
        "k" | "quiet" => alone(Command::Quiet),
        "i" => alone(Command::DoNotInterrupt),
        "t" | "status" => alone(Command::Status),
        "z" | "copy" => match rest {
            "" => Some(Command::Copy),
            "answer" => Some(Command::CopyAnswer),
            "code" => Some(Command::CopyCode),
            _ => not_understood(),
        },
        "s" => alone(Command::Stop),
        "on" => alone(Command::GoOn),
        "<" => alone(Command::BackSentence),
        "<<" => alone(Command::BackParagraph),
        "skip" => alone(Command::SkipCode),
        "stop" => match (rest, rest.parse()) {
            ("", _) => Some(Command::StopTurn),
            (_, Ok(number)) => Some(Command::StopConversation(number)),
            (_, Err(_)) => not_understood(),
        },
        "sessions" => alone(Command::Conversations),
        "fleet" => alone(Command::Fleet),
        "set" => Some(Command::Set(given())),
        "commands" => Some(Command::Commands(given())),
        "go" => match (rest, rest.parse()) {
            ("", _) => Some(Command::GoTo(None)),
            (_, Ok(number)) => Some(Command::GoTo(Some(number))),
            (_, Err(_)) => not_understood(),
        },
        "next" => alone(Command::NextQuestion),
        "p" | "hold" => alone(Command::Hold),
        "v" | "verbosity" => alone(Command::Verbosity),
        "g" | "log" => alone(Command::Remarks),
        "output" => alone(Command::Output),
        "plan" => alone(Command::Plan),
        "." => alone(Command::ReadOn),
        "," => alone(Command::ReadBack),
        ".." => alone(Command::Leap(true)),
        ",," => alone(Command::Leap(false)),
        "x" | "leave" => alone(Command::Leave),
        "?" | "help" if rest == "all" => Some(Command::AllHelp),
        "?" | "help" => alone(Command::Help),
        "q" | "quit" => alone(Command::Quit),
        other => announcement_lines::line(other, rest)
            .or_else(|| voice_keys::line(other, rest))
            .or_else(not_understood),
    }
}

/// Reads a question's number and the words after it. A second number alone does not count as words: it may be
/// another question's.
fn numbered_text(rest: &str) -> Option<(u64, String)> {
    let (number, text) = rest.split_once(char::is_whitespace)?;
    let text = text.trim();
    let number = number.parse().ok()?;
    text.chars()
        .any(char::is_alphabetic)
        .then(|| (number, text.to_owned()))
}

/// One line command for the help of the linear and JSON faces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineCommand {
    /// The heading of its group, as in the help of the keys.
    pub group: &'static str,
    /// The line as written in the help.
    pub line: &'static str,
    /// What it does, in the infinitive.
    pub does: &'static str,
}

/// Every line command, in the order of the help; the groups are those of the keys.
pub const LINES: &[LineCommand] = &[
    LineCommand {
        group: "Questions",
        line: "y, y 2",
        does: "accept the question, or question 2",
    },
    LineCommand {
        group: "Questions",
        line: "c, c 2",
        does: "confirm accepting, the second step",
    },
    LineCommand {
        group: "Questions",
        line: "n, n 2",
        does: "reject the question, or question 2",
    },
    LineCommand {
        group: "Questions",
        line: "r TEXT, r 2 TEXT",
        does: "reject with a reason",
    },
    LineCommand {
        group: "Questions",
        line: "a TEXT, a 2 TEXT",
        does: "answer in words or with a number",
    },
    LineCommand {
        group: "Questions",
        line: "o N, o 2 N",
        does: "choose option N",
    },
    LineCommand {
        group: "Questions",
        line: "d, d 2",
        does: "read the question in full, or more of what was told",
    },
    LineCommand {
        group: "Questions",
        line: "next",
        does: "go to the next question",
    },
    LineCommand {
        group: "What the agent does",
        line: "> TEXT",
        does: "tell the agent what to do",
    },
    LineCommand {
        group: "What the agent does",
        line: "stop, stop 2",
        does: "stop what the agent does, or that of conversation 2; twice",
    },
    LineCommand {
        group: "What the agent does",
        line: "set, set mode",
        does: "change the agent's mode, model or another setting of it",
    },
    LineCommand {
        group: "What the agent does",
        line: "commands, commands TEXT",
        does: "read the commands that the agent takes in a prompt, or those that begin with TEXT",
    },
    LineCommand {
        group: "What the agent does",
        line: "sessions",
        does: "read the conversations with their numbers, and how they are",
    },
    LineCommand {
        group: "What the agent does",
        line: "fleet",
        does: "read how many agents wait, work, are silent or away",
    },
    LineCommand {
        group: "What the agent does",
        line: "go 2, go",
        does: "go to conversation 2, or to nobody in particular",
    },
    LineCommand {
        group: "What the agent does",
        line: "output",
        does: "read what the last call of a tool brought",
    },
    LineCommand {
        group: "What the agent does",
        line: "plan",
        does: "read the agent's plan",
    },
    LineCommand {
        group: "What the agent does",
        line: ".",
        does: "read the next part of an answer, a change, an output or a plan",
    },
    LineCommand {
        group: "What the agent does",
        line: ",",
        does: "read the part before, or the last one",
    },
    LineCommand {
        group: "What the agent does",
        line: ".., ,,",
        does: "go to the next heading or code of an answer, or to the one before",
    },
    LineCommand {
        group: "What is going on",
        line: "t",
        does: "read what is going on",
    },
    LineCommand {
        group: "What is going on",
        line: "b",
        does: "read what happened while you were away",
    },
    LineCommand {
        group: "What is going on",
        line: "g",
        does: "read what a started program wrote to its standard error",
    },
    LineCommand {
        group: "Speech",
        line: "s",
        does: "stop speaking; twice to skip what waits",
    },
    LineCommand {
        group: "Speech",
        line: "on",
        does: "go on with what was stopped, at the same sentence",
    },
    LineCommand {
        group: "Speech",
        line: "<, <<",
        does: "hear the sentence before, or the paragraph again, and go on from there",
    },
    LineCommand {
        group: "Speech",
        line: "skip",
        does: "skip the rest of the code that is being read",
    },
    LineCommand {
        group: "Speech",
        line: "m, m NAME",
        does: "mute the agent, or hear it again; urgent news is always spoken",
    },
    LineCommand {
        group: "Speech",
        line: "k",
        does: "keep quiet but for what is urgent, or speak again",
    },
    LineCommand {
        group: "Speech",
        line: "i",
        does: "do not interrupt what is being said, or do again",
    },
    LineCommand {
        group: "Speech",
        line: "v",
        does: "change the verbosity",
    },
    LineCommand {
        group: "Speech",
        line: "j",
        does: "change how much is announced: low, medium or high load",
    },
    LineCommand {
        group: "Speech",
        line: "load low, load medium, load high",
        does: "announce that much",
    },
    LineCommand {
        group: "Speech",
        line: "language",
        does: "change to the next of your languages",
    },
    LineCommand {
        group: "Speech",
        line: "language TAG",
        does: "change to that language, for example de or en-GB",
    },
    LineCommand {
        group: "Looking back",
        line: "h",
        does: "read the last announcements again",
    },
    LineCommand {
        group: "Looking back",
        line: "-",
        does: "read the announcement before",
    },
    LineCommand {
        group: "Looking back",
        line: "+",
        does: "read the announcement after",
    },
    LineCommand {
        group: "Looking back",
        line: "now",
        does: "go to the end of the history",
    },
    LineCommand {
        group: "Looking back",
        line: "again",
        does: "read the last announcement again",
    },
    LineCommand {
        group: "Looking back",
        line: "w",
        does: "read all of an agent's last answer, and then its parts",
    },
    LineCommand {
        group: "Looking back",
        line: "find TEXT",
        does: "search the history, from the newest back",
    },
    LineCommand {
        group: "Looking back",
        line: "l",
        does: "spell it; again, by the spelling alphabet",
    },
    LineCommand {
        group: "Looking back",
        line: "l TEXT",
        does: "spell its word with TEXT in it, or its word number TEXT",
    },
    LineCommand {
        group: "Looking back",
        line: "l <",
        does: "read the word before, to spell it",
    },
    LineCommand {
        group: "Looking back",
        line: "l >",
        does: "read the word after, to spell it",
    },
    LineCommand {
        group: "Looking back",
        line: "z",
        does: "copy what is read, what is asked for, an address or an answer",
    },
    LineCommand {
        group: "Looking back",
        line: "z answer, z code",
        does: "copy the last answer, or the last code in it",
    },
    LineCommand {
        group: "The voice",
        line: "rate, pitch, volume, voice, punctuation",
        does: "hear a setting of the voice",
    },
    LineCommand {
        group: "The voice",
        line: "rate +, rate -, rate 20, rate usual",
        does: "change a setting of the voice; pitch and volume likewise",
    },
    LineCommand {
        group: "The voice",
        line: "voice NAME, punctuation LEVEL",
        does: "choose a voice, or which marks are named: none, some, most or all",
    },
    LineCommand {
        group: "The voice",
        line: "remember",
        does: "remember the voice's settings for later runs",
    },
    LineCommand {
        group: "Leaving, and this help",
        line: "p",
        does: "hold the lines, or let them go on",
    },
    LineCommand {
        group: "Leaving, and this help",
        line: "x",
        does: "leave the agent's source",
    },
    LineCommand {
        group: "Leaving, and this help",
        line: "?, ? all",
        does: "read what you can type now, or all of this help",
    },
    LineCommand {
        group: "Leaving, and this help",
        line: "q",
        does: "quit",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        for (text, wanted) in [
            ("y", Some(Command::Accept(None))),
            (" Y 2 ", Some(Command::Accept(Some(2)))),
            ("c 2", Some(Command::Confirm(Some(2)))),
            ("n", Some(Command::Reject(None, None))),
            (
                "r too much",
                Some(Command::Reject(None, Some("too much".into()))),
            ),
            (
                "a 65 years",
                Some(Command::Answer(None, Some("65 years".into()))),
            ),
            ("o 3", Some(Command::Choose(None, Some(3)))),
            ("o 2 3", Some(Command::Choose(Some(2), Some(3)))),
            ("", None),
            ("   ", None),
            ("y please", Some(Command::NotUnderstood("y please".into()))),
            (
                "n 1 because no",
                Some(Command::Reject(Some(1), Some("because no".into()))),
            ),
            ("n 1 2", Some(Command::NotUnderstood("n 1 2".into()))),
            ("n please", Some(Command::NotUnderstood("n please".into()))),
            ("m", Some(Command::Mute(None))),
            (
                "m Test Runner",
                Some(Command::Mute(Some("Test Runner".into()))),
            ),
            ("yy", Some(Command::NotUnderstood("yy".into()))),
            ("o", Some(Command::NotUnderstood("o".into()))),
            ("s now", Some(Command::NotUnderstood("s now".into()))),
            ("next", Some(Command::NextQuestion)),
            (
                "> run  the tests",
                Some(Command::Prompt(Some("run  the tests".into()))),
            ),
            (">", Some(Command::Prompt(Some(String::new())))),
            ("l >", Some(Command::NextWord)),
            ("l <", Some(Command::PreviousWord)),
            ("stop", Some(Command::StopTurn)),
            ("stop it", Some(Command::NotUnderstood("stop it".into()))),
            ("s", Some(Command::Stop)),
            ("on", Some(Command::GoOn)),
            ("on it", Some(Command::NotUnderstood("on it".into()))),
            ("<", Some(Command::BackSentence)),
            ("<<", Some(Command::BackParagraph)),
            ("skip", Some(Command::SkipCode)),
        ] {
            assert_eq!(line(text), wanted, "{text:?}");
        }
    }
}
