//! Everything that can be done at the moment, item by item, for one or two switches.
//!
//! # Mental model
//! A step goes to the next item and announces it; a selection does what the item's key would do, with all rules of
//! arming. The focus belongs to the mode and the question that were current at the step: if either changes, nothing is
//! in focus, and a selection only reports that. A selection also clears the focus, so that one switch pressed twice
//! never does two things.
//!
//! # Worked example
//! Step ("accept the question"), select ("this needs a second step"), step ("confirm accepting"),
//! select: accepted.
//!
//! # Tuning by symptom
//! The wrong item is selected with automatic stepping: `scanning.auto_ms` is too short.

use std::time::Duration;

use crate::announce::{Arg, Class};
use crate::keys::{BINDINGS, Binding, Command, Edit, Mode, Press, ScanKey};
use crate::protocol::{Decision, Now, ResponseKind};
use crate::session::{Prompt, PromptId, Question};

use super::scan::Focus;
use crate::app::App;

/// The characters that can be typed, in groups: the group is selected first, then the character.
const GROUPS: [&str; 7] = [
    "etaoin", "shrdlu", "cmfgyp", "wbvkxj", "qz .,-", "012345", "6789?!",
];

/// One item that can be selected.
#[derive(Debug, Clone, PartialEq)]
enum Item {
    /// A command, by its name in the table of keys.
    Named(&'static str),
    /// A choice of a question.
    Option(PromptId, usize),
    /// A group of characters.
    Group(usize),
    /// A character.
    Letter(char),
    /// Delete the last character.
    Delete,
    /// Send the text.
    Send,
    /// Go back.
    Back,
}

impl App {
    /// Handles a scanning key.
    pub(in crate::app) fn scan(&mut self, key: ScanKey, press: Press, now: Now) {
        let automatic = self.hands.scanning().auto();
        match (key, self.scan_focus()) {
            (ScanKey::Step, _) => self.scan_step(0, now),
            // With one switch, the first press begins.
            (ScanKey::Select, None) if automatic.is_some() => self.scan_step(0, now),
            (ScanKey::Select, None) => self.respond("scan.nothing", &[], now),
            (ScanKey::Select, Some(focus)) if press.again || focus.is_too_soon(press.read) => {
                self.respond("scan.too_soon", &[], now);
                self.scan_say(focus.at(), now);
            }
            (ScanKey::Select, Some(focus)) => {
                self.hands.scanning_mut().leave();
                let item = self.scan_items().get(focus.at()).cloned();
                if let Some(item) = item {
                    self.scan_do(item, press, now);
                }
            }
        }
    }

    /// Returns when the next automatic step is due.
    pub(in crate::app) fn scan_due(&self) -> Option<Duration> {
        let auto = self.hands.scanning().auto()?;
        let focus = self.scan_focus()?;
        focus.next_step(auto, self.scan_items().len())
    }

    /// Performs an automatic step.
    pub(in crate::app) fn scan_on(&mut self, now: Now) {
        if let Some(focus) = self.scan_focus() {
            self.scan_step(focus.by_itself() + 1, now);
        }
    }

    /// Returns what is in focus, as long as it belongs to the current mode and question.
    fn scan_focus(&self) -> Option<Focus> {
        let (mode, shown) = (self.doing.mode(), self.questions.shown_id());
        self.hands.scanning().focus(mode, shown)
    }

    fn scan_step(&mut self, by_itself: usize, now: Now) {
        let count = self.scan_items().len();
        let at = self
            .scan_focus()
            .map_or(0, |focus| (focus.at() + 1) % count.max(1));
        let (mode, shown) = (self.doing.mode(), self.questions.shown_id());
        let focus = Focus::new(mode, shown, at, now.monotonic, by_itself);
        self.hands.scanning_mut().go_to(focus);
        self.scan_say(at, now);
    }

    /// Announces what is in focus.
    fn scan_say(&mut self, at: usize, now: Now) {
        let Some(item) = self.scan_items().get(at).cloned() else {
            return;
        };
        let phrases = self.announcer.phrases();
        let words = match &item {
            Item::Named(name) => {
                let does = BINDINGS
                    .iter()
                    .find(|binding| binding.name == *name)
                    .map_or("", |binding| binding.does);
                phrases.help(does).to_owned()
            }
            Item::Option(id, at) => {
                let Some(prompt) = self.sessions.prompt(*id).cloned() else {
                    return;
                };
                let label = match &prompt.question {
                    Question::Clarification(asked) => asked
                        .choices
                        .get(*at)
                        .map(|choice| self.announcer.exact(&prompt, &choice.label)),
                    Question::Confirmation(asked) => asked
                        .others()
                        .nth(*at)
                        .map(|other| Arg::Own(self.announcer.decision_words(other))),
                };
                let args = [
                    ("n", Arg::own(at + 1)),
                    ("label", label.unwrap_or_else(|| Arg::own(""))),
                ];
                self.tell_about(Class::Response, &prompt, "scan.choice", &args, now);
                return;
            }
            Item::Group(at) => {
                let letters: Vec<String> =
                    GROUPS[*at].chars().map(|c| self.scan_letter(c)).collect();
                letters.join(" ")
            }
            Item::Letter(c) => self.scan_letter(*c),
            Item::Delete => phrases.text("scan.delete", &[]),
            Item::Send => phrases.text("scan.send", &[]),
            Item::Back => phrases.text("scan.back", &[]),
        };
        self.respond("scan.item", &[("item", Arg::Own(words))], now);
    }

