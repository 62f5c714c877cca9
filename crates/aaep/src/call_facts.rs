//! Facts about a call beyond AAEP's fields: its name for people, and how its program exited.
//!
//! Responsibilities: these facts, and their form in this program's extension. Not here: the words for them
//! (`announce`), finding them in what an agent sends (`dialect`).

use serde_json::{Map, Value, json};

/// The longest title and the longest name of a signal, in bytes.
const LONGEST: usize = 2048;

/// Facts about a call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallFacts {
    /// What the call does, for people: its command, or the tool's action and its file.
    pub title: String,
    /// How its program exited, if the agent says so.
    pub exit: Option<CallExit>,
}

/// How the program of a call exited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallExit {
    /// By itself, with a code.
    Code(i64),
    /// By a signal, under the name that the agent gives it.
    Signal(String),
    /// Without a code: the agent reports that there is none.
    NoCode,
    /// It took longer than the agent allows.
    TimedOut,
    /// A person stopped it, as the agent reports.
    Stopped,
}

impl CallExit {
    /// Returns whether this exit means success.
    pub fn is_success(&self) -> bool {
        match self {
            Self::Code(code) => *code == 0,
            Self::Signal(_) | Self::NoCode | Self::TimedOut | Self::Stopped => false,
        }
    }

    fn write(&self) -> Value {
        match self {
            Self::Code(code) => json!({"code": code}),
            Self::Signal(name) => json!({"signal": bounded(name)}),
            Self::NoCode => json!({"code": null}),
            Self::TimedOut => json!({"timed_out": true}),
            Self::Stopped => json!({"stopped": true}),
        }
    }

    fn read(map: &Map<String, Value>) -> Option<Self> {
        let is = |name: &str| map.get(name) == Some(&Value::Bool(true));
        if is("stopped") {
            return Some(Self::Stopped);
        }
        if is("timed_out") {
            return Some(Self::TimedOut);
        }
        if let Some(name) = map.get("signal").and_then(Value::as_str) {
            return Some(Self::Signal(bounded(name)));
        }
        match map.get("code")? {
            Value::Null => Some(Self::NoCode),
            code => code.as_i64().map(Self::Code),
        }
    }
}

impl CallFacts {
    pub(super) fn write(&self) -> Value {
        let mut map = Map::new();
        map.insert("title".to_owned(), bounded(&self.title).into());
        if let Some(exit) = &self.exit {
            map.insert("exit".to_owned(), exit.write());
        }
        map.into()
    }

    pub(super) fn read(map: &Map<String, Value>) -> Self {
        let title = map.get("title").and_then(Value::as_str);
        let exit = map.get("exit").and_then(Value::as_object);
        Self {
            title: bounded(title.unwrap_or_default()),
            exit: exit.and_then(CallExit::read),
        }
    }
}

fn bounded(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(LONGEST - '…'.len_utf8());
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exit_is_read_as_it_was_written() {
        for (exit, success) in [
            (None, None),
            (Some(CallExit::Code(0)), Some(true)),
            (Some(CallExit::Code(-1)), Some(false)),
            (Some(CallExit::Signal("SIGKILL".to_owned())), Some(false)),
            (Some(CallExit::NoCode), Some(false)),
            (Some(CallExit::TimedOut), Some(false)),
            (Some(CallExit::Stopped), Some(false)),
        ] {
            assert_eq!(exit.as_ref().map(CallExit::is_success), success);
            let title = "npm test".to_owned();
            let facts = CallFacts { title, exit };
            assert_eq!(CallFacts::read(facts.write().as_object().unwrap()), facts);
        }
    }

    #[test]
    fn what_is_odd_counts_as_absent_and_what_is_long_is_cut() {
        for odd in [
            json!(7),
            json!({"code": "3"}),
            json!({"code": 1.5}),
            json!({}),
        ] {
            let facts = json!({"exit": odd, "title": 1});
            assert_eq!(
                CallFacts::read(facts.as_object().unwrap()),
                CallFacts::default()
            );
        }
        let title = "ö".repeat(LONGEST);
        let facts = CallFacts { title, exit: None };
        let read = CallFacts::read(facts.write().as_object().unwrap());
        assert!(read.title.len() <= LONGEST && read.title.ends_with('…'));
    }
}
