//! One conversation: its turn, its calls, and what is held until the person decides.
//!
//! Responsibilities: what its events do to its turn, which call a permission is for, when a turn is perhaps over. Not here:
//! which conversation is meant (`client`), answers (`deciding`), how a turn is told (`acp::turn`).
//!
//! Mental model: a turn lasts from a prompt to its `Stop`. Who interrupts it in its own terminal is told of to nobody: no
//! more events come. So a turn that falls silent, with nothing asked and no call under way, is perhaps over; that is said
//! once, and anything that follows shows that it is not. A notice that it waits for the person, a call that was
//! interrupted, or another prompt shows that it is.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::acp::call::Stage;
use crate::acp::ending::End;
use crate::acp::read::{CallNews, Update};
use crate::acp::turn::{Teller, Turn};
use crate::link::{Phrase, Word};
use crate::protocol::Now;
use crate::{Out, Over};

use super::read::{MOST_TEXTS, Made, Outcome};
use super::tools;

/// After how long without news a turn is perhaps over: models think for a minute or two, and longer is rare.
const SILENT: Duration = Duration::from_secs(3 * 60);
/// After how long without news it is taken for over, whatever it did last: its longest calls end themselves before.
const GONE: Duration = Duration::from_secs(30 * 60);
/// How many calls are remembered to find the one that a permission is for; more than are under way at once.
const MOST_CALLS: usize = 256;

/// How many texts of a transcript are remembered: several times what one message carries, so that none is heard twice.
const MOST_KNOWN: usize = 4 * MOST_TEXTS;

/// A call that was heard of and is not over.
#[derive(Debug, Clone, PartialEq)]
struct Known {
    /// The name under which it is told.
    id: String,
    /// Its own name; empty where only the permission for it was heard of.
    own: String,
    helper: Option<String>,
    tool: String,
    input: Map<String, Value>,
    /// Whether the permission for it was asked for.
    asked: bool,
}

/// One conversation.
#[derive(Debug)]
pub struct Conversation {
    /// Its name on the other side.
    pub id: String,
    /// Its turn.
    pub turn: Option<Turn>,
    /// What its events are written with.
    pub teller: Teller,
    /// When something was last heard of it, in the order of what was heard.
    pub heard: u64,
    /// The same as a time.
    at: Duration,
    /// The prompt that its turn belongs to.
    prompt: Option<String>,
    calls: VecDeque<Known>,
    told_silent: bool,
    /// The texts of its transcript that were heard or are old; nothing before the first were seen.
    known: Option<VecDeque<String>>,
    /// What was heard of it last from there, in this turn.
    last: String,
}

impl Conversation {
    /// Begins to know a conversation.
    pub fn new(id: &str, teller: Teller) -> Self {
        Self {
            id: id.to_owned(),
            turn: None,
            teller,
            heard: 0,
            at: Duration::ZERO,
            prompt: None,
            calls: VecDeque::new(),
            told_silent: false,
            known: None,
            last: String::new(),
        }
    }

    /// Takes note that something was heard of it.
    pub fn stirs(&mut self, now: Now) {
        self.at = now.monotonic;
        self.told_silent = false;
    }

    /// Returns its turn; one that nobody was heard to begin is begun.
    pub fn turn(&mut self, now: Now, out: &mut Vec<Out>) -> (&mut Turn, &mut Teller) {
        self.begun(None, now, out)
    }

    fn begun(
        &mut self,
        prompt: Option<&str>,
        now: Now,
        out: &mut Vec<Out>,
    ) -> (&mut Turn, &mut Teller) {
        let (id, teller) = (&self.id, &mut self.teller);
        let turn = self.turn.get_or_insert_with(|| {
            let mut turn = Turn::begin(id, prompt, teller, now, out);
            turn.will_end();
            turn
        });
        (turn, &mut self.teller)
    }

    /// Takes what the person told it in its own terminal; gives the requests that nobody waits for any more.
    pub fn prompted(
        &mut self,
        text: &str,
        prompt: Option<String>,
        now: Now,
        out: &mut Vec<Out>,
    ) -> Vec<String> {
        let open = match self.turn.is_some() {
            // What was under way was interrupted: else it would have said that it is done.
            true => self.end(End::Stopped { wanted: false }, now, out),
            false => Vec::new(),
        };
        self.prompt = prompt;
        self.begun(Some(text), now, out);
        open
    }

