//! Who decides the agent's question: the editor or hearken, whichever is first, exactly once.
//!
//! Responsibilities: which questions are open, who has decided which, whose late answer is withheld. Pure. Not here:
//! lines and bytes (`passage`), writing answers (`copier`).
//!
//! # Mental model
//! Each question of the agent gets a ticket, which is never reused. The agent may reuse an id once it has been
//! answered; hearken's decisions name the ticket, so a late one never answers another question. The editor answers by
//! the id. If hearken was first, the editor still owes an answer to that id, because the protocol requires one for
//! every request, even one that was taken back; that answer, and only that, is withheld. If the agent reuses the id
//! before the owed answer arrives, the first answer to it is the owed one: an editor answers in order, and no answer to
//! an old question may ever allow a new one.

use std::collections::{BTreeMap, VecDeque};

use super::line_outline::RpcId;

/// The most questions open for hearken at the same time; a further one is the editor's alone.
const MOST_OPEN: usize = 256;
/// The most answers that the editor may owe. None is ever forgotten, because it would reach the agent as a second
/// decision: with this many open, hearken makes no more decisions.
const MOST_OWED: usize = 1024;

/// The treatment of an answer from the editor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditorAnswer {
    /// It answers no watched question, and is passed on.
    Passes,
    /// It decides the question, and is passed on.
    Decides(u64),
    /// The question was decided by hearken: the answer is withheld.
    Late(u64),
}

/// The treatment of a decision by hearken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Treatment {
    /// It decides; this is the id, as the agent wrote it.
    Decides(Vec<u8>),
    /// The question is no longer open.
    TooLate,
    /// The editor owes too many answers.
    Full,
}

/// The treatment of a question from the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionHandling {
    /// It is open for both, under this ticket.
    Open(u64),
    /// It is the editor's alone.
    EditorAnswer,
    /// It has the id of an open question: answers to the two could not be told apart, so both are the editor's alone;
    /// the other one had this ticket.
    Twice(u64),
}

#[derive(Debug, Clone)]
struct OpenDecision {
    ticket: u64,
    written: Vec<u8>,
}

/// The open questions and the owed answers.
#[derive(Debug, Default)]
pub struct Arbiter {
    last: u64,
    open: BTreeMap<RpcId, OpenDecision>,
    owed: BTreeMap<RpcId, VecDeque<u64>>,
    debts: usize,
}

impl Arbiter {
    /// Handles a question from the agent; `written` is its id in the original spelling.
    pub fn asks(&mut self, id: RpcId, written: &[u8]) -> QuestionHandling {
        if let Some(other) = self.open.remove(&id) {
            return QuestionHandling::Twice(other.ticket);
        }
        if self.open.len() >= MOST_OPEN {
            return QuestionHandling::EditorAnswer;
        }
        self.last += 1;
        let open = OpenDecision {
            ticket: self.last,
            written: written.to_vec(),
        };
        self.open.insert(id, open);
        QuestionHandling::Open(self.last)
    }

    /// Handles an answer from the editor.
    pub fn editor_answers(&mut self, id: &RpcId) -> EditorAnswer {
        if let Some(owed) = self.owed.get_mut(id)
            && let Some(ticket) = owed.pop_front()
        {
            self.debts -= 1;
            if owed.is_empty() {
                self.owed.remove(id);
            }
            return EditorAnswer::Late(ticket);
        }
        match self.open.remove(id) {
            Some(open) => EditorAnswer::Decides(open.ticket),
            None => EditorAnswer::Passes,
        }
    }

    /// Handles a decision by hearken.
    pub fn decides(&mut self, ticket: u64) -> Treatment {
        let Some(id) = self.id_of(ticket) else {
            return Treatment::TooLate;
        };
        if self.debts >= MOST_OWED {
            return Treatment::Full;
        }
        let Some(open) = self.open.remove(&id) else {
            return Treatment::TooLate;
        };
        self.debts += 1;
        self.owed.entry(id).or_default().push_back(ticket);
        Treatment::Decides(open.written)
    }

    /// Leaves a question to the editor alone: the agent took it back, or the editor's answer can't be recognized.
    /// Returns its ticket, if it was open.
    pub fn leave(&mut self, id: &RpcId) -> Option<u64> {
        self.open.remove(id).map(|open| open.ticket)
    }

    /// Leaves all questions to the editor, and returns their tickets.
    pub fn leave_all(&mut self) -> Vec<u64> {
        let all = std::mem::take(&mut self.open);
        all.into_values().map(|open| open.ticket).collect()
    }

    /// Returns whether any answer from the editor matters.
    pub fn watches(&self) -> bool {
        !self.open.is_empty() || self.debts > 0
    }

    /// Returns whether an answer to this id matters.
    pub fn is_watched(&self, id: &RpcId) -> bool {
        self.open.contains_key(id) || self.owed.contains_key(id)
    }

    /// Returns the open tickets, and the last one assigned.
    pub fn open_tickets(&self) -> (Vec<u64>, u64) {
        let tickets = self.open.values().map(|open| open.ticket);
        (tickets.collect(), self.last)
    }

