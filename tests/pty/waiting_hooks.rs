//! Random hands at the real program while hooks of programs wait whose own terminals ask nothing meanwhile: Codex,
//! Copilot CLI, Qwen Code and Gemini CLI, by the real relay. The program is stopped, killed and hung on the way.
//!
//! What its recordings say is compared with what each hook printed, and when it ended: no decision of the person is
//! lost or given twice, none is invented, each acceptance has its keys, and no hook waits longer than its limit, after
//! which the program's own terminal asks.

#![allow(clippy::print_stderr, reason = "the figures are what it is run for")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{AnswerModel, HANDED_OVER, roll};
use crate::hands::HandsDice;
use crate::support::PATIENCE;
use crate::support::hook_relays::{HooksFolder, STATE, printed};
use crate::support::pty_terminal::Terminal;

/// After how long a question goes back to its own terminal: the shortest time that can be set.
const HAND_BACK: Duration = Duration::from_secs(10);
/// How long a hook may wait, whatever happens: that time, the relay's margin, and the time that a busy machine takes.
const LIMIT: Duration = Duration::from_secs(20);
/// How long it may wait once the program is gone.
const GONE: Duration = Duration::from_secs(5);
/// How soon a hook is asked about.
const TO_ASK: Duration = Duration::from_secs(3);
/// How many hooks wait at a time.
const MOST: usize = 3;
/// The required number of decisions, per number of seconds.
const ENOUGH: (u64, u64) = (8, 300);

/// The programs, each with the words for its relay.
const SENDERS: [(&str, &[&str]); 4] = [
    ("codex", &["codex"]),
    ("copilot", &["copilot", "permissionRequest"]),
    ("qwen", &["qwen"]),
    ("gemini", &["gemini"]),
];

/// Returns the message with which a conversation of a program asks about a call.
fn asks(agent: &str, conversation: usize, n: u64) -> Value {
    let conversation = format!("s{conversation}");
    let input = json!({"command": format!("touch f{n}.txt")});
    match agent {
        "copilot" => {
            json!({"sessionId": conversation, "cwd": "/work/a", "toolName": "bash", "toolInput": input})
        }
        "codex" => {
            json!({"session_id": conversation, "cwd": "/work/a", "hook_event_name": "PermissionRequest",
            "tool_name": "Bash", "tool_input": input})
        }
        "qwen" => {
            json!({"session_id": conversation, "cwd": "/work/a", "hook_event_name": "PermissionRequest",
            "tool_name": "run_shell_command", "tool_input": input})
        }
        _ => json!({"session_id": conversation, "cwd": "/work/a", "hook_event_name": "BeforeTool",
            "tool_name": "run_shell_command", "tool_input": input}),
    }
}

/// How a hook ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HookEnd {
    /// It decided nothing, so the program's own terminal asks.
    Left,
    Allowed,
    Denied,
}

/// Reads what a hook printed, which is one decision in its program's form, or nothing.
fn end(agent: &str, printed: &str) -> HookEnd {
    if printed.is_empty() {
        return HookEnd::Left;
    }
    let said: Value =
        serde_json::from_str(printed).unwrap_or_else(|_| panic!("{agent}: {printed}"));
    let decision = match agent {
        "copilot" => &said["behavior"],
        "gemini" => &said["decision"],
        _ => &said["hookSpecificOutput"]["decision"]["behavior"],
    };
    match decision.as_str() {
        Some("allow") => HookEnd::Allowed,
        Some("deny") => HookEnd::Denied,
        _ => panic!("{agent}: {printed}"),
    }
}

/// A hook that waits.
struct WaitingHook {
    began: Instant,
    /// Its conversation, in which no other hook waits: questions of one are asked one after the other.
    conversation: usize,
    /// Whether the program hung meanwhile.
    hung: bool,
    /// When the program that it waits for went away.
    left_alone: Option<Instant>,
}

/// How a hook ended, as far as the recording must show it.
#[derive(Debug, Clone, Copy)]
struct HowEnded {
    end: HookEnd,
    /// Whether there was time to ask about it.
    had_time: bool,
    /// Whether an answer may have come too late for it, because the program hung or went away.
    was_left: bool,
}

