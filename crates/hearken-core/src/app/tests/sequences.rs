//! Keys and pastes around the arrival of a question: whatever is pressed, the question ends with exactly the
//! answer that the rules of `docs/questions.md` prescribe.

use std::sync::LazyLock;

use super::*;

/// How many runs each of the two random tests makes.
static RUNS: LazyLock<u64> = LazyLock::new(|| u64::from(runs(10_000)));

/// A source of small pseudo-random numbers, the same in every run (splitmix64).
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::try_from(self.roll(from.len() as u64)).unwrap()]
    }
}

/// Returns every key of the test keyboard that a terminal can distinguish.
fn every_code() -> Vec<KeyCode> {
    let mut codes: Vec<KeyCode> = (' '..='~').map(KeyCode::Char).collect();
    codes.extend(['é', 'ß', 'я', '中', '😀'].map(KeyCode::Char));
    codes.extend((1..=12).map(KeyCode::F));
    codes.extend([
        KeyCode::Enter,
        KeyCode::Esc,
        KeyCode::Backspace,
        KeyCode::Delete,
        KeyCode::Insert,
        KeyCode::Tab,
        KeyCode::BackTab,
        KeyCode::Up,
        KeyCode::Down,
        KeyCode::Left,
        KeyCode::Right,
        KeyCode::Home,
        KeyCode::End,
        KeyCode::PageUp,
        KeyCode::PageDown,
        KeyCode::Null,
    ]);
    codes
}

/// The kind of question; each has its own documented way to an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// Low risk, reversible: one step.
    Mild,
    /// High risk, irreversible: two steps.
    Grave,
    YesNo,
    Choice,
    Text,
    Number,
}

const ASKED: [Asked; 6] = [
    Asked::Mild,
    Asked::Grave,
    Asked::YesNo,
    Asked::Choice,
    Asked::Text,
    Asked::Number,
];

fn ask(stage: &mut Stage, asked: Asked, token: &str) {
    let clarify = |stage: &mut Stage, kind: &str, more: Value| {
        let mut fields = json!({"question": "Which?", "reply_token": token, "timeout_seconds": 300,
                                "accepted_response_kinds": [kind], "urgency": "critical"});
        for (key, value) in more.as_object().unwrap() {
            fields[key] = value.clone();
        }
        stage.event("awaiting.clarification", fields);
    };
    match asked {
        Asked::Mild => stage.ask(token),
        Asked::Grave => {
            stage.ask_with(token, json!({"risk_level": "high", "irreversible": true}));
        }
        Asked::YesNo => clarify(stage, "yes_no", json!({})),
        Asked::Choice => clarify(
            stage,
            "multiple_choice",
            json!({"choices": [{"value": "r", "label": "red"}, {"value": "g", "label": "green"},
                               {"value": "b", "label": "blue"}]}),
        ),
        Asked::Text => clarify(stage, "freetext", json!({})),
        Asked::Number => clarify(stage, "numeric", json!({})),
    }
}

/// Answers by the documented keys, whatever mode the previous keys have led to.
fn answer(stage: &mut Stage, asked: Asked) {
    stage.code(KeyCode::Esc);
    stage.wait(400);
    match asked {
        Asked::Mild | Asked::YesNo => stage.press('y'),
        Asked::Grave => {
            stage.press('y');
            stage.wait(400);
            stage.press('c');
        }
        Asked::Choice => {
            stage.press('o');
            stage.wait(400);
            stage.press('2');
        }
        Asked::Text | Asked::Number => {
            stage.press('a');
            stage.wait(400);
            stage.press('4');
            stage.code(KeyCode::Enter);
        }
    }
}

