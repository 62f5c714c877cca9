//! What hearken itself finds out about an action, in its own words.
//!
//! Responsibilities: the folder in which an agent works, what that reveals about a question, and the sentences.
//! Not here: the rules (`findings`), what follows from a finding (`app`).

use std::collections::BTreeMap;

use hearken_shell::{Act, ActRank, CommandFinding};

use super::Announcer;
use crate::announce::findings::{QuestionFindings, deed_of, found, unsaid};
use crate::announce::text::speakable::Profile;
use crate::announce::words::phrase::Arg;
use crate::announce::words::segment::Segment;
use crate::config::Verbosity;
use crate::protocol::RejectOnly;
use crate::session::{LinkId, Question, QuestionBody};

/// How many things a finding, a list of inputs or a list of unknowns names; the rest is counted.
const MOST_NAMED: usize = 4;

/// The basis on which actions are judged.
#[derive(Debug, Clone, Default)]
pub struct JudgingBasis {
    /// The folder in which each source's agent works, if the agent was started here.
    folders: BTreeMap<LinkId, String>,
    /// Whether the person wants one step if that is safe, and therefore wants to hear if it is not.
    one_step: bool,
    /// Whether one step may also run the project's own code.
    one_step_project: bool,
}

impl JudgingBasis {
    /// Records the folder in which an agent works.
    pub fn know(&mut self, link: LinkId, folder: &str) {
        if !folder.is_empty() {
            self.folders.insert(link, folder.to_owned());
        }
    }

    /// Returns the folder in which the agent of a source works.
    pub fn folder(&self, link: LinkId) -> Option<&str> {
        self.folders.get(&link).map(String::as_str)
    }

    /// Records that one step is wanted if that is safe, and whether this includes running the project's own
    /// code.
    pub fn want_one_step(&mut self, project: bool) {
        self.one_step = true;
        self.one_step_project = project;
    }
}

impl Announcer {
    /// Returns the basis on which actions are judged.
    pub fn grounds(&self) -> &JudgingBasis {
        &self.grounds
    }

    /// Returns the basis on which actions are judged, for changing it.
    pub fn grounds_mut(&mut self) -> &mut JudgingBasis {
        &mut self.grounds
    }

    /// Returns whether one step is wanted for a question and its action was read in full, with nothing found that
    /// forbids it.
    pub fn may_be_one_step(&self, question: &Question) -> bool {
        let known = self.grounds.folders.contains_key(&question.key.link);
        let deed = question.attached.action_details.is_some();
        let cleared = || {
            let found = self.found_of(question);
            found.is_some_and(|found| found.is_cleared(self.grounds.one_step_project))
        };
        self.grounds.one_step && known && deed && cleared()
    }

    fn found_of(&self, question: &Question) -> Option<QuestionFindings> {
        let QuestionBody::Confirmation(asked) = &question.body else {
            return None;
        };
        let folder = self.grounds.folder(question.key.link);
        match &question.attached.action_details {
            Some(deed) => Some(found(deed, folder)),
            None => Some(found(&deed_of(asked)?, folder)),
        }
    }

    /// Returns what is found out about a question. What is unknown, and the fact that it runs the project's own code,
    /// are included only in full or if one step is wanted.
    pub(super) fn found(&self, question: &Question, in_full: bool) -> Vec<Segment> {
        let mut words = Vec::new();
        let Some(found) = self.found_of(question) else {
            return words;
        };
        let all = in_full || self.grounds.one_step;
        let told = told_of(&found, all);
        let unknown = all && !found.unknown.is_empty();
        // At the beginning of a question, findings need no heading: before the action, all words are hearken's.
        if in_full && !told.is_empty() || unknown {
            words.push(self.own_words("question.found"));
        }
        words.extend(self.told_findings(&told, in_full).into_iter().flatten());
        if unknown {
            words.extend(self.not_known(&found.unknown, in_full));
        }
        if in_full && found.parts.len() > 1 {
            for (at, part) in found.parts.iter().enumerate() {
                let args = [
                    ("n", Arg::own(at + 1)),
                    ("text", Arg::Inline(part.text.clone())),
                ];
                words.extend(self.phrases.say("found.part", Verbosity::Normal, &args));
                let told: Vec<&CommandFinding> = part.findings.iter().collect();
                words.extend(self.told_findings(&told, true).into_iter().flatten());
                match (part.unknown.is_empty(), part.findings.is_empty()) {
                    (true, true) => words.push(self.own_words("found.nothing")),
                    (true, false) => {}
                    (false, _) => words.extend(self.not_known(&part.unknown, true)),
                }
            }
        }
        words
    }

    /// Returns the findings that the beginning of a question states, one by one, and whether each is grave.
    pub(super) fn found_one_by_one(&self, question: &Question) -> Vec<(Vec<Segment>, bool)> {
        let Some(found) = self.found_of(question) else {
            return Vec::new();
        };
        let all = self.grounds.one_step;
        let told = told_of(&found, all);
        let grave = told.iter().map(|finding| match finding.act.rank() {
            ActRank::Destroys | ActRank::System | ActRank::Leaves => true,
            ActRank::Outside | ActRank::Hidden | ActRank::Project | ActRank::Unknown => false,
        });
        let words = self.told_findings(&told, false);
        let mut all_of_it: Vec<(Vec<Segment>, bool)> = words.into_iter().zip(grave).collect();
        if all && !found.unknown.is_empty() {
            all_of_it.push((self.not_known(&found.unknown, false), false));
        }
        all_of_it
    }

    fn own_words(&self, key: &str) -> Segment {
        Segment::own(self.phrases.text(key, &[]))
    }