    /// Takes the word of which prompt something is; one of another prompt ends the turn, whose end was not heard.
    pub fn is_of(&mut self, prompt: Option<&String>, now: Now, out: &mut Vec<Out>) -> Vec<String> {
        let (Some(prompt), true) = (prompt, self.turn.is_some()) else {
            return Vec::new();
        };
        let other = self
            .prompt
            .replace(prompt.clone())
            .is_some_and(|own| own != *prompt);
        match other {
            true => self.end(End::Stopped { wanted: false }, now, out),
            false => Vec::new(),
        }
    }

    /// Takes what it wrote last, of which some was heard before. What was there when it was first heard of is old, and so is
    /// what stands there when it is prompted, or when nothing is under way.
    pub fn writes(
        &mut self,
        texts: Vec<(String, String)>,
        is_old: bool,
        now: Now,
        out: &mut Vec<Out>,
    ) {
        let is_old = is_old || self.known.is_none();
        let known = self.known.get_or_insert_default();
        let mut fresh = Vec::new();
        for (name, text) in texts {
            if known.contains(&name) {
                continue;
            }
            if known.len() >= MOST_KNOWN {
                known.pop_front();
            }
            known.push_back(name.clone());
            fresh.push((name, text));
        }
        for (name, text) in fresh.into_iter().filter(|_| !is_old) {
            self.last.clone_from(&text);
            let message = Some(name);
            self.update(Update::Says { message, text }, now, out);
        }
    }

    /// Takes a call that it is about to make.
    pub fn calls(&mut self, made: Made, helper: Option<String>, now: Now, out: &mut Vec<Out>) {
        let id = self.name_of(&made, helper, false);
        let (news, _) = tools::call(&id, &made, &self.teller.words);
        if let Some(plan) = plan(&made) {
            return self.update(plan, now, out);
        }
        self.update(Update::Calls(Box::new(news)), now, out);
    }

    /// Takes the end of a call; gives the requests that are decided by it.
    pub fn called(
        &mut self,
        made: Made,
        outcome: &Outcome,
        helper: Option<String>,
        now: Now,
        out: &mut Vec<Out>,
    ) -> Vec<String> {
        let id = self.name_of(&made, helper, false);
        self.calls.retain(|known| known.id != id);
        let news = tools::ended(&id, &made, outcome, &self.teller.words);
        let allowed = match outcome {
            Outcome::Refused(_) => Some(false),
            Outcome::Worked(_) | Outcome::Failed { .. } => Some(true),
        };
        let decided = self.decided(&id, allowed, now, out);
        if plan(&made).is_none() {
            self.update(Update::Calls(Box::new(news)), now, out);
        }
        decided
    }

    /// Settles what is asked about a call that went on without the person's answer from here.
    fn decided(
        &mut self,
        id: &str,
        allowed: Option<bool>,
        now: Now,
        out: &mut Vec<Out>,
    ) -> Vec<String> {
        let key = crate::acp::call::key(id);
        let Some(turn) = &mut self.turn else {
            return Vec::new();
        };
        let all = turn.asking.iter().chain(&turn.waiting);
        let about = all.filter(|it| it.call == key && it.sending.is_none());
        let names: Vec<String> = about.filter_map(|it| it.id.name()).collect();
        for name in &names {
            if turn.is_asked(name) {
                let words = place(&self.teller.folder);
                out.push(Out::Detail(
                    Phrase::new("claude.elsewhere").with("folder", words),
                ));
            }
            turn.decided_elsewhere(name, allowed, &mut self.teller, now, out);
        }
        names
    }

    /// Returns the name under which a call is told. A permission names no call: it is for the one that is called the same way.
    fn name_of(&mut self, made: &Made, helper: Option<String>, asks: bool) -> String {
        let same = |known: &&mut Known| {
            known.tool == made.tool && known.input == made.input && known.helper == helper
        };
        let found = match made.id.is_empty() {
            true => self
                .calls
                .iter_mut()
                .filter(same)
                .find(|known| !known.asked || !asks),
            false => {
                let own = self.calls.iter().position(|known| known.own == made.id);
                match own {
                    Some(at) => self.calls.get_mut(at),
                    None => self
                        .calls
                        .iter_mut()
                        .filter(same)
                        .find(|known| known.own.is_empty()),
                }
            }
        };
        if let Some(known) = found {
            known.asked |= asks;
            if known.own.is_empty() {
                known.own.clone_from(&made.id);
            }
            return known.id.clone();
        }
        let id = match made.id.is_empty() {
            true => format!("asked {}", self.teller.writer.token()),
            false => made.id.clone(),
        };
        if self.calls.len() == MOST_CALLS {
            self.calls.pop_front();
        }
        self.calls.push_back(Known {
            id: id.clone(),
            own: made.id.clone(),
            helper,
            tool: made.tool.clone(),
            input: made.input.clone(),
            asked: asks,
        });
        id
    }

