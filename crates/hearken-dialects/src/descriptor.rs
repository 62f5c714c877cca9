//! The list of dialects: what all sources of a dialect have in common.
//!
//! Responsibilities: one row per dialect ([`DIALECTS`]), from which the program takes how a SOURCE names it, how it is
//! recognised, which credential goes to it, where its frames are, and what its agents can be asked. Not here: the
//! dialects themselves (a folder each).

use crate::config;
use crate::link::{Stream, WebSocketTerms};
use crate::recognise::{Recognition, UndecidedMachine};
use crate::{Dialect, DialectSetup};

/// What is the same for every source of one dialect.
#[derive(Debug, Clone, Copy)]
pub struct Descriptor {
    /// The dialect.
    pub dialect: config::Dialect,
    /// The full name of its protocol, or of the program.
    pub title: &'static str,
    /// How a SOURCE on the command line names it, apart from `--dialect`.
    pub named: Naming,
    /// Where its frames are.
    pub place: FramesAt,
    /// What a WebSocket of it requires.
    pub websocket: WebSocketTerms,
    /// What the token of a source is.
    pub credential: Credential,
    /// What a person can do there besides listening.
    pub abilities: Abilities,
    pub(crate) recognise: fn(&str) -> Recognition,
    machine: fn(DialectSetup) -> Box<dyn Dialect>,
    #[cfg(test)]
    pub(crate) messages: &'static [&'static str],
}

/// How a SOURCE names a dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// It does not: the dialect is recognised, or set.
    Nothing,
    /// By a prefix of the address.
    Prefix(&'static str),
    /// By one of these words in place of an address, because the agents connect to us.
    Words(&'static [&'static str]),
    /// By one of these schemes of the address.
    Schemes(&'static [&'static str]),
    /// By a prefix of the address, or by the program's name alone, which stands for its usual place on this machine.
    PrefixOrProgram {
        /// The prefix.
        prefix: &'static str,
        /// The program's name, which `#` and a part of what is there may follow.
        program: &'static str,
    },
}

/// Where the frames of a server are.
#[derive(Debug, Clone, Copy)]
pub enum FramesAt {
    /// Where the rules of AAEP say.
    Negotiated,
    /// At the address that the person gave, over any carrier.
    AsGiven,
    /// Likewise, but each run is a request with a stream for an answer, so that no WebSocket carries it.
    Posted,
    /// At a path of its own below the one given.
    Own(fn(&str) -> Stream),
}

/// What the token of a source is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credential {
    /// A bearer token, sent as the person named it.
    Token,
    /// A password. If the person names none, it is in a variable of the agent's own.
    Password {
        /// The environment variable of the password.
        variable: &'static str,
        /// The environment variable of the user name.
        user_variable: &'static str,
        /// The user name if that variable is not set.
        user: &'static str,
    },
}

/// What a person can do at a source besides listening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    /// Whether questions are answered.
    pub answered: Ability,
    /// Whether prompts are given.
    pub prompted: Ability,
    /// Whether the work under way is stopped.
    pub stopped: Ability,
}

/// Whether a protocol has something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ability {
    /// It has.
    Yes,
    /// Only under this condition.
    If(&'static str),
    /// It has no way to.
    No,
}

const ALL: Abilities = Abilities {
    answered: Ability::Yes,
    prompted: Ability::Yes,
    stopped: Ability::Yes,
};
const ANSWERED: Abilities = Abilities {
    prompted: Ability::No,
    stopped: Ability::No,
    ..ALL
};

