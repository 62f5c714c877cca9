//! The groups of the help: related commands together, and those needed in a hurry first.

/// One group of commands.
pub(super) struct Group {
    /// Its heading, in the words of the help.
    pub(super) head: &'static str,
    /// The names of its commands.
    pub(super) names: &'static [&'static str],
}

/// Every group, in the order of the help.
pub(super) const GROUPS: &[Group] = &[
    Group {
        head: "Questions",
        names: &[
            "accept",
            "confirm",
            "reject",
            "explain",
            "answer",
            "choose",
            "details",
            "next_question",
        ],
    },
    Group {
        head: "What the agent does",
        names: &[
            "next_conversation",
            "prompt",
            "stop_turn",
            "set",
            "commands",
            "output",
            "plan",
        ],
    },
    Group {
        head: "What is going on",
        names: &["status", "fleet", "away", "remarks"],
    },
    Group {
        head: "Speech",
        names: &[
            "stop",
            "go_on",
            "back_sentence",
            "back_paragraph",
            "skip_code",
            "escape",
            "repeat",
            "mute",
            "quiet",
            "do_not_interrupt",
            "verbosity",
            "load",
            "language",
        ],
    },
    Group {
        head: "Looking back",
        names: &[
            "previous",
            "next",
            "latest",
            "first",
            "page_back",
            "page_forward",
            "read_on",
            "read_back",
            "history",
            "search",
            "whole_turn",
            "spell",
            "previous_word",
            "next_word",
            "copy",
        ],
    },
    Group {
        head: "The voice",
        names: &["next_knob", "raise", "lower", "usual", "remember"],
    },
    Group {
        head: "Leaving, and this help",
        names: &["leave", "help", "quit"],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{BINDINGS, LINES};

    #[test]
    fn every_command_is_in_one_group() {
        for binding in BINDINGS {
            let groups = GROUPS
                .iter()
                .filter(|group| group.names.contains(&binding.name));
            assert_eq!(groups.count(), 1, "{}", binding.name);
        }
        let all: usize = GROUPS.iter().map(|group| group.names.len()).sum();
        assert_eq!(all, BINDINGS.len(), "no group names what there is not");
    }

    #[test]
    fn lines_have_the_groups_of_the_keys_in_their_order() {
        let heads: Vec<&str> = LINES
            .chunk_by(|one, next| one.group == next.group)
            .map(|group| group[0].group)
            .collect();
        let all: Vec<&str> = GROUPS.iter().map(|group| group.head).collect();
        assert_eq!(heads, all);
    }
}
