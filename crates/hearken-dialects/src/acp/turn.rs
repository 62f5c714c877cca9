//! One turn of the agent, on its way into AAEP.
//!
//! Responsibilities: the AAEP events that its updates become, its permissions one after the other, its end. Not here: what
//! is sent when (`client`), what is known of a call (`call`).
//!
//! Mental model: a turn is one session of AAEP. While a permission is asked its state stays `awaiting_input`, whatever
//! else the agent reports, because leaving that state would say that the question is decided. A turn that is over while a
//! permission is open ends once that is answered: a question is never lost to an end. What the agent does without having
//! been prompted is a turn of its own, which ends when nothing more of it comes.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::link::{Phrase, Word};
use crate::protocol::{Attached, Now, PlanStage, PlanStep};
use crate::written::{self, Writer};
use crate::{Out, Words};

use super::call::{self, Call, GRACE, Stage};
use super::ending::{End, sentence};
use super::permission::Permission;
use super::read::{CallNews, Status, Update};

/// How many calls of a turn are followed at once.
const MOST_CALLS: usize = 256;
/// How many calls that are over are remembered, so that late news of one is not told as another call.
const MOST_OVER: usize = 256;
/// How many permissions wait to be asked; an agent that requests more at once is answered by an error.
pub(super) const MOST_PERMISSIONS: usize = 64;
/// After how long without news a turn is over that nobody prompted.
const QUIET: Duration = Duration::from_secs(5);
/// How many characters of a request stand in the event of its start.
const LONGEST_REQUEST: usize = 4000;

/// What the events of all turns are written with.
#[derive(Debug)]
pub struct Teller {
    /// Writes the events.
    pub writer: Writer,
    /// Knows the sentences.
    pub words: Words,
    /// The working directory.
    pub folder: String,
    /// Whether answers can be sent.
    pub answerable: bool,
}

/// An output that is being written.
#[derive(Debug)]
pub(super) struct Output {
    id: String,
    message: Option<String>,
    position: u64,
    /// Whether it is one piece so far that says something by itself.
    is_notice: bool,
}

/// One turn.
#[derive(Debug)]
pub struct Turn {
    /// Whether its end was asked for.
    pub stopping: bool,
    pub(super) session: written::Session,
    pub(super) prompted: bool,
    pub(super) began: Duration,
    pub(super) heard: Duration,
    pub(super) said: String,
    /// The calls that are followed, by AAEP's names.
    pub calls: BTreeMap<String, Call>,
    pub(super) over: VecDeque<String>,
    pub(super) output: Option<Output>,
    pub(super) outputs: u64,
    pub(super) plan: Vec<PlanStep>,
    /// What is asked.
    pub asking: Option<Permission>,
    /// What is asked next.
    pub waiting: VecDeque<Permission>,
    /// What is no longer asked, because its call went on without an answer: its agent may still wait for one.
    pub(super) passed: Vec<Permission>,
    pub(super) end: Option<End>,
    pub(super) made: u64,
    pub(super) failed: u64,
    /// Whether the person rejected something in it.
    pub(super) rejected: bool,
    pub(super) edited: std::collections::BTreeSet<String>,
    pub(super) left_out: u64,
    pub(super) repeats: u64,
}

/// Returns whether a piece of text is a sentence or more by itself: models write a word or a part of one at a time, with the
/// blank before it.
fn is_notice(text: &str) -> bool {
    text.ends_with(['.', '!', '?']) && text.split_whitespace().count() >= 4
}

impl Turn {
    /// Begins a turn with what the agent was prompted with; without, with what it does by itself.
    pub fn begin(
        conversation: &str,
        prompt: Option<&str>,
        teller: &mut Teller,
        now: Now,
        out: &mut Vec<Out>,
    ) -> Self {
        let mut turn = Self {
            stopping: false,
            session: teller.writer.session(conversation, conversation),
            prompted: prompt.is_some(),
            began: now.monotonic,
            heard: now.monotonic,
            said: "idle".to_owned(),
            calls: BTreeMap::new(),
            over: VecDeque::new(),
            output: None,
            outputs: 0,
            plan: Vec::new(),
            asking: None,
            waiting: VecDeque::new(),
            passed: Vec::new(),
            end: None,
            made: 0,
            failed: 0,
            rejected: false,
            edited: std::collections::BTreeSet::new(),
            left_out: 0,
            repeats: 0,
        };
        let request = prompt.map(|text| written::cut(text, LONGEST_REQUEST));
        let fields = json!({"request_text": request, "requested_by": "user"});
        turn.event("session.started", fields, teller, now, out);
        turn.enter("thinking", teller, now, out);
        turn
    }

