//! One thread of the server as AAEP events: each of its turns is a session.
//!
//! Responsibilities: which turn a message belongs to, how much of it was announced already, catching up with a thread
//! that is joined in the middle or again. Not here: its questions (`answers`), what is sent (`client`), the events
//! themselves (`acp`).
//!
//! Mental model: a turn is announced with its first item, because that item is the prompt, from the person or from
//! another client. Text is announced as it comes, and whatever is missing once it is complete; nothing is announced
//! twice, however often the server repeats it.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde_json::{Map, Value};

use crate::kit::call;
use crate::kit::call::{GRACE, HeardStage};
use crate::kit::members::text;
use crate::kit::turn::{EventContext, Turn};
use crate::kit::turn_end::TurnEnd;
use crate::kit::turn_updates::{CallNews, CallStatus, Update};
use crate::link::{Phrase, PhraseArg};
use crate::protocol::Now;
use crate::rpc::{Id, RpcMessage};
use crate::{Cx, DialectOutput, Oversight, event_writer};

use super::answers::AnswerUnderWay;
use super::input_questions::CodexForm;
use super::items::{self, TurnItem};
use super::reviews::Reviews;

/// How many texts are remembered, so that missing parts can be added.
const MOST_TEXTS: usize = 32;
/// How many ids of earlier texts are remembered, so that these are not repeated after a loss.
const MOST_SPOKEN: usize = 1024;
/// How much of each text is remembered, in bytes; a longer one is neither repeated nor completed.
const MOST_SAID: usize = 64 * 1024;
/// How many finished turns are remembered: a command may outlive the turn that began it.
const MOST_OVER: usize = 64;
/// How many messages wait during catching up, which takes one request and its answer.
pub const MOST_HELD: usize = 1024;
/// How long a finished turn waits for its open question to be resolved, too: the server reports both together.
const LAST_WORD: Duration = Duration::from_secs(2);
/// The prefix of the ids that we give to the person's prompts.
pub const OURS: &str = "hearken-";

/// How far a thread is joined.
#[derive(Debug, Clone, PartialEq)]
pub enum JoinProgress {
    /// Nothing of it arrives.
    Not,
    /// The server was asked to join us.
    Asked,
    /// The server has not stored it yet, and is asked again at this time.
    Later(Duration),
    /// It is an errand of Codex's own, which can't be followed.
    Errand,
    /// What was missed has been requested; meanwhile, new messages wait.
    CatchingUp {
        /// The waiting messages.
        waiting_messages: Vec<RpcMessage>,
        /// The latest time until which they wait.
        until: Duration,
        /// Whether everything of it arrives afterwards.
        joined: bool,
    },
    /// Everything of it arrives.
    Yes,
}

/// The current turn.
#[derive(Debug)]
pub struct CurrentTurn {
    /// The server's id of the turn.
    pub id: String,
    /// Its AAEP session; `None` until its first item.
    pub turn: Option<Turn>,
    /// The announced parts of its texts, by item.
    said: VecDeque<(String, String)>,
    /// The ids of earlier texts, which are not announced any further.
    spoken: VecDeque<String>,
    /// Its unfinished calls: the item, and the kind of tool (`server.tool` for a tool server).
    pub tools: Vec<(String, String)>,
    /// Until when its last words are awaited.
    pub last_word: Option<Duration>,
}

/// One thread.
#[derive(Debug)]
pub struct Thread {
    /// The server's id of the thread.
    pub id: String,
    /// The writer of its events.
    pub teller: EventContext,
    /// How far it is joined.
    pub joined: JoinProgress,
    /// What it asks the person, as far as that is known; `None` before its settings were heard.
    pub oversight: Option<Option<Oversight>>,
    /// The current turn.
    pub run: Option<CurrentTurn>,
    /// The finished turns.
    over: VecDeque<String>,
    /// The questions for words, by the server's ids.
    pub forms: BTreeMap<Id, CodexForm>,
    /// The person's answer under way.
    pub answering: Option<AnswerUnderWay>,
    /// Whether the open question was asked over a connection that is gone.
    pub away: bool,
    /// Until when the server is expected to ask it again.
    pub away_until: Option<Duration>,
    /// Whether an answer that was reported as written may not have arrived.
    pub doubted: bool,
    /// Whether the server says that it waits for a person.
    pub waits: bool,
    /// Whether the server says that something happens in it.
    pub active: bool,
    /// The person's reason for a rejection, which the agent has yet to receive.
    pub reason: Option<String>,
    /// Whether the server was asked what kind of thread it is.
    pub looked_at: bool,
    /// What is known of its reviews.
    pub reviews: Reviews,
}

