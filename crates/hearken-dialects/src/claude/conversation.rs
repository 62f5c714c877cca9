//! One conversation: its turn, its calls, and what is held until the person decides.
//!
//! Responsibilities: what its events do to its turn, which call a permission is for, when a turn is perhaps over. Not
//! here: finding the conversation (`client`), answers (`decisions`), announcing a turn (`kit::turn`).
//!
//! Mental model: a turn lasts from a prompt to its `Stop`. An interruption in Claude Code's own terminal is not
//! reported: the events just cease. So a turn that falls silent with no question open and no call running is perhaps
//! over; that is announced once, and anything that follows proves it wrong. A notice that it waits for the person, an
//! interrupted call, or another prompt confirms it.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::agent_table;
use crate::config::HookedAgent;
use crate::kit::acp_shape;
use crate::kit::call::HeardStage;
use crate::kit::oversight;
use crate::kit::turn::{EventContext, Turn};
use crate::kit::turn_end::TurnEnd;
use crate::kit::turn_updates::{CallNews, Update};
use crate::link::{Phrase, PhraseArg};
use crate::protocol::Now;
use crate::{Cx, DialectOutput, QuestionEnd};

use super::harness::Harness;
use super::messages::{CallOutcome, HookNews, MOST_TEXTS, ShownText, TerminalQuestion, ToolUse};
use super::questions;
use super::streamed_text::LastText;
use super::tool_calls;

/// How long without events until a turn is perhaps over: models think for a minute or two, rarely longer.
const SILENT: Duration = Duration::from_secs(3 * 60);
/// How long without events until a turn counts as over, whatever came last: even the longest calls time out sooner.
const GONE: Duration = Duration::from_secs(30 * 60);
/// How many calls are remembered to match permissions to them; more than run at the same time.
const MOST_CALLS: usize = 256;

/// How many transcript texts are remembered: several times what one message carries, so that none is heard twice.
const MOST_KNOWN: usize = 4 * MOST_TEXTS;

/// A call that is not over.
#[derive(Debug, Clone, PartialEq)]
struct OpenCall {
    /// The name under which it is announced.
    id: String,
    /// Its own name; empty if only its permission was heard of.
    own: String,
    helper: Option<String>,
    tool: String,
    input: Map<String, Value>,
    /// Whether its permission was requested.
    is_permission_requested: bool,
}

/// One conversation.
#[derive(Debug)]
pub struct ClaudeConversation {
    /// Its name in its program.
    pub id: String,
    /// The program that runs it.
    pub harness: &'static Harness,
    /// Its turn.
    pub turn: Option<Turn>,
    /// The writer of its events.
    pub teller: EventContext,
    /// The mode that it works in, by its id.
    mode: Option<String>,
    /// The same as a time.
    at: Duration,
    /// The prompt of its turn.
    prompt: Option<String>,
    calls: VecDeque<OpenCall>,
    told_silent: bool,
    /// The texts of its transcript that were heard or are old; `None` before the first message.
    transcript_texts: Option<VecDeque<String>>,
    /// The last text heard in this turn. While messages are shown, the transcript says nothing new.
    last: LastText,
    /// The question that is asked only in its own terminal.
    asked_there: Option<String>,
    /// Whether the person was told that a question is open only here.
    pub told_only_here: bool,
    /// Whether the person was told the same about a tool server's question.
    pub told_form_here: bool,
    /// How many questions of tool servers are open; it is silent until they are answered.
    pub forms: usize,
}

impl ClaudeConversation {
    /// Creates the record of a conversation.
    pub fn new(id: &str, harness: &'static Harness, teller: EventContext) -> Self {
        Self {
            id: id.to_owned(),
            harness,
            turn: None,
            teller,
            mode: None,
            at: Duration::ZERO,
            prompt: None,
            calls: VecDeque::new(),
            told_silent: false,
            transcript_texts: None,
            last: LastText::default(),
            asked_there: None,
            told_only_here: false,
            told_form_here: false,
            forms: 0,
        }
    }

    /// Records that the conversation was heard of.
    pub fn stirs(&mut self, now: Now) {
        self.at = now.monotonic;
        self.told_silent = false;
    }

