//! Ten questions through the whole program, distinguished by ear: an offline recogniser hears only the recording.
//!
//! The demo's agent asks in a pseudo-terminal, hearken speaks through speech-dispatcher and espeak-ng, and pocketsphinx
//! picks one of the ten with a closed grammar (`recognise.py`). Each question but the first is cut by the stop key, and
//! the time until silence is measured.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use hearken::demo::{DemoAgents, DemoSettings, Scenario, serve};

use super::{PATIENCE, RATE, Recorder, SoundRig, is_loud, until};

#[allow(dead_code, reason = "not every test that shares it uses all of it")]
#[path = "../support/pty_terminal.rs"]
pub mod pty_terminal;

use pty_terminal::Terminal;

/// The demo's own question first, then nine that an agent might ask; all words are in the recogniser's dictionary.
const QUESTIONS: [&str; 10] = [
    "Move three finished notes into the folder Archive.",
    "Send an email to Laura about lunch on Friday.",
    "Delete the old pictures from the phone.",
    "Pay the electric company forty dollars.",
    "Cancel the meeting with the doctor.",
    "Order new paper for the printer.",
    "Restart the kitchen radio tonight.",
    "Share your address with the hotel.",
    "Write a short letter to your brother.",
    "Turn off the garden water at noon.",
];

/// How much of a recording the recogniser hears: the number, the risk and the longest action, with room for a busy
/// machine; the consequence of accepting comes after that.
const HEARD: Duration = Duration::from_secs(9);

/// The shortest pause between two sentences; the silence inside a word is shorter.
const PAUSE: Duration = Duration::from_millis(120);

/// How long nothing may be heard until speech counts as finished; pauses between sentences are shorter.
const QUIET: Duration = Duration::from_millis(900);

/// How long speech may continue after the stop key.
const SILENT_WITHIN: Duration = Duration::from_millis(100);

/// The same if the machine was busy elsewhere: still no more than a syllable or two.
const SILENT_AT_ALL: Duration = Duration::from_millis(500);

/// Returns the program that speaks: this build's, or the one that `HEARKEN_BINARY` names.
fn program() -> std::ffi::OsString {
    std::env::var_os("HEARKEN_BINARY").unwrap_or_else(|| env!("CARGO_BIN_EXE_hearken").into())
}

/// Builds a scenario that asks one question.
fn scenario(action: &str) -> Scenario {
    let head = serde_json::json!({
        "scenario": "candidate", "title": "A candidate", "description": "It asks one question.",
        "language": "en-US", "keywords": ["candidate"],
        "agents": [{"agent_id": "asker", "agent_version": "1.0.0", "agent_name": "Asker"}],
    });
    let start = serde_json::json!({"event": {
        "type": "aaep:agent.session.started", "summary_terse": "Started.",
        "summary_normal": "Started.", "request_text": "Ask.",
    }});
    let ask = serde_json::json!({"ask": {
        "type": "aaep:agent.awaiting.confirmation", "action": action,
        "consequence": "They leave your list. You can move them back at any time.",
        "timeout_seconds": 3600, "default_decision": "reject", "risk_level": "low",
        "irreversible": false, "reversibility": "reversible",
        "summary_terse": "May I?", "summary_normal": "May I?",
    }});
    Scenario::parse(&format!("{head}\n{start}\n{ask}\n")).unwrap()
}

/// Silences everything that is being said or waits, until nothing is heard for a while.
fn hush(terminal: &mut Terminal, recorder: &Recorder) {
    let end = Instant::now() + PATIENCE;
    loop {
        assert!(Instant::now() < end, "it never falls silent");
        terminal.press("ss");
        let from = Instant::now();
        recorder.recorded(from, QUIET / 2);
        terminal.drain();
        let settled = from + QUIET / 6;
        if recorder.loud(settled).is_empty() {
            return;
        }
    }
}

