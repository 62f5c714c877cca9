//! One tool call: what is known about it, its progress, and its wording for the person who allows it.
//!
//! Responsibilities: gathering what messages say about a call, and putting it into words. Not here: what exactly it
//! does (`call_binding`), when it is announced (`turn`).
//!
//! Mental model: agents report a call as running before they ask for permission to make it. So a call reported as
//! running is announced only after [`GRACE`], once it is allowed, or when it is over.

use std::time::Duration;

use crate::SharedWording;
use crate::protocol::{
    Attachments, CallExit, CallFacts, CallOutput, FileChange, PlanStep, ToolCallId, ToolCompleted,
    ToolStatus,
};
use crate::{edit_changes, event_writer};

use super::call_inputs::{self, CallInput, CallInputs};
use super::shell;
use super::turn_updates::{CallNews, CallStatus};

mod call_binding;
mod call_name;
mod call_output;

pub use call_binding::DESCRIPTION;
use call_output::OutputTail;

/// How long a call reported as running waits to be announced, because a request for permission may still follow.
pub const GRACE: Duration = Duration::from_millis(1000);

/// The name of opencode's todo-list tool.
const LIST: &str = "todowrite";

/// The longest sentence about a call, in characters.
const LONGEST_TITLE: usize = 512;

/// How much the person has heard of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeardStage {
    /// Nothing, and it does not run.
    Unsaid,
    /// Nothing, and it runs, as its agent says; it is announced at this time.
    Waiting(Duration),
    /// They are being asked about it, or will be.
    Asked,
    /// They allowed it.
    Allowed,
    /// They rejected it.
    Rejected,
    /// That it runs.
    Announced,
}

/// One tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Its id in AAEP.
    pub key: String,
    /// How much the person has heard of it.
    pub stage: HeardStage,
    /// The tool under which it was announced: its end names the same tool (4.3.2), even if the call has another name by
    /// then.
    pub invoked_as: Option<String>,
    /// Whether the person's last answer rejected it; it may have been announced by then.
    pub rejected: bool,
    /// How far it has got, as its agent says.
    pub status: CallStatus,
    /// The edits that it makes.
    pub edits: Vec<FileChange>,
    /// Its output.
    pub output: CallOutput,
    /// How its program exited, if the agent says so.
    pub exit: Option<CallExit>,
    /// Whether its end was announced as a stop.
    pub stopped: bool,
    /// When it counts as running because it was allowed: some agents report only the ends of calls.
    pub runs_at: Option<Duration>,
    wrote: OutputTail,
    makes_file: Option<bool>,
    title: String,
    kind: String,
    places: Vec<String>,
    command: Option<String>,
    inputs: Option<Vec<CallInput>>,
    is_too_much: bool,
    /// The names of the inputs that its command and edits already express.
    said: Vec<String>,
    /// The folder of its conversation.
    folder: String,
    also: Vec<String>,
    /// The files that it deletes.
    deletes: Vec<String>,
    /// The identities of its edits: those it was called for, or those it made if they differ.
    edited: Vec<String>,
    instead: bool,
    /// Whether its first title was the name of a todo-list tool.
    is_list: bool,
    plan: Vec<PlanStep>,
}

/// Returns AAEP's id for a call of the agent.
pub fn key(id: &str) -> String {
    event_writer::id("call_", id)
}

impl Call {
    /// Creates a call that is known only by its id.
    pub fn new(key: &str) -> Self {
        Self {
            key: key.to_owned(),
            stage: HeardStage::Unsaid,
            invoked_as: None,
            rejected: false,
            status: CallStatus::Pending,
            edits: Vec::new(),
            output: CallOutput::default(),
            exit: None,
            stopped: false,
            runs_at: None,
            wrote: OutputTail::default(),
            makes_file: None,
            title: String::new(),
            kind: String::new(),
            places: Vec::new(),
            command: None,
            inputs: None,
            is_too_much: false,
            said: Vec::new(),
            folder: String::new(),
            also: Vec::new(),
            deletes: Vec::new(),
            edited: Vec::new(),
            instead: false,
            is_list: false,
            plan: Vec::new(),
        }
    }

    /// Gives the call another id in AAEP: the agent uses the name of a finished call for a second
    /// one.
    pub fn begin_again(&mut self, number: u64) {
        self.key = event_writer::id("call_", &format!("{} {number}", self.key));
    }

    /// Returns the call for the next turn, where none of it has been heard yet.
    pub fn left_running(mut self) -> Self {
        self.stage = HeardStage::Unsaid;
        self.invoked_as = None;
        self.stopped = false;
        self
    }

