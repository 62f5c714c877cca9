//! A person who has not seen all of a question can't answer it: whatever keys are pressed, however fast, and
//! however the screen's size changes meanwhile.

use super::*;
use crate::app::QuestionVisibility;

/// A generator of random numbers that are the same in every run.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn throw(&mut self, below: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// A person at a screen, and what they have seen on it.
pub(super) struct ScreenPerson {
    pub(super) app: App,
    pub(super) now: Now,
    pub(super) size: (u16, u16),
    pub(super) seen: String,
}

impl ScreenPerson {
    pub(super) fn wait(&mut self, millis: u64) {
        self.now.monotonic += Duration::from_millis(millis);
        self.app.update(Input::Deadline, self.now);
    }

    /// Draws, and notes what can then be read.
    pub(super) fn look(&mut self) {
        let (width, height) = self.size;
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let (mut showing, now) = (QuestionVisibility::SideQuestion, self.now);
        terminal
            .draw(|frame| showing = draw(frame, &self.app, now, &TimeZone::UTC, LOOK))
            .unwrap();
        let buffer = terminal.backend().buffer();
        for y in 0..height {
            self.seen.push(' ');
            self.seen
                .extend((0..width).map(|x| buffer[(x, y)].symbol()));
        }
        self.tell(showing);
    }

    pub(super) fn tell(&mut self, showing: QuestionVisibility) {
        let at = self.now.monotonic;
        self.app.update(Input::Drawn { showing, at }, self.now);
    }

    pub(super) fn resize(&mut self, size: (u16, u16)) {
        self.size = size;
        self.tell(QuestionVisibility::Blank);
    }

    pub(super) fn press(&mut self, key: char) {
        press(&mut self.app, KeyCode::Char(key), self.now);
    }

    /// Presses the key that begins to accept, and returns whether it counts.
    fn accepts(&mut self) -> bool {
        self.wait(1000);
        self.press('y');
        let counts = matches!(self.app.mode(), Mode::Confirming(_));
        if counts {
            self.press('x');
            self.wait(1000);
        }
        counts
    }

    fn misses(&self, words: usize) -> Vec<String> {
        let all = (0..words).map(|at| format!("w{at:03}."));
        let all = all.chain(["High".to_owned(), "undone.".to_owned(), "gone.".to_owned()]);
        all.filter(|word| !self.seen.contains(word.as_str()))
            .collect()
    }
}

fn reader(words: usize, size: (u16, u16)) -> ScreenPerson {
    let (mut app, now) = app();
    let action: Vec<String> = (0..words).map(|at| format!("w{at:03}.")).collect();
    ask(&mut app, now, &action.join(" "));
    let seen = String::new();
    let mut reader = ScreenPerson {
        app,
        now,
        size,
        seen,
    };
    reader.look();
    reader
}

#[test]
fn nobody_accepts_what_they_have_not_seen_to_its_end() {
    let mut dice = Dice(7);
    let (mut accepted, mut refused) = (0, 0);
    for run in 0..60 {
        let words = [20, 30, 45, 70, 220][run % 5];
        let sizes = [
            (40, 10),
            (40, 12),
            (60, 10),
            (80, 24),
            (50, 9),
            (100, 30),
            (24, 20),
            (140, 40),
        ];
        let mut reader = reader(words, sizes[run % sizes.len()]);
        for _ in 0..12 {
            for _ in 0..dice.throw(6) {
                match dice.throw(9) {
                    0 => {
                        let size = sizes[dice.throw(sizes.len() as u64) as usize];
                        reader.resize(size);
                        reader.look();
                    }
                    1 => reader.wait(dice.throw(4000)),
                    2 => reader.press('t'),
                    // So fast that no frame is drawn between two of them.
                    3 | 4 => reader.press('d'),
                    // Its changes, below the words or in their place.
                    5 => {
                        reader.press('.');
                        reader.look();
                    }
                    _ => {
                        reader.press('d');
                        reader.look();
                    }
                }
            }
            reader.look();
            if !reader
                .app
                .shown()
                .is_some_and(|(_, question)| question.is_answerable())
            {
                break;
            }
            if reader.accepts() {
                accepted += 1;
                let missing = reader.misses(words);
                assert!(missing.is_empty(), "run {run}: {missing:?}");
                break;
            }
            refused += 1;
        }
    }
    assert!(accepted > 20 && refused > 40, "{accepted} {refused}");
}

/// Two sizes may have equally many pages, divided differently; and so may a question and its details.
#[test]
fn pages_of_two_cuts_do_not_add_up() {
    let (mut accepted, mut refused) = (0, 0);
    for width in 40..52 {
        // The first page on one screen, and the others on a wider one.
        let mut reader = reader(45, (40, 10));
        reader.resize((width, 11));
        for _ in 0..4 {
            reader.press('d');
            reader.look();
            if reader.accepts() {
                accepted += 1;
                assert_eq!(reader.misses(45), [""; 0], "{width}");
                break;
            }
            refused += 1;
        }
    }
    for skipped in 2..8 {
        // The first page, and then those of the details after so many keys that no frame was drawn between.
        let mut reader = reader(30, (40, 10));
        (0..skipped).for_each(|_| reader.press('d'));
        for _ in 0..3 {
            reader.look();
            if reader.accepts() {
                accepted += 1;
                assert_eq!(reader.misses(30), [""; 0], "{skipped}");
                break;
            }
            refused += 1;
            reader.press('d');
        }
    }
    assert!(accepted > 0 && refused > 20, "{accepted} {refused}");
}

/// If something in a question was hidden, its details say so too: they count as all of it.
#[test]
fn details_say_what_is_in_doubt() {
    let (mut app, now) = app();
    ask(&mut app, now, "Send\u{200b} it");
    let words = |app: &App| screen(app, now, 100, 30).0.join(" ");
    let doubt = "Hidden";
    assert!(words(&app).contains(doubt), "{}", words(&app));
    press(&mut app, KeyCode::Char('d'), now);
    let details = words(&app);
    assert!(
        details.contains("in full") && details.contains(doubt),
        "{details}"
    );
}

#[test]
fn choices_that_are_drawn_again_are_in_sight_again() {
    let (mut app, now) = app();
    let choices = ["one", "two"].map(|it| json!({"value": it, "label": it}));
    let asks = json!({"type": "aaep:agent.awaiting.clarification", "question": "Which?", "reply_token": "rpl_1",
        "timeout_seconds": 60, "urgency": "critical", "choices": choices,
        "accepted_response_kinds": ["multiple_choice"]});
    event(&mut app, now, asks);
    let mut reader = ScreenPerson {
        app,
        now,
        size: (80, 24),
        seen: String::new(),
    };
    reader.look();
    reader.wait(1000);
    reader.press('o');
    assert!(matches!(reader.app.mode(), Mode::Choosing(..)));
    reader.look();
    reader.resize((60, 20));
    assert!(reader.app.wants_sight());
    reader.look();
    assert!(!reader.app.wants_sight());
    press(&mut reader.app, KeyCode::Down, reader.now);
    press(&mut reader.app, KeyCode::Enter, reader.now);
    let answered = reader.app.sessions().open_questions().next();
    assert!(answered.is_some_and(|question| question.answer().is_some()));
}
