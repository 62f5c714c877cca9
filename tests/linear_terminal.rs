//! The linear face on a real pseudo-terminal: its line editor, its bytes, its exits.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::support::pty_terminal::Terminal;
use crate::support::{PATIENCE, with_demo, within};

const FACE: [&str; 4] = ["--face", "linear", "--voice", "none"];

fn start(url: &str, environment: &[(&str, &str)]) -> Terminal {
    let mut arguments = vec!["watch", url];
    arguments.extend(FACE);
    Terminal::start_with(100, 40, &arguments, environment)
}

fn until(what: &str, fits: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !fits() {
        assert!(Instant::now() < end, "{what}");
        std::thread::yield_now();
    }
}

/// Removes the documented sequences from the output: bell, notifications and title, the cursor query, and the two
/// that request marks around pasted text.
fn without_documented(raw: &str) -> String {
    let mut rest = raw.replace("\x1b[?2004h", "").replace("\x1b[?2004l", "");
    // The keyboard modes of other programs, set aside and put back.
    let modes = "\x1b[?1;9;1000;1002;1003;1005;1006;1015;9001";
    for does in ["s", "l", "r"] {
        rest = rest.replace(&format!("{modes}{does}"), "");
    }
    for sign in ["\x1b[>4;0m", "\x1b[>4m", "\x1b[>0u", "\x1b[<u"] {
        rest = rest.replace(sign, "");
    }
    for sign in ["\x1b[22;2t", "\x1b[23;2t", "\x1b[6n", "\x07", "\x08"] {
        rest = rest.replace(sign, "");
    }
    while let Some(at) = rest.find("\x1b]") {
        let end = rest[at..].find("\x1b\\").expect("a whole sequence") + 2;
        rest.replace_range(at..at + end, "");
    }
    rest
}

#[test]
fn output_waits_while_a_line_is_open_and_escape_lets_it_go() {
    for term in ["xterm-256color", "dumb"] {
        with_demo(async |running| {
            let producer = running.producer();
            let agents = running.agents();
            let mut terminal = start(&running.url(), &[("TERM", term)]);
            within("subscriber", producer.until_subscribed(1)).await;
            terminal.wait("Connected");
            terminal.press("n 12");
            terminal.wait_until("the echo", |screen| screen.ends_with("n 12"));
            agents.start("question").unwrap();
            within("question", producer.until_asked(1)).await;
            // The question's bell shows that it arrived; nothing was written for it.
            if term != "dumb" {
                terminal.wait_for_raw(b"\x07");
            }
            assert!(terminal.screen().ends_with("n 12"), "{}", terminal.screen());
            // A person who goes on typing is told once that it waits, above the line.
            terminal.wait("A question waits until your line is done.");
            terminal.wait_until("the line again", |screen| screen.ends_with("\nn 12"));
            terminal.press("\x7f");
            terminal.wait_until("the erased digit", |screen| {
                screen.trim_end().ends_with("n 1")
            });
            terminal.press("\x1b");
            terminal.wait("Question 1");
            assert_eq!(producer.replies().len(), 0);
            terminal.let_pass(Duration::from_millis(2500));
            terminal.press("y\n");
            terminal.wait("Accepting");
            within("reply", producer.until_replies(1)).await;
            // The agent may settle it before its server confirms the answer.
            terminal.wait_until("what became of it", |screen| {
                screen.contains("Sent.") || screen.contains("Settled.")
            });
            terminal.press("q\n");
            assert_eq!(terminal.exit(), 0);
            let raw = String::from_utf8_lossy(terminal.raw()).into_owned();
            let rest = without_documented(&raw);
            assert!(
                rest.chars()
                    .all(|c| !c.is_control() || c == '\n' || c == '\r'),
                "{rest:?}"
            );
            assert_eq!(raw.contains("9001l"), term != "dumb");
            assert_eq!(raw.contains("9001r"), term != "dumb", "put back");
            if term == "dumb" {
                assert!(!raw.contains('\x1b'), "a dumb terminal knows no sequence");
            }
        });
    }
}

#[test]
fn pasted_lines_answer_nothing() {
    with_demo(async |running| {
        let producer = running.producer();
        let agents = running.agents();
        let mut terminal = start(&running.url(), &[("TERM", "xterm")]);
        within("subscriber", producer.until_subscribed(1)).await;
        agents.start("question").unwrap();
        terminal.wait("Question 1");
        terminal.let_pass(Duration::from_millis(600));
        terminal.press("\x1b[200~y 1\ny 1\n\x1b[201~");
        terminal.wait_until("one open line", |screen| screen.ends_with("y 1 y 1"));
        assert_eq!(producer.replies().len(), 0);
    });
}

#[test]
fn the_terminal_is_given_back_on_every_way_out_and_around_a_stop() {
    for (how, code) in [
        ("quit", 0),
        ("interrupt key", 130),
        ("SIGTERM", 143),
        ("stop", 0),
    ] {
        with_demo(async |running| {
            let mut terminal = start(&running.url(), &[("TERM", "xterm")]);
            terminal.wait("Connected");
            until("its own echo", || !terminal.echoes());
            match how {
                "quit" => terminal.press("q\n"),
                "interrupt key" => terminal.press("half\x03"),
                "SIGTERM" => {
                    terminal.press("half");
                    terminal.wait("half");
                    terminal.signal(Signal::TERM);
                }
                _ => {
                    terminal.press("half");
                    terminal.wait("half");
                    terminal.press("\x1a");
                    until("it stops", || terminal.is_stopped());
                    assert!(terminal.echoes(), "given back while it is stopped");
                    terminal.signal(Signal::CONT);
                    until("taken again", || !terminal.echoes());
                    terminal.wait_until("the line once more", |screen| {
                        screen.matches("half").count() == 2
                    });
                    terminal.press("\x15q\n");
                }
            }
            assert_eq!(terminal.exit(), code, "{how}");
            assert!(terminal.echoes(), "{how}");
            assert!(!terminal.parsed().bracketed_paste(), "{how}");
        });
    }
}

#[test]
fn where_somebody_else_edits_lines_whole_lines_are_read() {
    with_demo(async |running| {
        let mut terminal = start(
            &running.url(),
            &[("TERM", "dumb"), ("INSIDE_EMACS", "29.1,comint")],
        );
        terminal.wait("Connected");
        assert!(terminal.echoes(), "the modes are left alone");
        terminal.press("t\n");
        terminal.wait_until("an answer", |screen| {
            screen.contains("Nothing is going on") || screen.matches("hearken:").count() > 0
        });
        terminal.press("q\n");
        assert_eq!(terminal.exit(), 0);
    });
}