impl Thread {
    /// Creates a thread that is known only by its id.
    pub fn new(id: &str, teller: EventContext) -> Self {
        Self {
            id: id.to_owned(),
            teller,
            joined: JoinProgress::Not,
            oversight: None,
            run: None,
            over: VecDeque::new(),
            forms: BTreeMap::new(),
            answering: None,
            away: false,
            away_until: None,
            doubted: false,
            waits: false,
            active: false,
            reason: None,
            looked_at: false,
            reviews: Reviews::default(),
        }
    }

    /// Returns whether its current turn was asked to stop.
    pub fn is_stopping(&self) -> bool {
        let turn = self.run.as_ref().and_then(|run| run.turn.as_ref());
        turn.is_some_and(|turn| turn.stopping)
    }

    /// Returns whether it has a current turn.
    pub fn in_turn(&self) -> bool {
        self.run.is_some()
    }

    /// Returns the current turn, if it is announced.
    pub fn announced_turn(&mut self) -> Option<(&mut Turn, &mut EventContext)> {
        let turn = self.run.as_mut()?.turn.as_mut()?;
        Some((turn, &mut self.teller))
    }

    /// Returns the current turn, announcing it if necessary.
    pub fn turn(
        &mut self,
        prompt: Option<&str>,
        cx: &mut Cx<'_>,
    ) -> Option<(&mut Turn, &mut EventContext)> {
        let (run, teller) = (self.run.as_mut()?, &mut self.teller);
        if run.turn.is_none() {
            let mut turn = Turn::begin(&self.id, prompt, teller, cx);
            // The server will report its end, whoever prompted it.
            turn.will_end();
            run.turn = Some(turn);
        }
        Some((run.turn.as_mut()?, teller))
    }

    /// Makes a message's turn the current one; returns false if that turn is over.
    pub fn runs(&mut self, id: &str, cx: &mut Cx<'_>) -> bool {
        if id.is_empty() || self.over.iter().any(|over| over == id) {
            return false;
        }
        if self.run.as_ref().is_some_and(|run| run.id != id) {
            // The end of the previous turn was not heard.
            self.leave_run(TurnEnd::Gone, cx);
        }
        self.run.get_or_insert_with(|| CurrentTurn {
            id: event_writer::cut(id, 256),
            turn: None,
            said: VecDeque::new(),
            spoken: VecDeque::new(),
            tools: Vec::new(),
            last_word: None,
        });
        true
    }

