//! One task: its session, which of its texts were announced, and what it asks.
//!
//! Responsibilities: turning states, artifacts and messages into events. Not here: where they come from (`task_watch`),
//! answers (`answers`), announcing a turn (`kit::turn`).
//!
//! Mental model: a task is announced from its beginning, or from the point where it was found. Each report is either
//! the whole task, of which only the new parts are announced, or a single change. A question belongs to a state: it is
//! asked once each time the task enters the state, and is over when the task leaves it, no matter which client
//! answered.

use std::collections::{BTreeSet, VecDeque};

use crate::event_writer;
use crate::kit::announced_parts::ConversationParts;
use crate::kit::turn::{EventContext, Turn};
use crate::kit::turn_end::TurnEnd;
use crate::kit::turn_updates::Update;
use crate::link::{Phrase, PhraseArg};
use crate::protocol::Event;
use crate::{Cx, DialectOutput, QuestionEnd};

use super::heard_texts::HeardTexts;
use super::messages::{self, Artifact, MessageContent, TaskMessage, TaskState, TaskStatus};
use super::questions;
use super::task_results::PendingEnd;
use super::task_watch::TaskWatch;

/// How many messages and non-text parts are remembered, so that none is announced twice.
const MOST: usize = 256;
/// How many non-text parts are named together.
const MOST_NAMED: usize = 8;

/// The key that distinguishes one question of a task from another: its state, its message, and since when.
type QuestionKey = (TaskState, String, String);

/// Whether an answer came: an artifact, or a message with the end.
#[derive(Debug, Clone, Copy, Default)]
struct AnswerArrival {
    ever: bool,
    since_question: bool,
}

impl AnswerArrival {
    /// Records an answer, unless it is empty.
    fn note(&mut self, content: &MessageContent) {
        if !content.text.trim().is_empty() || !content.others.is_empty() {
            *self = Self {
                ever: true,
                since_question: true,
            };
        }
    }
}

/// One task.
#[derive(Debug)]
pub struct Task {
    /// The task's name on the server.
    pub id: String,
    /// The conversation of the task.
    pub context: String,
    /// Its turn; `None` before the first report and after its end.
    pub turn: Option<Turn>,
    /// The writer of its events.
    pub teller: EventContext,
    /// Whether the task was already active when it was found: its earlier output is not announced.
    pub joins: bool,
    /// Whether the task has ended.
    pub is_over: bool,
    /// The task's end, while its results are fetched.
    pub(super) ending: Option<PendingEnd>,
    /// The position of the last report about the task, in the order of reports.
    pub heard: u64,
    /// How the task is being followed.
    pub look: TaskWatch,
    /// The prompt that started the task, if known.
    prompt: Option<String>,
    parts: ConversationParts,
    known: VecDeque<String>,
    shown: VecDeque<String>,
    /// The texts that were heard, regardless of their names.
    said: HeardTexts,
    /// The artifacts that are incomplete.
    missing: BTreeSet<String>,
    /// Whether an answer ever came, and whether one came since the last question.
    answers: AnswerArrival,
    /// What the last question was about, while its state lasts.
    asks: Option<QuestionKey>,
    /// The name of the open question.
    open: Option<String>,
    questions: u64,
}

impl Task {
    /// Creates the record of a task.
    pub fn new(id: &str, context: &str, teller: EventContext, joins: bool) -> Self {
        Self {
            id: id.to_owned(),
            context: context.to_owned(),
            turn: None,
            teller,
            joins,
            is_over: false,
            ending: None,
            heard: 0,
            look: TaskWatch::default(),
            prompt: None,
            parts: ConversationParts::default(),
            known: VecDeque::new(),
            shown: VecDeque::new(),
            said: HeardTexts::default(),
            missing: BTreeSet::new(),
            answers: AnswerArrival::default(),
            asks: None,
            open: None,
            questions: 0,
        }
    }

    /// Sets the prompt that started the task, in the person's words.
    pub fn began_with(&mut self, prompt: &str) {
        self.prompt = Some(prompt.to_owned());
    }

    /// Returns the turn, and begins it if it has not begun.
    fn turn(&mut self, cx: &mut Cx<'_>) -> (&mut Turn, &mut EventContext) {
        let teller = &mut self.teller;
        let (context, prompt) = (&self.context, &self.prompt);
        let turn = self.turn.get_or_insert_with(|| {
            let mut turn = Turn::begin(context, prompt.as_deref(), teller, cx);
            turn.will_end();
            turn
        });
        (turn, &mut self.teller)
    }