    /// Handles a statement of the mode that it works in: the first one, and each other one, is announced.
    pub fn works_in(&mut self, mode: &str, out: &mut Vec<DialectOutput>) {
        if self.mode.as_deref() == Some(mode) {
            return;
        }
        let before = self.mode.replace(mode.to_owned());
        let agent = self.teller.writer.name();
        let known = agent_table::named(self.harness.agent.name());
        let asks = |mode: &str| known.as_ref()?.oversight(mode);
        let name = match self.harness.agent {
            HookedAgent::Claude => mode_name(mode),
            HookedAgent::Codex | HookedAgent::Copilot | HookedAgent::Qwen | HookedAgent::Gemini => {
                mode
            }
        };
        out.push(DialectOutput::Announce(match before {
            None => oversight::starts_in(agent, name, asks(mode), false),
            Some(before) => oversight::changed_to(agent, name, asks(&before), asks(mode)),
        }));
    }

    /// Returns the turn, and begins it if its beginning was not heard.
    pub fn turn(&mut self, cx: &mut Cx<'_>) -> (&mut Turn, &mut EventContext) {
        self.begun(None, cx)
    }

    fn begun(&mut self, prompt: Option<&str>, cx: &mut Cx<'_>) -> (&mut Turn, &mut EventContext) {
        let (id, teller) = (&self.id, &mut self.teller);
        let turn = self.turn.get_or_insert_with(|| {
            let mut turn = Turn::begin(id, prompt, teller, cx);
            turn.will_end();
            turn
        });
        (turn, &mut self.teller)
    }

    /// Handles a prompt in Claude Code's own terminal; returns the requests that no longer need an answer.
    pub fn prompted(&mut self, text: &str, prompt: Option<String>, cx: &mut Cx<'_>) -> Vec<String> {
        let open = match self.turn.is_some() {
            // The previous turn was interrupted: otherwise its end would have been reported.
            true => self.end(TurnEnd::Stopped { wanted: false }, cx),
            false => Vec::new(),
        };
        self.prompt = prompt;
        self.begun(Some(text), cx);
        open
    }

    /// Checks which prompt a message belongs to; a different one ends the turn, whose end was not heard.
    pub fn is_of(&mut self, prompt: Option<&String>, cx: &mut Cx<'_>) -> Vec<String> {
        let (Some(prompt), true) = (prompt, self.turn.is_some()) else {
            return Vec::new();
        };
        let other = self
            .prompt
            .replace(prompt.clone())
            .is_some_and(|own| own != *prompt);
        match other {
            true => self.end(TurnEnd::Stopped { wanted: false }, cx),
            false => Vec::new(),
        }
    }

    /// Announces the latest texts that were not heard before. Texts are old if they come with the first message, with a
    /// prompt, or when no turn is active.
    pub fn writes(&mut self, texts: Vec<(String, String)>, is_old: bool, cx: &mut Cx<'_>) {
        let is_old = is_old || self.transcript_texts.is_none();
        let known = self.transcript_texts.get_or_insert_default();
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
        let is_old = is_old || self.last.is_shown();
        for (name, text) in fresh.into_iter().filter(|_| !is_old) {
            self.last.set(&text);
            let message = Some(name);
            self.update(Update::Says { message, text }, cx);
        }
    }

    /// Announces a part of a message that is shown as it is written.
    pub fn shows(&mut self, part: ShownText, cx: &mut Cx<'_>) {
        let message = Some(part.message.clone());
        if let Some(text) = self.last.shows(part).filter(|text| !text.is_empty()) {
            self.update(Update::Says { message, text }, cx);
        }
    }

    /// Asks what can be answered only in its own terminal.
    pub fn asks_there(&mut self, asked: &TerminalQuestion, cx: &mut Cx<'_>) {
        let name = format!("there {}", self.teller.writer.token());
        let question = questions::elsewhere(&name, asked, &self.teller.words);
        let (turn, teller) = self.turn(cx);
        if turn.clarify(question, false, teller, cx) {
            self.asked_there = Some(name);
        }
    }

    /// Closes what was asked only in its own terminal, because the agent goes on.
    pub fn goes_on(&mut self, news: &HookNews, cx: &mut Cx<'_>) {
        if let HookNews::Notice { .. } | HookNews::AsksThere(_) | HookNews::Shows(_) = news {
            return;
        }
        if let (Some(name), Some(turn)) = (self.asked_there.take(), &mut self.turn) {
            turn.decided_elsewhere(&name, None, &mut self.teller, cx);
        }
    }

