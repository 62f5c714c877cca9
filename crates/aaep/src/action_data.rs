//! What an action does, as data: its commands, its folder, its paths, and what its wording leaves out.
//!
//! Responsibilities: that data, in this program's extension (`extensions.hearken.deed`), within bounds. Not
//! here: judging a command (`announce`), and where the data comes from (`dialect`).
//!
//! A translator fills it from what the other side literally sends, never from an agent's description. The question and
//! the events of the call itself carry the same data, so that a reader of both can tell whether the call that runs is
//! the one that was asked about.

use serde_json::{Map, Value, json};

/// The most paths and commands that are kept.
const MOST: usize = 64;
/// The most input names that are kept.
const MOST_NAMES: usize = 512;
/// The longest command or path, in bytes. A longer one is left out, because its harmless half could be judged
/// alone.
const LONGEST: usize = 8 * 1024;
/// The longest name of an input, in characters.
const LONGEST_NAME: usize = 80;
/// How much of the other request's action is quoted, in characters.
const LONGEST_OTHER: usize = 400;
/// The longest digest, in characters: two parts of SHA-256 sums in hexadecimal, and the full stop between them.
const LONGEST_DIGEST: usize = 64;

/// Why a question can only be rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RejectOnly {
    /// Nothing describes what would be done.
    Silent,
    /// Another open request has the same id, so an answer could count for either.
    SharedId,
    /// The option that allows the action also stands for something else.
    SharedOption,
    /// It has more inputs, edits or paths than are read.
    TooMuch,
}

impl RejectOnly {
    const NAMES: [(Self, &'static str); 4] = [
        (Self::Silent, "silent"),
        (Self::SharedId, "shared_id"),
        (Self::SharedOption, "shared_option"),
        (Self::TooMuch, "too_much"),
    ];
}

/// What exactly an action does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ActionDetails {
    /// The commands that it runs.
    pub commands: Vec<String>,
    /// The folder in which they run, if it is named.
    pub folder: Option<String>,
    /// The paths that it touches.
    pub paths: Vec<String>,
    /// Whether it edits these files and does nothing else.
    pub edits: bool,
    /// The paths that it deletes.
    pub deletes: Vec<String>,
    /// The names of the inputs that the action's wording leaves out.
    pub unsaid: Vec<String>,
    /// The names of what has changed since the question was asked before; empty if it was not asked before.
    pub changed: Vec<String>,
    /// Why the question can only be rejected; `None` if it can also be accepted.
    pub reject_only: Option<RejectOnly>,
    /// The action of the other request with the same id; empty if there is none.
    pub other_request: String,
    /// Identifies the call's input and its edits, in two parts with a full stop between them; a part without data is a
    /// dash. Empty if neither is known.
    pub digest: String,
    /// Whether something was left out for its length or number.
    pub is_cut: bool,
}

impl ActionDetails {
    /// Returns whether a call does something other than what was asked, in the parts known of both.
    pub fn differs_from(&self, asked: &Self) -> bool {
        let differ = |one: &str, other: &str| one != "-" && other != "-" && one != other;
        match (self.digest.split_once('.'), asked.digest.split_once('.')) {
            (Some(ran), Some(asked)) => differ(ran.0, asked.0) || differ(ran.1, asked.1),
            _ => false,
        }
    }

    /// Returns whether a call does the same as what was asked: both are known at least in part, and nothing
    /// differs.
    pub fn is_same_as(&self, asked: &Self) -> bool {
        let alike = |one: &str, other: &str| one != "-" && one == other;
        match (self.digest.split_once('.'), asked.digest.split_once('.')) {
            (Some(ran), Some(of)) => {
                !self.differs_from(asked) && (alike(ran.0, of.0) || alike(ran.1, of.1))
            }
            _ => false,
        }
    }

    /// Returns an estimate of the memory that it takes, in bytes.
    pub(super) fn weight(&self) -> usize {
        const BESIDES: usize = 24;
        let lists = [
            &self.commands,
            &self.paths,
            &self.deletes,
            &self.unsaid,
            &self.changed,
        ];
        let texts = lists.into_iter().flatten().chain(&self.folder);
        texts.map(|text| text.len() + BESIDES).sum::<usize>()
            + self.digest.len()
            + self.other_request.len()
    }

    /// Returns it as a member of the extension.
    pub(super) fn write(&self) -> Value {
        let mut is_cut = self.is_cut;
        let mut kept = |texts: &[String]| -> Vec<String> {
            let fits = |text: &&String| text.len() <= LONGEST;
            let kept: Vec<String> = texts.iter().filter(fits).take(MOST).cloned().collect();
            is_cut |= kept.len() < texts.len();
            kept
        };
        let (commands, paths, deletes) =
            (kept(&self.commands), kept(&self.paths), kept(&self.deletes));
        let names = |names: &[String]| -> Vec<String> {
            let names = names.iter().take(MOST_NAMES);
            names
                .map(|name| name.chars().take(LONGEST_NAME).collect())
                .collect()
        };
        is_cut |= self.unsaid.len() > MOST_NAMES;
        let mut map = Map::new();
        let mut put = |name: &str, value: Value| {
            map.insert(name.to_owned(), value);
        };
        put("commands", commands.into());
        put("paths", paths.into());
        put("edits", (self.edits && !is_cut).into());
        if !deletes.is_empty() {
            put("deletes", deletes.into());
        }
        if let Some(folder) = self.folder.as_ref().filter(|it| it.len() <= LONGEST) {
            put("folder", folder.as_str().into());
        }
        if !self.unsaid.is_empty() {
            put("unsaid", names(&self.unsaid).into());
        }
        if !self.changed.is_empty() {
            put("changed", names(&self.changed).into());
        }
        let only = RejectOnly::NAMES
            .iter()
            .find(|(only, _)| Some(*only) == self.reject_only);
        if let Some((_, name)) = only {
            put("reject_only", (*name).into());
        }
        if !self.other_request.is_empty() {
            let other: String = self.other_request.chars().take(LONGEST_OTHER).collect();
            put("other", other.into());
        }
        if !self.digest.is_empty() {
            put("digest", self.digest.as_str().into());
        }
        if is_cut {
            put("cut", true.into());
        }
        json!(map)
    }

