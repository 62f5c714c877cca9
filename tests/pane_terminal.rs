//! The full face in a real pseudo-terminal, paced by what the screen shows.

mod mouse_clicks;

use std::io::Write;
use std::time::Duration;

use hearken_wording::phrase;
use rustix::process::Signal;

use crate::support::pty_terminal::Terminal;
use crate::support::{with_demo, within};

/// Settings with a long arming time, so that a slow machine can't turn an early key into a late one.
fn slow_arming() -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    write!(file, "[questions]\narm_ms = 2500\n").unwrap();
    file
}

#[test]
fn only_the_documented_way_answers_and_exactly_once() {
    with_demo(async |running| {
        let producer = running.producer();
        let agents = running.agents();
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
        agents.hold_before("aaep:agent.awaiting.confirmation");
        agents.start("question").unwrap();
        within("gate", agents.until_held()).await;
        terminal.press("y");
        terminal.wait("No question is open");
        agents.resume();
        within("question", producer.until_asked(1)).await;
        terminal.wait("Question 1, ");
        assert_eq!(producer.replies().len(), 0, "typed before the question");
        terminal.press("y");
        terminal.wait("Not yet");
        assert_eq!(producer.replies().len(), 0, "typed as the question came");
        // Pasted text is not a key.
        terminal.press("\x1b[200~y\ny\n\x1b[201~");
        terminal.let_pass(Duration::from_millis(2700));
        assert_eq!(producer.replies().len(), 0, "pasted");
        terminal.press("y");
        terminal.wait("Accepting");
        within("reply", producer.until_replies(1)).await;
        terminal.wait("Finished");
        terminal.press("y");
        terminal.wait_until("a second answer refused", |screen| {
            phrase!("reply.over.answered").is_in(screen)
        });
        terminal.press("q");
        assert_eq!(terminal.exit(), 0);
        assert_eq!(producer.replies().len(), 1);
    });
}

/// A terminal replies to a cursor query, and then reads nothing more: what waits for it was not shown, so no key
/// answers it. Once it reads again, the question can be answered.
fn a_terminal_that_reads_nothing_answers_nothing(face: &str, accept: &str, confirm: &str) {
    with_demo(async |running| {
        let producer = running.producer();
        let agents = running.agents();
        let url = running.url();
        let mut terminal = Terminal::watch(100, 30, &url, face);
        within("subscriber", producer.until_subscribed(1)).await;
        terminal.wait("Connected");
        // The first question teaches a line-based face that the terminal replies.
        terminal.let_pass(Duration::from_millis(300));
        agents.start("question").unwrap();
        terminal.wait("Archive");
        // Far longer than it takes to arm, also on a busy machine.
        // The second key may have been a letter of a word.
        terminal.let_pass(Duration::from_millis(6000));
        terminal.press(if face == "full" { "n" } else { "n 1\r" });
        within("the rejection", producer.until_replies(1)).await;
        agents.hold_before("aaep:agent.awaiting.confirmation");
        agents.start("transfer").unwrap();
        within("gate", agents.until_held()).await;
        terminal.reply(false);
        agents.resume();
        within("question", producer.until_asked(1)).await;
        // It is in the buffer, but nobody has seen it.
        terminal.wait("Harbor Bicycles");
        for keys in [accept, confirm, accept, confirm] {
            terminal.let_pass(Duration::from_millis(1500));
            terminal.press(keys);
        }
        terminal.let_pass(Duration::from_millis(1000));
        assert_eq!(
            producer.replies().len(),
            1,
            "{face}: a question that was not shown was answered"
        );
        terminal.reply(true);
        // One round is enough: the terminal has read the question now.
        // The second key may have been a letter of a word.
        terminal.let_pass(Duration::from_millis(6000));
        terminal.press(accept);
        terminal.wait("to confirm");
        terminal.let_pass(Duration::from_millis(1500));
        terminal.press(confirm);
        within("the acceptance", producer.until_replies(2)).await;
    });
}

#[test]
fn no_key_answers_a_question_that_the_terminal_has_not_read() {
    a_terminal_that_reads_nothing_answers_nothing("full", "y", "c");
}