/// Returns the samples between two times.
fn between(recorder: &Recorder, from: Instant, to: Instant) -> Vec<i16> {
    let heard = recorder.heard.lock().unwrap();
    heard
        .iter()
        .filter(|chunk| chunk.at >= from && chunk.at < to)
        .flat_map(|chunk| chunk.samples.iter().copied())
        .collect()
}

/// Writes samples in the recogniser's format.
fn write(path: &Path, samples: &[i16]) {
    let bytes: Vec<u8> = samples.iter().flat_map(|it| it.to_le_bytes()).collect();
    let raw = path.with_extension("44k");
    std::fs::write(&raw, bytes).unwrap();
    let kind = ["-t", "raw", "-e", "signed", "-b", "16", "-c", "1"];
    let done = Command::new("sox")
        .args(kind)
        // Headroom for resampling.
        .args(["-v", "0.7", "-r", &RATE.to_string()])
        .arg(&raw)
        .args(kind)
        .args(["-r", "16000"])
        .arg(path)
        .status()
        .expect("sox is installed");
    assert!(done.success());
}

/// Makes the recogniser pick a candidate for each recording; `None` if it picks none.
fn recognise(folder: &Path, recordings: usize) -> Vec<Option<usize>> {
    let candidates = folder.join("candidates");
    std::fs::write(&candidates, QUESTIONS.join("\n")).unwrap();
    let venv = std::env::var("HEARKEN_PEERS").unwrap_or_else(|_| "/tmp/hearken-peers".to_owned());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/audio/recognise.py");
    let output = Command::new(format!("{venv}/bin/python"))
        .arg(script)
        .arg(&candidates)
        .args((0..recordings).map(|number| folder.join(format!("{number}.raw"))))
        .output()
        .expect("HEARKEN_PEERS has a Python with pocketsphinx; .ci/run makes it");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    eprint!("{text}");
    text.lines()
        .map(|line| line.split(' ').next().unwrap().parse().ok())
        .collect()
}

/// Returns the number of recordings whose pick is the given label.
fn score(picks: &[Option<usize>], labels: &[usize]) -> usize {
    picks
        .iter()
        .zip(labels)
        .filter(|(pick, label)| **pick == Some(**label))
        .count()
}

/// Returns the samples up to the last pause, so that no word is cut in two.
fn whole_words(samples: &[i16]) -> &[i16] {
    let pause = (PAUSE.as_millis() * u128::from(RATE) / 1000) as usize;
    let mut quiet = 0;
    for (at, sample) in samples.iter().enumerate().rev() {
        quiet = if is_loud(sample) { 0 } else { quiet + 1 };
        if quiet == pause {
            return &samples[..at + pause];
        }
    }
    samples
}

/// Asks one question and returns the time of its first sound.
fn ask(
    runtime: &tokio::runtime::Runtime,
    agents: &DemoAgents,
    terminal: &mut Terminal,
    recorder: &Recorder,
    number: usize,
) -> Instant {
    agents.hold_before("aaep:agent.awaiting.confirmation");
    let started = match number {
        0 => agents.start("question"),
        number => agents.start_scenario(scenario(QUESTIONS[number])),
    };
    started.unwrap();
    runtime.block_on(async {
        tokio::time::timeout(PATIENCE, agents.until_held())
            .await
            .expect("the question is held");
    });
    hush(terminal, recorder);
    let from = Instant::now();
    agents.resume();
    until("the question's sound", || !recorder.loud(from).is_empty());
    recorder.loud(from)[0]
}

/// How often all ten are asked if the recogniser misses more than one of them: in a recording that a busy machine
/// disrupted it hears nothing at all, but bad speech is bad every time.
const ROUNDS: usize = 2;