    /// Applies an update.
    pub fn take(&mut self, news: CallNews) {
        let CallNews {
            id: _,
            title,
            kind,
            status,
            edits,
            output,
            wrote,
            exit,
            makes_file,
            places,
            inputs,
            is_too_much,
            also,
            deletes,
            instead,
            plan,
        } = news;
        if self.title.is_empty() {
            self.is_list = title.as_deref() == Some(LIST);
        }
        self.is_too_much |= is_too_much == Some(true);
        self.title = title.unwrap_or(std::mem::take(&mut self.title));
        self.kind = kind.unwrap_or(std::mem::take(&mut self.kind));
        self.status = status.unwrap_or(self.status);
        // Some agents end with the output and no longer name the changes, which were made all the same.
        let over = status == Some(CallStatus::Completed);
        let kept = edits.filter(|edits| !(over && edits.is_empty()));
        if let Some(edits) = kept {
            let as_called =
                over && !self.edits.is_empty() && edit_changes::carry_out(&self.edits, &edits);
            self.edits = edits;
            if !as_called {
                self.edited = self.edits.iter().map(edit_changes::identity).collect();
            }
        }
        self.output = output.unwrap_or(std::mem::take(&mut self.output));
        if let Some(wrote) = wrote {
            self.wrote.push(&wrote);
        }
        self.makes_file = makes_file.or(self.makes_file);
        self.exit = exit.or(self.exit.take());
        // Most agents report even a failed command as completed.
        let failed = self.exit.as_ref().is_some_and(|exit| !exit.is_success());
        if failed && self.status == CallStatus::Completed {
            self.status = CallStatus::Failed;
        }
        self.places = places.unwrap_or(std::mem::take(&mut self.places));
        self.instead |= instead;
        if let Some(also) = also {
            self.also = also;
            self.deletes = deletes;
        }
        self.plan = plan.unwrap_or(std::mem::take(&mut self.plan));
        if let Some(CallInputs { all, command, said }) = inputs {
            // Inputs come complete: a command missing from them no longer exists.
            self.inputs = Some(all);
            self.command = command;
            self.said = said;
        }
    }

    /// Returns whether its end proves that it did what it was called for.
    pub fn proves_success(&self) -> bool {
        let has_changed = self.status == CallStatus::Completed && !self.edits.is_empty();
        has_changed || self.exit.as_ref().is_some_and(CallExit::is_success)
    }

    /// Returns whether it runs, as its agent says, and is not announced yet.
    pub fn is_waiting(&self) -> bool {
        match self.stage {
            HeardStage::Waiting(_) => true,
            HeardStage::Unsaid
            | HeardStage::Asked
            | HeardStage::Allowed
            | HeardStage::Rejected
            | HeardStage::Announced => false,
        }
    }

    /// Returns the plan that it wrote, if it did nothing else: another tool with such a list may do more with it.
    pub fn wrote_down(&self) -> Option<&[PlanStep]> {
        let has_words = |step: &PlanStep| !step.words.trim().is_empty();
        let is_plan = self.is_list && !self.plan.is_empty() && self.plan.iter().all(has_words);
        let is_all = self.status == CallStatus::Completed
            && self.change_count() == 0
            && self.places.is_empty();
        (is_plan && is_all).then_some(&self.plan)
    }

    /// Returns the tool under which it was announced, or is now.
    pub fn invoked_tool(&self) -> String {
        self.invoked_as.clone().unwrap_or_else(|| self.tool())
    }

    /// Returns the name of its tool: the kind of call, because the protocol says nothing more.
    pub fn tool(&self) -> String {
        let kind = self.kind.trim();
        event_writer::tool(if kind.is_empty() { "tool" } else { kind })
    }

    /// Describes in short what the call does. A command is quoted, because titles only paraphrase
    /// it.
    pub fn title(&self) -> String {
        let command = self.command.as_deref().map(shell::unwrapped);
        let title = Some(self.title.clone()).filter(|title| !title.trim().is_empty());
        let title = match self.is_named_otherwise() {
            true => title.or(command),
            false => command.or(title),
        };
        let title = title.unwrap_or_else(|| self.tool());
        event_writer::cut(&title, LONGEST_TITLE)
    }

    /// Returns its output; an agent that puts none into its report may have sent it piece by piece.
    fn brought(&self) -> Option<CallOutput> {
        match self.output.count > 0 {
            true => Some(self.output.clone()),
            false => self.wrote.output(),
        }
    }

    /// Returns the action to ask about. If there is a command, it is exactly that, whatever the title says; if there
    /// are edits, it is the edits. Otherwise every other input is listed with its name and value.
    pub fn action(&self, words: &SharedWording) -> String {
        if let Some(command) = &self.command {
            return command.clone();
        }
        let deletes = self.kind.trim() == "delete";
        let mut edits: Vec<String> = match self.instead || deletes {
            true => Vec::new(),
            false => self.edits.iter().map(|edit| edits(edit, words)).collect(),
        };
        edits.extend(self.also.iter().cloned());
        let paths: Vec<&str> = self.paths().collect();
        if deletes && edits.is_empty() && !paths.is_empty() {
            edits.push(first(words, "acp.delete", &[("paths", &paths.join(", "))]));
        }
        let is_title = edits.is_empty();
        let mut action = match is_title {
            true => self.title(),
            false => edits.join("; "),
        };
        if is_title {
            let title = self.title.trim();
            let unsaid: Vec<&str> = paths.into_iter().filter(|path| *path != title).collect();
            if !unsaid.is_empty() {
                action = format!("{action}: {}", unsaid.join(", "));
            }
            // What a custom tool does is shown by its inputs.
            let is_said = |input: &&CallInput| {
                let path = inside(&input.text, &self.folder);
                // Its name says what is done with the value.
                let names_file = call_inputs::FILES.contains(&input.name.as_str());
                !(names_file && (input.text.trim() == title || self.paths().any(|it| it == path)))
            };
            let inputs: Vec<String> = self
                .given()
                .filter(is_said)
                .map(|input| format!("{}: {}", input.name, input.text))
                .collect();
            if !inputs.is_empty() {
                action = format!("{action} ({})", inputs.join(", "));
            }
        }
        action
    }

