//! Everything that can be done at the moment, item by item, for one or two switches.
//!
//! # Mental model
//! A step goes to the next item and announces it; a selection does what the item's key would do, with all rules of
//! arming. The focus belongs to the mode and the question that were current at the step: if either changes, nothing is
//! in focus, and a selection only reports that. A selection also clears the focus, so that one switch pressed twice
//! never does two things; but what comes too early does nothing, and leaves its item in focus.
//!
//! # Worked example
//! Step ("accept the question"), select ("this needs a second step"), step ("confirm accepting"),
//! select: accepted.
//!
//! # Tuning by symptom
//! The wrong item is selected with automatic stepping: `scanning.auto_ms` is too short.

use std::time::Duration;

use crate::announce::{Arg, Class, scanned};
use crate::keys::{BINDINGS, Binding, Command, Edit, KeyPress, Mode, ScanKey};
use crate::protocol::{Decision, ResponseKind};
use crate::session::{Question, QuestionBody, QuestionId};

use super::KeyInput;
use super::scan_state::{Focus, ScanItem};
use crate::app::signals::VoiceState;
use crate::app::typing::paste_into_line;
use crate::app::{AnswerOrigin, AppCx, AppFact, AppFacts};

/// The characters that can be typed, in groups: the group is selected first, then the character.
const GROUPS: [&str; 7] = [
    "etaoin", "shrdlu", "cmfgyp", "wbvkxj", "qz .,-", "012345", "6789?!",
];

/// The items that answer a question, or begin to: each changes the mode or the question, unless it comes too early.
const ANSWERS: [&str; 6] = ["accept", "reject", "confirm", "explain", "choose", "answer"];

/// Prompts in hearken's own words, for people who have none in their settings.
const OWN_PROMPTS: [&str; 3] = [
    "scan.prompt.go_on",
    "scan.prompt.test",
    "scan.prompt.explain",
];

/// What can be sent to agents now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum Prompting {
    /// Nothing: none takes prompts.
    Never,
    /// A prompt, and nothing else is going on.
    Idle,
    /// A prompt, while something else is going on.
    Busy,
    /// A prompt, or a stop.
    Stoppable,
}

/// What scanning needs to know about the questions and the agents.
#[derive(Debug, Clone, Copy)]
pub(in crate::app) struct ScanScene {
    /// The question that keys are meant for.
    shown: Option<QuestionId>,
    /// Whether all of that question was spoken or shown; before, it can't be accepted.
    is_whole: bool,
    /// How many questions an answer without a number could be meant for.
    meant: usize,
    prompting: Prompting,
}

impl ScanScene {
    /// Returns whether any agent takes prompts.
    pub(super) fn takes_prompts(self) -> bool {
        self.prompting != Prompting::Never
    }

    pub(in crate::app) fn new(
        shown: Option<QuestionId>,
        is_whole: bool,
        meant: usize,
        prompting: Prompting,
    ) -> Self {
        Self {
            shown,
            is_whole,
            meant,
            prompting,
        }
    }
}

impl KeyInput {
    /// Returns whether it steps automatically.
    pub(in crate::app) fn is_automatic(&self) -> bool {
        self.scanning.auto().is_some()
    }

    /// Handles a scanning key.
    pub(in crate::app) fn scan(
        &mut self,
        key: ScanKey,
        press: KeyPress,
        scene: ScanScene,
        cx: &mut AppCx,
    ) -> AppFacts {
        let automatic = self.scanning().auto();
        match (key, self.scan_focus(scene, cx)) {
            (ScanKey::Step, _) => self.scan_step(0, scene, cx),
            // With one switch, the first press begins.
            (ScanKey::Select, None) if automatic.is_some() => self.scan_step(0, scene, cx),
            (ScanKey::Select, None) => cx.respond("scan.nothing", &[]),
            (ScanKey::Select, Some(focus)) if press.again || focus.is_too_soon(press.read) => {
                cx.respond("scan.too_soon", &[]);
                let now = cx.now.monotonic;
                let item = self.scanning_mut().go_back(focus, press.read, now);
                self.scan_say(item, scene, cx);
            }
            (ScanKey::Select, Some(focus)) => {
                self.scanning_mut().select();
                // No other item takes the place of one that can no longer be selected.
                if self.scan_items(scene, cx).contains(&focus.item()) {
                    return self.scan_do(focus.item(), press, scene, cx);
                }
                cx.respond("scan.nothing", &[]);
            }
        }
        Vec::new()
    }

