//! One row for each call: its start is left out once its end says the same.

use std::collections::HashSet;

use crate::announce::{Announcement, AnnouncementKind};

/// What most words for a start have and those for an end have not: "Reading server.py" and "Read server.py".
const MOST_OTHER_WORDS: usize = 1;

/// The ends of calls that were met, newest first.
#[derive(Debug, Default)]
pub(super) struct EndedCalls<'a>(Vec<&'a Announcement>);

impl<'a> EndedCalls<'a> {
    /// Takes the next older entry, and returns whether it is the start of a call whose end says the same, too.
    pub(super) fn is_said_by_end(&mut self, told: &'a Announcement) -> bool {
        match (told.kind, &told.topic) {
            (AnnouncementKind::ToolCompleted, Some(_)) => {
                self.0.push(told);
                false
            }
            (AnnouncementKind::ToolInvoked, Some(topic)) => {
                let is_end =
                    |end: &&Announcement| end.key == told.key && end.topic.as_ref() == Some(topic);
                // Of several calls without ids the one that began last counts as the first to end.
                let Some(at) = self.0.iter().rposition(is_end) else {
                    return false;
                };
                says_the_same(told, self.0.remove(at))
            }
            (_, _) => false,
        }
    }
}

fn says_the_same(start: &Announcement, end: &Announcement) -> bool {
    let changes = |told: &Announcement| !told.facts().attached().changes.is_empty();
    let (first, last) = (start.shown(), end.shown());
    let known: HashSet<String> = words(&last).collect();
    let other = words(&first).filter(|word| !known.contains(word)).count();
    other <= MOST_OTHER_WORDS && (changes(end) || !changes(start))
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let bare = text
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    bare.filter(|word| !word.is_empty()).map(str::to_lowercase)
}