    /// Reads the call that a permission is for; whether nothing of it is left out.
    pub fn asked_for(&mut self, made: &Made, helper: Option<String>) -> (CallNews, bool) {
        let id = self.name_of(made, helper, true);
        tools::call(&id, made, &self.teller.words)
    }

    /// Takes all that it wrote, and the end of its turn; gives the requests that nobody waits for any more.
    pub fn stops(&mut self, text: String, now: Now, out: &mut Vec<Out>) -> Vec<String> {
        if self.turn.is_none() && text.trim().is_empty() {
            return Vec::new();
        }
        self.turn(now, out);
        // What was asked before it wrote that is over.
        let open = self.close(Over::TakenBack, now, out);
        // Its last words may stand in the transcript already.
        if text.trim() != self.last.trim() {
            let message = None;
            self.update(Update::Says { message, text }, now, out);
        }
        self.end(End::Done, now, out);
        open
    }

    fn close(&mut self, how: Over, now: Now, out: &mut Vec<Out>) -> Vec<String> {
        match &mut self.turn {
            Some(turn) => turn.close(how, &mut self.teller, now, out),
            None => Vec::new(),
        }
    }

    /// Ends its turn; gives the requests that nobody waits for any more.
    pub fn end(&mut self, end: End, now: Now, out: &mut Vec<Out>) -> Vec<String> {
        let open = self.close(Over::TakenBack, now, out);
        self.calls.clear();
        self.last.clear();
        if let Some(mut turn) = self.turn.take() {
            turn.end(end);
            turn.finish(&mut self.teller, now, out);
        }
        open
    }

    /// Takes an update of its turn, which is begun where there is none.
    pub fn update(&mut self, update: Update, now: Now, out: &mut Vec<Out>) {
        let (turn, teller) = self.turn(now, out);
        turn.update(update, teller, now, out);
    }

    /// Returns whether something is under way that may take any time: a question, or a call that runs.
    fn is_busy(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| {
            turn.asks()
                || !turn.waiting.is_empty()
                || turn.calls.values().any(|call| call.stage == Stage::Told)
        })
    }

    /// Returns when its silence means something.
    fn silent_at(&self) -> Option<Duration> {
        let turn = self.turn.as_ref()?;
        if turn.asks() || !turn.waiting.is_empty() {
            return None;
        }
        Some(
            self.at
                + if self.told_silent || self.is_busy() {
                    GONE
                } else {
                    SILENT
                },
        )
    }

    /// Returns when time does something.
    pub fn deadline(&self) -> Option<Duration> {
        let turn = self.turn.as_ref().and_then(Turn::deadline);
        [turn, self.silent_at()].into_iter().flatten().min()
    }

    /// Takes the passing of time.
    pub fn tick(&mut self, now: Now, out: &mut Vec<Out>) {
        if let Some(turn) = &mut self.turn {
            turn.tick(&mut self.teller, now, out);
        }
        if self.silent_at().is_none_or(|at| at > now.monotonic) {
            return;
        }
        if now.monotonic >= self.at + GONE {
            self.end(End::Short("claude.end.silent"), now, out);
        } else {
            self.told_silent = true;
            let minutes = Word::Own((SILENT.as_secs() / 60).to_string());
            let folder = place(&self.teller.folder);
            out.push(Out::Tell(
                Phrase::new("claude.silent")
                    .with("n", minutes)
                    .with("folder", folder),
            ));
        }
    }
}

/// Names a folder as people do, by the last of its names.
pub(super) fn place(folder: &str) -> Word {
    let name = folder.trim_end_matches('/').rsplit('/').next();
    Word::Name(name.unwrap_or_default().to_owned())
}

/// Reads a plan, where a call sets one.
fn plan(made: &Made) -> Option<Update> {
    if made.tool != "TodoWrite" {
        return None;
    }
    let todos = made.input.get("todos")?;
    let form = serde_json::json!({"update": {"sessionUpdate": "plan", "entries": todos}});
    form.as_object().map(crate::acp::read::update)
}
