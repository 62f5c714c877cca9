//! The full face in a real pseudo-terminal, gated by what the screen shows.

use std::io::Write;
use std::time::Duration;

use hearken::demo::{Settings, serve};
use rustix::process::Signal;

use crate::support::terminal::Terminal;
use crate::support::{block_on, within};

/// Settings with a long time of arming, so that a slow machine can't make an early key a late one.
fn slow_arming() -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    write!(file, "[questions]\narm_ms = 2500\n").unwrap();
    file
}

#[test]
fn only_the_documented_way_answers_and_exactly_once() {
    block_on(async {
        let running = serve("127.0.0.1:0", Settings::stepped(1)).await.unwrap();
        let producer = running.producer().clone();
        let file = slow_arming();
        let url = running.url();
        let config = file.path().to_string_lossy().into_owned();
        let mut terminal = Terminal::start(
            100,
            30,
            &[
                "watch", &url, "--face", "full", "--voice", "none", "--config", &config,
            ],
        );
        within("subscriber", producer.until_subscribed(1)).await;
        producer.hold_before("aaep:agent.awaiting.confirmation");
        producer.start("question").unwrap();
        within("gate", producer.until_held()).await;
        tokio::task::block_in_place(|| {
            terminal.press("y");
            terminal.wait("No question is open");
        });
        producer.resume();
        within("question", producer.until_asked(1)).await;
        tokio::task::block_in_place(|| {
            terminal.wait("Question 1 of 1");
            assert_eq!(producer.replies().len(), 0, "typed before the question");
            terminal.press("y");
            terminal.wait("Not yet");
            assert_eq!(producer.replies().len(), 0, "typed as the question came");
            // Pasted text is no key.
            terminal.press("\x1b[200~y\ny\n\x1b[201~");
            terminal.let_pass(Duration::from_millis(2700));
            assert_eq!(producer.replies().len(), 0, "pasted");
            terminal.press("y");
            terminal.wait("Accepting question 1");
        });
        within("reply", producer.until_replies(1)).await;
        tokio::task::block_in_place(|| {
            terminal.wait("settled after your answer");
            terminal.press("y");
            terminal.wait_until("a second answer refused", |screen| {
                screen.matches("No question is open").count() >= 2
            });
            terminal.press("q");
            assert_eq!(terminal.exit(), 0);
        });
        assert_eq!(producer.replies().len(), 1);
        running.stop().await;
    });
}

#[test]
fn the_terminal_is_restored_on_every_way_out() {
    for (how, code) in [("quit", 0), ("interrupt key", 130), ("SIGTERM", 143)] {
        block_on(async {
            let running = serve("127.0.0.1:0", Settings::stepped(1)).await.unwrap();
            let mut terminal = Terminal::start(
                80,
                24,
                &["watch", &running.url(), "--face", "full", "--voice", "none"],
            );
            tokio::task::block_in_place(|| {
                terminal.wait("Connected");
                assert!(terminal.parsed().alternate_screen());
                assert!(terminal.parsed().bracketed_paste());
                match how {
                    "quit" => terminal.press("q"),
                    "interrupt key" => terminal.press("\x03"),
                    _ => terminal.signal(Signal::TERM),
                }
                assert_eq!(terminal.exit(), code, "{how}");
                assert!(!terminal.parsed().alternate_screen(), "{how}");
                assert!(!terminal.parsed().bracketed_paste(), "{how}");
                assert!(!terminal.parsed().hide_cursor(), "{how}");
            });
            running.stop().await;
        });
    }
}

#[test]
fn a_resize_to_the_smallest_size_keeps_the_question_in_sight() {
    block_on(async {
        let running = serve("127.0.0.1:0", Settings::stepped(1)).await.unwrap();
        let mut terminal = Terminal::start(
            120,
            40,
            &["watch", &running.url(), "--face", "full", "--voice", "none"],
        );
        within("subscriber", running.producer().until_subscribed(1)).await;
        running.producer().start("transfer").unwrap();
        tokio::task::block_in_place(|| {
            terminal.wait("Question 1 of 1");
            terminal.resize(40, 10);
            terminal.wait_until("the question in ten rows", |screen| {
                screen.lines().count() <= 10
                    && screen.contains("Question 1 of 1")
                    && screen.contains("y then c accept")
            });
            // The cursor stands on the question.
            terminal.wait_for_cursor(1);
        });
        running.stop().await;
    });
}

#[test]
fn a_dumb_terminal_gets_plain_lines_without_any_escape() {
    block_on(async {
        let running = serve("127.0.0.1:0", Settings::stepped(1)).await.unwrap();
        let mut terminal = Terminal::start_with(
            80,
            24,
            &[
                "watch",
                &running.url(),
                "--voice",
                "none",
                "--until",
                "ended",
            ],
            &[("TERM", "dumb")],
        );
        within("subscriber", running.producer().until_subscribed(1)).await;
        running.producer().start("tool").unwrap();
        tokio::task::block_in_place(|| {
            assert_eq!(terminal.exit(), 0);
            let text = String::from_utf8_lossy(terminal.raw()).into_owned();
            assert!(
                text.contains("Face: linear, because TERM is dumb or not set"),
                "{text}"
            );
            assert!(!text.contains('\x1b') && !text.contains('\x07'), "{text:?}");
        });
        running.stop().await;
    });
}
