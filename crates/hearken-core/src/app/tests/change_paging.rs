//! Reading further in a question's changes: part by part in lines and by ear, and on a screen from the end of
//! what was drawn.

use super::*;
use crate::announce::ChangePlace;

impl Stage {
    /// Draws the rest of the shown question's changes, if they are being read.
    pub(super) fn draw_change(&mut self, at: Duration) {
        let read = self.app.change_read().filter(|_| !self.blocked);
        if let (Some(read), Some((shown, _))) = (read, self.app.shown()) {
            let drawn = VisibleChange {
                from: read.from,
                to: ChangePlace::END,
            };
            let showing = QuestionVisibility::Change(shown.question, drawn);
            self.feed(Input::Drawn { showing, at });
        }
    }

    /// Draws this many lines from the place that was read last.
    fn draw_lines(&mut self, lines: usize) {
        let from = self.app.change_read().unwrap().from;
        let to = ChangePlace {
            item: from.item + lines,
            byte: 0,
        };
        let question = self.app.shown().unwrap().0.question;
        self.draw(QuestionVisibility::Change(
            question,
            VisibleChange { from, to },
        ));
    }

    fn turns(&mut self, key: char) -> String {
        self.lines.clear();
        self.wait(800);
        self.press(key);
        self.lines.concat()
    }
}

/// A new file of eight lines: a part of six, and one of two.
fn asked() -> Stage {
    asked_with(KEYS)
}

fn asked_with(options: Options) -> Stage {
    let mut stage = Stage::new(options);
    let lines: Vec<String> = (1..=8).map(|n| format!("+line{n}")).collect();
    let change = json!({"path": "a", "added": 8, "removed": 0, "places": 1, "hunks": [{"line": 1, "lines": lines}]});
    stage.blocked = true;
    stage.ask_with(
        "a",
        json!({"extensions": {"hearken": {"changes": [change]}}}),
    );
    let question = stage.app.shown().unwrap().0.question;
    stage.draw(QuestionVisibility::Page(VisiblePage {
        question,
        page: 0,
        pages: 1,
        cut: 0,
        change: None,
    }));
    stage
}

#[test]
fn on_a_screen_every_line_comes_before_the_next_part() {
    let mut stage = asked();
    assert!(
        stage.turns('.').contains("line1. line2"),
        "{:?}",
        stage.lines
    );
    assert_eq!(stage.turns('.'), stage.turns('.'), "nothing is drawn yet");
    stage.draw_lines(4);
    let rest = stage.turns('.');
    assert_eq!(
        rest,
        "Place 1, on from line 5. Added, 2 lines: line5. line6"
    );
    stage.draw_lines(1);
    assert_eq!(stage.turns('.'), "Place 1, on from line 6. Added: line6");
    stage.draw_lines(2);
    let next = stage.turns('.');
    assert_eq!(
        next,
        "Place 1, on from line 7. Added, 2 lines: line7. line8"
    );
    stage.draw_lines(1);
    assert!(stage.turns('.').contains("line8"), "{:?}", stage.lines);
    assert!(
        stage.turns(',').contains("line7"),
        "to where the part begins"
    );
    assert!(stage.turns(',').contains("line1"), "{:?}", stage.lines);
}

#[test]
fn without_room_for_any_line_the_parts_follow_each_other() {
    let mut stage = asked();
    assert!(stage.turns('.').contains("line1"));
    stage.draw_lines(0);
    assert!(stage.turns('.').contains("line7"), "{:?}", stage.lines);
}

#[test]
fn what_was_not_shown_is_counted_before_it_is_accepted() {
    let mut stage = asked();
    stage.turns('.');
    stage.draw_lines(3);
    let step = stage.turns('y');
    assert!(
        phrase!("reply.second_step.unseen", n = 5).is_in(&step),
        "{step}"
    );
    assert!(matches!(stage.app.mode(), Mode::Confirming(_)));
    assert!(stage.sent.is_empty());
    stage.turns('.');
    stage.turns('.');
    stage.draw_lines(3);
    stage.turns('.');
    stage.draw_lines(5);
    stage.turns('y');
    assert_eq!(stage.sent.len(), 1, "{:?}", stage.lines);
}

#[test]
fn a_voice_goes_on_with_a_part_of_which_a_small_screen_shows_less() {
    for is_heard in [true, false] {
        let mut stage = asked_with(VOICE);
        stage.voiced();
        stage.turns('.');
        if is_heard {
            stage.speak_all();
        }
        for first in ["line3", "line5"] {
            stage.draw_lines(2);
            let shown = stage.turns('.');
            assert!(shown.contains(first), "{shown}");
        }
        stage.speak_all();
        let said = stage.said().join(" ");
        for line in 1..=6 {
            let times = said.matches(&format!("line{line}")).count();
            assert_eq!(times, 1, "{is_heard}: {said}");
        }
        assert!(!said.contains("line7"), "{said}");
        stage.draw_lines(2);
        stage.turns('.');
        stage.speak_all();
        assert!(stage.said().join(" ").contains("line7"));
    }
}

#[test]
fn a_voice_that_was_stopped_says_what_the_screen_goes_on_with() {
    let mut stage = asked_with(VOICE);
    stage.voiced();
    stage.turns('.');
    stage.draw_lines(2);
    stage.turns('s');
    stage.turns('.');
    stage.speak_all();
    let said = stage.said().join(" ");
    assert!(said.contains("line3") && !said.contains("line1"), "{said}");
}
