//! What hearken itself finds of an action, in words of its own.
//!
//! Responsibilities: in which folder an agent works, what is found of a question by that, the sentences. Not here: the
//! rules (`findings`), what follows (`app`).

use std::collections::BTreeMap;

use super::Announcer;
use crate::announce::findings::{Finding, findings};
use crate::announce::words::phrase::Arg;
use crate::announce::words::segment::Segment;
use crate::config::Verbosity;
use crate::session::{LinkId, Prompt, Question};

/// Holds by what actions are judged.
#[derive(Debug, Clone, Default)]
pub struct Grounds {
    /// The folder in which the agent of a source works, where it was started here.
    folders: BTreeMap<LinkId, String>,
    /// Whether the person wants one step where that is safe, and so wants to know where it is not.
    one_step: bool,
}

impl Grounds {
    /// Takes note of the folder in which an agent works.
    pub fn know(&mut self, link: LinkId, folder: &str) {
        if !folder.is_empty() {
            self.folders.insert(link, folder.to_owned());
        }
    }

    /// Takes note that one step is wanted where that is safe.
    pub fn want_one_step(&mut self) {
        self.one_step = true;
    }
}

impl Announcer {
    /// Gives by what actions are judged, to change it.
    pub fn grounds_mut(&mut self) -> &mut Grounds {
        &mut self.grounds
    }

    /// Tells whether one step is wanted for a question, and all that is allowed by it was read and nothing found.
    pub fn may_be_one_step(&self, prompt: &Prompt) -> bool {
        let known = self.grounds.folders.contains_key(&prompt.key.link);
        let deed = prompt.attached.deed.is_some();
        self.grounds.one_step && known && deed && self.findings_of(prompt).is_empty()
    }

    fn findings_of(&self, prompt: &Prompt) -> Vec<Finding> {
        let folder = self.grounds.folders.get(&prompt.key.link);
        match (&prompt.question, &prompt.attached.deed) {
            (Question::Confirmation(_), Some(deed)) => {
                findings(deed, folder.map_or("", String::as_str))
            }
            (Question::Confirmation(_), None) | (Question::Clarification(_), _) => Vec::new(),
        }
    }

    /// Says what is found of a question; that something could not be read is said where one step is wanted, and in full.
    pub(super) fn found(&self, prompt: &Prompt, in_full: bool) -> Vec<Segment> {
        let mut words = Vec::new();
        for finding in self.findings_of(prompt) {
            let (key, what) = match finding {
                Finding::Destroys(">") => ("question.found.overwrites", Arg::own("")),
                Finding::Destroys(what) => ("question.found.destroys", Arg::own(what)),
                Finding::Leaves(what) => ("question.found.leaves", Arg::own(what)),
                Finding::Outside(paths) => {
                    ("question.found.outside", Arg::Exact(paths.join(", "), None))
                }
                Finding::Unread if in_full || self.grounds.one_step => {
                    ("question.found.unread", Arg::own(""))
                }
                Finding::Unread => continue,
            };
            words.extend(self.phrases.say(key, Verbosity::Normal, &[("what", what)]));
        }
        words
    }
}
