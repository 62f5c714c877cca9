//! Who decides what the agent asks: the editor or hearken, whoever is first, exactly once.
//!
//! Responsibilities: which questions are open, who has decided which, whose late answer is withheld. Pure. Not here:
//! lines and bytes (`passage`), writing answers (`copier`).
//!
//! # Mental model
//! Each question of the agent gets a ticket, which is never given a second time. The agent may use an id again once it was
//! answered; a decision of hearken's names the ticket, so that a late one never answers another question.
//! The editor answers by the id. Where hearken was first, the editor still owes an answer to that id, as the protocol wants
//! one to every request, also to one that was taken back; that answer, and only that, is withheld. Where the agent uses the
//! id again before that came, the first answer to it is the one that was owed: an editor answers in order, and nobody's
//! answer to an old question must ever allow a new one.

use std::collections::{BTreeMap, VecDeque};

use super::outline::Id;

/// How many questions are open for hearken at once; one more is the editor's alone.
const MOST_OPEN: usize = 256;
/// How many answers of the editor may be owed. None is ever forgotten, because it would reach the agent as a second
/// decision: with so many open, hearken decides nothing more.
const MOST_OWED: usize = 1024;

/// What becomes of an answer of the editor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Editors {
    /// It is none to a question that is watched, and goes on.
    Passes,
    /// It decides the question, and goes on.
    Decides(u64),
    /// The question was decided here: it is withheld.
    Late(u64),
}

/// What becomes of a decision of hearken's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ours {
    /// It decides; this is the id, as the agent wrote it.
    Decides(Vec<u8>),
    /// The question is not open any more.
    TooLate,
    /// The editor owes too many answers.
    Full,
}

/// What becomes of a question of the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// It is open for both, under this ticket.
    Open(u64),
    /// It is the editor's alone.
    Editors,
    /// Its id is that of one that is open: nobody could tell an answer to the one from an answer to the other, so both are
    /// the editor's alone; the other had this ticket.
    Twice(u64),
}

#[derive(Debug, Clone)]
struct Open {
    ticket: u64,
    written: Vec<u8>,
}

/// Keeps what is open and what is owed.
#[derive(Debug, Default)]
pub struct Arbiter {
    last: u64,
    open: BTreeMap<Id, Open>,
    owed: BTreeMap<Id, VecDeque<u64>>,
    debts: usize,
}

impl Arbiter {
    /// Takes a question of the agent; `written` is its id as it stands there.
    pub fn asks(&mut self, id: Id, written: &[u8]) -> Asked {
        if let Some(other) = self.open.remove(&id) {
            return Asked::Twice(other.ticket);
        }
        if self.open.len() >= MOST_OPEN {
            return Asked::Editors;
        }
        self.last += 1;
        let open = Open {
            ticket: self.last,
            written: written.to_vec(),
        };
        self.open.insert(id, open);
        Asked::Open(self.last)
    }

    /// Takes an answer of the editor.
    pub fn editor_answers(&mut self, id: &Id) -> Editors {
        if let Some(owed) = self.owed.get_mut(id)
            && let Some(ticket) = owed.pop_front()
        {
            self.debts -= 1;
            if owed.is_empty() {
                self.owed.remove(id);
            }
            return Editors::Late(ticket);
        }
        match self.open.remove(id) {
            Some(open) => Editors::Decides(open.ticket),
            None => Editors::Passes,
        }
    }

    /// Takes a decision of hearken's.
    pub fn decides(&mut self, ticket: u64) -> Ours {
        let Some(id) = self.id_of(ticket) else {
            return Ours::TooLate;
        };
        if self.debts >= MOST_OWED {
            return Ours::Full;
        }
        let Some(open) = self.open.remove(&id) else {
            return Ours::TooLate;
        };
        self.debts += 1;
        self.owed.entry(id).or_default().push_back(ticket);
        Ours::Decides(open.written)
    }

    /// Leaves a question to the editor alone: the agent took it back, or what the editor answers can't be told. Gives its
    /// ticket, where it was open.
    pub fn leave(&mut self, id: &Id) -> Option<u64> {
        self.open.remove(id).map(|open| open.ticket)
    }

    /// Leaves all questions to the editor, and gives their tickets.
    pub fn leave_all(&mut self) -> Vec<u64> {
        let all = std::mem::take(&mut self.open);
        all.into_values().map(|open| open.ticket).collect()
    }

    /// Returns whether an answer of the editor matters.
    pub fn watches(&self) -> bool {
        !self.open.is_empty() || self.debts > 0
    }

    /// Returns whether an answer to this id matters.
    pub fn is_watched(&self, id: &Id) -> bool {
        self.open.contains_key(id) || self.owed.contains_key(id)
    }

    /// Returns the tickets that are open, and the last that was given.
    pub fn standing(&self) -> (Vec<u64>, u64) {
        let tickets = self.open.values().map(|open| open.ticket);
        (tickets.collect(), self.last)
    }

