//! Signing in to an agent that requires it.
//!
//! Responsibilities: the ways to sign in that it offers, the person's choice, repeating what it refused. Not here: keys
//! and passwords, none of which is ever asked for, kept or written here.
//!
//! # Mental model
//! An agent that requires signing in refuses requests. Then the ways that it named in its greeting become an ordinary
//! question. A way that the agent carries out itself is requested from it; then the refused request is repeated. A way
//! that the person carries out by hand is explained, and the question stays open: the person says when it is done, and
//! the refused request is repeated.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::event_writer::{self, cut};
use crate::link::{Phrase, PhraseArg, Receipt};
use crate::protocol::{Answer, SessionCompleted, Summary};
use crate::rpc;
use crate::{Cx, DialectOutput};

use super::client::{Acp, AcpRequest, AgentPhase};
use crate::kit::call::first;
use crate::kit::members::text;
use crate::kit::standalone_question::{self, QuestionContent, SideQuestion};

/// How many ways are offered: AAEP allows 32 choices, and one is ours.
const MOST: usize = standalone_question::MOST_CHOICES - 1;
/// How many variables, or words of a command, are named.
const MOST_NAMED: usize = 16;
/// The longest name, in characters.
const LONGEST: usize = 200;

/// One way to sign in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInMethod {
    id: String,
    name: String,
    says: String,
    kind: SignInKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum SignInKind {
    /// The agent carries it out.
    Agent,
    /// The agent reads these environment variables.
    Variables(Vec<String>),
    /// The person runs the agent's program in a terminal, with these additional words and these variables.
    ByHand {
        words: Vec<String>,
        variables: Vec<String>,
    },
}

impl SignInMethod {
    /// Parses the ways that an agent names in its greeting.
    pub fn read(greeting: &Map<String, Value>) -> Vec<Self> {
        let ways = greeting.get("authMethods").and_then(Value::as_array);
        let ways = ways.into_iter().flatten().filter_map(Value::as_object);
        ways.filter_map(Self::one).take(MOST).collect()
    }

    fn one(way: &Map<String, Value>) -> Option<Self> {
        let id = text(way, "id")?;
        // An id that is too long is dropped, because a cut one would be wrong.
        let id = (id.chars().count() <= LONGEST).then(|| id.to_owned())?;
        let name = text(way, "name").filter(|name| !name.trim().is_empty());
        Some(Self {
            name: cut(name.unwrap_or(&id), LONGEST),
            says: event_writer::short(&cut(text(way, "description").unwrap_or_default(), LONGEST)),
            kind: match text(way, "type") {
                Some("env_var") => SignInKind::Variables(variables(way)),
                Some("terminal") => SignInKind::ByHand {
                    words: texts(way.get("args")),
                    variables: set(way.get("env")),
                },
                // An unknown type is left to the agent, like a way without a type.
                Some(_) | None => SignInKind::Agent,
            },
            id,
        })
    }
}

/// Returns the names of the variables that a way reads; their values are none of our business.
fn variables(way: &Map<String, Value>) -> Vec<String> {
    let list = way.get("vars").and_then(Value::as_array);
    let list = list.into_iter().flatten().filter_map(Value::as_object);
    let several = list.filter_map(|variable| text(variable, "name"));
    let names = several.chain(text(way, "varName"));
    names
        .take(MOST_NAMED)
        .map(|name| cut(name, LONGEST))
        .collect()
}

fn texts(list: Option<&Value>) -> Vec<String> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    let list = list.filter_map(Value::as_str).take(MOST_NAMED);
    list.map(|word| cut(word, LONGEST)).collect()
}

/// Writes the variables to set, as a person types them before a command.
fn set(env: Option<&Value>) -> Vec<String> {
    let env = env.and_then(Value::as_object).into_iter().flatten();
    let env = env.filter_map(|(name, value)| Some(format!("{name}={}", value.as_str()?)));
    let env: BTreeMap<String, ()> = env.map(|text| (cut(&text, LONGEST), ())).collect();
    env.into_keys().take(MOST_NAMED).collect()
}