    /// Takes note that its end will be said, whoever began it.
    pub fn will_end(&mut self) {
        self.prompted = true;
    }

    /// Takes an update; tells whether it is one that is known here.
    pub fn update(&mut self, update: Update, teller: &mut Teller, now: Now, out: &mut Vec<Out>) {
        self.heard = now.monotonic;
        match update {
            Update::Says { message, text } => self.says(message, &text, teller, now, out),
            Update::Shows(kind) => {
                let phrase = Phrase::new("acp.shows").with("kind", Word::Name(kind));
                out.push(Out::Tell(phrase));
            }
            Update::Thinks => {
                self.close_output(teller, now, out);
                self.enter("thinking", teller, now, out);
            }
            Update::Calls(news) => self.call(*news, teller, now, out),
            Update::Plans(plan) => self.planned(plan, teller, now, out),
            // None of these is the turn's business.
            Update::Echoes(_)
            | Update::Mode(_)
            | Update::Options(_)
            | Update::Commands { .. }
            | Update::Quiet
            | Update::Unknown(_) => {}
        }
    }

    fn says(
        &mut self,
        message: Option<String>,
        text: &str,
        teller: &mut Teller,
        now: Now,
        out: &mut Vec<Out>,
    ) {
        if text.is_empty() {
            return;
        }
        // A notice of the agent's program comes as one piece, with nothing between it and what the model writes next.
        let fresh = text.starts_with(|c: char| c.is_uppercase() || "#`*|>".contains(c));
        let other = |output: &Output| {
            (message.is_some() && output.message != message) || (output.is_notice && fresh)
        };
        if self.output.as_ref().is_some_and(other) {
            self.close_output(teller, now, out);
        }
        self.enter("writing_output", teller, now, out);
        let outputs = &mut self.outputs;
        let output = self.output.get_or_insert_with(|| {
            *outputs += 1;
            Output {
                id: format!("out_{outputs}"),
                message,
                position: 0,
                is_notice: false,
            }
        });
        output.is_notice = output.position == 0 && is_notice(text);
        let fields = json!({"chunk": text, "position": output.position, "complete": false,
            "output_id": output.id, "content_type": "text/markdown"});
        output.position += text.chars().count() as u64;
        self.event("output.streaming", fields, teller, now, out);
    }

    pub(super) fn close_output(&mut self, teller: &mut Teller, now: Now, out: &mut Vec<Out>) {
        if let Some(output) = self.output.take() {
            let fields = json!({"chunk": "", "position": output.position, "complete": true,
                "output_id": output.id, "content_type": "text/markdown"});
            self.event("output.streaming", fields, teller, now, out);
        }
    }

    /// Takes a plan, which is told where it is another one than before.
    fn planned(&mut self, plan: Vec<PlanStep>, teller: &mut Teller, now: Now, out: &mut Vec<Out>) {
        if plan.is_empty() || self.plan == plan {
            return;
        }
        self.plan = plan;
        let is = |stage: PlanStage| move |step: &&PlanStep| step.stage == stage;
        let done = self.plan.iter().filter(is(PlanStage::Done)).count();
        let at = self.plan.iter().find(is(PlanStage::UnderWay));
        let step = done + usize::from(at.is_some());
        let mut progress = json!({"step": step, "total_steps": self.plan.len()});
        if let Some(at) = at.filter(|at| !at.words.trim().is_empty()) {
            progress["description"] = at.words.as_str().into();
        }
        let attached = Attached {
            plan: self.plan.clone(),
            ..Attached::default()
        };
        let fields = json!({"progress": progress, written::ATTACHED: attached.write()});
        self.event("progress.updated", fields, teller, now, out);
    }

    /// Tells, for whoever asks, what it does now, in its agent's words.
    pub fn does(&mut self, words: &str, teller: &mut Teller, now: Now, out: &mut Vec<Out>) {
        self.heard = now.monotonic;
        let fields = json!({"progress": {"description": words}});
        self.event("progress.updated", fields, teller, now, out);
    }

    fn call(&mut self, news: CallNews, teller: &mut Teller, now: Now, out: &mut Vec<Out>) {
        let key = call::key(&news.id);
        if self.over.contains(&key) {
            return;
        }
        let status = news.status;
        if !self.know(&key, news, &teller.folder) {
            return;
        }
        self.ask_if_changed(&key, teller, now, out);
        match status {
            None | Some(Status::Pending) => {}
            Some(Status::InProgress) => self.runs(&key, now, teller, out),
            Some(Status::Completed | Status::Failed | Status::Ended) => {
                self.ended(&key, teller, now, out);
            }
        }
    }

