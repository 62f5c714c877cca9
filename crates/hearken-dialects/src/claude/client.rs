//! The machine: what the hooks' messages say, and which conversation each is about.
//!
//! Responsibilities: finding the conversation of each message, immediately answering what needs no decision, and the
//! bounds. Not here: a single conversation (`conversation`), answers (`deciding`).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use crate::kit::ending::End;
use crate::kit::turn::EventContext;
use crate::link::{LinkEvent, Phrase, Request, Stream, Word};
use crate::protocol::{Now, Reply};
use crate::written::{self, Agent, Writer};
use crate::{Carrier, Connection, Dialect, Foreign, NoEvent, Out, Start, WhenLeft, Wish, Words};

use super::conversation::{Conversation, place};
use super::read::{self, Hook, Misread, Outcome, What};

/// The name of this dialect.
const NAME: &str = "claude";
/// The name of the agent.
const AGENT: &str = "Claude Code";
/// How many conversations are followed at the same time.
const MOST: usize = 64;
/// How many unknown kinds of events are reported, each once.
const MOST_UNKNOWN: usize = 64;
/// The path of hook messages.
const HOOK: &str = "/hook";
/// The path that reports a message too large to be delivered.
const TOO_LARGE: &str = "/too-large";
/// How long a hook waits at most: the limit in the settings that hearken writes, less the time it takes to end.
pub(super) const LIMIT: Duration = Duration::from_secs(60 * 60 - 5);

/// A request that waits for the person.
#[derive(Debug)]
pub(super) struct WaitingRequest {
    /// Its conversation.
    pub conversation: String,
    /// When it began to wait.
    pub since: Duration,
}

/// The hooks of one user's Claude Code.
#[derive(Debug)]
pub struct Claude {
    pub(super) words: Words,
    /// Whether answering is impossible.
    pub(super) listens: bool,
    pub(super) conversations: BTreeMap<String, Conversation>,
    /// The waiting requests, by our numbers for them.
    pub(super) held: BTreeMap<u64, WaitingRequest>,
    /// The requests being answered, by the numbers of the person's answers.
    pub(super) sending: BTreeMap<u64, u64>,
    /// The requests that were answered.
    pub(super) answered: VecDeque<u64>,
    /// How many permissions were requested.
    pub(super) asked: u64,
    /// The stream to follow if the messages are a recording on a server.
    stream: Option<Stream>,
    seed: u64,
    made: u64,
    heard: u64,
    unknown: BTreeSet<String>,
    told_full: bool,
}

impl Claude {
    /// Creates the machine.
    pub fn new(start: Start) -> Self {
        Self {
            words: start.words,
            listens: start.carrier != Carrier::Requests,
            conversations: BTreeMap::new(),
            held: BTreeMap::new(),
            sending: BTreeMap::new(),
            answered: VecDeque::new(),
            asked: 0,
            stream: (start.carrier == Carrier::EventStream).then_some(start.stream),
            seed: start.seed,
            made: 0,
            heard: 0,
            unknown: BTreeSet::new(),
            told_full: false,
        }
    }

    /// Returns a conversation; a new one replaces the longest idle if there are too many. `None` if all are active.
    pub(super) fn conversation(
        &mut self,
        id: &str,
        out: &mut Vec<Out>,
    ) -> Option<&mut Conversation> {
        self.heard += 1;
        if !self.conversations.contains_key(id) {
            if self.conversations.len() >= MOST {
                let idle = self.conversations.values().filter(|it| it.turn.is_none());
                let oldest = idle.min_by_key(|it| it.heard).map(|it| it.id.clone());
                let Some(oldest) = oldest else {
                    if !std::mem::replace(&mut self.told_full, true) {
                        out.push(Out::Tell(Phrase::new("claude.too_many_conversations")));
                    }
                    return None;
                };
                self.conversations.remove(&oldest);
            }
            self.made += 1;
            let agent = Agent {
                id: written::id("claude_", id),
                name: AGENT.to_owned(),
                model: None,
            };
            let seed = self
                .seed
                .wrapping_add(self.made.wrapping_mul(0xa076_1d64_78bd_642f));
            let teller = EventContext {
                writer: Writer::new(NAME, agent, seed),
                words: self.words.clone(),
                folder: String::new(),
                answerable: !self.listens,
            };
            self.conversations
                .insert(id.to_owned(), Conversation::new(id, teller));
        }
        let conversation = self.conversations.get_mut(id)?;
        conversation.heard = self.heard;
        Some(conversation)
    }