    fn id_of(&self, ticket: u64) -> Option<Id> {
        let mut open = self.open.iter();
        let found = open.find(|(_, open)| open.ticket == ticket);
        found.map(|(id, _)| id.clone())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn id(number: u8) -> Id {
        Id::Number(number.to_string())
    }

    #[test]
    fn whoever_is_first_decides_and_the_other_is_late() {
        let mut arbiter = Arbiter::default();
        assert_eq!(arbiter.asks(id(1), b"1"), Asked::Open(1));
        assert_eq!(arbiter.editor_answers(&id(1)), Editors::Decides(1));
        assert_eq!(arbiter.decides(1), Ours::TooLate);
        // The id is used again, and hearken is first.
        assert_eq!(arbiter.asks(id(1), b"1.0"), Asked::Open(2));
        assert_eq!(arbiter.decides(1), Ours::TooLate, "it is another question");
        assert_eq!(arbiter.decides(2), Ours::Decides(b"1.0".to_vec()));
        assert_eq!(arbiter.decides(2), Ours::TooLate);
        // And again, before the editor's late answer has come.
        assert_eq!(arbiter.asks(id(1), b"1"), Asked::Open(3));
        assert_eq!(arbiter.editor_answers(&id(1)), Editors::Late(2));
        assert_eq!(arbiter.editor_answers(&id(1)), Editors::Decides(3));
        assert_eq!(arbiter.editor_answers(&id(1)), Editors::Passes);
        assert!(!arbiter.watches());
    }

    #[test]
    fn an_id_that_is_open_twice_is_the_editors_and_so_is_one_too_many() {
        let mut arbiter = Arbiter::default();
        arbiter.asks(id(1), b"1");
        assert_eq!(arbiter.asks(id(1), b"1"), Asked::Twice(1));
        assert_eq!(arbiter.decides(1), Ours::TooLate);
        assert_eq!(arbiter.editor_answers(&id(1)), Editors::Passes);
        for number in 0..MOST_OPEN {
            let asked = arbiter.asks(Id::Text(number.to_string()), b"");
            assert!(matches!(asked, Asked::Open(_)));
        }
        assert_eq!(arbiter.asks(id(2), b"2"), Asked::Editors);
        assert_eq!(arbiter.leave_all().len(), MOST_OPEN);
        assert!(!arbiter.watches());
    }

    #[test]
    fn no_owed_answer_is_ever_forgotten() {
        let mut arbiter = Arbiter::default();
        for number in 0..MOST_OWED {
            let Asked::Open(ticket) = arbiter.asks(Id::Text(number.to_string()), b"x") else {
                panic!("there is room");
            };
            assert!(matches!(arbiter.decides(ticket), Ours::Decides(_)));
        }
        let Asked::Open(ticket) = arbiter.asks(id(1), b"1") else {
            panic!("there is room");
        };
        assert_eq!(arbiter.decides(ticket), Ours::Full);
        assert_eq!(arbiter.editor_answers(&id(1)), Editors::Decides(ticket));
        let first = Id::Text("0".to_owned());
        assert_eq!(arbiter.editor_answers(&first), Editors::Late(1));
    }

    #[derive(Debug, Clone)]
    enum Step {
        Asks(u8),
        Editor(u8),
        Hearken(u64),
        TakenBack(u8),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            (0_u8..4).prop_map(Step::Asks),
            (0_u8..4).prop_map(Step::Editor),
            (1_u64..40).prop_map(Step::Hearken),
            (0_u8..4).prop_map(Step::TakenBack),
        ];
        prop::collection::vec(step, 0..80)
    }

    proptest! {
        /// Whatever happens in whatever order: each question is decided at most once, by a decision for that very
        /// question, and every decision of hearken's has exactly one answer of the editor withheld for it.
        #[test]
        fn each_question_is_decided_at_most_once(steps in steps()) {
            let mut arbiter = Arbiter::default();
            let mut decided = BTreeSet::new();
            let (mut ours, mut late) = (Vec::new(), Vec::new());
            for step in steps {
                match step {
                    Step::Asks(number) => {
                        arbiter.asks(id(number), &[number]);
                    }
                    Step::Editor(number) => match arbiter.editor_answers(&id(number)) {
                        Editors::Decides(ticket) => prop_assert!(decided.insert(ticket)),
                        Editors::Late(ticket) => {
                            prop_assert!(decided.contains(&ticket));
                            late.push(ticket);
                        }
                        Editors::Passes => {}
                    },
                    Step::Hearken(ticket) => {
                        if let Ours::Decides(_) = arbiter.decides(ticket) {
                            prop_assert!(decided.insert(ticket));
                            ours.push(ticket);
                        }
                    }
                    Step::TakenBack(number) => {
                        if let Some(ticket) = arbiter.leave(&id(number)) {
                            prop_assert!(decided.insert(ticket), "it can't be decided after that");
                        }
                    }
                }
            }
            for number in 0..4 {
                while let Editors::Late(ticket) = arbiter.editor_answers(&id(number)) {
                    late.push(ticket);
                }
            }
            ours.sort_unstable();
            late.sort_unstable();
            prop_assert_eq!(ours, late);
        }
    }
}
