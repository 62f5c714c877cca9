//! Subjects that come from the wire: which of them are used, and what they name.
//!
//! Responsibilities: where a prompt and where an answer may go; agent, owner and session in a subject. Not here: what
//! is sent there (`prompts`, `answers`).
//!
//! # Mental model
//! Whoever answers the discovery names the subject of its prompts, and whoever asks names the subject of the answer.
//! Used blindly, either would make the person publish wherever a stranger likes: to other people's agents, or as a
//! machine of hearken's own. So prompts go nowhere that has another use, and answers go to inboxes alone, where both
//! packages of the protocol's authors wait for them.

/// The longest subject that is used, in bytes.
const LONGEST: usize = 256;
/// Under which subjects answers arrive.
const INBOX: &str = "_INBOX";
/// What precedes the name of a person or machine in the inboxes of hearken itself.
const OWN_INBOXES: [&str; 2] = ["hearken-", "bridge-"];
/// The first token of all subjects of this protocol.
const ROOT: &str = "agents";

/// Agent, owner and session, as they stand in a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SubjectTokens<'a> {
    pub(super) agent: &'a str,
    pub(super) owner: &'a str,
    pub(super) session: &'a str,
}

/// Returns the tokens of a subject that something can be published under; `None` if it has wildcards, spaces, or is the
/// server's own.
fn plain(subject: &str) -> Option<Vec<&str>> {
    let tokens: Vec<&str> = subject.split('.').collect();
    let fits = |token: &&str| {
        let usual = |byte: u8| byte.is_ascii_graphic() && !b"*>$".contains(&byte);
        !token.is_empty() && token.bytes().all(usual)
    };
    (subject.len() <= LONGEST && tokens.iter().all(fits)).then_some(tokens)
}

/// Returns whether prompts are sent to a subject.
pub(super) fn takes_prompts(subject: &str) -> bool {
    let Some(tokens) = plain(subject) else {
        return false;
    };
    match tokens.as_slice() {
        [ROOT, rest @ ..] => matches!(rest, ["prompt", _, _, _]),
        [first, ..] => *first != INBOX && !first.starts_with("aaep"),
        [] => false,
    }
}

/// Returns whether answers are sent to a subject.
pub(super) fn takes_answers(subject: &str) -> bool {
    let Some(tokens) = plain(subject) else {
        return false;
    };
    match tokens.as_slice() {
        [INBOX, next, ..] => !OWN_INBOXES.iter().any(|own| next.starts_with(own)),
        _ => false,
    }
}

/// Returns what the usual subject of an agent's prompts names; `None` for any other.
pub(super) fn of_prompts(subject: &str) -> Option<SubjectTokens<'_>> {
    match plain(subject)?.as_slice() {
        [ROOT, "prompt", agent, owner, session] => Some(SubjectTokens {
            agent,
            owner,
            session,
        }),
        _ => None,
    }
}

/// Returns what the subject of a heartbeat names, in the spelling of version 0.3 or in the one before it.
pub(super) fn of_heartbeat(subject: &str) -> Option<SubjectTokens<'_>> {
    match plain(subject)?.as_slice() {
        [ROOT, "hb", agent, owner, session] | [ROOT, agent, owner, session, "heartbeat"] => {
            Some(SubjectTokens {
                agent,
                owner,
                session,
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn prompts_go_nowhere_that_has_another_use() {
        for good in ["agents.prompt.pi.anna.build", "team.agent-1.in", "x"] {
            assert!(takes_prompts(good), "{good}");
        }
        for bad in [
            "",
            "agents",
            "agents.prompt.pi.anna.*",
            "agents.prompt.>",
            "agents.prompt.pi.anna",
            "agents.prompt.pi.anna.build.more",
            "agents.hb.pi.anna.build",
            "agents.status.pi.anna.build",
            "$SRV.PING",
            "x.$JS.API",
            "$SYS.REQ",
            "_INBOX.x",
            "aaep.v1.main.a.b.c.ask",
            "aaep-reply.v1.main.a.b.c",
            "aaep-do.v1.main.a.b.c",
            "a..b",
            ".a",
            "a.",
            "a b",
            "a\tb",
            "a\r\nPUB x 1",
            "ä",
        ] {
            assert!(!takes_prompts(bad), "{bad}");
        }
        assert!(!takes_prompts(&"x".repeat(LONGEST + 1)));
    }

    #[test]
    fn answers_go_to_inboxes_alone_and_not_to_hearkens_own() {
        for good in ["_INBOX.agents.e1nnS0t4", "_INBOX.Rb5E.mux.7"] {
            assert!(takes_answers(good), "{good}");
        }
        for bad in [
            "agents.prompt.victim.anna.build",
            "agents.hb.victim.anna.build",
            "aaep-reply.v1.main.a.b.c",
            "orders.cancel",
            "_INBOX",
            "_INBOX.*",
            "_INBOX.>",
            "_INBOX.a b",
            "_INBOX.hearken-ben.x",
            "_INBOX.bridge-build-3.x",
            "$JS.ACK.x",
        ] {
            assert!(!takes_answers(bad), "{bad}");
        }
    }

    #[test]
    fn both_spellings_of_a_heartbeat_name_the_same_agent() {
        let tokens = |agent, owner, session| {
            Some(SubjectTokens {
                agent,
                owner,
                session,
            })
        };
        let wanted = tokens("pi", "anna", "build");
        assert_eq!(of_prompts("agents.prompt.pi.anna.build"), wanted);
        assert_eq!(of_heartbeat("agents.hb.pi.anna.build"), wanted);
        assert_eq!(of_heartbeat("agents.pi.anna.build.heartbeat"), wanted);
        assert_eq!(of_heartbeat("agents.status.pi.anna.build"), None);
        assert_eq!(of_prompts("team.agent-1.in"), None);
    }

    proptest! {
        #[test]
        fn whatever_is_used_can_neither_widen_nor_break_a_message(subject in "\\PC{0,40}|[a.*>$ _\\n]{0,8}") {
            if takes_prompts(&subject) || takes_answers(&subject) {
                prop_assert!(!subject.contains(['*', '>', '$']));
                prop_assert!(!subject.contains(char::is_whitespace));
                prop_assert!(subject.split('.').all(|token| !token.is_empty()));
            }
        }
    }
}