    /// Applies the current state of the whole task.
    pub fn apply(&mut self, task: messages::Task, cx: &mut Cx<'_>) {
        if self.is_over {
            return;
        }
        if self.ending.is_some() {
            return self.completes(task, cx);
        }
        let is_first = self.turn.is_none();
        if is_first && self.prompt.is_none() {
            let by_person = task.history.iter().find(|message| message.is_persons);
            let text = by_person.map(|message| message.content.text.clone());
            self.prompt = text.filter(|text| !text.trim().is_empty());
        }
        self.turn(cx);
        let passes = std::mem::replace(&mut self.joins, false);
        for artifact in &task.artifacts {
            if passes {
                self.parts.pass_over(&artifact.id, &artifact.content.text);
                self.said.note(&artifact.id, &artifact.content.text);
                remember(&mut self.shown, &artifact.id);
            }
        }
        if passes
            && let Some(message) = task
                .status
                .message
                .as_ref()
                .filter(|_| !task.status.state.is_last())
        {
            self.parts
                .pass_over(&said_id(message), &message.content.text);
        }
        if !is_first {
            self.missed(&task.history, &task.status, cx);
        }
        for message in &task.history {
            remember(&mut self.known, &message.id);
        }
        // The current activity comes before the results so far; the final message comes after them.
        let works = matches!(task.status.state, TaskState::Submitted | TaskState::Working);
        if let Some(message) = task.status.message.as_ref().filter(|_| works) {
            self.announce_message(message, cx);
        }
        for artifact in task.artifacts {
            self.artifact(artifact, false, cx);
        }
        self.status(task.status, cx);
    }

    /// Announces the agent's messages after the last known one, except the final message.
    fn missed(&mut self, history: &[TaskMessage], status: &TaskStatus, cx: &mut Cx<'_>) {
        let is_known =
            |message: &TaskMessage| !message.id.is_empty() && self.known.contains(&message.id);
        let Some(at) = history.iter().rposition(is_known) else {
            return;
        };
        let last = status.message.as_ref().map(|message| message.id.clone());
        for message in history.iter().skip(at + 1) {
            if !message.is_persons && Some(&message.id) != last.as_ref() {
                self.announce_message(message, cx);
            }
        }
    }

    /// Applies an artifact as a whole, or more of one.
    pub fn artifact(&mut self, artifact: Artifact, append: bool, cx: &mut Cx<'_>) {
        if self.is_over {
            return;
        }
        let Artifact {
            id,
            content,
            goes_on,
        } = artifact;
        self.turn(cx);
        let mut lacks = goes_on == Some(true);
        let text = match append {
            true => match self.parts.more(&id, &content.text) {
                true => content.text.clone(),
                // The beginning was missed: the text is announced when the whole artifact arrives.
                false => {
                    lacks = true;
                    String::new()
                }
            },
            false => self.parts.unannounced_text(&id, &content.text).to_owned(),
        };
        self.lacks(&id, lacks);
        if !lacks || !text.trim().is_empty() {
            self.answers.note(&content);
        }
        self.outputs(&id, text, cx);
        self.shows(&id, &content, append, cx.out);
    }

    fn outputs(&mut self, id: &str, text: String, cx: &mut Cx<'_>) {
        self.said.note(id, &text);
        let (turn, teller) = self.turn(cx);
        let message = Some(id.to_owned());
        turn.update(Update::Says { message, text }, teller, cx);
    }

    /// Announces the names of the non-text parts, once.
    fn shows(
        &mut self,
        id: &str,
        content: &MessageContent,
        more: bool,
        out: &mut Vec<DialectOutput>,
    ) {
        let told = self.shown.contains(&id.to_owned());
        if content.others.is_empty() || told && !more {
            return;
        }
        remember(&mut self.shown, id);
        remember(&mut self.shown, &given(&content.others));
        let names = content.others.iter().take(MOST_NAMED).cloned().collect();
        out.push(DialectOutput::Announce(
            Phrase::new("a2a.gives").with("what", PhraseArg::Names(names)),
        ));
    }

    /// Announces a message of the agent, once.
    fn announce_message(&mut self, message: &TaskMessage, cx: &mut Cx<'_>) {
        let id = said_id(message);
        let text = self
            .parts
            .unannounced_text(&id, &message.content.text)
            .to_owned();
        remember(&mut self.known, &message.id);
        self.outputs(&id, text, cx);
        self.shows(&id, &message.content, false, cx.out);
    }