    /// Returns when the next automatic step is due.
    pub(in crate::app) fn scan_due(&self, scene: ScanScene, cx: &AppCx) -> Option<Duration> {
        let auto = self.scanning().auto()?;
        let focus = self.scan_focus(scene, cx)?;
        focus.next_step(auto, self.scan_items(scene, cx).len())
    }

    /// Performs an automatic step.
    pub(in crate::app) fn scan_on(&mut self, scene: ScanScene, cx: &mut AppCx) {
        if let Some(focus) = self.scan_focus(scene, cx) {
            self.scan_step(focus.by_itself() + 1, scene, cx);
        }
    }

    /// Returns the focus, as long as it belongs to the current mode and question.
    fn scan_focus(&self, scene: ScanScene, cx: &AppCx) -> Option<Focus> {
        let (mode, shown) = (cx.doing.mode(), scene.shown);
        self.scanning().focus(mode, shown)
    }

    fn scan_step(&mut self, by_itself: usize, scene: ScanScene, cx: &mut AppCx) {
        let items = self.scan_items(scene, cx);
        let focus = self.scan_focus(scene, cx);
        let at = focus.and_then(|focus| items.iter().position(|item| *item == focus.item()));
        let next = at.map_or(0, |at| (at + 1) % items.len());
        let Some(item) = items.get(next).copied() else {
            return;
        };
        let (mode, shown) = (cx.doing.mode(), scene.shown);
        let before = focus.map(|focus| focus.item());
        let focus = Focus::new(mode, shown, item, cx.now.monotonic, by_itself, before);
        self.scanning_mut().go_to(focus);
        self.scan_say(item, scene, cx);
    }

    /// Announces the item in focus, and notes the announcement.
    fn scan_say(&mut self, item: ScanItem, scene: ScanScene, cx: &mut AppCx) {
        scan_tell(item, scene, cx);
        let told = cx.answers.announcements().last().map(|told| told.id);
        self.scanning_mut().note_told(told);
    }

    fn scan_do(
        &mut self,
        item: ScanItem,
        press: KeyPress,
        scene: ScanScene,
        cx: &mut AppCx,
    ) -> AppFacts {
        let command = match item {
            ScanItem::Named(name) => BINDINGS
                .iter()
                .find(|binding| binding.name == name)
                .map(Binding::command),
            ScanItem::Option(id, at) => Some(Command::Choose(Some(id.0), Some(at + 1))),
            ScanItem::Group(at) => {
                self.scanning_mut().open_group(at);
                self.scan_step(0, scene, cx);
                return Vec::new();
            }
            ScanItem::Letter(c) => {
                self.scanning_mut().close_group();
                Some(Command::Edit(Edit::Insert(c)))
            }
            ScanItem::Prompt(at) => {
                if let Some(text) = prepared(cx).get(at) {
                    paste_into_line(text, cx);
                }
                return Vec::new();
            }
            ScanItem::Delete => Some(Command::Edit(Edit::Backspace)),
            ScanItem::Send => Some(Command::Edit(Edit::Submit)),
            ScanItem::Back if self.scanning_mut().close_group() => {
                self.scan_step(0, scene, cx);
                return Vec::new();
            }
            ScanItem::Back => Some(Command::Back),
        };
        let answers = matches!(item, ScanItem::Named(name) if ANSWERS.contains(&name));
        let typed = matches!(item, ScanItem::Letter(_) | ScanItem::Delete);
        let mut facts = vec![AppFact::Command(command, AnswerOrigin::Key(press))];
        if typed {
            facts.push(AppFact::Typed);
        }
        if answers {
            facts.push(AppFact::ItemChosen);
        }
        facts
    }

    /// Keeps the item in focus by which a question was answered in vain, because it can't be answered yet: whoever has
    /// to select it again need not look for it.
    pub(in crate::app) fn keep_selected(&mut self, scene: ScanScene, cx: &AppCx) {
        let (mode, shown) = (cx.doing.mode(), scene.shown);
        let question = shown.and_then(|id| cx.sessions.question(id));
        if question.is_some_and(Question::is_answerable) {
            let now = cx.now.monotonic;
            self.scanning_mut().restore(mode, shown, now);
        }
    }