/// Asserts that exactly one answer was sent: the documented one, with the question's own token.
fn holds(stage: &Stage, asked: Asked, token: &str, run: u64) {
    assert_eq!(
        stage.sent.len(),
        1,
        "run {run}, {asked:?}: {:?}",
        stage.lines
    );
    let body = &stage.sent[0].1;
    assert_eq!(body["reply_token"], token, "run {run}, {asked:?}");
    match asked {
        Asked::Mild | Asked::Grave => assert_eq!(body["decision"], "accept", "run {run}"),
        Asked::YesNo => assert_eq!(body["response"], true, "run {run}"),
        Asked::Choice => assert_eq!(body["response"], "g", "run {run}"),
        Asked::Text => assert_eq!(body["response"], "4", "run {run}"),
        Asked::Number => assert_eq!(body["response"], 4.0, "run {run}"),
    }
}

#[test]
fn every_single_key_at_every_moment_does_what_is_documented_and_nothing_else() {
    let modifiers = [
        KeyModifiers::NONE,
        KeyModifiers::SHIFT,
        KeyModifiers::CONTROL,
        KeyModifiers::ALT,
        KeyModifiers::CONTROL | KeyModifiers::ALT,
    ];
    let kinds = [
        KeyEventKind::Press,
        KeyEventKind::Repeat,
        KeyEventKind::Release,
    ];
    for asked in [Asked::Mild, Asked::Grave] {
        for code in every_code() {
            for modifiers in modifiers {
                for kind in kinds {
                    if kind != KeyEventKind::Press && modifiers != KeyModifiers::NONE {
                        // A repeat or a release is not a press, whatever modifier is held with it.
                        continue;
                    }
                    // Before the question, on its arrival, and once it is armed.
                    for (moment, armed) in [(0, false), (1, false), (2, true)] {
                        let key = KeyEvent {
                            kind,
                            ..KeyEvent::new(code, modifiers)
                        };
                        let leaves = match code {
                            KeyCode::Char('q' | 'Q') => true,
                            KeyCode::Char('x' | 'X') => true,
                            KeyCode::Char('c') => modifiers == KeyModifiers::CONTROL,
                            _ => false,
                        };
                        if moment == 0 && leaves {
                            // Nothing is open: this key ends the run, and nothing can be answered.
                            continue;
                        }
                        let mut stage = Stage::new(KEYS);
                        if moment == 0 {
                            stage.key(key);
                        }
                        ask(&mut stage, asked, "rpl_1");
                        if moment == 1 {
                            stage.key(key);
                        }
                        stage.wait(400);
                        if moment == 2 {
                            stage.key(key);
                        }
                        let plain = kind == KeyEventKind::Press
                            && (modifiers - KeyModifiers::SHIFT).is_empty();
                        let wanted = match code {
                            KeyCode::Char('y' | 'Y') if armed && plain && asked == Asked::Mild => {
                                Some("accept")
                            }
                            KeyCode::Char('n' | 'N') if armed && plain => Some("reject"),
                            _ => None,
                        };
                        assert_eq!(stage.decision(), wanted, "{asked:?} {key:?} {moment}");
                        assert!(stage.sent.len() <= 1);
                        if wanted.is_none() && stage.quit.is_none() {
                            answer(&mut stage, asked);
                            holds(&stage, asked, "rpl_1", 0);
                        }
                    }
                }
            }
        }
    }
}

/// Bursts of keys and pastes before and after a question arrives: none of them answers, because no key follows
/// a pause of 400 ms; then the documented keys answer, once.
#[test]
fn bursts_answer_nothing_and_the_documented_keys_answer_once() {
    let codes = every_code();
    let pastes = ["y", "y\nc\n", "n\r", "accept\r", "\u{3}q q", "o2\ny"];
    for run in 0..*RUNS {
        let mut dice = Dice(run);
        let mut stage = Stage::new(KEYS);
        let asked = dice.pick(&ASKED);
        let token = format!("rpl_{run}");
        let count = 4 + dice.roll(20);
        let arrival = dice.roll(count);
        for at in 0..count {
            if at == arrival {
                ask(&mut stage, asked, &token);
            }
            stage.wait(dice.roll(400));
            if dice.roll(8) == 0 {
                stage.paste(dice.pick(&pastes));
                continue;
            }
            let code = dice.pick(&codes);
            let leaving = matches!(stage.app.mode(), Mode::Quitting | Mode::Leaving(_));
            let leaves = matches!(code, KeyCode::Char('q' | 'Q' | 'x' | 'X'));
            let code = if leaves && (leaving || at <= arrival) {
                // Pressed twice, or with nothing open, these keys would leave the program, as documented.
                KeyCode::Char('z')
            } else if dice.roll(2) == 0 && !leaving {
                // Half of the keys decide something.
                KeyCode::Char(dice.pick(&['y', 'c', 'n', 'a', 'o', 'e', '1', '2']))
            } else {
                code
            };
            stage.code(code);
        }
        assert!(
            stage.sent.is_empty(),
            "run {run}, {asked:?}: {:?}",
            stage.lines
        );
        assert_eq!(stage.quit, None, "run {run}");
        answer(&mut stage, asked);
        holds(&stage, asked, &token, run);
    }
}