    /// Applies the new status.
    pub fn status(&mut self, status: TaskStatus, cx: &mut Cx<'_>) {
        if self.is_over || self.ending.is_some() {
            return;
        }
        self.turn(cx);
        let TaskStatus { state, message, at } = status;
        if let Some(message) = &message {
            remember(&mut self.known, &message.id);
        }
        if matches!(state, TaskState::InputRequired | TaskState::AuthRequired) {
            let asking = (state, message.as_ref().map(said_id).unwrap_or_default(), at);
            if self.asks.as_ref() != Some(&asking) {
                self.leave_question(cx);
                self.ask(state, message.as_ref(), cx);
                self.asks = Some(asking);
            }
            return;
        }
        if state == TaskState::Unknown {
            return cx.out.push(DialectOutput::Detail(Phrase::new("a2a.state")));
        }
        self.asks = None;
        // A task that failed, was rejected or was cancelled got no answer from another client.
        if !matches!(
            state,
            TaskState::Failed | TaskState::Rejected | TaskState::Canceled
        ) {
            self.leave_question(cx);
        }
        let words = message.as_ref().map(|it| it.content.text.trim().to_owned());
        let words = words.unwrap_or_default();
        let end = match state {
            TaskState::Failed => TurnEnd::Failed(words),
            TaskState::Rejected => TurnEnd::Refused(words),
            TaskState::Completed
            | TaskState::Canceled
            | TaskState::Submitted
            | TaskState::Working => {
                if let Some(message) = &message {
                    self.announce_message(message, cx);
                    if state == TaskState::Completed {
                        self.answers.note(&message.content);
                    }
                }
                let wanted = self.turn.as_ref().is_some_and(|turn| turn.stopping);
                match state {
                    TaskState::Completed => TurnEnd::Done,
                    TaskState::Canceled => TurnEnd::Stopped { wanted },
                    TaskState::Submitted
                    | TaskState::Working
                    | TaskState::Failed
                    | TaskState::Rejected
                    | TaskState::InputRequired
                    | TaskState::AuthRequired
                    | TaskState::Unknown => return,
                }
            }
            TaskState::InputRequired | TaskState::AuthRequired | TaskState::Unknown => return,
        };
        let lacks = match &end {
            TurnEnd::Done => !self.answers.since_question || self.lacks_a_part(),
            // A person who stopped it does not wait for the rest.
            TurnEnd::Stopped { wanted: true } => false,
            TurnEnd::Short(_)
            | TurnEnd::Stopped { wanted: false }
            | TurnEnd::Failed(_)
            | TurnEnd::Refused(_)
            | TurnEnd::Gone
            | TurnEnd::Left(_)
            | TurnEnd::Lost(_) => self.lacks_a_part(),
        };
        match lacks && self.teller.answerable {
            true => self.ending = Some(PendingEnd::new(end, cx.now)),
            false => self.end(end, cx),
        }
    }

    fn ask(&mut self, state: TaskState, message: Option<&TaskMessage>, cx: &mut Cx<'_>) {
        self.questions += 1;
        self.answers.since_question = false;
        let name = format!("{} {}", self.id, self.questions);
        let words = self.teller.words.clone();
        if let Some(message) = message {
            // The question contains the message, so it is not announced again.
            self.parts
                .pass_over(&said_id(message), &message.content.text);
        }
        self.open = Some(name.clone());
        let (turn, teller) = self.turn(cx);
        let question = match state {
            TaskState::AuthRequired => {
                let (handoff, question) = questions::sign_in(&name, message, &words);
                turn.worded(Event::HandoffRequested(handoff), teller, cx);
                question
            }
            TaskState::InputRequired
            | TaskState::Submitted
            | TaskState::Working
            | TaskState::Completed
            | TaskState::Failed
            | TaskState::Canceled
            | TaskState::Rejected
            | TaskState::Unknown => questions::question(&name, message, &words),
        };
        turn.clarify(question, false, teller, cx);
    }

    /// Announces an answer that is complete in itself.
    pub fn replies(&mut self, message: &TaskMessage, cx: &mut Cx<'_>) {
        self.turn(cx);
        self.announce_message(message, cx);
    }