    /// Handles a call that is about to run.
    pub fn calls(&mut self, made: ToolUse, helper: Option<String>, cx: &mut Cx<'_>) {
        let id = self.name_of(&made, helper, false);
        let (news, _) = tool_calls::call(&id, &made, &self.teller.words);
        if let Some(plan) = plan(&made) {
            return self.update(plan, cx);
        }
        self.update(Update::Calls(Box::new(news)), cx);
    }

    /// Handles the end of a call; returns the requests that are decided by it.
    pub fn called(
        &mut self,
        made: ToolUse,
        outcome: &CallOutcome,
        helper: Option<String>,
        cx: &mut Cx<'_>,
    ) -> Vec<String> {
        let id = self.name_of(&made, helper, false);
        self.calls.retain(|known| known.id != id);
        let allowed = match outcome {
            CallOutcome::Refused(_) => Some(false),
            CallOutcome::Worked(_) | CallOutcome::Over(_) | CallOutcome::Failed { .. } => {
                Some(true)
            }
        };
        let decided = self.decided(&id, allowed, cx);
        if let CallOutcome::Refused(reason) = outcome {
            let (news, _) = tool_calls::call(&id, &made, &self.teller.words);
            self.update(Update::Calls(Box::new(news)), cx);
            let key = crate::kit::call::key(&id);
            let (turn, teller) = self.turn(cx);
            turn.refused_by_reviewer(&key, reason, teller, cx);
            return decided;
        }
        let news = tool_calls::ended(&id, &made, outcome, &self.teller.words);
        if plan(&made).is_none() {
            self.update(Update::Calls(Box::new(news)), cx);
        }
        decided
    }

    /// Settles the questions about a call that went on without an answer from here.
    fn decided(&mut self, id: &str, allowed: Option<bool>, cx: &mut Cx<'_>) -> Vec<String> {
        let key = crate::kit::call::key(id);
        let Some(turn) = &mut self.turn else {
            return Vec::new();
        };
        let all = turn.permission.iter().chain(&turn.waiting);
        let about = all.filter(|it| it.call == key && it.sending.is_none());
        let names: Vec<String> = about.filter_map(|it| it.id.name()).collect();
        for name in &names {
            if turn.is_asked(name) {
                let words = place(&self.teller.folder);
                cx.out.push(DialectOutput::Detail(
                    Phrase::new("claude.elsewhere").with("folder", words),
                ));
            }
            turn.decided_elsewhere(name, allowed, &mut self.teller, cx);
        }
        names
    }

    /// Returns the name under which a call is announced. A permission names no call: it is matched by the call's tool
    /// and input.
    fn name_of(&mut self, made: &ToolUse, helper: Option<String>, asks: bool) -> String {
        let same = |known: &&mut OpenCall| {
            known.tool == made.tool && is_same(&known.input, &made.input) && known.helper == helper
        };
        let found = match made.id.is_empty() {
            true => self
                .calls
                .iter_mut()
                .filter(same)
                .find(|known| !known.is_permission_requested || !asks),
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
            known.is_permission_requested |= asks;
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
        self.calls.push_back(OpenCall {
            id: id.clone(),
            own: made.id.clone(),
            helper,
            tool: made.tool.clone(),
            input: made.input.clone(),
            is_permission_requested: asks,
        });
        id
    }

    /// Returns whether a call like this one waits for a permission of its own, or none is known at all.
    pub fn awaits(&self, made: &ToolUse, helper: Option<&str>) -> bool {
        let same = |known: &&OpenCall| {
            known.tool == made.tool
                && is_same(&known.input, &made.input)
                && known.helper.as_deref() == helper
        };
        let mut alike = self.calls.iter().filter(same).peekable();
        let is_known = alike.peek().is_some_and(|known| !known.own.is_empty());
        !is_known || alike.any(|known| !known.is_permission_requested)
    }

    /// Returns whether a hook asked about such a call, and the call is not over.
    pub fn asks_about(&self, is_it: &dyn Fn(&str, &Map<String, Value>) -> bool) -> bool {
        let mut asked = self
            .calls
            .iter()
            .filter(|known| known.is_permission_requested);
        asked.any(|known| is_it(&known.tool, &known.input))
    }

    /// Reads the call that a permission is for, and whether nothing of it is left out.
    pub fn asked_for(&mut self, made: &ToolUse, helper: Option<String>) -> (CallNews, bool) {
        let id = self.name_of(made, helper, true);
        tool_calls::call(&id, made, &self.teller.words)
    }

    /// Handles the end of the turn and its final text; returns the requests that no longer need an answer.
    pub fn stops(&mut self, text: String, cx: &mut Cx<'_>) -> Vec<String> {
        if self.turn.is_none() && text.trim().is_empty() {
            return Vec::new();
        }
        self.turn(cx);
        // What it asked before this text is over.
        let open = self.close(QuestionEnd::TakenBack, cx);
        // The final text may already have come from the transcript.
        if !self.last.is(&text) {
            let message = None;
            self.update(Update::Says { message, text }, cx);
        }
        self.end(TurnEnd::Done, cx);
        open
    }

    fn close(&mut self, how: QuestionEnd, cx: &mut Cx<'_>) -> Vec<String> {
        match &mut self.turn {
            Some(turn) => turn.close(how, &mut self.teller, cx),
            None => Vec::new(),
        }
    }

    /// Ends the turn; returns the requests that no longer need an answer.
    pub fn end(&mut self, end: TurnEnd, cx: &mut Cx<'_>) -> Vec<String> {
        let open = self.close(QuestionEnd::TakenBack, cx);
        self.calls.clear();
        self.last.clear();
        self.asked_there = None;
        if let Some(mut turn) = self.turn.take() {
            turn.end(end);
            turn.finish(&mut self.teller, cx);
        }
        open
    }

    /// Applies an update to the turn, and begins the turn if there is none.
    pub fn update(&mut self, update: Update, cx: &mut Cx<'_>) {
        let (turn, teller) = self.turn(cx);
        turn.update(update, teller, cx);
    }

    /// Returns whether something is pending that may take any length of time: a question, or a running call.
    fn is_busy(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| {
            turn.asks()
                || !turn.waiting.is_empty()
                || turn
                    .calls
                    .values()
                    .any(|call| call.stage == HeardStage::Announced)
        })
    }