/// All dialects, in the order in which they judge a text.
pub const DIALECTS: &[Descriptor] = &[
    Descriptor {
        dialect: config::Dialect::Aaep,
        title: "Agent Accessibility Event Protocol",
        named: Naming::Nothing,
        place: FramesAt::Negotiated,
        websocket: crate::aaep::WEBSOCKET,
        credential: Credential::Token,
        abilities: Abilities {
            prompted: Ability::If("the address for prompts is set"),
            ..ANSWERED
        },
        recognise: crate::aaep::recognise,
        machine: |start| Box::new(crate::aaep::Aaep::new(start)),
        #[cfg(test)]
        messages: crate::aaep::MESSAGES,
    },
    Descriptor {
        dialect: config::Dialect::Asp,
        title: "Agent Session Protocol",
        named: Naming::Nothing,
        place: FramesAt::AsGiven,
        websocket: crate::asp::WEBSOCKET,
        credential: Credential::Token,
        abilities: Abilities {
            answered: Ability::If("an identity or a handler is set"),
            ..ANSWERED
        },
        recognise: crate::asp::recognise,
        machine: |start| Box::new(crate::asp::Asp::new(start)),
        #[cfg(test)]
        messages: crate::asp::MESSAGES,
    },
    Descriptor {
        dialect: config::Dialect::Sage,
        title: "Sage",
        named: Naming::Nothing,
        place: FramesAt::AsGiven,
        websocket: WebSocketTerms::PLAIN,
        credential: Credential::Token,
        abilities: ANSWERED,
        recognise: crate::sage::recognise,
        machine: |start| Box::new(crate::sage::Sage::new(start)),
        #[cfg(test)]
        messages: crate::sage::MESSAGES,
    },
    Descriptor {
        dialect: config::Dialect::Acp,
        title: "Agent Client Protocol",
        named: Naming::Nothing,
        place: FramesAt::AsGiven,
        websocket: WebSocketTerms::PLAIN,
        credential: Credential::Token,
        abilities: ALL,
        recognise: crate::acp::recognise,
        machine: |start| Box::new(crate::acp::Acp::new(start)),
        #[cfg(test)]
        messages: crate::acp::MESSAGES,
    },
    Descriptor {
        dialect: config::Dialect::Opencode,
        title: "opencode",
        named: Naming::Prefix("opencode:"),
        place: FramesAt::Own(crate::opencode::events),
        websocket: WebSocketTerms::PLAIN,
        credential: Credential::Password {
            variable: "OPENCODE_SERVER_PASSWORD",
            user_variable: "OPENCODE_SERVER_USERNAME",
            user: "opencode",
        },
        abilities: ALL,
        recognise: crate::opencode::recognise,
        machine: |start| Box::new(crate::opencode::Opencode::new(start)),
        #[cfg(test)]
        messages: crate::opencode::MESSAGES,
    },
    Descriptor {
        dialect: config::Dialect::Codex,
        title: "Codex",
        named: Naming::PrefixOrProgram {
            prefix: "codex:",
            program: "codex",
        },
        place: FramesAt::AsGiven,
        websocket: WebSocketTerms {
            on_sockets: true,
            ..WebSocketTerms::PLAIN
        },
        credential: Credential::Token,
        abilities: ALL,
        recognise: crate::codex::recognise,
        machine: |start| Box::new(crate::codex::Codex::new(start)),
        #[cfg(test)]
        messages: crate::codex::MESSAGES,
    },
    Descriptor {
        dialect: config::Dialect::Claude,
        title: "Hook listener",
        named: Naming::Words(&["claude", "hooks", "copilot", "qwen", "gemini"]),
        place: FramesAt::AsGiven,
        websocket: WebSocketTerms::PLAIN,
        credential: Credential::Token,
        abilities: ANSWERED,
        recognise: crate::claude::recognise,
        machine: |start| Box::new(crate::claude::Claude::new(start)),
        #[cfg(test)]
        messages: crate::claude::MESSAGES,
    },
    Descriptor {
        dialect: config::Dialect::Agui,
        title: "AG-UI",
        named: Naming::Prefix("agui:"),
        place: FramesAt::Posted,
        websocket: WebSocketTerms::PLAIN,
        credential: Credential::Token,
        abilities: ALL,
        recognise: crate::agui::recognise,
        machine: |start| Box::new(crate::agui::Agui::new(start)),
        #[cfg(test)]
        messages: crate::agui::MESSAGES,
    },
    Descriptor {
        dialect: config::Dialect::A2a,
        title: "Agent2Agent",
        named: Naming::Prefix("a2a:"),
        place: FramesAt::AsGiven,
        websocket: WebSocketTerms::PLAIN,
        credential: Credential::Token,
        abilities: ALL,
        recognise: crate::a2a::recognise,
        machine: |start| Box::new(crate::a2a::A2a::new(start)),
        #[cfg(test)]
        messages: crate::a2a::MESSAGES,
    },
    Descriptor {
        dialect: config::Dialect::Nats,
        title: "AAEP over NATS",
        named: Naming::Schemes(&["nats", "tls"]),
        place: FramesAt::AsGiven,
        websocket: WebSocketTerms::PLAIN,
        credential: Credential::Token,
        abilities: ALL,
        recognise: crate::nats::recognise,
        machine: |start| Box::new(crate::nats::Nats::new(start)),
        #[cfg(test)]
        messages: crate::nats::MESSAGES,
    },
    Descriptor {
        dialect: config::Dialect::Synadia,
        title: "Synadia Agent Protocol",
        named: Naming::Schemes(&["agents+nats", "agents+tls"]),
        place: FramesAt::AsGiven,
        websocket: WebSocketTerms::PLAIN,
        credential: Credential::Token,
        abilities: Abilities {
            stopped: Ability::No,
            ..ALL
        },
        recognise: crate::synadia::recognise,
        machine: |start| Box::new(crate::synadia::Synadia::new(start)),
        #[cfg(test)]
        messages: crate::synadia::MESSAGES,
    },
];