    /// Closes the open question when the task stops waiting: it was decided, and by another client unless the person's
    /// own answer is being sent.
    fn leave_question(&mut self, cx: &mut Cx<'_>) {
        if let (Some(name), Some(turn)) = (self.open.take(), &mut self.turn) {
            turn.decided_elsewhere(&name, None, &mut self.teller, cx);
        }
    }

    /// Returns whether the task was asked to stop.
    pub fn is_stopping(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.stopping)
    }

    /// Returns whether the task still waits for an answer to its last question.
    pub fn waits(&self) -> bool {
        self.asks.is_some()
    }

    /// Records that the person's answer was accepted.
    pub fn answered(&mut self, request: u64, cx: &mut Cx<'_>) {
        if let Some(turn) = &mut self.turn {
            turn.answered(request, &mut self.teller, cx);
        }
    }

    /// Records that the person's answer was not accepted: the person can answer again while the task waits.
    pub fn unanswered(&mut self, request: u64, cx: &mut Cx<'_>) {
        let waits = self.waits();
        let Some(turn) = &mut self.turn else {
            return;
        };
        match waits {
            true => {
                // A stop may be refused: the question stays until the server reports that the task has stopped.
                let stopping = std::mem::replace(&mut turn.stopping, false);
                turn.unanswered(request, &mut self.teller, cx);
                turn.stopping = stopping;
            }
            false => turn.too_late(request, &mut self.teller, cx),
        }
    }

    /// Ends the task and closes its open questions.
    pub fn end(&mut self, end: TurnEnd, cx: &mut Cx<'_>) {
        // A waiting end already says how the task ended.
        let end = self.ending.take().map_or(end, |ending| ending.end);
        self.is_over = true;
        self.open = None;
        let Some(mut turn) = self.turn.take() else {
            return;
        };
        let how = match turn.stopping {
            true => QuestionEnd::Stopped,
            false => QuestionEnd::TakenBack,
        };
        turn.close(how, &mut self.teller, cx);
        turn.end(end);
        turn.finish(&mut self.teller, cx);
    }

    /// Records whether an artifact is incomplete.
    fn lacks(&mut self, id: &str, lacks: bool) {
        match lacks {
            true if self.missing.len() < MOST => {
                self.missing.insert(id.to_owned());
            }
            true => {}
            false => {
                self.missing.remove(id);
            }
        }
    }

    /// Returns whether any artifact is incomplete.
    pub(super) fn lacks_a_part(&self) -> bool {
        !self.missing.is_empty()
    }

    /// Returns whether no answer has ever come.
    pub(super) fn lacks_any_answer(&self) -> bool {
        !self.answers.ever
    }

    /// Announces the parts of the whole task that were not heard yet, under whatever name.
    pub(super) fn completes(&mut self, task: messages::Task, cx: &mut Cx<'_>) {
        for mut artifact in task.artifacts {
            self.answers.note(&artifact.content);
            if !self.parts.knows(&artifact.id) {
                let MessageContent { text, others, .. } = &mut artifact.content;
                *text = self.said.rest(text).to_owned();
                if self.shown.contains(&given(others)) {
                    others.clear();
                }
            }
            self.artifact(artifact, false, cx);
        }
        // Whatever was missing is in it, under this or another name.
        if self.answers.ever {
            self.missing.clear();
        } else {
            let by_person = task.history.iter().rposition(|it| it.is_persons);
            let since = by_person.map_or(0, |at| at + 1);
            for message in task.history.into_iter().skip(since) {
                if !self.known.contains(&message.id)
                    && !self.said.rest(&message.content.text).is_empty()
                {
                    self.answers.note(&message.content);
                    self.announce_message(&message, cx);
                }
            }
        }
    }

    /// Records that reports may be missed from now on.
    pub fn interrupt(&mut self) {
        self.parts.interrupt();
    }
}

/// Returns a name for the text of a message, distinct from artifact names.
fn said_id(message: &TaskMessage) -> String {
    match message.id.is_empty() {
        true => event_writer::id("said ", &message.content.text),
        false => format!("said {}", message.id),
    }
}

/// Returns a name for a set of non-text parts, distinct from artifact names.
fn given(others: &[String]) -> String {
    event_writer::id("given ", &others.join("\n"))
}

/// Remembers a name, dropping the oldest when there are too many.
fn remember(names: &mut VecDeque<String>, name: &str) {
    if name.is_empty() || names.iter().any(|known| known == name) {
        return;
    }
    if names.len() == MOST {
        names.pop_front();
    }
    names.push_back(name.to_owned());
}
