//! Signing in to an agent that wants it.
//!
//! Responsibilities: the ways that it offers, which one the person takes, going on with what it refused. Not here: what a
//! key or a password is: nothing of the kind is ever asked for, kept or written here.
//!
//! # Mental model
//! An agent that nobody has signed in to refuses what it is asked for. Then the ways that it named in its greeting are a
//! question like any other. One that it carries out itself is asked of it, and what it refused is asked for again. One that
//! is done by hand is explained, and the question stays: who has done it says so, and what was refused is asked for again.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::Out;
use crate::link::{Phrase, Receipt, Word};
use crate::protocol::{Answer, Now};
use crate::rpc;
use crate::written::{self, cut};

use super::aside::{self, Aside, Asks};
use super::call::first;
use super::client::{Acp, Ours, Phase};
use super::ending::sentence;
use super::read::text;

/// How many ways are offered: AAEP takes 32 choices, and one is ours.
const MOST: usize = aside::MOST_CHOICES - 1;
/// How many variables, or words of a command, are named.
const MOST_NAMED: usize = 16;
/// The longest name, in characters.
const LONGEST: usize = 200;

/// One way to sign in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WayIn {
    id: String,
    name: String,
    says: String,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// The agent does what is to be done.
    Agent,
    /// It reads what stands in these variables of its environment.
    Variables(Vec<String>),
    /// The person runs its program with these words more, and these variables, in a terminal.
    ByHand {
        words: Vec<String>,
        variables: Vec<String>,
    },
}

impl WayIn {
    /// Reads the ways that an agent names in its greeting.
    pub fn read(greeting: &Map<String, Value>) -> Vec<Self> {
        let ways = greeting.get("authMethods").and_then(Value::as_array);
        let ways = ways.into_iter().flatten().filter_map(Value::as_object);
        ways.filter_map(Self::one).take(MOST).collect()
    }

    fn one(way: &Map<String, Value>) -> Option<Self> {
        let id = text(way, "id")?;
        // What is too long to be known by is not sent back in part.
        let id = (id.chars().count() <= LONGEST).then(|| id.to_owned())?;
        let name = text(way, "name").filter(|name| !name.trim().is_empty());
        Some(Self {
            name: cut(name.unwrap_or(&id), LONGEST),
            says: written::short(&cut(text(way, "description").unwrap_or_default(), LONGEST)),
            kind: match text(way, "type") {
                Some("env_var") => Kind::Variables(variables(way)),
                Some("terminal") => Kind::ByHand {
                    words: texts(way.get("args")),
                    variables: set(way.get("env")),
                },
                // A type that is not known is asked of the agent, as one without a type is.
                Some(_) | None => Kind::Agent,
            },
            id,
        })
    }
}

/// Returns the names of the variables that a way reads; what stands in them is nobody's business here.
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

/// Writes the variables that are to be set, as a person types them before a command.
fn set(env: Option<&Value>) -> Vec<String> {
    let env = env.and_then(Value::as_object).into_iter().flatten();
    let env = env.filter_map(|(name, value)| Some(format!("{name}={}", value.as_str()?)));
    let env: BTreeMap<String, ()> = env.map(|text| (cut(&text, LONGEST), ())).collect();
    env.into_keys().take(MOST_NAMED).collect()
}

/// How far signing in is.
#[derive(Debug)]
pub(super) enum Signing {
    /// Nobody has to.
    Idle,
    /// The person is asked how.
    Asked {
        aside: Box<Aside>,
        /// The way that the answer on its way chose.
        chosen: Option<WayIn>,
    },
    /// The agent signs in by the way of this name.
    Waits {
        name: String,
        /// The id of the request.
        id: u64,
    },
}

impl Acp {
    /// Asks how to sign in, after the agent refused something for the want of it.
    pub(super) fn wants_sign_in(&mut self, now: Now, out: &mut Vec<Out>) {
        if self.ways_in.is_empty() {
            return self.give_up(Phrase::new("acp.sign_in"), out);
        }
        if matches!(self.signing, Signing::Idle) {
            self.ask_how(now, out);
        }
    }

    fn ask_how(&mut self, now: Now, out: &mut Vec<Out>) {
        let words = &self.teller.words;
        let mut labels: Vec<String> = self
            .ways_in
            .iter()
            .map(|way| {
                let named = [("name", way.name.as_str()), ("says", way.says.as_str())];
                match &way.kind {
                    Kind::Agent => first(words, "acp.sign_in.way", &named),
                    Kind::Variables(names) => {
                        // Most say no more than which variables those are.
                        let known = names.iter().all(|name| way.says.contains(name.as_str()));
                        let says = if known { "" } else { &way.says };
                        let names = names.join(", ");
                        let args = [named[0], ("says", says), ("names", &names)];
                        first(words, "acp.sign_in.variables", &args)
                    }
                    Kind::ByHand { .. } => first(words, "acp.sign_in.by_hand", &named),
                }
            })
            .collect();
        labels.push(first(words, "acp.sign_in.again", &[]));
        let asks = Asks::one_of(first(words, "acp.sign_in.how", &[]), labels);
        let teller = &mut self.teller;
        let mut aside = Aside::begin("sign-in", "", "acp.sign_in.asks", teller, now, out);
        aside.ask(asks, teller, now, out);
        self.signing = Signing::Asked {
            aside: Box::new(aside),
            chosen: None,
        };
    }

