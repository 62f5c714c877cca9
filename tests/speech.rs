//! The whole program with a speech-dispatcher that fails: it stays responsive, it says so, it recovers.
//!
//! At its end, the server asserts that no client was impolite: no PAUSE, nothing on `all`, and never
//! IMPORTANT, with or without a screen reader.
// The figures are for readers of the run's output.
#![allow(clippy::print_stderr, reason = "the figures are what it is run for")]

use std::time::{Duration, Instant};

use hearken_wording::phrase;

use crate::latency::Flood;
use crate::support::child::{Hearken, command};
use crate::support::pty_terminal::Terminal;
use crate::support::scripted_ssip::{CommandAnswer, FakeSsip, Folder, WordsFate, address};
use crate::support::{with_demo, within};

/// How soon the screen reacts to a key, whatever the voice does.
const LIVE: Duration = Duration::from_millis(100);

/// Starts the pane with the scripted voice and no other.
fn pane(server: &FakeSsip, path: &str, source: &str, more: &[&str]) -> Terminal {
    let mut arguments = vec!["watch", source, "--face", "full"];
    arguments.extend(more);
    // High enough to keep everything visible that is asserted.
    Terminal::start_with(
        100,
        60,
        &arguments,
        &[
            ("TERM", "xterm-256color"),
            ("SPEECHD_ADDRESS", &address(server)),
            ("PATH", path),
        ],
    )
}

/// Presses a key that changes the screen, there and back, and asserts that each change is seen in time.
///
/// A machine that is busy with other things reacts late to one press, but not to most of them.
fn assert_live(terminal: &mut Terminal, when: &str) {
    let mut times = Vec::new();
    for _ in 0..4 {
        // The search line appears and disappears: the last row names the keys.
        for (key, shown) in [("/", true), ("\x1b", false)] {
            let pressed = Instant::now();
            terminal.press(key);
            terminal.wait_until("the keys' change", |screen| {
                let last = screen.trim_end().lines().last().unwrap_or_default();
                last.contains("Escape") == shown
            });
            times.push(pressed.elapsed());
        }
    }
    times.sort_unstable();
    eprintln!(
        "{when}: key to screen {:?} at the median, {:?} at worst",
        times[4], times[7]
    );
    assert!(times[4] < LIVE, "{when}: {times:?}");
}

/// Plays one fault in the middle of a session: the voice works, the fault occurs, the person is told, the
/// pane stays responsive throughout, and the voice recovers.
fn lost_and_back(name: &str, fault: impl FnOnce(&FakeSsip), mend: impl FnOnce(&FakeSsip)) {
    with_demo(async |running| {
        let server = FakeSsip::start();
        let mut terminal = pane(&server, "/nonexistent", &running.url(), &[]);
        terminal.wait("Voice: speech-dispatcher.");
        fault(&server);
        // A word to say, so that a mute server is noticed.
        terminal.press("t");
        assert_live(&mut terminal, name);
        terminal.wait("The voice is lost");
        assert_live(&mut terminal, name);
        mend(&server);
        terminal.wait("The voice is back: speech-dispatcher.");
        assert_live(&mut terminal, name);
        // New words are heard again.
        server.speech(WordsFate::Ends);
        let before = server.wait("what was said", |_, messages| Some(messages.len()));
        terminal.press("s");
        terminal.press("t");
        server.wait("a status", |_, messages| {
            messages[before..]
                .iter()
                .any(|message| message.text.contains("othing is running"))
                .then_some(())
        });
        let screen = terminal.screen();
        assert_eq!(screen.matches("The voice is lost").count(), 1, "{screen}");
        assert_eq!(screen.matches("The voice is back").count(), 1, "{screen}");
        terminal.press("q");
        assert_eq!(terminal.exit(), 0);
    });
}

#[test]
fn a_killed_voice_is_told_and_comes_back_while_the_pane_is_live() {
    lost_and_back("killed", FakeSsip::die, FakeSsip::listen);
}