    /// Returns its inputs.
    fn given(&self) -> impl Iterator<Item = &CallInput> {
        self.inputs.iter().flatten()
    }

    /// Returns whether it runs a command.
    pub fn has_command(&self) -> bool {
        self.command.is_some()
    }

    /// Sets the folder of its conversation.
    pub fn set_folder(&mut self, folder: &str) {
        folder.trim_end_matches('/').clone_into(&mut self.folder);
    }

    /// Returns the number of its changes to files.
    pub fn change_count(&self) -> usize {
        self.edits.len() + self.also.len()
    }

    /// Returns the line counts of all its edits, as arguments of a phrase.
    pub fn lines(&self) -> [(&'static str, String); 3] {
        let count = |of: fn(&FileChange) -> u64| self.edits.iter().map(of).sum::<u64>();
        tally(count(|edit| edit.added), count(|edit| edit.removed))
    }

    /// Returns what can be read about it on demand, with what it does. A question has no output.
    pub fn attached(&self, asked: bool) -> Attachments {
        let output = self.brought().filter(|_| !asked);
        let output = output.map(|output| CallOutput {
            of: self.command.clone().unwrap_or_else(|| self.title()),
            ..output
        });
        Attachments {
            changes: self.edits.clone(),
            output,
            plan: Vec::new(),
            action_details: Some(self.action_details()),
            call: None,
            final_choices: Vec::new(),
            unanswered: false,
            fails_unanswered: false,
            aside: false,
        }
    }

    /// Returns what is known of it beyond AAEP's fields.
    pub fn facts(&self, words: &SharedWording) -> CallFacts {
        CallFacts {
            title: self.called(words),
            exit: self.exit.clone(),
        }
    }

    /// Returns its end with a status (4.3.2), under the tool that was announced.
    pub fn completion(&self, status: &str) -> ToolCompleted {
        ToolCompleted {
            tool: self.invoked_tool(),
            tool_call_id: Some(ToolCallId::from(self.key.as_str())),
            ..ToolCompleted::of(ToolStatus::parse(status))
        }
    }

    /// Returns the paths that it concerns, each once.
    fn paths(&self) -> impl Iterator<Item = &str> {
        let edited = self.edits.iter().map(|edit| edit.path.as_str());
        let all = edited.chain(self.places.iter().map(String::as_str));
        let all: std::collections::BTreeSet<&str> = all.filter(|path| !path.is_empty()).collect();
        all.into_iter()
    }
}

/// Words the changes to a file.
fn edits(edit: &FileChange, words: &SharedWording) -> String {
    let lines = tally(edit.added, edit.removed);
    let places = match edit.places {
        0 | 1 => String::new(),
        places => places.to_string(),
    };
    let mut args = vec![("path", edit.path.as_str()), ("places", places.as_str())];
    args.extend(lines.iter().map(|(name, count)| (*name, count.as_str())));
    let key = match edit {
        FileChange { is_new: true, .. } => "acp.edit.new",
        FileChange {
            added: 0,
            removed: 0,
            ..
        } => "acp.edit.same",
        FileChange { .. } => "acp.edit",
    };
    first(words, key, &args)
}

/// Returns line counts as phrase arguments: a zero is empty, and removed lines without any added ones are counted under
/// a name of their own.
fn tally(added: u64, removed: u64) -> [(&'static str, String); 3] {
    let count = |n: u64, said: bool| match said && n > 0 {
        true => n.to_string(),
        false => String::new(),
    };
    [
        ("added", count(added, true)),
        ("removed", count(removed, added > 0)),
        ("gone", count(removed, added == 0)),
    ]
}

/// Words a phrase in the person's first language.
pub fn first(words: &SharedWording, key: &str, args: &[(&str, &str)]) -> String {
    let said = words.say(key, args).into_iter().next();
    said.map(|said| said.normal).unwrap_or_default()
}

/// Returns a title relative to a folder, if it is a path in there and nothing else; some agents omit the leading slash.
pub fn titled(title: &str, folder: &str) -> String {
    let whole = format!("/{}", title.trim().trim_start_matches('/'));
    match inside(&whole, folder) {
        near if near != whole && !near.contains(char::is_whitespace) => near.to_owned(),
        _ => title.to_owned(),
    }
}

/// Returns a path relative to a folder, if it is in there.
pub fn inside<'a>(path: &'a str, folder: &str) -> &'a str {
    let rest = path.strip_prefix(folder).filter(|_| !folder.is_empty());
    let rest = rest.and_then(|rest| rest.strip_prefix('/'));
    rest.filter(|rest| !rest.is_empty()).unwrap_or(path)
}