    fn told_findings(&self, findings: &[&CommandFinding], in_full: bool) -> Vec<Vec<Segment>> {
        let mut words = Vec::new();
        let mut named: Vec<&str> = Vec::new();
        for finding in findings {
            let what: Vec<&str> = finding.targets.iter().map(String::as_str).collect();
            // A path that was already named is not repeated just to say that it is outside.
            let again = finding.act == Act::Outside && what.iter().all(|what| named.contains(what));
            let key = match again {
                true => "found.outside.too".to_owned(),
                false => format!("found.{}", finding.act.name()),
            };
            let (shown, more) = self.listed(&what, finding.more, in_full);
            let args = [("what", shown), ("more", Arg::Own(more))];
            words.push(self.phrases.say(&key, Verbosity::Normal, &args));
            named.extend(what);
        }
        words
    }

    fn not_known(&self, unknown: &[String], in_full: bool) -> Vec<Segment> {
        let names: Vec<&str> = unknown
            .iter()
            .map(String::as_str)
            .filter(|it| !matches!(*it, "?" | "…"))
            .collect();
        let (shown, more) = self.listed(&names, 0, in_full);
        let args = [("what", shown), ("more", Arg::Own(more))];
        self.phrases.say("found.unknown", Verbosity::Normal, &args)
    }

    /// Returns how many inputs the words of a question leave out, and which; empty if they leave out none.
    pub(super) fn left_unsaid(&self, question: &Question) -> String {
        let QuestionBody::Confirmation(asked) = &question.body else {
            return String::new();
        };
        let names = match &question.attached.action_details {
            Some(deed) => deed.unsaid.clone(),
            None => unsaid(asked),
        };
        if names.is_empty() {
            return String::new();
        }
        let (shown, more) = self.names(&names, false);
        let args = [
            ("n", Arg::own(names.len())),
            ("names", Arg::Own(shown)),
            ("more", Arg::Own(more)),
        ];
        self.phrases.text("question.unsaid", &args)
    }

    /// Returns why a question can only be rejected; empty if it can also be accepted.
    pub(super) fn reject_only(&self, question: &Question) -> String {
        let other = question
            .attached
            .action_details
            .as_ref()
            .map_or("", |deed| deed.other_request.as_str());
        let key = match question.reject_only() {
            None => return String::new(),
            Some(RejectOnly::Silent) => "question.silent",
            Some(RejectOnly::SharedId) => "question.shared_id",
            Some(RejectOnly::SharedOption) => "question.shared_option",
            Some(RejectOnly::TooMuch) => "question.too_much",
        };
        self.phrases
            .text(key, &[("other", Arg::Exact(other.to_owned(), None))])
    }

    /// Returns what has changed since a question was last asked; empty if it was not asked before.
    pub(super) fn changed(&self, question: &Question) -> String {
        let names = question
            .attached
            .action_details
            .as_ref()
            .map_or(&[][..], |deed| deed.changed.as_slice());
        if names.is_empty() && question.replaces.is_none() {
            return String::new();
        }
        let (names, _) = self.names(names, true);
        let before = question.replaces.map_or(Arg::own(""), |id| Arg::own(id.0));
        let args = [("before", before), ("names", Arg::Own(names))];
        self.phrases.text("question.changed", &args)
    }

    /// Joins the first few paths, addresses or packages exactly as written, and counts the rest.
    fn listed(&self, what: &[&str], more: usize, in_full: bool) -> (Arg, String) {
        let (first, more) = first_of(what, more, in_full);
        let lexicon = self.phrases.lexicon();
        let shown: Vec<String> = first.iter().map(|what| lexicon.inline(what)).collect();
        let spoken: Vec<String> = first
            .iter()
            .map(|what| lexicon.speak(what, Profile::Command, None))
            .collect();
        let arg = Arg::Sounding {
            text: shown.join(", "),
            spoken: spoken.join(", "),
        };
        (arg, more)
    }

    /// Joins the first few names of inputs as words, and counts the rest.
    fn names(&self, names: &[String], in_full: bool) -> (String, String) {
        let (first, more) = first_of(names, 0, in_full);
        let first: Vec<_> = first
            .iter()
            .map(|name| self.phrases.name_of(name))
            .collect();
        (first.join(", "), more)
    }
}

/// Returns the findings that are announced; `all` includes those announced only in full, or if one step is
/// wanted.
fn told_of(found: &QuestionFindings, all: bool) -> Vec<&CommandFinding> {
    let is_told = |finding: &&CommandFinding| match finding.act.rank() {
        ActRank::Destroys
        | ActRank::System
        | ActRank::Leaves
        | ActRank::Outside
        | ActRank::Hidden => true,
        ActRank::Project | ActRank::Unknown => all,
    };
    found.findings.iter().filter(is_told).collect()
}

/// Returns the first few items and how many remain; the count is empty if none do, and never just one.
fn first_of<T>(all: &[T], more: usize, in_full: bool) -> (&[T], String) {
    let fits = in_full || all.len() + more <= MOST_NAMED + 1;
    let shown = if fits { all.len() } else { MOST_NAMED };
    let left = all.len() - shown + more;
    let left = if left == 0 {
        String::new()
    } else {
        left.to_string()
    };
    (all.get(..shown).unwrap_or(all), left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::announce::words::phrase::{BUILT_IN, Phrases};

    #[test]
    fn every_act_has_a_sentence_in_every_language() {
        for file in &BUILT_IN {
            let phrases = Phrases::built_in(file).unwrap();
            for act in Act::ALL {
                let key = format!("found.{}", act.name());
                let args = [("what", Arg::own("x")), ("more", Arg::own(""))];
                let said = phrases.text(&key, &args);
                assert!(
                    said.ends_with('.') && !said.contains("found."),
                    "{key}: {said:?}"
                );
            }
        }
    }
}