    fn id_of(&self, ticket: u64) -> Option<RpcId> {
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

    fn id(number: u8) -> RpcId {
        RpcId::Number(number.to_string())
    }

    #[test]
    fn whoever_is_first_decides_and_the_other_is_late() {
        let mut arbiter = Arbiter::default();
        assert_eq!(arbiter.asks(id(1), b"1"), QuestionHandling::Open(1));
        assert_eq!(arbiter.editor_answers(&id(1)), EditorAnswer::Decides(1));
        assert_eq!(arbiter.decides(1), Treatment::TooLate);
        // The id is reused, and hearken is first.
        assert_eq!(arbiter.asks(id(1), b"1.0"), QuestionHandling::Open(2));
        assert_eq!(
            arbiter.decides(1),
            Treatment::TooLate,
            "it is another question"
        );
        assert_eq!(arbiter.decides(2), Treatment::Decides(b"1.0".to_vec()));
        assert_eq!(arbiter.decides(2), Treatment::TooLate);
        // And again, before the editor's late answer has arrived.
        assert_eq!(arbiter.asks(id(1), b"1"), QuestionHandling::Open(3));
        assert_eq!(arbiter.editor_answers(&id(1)), EditorAnswer::Late(2));
        assert_eq!(arbiter.editor_answers(&id(1)), EditorAnswer::Decides(3));
        assert_eq!(arbiter.editor_answers(&id(1)), EditorAnswer::Passes);
        assert!(!arbiter.watches());
    }

    #[test]
    fn an_id_that_is_open_twice_is_the_editors_and_so_is_one_too_many() {
        let mut arbiter = Arbiter::default();
        arbiter.asks(id(1), b"1");
        assert_eq!(arbiter.asks(id(1), b"1"), QuestionHandling::Twice(1));
        assert_eq!(arbiter.decides(1), Treatment::TooLate);
        assert_eq!(arbiter.editor_answers(&id(1)), EditorAnswer::Passes);
        for number in 0..MOST_OPEN {
            let asked = arbiter.asks(RpcId::Text(number.to_string()), b"");
            assert!(matches!(asked, QuestionHandling::Open(_)));
        }
        assert_eq!(arbiter.asks(id(2), b"2"), QuestionHandling::EditorAnswer);
        assert_eq!(arbiter.leave_all().len(), MOST_OPEN);
        assert!(!arbiter.watches());
    }

    #[test]
    fn no_owed_answer_is_ever_forgotten() {
        let mut arbiter = Arbiter::default();
        for number in 0..MOST_OWED {
            let QuestionHandling::Open(ticket) =
                arbiter.asks(RpcId::Text(number.to_string()), b"x")
            else {
                panic!("there is room");
            };
            assert!(matches!(arbiter.decides(ticket), Treatment::Decides(_)));
        }
        let QuestionHandling::Open(ticket) = arbiter.asks(id(1), b"1") else {
            panic!("there is room");
        };
        assert_eq!(arbiter.decides(ticket), Treatment::Full);
        assert_eq!(
            arbiter.editor_answers(&id(1)),
            EditorAnswer::Decides(ticket)
        );
        let first = RpcId::Text("0".to_owned());
        assert_eq!(arbiter.editor_answers(&first), EditorAnswer::Late(1));
    }

    #[derive(Debug, Clone)]
    enum ArbiterStep {
        Asks(u8),
        Editor(u8),
        Hearken(u64),
        TakenBack(u8),
    }

    fn steps() -> impl Strategy<Value = Vec<ArbiterStep>> {
        let step = prop_oneof![
            (0_u8..4).prop_map(ArbiterStep::Asks),
            (0_u8..4).prop_map(ArbiterStep::Editor),
            (1_u64..40).prop_map(ArbiterStep::Hearken),
            (0_u8..4).prop_map(ArbiterStep::TakenBack),
        ];
        prop::collection::vec(step, 0..80)
    }

    proptest! {
        /// Whatever happens, in any order: each question is decided at most once, by a decision for that very question,
        /// and for every decision by hearken exactly one answer from the editor is withheld.
        #[test]
        fn each_question_is_decided_at_most_once(steps in steps()) {
            let mut arbiter = Arbiter::default();
            let mut decided = BTreeSet::new();
            let (mut ours, mut late) = (Vec::new(), Vec::new());
            for step in steps {
                match step {
                    ArbiterStep::Asks(number) => {
                        arbiter.asks(id(number), &[number]);
                    }
                    ArbiterStep::Editor(number) => match arbiter.editor_answers(&id(number)) {
                        EditorAnswer::Decides(ticket) => prop_assert!(decided.insert(ticket)),
                        EditorAnswer::Late(ticket) => {
                            prop_assert!(decided.contains(&ticket));
                            late.push(ticket);
                        }
                        EditorAnswer::Passes => {}
                    },
                    ArbiterStep::Hearken(ticket) => {
                        if let Treatment::Decides(_) = arbiter.decides(ticket) {
                            prop_assert!(decided.insert(ticket));
                            ours.push(ticket);
                        }
                    }
                    ArbiterStep::TakenBack(number) => {
                        if let Some(ticket) = arbiter.leave(&id(number)) {
                            prop_assert!(decided.insert(ticket), "it can't be decided after that");
                        }
                    }
                }
            }
            for number in 0..4 {
                while let EditorAnswer::Late(ticket) = arbiter.editor_answers(&id(number)) {
                    late.push(ticket);
                }
            }
            ours.sort_unstable();
            late.sort_unstable();
            prop_assert_eq!(ours, late);
        }
    }
}