    /// Takes what is said of a call; tells whether there is room for it.
    pub(super) fn know(&mut self, key: &str, mut news: CallNews, folder: &str) -> bool {
        if !self.calls.contains_key(key) && self.calls.len() >= MOST_CALLS {
            self.left_out += 1;
            return false;
        }
        // What is in the working directory is called by its place there, as people do.
        for edit in news.edits.iter_mut().flatten() {
            edit.path = call::inside(&edit.path, folder).to_owned();
        }
        for place in news.places.iter_mut().flatten() {
            *place = call::inside(place, folder).to_owned();
        }
        news.title = news.title.map(|title| call::titled(&title, folder));
        let call = self.calls.entry(key.to_owned());
        let call = call.or_insert_with(|| Call::new(key));
        call.set_folder(folder);
        call.take(news);
        true
    }

    /// Takes the word that a call runs: it is told where it was allowed, else after a while.
    fn runs(&mut self, key: &str, now: Now, teller: &mut Teller, out: &mut Vec<Out>) {
        let Some(call) = self.calls.get_mut(key) else {
            return;
        };
        match call.stage {
            Stage::Unsaid => call.stage = Stage::Waiting(now.monotonic + GRACE),
            Stage::Allowed => self.tell_call(key, teller, now, out),
            Stage::Waiting(_) | Stage::Asked | Stage::Rejected | Stage::Told => {}
        }
    }

    /// Tells that a call runs.
    pub fn tell_call(&mut self, key: &str, teller: &mut Teller, now: Now, out: &mut Vec<Out>) {
        let Some(call) = self.calls.get_mut(key) else {
            return;
        };
        call.stage = Stage::Told;
        // It went on after what was rejected.
        self.rejected = false;
        let attached = Attached {
            deed: Some(call.deed()),
            ..Attached::default()
        };
        let fields = json!({"tool": call.tool(), "tool_call_id": call.key, "summary_normal": call.title(),
            written::ATTACHED: attached.write()});
        self.made += 1;
        self.close_output(teller, now, out);
        self.enter("calling_tool", teller, now, out);
        self.event("tool.invoked", fields, teller, now, out);
    }

    /// Takes the end of a call.
    fn ended(&mut self, key: &str, teller: &mut Teller, now: Now, out: &mut Vec<Out>) {
        let Some(call) = self.calls.get(key) else {
            return;
        };
        let (stage, worked) = (call.stage, call.status == Status::Completed);
        let is_known = call.status != Status::Ended;
        if stage == Stage::Rejected && !worked {
            // That it was rejected is known to whoever did it.
            self.forget(key);
            return;
        }
        if matches!(stage, Stage::Unsaid | Stage::Waiting(_))
            && let Some(plan) = call.wrote_down()
        {
            let plan = plan.to_vec();
            self.forget(key);
            // It went on after what was rejected, and after what it wrote.
            self.rejected = false;
            self.close_output(teller, now, out);
            self.planned(plan, teller, now, out);
            return self.enter("thinking", teller, now, out);
        }
        if stage != Stage::Told {
            self.tell_call(key, teller, now, out);
        }
        let Some(call) = self.calls.get(key) else {
            return;
        };
        let attached = Value::Object(call.attached(false).write());
        let mut fields = Map::new();
        if worked && !call.edits.is_empty() {
            let paths: Vec<&str> = call.edits.iter().map(|edit| edit.path.as_str()).collect();
            self.edited
                .extend(paths.iter().map(|path| (*path).to_owned()));
            let lines = call.lines();
            let paths = written::cut(&paths.join(", "), LONGEST_REQUEST);
            let mut args = vec![("paths", paths.as_str())];
            args.extend(lines.iter().map(|(name, count)| (*name, count.as_str())));
            fields = sentence(&teller.words, "acp.edited", &args);
        } else if worked {
            fields = sentence(&teller.words, "acp.done", &[("title", &call.title())]);
        }
        fields.insert("tool".to_owned(), call.tool().into());
        fields.insert("tool_call_id".to_owned(), call.key.as_str().into());
        fields.insert(
            "status".to_owned(),
            match (worked, is_known) {
                (true, _) => "success",
                (false, true) => "error",
                (false, false) => written::NOT_STATED,
            }
            .into(),
        );
        if !worked && is_known {
            self.failed += 1;
            let words = written::short(&call.output.lines.join("\n"));
            fields.insert("error_message".to_owned(), words.into());
        }
        fields.insert(written::ATTACHED.to_owned(), attached);
        self.worded("tool.completed", fields, teller, now, out);
        self.forget(key);
        // It went on without the answer: the question is over, and the events have said so.
        if self
            .asking
            .as_ref()
            .is_some_and(|it| it.call == key && it.sending.is_none())
        {
            self.passed.extend(
                self.asking
                    .take()
                    .filter(|_| self.passed.len() < MOST_PERMISSIONS),
            );
            self.leave_question("thinking", teller, now, out);
        } else {
            self.enter("thinking", teller, now, out);
        }
    }