impl Descriptor {
    /// Returns the row of a dialect; `None` if it is still to be recognised.
    pub fn of(dialect: config::Dialect) -> Option<&'static Self> {
        DIALECTS.iter().find(|row| row.dialect == dialect)
    }

    /// Creates the machine for a source.
    pub fn machine(&self, start: DialectSetup) -> Box<dyn Dialect> {
        (self.machine)(start)
    }

    /// Returns whether it is AAEP itself, so that nothing is translated.
    pub fn is_native(&self) -> bool {
        self.dialect == config::Dialect::Aaep
    }

    /// Returns the rest of a SOURCE that names it.
    pub fn strip<'a>(&self, source: &'a str) -> Option<&'a str> {
        match self.named {
            Naming::Nothing => None,
            Naming::Prefix(prefix) => source.strip_prefix(prefix),
            Naming::Words(words) => words.contains(&source).then_some(source),
            Naming::Schemes(schemes) => {
                let (scheme, _) = source.split_once("://")?;
                let is_named = |one: &&str| one.eq_ignore_ascii_case(scheme);
                schemes.iter().any(is_named).then_some(source)
            }
            Naming::PrefixOrProgram { prefix, .. } => source
                .strip_prefix(prefix)
                .or_else(|| self.part_of_program(source).map(|_| source)),
        }
    }

    /// Returns the part that a SOURCE names if it is the program's name alone; empty if it names none.
    pub fn part_of_program<'a>(&self, source: &'a str) -> Option<&'a str> {
        let Naming::PrefixOrProgram { program, .. } = self.named else {
            return None;
        };
        match source.strip_prefix(program)? {
            "" => Some(""),
            rest => rest.strip_prefix('#'),
        }
    }
}

/// Creates the machine for a source: the one that the person names, else one that recognises the dialect.
pub fn open(wanted: config::Dialect, start: DialectSetup) -> Box<dyn Dialect> {
    match Descriptor::of(wanted) {
        Some(row) => row.machine(start),
        None => Box::new(UndecidedMachine::new(start)),
    }
}