    /// Announces the text typed so far.
    pub(in crate::app) fn tell_typed(&self, cx: &mut AppCx) {
        let typed = cx.editor().0;
        let text = Arg::Own(crate::announce::speakable::one_line(typed));
        cx.respond("scan.typed", &[("text", text)]);
    }

    /// Returns everything that can be done at the moment, in words, for people with switches.
    pub(in crate::app) fn scanned_items(&self, scene: ScanScene, cx: &AppCx) -> Vec<String> {
        let items = self.scan_items(scene, cx);
        let words = items.into_iter().map(|item| item_words(item, scene, cx));
        words.collect()
    }

    /// Returns everything that can be done at the moment.
    fn scan_items(&self, scene: ScanScene, cx: &AppCx) -> Vec<ScanItem> {
        match cx.doing.mode() {
            Mode::Watching => {
                let shown = scene.shown.and_then(|id| cx.sessions.question(id));
                let mut items = shown.map(question_items).unwrap_or_default();
                if !scene.is_whole
                    && let Some(details) = items.pop_if(|item| *item == ScanItem::Named("details"))
                {
                    items.insert(0, details);
                }
                if scene.prompting == Prompting::Idle {
                    items.push(ScanItem::Named("prompt"));
                }
                if shown.is_some_and(|question| !question.attached.changes.is_empty()) {
                    items.extend(["read_on", "read_back"].map(ScanItem::Named));
                }
                if scene.meant > 1 {
                    items.push(ScanItem::Named("next_question"));
                }
                if cx.has_voice() {
                    items.push(ScanItem::Named("stop"));
                }
                match scene.prompting {
                    Prompting::Never | Prompting::Idle => {}
                    Prompting::Busy => items.push(ScanItem::Named("prompt")),
                    Prompting::Stoppable => {
                        items.extend(["stop_turn", "prompt"].map(ScanItem::Named));
                    }
                }
                if cx.queue.silenced() > 0 {
                    items.push(ScanItem::Named("go_on"));
                }
                // On a screen the last announcement still stands.
                if cx.has_voice() || *cx.signals.voice() == VoiceState::LeftToReader {
                    items.push(ScanItem::Named("repeat"));
                }
                items.extend(["status", "previous", "away", "leave", "quit"].map(ScanItem::Named));
                items
            }
            Mode::Confirming(_) => vec![
                ScanItem::Named("confirm"),
                ScanItem::Named("reject"),
                ScanItem::Back,
            ],
            Mode::Choosing(id, _) => {
                let id = QuestionId(id);
                let count = cx
                    .sessions
                    .question(id)
                    .map_or(0, |question| question.body.choices());
                let options = (0..count).map(|at| ScanItem::Option(id, at));
                options.chain([ScanItem::Back]).collect()
            }
            Mode::Editing(_) | Mode::Searching | Mode::Prompting(_) => {
                match self.scanning().group() {
                    Some(group) => GROUPS[group]
                        .chars()
                        .map(ScanItem::Letter)
                        .chain([ScanItem::Back])
                        .collect(),
                    None => {
                        let is_empty = cx.editor().0.is_empty();
                        let prompts = match cx.doing.mode() {
                            Mode::Prompting(_) if is_empty => prepared(cx).len(),
                            _ => 0,
                        };
                        // What is written can be sent at once; what is not can't be deleted.
                        let send = (!is_empty).then_some(ScanItem::Send);
                        let delete = (!is_empty).then_some(ScanItem::Delete);
                        send.into_iter()
                            .chain((0..prompts).map(ScanItem::Prompt))
                            .chain((0..GROUPS.len()).map(ScanItem::Group))
                            .chain(delete)
                            .chain([ScanItem::Back])
                            .collect()
                    }
                }
            }
            Mode::Quitting => vec![ScanItem::Named("quit"), ScanItem::Back],
            Mode::Leaving(_) => vec![ScanItem::Named("leave"), ScanItem::Back],
            Mode::Help => vec![
                ScanItem::Named("next"),
                ScanItem::Named("previous"),
                ScanItem::Back,
            ],
        }
    }
}