    /// Returns when the silence becomes significant.
    fn silent_at(&self) -> Option<Duration> {
        let turn = self.turn.as_ref()?;
        if self.forms > 0 || turn.asks() || !turn.waiting.is_empty() {
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

    /// Returns when the next timer is due.
    pub fn deadline(&self) -> Option<Duration> {
        let turn = self.turn.as_ref().and_then(Turn::deadline);
        [turn, self.silent_at()].into_iter().flatten().min()
    }

    /// Handles the timers that are due.
    pub fn tick(&mut self, cx: &mut Cx<'_>) {
        if let Some(turn) = &mut self.turn {
            turn.tick(&mut self.teller, cx);
        }
        if self.silent_at().is_none_or(|at| at > cx.now.monotonic) {
            return;
        }
        if cx.now.monotonic >= self.at + GONE {
            self.end(TurnEnd::Short("claude.end.silent"), cx);
        } else {
            self.told_silent = true;
            let minutes = PhraseArg::Own((SILENT.as_secs() / 60).to_string());
            let folder = place(&self.teller.folder);
            cx.out.push(DialectOutput::Announce(
                Phrase::new("claude.silent")
                    .with(
                        "agent",
                        PhraseArg::Name(self.harness.agent.title().to_owned()),
                    )
                    .with("n", minutes)
                    .with("folder", folder),
            ));
        }
    }
}

/// Returns whether two inputs are of one call. Some programs describe a call only where they ask, or only where they
/// call.
fn is_same(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let without = |map: &'_ Map<String, Value>| {
        let mut map = map.clone();
        map.remove("description");
        map
    };
    one == other || without(one) == without(other)
}

/// Returns the name of a mode that Claude Code shows; a new one goes by its id.
fn mode_name(mode: &str) -> &str {
    match mode {
        "default" => "Manual",
        "acceptEdits" => "Accept edits",
        "plan" => "Plan",
        "auto" => "Auto",
        "dontAsk" => "Don't ask",
        "bypassPermissions" => "Bypass permissions",
        other => other,
    }
}

/// Returns a folder's usual name: the last part of its path.
pub(super) fn place(folder: &str) -> PhraseArg {
    let name = folder.trim_end_matches('/').rsplit('/').next();
    PhraseArg::Name(name.unwrap_or_default().to_owned())
}

/// Reads the plan that a call sets, if any.
fn plan(made: &ToolUse) -> Option<Update> {
    if made.tool != "TodoWrite" {
        return None;
    }
    let todos = made.input.get("todos")?.as_array()?;
    Some(Update::Plans(acp_shape::steps(todos)))
}