/// Has each question spoken and recorded; returns the recogniser's picks, and how long each stop took until silence.
fn ten_questions() -> (Vec<Option<usize>>, Vec<Duration>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let rig = SoundRig::new();
    let running = runtime
        .block_on(serve("127.0.0.1:0", DemoSettings::stepped(1)))
        .unwrap();
    let producer = running.producer().clone();
    let agents = running.agents().clone();
    let recorder = rig.record();
    let address = format!("unix_socket:{}", rig.socket().display());
    let url = running.url();
    let arguments = [
        "watch",
        &url,
        "--face",
        "full",
        "--voice",
        "speech-dispatcher",
    ];
    let environment = [("TERM", "xterm-256color"), ("SPEECHD_ADDRESS", &address)];
    let mut terminal = Terminal::start_with(100, 30, &arguments, &environment);
    terminal.wait("Voice: speech-dispatcher.");
    runtime.block_on(producer.until_subscribed(1));

    let mut silences = Vec::new();
    for number in 0..QUESTIONS.len() {
        let from = ask(&runtime, &agents, &mut terminal, &recorder, number);
        recorder.recorded(from, HEARD);
        let to = Instant::now();
        if number == 0 {
            // The demo's question is heard to its end.
            until("the end of the question", || {
                let last = recorder.loud(from).last().copied();
                last.is_some_and(|last| last.elapsed() > QUIET)
            });
            let spoken = recorder.sound(from);
            let length = spoken.len() as f64 / f64::from(RATE);
            let loud = spoken.iter().filter(|it| is_loud(it)).count() as f64 / spoken.len() as f64;
            eprintln!(
                "the demo's question: {length:.1} s, {:.0} % of it sound",
                loud * 100.0
            );
            assert!((8.0..30.0).contains(&length), "{length} s");
            assert!(loud > 0.2, "{loud}");
            // It has a minute; once answered, it gives no warning while the next ones are timed.
            terminal.press("n");
            // The demo's event may arrive before its answer to the POST.
            terminal.wait_until("the answer that went out", |screen| {
                let text = screen.replace('\n', " ");
                text.contains("Sent.") || text.contains("Settled.")
            });
        } else {
            let stopped = Instant::now();
            // Two presses are one gesture: silence, and nothing of what waits.
            terminal.press("ss");
            recorder.recorded(stopped, Duration::from_millis(500));
            let last = recorder.loud(stopped).last().copied();
            silences.push(last.map_or(Duration::ZERO, |last| last - stopped));
        }
        let sound = between(&recorder, from, to);
        let sound = whole_words(&sound);
        assert!(sound.iter().any(is_loud), "question {number} is silent");
        write(&rig.folder.join(format!("{number}.raw")), sound);
        terminal.drain();
    }
    let picks = recognise(&rig.folder, QUESTIONS.len());
    drop(terminal);
    runtime.block_on(running.stop());
    (picks, silences)
}

#[test]
fn ten_questions_are_told_apart_by_ear_and_the_stop_key_silences() {
    let right: Vec<usize> = (0..QUESTIONS.len()).collect();
    let (mut picks, mut silences) = ten_questions();
    for _ in 1..ROUNDS {
        if score(&picks, &right) >= 9 {
            break;
        }
        eprintln!("more than one was not understood; all are asked once more");
        let again = ten_questions();
        picks = again.0;
        silences.extend(again.1);
    }
    silences.sort_unstable();
    let mut told = String::new();
    for silence in &silences {
        write!(told, " {}", silence.as_millis()).unwrap();
    }
    eprintln!("stop key to silence, in ms:{told}");
    // One in nine may coincide with a machine that was busy elsewhere, as daemon, engine, sound server and recorder are
    // separate processes; a program that stops late is late more than once.
    let late = silences.iter().filter(|it| **it >= SILENT_WITHIN).count();
    assert!(late <= silences.len() / 9, "{silences:?}");
    assert!(*silences.last().unwrap() < SILENT_AT_ALL, "{silences:?}");

    let shuffled: Vec<usize> = (0..QUESTIONS.len()).map(|at| (at * 3 + 1) % 10).collect();
    let (heard, by_chance) = (score(&picks, &right), score(&picks, &shuffled));
    eprintln!("picked right: {heard} of 10; with shuffled labels: {by_chance} of 10");
    assert!(heard >= 9, "{picks:?}");
    assert!(by_chance < 9, "a scorer that takes any label is no scorer");
    assert!(by_chance <= 2, "{picks:?}");
}
