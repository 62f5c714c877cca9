//! The table of keys: bindings, help, README and docs are all generated from it.

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
/// Every key of the usual mode, in the order of the help. Enter and Space are not bound, and never answer.
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
        name: "go_on",
        key: "'",
        does: "go on with what was stopped, at the same sentence",
        command: || Command::GoOn,
    },
    Binding {
        name: "back_sentence",
        key: "Backspace",
        does: "hear the sentence before, and go on from there",
        command: || Command::BackSentence,
    },
    Binding {
        name: "back_paragraph",
        key: "<",
        does: "hear the paragraph again, or the one before",
        command: || Command::BackParagraph,
    },
    Binding {
        name: "skip_code",
        key: ";",
        does: "skip the rest of the code that is being read",
        command: || Command::SkipCode,
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
        does: "mute the agent, or hear it again; urgent news is always spoken",
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
        does: "hear what you can press now; again, all keys",
        command: || Command::Help,
    },
    Binding {
        name: "quit",
        key: "q",
        does: "quit",
        command: || Command::Quit,
    },
];
