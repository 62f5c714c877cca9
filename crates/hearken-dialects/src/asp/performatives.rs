//! The words of the protocol: its thirteen performatives, and the kinds of INFORM that move a session.
//!
//! Responsibilities: reading the names in any letter case, and returning them as the document writes them. Not here:
//! what a performative does in a state (`session_rules`), how it is announced (the phrase files).

/// Defines an enum of names, each as the document writes it.
macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$case_doc:meta])* $case:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$case_doc])* $case),+ }

        #[allow(dead_code, reason = "some names are only ever written")]
        impl $name {
            /// All names, in the document's order.
            pub const ALL: &'static [Self] = &[$(Self::$case),+];

            /// Returns the name as the document writes it.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$case => $text),+ }
            }

            /// Reads a name in any letter case.
            pub fn read(text: &str) -> Option<Self> {
                let text = text.trim();
                Self::ALL.iter().copied().find(|it| it.name().eq_ignore_ascii_case(text))
            }
        }
    };
}
pub(super) use names;

names!(
    /// What the sender of a message does by sending it.
    Performative {
        /// Offers terms, an action or a session.
        Propose = "PROPOSE",
        /// Agrees.
        Accept = "ACCEPT",
        /// Declines, with a reason.
        Reject = "REJECT",
        /// Offers other terms.
        Counter = "COUNTER",
        /// States something.
        Inform = "INFORM",
        /// Asks for something.
        Query = "QUERY",
        /// Asks what was meant, or explains it.
        Clarify = "CLARIFY",
        /// Binds the sender to terms, once they are accepted.
        Commit = "COMMIT",
        /// Hands a task to another agent.
        Delegate = "DELEGATE",
        /// Watches, or reports what it saw.
        Observe = "OBSERVE",
        /// Leaves, and takes back the sender's offer.
        Withdraw = "WITHDRAW",
        /// Calls for a human or a higher authority.
        Escalate = "ESCALATE",
        /// Ends the session.
        Close = "CLOSE",
    }
);

names!(
    /// The kind of an INFORM, as far as it matters for the session.
    Informs {
        /// Who the sender is.
        Identity = "identity",
        /// The progress of the work.
        Progress = "progress",
        /// The completion of the work.
        Result = "result",
        /// An error.
        Error = "error",
        /// The decision about an escalation.
        Resolution = "resolution",
        /// Anything else.
        Other = "other",
    }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_any_letters_and_given_back_as_written() {
        assert_eq!(Performative::ALL.len(), 13);
        for performative in Performative::ALL {
            let small = performative.name().to_lowercase();
            assert_eq!(
                Performative::read(&format!(" {small} ")),
                Some(*performative)
            );
        }
        assert_eq!(Performative::read("PURPLE"), None);
        assert_eq!(Informs::read("Identity"), Some(Informs::Identity));
    }
}