/// The rules of docs/questions.md for one confirmation, implemented a second time, as simply as they are
/// stated: what each key means in each mode, and when it counts.
struct Rules {
    two_steps: bool,
    mode: Where,
    shown: u64,
    last_key: u64,
    /// The last key and its time: the same key again within 700 ms may just be held down.
    held: Option<(KeyCode, u64)>,
    /// Whether a second step was ever open: then its key is no word's letter.
    confirmed: bool,
    /// The letters pressed, their times, and what each was for.
    letters: Vec<(char, u64, Use)>,
    answer: Option<&'static str>,
}

/// What a letter is for: the question, looking at something, or neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Question,
    Look,
    Neither,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Where {
    Watching,
    /// The second step has been open since this time.
    Confirming(u64),
    /// A reason of this many characters is typed.
    Reason(usize),
    Searching,
    Help,
    /// Leaving was requested.
    Leaving,
}

impl Rules {
    fn press(&mut self, code: KeyCode, now: u64) {
        // With Shift it is the same key.
        let key = match code {
            KeyCode::Char(c) => KeyCode::Char(c.to_ascii_lowercase()),
            code => code,
        };
        let held = self.held.replace((key, now));
        let again = held.is_some_and(|(last, at)| last == key && now < at + 700);
        let (in_word, is_word) = self.word(key, now);
        let armed = now >= self.shown + 400 && now >= self.last_key + 400 && !again && !in_word;
        self.last_key = now;
        if is_word {
            if let Where::Confirming(_) = self.mode {
                self.mode = Where::Watching;
            }
            return;
        }
        if again && matches!(self.mode, Where::Confirming(_)) {
            return;
        }
        if self.answer.is_some() {
            return;
        }
        let letter = match code {
            KeyCode::Char(c) => Some(c.to_ascii_lowercase()),
            _ => None,
        };
        self.mode = match self.mode {
            Where::Watching => match letter {
                Some('y') if armed && self.two_steps => Where::Confirming(now),
                Some('y') if armed => self.settle("accept"),
                Some('n') if armed => self.settle("reject"),
                Some('e') if armed => Where::Reason(0),
                Some('/') => Where::Searching,
                Some('?') => Where::Help,
                Some('q' | 'x') => Where::Leaving,
                _ => {
                    if code == KeyCode::Tab {
                        // The only question is shown afresh.
                        self.shown = now;
                    }
                    Where::Watching
                }
            },
            Where::Confirming(since) => match letter {
                Some('c') if now >= since + 150 => self.settle("accept"),
                Some('n') if armed => self.settle("reject"),
                _ => Where::Watching,
            },
            Where::Reason(typed) => match code {
                KeyCode::Esc => Where::Watching,
                KeyCode::Enter if typed > 0 => self.settle("reject"),
                KeyCode::Char(_) => Where::Reason(typed + 1),
                KeyCode::Backspace => Where::Reason(typed.saturating_sub(1)),
                _ => Where::Reason(typed),
            },
            Where::Searching => match code {
                KeyCode::Esc | KeyCode::Enter => Where::Watching,
                _ => Where::Searching,
            },
            Where::Help => match code {
                // These scroll the help, or announce something beside it.
                KeyCode::Up | KeyCode::Down => Where::Help,
                _ => match letter {
                    Some('t') => Where::Help,
                    Some('/') => Where::Searching,
                    Some('?') => Where::Watching,
                    _ => {
                        if code == KeyCode::Tab {
                            self.shown = now;
                        }
                        Where::Watching
                    }
                },
            },
            Where::Leaving => Where::Watching,
        };
    }