    /// Takes the word that a call was declined; gives its title where that is news to the person.
    pub fn declined(
        &mut self,
        key: &str,
        teller: &mut Teller,
        now: Now,
        out: &mut Vec<Out>,
    ) -> Option<String> {
        let call = self.calls.get(key)?;
        // Whoever rejected it here knows.
        let is_known = call.rejected || call.stage == Stage::Rejected;
        let (is_told, title) = (call.stage == Stage::Told, call.title());
        if is_told {
            self.leave_open(key, teller, now, out);
            self.enter("thinking", teller, now, out);
        }
        self.forget(key);
        (!is_known).then_some(title)
    }

    /// Tells that a call ended of which its agent does not say how.
    pub(super) fn leave_open(
        &mut self,
        key: &str,
        teller: &mut Teller,
        now: Now,
        out: &mut Vec<Out>,
    ) {
        if let Some(call) = self.calls.get(key) {
            let fields = json!({"tool": call.tool(), "tool_call_id": call.key, "status": written::NOT_STATED});
            self.event("tool.completed", fields, teller, now, out);
        }
    }

    /// Takes a call for over, of which nothing more is told.
    pub fn forget(&mut self, key: &str) {
        self.calls.remove(key);
        self.over.push_back(key.to_owned());
        if self.over.len() > MOST_OVER {
            self.over.pop_front();
        }
    }

    /// Takes its end; it is told by [`Turn::is_over`] once nothing is asked any more.
    pub fn end(&mut self, end: End) {
        self.end.get_or_insert(end);
    }

    /// Returns whether it was ended, and nothing is asked any more.
    pub fn is_over(&self) -> bool {
        self.end.is_some() && self.asking.is_none() && self.waiting.is_empty()
    }

    /// Returns whether nobody prompted it and nothing is asked in it.
    pub fn is_idle(&self) -> bool {
        !self.prompted && self.asking.is_none() && self.waiting.is_empty()
    }

    /// Returns when time does something.
    pub fn deadline(&self) -> Option<Duration> {
        let calls = self.calls.values().filter_map(|call| match call.stage {
            Stage::Waiting(until) => Some(until),
            Stage::Unsaid | Stage::Asked | Stage::Allowed | Stage::Rejected | Stage::Told => None,
        });
        calls.chain(self.quiet_at()).min()
    }

    /// Returns when it is over for want of news.
    fn quiet_at(&self) -> Option<Duration> {
        let busy = self.asking.is_some() || self.calls.values().any(|it| it.stage == Stage::Told);
        (!self.prompted && !busy).then(|| self.heard + QUIET)
    }

    /// Takes the passing of time.
    pub fn tick(&mut self, teller: &mut Teller, now: Now, out: &mut Vec<Out>) {
        let due =
            |call: &Call| matches!(call.stage, Stage::Waiting(until) if until <= now.monotonic);
        let due = self.calls.iter().filter(|(_, call)| due(call));
        let due: Vec<String> = due.map(|(key, _)| key.clone()).collect();
        for key in due {
            self.tell_call(&key, teller, now, out);
        }
        if self.quiet_at().is_some_and(|at| at <= now.monotonic) {
            self.end(End::Done);
        }
    }

    /// Tells that the agent does something else now; not while it asks.
    pub(super) fn enter(&mut self, to: &str, teller: &mut Teller, now: Now, out: &mut Vec<Out>) {
        if self.asking.is_some() || self.said == to {
            return;
        }
        let fields = json!({"from_state": self.said, "to_state": to});
        to.clone_into(&mut self.said);
        self.event("state.changed", fields, teller, now, out);
    }

    /// Writes an event in which sentences of ours stand.
    pub(crate) fn worded(
        &mut self,
        kind: &str,
        mut fields: Map<String, Value>,
        teller: &mut Teller,
        now: Now,
        out: &mut Vec<Out>,
    ) {
        let language = teller.words.say("acp.end.gone", &[]).into_iter().next();
        if let Some(said) = language.filter(|_| fields.contains_key("summary_normal")) {
            fields.insert(
                "localization_hints".to_owned(),
                json!({"primary_language": said.language}),
            );
        }
        self.event(kind, Value::Object(fields), teller, now, out);
    }

    pub(super) fn event(
        &mut self,
        kind: &str,
        fields: Value,
        teller: &mut Teller,
        now: Now,
        out: &mut Vec<Out>,
    ) {
        let text = teller
            .writer
            .event(&mut self.session, kind, now.wall, fields);
        out.push(Out::Event(text));
    }
}