    /// Handles a message from the server about this thread; returns false if its kind is unknown.
    pub fn notified(&mut self, method: &str, params: &Map<String, Value>, cx: &mut Cx<'_>) -> bool {
        let turn_map = params.get("turn").and_then(Value::as_object);
        let turn = turn_map.and_then(|turn| text(turn, "id"));
        let turn = turn.or_else(|| text(params, "turnId")).unwrap_or_default();
        let item = params.get("item").and_then(Value::as_object);
        match method {
            "turn/started" => {
                self.runs(turn, cx);
            }
            "turn/completed" => {
                if let Some(map) = turn_map
                    && self.runs(turn, cx)
                {
                    self.completed(map, cx);
                }
            }
            "item/started" | "item/completed" => {
                if let Some(item) = item
                    && self.runs(turn, cx)
                {
                    return self.item(item, method == "item/completed", cx);
                }
            }
            "item/agentMessage/delta" | "item/plan/delta" => {
                let of = text(params, "itemId").unwrap_or_default();
                if self.runs(turn, cx) {
                    self.says(of, text(params, "delta").unwrap_or_default(), cx);
                }
            }
            "item/commandExecution/outputDelta" => {
                // A command with output is running, so it was allowed, here or elsewhere.
                let key = call::key(text(params, "itemId").unwrap_or_default());
                if let Some((turn, teller)) = self.announced_turn()
                    && turn
                        .calls
                        .get(&key)
                        .is_some_and(|it| it.stage == HeardStage::Allowed)
                {
                    let news = CallNews {
                        id: text(params, "itemId").unwrap_or_default().to_owned(),
                        status: Some(CallStatus::InProgress),
                        ..CallNews::default()
                    };
                    turn.update(Update::Calls(Box::new(news)), teller, cx);
                }
            }
            "item/fileChange/patchUpdated" => {
                if self.runs(turn, cx) {
                    let news = CallNews {
                        id: text(params, "itemId").unwrap_or_default().to_owned(),
                        ..CallNews::default()
                    };
                    let (folder, words) = (self.teller.folder.clone(), self.teller.words.clone());
                    let news = items::changed(params.get("changes"), news, &folder, &words);
                    self.update(Update::Calls(Box::new(news)), cx);
                }
            }
            "turn/plan/updated" => {
                if self.runs(turn, cx) {
                    self.update(Update::Plans(items::plan(params)), cx);
                }
            }
            "item/reasoning/summaryTextDelta"
            | "item/reasoning/summaryPartAdded"
            | "item/reasoning/textDelta" => {
                if self.runs(turn, cx) {
                    self.update(Update::Thinks, cx);
                }
            }
            "thread/status/changed" => {
                let status = params.get("status").and_then(Value::as_object);
                self.status(status, cx);
            }
            method => {
                return self.reviewed(method, params, cx) || self.noticed(method, params, cx.out);
            }
        }
        true
    }

    /// Applies the thread's status, as the server reports it.
    pub fn status(&mut self, status: Option<&Map<String, Value>>, cx: &mut Cx<'_>) {
        self.active = status.and_then(|status| text(status, "type")) == Some("active");
        let flags = status.and_then(|status| status.get("activeFlags"));
        let flags = flags.and_then(Value::as_array);
        self.waits = flags.is_some_and(|flags| !flags.is_empty());
        if !self.waits && self.away && self.joined == JoinProgress::Yes {
            self.lose_question(cx);
        }
    }

    fn update(&mut self, update: Update, cx: &mut Cx<'_>) {
        if let Some((turn, teller)) = self.turn(None, cx) {
            turn.update(update, teller, cx);
        }
    }

    /// Handles an item; returns false if its kind is unknown.
    fn item(&mut self, item: &Map<String, Value>, over: bool, cx: &mut Cx<'_>) -> bool {
        let (folder, words) = (self.teller.folder.clone(), self.teller.words.clone());
        let Some((id, what)) = items::read(item, over, &folder, &words) else {
            return false;
        };
        match what {
            TurnItem::Prompt { words, client } => {
                if !over {
                    self.prompted(&words, client.as_deref(), cx);
                } else if self.run.as_ref().is_some_and(|run| run.turn.is_none()) {
                    self.turn(Some(&words), cx);
                }
            }
            TurnItem::Says(text) => self.said(&id, &text, cx),
            TurnItem::Thinks => self.update(Update::Thinks, cx),
            TurnItem::Calls { news, declined } => {
                self.note_tool(&id, news.kind.as_deref(), over);
                // What the reviewer refused did not fail, however the server puts it.
                match declined || (over && self.reviews.has_refused(&id)) {
                    true => self.declined(*news, cx),
                    false => self.update(Update::Calls(news), cx),
                }
            }
            TurnItem::Shows(kind) => self.update(Update::Shows(kind.to_owned()), cx),
            TurnItem::Quiet => {}
            TurnItem::Unknown(_) => return false,
        }
        true
    }

    /// Handles a prompt to the agent: it begins the turn, or is added to it.
    fn prompted(&mut self, words: &str, client: Option<&str>, cx: &mut Cx<'_>) {
        let begins = self.run.as_ref().is_some_and(|run| run.turn.is_none());
        if begins {
            self.turn(Some(words), cx);
        } else if !client.is_some_and(|client| client.starts_with(OURS)) {
            let words = PhraseArg::Agent(event_writer::short(words));
            cx.out.push(DialectOutput::Announce(
                Phrase::new("codex.added").with("words", words),
            ));
        }
    }