/// A hook that is over.
struct EndedHook {
    n: u64,
    end: HookEnd,
    at: Instant,
}

/// The program, its recording, and the hooks that were asked about in it.
struct HookedRun {
    terminal: Terminal,
    record: PathBuf,
    /// The hooks that began in it, each with its end.
    hooks: BTreeMap<u64, Option<HowEnded>>,
}

struct HookedRig {
    place: HooksFolder,
    run: HookedRun,
    runs: usize,
    hands: AnswerModel,
    waiting: BTreeMap<u64, WaitingHook>,
    ended: Receiver<EndedHook>,
    sender: Sender<EndedHook>,
    asked: u64,
    keys: u64,
    allowed: u64,
    denied: u64,
    left: u64,
    late: u64,
    misfortunes: [u64; 3],
    faults: Vec<String>,
}

fn start(place: &Path, number: usize) -> HookedRun {
    let record = place.join(format!("run{number}.jsonl"));
    let config = place.join("config.toml");
    let arguments = [
        "watch",
        "hooks",
        "--face",
        "full",
        "--voice",
        "none",
        "--config",
        config.to_str().unwrap(),
        "--record",
        record.to_str().unwrap(),
    ];
    let environment = [("TERM", "xterm-256color"), (STATE, place.to_str().unwrap())];
    let mut terminal = Terminal::start_with(100, 30, &arguments, &environment);
    terminal.wait("Connected");
    HookedRun {
        terminal,
        record,
        hooks: BTreeMap::new(),
    }
}

impl HookedRig {
    fn new() -> Self {
        let place = HooksFolder::new();
        let settings = format!(
            "[links]\nhand_back_seconds = {}\ngemini_waits = true\n",
            HAND_BACK.as_secs()
        );
        std::fs::write(place.path().join("config.toml"), settings).unwrap();
        let run = start(place.path(), 0);
        let (sender, ended) = channel();
        Self {
            place,
            run,
            runs: 1,
            hands: AnswerModel::default(),
            waiting: BTreeMap::new(),
            ended,
            sender,
            asked: 0,
            keys: 0,
            allowed: 0,
            denied: 0,
            left: 0,
            late: 0,
            misfortunes: [0; 3],
            faults: Vec::new(),
        }
    }

    /// Has a program ask.
    fn ask(&mut self, dice: &mut HandsDice) {
        self.asked += 1;
        let (n, (agent, words)) = (self.asked, dice.pick(&SENDERS));
        let is_free = |it: &usize| !self.waiting.values().any(|hook| hook.conversation == *it);
        let conversation = (0..=MOST).find(is_free).unwrap();
        let child = self.place.relay(words, &asks(agent, conversation, n));
        let began = Instant::now();
        let sender = self.sender.clone();
        std::thread::spawn(move || {
            let mut child = child;
            // One that hangs is ended long after the time at which that is a fault.
            while child.try_wait().unwrap().is_none() && began.elapsed() < LIMIT * 2 {
                std::thread::sleep(Duration::from_millis(5));
            }
            let at = Instant::now();
            let _ = child.kill();
            let output = child.wait_with_output().unwrap();
            let end = match began.elapsed() < LIMIT * 2 {
                true => end(agent, &printed(&output)),
                false => HookEnd::Left,
            };
            let _ = sender.send(EndedHook { n, end, at });
        });
        let hook = WaitingHook {
            began,
            conversation,
            hung: false,
            left_alone: None,
        };
        self.waiting.insert(n, hook);
        self.run.hooks.insert(n, None);
    }