    /// Returns whether a key may be a letter of a word, and whether it is one of a word that is typed fluently.
    fn word(&mut self, key: KeyCode, now: u64) -> (bool, bool) {
        if let Where::Reason(_) | Where::Searching = self.mode {
            self.letters.clear();
            return (false, false);
        }
        let last = self.letters.last().map(|(_, at, _)| now - at);
        if last.is_some_and(|gap| gap >= 5000) {
            self.letters.clear();
        }
        let letter = match key {
            KeyCode::Char(c) if c.is_alphabetic() || c == ' ' => c,
            KeyCode::Enter | KeyCode::Backspace => {
                return (
                    false,
                    fluent(&self.letters) && last.is_some_and(|gap| gap < 2000),
                );
            }
            _ => {
                self.letters.clear();
                return (false, false);
            }
        };
        let confirmation_step = matches!(self.mode, Where::Confirming(_));
        self.confirmed |= confirmation_step;
        let used = match letter {
            'y' | 'n' | 'd' => Use::Question,
            'c' if confirmation_step || self.confirmed => Use::Question,
            'e' | 'a' | 'o' | 's' | 't' | 'z' | 'q' | 'x' => Use::Look,
            _ => Use::Neither,
        };
        let mut strays: Vec<char> = Vec::new();
        let mut certain = fluent(&self.letters);
        for (c, _, used) in &self.letters {
            certain |= *used == Use::Neither;
            if *used != Use::Question && !strays.contains(c) {
                strays.push(*c);
            }
        }
        let strayed = self
            .letters
            .iter()
            .rev()
            .find(|(_, _, used)| *used != Use::Question);
        let soon = strayed.is_some_and(|(_, at, _)| now < at + 2000);
        let in_word =
            certain || strays.len() > 1 || strays.len() == 1 && strays[0] != letter && soon;
        let types = fluent(&self.letters) && last.is_some_and(|gap| gap < 2000);
        if used == Use::Question && !in_word {
            self.letters.clear();
            return (false, false);
        }
        self.letters.push((letter, now, used));
        (in_word, types || fluent(&self.letters))
    }

    fn paste(&mut self, text: &str, now: u64) {
        self.last_key = now;
        if let Where::Confirming(_) = self.mode {
            self.mode = Where::Watching;
        }
        if let Where::Reason(typed) = self.mode {
            self.mode = Where::Reason(typed + text.chars().filter(|c| !c.is_control()).count());
        }
    }

    fn settle(&mut self, answer: &'static str) -> Where {
        self.answer = Some(answer);
        Where::Watching
    }
}

/// Returns whether letters are in a word: three different ones followed each other fluently, and no pause came since.
fn fluent(letters: &[(char, u64, Use)]) -> bool {
    let mut types = false;
    let mut different: Vec<char> = Vec::new();
    let mut last = None;
    for (letter, at, _) in letters {
        let gap = last.map_or(u64::MAX, |last| at - last);
        last = Some(*at);
        if types && gap < 2000 {
            continue;
        }
        if gap >= 500 {
            different.clear();
        }
        if !different.contains(letter) {
            different.push(*letter);
        }
        types = different.len() >= 3;
    }
    types
}