/// Announces an item.
fn scan_tell(item: ScanItem, scene: ScanScene, cx: &mut AppCx) {
    if let ScanItem::Option(id, at) = item {
        let Some(question) = cx.sessions.shared(id) else {
            return;
        };
        let label = match &question.body {
            QuestionBody::Clarification(asked) => asked
                .choices
                .get(at)
                .map(|choice| cx.announcer.exact(&question, &choice.label)),
            QuestionBody::Confirmation(asked) => asked
                .further_decisions()
                .nth(at)
                .map(|other| Arg::Own(cx.announcer.decision_words(other))),
        };
        let args = [
            ("n", Arg::own(at + 1)),
            ("label", label.unwrap_or_else(|| Arg::own(""))),
        ];
        cx.tell_about(Class::Response, &question, "scan.choice", &args);
        return;
    }
    let words = item_words(item, scene, cx);
    cx.respond("scan.item", &[("item", Arg::Own(words))]);
}

/// Returns an item in hearken's words; a choice has its number.
fn item_words(item: ScanItem, scene: ScanScene, cx: &AppCx) -> String {
    let phrases = cx.phrases();
    match item {
        ScanItem::Named(name) => {
            let shown = scene.shown.and_then(|id| cx.sessions.question(id));
            phrases.text(name_of(name, shown), &[])
        }
        ScanItem::Option(_, at) => (at + 1).to_string(),
        ScanItem::Group(at) => {
            let letters: Vec<String> = GROUPS[at].chars().map(|c| scan_letter(c, cx)).collect();
            letters.join(" ")
        }
        ScanItem::Letter(c) => scan_letter(c, cx),
        ScanItem::Prompt(at) => {
            let prompts = prepared(cx);
            let text = prompts.get(at).map(String::as_str).unwrap_or_default();
            crate::announce::speakable::one_line(text)
        }
        ScanItem::Delete => phrases.text("scan.delete", &[]),
        ScanItem::Send => phrases.text("scan.send", &[]),
        ScanItem::Back => phrases.text("scan.back", &[]),
    }
}

/// Returns the prepared prompts: the person's, or else hearken's own.
fn prepared(cx: &AppCx) -> Vec<String> {
    let own = &cx.config.scanning.prompts;
    match own.is_empty() {
        true => OWN_PROMPTS.map(|key| cx.phrases().text(key, &[])).to_vec(),
        false => own.clone(),
    }
}

/// Returns the phrase that names a command in two words.
fn name_of(command: &str, shown: Option<&Question>) -> &'static str {
    let informs = matches!(
        shown.map(|question| &question.body),
        Some(QuestionBody::Clarification(_))
    );
    match command {
        "accept" if informs => "scan.yes",
        "reject" if informs => "scan.no",
        command => scanned(command).unwrap_or("scan.quit"),
    }
}

/// Returns the ways to answer a question.
fn question_items(question: &Question) -> Vec<ScanItem> {
    let mut items = Vec::new();
    match &question.body {
        QuestionBody::Confirmation(asked) => {
            if asked.accepts(&Decision::Accept) {
                items.push(ScanItem::Named("accept"));
            }
            if asked.accepts(&Decision::Reject) {
                items.extend([ScanItem::Named("reject"), ScanItem::Named("explain")]);
            }
            if asked.further_decisions().next().is_some() {
                items.push(ScanItem::Named("choose"));
            }
        }
        QuestionBody::Clarification(asked) => {
            for kind in &asked.accepted_response_kinds {
                match kind {
                    ResponseKind::YesNo => {
                        items.extend([ScanItem::Named("accept"), ScanItem::Named("reject")]);
                    }
                    ResponseKind::MultipleChoice => items.push(ScanItem::Named("choose")),
                    ResponseKind::Freetext | ResponseKind::Numeric | ResponseKind::Other(_) => {
                        if !items.contains(&ScanItem::Named("answer")) {
                            items.push(ScanItem::Named("answer"));
                        }
                    }
                }
            }
        }
    }
    items.push(ScanItem::Named("details"));
    items
}

/// Returns a name for a character that a voice can pronounce and an eye can see.
fn scan_letter(c: char, cx: &AppCx) -> String {
    match c {
        ' ' => cx.phrases().text("editor.space", &[]),
        c => cx.phrases().lexicon().spell(&c.to_string(), false),
    }
}