    /// Judges the hooks that ended, and those that have waited too long.
    fn judge(&mut self) {
        while let Ok(over) = self.ended.try_recv() {
            let hook = self.waiting.remove(&over.n).unwrap();
            let waited = over.at - hook.began;
            let alone = hook
                .left_alone
                .map(|since| over.at.saturating_duration_since(since));
            if waited > LIMIT || alone.is_some_and(|alone| alone > GONE) {
                self.faults
                    .push(format!("{} waited {waited:?}, {alone:?} alone", over.n));
            }
            match over.end {
                HookEnd::Left => self.left += 1,
                HookEnd::Denied => self.denied += 1,
                HookEnd::Allowed => {
                    self.allowed += 1;
                    if let Err(why) = self.hands.explain(true, over.at) {
                        self.faults.push(format!("{} allowed: {why}", over.n));
                    }
                }
            }
            if let Some(ended) = self.run.hooks.get_mut(&over.n) {
                *ended = Some(HowEnded {
                    end: over.end,
                    had_time: waited > TO_ASK && !hook.hung,
                    was_left: hook.hung || alone.is_some(),
                });
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        self.keys += 1;
        let earliest = Instant::now();
        let sight = self.waiting.values().map(|it| it.began).min();
        self.run.terminal.send(bytes);
        loop {
            self.run.terminal.let_pass(Duration::from_millis(5));
            if self.run.terminal.unread() == 0 {
                break;
            }
            let screen = self.run.terminal.screen();
            assert!(
                earliest.elapsed() < PATIENCE,
                "it reads nothing any more:\n{screen}"
            );
        }
        let latest = Instant::now() + HANDED_OVER;
        self.hands
            .write(bytes, earliest, latest, sight.unwrap_or(earliest));
        self.judge();
    }

    fn wait(&mut self, time: u64) {
        let until = Instant::now() + Duration::from_millis(time);
        while Instant::now() < until {
            let rest = until.saturating_duration_since(Instant::now());
            self.run
                .terminal
                .let_pass(rest.min(Duration::from_millis(50)));
            self.judge();
        }
    }

    /// Waits until no hook waits any more.
    fn wait_for_all(&mut self) {
        let until = Instant::now() + LIMIT * 3;
        while !self.waiting.is_empty() && Instant::now() < until {
            self.wait(50);
        }
        let left: Vec<&u64> = self.waiting.keys().collect();
        assert!(left.is_empty(), "{left:?} never ended");
    }

    /// Answers as documented; not always with enough patience.
    fn answer(&mut self, dice: &mut HandsDice) {
        for bytes in [&b"\x1b[201~"[..], b"\x1b", b"\x1b"] {
            self.write(bytes);
            self.wait(60);
        }
        self.wait(dice.pick(&[380, 450, 700, 1000]));
        if dice.one_in(3) {
            self.write(b"n");
        } else {
            self.write(b"y");
            self.wait(dice.pick(&[140, 160, 250, 600]));
            self.write(b"c");
        }
        self.wait(200);
    }

    /// Lets the program hang for a while: at times for so long that each hook has to go on without it.
    fn hang(&mut self, dice: &mut HandsDice) {
        self.misfortunes[0] += 1;
        self.run.terminal.signal(Signal::STOP);
        self.waiting.values_mut().for_each(|hook| hook.hung = true);
        if dice.one_in(3) {
            self.ask(dice);
            self.waiting.values_mut().for_each(|hook| hook.hung = true);
            self.wait_for_all();
        } else {
            self.wait(dice.pick(&[300, 1000, 2500]));
        }
        self.waiting.values_mut().for_each(|hook| hook.hung = true);
        self.run.terminal.signal(Signal::CONT);
        self.wait(300);
    }

    /// Stops the program or kills it, compares its recording with the hooks, and starts it anew.
    fn begin_anew(&mut self, kills: bool) {
        self.misfortunes[1 + usize::from(kills)] += 1;
        let signal = match kills {
            true => Signal::KILL,
            false => Signal::TERM,
        };
        self.run.terminal.signal(signal);
        let now = Instant::now();
        for hook in self.waiting.values_mut() {
            hook.left_alone = Some(now);
        }
        self.wait_for_all();
        self.run.terminal.exit();
        self.account(kills);
        self.run = start(self.place.path(), self.runs);
        self.runs += 1;
    }

    /// Compares the recording of a run with how its hooks ended.
    fn account(&mut self, is_killed: bool) {
        let read = |path: &Path| -> Vec<Value> {
            let text = std::fs::read_to_string(path).unwrap();
            // A program that is killed may have written half of its last line.
            let lines = text.lines().map(serde_json::from_str);
            lines.map_while(Result::ok).collect()
        };
        let events = read(&self.run.record);
        let mut meta = self.run.record.clone().into_os_string();
        meta.push(".meta.jsonl");
        let meta = read(Path::new(&meta));
        let file = |text: &Value| -> Option<u64> {
            let text = text.as_str()?;
            text.strip_prefix("touch f")?
                .strip_suffix(".txt")?
                .parse()
                .ok()
        };
        let asked = events
            .iter()
            .filter(|it| it["type"] == "aaep:agent.awaiting.confirmation");
        let were_asked: BTreeSet<u64> = asked.filter_map(|it| file(&it["action"])).collect();
        // The person's answers that were written, by the hook that they answer.
        let mut decided: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        let of_kind = |kind: &'static str| meta.iter().filter(move |it| it["kind"] == kind);
        for reply in of_kind("reply") {
            let line = usize::try_from(reply["asked"].as_u64().unwrap()).unwrap();
            let n = file(&events[line - 1]["action"]).unwrap();
            let is_it = |it: &&Value| it["request"] == reply["request"];
            if of_kind("replied")
                .find(is_it)
                .is_some_and(|it| it["arrived"] == "written")
            {
                let decision = reply["body"]["decision"].as_str().unwrap().to_owned();
                decided.entry(n).or_default().push(decision);
            }
        }
        for (n, end) in &self.run.hooks {
            let decisions = decided.get(n).map_or(&[][..], Vec::as_slice);
            let HowEnded {
                end,
                had_time,
                was_left,
            } = end.unwrap();
            if had_time && !is_killed && !were_asked.contains(n) {
                self.faults.push(format!("{n} was not asked"));
            }
            let fits = match (decisions, end) {
                ([], HookEnd::Left) => true,
                // What it recorded last may be missing.
                ([], HookEnd::Allowed | HookEnd::Denied) => is_killed,
                ([one], HookEnd::Allowed) => one == "accept",
                ([one], HookEnd::Denied) => one == "reject",
                ([one], HookEnd::Left) => {
                    // Handed back by the person, or its hook was gone already, which is said.
                    let decides = one == "accept" || one == "reject";
                    self.late += u64::from(decides);
                    !decides || was_left
                }
                _ => false,
            };
            if !fits {
                self.faults
                    .push(format!("{n} ended {end:?}, answered {decisions:?}"));
            }
        }
    }
}

#[test]
#[ignore = "takes minutes: .ci/run plays a part and .ci/deep all of it"]
fn no_hook_is_lost_answered_twice_or_left_hanging_among_random_hands() {
    let seconds = std::env::var("HEARKEN_PTY_SECONDS").map_or(300, |it| it.parse().unwrap());
    let seed = std::env::var("HEARKEN_FUZZ_SEED").map_or(2026, |seed| seed.parse().unwrap());
    let mut dice = HandsDice(seed);
    let mut rig = HookedRig::new();
    let until = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < until {
        if rig.waiting.len() < MOST && dice.one_in(3) {
            rig.ask(&mut dice);
        }
        match dice.below(60) {
            0 => rig.hang(&mut dice),
            1 => rig.begin_anew(false),
            2 => rig.begin_anew(true),
            3..=18 => rig.answer(&mut dice),
            _ => {
                let bytes = roll(&mut dice);
                if !bytes.is_empty() {
                    rig.write(&bytes);
                }
                rig.wait(dice.pick(&[0, 60, 150, 300, 420, 710]));
            }
        }
    }
    rig.begin_anew(false);
    eprintln!(
        "{seconds} seconds, {} writes, {} hooks: {} allowed, {} denied, {} left to their terminals; hung {} times, stopped \
         {}, killed {}; {} answers too late, {} faults",
        rig.keys,
        rig.asked,
        rig.allowed,
        rig.denied,
        rig.left,
        rig.misfortunes[0],
        rig.misfortunes[1],
        rig.misfortunes[2],
        rig.late,
        rig.faults.len()
    );
    assert!(rig.faults.is_empty(), "{}", rig.faults.join("\n"));
    assert!(
        rig.allowed + rig.denied > ENOUGH.0 * seconds / ENOUGH.1,
        "only {} decisions",
        rig.allowed + rig.denied
    );
}