    /// Handles a request; all but those that need the person's decision are answered immediately.
    fn request(&mut self, id: u64, request: &Request, now: Now, out: &mut Vec<Out>) {
        let path = request.path.split('?').next().unwrap_or_default();
        match path {
            HOOK => self.message(Some(id), &request.body, now, out),
            TOO_LARGE => out.push(Out::Tell(Phrase::new("claude.too_large"))),
            // A client that knows the secret but uses another path is not one of our hooks.
            _ => out.push(Out::Unread(NoEvent::Foreign(Foreign::Typed), 1)),
        }
        if !self.held.contains_key(&id) {
            self.let_once(id, out);
        }
    }

    /// Answers a request with nothing, unless it was answered.
    fn let_once(&mut self, id: u64, out: &mut Vec<Out>) {
        let is_it = |wish: &Out| matches!(wish, Out::Respond { id: of, .. } if *of == id);
        if !out.iter().any(is_it) {
            self.let_go(id, out);
        }
    }

    fn message(&mut self, id: Option<u64>, body: &str, now: Now, out: &mut Vec<Out>) {
        let hook = match read::hook(body) {
            Ok(hook) => hook,
            Err(why) => {
                if read::asks(body) {
                    out.push(Out::Tell(Phrase::new("claude.not_asked")));
                }
                let foreign = match why {
                    Misread::NoObject => Foreign::Value,
                    Misread::NoEvent | Misread::NoConversation | Misread::Halved => Foreign::Typed,
                };
                return out.push(Out::Unread(NoEvent::Foreign(foreign), 1));
            }
        };
        if let What::Unknown(kind) = &hook.what {
            if self.unknown.len() < MOST_UNKNOWN && self.unknown.insert(kind.clone()) {
                let kind = Word::Name(kind.clone());
                out.push(Out::Detail(
                    Phrase::new("claude.unknown").with("kind", kind),
                ));
            }
            return;
        }
        let Some(conversation) = self.conversation(&hook.conversation, out) else {
            if read::asks(body) {
                out.push(Out::Tell(Phrase::new("claude.not_asked")));
            }
            return;
        };
        conversation.stirs(now);
        if !hook.folder.is_empty() {
            conversation.teller.folder.clone_from(&hook.folder);
        }
        self.heard_of(id, hook, now, out);
    }

    fn heard_of(&mut self, id: Option<u64>, mut hook: Hook, now: Now, out: &mut Vec<Out>) {
        let folder = place(&hook.folder);
        let tell = |key| Phrase::new(key).with("folder", folder.clone());
        let Some(conversation) = self.conversations.get_mut(&hook.conversation) else {
            return;
        };
        let mut over = Vec::new();
        let is_prompt = matches!(hook.what, What::Prompted(_));
        if hook.helper.is_none() && !is_prompt {
            over = conversation.is_of(hook.prompt.as_ref(), now, out);
        }
        // A subagent's messages contain none of the conversation's own texts.
        if hook.helper.is_none() {
            // The transcript contains the reason of a break as if the agent had written it.
            let breaks = matches!(hook.what, What::Breaks(_));
            let is_old = is_prompt || breaks || conversation.turn.is_none();
            conversation.writes(std::mem::take(&mut hook.texts), is_old, now, out);
        }
        match hook.what {
            What::Begins { model } => {
                conversation.teller.writer.model(model.as_deref());
                out.push(Out::Tell(tell("claude.begins")));
            }
            What::Prompted(text) => over = conversation.prompted(&text, hook.prompt, now, out),
            What::Calls(made) => conversation.calls(made, hook.helper, now, out),
            What::Called(made, outcome) => {
                over.extend(conversation.called(made, &outcome, hook.helper, now, out));
                if let Outcome::Failed {
                    interrupted: true, ..
                } = outcome
                {
                    over.extend(conversation.end(End::Stopped { wanted: false }, now, out));
                }
            }
            What::Asks(asks) => {
                let hook = Hook {
                    what: What::Quiet,
                    ..hook
                };
                self.asks(id, hook, *asks, now, out);
            }
            What::Notice { kind, words } => match kind.as_str() {
                // The question itself is asked here.
                "permission_prompt" => {}
                // It waits for the person, so its turn is over.
                "idle_prompt" if conversation.turn.as_ref().is_some_and(|turn| !turn.asks()) => {
                    over.extend(conversation.end(End::Stopped { wanted: false }, now, out));
                }
                "idle_prompt" => {}
                _ => out.push(Out::Tell(
                    tell("claude.notice").with("words", Word::Agent(words)),
                )),
            },
            What::HelperBegins(kind) => {
                out.push(Out::Tell(
                    tell("claude.helper.begins").with("kind", Word::Agent(kind)),
                ));
            }
            What::HelperEnds(kind) => {
                out.push(Out::Tell(
                    tell("claude.helper.ends").with("kind", Word::Agent(kind)),
                ));
            }
            What::Stops(text) => over.extend(conversation.stops(text, now, out)),
            What::Breaks(words) => {
                conversation.turn(now, out);
                over.extend(conversation.end(End::Failed(words), now, out));
            }
            What::Ends => {
                match conversation.turn.is_some() {
                    true => over.extend(conversation.end(End::Gone, now, out)),
                    false => out.push(Out::Tell(tell("claude.ends"))),
                }
                self.conversations.remove(&hook.conversation);
            }
            What::Quiet | What::Unknown(_) => {}
        }
        self.let_all_go(&over, out);
    }