    /// Returns a name for a character that a voice pronounces.
    fn scan_letter(&self, c: char) -> String {
        self.announcer
            .phrases()
            .lexicon()
            .spell(&c.to_string(), false)
    }

    fn scan_do(&mut self, item: Item, press: Press, now: Now) {
        let command = match item {
            Item::Named(name) => BINDINGS
                .iter()
                .find(|binding| binding.name == name)
                .map(Binding::command),
            Item::Option(id, at) => Some(Command::Choose(Some(id.0), Some(at + 1))),
            Item::Group(at) => {
                self.hands.scanning_mut().open_group(at);
                self.scan_step(0, now);
                return;
            }
            Item::Letter(c) => {
                self.hands.scanning_mut().close_group();
                Some(Command::Edit(Edit::Insert(c)))
            }
            Item::Delete => Some(Command::Edit(Edit::Backspace)),
            Item::Send => Some(Command::Edit(Edit::Submit)),
            Item::Back if self.hands.scanning_mut().close_group() => {
                self.scan_step(0, now);
                return;
            }
            Item::Back => Some(Command::Back),
        };
        let typed = matches!(item, Item::Letter(_) | Item::Delete);
        self.pressed(command, press, now);
        if typed {
            let typed = self.doing.line().map_or("", tui_input::Input::value);
            let text = Arg::Own(crate::announce::speakable::one_line(typed));
            self.respond("scan.typed", &[("text", text)], now);
        }
    }

    /// Returns everything that can be done at the moment.
    fn scan_items(&self) -> Vec<Item> {
        match self.doing.mode() {
            Mode::Watching => {
                let shown = self.shown().map(|(_, prompt)| prompt);
                let mut items = shown.map(question_items).unwrap_or_default();
                if shown.is_some_and(|prompt| !prompt.attached.changes.is_empty()) {
                    items.extend(["read_on", "read_back"].map(Item::Named));
                }
                if self.meant() > 1 {
                    items.push(Item::Named("next_question"));
                }
                items.extend(
                    [
                        "stop", "repeat", "status", "previous", "away", "leave", "quit",
                    ]
                    .map(Item::Named),
                );
                items
            }
            Mode::Confirming(_) => vec![Item::Named("confirm"), Item::Named("reject"), Item::Back],
            Mode::Choosing(id, _) => {
                let id = PromptId(id);
                let count = self
                    .sessions
                    .prompt(id)
                    .map_or(0, |prompt| prompt.question.choices());
                let options = (0..count).map(|at| Item::Option(id, at));
                options.chain([Item::Back]).collect()
            }
            Mode::Editing(_) | Mode::Searching | Mode::Prompting(_) => {
                match self.hands.scanning().group() {
                    Some(group) => GROUPS[group]
                        .chars()
                        .map(Item::Letter)
                        .chain([Item::Back])
                        .collect(),
                    None => (0..GROUPS.len())
                        .map(Item::Group)
                        .chain([Item::Delete, Item::Send, Item::Back])
                        .collect(),
                }
            }
            Mode::Quitting => vec![Item::Named("quit"), Item::Back],
            Mode::Leaving(_) => vec![Item::Named("leave"), Item::Back],
            Mode::Help => vec![Item::Named("next"), Item::Named("previous"), Item::Back],
        }
    }
}

/// Returns the ways to answer a question.
fn question_items(prompt: &Prompt) -> Vec<Item> {
    let mut items = Vec::new();
    match &prompt.question {
        Question::Confirmation(asked) => {
            if asked.takes(&Decision::Accept) {
                items.push(Item::Named("accept"));
            }
            if asked.takes(&Decision::Reject) {
                items.extend([Item::Named("reject"), Item::Named("explain")]);
            }
            if asked.others().next().is_some() {
                items.push(Item::Named("choose"));
            }
        }
        Question::Clarification(asked) => {
            for kind in &asked.accepted_response_kinds {
                match kind {
                    ResponseKind::YesNo => {
                        items.extend([Item::Named("accept"), Item::Named("reject")]);
                    }
                    ResponseKind::MultipleChoice => items.push(Item::Named("choose")),
                    ResponseKind::Freetext | ResponseKind::Numeric | ResponseKind::Other(_) => {
                        if !items.contains(&Item::Named("answer")) {
                            items.push(Item::Named("answer"));
                        }
                    }
                }
            }
        }
    }
    items.push(Item::Named("details"));
    items
}
