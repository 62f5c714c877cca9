//! A mouse only looks: it never answers, and never does what a key does.

use super::*;
use crate::announce::AnnouncementId;
use crate::app::PointerTarget;
use crate::config::MouseChoice;
use crate::keys::{Mode, TerminalInput};

impl Stage {
    fn with_mouse() -> Self {
        let mut config = Config::default();
        config.screen.mouse = MouseChoice::Click;
        let mut stage = Self::with(KEYS, config);
        stage.event("session.started", json!({"summary_normal": "Working"}));
        stage.event(
            "tool.invoked",
            json!({"tool": "sh", "summary_normal": "Looking"}),
        );
        stage
    }

    fn click(&mut self, at: Option<PointerTarget>) {
        let read = self.now.monotonic;
        self.input(Input::Pointed { at, read });
    }

    fn entry(&self) -> AnnouncementId {
        let mut told = self.app.history().iter().rev();
        told.find(|told| told.text().contains("Looking"))
            .unwrap()
            .id
    }
}

#[test]
fn a_click_looks_at_an_entry_and_the_wheel_goes_on_from_there() {
    let mut stage = Stage::with_mouse();
    let entry = stage.entry();
    stage.lines.clear();
    stage.click(Some(PointerTarget::Entry(entry)));
    assert_eq!(stage.app.review(), Some(entry));
    stage.assert_heard("Looking");
    stage.strike(TerminalInput::Wheel(true));
    assert!(stage.app.review() < Some(entry));
    stage.strike(TerminalInput::Wheel(false));
    assert_eq!(stage.app.review(), Some(entry));
    stage.click(None);
    stage.strike(TerminalInput::Click(3, 3));
    assert_eq!(stage.app.review(), Some(entry));
}

#[test]
fn a_click_on_an_agent_goes_to_it_as_its_number_does() {
    let mut stage = Stage::with_mouse();
    let session = stage.app.sessions().iter().next().unwrap();
    let number = stage.app.conversation_number(session).unwrap();
    stage.lines.clear();
    stage.click(Some(PointerTarget::Conversation(number)));
    let clicked = std::mem::take(&mut stage.lines);
    let mut other = Stage::with_mouse();
    other.lines.clear();
    other.type_line(&format!("go {number}"));
    assert_eq!(clicked, other.lines);
    assert!(!clicked.is_empty());
}

#[test]
fn a_click_does_nothing_unless_the_setting_says_so() {
    let mut stage = Stage::new(KEYS);
    stage.event("session.started", json!({"summary_normal": "Looking"}));
    let entry = stage.entry();
    stage.click(Some(PointerTarget::Entry(entry)));
    stage.strike(TerminalInput::Wheel(true));
    assert_eq!(stage.app.review(), None);
}

#[test]
fn a_click_right_after_a_question_came_does_nothing() {
    let mut stage = Stage::with_mouse();
    let entry = stage.entry();
    stage.ask("rpl_1");
    stage.wait(390);
    stage.click(Some(PointerTarget::Entry(entry)));
    stage.strike(TerminalInput::Wheel(true));
    assert_eq!(stage.app.review(), None);
    stage.wait(20);
    stage.click(Some(PointerTarget::Entry(entry)));
    assert_eq!(stage.app.review(), Some(entry));
    assert!(stage.sent.is_empty());
}

#[test]
fn a_click_is_a_sign_of_hands_and_answers_nothing() {
    let mut stage = Stage::with_mouse();
    let entry = stage.entry();
    stage.ask_with("rpl_1", json!({"risk_level": "high", "irreversible": true}));
    stage.wait(700);
    stage.click(Some(PointerTarget::Entry(entry)));
    stage.wait(300);
    stage.press('y');
    assert!(!matches!(stage.app.mode(), Mode::Confirming(_)), "too soon");
    stage.wait(700);
    stage.press('y');
    assert!(matches!(stage.app.mode(), Mode::Confirming(_)));
    stage.wait(700);
    stage.app.update(
        Input::Pointed {
            at: Some(PointerTarget::Entry(entry)),
            read: stage.now.monotonic,
        },
        stage.now,
    );
    assert_eq!(stage.app.mode(), Mode::Watching, "the second step is over");
    stage.wait(700);
    stage.press('c');
    assert!(stage.sent.is_empty());
}

#[test]
fn a_click_leaves_what_is_being_typed() {
    let mut stage = Stage::with_mouse();
    let entry = stage.entry();
    stage.press('/');
    stage.press('a');
    stage.click(Some(PointerTarget::Entry(entry)));
    stage.strike(TerminalInput::Wheel(true));
    assert_eq!(stage.app.mode(), Mode::Searching);
    assert_eq!(stage.app.editor().0, "a");
    assert_eq!(stage.app.review(), None);
}