/// How far signing in has got.
#[derive(Debug)]
pub(super) enum SignInState {
    /// It is not required.
    Idle,
    /// The person is being asked how to sign in.
    Asked {
        aside: Box<SideQuestion>,
        /// The way chosen in the answer under way.
        chosen: Option<SignInMethod>,
    },
    /// The agent is carrying out the way of this name.
    Waits {
        name: String,
        /// The id of the request.
        id: u64,
    },
}

impl Acp {
    /// Asks how to sign in, after the agent refused something without it.
    pub(super) fn wants_sign_in(&mut self, cx: &mut Cx<'_>) {
        if self.ways_in.is_empty() {
            return self.give_up(Phrase::new("acp.sign_in"), cx.out);
        }
        if matches!(self.signing, SignInState::Idle) {
            self.ask_how(cx);
        }
    }

    fn ask_how(&mut self, cx: &mut Cx<'_>) {
        let words = &self.teller.words;
        let mut labels: Vec<String> = self
            .ways_in
            .iter()
            .map(|way| {
                let named = [("name", way.name.as_str()), ("says", way.says.as_str())];
                match &way.kind {
                    SignInKind::Agent => first(words, "acp.sign_in.way", &named),
                    SignInKind::Variables(names) => {
                        // Most descriptions only name the variables.
                        let known = names.iter().all(|name| way.says.contains(name.as_str()));
                        let says = if known { "" } else { &way.says };
                        let names = names.join(", ");
                        let args = [named[0], ("says", says), ("names", &names)];
                        first(words, "acp.sign_in.variables", &args)
                    }
                    SignInKind::ByHand { .. } => first(words, "acp.sign_in.by_hand", &named),
                }
            })
            .collect();
        labels.push(first(words, "acp.sign_in.again", &[]));
        let asks = QuestionContent::one_of(first(words, "acp.sign_in.how", &[]), labels);
        let teller = &mut self.teller;
        let mut aside = SideQuestion::begin("sign-in", "", "acp.sign_in.asks", teller, cx);
        aside.ask(asks, teller, cx);
        self.signing = SignInState::Asked {
            aside: Box::new(aside),
            chosen: None,
        };
    }

    /// Handles an answer to the question of how to sign in; returns false for any other answer.
    pub(super) fn signs_in(
        &mut self,
        request: u64,
        token: &str,
        answer: &Answer,
        cx: &mut Cx<'_>,
    ) -> bool {
        let SignInState::Asked { aside, .. } = &self.signing else {
            return false;
        };
        let Some(at) = standalone_question::place(answer).filter(|_| aside.is_open(token)) else {
            return false;
        };
        if at > self.ways_in.len() {
            return false;
        }
        let way = self.ways_in.get(at).cloned();
        let by_hand = match &way {
            Some(way) => match &way.kind {
                SignInKind::Agent | SignInKind::Variables(_) => {
                    let params = json!({"methodId": way.id}).to_string();
                    let id = self.pending_requests.ask(AcpRequest::SigningIn);
                    let frame = rpc::request(id, "authenticate", &params);
                    if let SignInState::Asked { aside, chosen } = &mut self.signing {
                        aside.sends(request);
                        *chosen = Some(way.clone());
                    }
                    self.signing_id = id;
                    cx.out.push(DialectOutput::Send { request, frame });
                    return true;
                }
                SignInKind::ByHand { words, variables } => {
                    Some((words.join(" "), variables.join(" ")))
                }
            },
            None => None,
        };
        cx.out.push(DialectOutput::Settled {
            request,
            outcome: Ok(Receipt::Here),
        });
        match by_hand {
            Some((words, variables)) => {
                let args = [("words", words.as_str()), ("variables", &variables)];
                let told = self.teller.words.summary("acp.sign_in.do", &args);
                self.leave_how(told, cx);
                self.ask_how(cx);
            }
            None => {
                self.leave_how(Summary::default(), cx);
                self.try_again(cx);
            }
        }
        true
    }

