//! The table of keys and the table of lines: bindings, help, README and docs are all generated from them.

use super::{Command, VoiceChange};

/// One key for the help, the README and the docs.
#[derive(Debug, Clone, Copy)]
pub struct Binding {
    /// The command's name in the settings.
    pub name: &'static str,
    /// Its usual key, as written in the help.
    pub key: &'static str,
    /// What it does, in the infinitive.
    pub does: &'static str,
    pub(super) command: fn() -> Command,
}

impl Binding {
    /// Returns the command of the key.
    pub fn command(&self) -> Command {
        (self.command)()
    }
}
/// Every key of the usual mode, in the order of the help. Enter and Space are bound to nothing, and never answer.
pub const BINDINGS: &[Binding] = &[
    Binding {
        name: "accept",
        key: "y",
        does: "accept the question, or say yes",
        command: || Command::Accept(None),
    },
    Binding {
        name: "confirm",
        key: "c",
        does: "confirm accepting, the second step",
        command: || Command::Confirm(None),
    },
    Binding {
        name: "reject",
        key: "n",
        does: "reject the question, or say no",
        command: || Command::Reject(None, None),
    },
    Binding {
        name: "explain",
        key: "e",
        does: "reject the question and explain why",
        command: || Command::RejectBecause(None),
    },
    Binding {
        name: "answer",
        key: "a",
        does: "type an answer",
        command: || Command::Answer(None, None),
    },
    Binding {
        name: "choose",
        key: "o",
        does: "choose an option by its number",
        command: || Command::Choose(None, None),
    },
    Binding {
        name: "details",
        key: "d",
        does: "hear the question in full, or more of what was told",
        command: || Command::Details(None),
    },
    Binding {
        name: "next_question",
        key: "Tab",
        does: "go to the next question",
        command: || Command::NextQuestion,
    },
    Binding {
        name: "stop",
        key: "s",
        does: "stop speaking; twice to skip what waits",
        command: || Command::Stop,
    },
    Binding {
        name: "escape",
        key: "Escape",
        does: "stop speaking, and leave a search or looking back",
        command: || Command::Escape,
    },
    Binding {
        name: "repeat",
        key: "r",
        does: "repeat the last announcement",
        command: || Command::Repeat,
    },
    Binding {
        name: "previous",
        key: "Up",
        does: "go back in the history",
        command: || Command::Previous,
    },
    Binding {
        name: "next",
        key: "Down",
        does: "go forward in the history",
        command: || Command::Next,
    },
    Binding {
        name: "latest",
        key: "End",
        does: "go to the end of the history",
        command: || Command::Latest,
    },
    Binding {
        name: "first",
        key: "Home",
        does: "go to the beginning of the history",
        command: || Command::First,
    },
    Binding {
        name: "page_back",
        key: "Page Up",
        does: "go back in the history by ten; in an answer, to the heading or code before",
        command: || Command::PageBack,
    },
    Binding {
        name: "page_forward",
        key: "Page Down",
        does: "go forward in the history by ten; in an answer, to the next heading or code",
        command: || Command::PageForward,
    },
    Binding {
        name: "read_on",
        key: ".",
        does: "show the next part of a long announcement, an answer, a change, an output or a plan",
        command: || Command::ReadOn,
    },
    Binding {
        name: "read_back",
        key: ",",
        does: "show the part before",
        command: || Command::ReadBack,
    },
    Binding {
        name: "history",
        key: "h",
        does: "go back in the history, as Up does",
        command: || Command::Previous,
    },
    Binding {
        name: "status",
        key: "t",
        does: "hear what is going on",
        command: || Command::Status,
    },
    Binding {
        name: "fleet",
        key: "#",
        does: "hear how many agents wait, work, are silent or away",
        command: || Command::Fleet,
    },
    Binding {
        name: "copy",
        key: "z",
        does: "copy what is read, what is asked for, an address or an answer",
        command: || Command::Copy,
    },
    Binding {
        name: "whole_turn",
        key: "w",
        does: "hear all of an agent's last answer, and read it in parts",
        command: || Command::WholeTurn,
    },
    Binding {
        name: "search",
        key: "/",
        does: "search the history",
        command: || Command::Search(None),
    },
    Binding {
        name: "spell",
        key: "l",
        does: "spell it; again, by the spelling alphabet",
        command: || Command::Spell(None),
    },
    Binding {
        name: "previous_word",
        key: "Left",
        does: "go to the word before, to spell it",
        command: || Command::PreviousWord,
    },
    Binding {
        name: "next_word",
        key: "Right",
        does: "go to the word after, to spell it",
        command: || Command::NextWord,
    },
    Binding {
        name: "away",
        key: "b",
        does: "hear what happened while you were away",
        command: || Command::Away,
    },
    Binding {
        name: "mute",
        key: "m",
        does: "mute the agent, or hear it again; what is urgent is always said",
        command: || Command::Mute(None),
    },
    Binding {
        name: "quiet",
        key: "k",
        does: "keep quiet but for what is urgent, or speak again",
        command: || Command::Quiet,
    },
    Binding {
        name: "do_not_interrupt",
        key: "i",
        does: "do not interrupt what is being said, or do again",
        command: || Command::DoNotInterrupt,
    },
    Binding {
        name: "verbosity",
        key: "v",
        does: "change the verbosity",
        command: || Command::Verbosity,
    },
    Binding {
        name: "load",
        key: "j",
        does: "change how much is announced: low, medium or high load",
        command: || Command::Load(None),
    },
    Binding {
        name: "language",
        key: "F2",
        does: "change to the next of your languages",
        command: || Command::Language(None),
    },
    Binding {
        name: "next_conversation",
        key: "F6",
        does: "go to the next conversation, and hear how it is",
        command: || Command::NextConversation,
    },
    Binding {
        name: "output",
        key: "F3",
        does: "read what the last call of a tool brought",
        command: || Command::Output,
    },
    Binding {
        name: "plan",
        key: "F4",
        does: "read the agent's plan",
        command: || Command::Plan,
    },
    Binding {
        name: "remarks",
        key: "g",
        does: "read what a started program wrote to its standard error",
        command: || Command::Remarks,
    },
    Binding {
        name: "next_knob",
        key: "p",
        does: "hear the voice's next setting: rate, pitch, volume, voice, punctuation",
        command: || Command::NextKnob,
    },
    Binding {
        name: "raise",
        key: "+",
        does: "raise that setting of the voice, or take the next",
        command: || Command::Tune(None, VoiceChange::Up),
    },
    Binding {
        name: "lower",
        key: "-",
        does: "lower that setting of the voice, or take the one before",
        command: || Command::Tune(None, VoiceChange::Down),
    },
    Binding {
        name: "usual",
        key: "u",
        does: "set that setting of the voice back to what it was at the start",
        command: || Command::Tune(None, VoiceChange::Usual),
    },
    Binding {
        name: "remember",
        key: "f",
        does: "remember the voice's settings for later runs",
        command: || Command::Remember,
    },
    Binding {
        name: "prompt",
        key: ">",
        does: "tell the agent what to do",
        command: || Command::Prompt(None),
    },
    Binding {
        name: "stop_turn",
        key: "Ctrl-x",
        does: "stop what the agent does; twice",
        command: || Command::StopTurn,
    },
    Binding {
        name: "set",
        key: "F9",
        does: "change the agent's mode, model or another setting of it",
        command: || Command::Set(None),
    },
    Binding {
        name: "commands",
        key: "F12",
        does: "hear the commands that the agent takes in a prompt",
        command: || Command::Commands(None),
    },
    Binding {
        name: "leave",
        key: "x",
        does: "leave the agent's source",
        command: || Command::Leave,
    },
    Binding {
        name: "help",
        key: "?",
        does: "show or hide this help",
        command: || Command::Help,
    },
    Binding {
        name: "quit",
        key: "q",
        does: "quit",
        command: || Command::Quit,
    },
];

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
        line: "m, m NAME",
        does: "mute the agent, or hear it again; what is urgent is always said",
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
