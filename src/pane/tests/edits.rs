//! A person who turns through what a question changes gets to the end only when every line of it was drawn: whatever
//! the edit, on any screen, however the screen's size changes meanwhile.

use super::seen::{Dice, ScreenPerson};
use super::*;
use crate::app::QuestionVisibility;
use crate::protocol::ChangedLine;

/// The sizes of screens.
const SIZES: [(u16, u16); 10] = [
    (24, 8),
    (24, 10),
    (30, 9),
    (40, 8),
    (40, 10),
    (40, 12),
    (60, 14),
    (80, 10),
    (80, 24),
    (100, 30),
];

/// A random edit, in which each word occurs only once on each side.
struct RandomEdit {
    dice: Dice,
    words: u32,
    changes: Vec<serde_json::Value>,
    /// Every word of every line.
    all: Vec<String>,
}

impl RandomEdit {
    fn of(seed: u64) -> Self {
        let mut edit = Self {
            dice: Dice(seed),
            words: 0,
            changes: Vec::new(),
            all: Vec::new(),
        };
        for file in 0..=edit.dice.throw(2) {
            let hunks: Vec<_> = (0..=edit.dice.throw(3)).map(|at| edit.hunk(at)).collect();
            let places = hunks.len() as u64 + edit.dice.throw(2);
            let path = format!("src/{file}.py");
            edit.changes.push(
                json!({"path": path, "added": 1, "removed": 1, "places": places, "hunks": hunks}),
            );
        }
        edit
    }

    fn word(&mut self) -> String {
        self.words += 1;
        let word = format!("w{:03x}", self.words);
        self.all.push(word.clone());
        word
    }

    fn line(&mut self) -> Vec<String> {
        let words = [0, 1, 3, 8, 20, 90][self.dice.throw(6) as usize];
        (0..words).map(|_| self.word()).collect()
    }

    fn hunk(&mut self, at: u64) -> serde_json::Value {
        let mut lines = Vec::new();
        while lines.len() < 1 + self.dice.throw(24) as usize {
            let indent =
                ["", "    ", "\t", "                        "][self.dice.throw(4) as usize];
            let written =
                |sign: char, words: &[String]| format!("{sign}{indent}{}", words.join(" "));
            match self.dice.throw(5) {
                0 => lines.push(written(' ', &self.line())),
                1 => lines.push(written('-', &self.line())),
                2 => lines.push(written('+', &self.line())),
                // Lines that are replaced, each by one in which a word differs.
                _ => {
                    let old: Vec<_> = (0..=self.dice.throw(9)).map(|_| self.line()).collect();
                    let mut new = old.clone();
                    for line in &mut new {
                        if let Some(last) = line.last_mut() {
                            *last = self.word();
                        }
                    }
                    lines.extend(old.iter().map(|line| written('-', line)));
                    lines.extend(new.iter().map(|line| written('+', line)));
                }
            }
        }
        json!({"line": 1 + at * 200, "lines": lines, "left_out": self.dice.throw(3) * 4})
    }

    fn asked(&self, size: (u16, u16)) -> ScreenPerson {
        let (mut app, now) = app();
        let asks = json!({
            "type": "aaep:agent.awaiting.confirmation", "action": "Edit it.", "reply_token": "rpl_1",
            "consequence": "It is edited.",
            "timeout_seconds": 60, "default_decision": "reject", "risk_level": "low", "irreversible": false,
            "urgency": "critical", "extensions": {"hearken": {"changes": self.changes}},
        });
        event(&mut app, now, asks);
        let (_, question) = app.shown().unwrap();
        let lines = question.attached.changes.iter();
        let lines = lines
            .flat_map(|change| &change.hunks)
            .flat_map(|hunk| &hunk.lines);
        let kept: String = lines.map(ChangedLine::text).collect::<Vec<_>>().join(" ");
        assert!(self.all.iter().all(|word| kept.contains(word)));
        let mut person = ScreenPerson {
            app,
            now,
            size,
            seen: String::new(),
        };
        person.look();
        person
    }
}

impl ScreenPerson {
    fn turns_on(&mut self) -> String {
        self.wait(1000);
        self.press('.');
        let told = self.app.answers().iter().map(|told| told.text());
        told.collect::<Vec<_>>().join(" ")
    }
}

#[test]
fn turning_to_the_end_draws_every_line() {
    let mut dice = Dice(11);
    for seed in 0..12 {
        let edit = RandomEdit::of(seed);
        let size = SIZES[seed as usize % SIZES.len()];
        let mut person = edit.asked(size);
        let mut turns = 0;
        loop {
            let told = person.turns_on();
            if told == "That was the last part." {
                break;
            }
            person.seen.push('\n');
            let before = person.seen.len();
            person.look();
            // What is read begins with what is drawn first, unless that is missing or empty.
            let drawn = &person.seen[before..];
            let mut words = drawn.split([' ', '\n']);
            let first = words.find(|word| *word == "left" || edit.all.iter().any(|it| it == word));
            let first = first.unwrap_or_default();
            assert!(
                told.contains(first) || told.contains("empty line"),
                "{seed} {size:?} {first}: {told}\n{drawn}"
            );
            if dice.throw(5) == 0 {
                person.resize(SIZES[dice.throw(SIZES.len() as u64) as usize]);
                person.look();
            }
            turns += 1;
            assert!(turns < 2000, "{seed} {size:?}");
        }
        let missing = edit.all.iter().filter(|word| !person.seen.contains(*word));
        assert_eq!(missing.count(), 0, "{seed} {size:?}");
    }
}

#[test]
fn what_is_not_drawn_yet_is_not_passed() {
    let edit = RandomEdit::of(5);
    let mut person = edit.asked((40, 10));
    person.turns_on();
    person.look();
    let first = person.turns_on();
    for _ in 0..20 {
        assert_eq!(person.turns_on(), first, "no frame came between");
    }
    person.tell(QuestionVisibility::Blank);
    assert_eq!(person.turns_on(), first);
    person.look();
    assert_ne!(person.turns_on(), first);
}

#[test]
fn one_key_accepts_only_what_was_drawn_to_its_end() {
    let mut dice = Dice(3);
    let (mut accepted, mut asked_again) = (0, 0);
    for seed in 0..24 {
        let edit = RandomEdit::of(100 + seed);
        let mut person = edit.asked(SIZES[seed as usize % SIZES.len()]);
        let turns = [0, 2, 6, 400][dice.throw(4) as usize];
        for _ in 0..turns {
            if person.turns_on() == "That was the last part." {
                break;
            }
            person.look();
        }
        // All pages of its words.
        for _ in 0..20 {
            person.wait(1000);
            person.press('d');
            person.look();
        }
        person.wait(1000);
        person.press('y');
        let mut missing = edit.all.iter().filter(|it| !person.seen.contains(*it));
        match person.app.mode() {
            Mode::Confirming(_) => {
                asked_again += 1;
                let told = person.app.answers().iter().map(|told| told.text());
                let told = told.collect::<String>();
                assert!(told.contains("not shown."), "{seed}: {told}");
            }
            _ => {
                accepted += 1;
                assert_eq!(missing.next(), None, "{seed}");
                let told = person.app.answers().iter().map(|told| told.text());
                let told = told.collect::<String>();
                assert!(person.app.waiting_questions().is_empty(), "{seed}: {told}");
            }
        }
    }
    assert!(accepted > 3 && asked_again > 8, "{accepted} {asked_again}");
}