    fn leave_how(&mut self, summary: Summary, cx: &mut Cx<'_>) {
        if let SignInState::Asked { aside, .. } =
            std::mem::replace(&mut self.signing, SignInState::Idle)
        {
            let completed = SessionCompleted {
                summary,
                ..SessionCompleted::default()
            };
            aside.end_with(completed, &mut self.teller, cx);
        }
    }

    /// Handles the delivery of that answer.
    pub(super) fn sign_in_went(&mut self, request: u64, went: bool, cx: &mut Cx<'_>) {
        let SignInState::Asked { aside, chosen } = &mut self.signing else {
            return;
        };
        if !aside.went(request) {
            return;
        }
        let Some(way) = chosen.take().filter(|_| went) else {
            return;
        };
        let key = match way.kind {
            SignInKind::Agent => "acp.sign_in.waits",
            SignInKind::Variables(_) | SignInKind::ByHand { .. } => "acp.sign_in.tries",
        };
        let told = self.teller.words.summary(key, &[("name", &way.name)]);
        self.leave_how(told, cx);
        self.signing = SignInState::Waits {
            name: way.name,
            id: self.signing_id,
        };
    }

    /// Returns the way that the agent has answered; its answer may arrive before the report that our request was
    /// written.
    fn way_that_was_taken(&mut self, cx: &mut Cx<'_>) -> Option<String> {
        let name = match &mut self.signing {
            SignInState::Idle => return None,
            SignInState::Waits { name, .. } => std::mem::take(name),
            SignInState::Asked { chosen, .. } => chosen.take()?.name,
        };
        self.leave_how(Summary::default(), cx);
        self.signing = SignInState::Idle;
        Some(name)
    }

    /// Handles a successful sign-in.
    pub(super) fn signed_in(&mut self, cx: &mut Cx<'_>) {
        if self.way_that_was_taken(cx).is_some() {
            cx.out
                .push(DialectOutput::Announce(Phrase::new("acp.sign_in.done")));
            self.try_again(cx);
        }
    }

    /// Handles a failed sign-in.
    pub(super) fn not_signed_in(&mut self, words: PhraseArg, cx: &mut Cx<'_>) {
        if let Some(name) = self.way_that_was_taken(cx) {
            let phrase = Phrase::new("acp.sign_in.failed")
                .with("name", PhraseArg::Name(name))
                .with("words", words);
            cx.out.push(DialectOutput::Announce(phrase));
            self.ask_how(cx);
        }
    }

    /// Withdraws the request to sign in; returns false if none was under way.
    pub(super) fn stop_signing_in(&mut self, out: &mut Vec<DialectOutput>) -> bool {
        let SignInState::Waits { id, .. } = &self.signing else {
            return false;
        };
        let params = json!({"requestId": id}).to_string();
        self.send(rpc::notification("$/cancel_request", &params), out);
        out.push(DialectOutput::Announce(Phrase::new("acp.sign_in.stops")));
        true
    }

    /// Repeats what the agent refused.
    fn try_again(&mut self, cx: &mut Cx<'_>) {
        match self.phase {
            AgentPhase::Meeting => {
                if !self.open_again(cx.out)
                    && let Err(reason) = self.want_conversation(cx.out)
                {
                    self.give_up(reason, cx.out);
                }
            }
            AgentPhase::Open(_) => self.go_on(cx),
            AgentPhase::Unmet | AgentPhase::Over => {}
        }
    }

    /// Handles the end of the agent.
    pub(super) fn leave_signing(&mut self, cx: &mut Cx<'_>) {
        if let SignInState::Asked { aside, .. } =
            std::mem::replace(&mut self.signing, SignInState::Idle)
        {
            aside.lose(&mut self.teller, cx);
        }
    }
}