    fn note_tool(&mut self, id: &str, tool: Option<&str>, over: bool) {
        if let (Some(run), Some(tool)) = (&mut self.run, tool) {
            run.tools.retain(|(known, _)| known != id);
            if !over && run.tools.len() < MOST_TEXTS {
                run.tools.push((id.to_owned(), tool.to_owned()));
            }
        }
    }

    /// Handles a piece of a text.
    fn says(&mut self, item: &str, piece: &str, cx: &mut Cx<'_>) {
        let Some(said) = self.said_of(item) else {
            return;
        };
        if said.len() <= MOST_SAID {
            said.push_str(piece);
        }
        self.tell_text(item, piece, cx);
    }

    /// Handles a complete text: announces whatever of it is still missing.
    fn said(&mut self, item: &str, whole: &str, cx: &mut Cx<'_>) {
        let Some(said) = self.said_of(item).filter(|said| said.len() <= MOST_SAID) else {
            return;
        };
        // A text that was heard from its middle on was heard to its end.
        let rest = whole
            .strip_prefix(said.as_str())
            .unwrap_or_default()
            .to_owned();
        if whole.len() >= said.len() {
            said.clear();
            said.push_str(whole);
        }
        self.tell_text(item, &rest, cx);
    }

    fn tell_text(&mut self, item: &str, piece: &str, cx: &mut Cx<'_>) {
        if !piece.is_empty() {
            let update = Update::Says {
                message: Some(item.to_owned()),
                text: piece.to_owned(),
            };
            self.update(update, cx);
        }
    }

    fn said_of(&mut self, item: &str) -> Option<&mut String> {
        let CurrentTurn { said, spoken, .. } = self.run.as_mut()?;
        if !said.iter().any(|(known, _)| known == item) {
            if spoken.iter().any(|known| known == item) {
                return None;
            }
            if said.len() >= MOST_TEXTS {
                spoken.extend(said.pop_front().map(|(known, _)| known));
            }
            if spoken.len() > MOST_SPOKEN {
                spoken.pop_front();
            }
            said.push_back((item.to_owned(), String::new()));
        }
        said.iter_mut()
            .find(|(known, _)| known == item)
            .map(|(_, text)| text)
    }

    /// Handles the end of the current turn.
    fn completed(&mut self, turn: &Map<String, Value>, cx: &mut Cx<'_>) {
        self.end_reviews(cx.out);
        let items = turn.get("items").and_then(Value::as_array);
        for item in items.into_iter().flatten().filter_map(Value::as_object) {
            self.item(item, true, cx);
        }
        let error = turn.get("error").and_then(Value::as_object);
        let error = error.and_then(|error| text(error, "message"));
        let status = text(turn, "status").map(str::to_owned);
        let error = error.unwrap_or_default().to_owned();
        if let Some((told, _)) = self.turn(None, cx) {
            let end = match status.as_deref() {
                Some("completed") => TurnEnd::Done,
                Some("interrupted") => TurnEnd::Stopped {
                    wanted: told.stopping,
                },
                Some("failed") => TurnEnd::Failed(error),
                Some(_) | None => TurnEnd::Short("acp.end.other"),
            };
            told.end(end);
        }
        if let Some(run) = &mut self.run {
            run.last_word = Some(cx.now.monotonic + LAST_WORD);
        }
        self.go_on(cx);
    }

    /// Ends the current turn if it is over.
    pub fn go_on(&mut self, cx: &mut Cx<'_>) {
        let over = |run: &mut CurrentTurn| run.turn.as_ref().is_some_and(Turn::is_over);
        let Some(run) = self.run.take_if(over) else {
            return;
        };
        if let Some(turn) = run.turn {
            turn.finish(&mut self.teller, cx);
        }
        self.is_over(run.id);
    }

    fn is_over(&mut self, id: String) {
        self.over.push_back(id);
        if self.over.len() > MOST_OVER {
            self.over.pop_front();
        }
        self.forms.clear();
        (self.away, self.away_until, self.doubted) = (false, None, false);
    }