#[test]
fn a_mute_voice_is_told_and_comes_back_while_the_pane_is_live() {
    lost_and_back(
        "mute",
        |server| server.answer("", CommandAnswer::Nothing),
        |server| server.answer_as_usual(""),
    );
}

#[test]
fn a_voice_that_talks_garbage_is_told_and_comes_back_while_the_pane_is_live() {
    lost_and_back(
        "garbage",
        |server| server.send(b"\xff\xfe\x00 not a reply\r\n"),
        |_| {},
    );
}

#[test]
fn a_slow_voice_keeps_no_key_waiting_and_is_no_loss() {
    with_demo(async |running| {
        let server = FakeSsip::start();
        let mut terminal = pane(&server, "/nonexistent", &running.url(), &[]);
        terminal.wait("Voice: speech-dispatcher.");
        server.speech(WordsFate::Ends);
        server.answer("SPEAK", CommandAnswer::Held);
        terminal.press("t");
        server.wait_held();
        assert_live(&mut terminal, "slow");
        server.answer_as_usual("SPEAK");
        server.release();
        // The keys cut the waiting words; the responses to the keys are said.
        server.wait("the words after them", |_, messages| {
            messages
                .iter()
                .any(|message| phrase!("search.left").is_in(&message.text))
                .then_some(())
        });
        assert!(!terminal.screen().contains("lost"), "{}", terminal.screen());
    });
}

#[test]
fn a_daemon_that_is_mute_from_the_start_is_told_and_another_program_speaks() {
    with_demo(async |running| {
        let producer = running.producer();
        let agents = running.agents();
        let server = FakeSsip::start();
        server.answer("", CommandAnswer::Nothing);
        let folder = Folder::new();
        let heard = folder.path("heard");
        let cat = "/bin/cat";
        folder.program("espeak-ng", &format!("{cat} >> {}", heard.display()));
        let path = folder.0.to_string_lossy().into_owned();
        let url = running.url();
        let mut terminal = pane(&server, &path, &url, &[]);
        within("subscriber", producer.until_subscribed(1)).await;
        assert_live(&mut terminal, "mute from the start");
        terminal.wait("Voice: espeak-ng.");
        terminal.wait("speech-dispatcher does not answer");
        agents.start("question").unwrap();
        within("question", producer.until_asked(1)).await;
        let until = Instant::now() + crate::support::PATIENCE;
        while !std::fs::read_to_string(&heard)
            .is_ok_and(|text| text.contains("Move three finished notes"))
        {
            assert!(Instant::now() < until, "the question was never said");
            terminal.let_pass(Duration::from_millis(20));
        }
    });
}

#[test]
fn without_any_voice_it_says_so_in_words_and_questions_can_be_answered() {
    with_demo(async |running| {
        let producer = running.producer();
        let agents = running.agents();
        let server = FakeSsip::absent();
        let url = running.url();
        let mut terminal = { pane(&server, "/nonexistent", &url, &["--voice", "auto"]) };
        within("subscriber", producer.until_subscribed(1)).await;
        terminal.wait("No voice on this machine.");
        agents.start("question").unwrap();
        within("question", producer.until_asked(1)).await;
        terminal.wait("Question 1, ");
        assert!(terminal.raw().contains(&b'\x07'), "the bell rings instead");
        terminal.let_pass(Duration::from_millis(600));
        terminal.press("y");
        terminal.wait("Accepting");
        within("reply", producer.until_replies(1)).await;
    });
}