/// Returns the list as a table for the documentation.
pub fn table() -> String {
    let mut table = String::new();
    for row in DIALECTS {
        let name = format!("{:?}", row.dialect).to_lowercase();
        let source = match row.named {
            Naming::Nothing => String::new(),
            Naming::Prefix(prefix) => format!(", `{prefix}URL`"),
            Naming::Words(words) => format!(", `{}`", words.join("`, `")),
            Naming::Schemes(schemes) => format!(", `{}://HOST`", schemes.join("://…`, `")),
            Naming::PrefixOrProgram { prefix, program } => format!(", `{program}`, `{prefix}URL`"),
        };
        let token = match row.credential {
            Credential::Token => String::new(),
            Credential::Password { variable, .. } => {
                format!("; its token is a password, else `{variable}`")
            }
        };
        let Abilities {
            answered,
            prompted,
            stopped,
        } = row.abilities;
        let abilities = [
            ("answered", answered),
            ("prompted", prompted),
            ("stopped", stopped),
        ];
        let abilities: Vec<String> = abilities
            .into_iter()
            .filter_map(|(name, ability)| match ability {
                Ability::Yes => Some(name.to_owned()),
                Ability::If(condition) => Some(format!("{name} if {condition}")),
                Ability::No => None,
            })
            .collect();
        table += &format!(
            "- `{name}` ({}){source}: {}{token}\n",
            row.title,
            abilities.join(", ")
        );
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cx, DialectOutput, PersonRequest};

    #[test]
    fn a_source_names_at_most_one_dialect() {
        for row in DIALECTS {
            let at = |prefix: &str| format!("{prefix}http://127.0.0.1:1");
            let sources = match row.named {
                Naming::Nothing => continue,
                Naming::Prefix(prefix) => vec![at(prefix)],
                Naming::Words(words) => words.iter().map(|it| (*it).to_owned()).collect(),
                Naming::Schemes(schemes) => schemes
                    .iter()
                    .map(|it| format!("{it}://127.0.0.1"))
                    .collect(),
                Naming::PrefixOrProgram { prefix, program } => {
                    vec![at(prefix), program.to_owned(), format!("{program}#1")]
                }
            };
            for source in sources {
                let of = DIALECTS.iter().filter(|row| row.strip(&source).is_some());
                assert_eq!(of.count(), 1, "{source}");
            }
        }
    }

    #[test]
    fn a_program_is_named_alone_or_with_a_part_of_what_is_there() {
        let codex = Descriptor::of(config::Dialect::Codex);
        for (source, rest, part) in [
            ("codex", Some("codex"), Some("")),
            ("codex#", Some("codex#"), Some("")),
            ("codex#t-1", Some("codex#t-1"), Some("t-1")),
            ("codex:unix:/a.sock", Some("unix:/a.sock"), None),
            ("codexes", None, None),
            ("codex.jsonl", None, None),
        ] {
            let of = codex.map(|row| (row.strip(source), row.part_of_program(source)));
            assert_eq!(of, Some((rest, part)), "{source}");
        }
    }

    /// Prompts, stops and answers are sent only if the list says that the protocol has them.
    #[test]
    fn nothing_is_sent_that_a_protocol_has_not() {
        let now = crate::protocol::Now {
            monotonic: std::time::Duration::ZERO,
            wall: jiff::Timestamp::UNIX_EPOCH,
        };
        for row in DIALECTS {
            let mut machine = (row.machine)(DialectSetup {
                carrier: crate::TransportKind::WebSocket,
                ..DialectSetup::unattended()
            });
            machine.news(
                &crate::link::LinkEvent::Connected,
                &mut Cx::new(now, &mut Vec::new()),
            );
            let wishes = [
                (
                    row.abilities.prompted,
                    PersonRequest::Prompt("hello".to_owned()),
                ),
                (row.abilities.stopped, PersonRequest::Stop),
            ];
            for (ability, wish) in wishes {
                let mut out = Vec::new();
                machine.on_person_request(&wish, &mut Cx::new(now, &mut out));
                let sends = |out: &DialectOutput| {
                    matches!(out, DialectOutput::Send { .. } | DialectOutput::Call { .. })
                };
                if ability == Ability::No {
                    assert!(!out.iter().any(sends), "{:?} {wish:?}", row.dialect);
                }
            }
        }
    }
}