    /// Takes an answer to the question how; tells whether it is one.
    pub(super) fn signs_in(
        &mut self,
        request: u64,
        token: &str,
        answer: &Answer,
        now: Now,
        out: &mut Vec<Out>,
    ) -> bool {
        let Signing::Asked { aside, .. } = &self.signing else {
            return false;
        };
        let Some(at) = aside::place(answer).filter(|_| aside.takes(token)) else {
            return false;
        };
        if at > self.ways_in.len() {
            return false;
        }
        let way = self.ways_in.get(at).cloned();
        let by_hand = match &way {
            Some(way) => match &way.kind {
                Kind::Agent | Kind::Variables(_) => {
                    let params = json!({"methodId": way.id}).to_string();
                    let id = self.asked.ask(Ours::SigningIn);
                    let frame = rpc::request(id, "authenticate", &params);
                    if let Signing::Asked { aside, chosen } = &mut self.signing {
                        aside.sends(request);
                        *chosen = Some(way.clone());
                    }
                    self.signing_id = id;
                    out.push(Out::Send { request, frame });
                    return true;
                }
                Kind::ByHand { words, variables } => Some((words.join(" "), variables.join(" "))),
            },
            None => None,
        };
        out.push(Out::Settled {
            request,
            outcome: Ok(Receipt::Here),
        });
        match by_hand {
            Some((words, variables)) => {
                let args = [("words", words.as_str()), ("variables", &variables)];
                let told = sentence(&self.teller.words, "acp.sign_in.do", &args);
                self.leave_how(told, now, out);
                self.ask_how(now, out);
            }
            None => {
                self.leave_how(Map::new(), now, out);
                self.try_again(now, out);
            }
        }
        true
    }

    fn leave_how(&mut self, told: Map<String, Value>, now: Now, out: &mut Vec<Out>) {
        if let Signing::Asked { aside, .. } = std::mem::replace(&mut self.signing, Signing::Idle) {
            aside.end_with(told, &mut self.teller, now, out);
        }
    }

    /// Takes what became of the answer to the question how.
    pub(super) fn sign_in_went(&mut self, request: u64, went: bool, now: Now, out: &mut Vec<Out>) {
        let Signing::Asked { aside, chosen } = &mut self.signing else {
            return;
        };
        if !aside.went(request) {
            return;
        }
        let Some(way) = chosen.take().filter(|_| went) else {
            return;
        };
        let key = match way.kind {
            Kind::Agent => "acp.sign_in.waits",
            Kind::Variables(_) | Kind::ByHand { .. } => "acp.sign_in.tries",
        };
        let told = sentence(&self.teller.words, key, &[("name", &way.name)]);
        self.leave_how(told, now, out);
        self.signing = Signing::Waits {
            name: way.name,
            id: self.signing_id,
        };
    }

    /// Returns the way whose answer came, which may be heard before the word that its request was written.
    fn way_that_was_taken(&mut self, now: Now, out: &mut Vec<Out>) -> Option<String> {
        let name = match &mut self.signing {
            Signing::Idle => return None,
            Signing::Waits { name, .. } => std::mem::take(name),
            Signing::Asked { chosen, .. } => chosen.take()?.name,
        };
        self.leave_how(Map::new(), now, out);
        self.signing = Signing::Idle;
        Some(name)
    }

    /// Takes the word that the person is signed in.
    pub(super) fn signed_in(&mut self, now: Now, out: &mut Vec<Out>) {
        if self.way_that_was_taken(now, out).is_some() {
            out.push(Out::Tell(Phrase::new("acp.sign_in.done")));
            self.try_again(now, out);
        }
    }

    /// Takes the word that signing in did not work.
    pub(super) fn not_signed_in(&mut self, words: Word, now: Now, out: &mut Vec<Out>) {
        if let Some(name) = self.way_that_was_taken(now, out) {
            let phrase = Phrase::new("acp.sign_in.failed")
                .with("name", Word::Name(name))
                .with("words", words);
            out.push(Out::Tell(phrase));
            self.ask_how(now, out);
        }
    }

    /// Takes back the request to sign in; tells whether one was under way.
    pub(super) fn stop_signing_in(&mut self, out: &mut Vec<Out>) -> bool {
        let Signing::Waits { id, .. } = &self.signing else {
            return false;
        };
        let params = json!({"requestId": id}).to_string();
        self.send(rpc::notification("$/cancel_request", &params), out);
        out.push(Out::Tell(Phrase::new("acp.sign_in.stops")));
        true
    }

    /// Asks for what the agent refused.
    fn try_again(&mut self, now: Now, out: &mut Vec<Out>) {
        match self.phase {
            Phase::Meeting => {
                if !self.open_again(out)
                    && let Err(reason) = self.want_conversation(out)
                {
                    self.give_up(reason, out);
                }
            }
            Phase::Open(_) => self.go_on(now, out),
            Phase::Unmet | Phase::Over => {}
        }
    }

    /// Takes the end of the agent.
    pub(super) fn leave_signing(&mut self, now: Now, out: &mut Vec<Out>) {
        if let Signing::Asked { aside, .. } = std::mem::replace(&mut self.signing, Signing::Idle) {
            aside.lose(&mut self.teller, now, out);
        }
    }
}