/// Slower sequences, in which keys do count: each ends as the rules prescribe; if that leaves the question
/// open, the documented keys answer it, once.
#[test]
fn slower_sequences_end_as_the_rules_say() {
    let codes = [
        KeyCode::Char('y'),
        KeyCode::Char('Y'),
        KeyCode::Char('c'),
        KeyCode::Char('n'),
        KeyCode::Char('e'),
        KeyCode::Char('a'),
        KeyCode::Char('o'),
        KeyCode::Char('d'),
        KeyCode::Char('s'),
        KeyCode::Char('t'),
        KeyCode::Char('z'),
        KeyCode::Char('/'),
        KeyCode::Char('?'),
        KeyCode::Char('q'),
        KeyCode::Char('x'),
        KeyCode::Char(' '),
        KeyCode::Char('1'),
        KeyCode::Enter,
        KeyCode::Esc,
        KeyCode::Tab,
        KeyCode::Up,
        KeyCode::Down,
        KeyCode::Backspace,
        KeyCode::F(5),
    ];
    let mut ends = BTreeMap::new();
    for run in 0..*RUNS {
        let mut dice = Dice(run ^ 0x5eed);
        let mut stage = Stage::new(KEYS);
        let asked = dice.pick(&[Asked::Mild, Asked::Grave]);
        let token = format!("rpl_{run}");
        let early = dice.roll(3);
        let mut keys = Vec::new();
        for _ in 0..early {
            let key = dice.pick(&['y', 'n', 'c', 'z']);
            keys.push((key, stage.now.monotonic));
            stage.press(key);
            stage.wait(dice.roll(300));
        }
        ask(&mut stage, asked, &token);
        let start = stage.now.monotonic;
        let at = |time: Duration| {
            let after = u64::try_from((time + Duration::from_secs(10)).as_millis()).unwrap();
            after - u64::try_from(start.as_millis()).unwrap()
        };
        let mut rules = Rules {
            two_steps: asked == Asked::Grave,
            mode: Where::Watching,
            shown: 10_000,
            last_key: 10_000,
            held: keys
                .last()
                .map(|(key, time)| (KeyCode::Char(*key), at(*time))),
            confirmed: false,
            letters: vec![],
            answer: None,
        };
        for (key, time) in keys {
            rules.word(KeyCode::Char(key), at(time));
        }
        for _ in 0..3 + dice.roll(8) {
            // Shorter than the time of arming, longer, and around every step of a decision.
            stage.wait(dice.pick(&[0, 20, 149, 150, 399, 400, 401, 700, 1200, 2000, 5000]));
            let now = at(stage.now.monotonic);
            if dice.roll(10) == 0 {
                stage.paste("y\nc");
                rules.paste("y\nc", now);
                continue;
            }
            let code = dice.pick(&codes);
            if rules.mode == Where::Leaving && matches!(code, KeyCode::Char('q' | 'x')) {
                continue;
            }
            stage.code(code);
            rules.press(code, now);
            let mode = match stage.app.mode() {
                Mode::Watching => Where::Watching,
                Mode::Confirming(_) => Where::Confirming(0),
                Mode::Editing(_) => Where::Reason(0),
                Mode::Searching => Where::Searching,
                Mode::Prompting(_) => panic!("run {run}: nobody here takes prompts"),
                Mode::Help => Where::Help,
                Mode::Quitting | Mode::Leaving(_) => Where::Leaving,
                Mode::Choosing(..) => panic!("run {run}: a confirmation without choices"),
            };
            assert_eq!(
                std::mem::discriminant(&mode),
                std::mem::discriminant(&rules.mode),
                "run {run}: {code:?} at {now}: {:?}",
                stage.lines
            );
            assert_eq!(
                stage.decision(),
                rules.answer,
                "run {run}: {:?}",
                stage.lines
            );
            if rules.answer.is_some() {
                break;
            }
        }
        *ends.entry(rules.answer).or_insert(0) += 1;
        if rules.answer.is_none() {
            answer(&mut stage, asked);
            holds(&stage, asked, &token, run);
        }
        // Whatever is pressed after the answer, the token is used up.
        for key in ['y', 'c', 'n', 'y'] {
            stage.wait(500);
            stage.press(key);
        }
        assert_eq!(stage.sent.len(), 1, "run {run}");
        assert_eq!(stage.sent[0].1["reply_token"], token, "run {run}");
    }
    assert!(
        ends.len() == 3 && ends.values().all(|count| *count > *RUNS / 20),
        "the dice are loaded: {ends:?}"
    );
}