    /// Reads it leniently: a value of the wrong kind counts as absent, and one that is too long as cut.
    pub(super) fn read(map: &Map<String, Value>) -> Self {
        let text = |name: &str| map.get(name).and_then(Value::as_str);
        let mut is_cut = map.get("cut").and_then(Value::as_bool) == Some(true);
        let mut list = |name: &str, most: usize| -> Vec<String> {
            let all = map.get(name).and_then(Value::as_array);
            let all: Vec<&str> = all
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            let fits = |text: &&&str| text.len() <= LONGEST;
            let kept: Vec<String> = all
                .iter()
                .filter(fits)
                .take(most)
                .map(|it| (*it).to_owned())
                .collect();
            is_cut |= kept.len() < all.len();
            kept
        };
        let (mut commands, paths, deletes) = (
            list("commands", MOST),
            list("paths", MOST),
            list("deletes", MOST),
        );
        let (unsaid, changed) = (list("unsaid", MOST_NAMES), list("changed", MOST_NAMES));
        // The form in recordings of version 0.1.
        commands.extend(
            text("command")
                .filter(|it| it.len() <= LONGEST)
                .map(str::to_owned),
        );
        Self {
            commands,
            folder: text("folder")
                .filter(|it| it.len() <= LONGEST)
                .map(str::to_owned),
            paths,
            edits: !is_cut && map.get("edits").and_then(Value::as_bool) == Some(true),
            deletes,
            unsaid,
            changed,
            reject_only: text("reject_only")
                .and_then(|name| RejectOnly::NAMES.iter().find(|(_, it)| *it == name))
                .map(|(only, _)| *only),
            other_request: text("other")
                .unwrap_or_default()
                .chars()
                .take(LONGEST_OTHER)
                .collect(),
            digest: text("digest")
                .filter(|it| it.len() <= LONGEST_DIGEST)
                .unwrap_or_default()
                .to_owned(),
            is_cut,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(deed: &ActionDetails) -> ActionDetails {
        ActionDetails::read(deed.write().as_object().unwrap())
    }

    #[test]
    fn what_is_written_is_read_again() {
        for edits in [false, true] {
            let deed = ActionDetails {
                commands: vec!["ls -la".to_owned()],
                folder: Some("/work/a".to_owned()),
                paths: vec!["src".to_owned()],
                edits,
                deletes: vec!["old.txt".to_owned()],
                unsaid: vec!["env".to_owned()],
                changed: vec!["command".to_owned()],
                reject_only: Some(RejectOnly::SharedId),
                other_request: "rm x".to_owned(),
                digest: "ab12.-".to_owned(),
                is_cut: false,
            };
            assert_eq!(again(&deed), deed);
        }
        let old = json!({"command": "rm x", "paths": ["a"], "edits": true});
        let read = ActionDetails::read(old.as_object().unwrap());
        assert_eq!((read.commands, read.edits), (vec!["rm x".to_owned()], true));
        let odd =
            json!({"commands": [7, {}], "paths": "x", "edits": 1, "digest": [], "unsaid": {}});
        assert_eq!(
            ActionDetails::read(odd.as_object().unwrap()),
            ActionDetails::default()
        );
    }

    #[test]
    fn a_call_is_compared_in_the_parts_that_both_have() {
        let deed = |digest: &str| ActionDetails {
            digest: digest.to_owned(),
            ..ActionDetails::default()
        };
        for (ran, asked, differs) in [
            ("a.b", "a.b", false),
            ("a.-", "a.b", false),
            ("-.-", "a.b", false),
            ("c.b", "a.b", true),
            ("a.c", "a.b", true),
            ("", "a.b", false),
            ("a.b", "", false),
        ] {
            assert_eq!(
                deed(ran).differs_from(&deed(asked)),
                differs,
                "{ran} {asked}"
            );
        }
    }

    #[test]
    fn what_is_too_long_to_be_judged_is_not_judged_by_a_part_of_it() {
        let long = || "x".repeat(LONGEST + 1);
        let edits = ActionDetails {
            edits: true,
            ..ActionDetails::default()
        };
        for deed in [
            ActionDetails {
                commands: vec![long()],
                ..edits.clone()
            },
            ActionDetails {
                paths: vec![long()],
                ..edits.clone()
            },
            ActionDetails {
                paths: vec!["a".to_owned(); MOST + 1],
                ..edits.clone()
            },
            ActionDetails {
                unsaid: vec!["a".to_owned(); MOST_NAMES + 1],
                ..edits
            },
        ] {
            let read = again(&deed);
            assert!(read.is_cut && read.commands.is_empty(), "{read:?}");
            assert!(!read.edits);
        }
    }
}