/// Each loss and each return is one announcement, and with a screen reader running only MESSAGE and lower
/// priorities are used; the server asserts the rest when it ends.
#[test]
fn each_loss_and_each_return_is_announced_once_and_the_reader_is_never_cancelled() {
    with_demo(async |running| {
        let producer = running.producer();
        let agents = running.agents();
        let server = FakeSsip::start();
        server.speech(WordsFate::Ends);
        let url = running.url();
        let at = address(&server);
        let mut child = Hearken::spawn(
            command(&[
                "watch",
                &url,
                "--face",
                "json",
                "--voice",
                "speech-dispatcher",
            ])
            .env("HEARKEN_SCREEN_READER", "yes")
            .env("SPEECHD_ADDRESS", &at)
            .env("PATH", "/nonexistent"),
        );
        within("subscriber", producer.until_subscribed(1)).await;
        child.wait("a voice", |line| line.contains("Voice: speech-dispatcher."));
        for _ in 0..2 {
            server.die();
            child.wait("a loss", |line| phrase!("voice.lost").is_in(line));
            server.listen();
            child.wait("a return", |line| phrase!("voice.back").is_in(line));
        }
        agents.start("question").unwrap();
        within("question", producer.until_asked(1)).await;
        server.wait("the question", |_, messages| {
            messages
                .iter()
                .any(|message| message.text.contains("Move three finished notes"))
                .then_some(())
        });
        child.say("q");
        child.say("q");
        let (_, _, lines) = child.exit();
        for words in ["The voice is lost", "The voice is back"] {
            let told = lines.iter().filter(|line| line.contains(words)).count();
            assert_eq!(told, 2, "{words}: {lines:#?}");
        }
        let commands = server.commands();
        assert!(
            commands
                .iter()
                .any(|line| line == "SET SELF PRIORITY MESSAGE")
        );
        for word in ["PAUSE", "IMPORTANT"] {
            assert!(!commands.iter().any(|line| line.contains(word)), "{word}");
        }
        // The choice of events concerns only us; any other command on ALL would affect other clients.
        let rude = |line: &&String| {
            line.to_lowercase().contains(" all") && !line.starts_with("SET SELF NOTIFICATION ")
        };
        assert_eq!(commands.iter().find(rude), None);
    });
}

/// From the key in the terminal to the stop command on the daemon's socket, through the whole program,
/// while 10,000 events a second arrive.
///
/// A release build on an idle machine must meet the real limit, as requested by .ci/run; a debug build
/// alongside other tests must merely stay near it.
#[test]
fn a_stop_key_is_on_the_socket_in_time_under_a_flood() {
    let released = std::env::var_os("HEARKEN_BINARY").is_some();
    // A debug build among other tests is judged by its median: they occupy the machine for most of a
    // second.
    let all = std::env::var_os("HEARKEN_ALL_RUNS").is_some();
    let (rounds, bound, rate) = match (released, all) {
        (true, true) => (200, Duration::from_millis(10), crate::latency::ISSUE.0),
        (true, false) => (100, Duration::from_millis(10), crate::latency::ISSUE.0),
        (false, _) => (20, Duration::from_millis(100), 1000),
    };
    let server = FakeSsip::start();
    let flood = Flood::start(rate);
    let mut terminal = pane(&server, "/nonexistent", &flood.url, &[]);
    // The line about it is gone before it could be seen; the status stays.
    terminal.wait("voice: speech-dispatcher");
    // A machine that is busy once is not busy three times in a row.
    let mut best = Duration::MAX;
    let mut stops = 0;
    let mut begun = 0;
    for _ in 0..3 {
        let mut times = Vec::new();
        for _ in 0..rounds {
            // Something new is being said.
            begun = server.wait("an utterance", |_, messages| {
                let spoken = messages
                    .iter()
                    .filter(|message| !message.text.trim().is_empty());
                (spoken.clone().count() > begun && !spoken.clone().next_back()?.over)
                    .then(|| spoken.count())
            });
            let before = server.count("CANCEL SELF");
            stops = stops.max(before) + 1;
            let pressed = Instant::now();
            terminal.press("s");
            let line = server.wait_command("CANCEL SELF", stops);
            times.push(line.at.saturating_duration_since(pressed));
            terminal.drain();
        }
        times.sort_unstable();
        let (median, p99, worst) = (
            times[rounds / 2],
            times[rounds * 99 / 100 - 1],
            times[rounds - 1],
        );
        eprintln!("key to the stop on the socket: median {median:?}, p99 {p99:?}, worst {worst:?}");
        best = best.min(if released { p99 } else { median });
        if best < bound {
            break;
        }
    }
    assert!(best < bound, "{best:?}, wanted under {bound:?}");
}