#[test]
fn no_line_answers_a_question_that_the_terminal_has_not_read() {
    a_terminal_that_reads_nothing_answers_nothing("linear", "y 2\r", "c 2\r");
}

#[test]
fn the_terminal_is_restored_on_every_way_out() {
    for (how, code) in [("quit", 0), ("interrupt key", 130), ("SIGTERM", 143)] {
        with_demo(async |running| {
            let mut terminal = Terminal::watch(80, 24, &running.url(), "full");
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
    }
}

#[test]
fn a_resize_to_the_smallest_size_keeps_the_question_in_sight() {
    with_demo(async |running| {
        let mut terminal = Terminal::watch(120, 40, &running.url(), "full");
        within("subscriber", running.producer().until_subscribed(1)).await;
        running.agents().start("transfer").unwrap();
        terminal.wait("Question 1, ");
        terminal.resize(40, 10);
        terminal.wait_until("the question in ten rows", |screen| {
            screen.lines().count() <= 10
                && screen.contains("Question 1, ")
                && phrase!("keys.accept_twice").is_in(screen)
        });
        // The cursor is on the question.
        terminal.wait_for_cursor(0);
    });
}

/// Starts a shell with job control in the terminal, and the program in it.
fn in_a_shell(url: &str, more: &str) -> Terminal {
    let mut terminal = Terminal::start_program(
        "bash",
        80,
        24,
        &["--norc", "--noprofile", "-i"],
        &[("TERM", "xterm-256color"), ("PS1", "shell> ")],
    );
    terminal.wait("shell>");
    let program = env!("CARGO_BIN_EXE_hearken");
    terminal.press(&format!(
        "{program} watch {url} --face full --voice none{more}\r"
    ));
    terminal.wait("Connected");
    terminal
}

#[test]
fn a_stop_gives_the_terminal_back_and_loses_nothing() {
    with_demo(async |running| {
        let producer = running.producer();
        let agents = running.agents();
        let url = running.url();
        let mut terminal = in_a_shell(&url, "");
        assert!(terminal.parsed().alternate_screen());
        terminal.press("\x1a");
        terminal.wait("Stopped");
        assert!(!terminal.parsed().alternate_screen());
        assert!(!terminal.parsed().hide_cursor());
        // The shell has its terminal back: typed input is echoed and run.
        terminal.press("echo $((6 * 7))\r");
        terminal.wait("42");
        within("subscriber", producer.until_subscribed(1)).await;
        agents.start("transfer").unwrap();
        within("question", producer.until_asked(1)).await;
        terminal.press("fg\r");
        terminal.wait("Question 1, ");
        assert!(terminal.parsed().alternate_screen());
        assert!(terminal.parsed().bracketed_paste());
        terminal.let_pass(Duration::from_millis(700));
        terminal.press("n");
        within("reply", producer.until_replies(1)).await;
        terminal.press("q");
        terminal.wait_until("the shell again", |screen| {
            screen.trim_end().ends_with("shell>")
        });
        assert!(!terminal.parsed().alternate_screen());
    });
}

/// Over a distant connection, a reply may come when the program is about to leave the terminal to its shell.
#[test]
fn a_reply_that_comes_late_is_not_typed_into_the_shell() {
    with_demo(async |running| {
        let producer = running.producer();
        let agents = running.agents();
        let url = running.url();
        let mut terminal = in_a_shell(&url, "");
        within("subscriber", producer.until_subscribed(1)).await;
        // Until then, a terminal may be one that never replies.
        terminal.let_pass(Duration::from_millis(500));
        terminal.reply(false);
        agents.start("question").unwrap();
        within("question", producer.until_asked(1)).await;
        terminal.wait("Question 1, ");
        terminal.press("\x1a");
        terminal.let_pass(Duration::from_millis(100));
        terminal.reply(true);
        terminal.wait("Stopped");
        terminal.press("echo $((6 * 7))\r");
        terminal.wait("42");
        let screen = terminal.screen();
        assert!(!screen.contains("[2;"), "{screen}");
    });
}

/// Runs the program in its own session, where no signal reports that its terminal hung up, takes the terminal away with
/// a question open, and returns its standard error and its exit code.
fn lose_the_terminal(face: &str) -> String {
    use std::io::Read;
    with_demo(async |running| {
        let producer = running.producer();
        let agents = running.agents();
        let url = running.url();
        let errors = tempfile::NamedTempFile::new().unwrap();
        let path = errors.path().to_string_lossy().into_owned();
        let program = env!("CARGO_BIN_EXE_hearken");
        let line = format!(
            "trap '' HUP; setsid -w {program} watch {url} --face {face} --voice none 2>{path}; echo code $? >>{path}"
        );
        let mut terminal = Terminal::start_program(
            "bash",
            80,
            24,
            &["--norc", "-c", &line],
            &[("TERM", "xterm-256color")],
        );
        within("subscriber", producer.until_subscribed(1)).await;
        agents.start("transfer").unwrap();
        within("question", producer.until_asked(1)).await;
        let mut text = String::new();
        terminal.wait("Question 1");
        terminal.hang_up();
        let until = std::time::Instant::now() + crate::support::PATIENCE;
        while !text.contains("code ") {
            assert!(std::time::Instant::now() < until, "it never ends: {text}");
            std::thread::yield_now();
            text.clear();
            std::fs::File::open(errors.path())
                .unwrap()
                .read_to_string(&mut text)
                .unwrap();
        }
        text
    })
}

#[test]
fn a_terminal_that_goes_without_a_signal_ends_the_program_and_names_the_defaults() {
    let text = lose_the_terminal("full");
    assert!(
        text.contains("hearken: Question 1 will be rejected when time runs out."),
        "{text}"
    );
    assert!(text.contains("code 143"), "{text}");
}

#[test]
fn lines_end_too_when_their_terminal_goes_without_a_signal() {
    let text = lose_the_terminal("linear");
    assert!(!text.contains("panicked"), "{text}");
}

#[test]
fn half_a_sequence_holds_nothing_up() {
    with_demo(async |running| {
        let producer = running.producer();
        let agents = running.agents();
        let mut terminal = Terminal::watch(80, 24, &running.url(), "full");
        within("subscriber", producer.until_subscribed(1)).await;
        terminal.wait("Connected");
        // Alt-[ is the beginning of a sequence that never continues.
        terminal.press("\x1b[");
        agents.start("question").unwrap();
        terminal.wait("Question 1, ");
    });
}

#[test]
fn keys_that_come_in_a_great_burst_are_all_taken() {
    with_demo(async |running| {
        let mut terminal = Terminal::watch(80, 24, &running.url(), "full");
        terminal.wait("Connected");
        // More than one read holds: the rest must not wait for the next key, when it would pass for that key.
        let burst = format!("/{}the end", "z".repeat(1500));
        terminal.press(&burst);
        terminal.wait("zzthe end");
    });
}

#[test]
fn whoever_is_ended_reads_the_defaults_where_the_pane_was() {
    with_demo(async |running| {
        let mut terminal = Terminal::watch(80, 24, &running.url(), "full");
        within("subscriber", running.producer().until_subscribed(1)).await;
        running.agents().start("transfer").unwrap();
        terminal.wait("Question 1, ");
        terminal.signal(Signal::TERM);
        assert_eq!(terminal.exit(), 143);
        assert!(!terminal.parsed().alternate_screen());
        assert!(
            terminal
                .screen()
                .contains("hearken: Question 1 will be rejected when time runs out."),
            "{}",
            terminal.screen()
        );
    });
}

#[test]
fn a_question_calls_through_the_terminal_and_is_silent_once_answered() {
    with_demo(async |running| {
        let producer = running.producer();
        let agents = running.agents();
        let mut terminal = Terminal::start_with(
            80,
            24,
            &["watch", &running.url(), "--face", "full", "--voice", "none"],
            &[("TERM", "xterm-kitty")],
        );
        within("subscriber", producer.until_subscribed(1)).await;
        agents.start("question").unwrap();
        terminal.wait("Question 1, ");
        terminal.let_pass(Duration::from_millis(700));
        let text = String::from_utf8_lossy(terminal.raw()).into_owned();
        assert!(text.contains('\x07'), "no bell: {text:?}");
        assert!(
            text.contains("\x1b]2;hearken: 1 question\x1b\\"),
            "{text:?}"
        );
        assert!(
            text.contains("d=1:p=body;Question 1 waits for your answer."),
            "{text:?}"
        );
        assert!(text.contains("\x1b[?2026h") && text.contains("\x1b[?2026l"));
        assert!(text.contains("\x1b[?1004h"));
        // The wheel of a mouse looks back, until the terminal is given back.
        assert!(text.contains("\x1b[?1007s\x1b[?1007h"));
        assert!(!text.contains("p=close"), "{text:?}");
        terminal.press("n");
        terminal.wait("Rejecting");
        within("reply", producer.until_replies(1)).await;
        terminal.press("q");
        assert_eq!(terminal.exit(), 0);
        let text = String::from_utf8_lossy(terminal.raw()).into_owned();
        assert!(text.contains("\x1b[?1007r"), "{text:?}");
        assert!(
            text.contains("\x1b]99;i=hearken-1:p=close;\x1b\\"),
            "{text:?}"
        );
        assert!(text.contains("\x1b[23;2t"), "the title is given back");
        assert!(text.contains("\x1b[?1004l"), "focus is no longer told");
    });
}

#[test]
fn lines_on_a_terminal_carry_the_marks_of_turns_and_nothing_else() {
    with_demo(async |running| {
        let config = {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            write!(file, "[screen]\nbell = false\ntitle = false\n").unwrap();
            file
        };
        let path = config.path().to_string_lossy().into_owned();
        let mut terminal = Terminal::start(
            80,
            24,
            &[
                "watch",
                &running.url(),
                "--face",
                "linear",
                "--voice",
                "none",
                "--until",
                "ended",
                "--config",
                &path,
            ],
        );
        within("subscriber", running.producer().until_subscribed(1)).await;
        running.agents().start("tool").unwrap();
        assert_eq!(terminal.exit(), 0);
        let text = String::from_utf8_lossy(terminal.raw()).into_owned();
        let start = text.find("\x1b]133;A\x1b\\").expect("no start");
        assert!(
            text[start..].contains("Session: Weather Guide is"),
            "{text:?}"
        );
        assert!(text.contains("\x1b]133;D;0\x1b\\"), "{text:?}");
    });
}

#[test]
fn a_dumb_terminal_gets_plain_lines_without_any_escape() {
    with_demo(async |running| {
        let mut terminal = Terminal::start_with(
            80,
            24,
            &[
                "watch",
                &running.url(),
                "--voice",
                "none",
                "--verbosity",
                "detailed",
                "--until",
                "ended",
            ],
            &[("TERM", "dumb")],
        );
        within("subscriber", running.producer().until_subscribed(1)).await;
        running.agents().start("tool").unwrap();
        assert_eq!(terminal.exit(), 0);
        let text = String::from_utf8_lossy(terminal.raw()).into_owned();
        assert!(
            text.contains("hearken, plain lines, because TERM is dumb or not set; no voice."),
            "{text}"
        );
        assert!(!text.contains('\x1b') && !text.contains('\x07'), "{text:?}");
    });
}

#[test]
fn plain_lines_keep_to_the_terminals_width_and_break_no_word() {
    let arguments = |width: &'static [&'static str]| {
        let demo = [
            "demo",
            "--scenario",
            "tool",
            "--face",
            "linear",
            "--voice",
            "none",
        ];
        [&demo[..], width].concat()
    };
    let rows = |width: &'static [&'static str]| {
        let mut terminal = Terminal::start(40, 40, &arguments(width));
        terminal.wait("Finished");
        let screen = terminal.screen();
        let rows = screen.lines().map(str::to_owned);
        rows.filter(|row| !row.trim().is_empty())
            .collect::<Vec<_>>()
    };
    // The terminal joins the rows that it broke itself.
    let fits = |row: &&String| row.chars().count() <= 40;
    let fitted = rows(&[]);
    assert!(fitted.iter().all(|row| fits(&row)), "{fitted:#?}");
    let whole = rows(&["--width", "0"]);
    assert!(!whole.iter().all(|row| fits(&row)), "{whole:#?}");
}