    /// Ends everything that can no longer be heard.
    fn gone(&mut self, now: Now, out: &mut Vec<Out>) {
        for conversation in self.conversations.values_mut() {
            conversation.end(End::Short("claude.end.unheard"), now, out);
        }
    }
}

/// Announces that hooks cannot fulfil a wish.
fn wished(wish: &Wish, out: &mut Vec<Out>) {
    match wish {
        Wish::Prompt(_) => out.push(Out::Tell(Phrase::new("prompt.only_heard"))),
        Wish::Stop => out.push(Out::Tell(Phrase::new("stop_turn.only_heard"))),
        Wish::Set(_) => out.push(Out::Tell(Phrase::new("settings.none"))),
        // The same for any agent.
        Wish::Of(_, wish) => wished(wish, out),
        // The hooks have no words for how a person wants to be addressed.
        Wish::Terms(_) => {}
    }
}

impl Dialect for Claude {
    fn news(&mut self, event: &LinkEvent, now: Now, out: &mut Vec<Out>) {
        match event {
            LinkEvent::Frame(frame) => self.message(None, &frame.text, now, out),
            LinkEvent::Request { id, request } => self.request(*id, request, now, out),
            LinkEvent::Lapsed { id } => self.lapsed(*id, now, out),
            LinkEvent::Replied { request, outcome } => self.answered(*request, outcome, now, out),
            LinkEvent::Failed { .. } | LinkEvent::Ended => self.gone(now, out),
            LinkEvent::Connecting { .. } => {
                out.extend(self.stream.clone().map(Out::Follow));
            }
            LinkEvent::Connected
            | LinkEvent::Resumed
            | LinkEvent::Lost { .. }
            | LinkEvent::Answered { .. }
            | LinkEvent::Silent { .. }
            | LinkEvent::Remark { .. }
            | LinkEvent::Dropped { .. }
            | LinkEvent::Listening { .. }
            | LinkEvent::Strangers { .. }
            | LinkEvent::Piece { .. }
            | LinkEvent::StreamEnded => {}
        }
    }

    fn reply(&mut self, request: u64, reply: &Reply, _: Now, out: &mut Vec<Out>) {
        self.answer(request, reply, out);
    }

    fn wish(&mut self, wish: &Wish, _: Now, out: &mut Vec<Out>) {
        wished(wish, out);
    }

    fn tick(&mut self, now: Now, out: &mut Vec<Out>) {
        for conversation in self.conversations.values_mut() {
            conversation.tick(now, out);
        }
    }

    fn deadline(&self) -> Option<Duration> {
        self.conversations
            .values()
            .filter_map(Conversation::deadline)
            .min()
    }

    fn connection(&self) -> Connection {
        Connection {
            converses: true,
            when_left: WhenLeft::Open,
            only_heard: !self.listens,
            ..Connection::default()
        }
    }
}
