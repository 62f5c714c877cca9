//! Bursts of keys and pastes around the arrival of a question, on a real pseudo-terminal: the whole program
//! and the terminal's own behaviour in between. The rules themselves are tested by ten thousand sequences
//! in the app's own tests; this test checks that nothing on the way from a key to the app adds an answer or
//! loses one.

use std::io::Write;
use std::time::{Duration, Instant};

use hearken::producer::PostVerdict;
use hearken_wording::phrase;

use crate::support::pty_terminal::Terminal;
use crate::support::{with_demo, within};

/// How many bursts each terminal gets, unless `HEARKEN_BURSTS` gives another number.
const BURSTS: u64 = 6;

/// The required keyboard silence, longer than a busy machine may delay one burst's keys.
const ARM: Duration = Duration::from_millis(1000);

/// A generator of small random numbers that are the same in every run (splitmix64).
struct BurstDice(u64);

impl BurstDice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }

    /// Returns what hands on a keyboard, a paste or a terminal may send in one go; nothing that leaves.
    fn burst(&mut self) -> String {
        const KEYS: [&str; 36] = [
            "y",
            "y",
            "n",
            "c",
            "a",
            "o",
            "e",
            "1",
            "2",
            "Y",
            "N",
            "C",
            "\r",
            " ",
            "\t",
            "\x7f",
            "d",
            "?",
            "/",
            "\x1b[A",
            "\x1b[B",
            "\x1b[H",
            "\x1b[F",
            "\x1b[5~",
            "\x1b[6~",
            "\x1b[Z",
            "\x1bOP",
            "\x1b[3~",
            "h",
            "t",
            "w",
            "é",
            "中",
            "\x1b[I",
            "\x1b[200~y\nc\ny\r\x1b[201~",
            "\x1b[200~accept\r\x1b[201~",
        ];
        let count = 1 + self.roll(12);
        (0..count)
            .map(|_| KEYS[usize::try_from(self.roll(KEYS.len() as u64)).unwrap()])
            .collect()
    }
}

/// How long a key may take to show its effect, on a busy machine.
const SLOW: Duration = Duration::from_secs(8);

/// Presses the documented keys, and waits for the effect of each.
///
/// A busy machine may deliver a burst's last keys late, so that the keyboard was not quiet for long enough,
/// or two presses of Escape arrived as one. Then hearken says "Not yet", or shows what is still open; a
/// person who sees that leaves it, waits and presses again. Nothing else is a reason to press again: a key
/// that was armed and did nothing fails, and so does anything that never recovers.
fn answer(terminal: &mut Terminal, keys: &[&str], answered: impl Fn() -> bool) {
    let until = Instant::now() + crate::support::PATIENCE;
    loop {
        for (at, key) in keys.iter().enumerate() {
            let last = at + 1 == keys.len();
            terminal.press(key);
            let done =
                |screen: &str| answered() || (!last && phrase!("keys.confirming").is_in(screen));
            if !within_time(terminal, SLOW, done) {
                break;
            }
            if !last {
                terminal.let_pass(Duration::from_millis(400));
            }
        }
        if answered() {
            return;
        }
        let screen = terminal.screen();
        let left_open = !screen.contains("? help");
        let late = phrase!("reply.not_yet").is_in(&screen) || left_open;
        assert!(late, "nothing came of it:\n{screen}");
        assert!(Instant::now() < until, "it is never armed:\n{screen}");
        if left_open {
            terminal.press("\x1b");
        }
        terminal.let_pass(ARM + Duration::from_millis(300));
    }
}

/// Waits for a limited time until the screen meets a condition, and returns whether it does.
fn within_time(terminal: &mut Terminal, time: Duration, fits: impl Fn(&str) -> bool) -> bool {
    let until = Instant::now() + time;
    loop {
        if fits(&terminal.screen()) {
            return true;
        }
        if Instant::now() >= until {
            return false;
        }
        terminal.let_pass(Duration::from_millis(20));
    }
}

/// Asks repeatedly, with a burst before, during and after the arrival of each question; then answers once
/// with the documented keys. Each answer must be the only one, an acceptance, and for the question that was
/// shown.
fn bursts(scenario: &'static str, keys: &[&str], seed: u64) {
    with_demo(async |running| {
        let producer = running.producer();
        let agents = running.agents();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        write!(file, "[questions]\narm_ms = {}\n", ARM.as_millis()).unwrap();
        let config = file.path().to_string_lossy().into_owned();
        let url = running.url();
        let arguments = [
            "watch", &url, "--face", "full", "--voice", "none", "--config", &config,
        ];
        let mut terminal = Terminal::start(100, 30, &arguments);
        within("subscriber", producer.until_subscribed(1)).await;
        terminal.wait("Connected");
        let bursts = std::env::var("HEARKEN_BURSTS").map_or(BURSTS, |many| many.parse().unwrap());
        let mut tokens = std::collections::BTreeSet::new();
        for round in 0..bursts {
            let mut dice = BurstDice(seed * 1000 + round);
            agents.hold_before("aaep:agent.awaiting.confirmation");
            let session = agents.start(scenario).unwrap();
            within("gate", agents.until_held()).await;
            let before = dice.burst();
            let after = dice.burst();
            terminal.press(&before);
            agents.resume();
            within("question", producer.until_asked(1)).await;
            terminal.press(&after);
            // Anything that was opened is left; then the keyboard is quiet for as long as required.
            terminal.press("\x1b");
            terminal.let_pass(Duration::from_millis(50));
            terminal.press("\x1b");
            terminal.wait(&format!("Question {}, ", round + 1));
            terminal.let_pass(ARM + Duration::from_millis(300));
            let sent = producer.replies().len() as u64;
            assert_eq!(sent, round, "{scenario}: {before:?} {after:?} answered");
            let answered = || producer.replies().len() as u64 > round;
            answer(&mut terminal, keys, answered);
            let replies = producer.replies();
            let reply = replies.last().unwrap();
            assert_eq!(
                reply.verdict,
                PostVerdict::Taken,
                "the token of the open question"
            );
            assert_eq!(reply.message["decision"], "accept", "{before:?} {after:?}");
            let token = reply.message["reply_token"].as_str().unwrap().to_owned();
            assert!(tokens.insert(token), "a token is answered once");
            within("end", session.until_ended()).await;
            // The screen must show it, too, before the next burst.
            terminal.wait("no agent works");
        }
        // Nothing follows afterwards.
        terminal.press("yc");
        terminal.wait("Nothing more was sent.");
        assert_eq!(producer.replies().len() as u64, bursts);
    });
}

#[test]
fn a_question_of_one_step_is_accepted_once_whatever_is_typed_around_it() {
    bursts("question", &["y"], 1);
}

#[test]
fn a_question_of_two_steps_is_accepted_once_whatever_is_typed_around_it() {
    bursts("transfer", &["y", "c"], 2);
}

#[test]
fn other_keys_around_a_question_of_one_step() {
    bursts("question", &["y"], 3);
}

#[test]
fn other_keys_around_a_question_of_two_steps() {
    bursts("transfer", &["y", "c"], 4);
}