    /// Ends the current turn, even if a question is open.
    pub fn leave_run(&mut self, end: TurnEnd, cx: &mut Cx<'_>) {
        self.end_reviews(cx.out);
        self.settle_lost(cx.out);
        let Some(run) = self.run.take() else {
            return;
        };
        if let Some(mut turn) = run.turn {
            turn.end(end);
            turn.finish(&mut self.teller, cx);
        }
        self.is_over(run.id);
    }

    /// Catches up with the latest turn, as the server has recorded it.
    pub fn caught_up(&mut self, last: Option<&Map<String, Value>>, cx: &mut Cx<'_>) {
        let id = last.and_then(|last| text(last, "id"));
        let known = self
            .run
            .as_ref()
            .is_some_and(|run| Some(run.id.as_str()) == id);
        if self.run.is_some() && !known {
            self.leave_run(TurnEnd::Gone, cx);
        }
        let runs = last.and_then(|last| text(last, "status")) == Some("inProgress");
        if let (Some(last), Some(id)) = (last, id)
            && (known || runs)
            && self.runs(id, cx)
        {
            let items = last.get("items").and_then(Value::as_array);
            let begun = items.is_some_and(|items| !items.is_empty());
            for item in items.into_iter().flatten().filter_map(Value::as_object) {
                let over = item.get("completedAtMs").is_some_and(Value::is_number);
                match known {
                    true => {
                        self.item(item, over, cx);
                    }
                    false => self.was(item, over, cx),
                }
            }
            // A turn joined in the middle is announced right away; one that has just begun announces itself with its
            // prompt.
            if begun {
                self.turn(None, cx);
            }
            if !runs {
                self.completed(last, cx);
            }
        }
    }

    /// Records an item from before we joined, without announcing it.
    fn was(&mut self, item: &Map<String, Value>, over: bool, cx: &mut Cx<'_>) {
        let (folder, words) = (self.teller.folder.clone(), self.teller.words.clone());
        match items::read(item, over, &folder, &words) {
            Some((id, TurnItem::Says(text))) => {
                if let Some(said) = self.said_of(&id) {
                    *said = text;
                }
            }
            Some((id, TurnItem::Calls { .. })) if over => {
                if let Some((turn, _)) = self.turn(None, cx) {
                    turn.forget(&call::key(&id));
                }
            }
            // Only the first prompt begins the turn.
            Some((_, TurnItem::Prompt { words, .. })) => {
                let begins = self.run.as_ref().is_some_and(|run| run.turn.is_none());
                let words = begins.then_some(words);
                self.turn(words.as_deref(), cx);
            }
            Some(_) => {
                self.item(item, over, cx);
            }
            None => {}
        }
    }

    /// Returns when time next matters.
    pub fn deadline(&self) -> Option<Duration> {
        let joined = match &self.joined {
            JoinProgress::Later(at) | JoinProgress::CatchingUp { until: at, .. } => Some(*at),
            JoinProgress::Not | JoinProgress::Asked | JoinProgress::Errand | JoinProgress::Yes => {
                None
            }
        };
        let run = self.run.as_ref();
        let turn = run.and_then(|run| run.turn.as_ref());
        [
            joined,
            self.away_until,
            self.answering.as_ref().and_then(AnswerUnderWay::deadline),
            run.and_then(|run| run.last_word),
            turn.and_then(Turn::deadline),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Handles the passing of time.
    pub fn tick(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now.monotonic;
        let due = |at: Duration| at <= now;
        if self.away_until.is_some_and(due) {
            self.lose_question(cx);
        }
        self.tick_answer(cx);
        if let Some((turn, teller)) = self.announced_turn() {
            turn.tick(teller, cx);
        }
        let last = self
            .run
            .as_mut()
            .and_then(|run| run.last_word.take_if(|at| due(*at)));
        if last.is_some() {
            self.lose_question(cx);
        }
        self.go_on(cx);
    }

    /// Waits a little before a call that was decided elsewhere is announced as running.
    pub fn wait_for_call(&mut self, key: &str, now: Now) {
        if let Some((turn, _)) = self.announced_turn()
            && let Some(call) = turn.calls.get_mut(key)
            && call.stage == HeardStage::Asked
            && call.status == CallStatus::InProgress
        {
            call.stage = HeardStage::Waiting(now.monotonic + GRACE);
        }
    }
}
