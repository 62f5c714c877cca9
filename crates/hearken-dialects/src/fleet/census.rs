//! How many agents of a machine work, wait and are silent: what a bridge adds to its signs of life.

use serde_json::{Value, json};

use crate::protocol::object;

/// The highest number that is believed.
const MOST: u64 = 1_000_000;

/// How many of a machine's agents are in each state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Census {
    /// How many work.
    pub working: u64,
    /// How many wait for an answer.
    pub waiting: u64,
    /// How many work, but nothing was heard of them for a minute.
    pub silent: u64,
}

impl Census {
    /// Returns the text of a sign of life.
    pub fn write(self) -> String {
        json!({"working": self.working, "waiting": self.waiting, "silent": self.silent}).to_string()
    }

    /// Reads a sign of life; `None` if it counts nothing.
    pub fn read(text: &str) -> Option<Self> {
        let counts = object(text)?;
        let count = |field: &str| {
            let count = counts.get(field).and_then(Value::as_u64);
            count.unwrap_or_default().min(MOST)
        };
        Some(Self {
            working: count("working"),
            waiting: count("waiting"),
            silent: count("silent"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_as_it_was_written_and_nothing_is_believed_without_bounds() {
        let census = Census {
            working: 3,
            waiting: 2,
            silent: 1,
        };
        assert_eq!(Census::read(&census.write()), Some(census));
        assert_eq!(Census::read(""), None);
        let odd = Census::read(r#"{"working":-1,"waiting":"x","silent":99999999999}"#);
        let wanted = Census {
            silent: MOST,
            ..Census::default()
        };
        assert_eq!(odd, Some(wanted));
    }
}
