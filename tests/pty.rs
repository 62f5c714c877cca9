//! Random hands at the real program in a pseudo-terminal, against a server that asks one question after the
//! other, and with an agent below that wants one permission after the other: every acceptance that arrives
//! there must be explained by what was written to the terminal, and when.
//!
//! A real clock can't be explained to the millisecond. Input is read after its write began, and before the
//! terminal was seen empty and before the answer arrived: an acceptance is unexplained only if no time in
//! between could justify it. So no slow machine causes a false alarm, and a key that answers sooner than
//! docs/questions.md allows still fails. Keys that quit or leave the source are not sent.

#![allow(clippy::print_stderr, reason = "the figures are what it is run for")]

mod waiting_hooks;

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::hands::{HandsDice, SENT};
use crate::latency::{Flood, event};
use crate::support::PATIENCE;
use crate::support::pty_terminal::Terminal;

const ARM: Duration = Duration::from_millis(400);
const APART: Duration = Duration::from_millis(150);
const HELD: Duration = Duration::from_millis(700);
const UNFINISHED: Duration = Duration::from_millis(100);
/// The kernel passes on a write a little after the write returns, and the program looks at its clock a little
/// after it reads.
const HANDED_OVER: Duration = Duration::from_millis(100);
/// An answer that arrives this long after a key was read is not that key's.
const ANSWERS_WITHIN: Duration = Duration::from_secs(2);
/// The required number of acceptances, per number of seconds.
const ENOUGH: (u64, u64) = (20, 300);

const PASTE: &[u8] = b"\x1b[200~";
const LOOKS_AWAY: &[u8] = b"\x1b[O";
const RELEASES: [&[u8]; 2] = [b"\x1b[121;1:3u", b"\x1b[99;1:3u"];
const REPEATED: &[u8] = b"\x1b[121;1:2u";

/// Input written at a time, and the earliest and the latest time at which it was read.
struct WrittenInput {
    earliest: Instant,
    latest: Instant,
    bytes: Vec<u8>,
    /// The earliest time at which the question then open became visible.
    sight: Instant,
}

/// What the documentation says about an answer, as far as bytes and time bounds can tell.
#[derive(Default)]
struct AnswerModel {
    written: Vec<WrittenInput>,
}

impl AnswerModel {
    fn write(&mut self, bytes: &[u8], earliest: Instant, latest: Instant, sight: Instant) {
        // A loss of focus is not a hand at work.
        let mut bytes = bytes.to_vec();
        while let Some(from) = bytes.windows(3).position(|it| it == LOOKS_AWAY) {
            bytes.drain(from..from + 3);
        }
        if !bytes.is_empty() {
            self.written.push(WrittenInput {
                earliest,
                latest,
                bytes,
                sight,
            });
        }
    }

    /// Returns why no key can have accepted, for an answer that arrived at a given time.
    fn explain(&self, two_steps: bool, arrived: Instant) -> Result<(), String> {
        let mut why = String::new();
        for last in (0..self.written.len()).rev() {
            let written = &self.written[last];
            if written.earliest > arrived {
                continue;
            }
            if arrived > written.latest + ANSWERS_WITHIN {
                break;
            }
            let explained = if two_steps {
                self.second_step(last, arrived)
            } else {
                self.first_step(last, arrived)
            };
            match explained {
                Ok(()) => return Ok(()),
                Err(reason) => {
                    why.push_str(&format!("{}: {reason}; ", written.bytes.escape_ascii()));
                }
            }
        }
        Err(why)
    }

    /// Checks whether `y` can have been read as the first key after a quiet time, before a given time.
    fn first_step(&self, at: usize, before: Instant) -> Result<(), String> {
        let written = &self.written[at];
        let read = written.latest.min(before);
        if !matches!(written.bytes[0], b'y' | b'Y') {
            return Err("no key that accepts".into());
        }
        if self.is_pasted(at) {
            return Err("it was pasted".into());
        }
        if read < written.sight + ARM {
            return Err(format!("in sight for {:?}", read - written.sight));
        }
        let Some(previous) = at.checked_sub(1).map(|at| &self.written[at]) else {
            return Ok(());
        };
        let quiet = read.saturating_duration_since(previous.earliest);
        if quiet < ARM {
            return Err(format!("quiet for {quiet:?}"));
        }
        // Right after half a sequence it may have been no key, but the rest of the sequence.
        let whole = at
            .checked_sub(2)
            .is_none_or(|at| previous.earliest >= self.written[at].latest + UNFINISHED);
        let key = matches!(previous.bytes[..], [b'y' | b'Y']) && !self.is_pasted(at - 1);
        if key && whole && quiet < HELD {
            return Err(format!("perhaps held, {quiet:?} after the same key"));
        }
        Ok(())
    }

    /// Checks whether a `c` in the last input can have confirmed an earlier `y`.
    fn second_step(&self, last: usize, arrived: Instant) -> Result<(), String> {
        let end = &self.written[last];
        let read = end.latest.min(arrived);
        let mut why = "no second step is there".to_owned();
        for place in (0..end.bytes.len()).filter(|at| matches!(end.bytes[*at], b'c' | b'C')) {
            for first in (0..last).rev() {
                let begin = &self.written[first];
                let apart = read.saturating_duration_since(begin.earliest);
                let explained = if apart < APART {
                    Err(format!("{apart:?} apart"))
                } else {
                    self.first_step(first, read - APART)
                        .and_then(|()| self.nothing_between(first, last, place))
                };
                match explained {
                    Ok(()) => return Ok(()),
                    Err(reason) => why = reason,
                }
            }
        }
        Err(why)
    }

    /// Checks that between the steps there are only repeats of the key, and releases.
    fn nothing_between(&self, first: usize, last: usize, place: usize) -> Result<(), String> {
        let mut held = self.written[first].latest;
        for at in first..=last {
            let written = &self.written[at];
            let from = usize::from(at == first);
            let to = if at == last {
                place
            } else {
                written.bytes.len()
            };
            let mut between = written.bytes.get(from..to).unwrap_or_default();
            while let Some(first) = between.first() {
                if matches!(first, b'y' | b'Y')
                    && written.earliest.saturating_duration_since(held) < HELD
                {
                    between = &between[1..];
                    held = written.latest;
                } else if let Some(rest) = between.strip_prefix(REPEATED) {
                    between = rest;
                    held = written.latest;
                } else if let Some(rest) = RELEASES.iter().find_map(|it| between.strip_prefix(*it))
                {
                    between = rest;
                } else {
                    return Err(format!("{} in between", between.escape_ascii()));
                }
            }
        }
        Ok(())
    }

    /// Returns whether the input follows the beginning of a paste, which swallows everything at least until
    /// something begins with Escape.
    fn is_pasted(&self, at: usize) -> bool {
        for written in self.written[..at].iter().rev() {
            let bytes = &written.bytes;
            if let Some(last) = bytes.iter().rposition(|byte| matches!(byte, 0x1b | 3)) {
                return bytes[last..].starts_with(PASTE);
            }
        }
        false
    }
}

/// An agent that runs below the program: its standard input and output end here, through a socket.
struct AgentPipes {
    lines: TcpStream,
    answers: Receiver<(Instant, Value)>,
}

impl AgentPipes {
    /// Returns the program, with the agent below it and its conversation open.
    fn start() -> (Terminal, Self) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let agent = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; cat <&3 & exec cat >&3");
        let arguments = [
            "run", "--face", "full", "--voice", "none", "--", "bash", "-c", &agent,
        ];
        let mut terminal = Terminal::start(100, 30, &arguments);
        let (lines, _) = listener.accept().unwrap();
        let (sender, answers) = channel();
        let mut back = lines.try_clone().unwrap();
        std::thread::spawn(move || {
            let read = BufReader::new(back.try_clone().unwrap()).lines();
            for line in read.map_while(Result::ok) {
                let arrived = Instant::now();
                let message: Value = serde_json::from_str(&line).unwrap();
                let result = match message["method"].as_str() {
                    Some("initialize") => json!({"protocolVersion": 1}),
                    Some("session/new") => json!({"sessionId": "s"}),
                    // A typed prompt is accepted, and never carried out.
                    Some(_) => continue,
                    None => {
                        if sender.send((arrived, message)).is_err() {
                            return;
                        }
                        continue;
                    }
                };
                let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
                if writeln!(back, "{answer}").is_err() {
                    return;
                }
            }
        });
        terminal.wait("The agent is ready.");
        (terminal, Self { lines, answers })
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.lines, "{message}").unwrap();
    }

    fn wants(&mut self, n: u64) {
        let option = |id: &str, kind: &str| json!({"optionId": id, "name": id, "kind": kind});
        let options = [option("once", "allow_once"), option("no", "reject_once")];
        let command = json!({"command": format!("touch f{n}")});
        let call = json!({"toolCallId": format!("c{n}"), "kind": "execute", "rawInput": command});
        let params = json!({"sessionId": "s", "toolCall": call, "options": options});
        self.say(&json!({"jsonrpc": "2.0", "id": n, "method": "session/request_permission", "params": params}));
    }

    fn is_done(&mut self, n: u64) {
        let update = json!({"sessionUpdate": "tool_call_update", "status": "completed", "toolCallId": format!("c{n}")});
        let params = json!({"sessionId": "s", "update": update});
        self.say(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}));
    }
}

/// Asks one question after the other.
enum QuestionServer {
    Producer(Flood),
    Agent(AgentPipes),
}

/// What arrived as an answer.
struct ArrivedAnswer {
    arrived: Instant,
    /// Whether it answers the question that is open.
    is_of_it: bool,
    accepts: bool,
    words: String,
}

impl QuestionServer {
    fn reply(&self, asked: u64) -> Option<ArrivedAnswer> {
        let (arrived, reply, is_of_it, accepts) = match self {
            Self::Producer(flood) => {
                let (arrived, reply) = flood.replies.try_recv().ok()?;
                let is_of_it = reply["reply_token"] == format!("rpl_{asked}").as_str();
                let accepts = reply["decision"] == "accept";
                (arrived, reply, is_of_it, accepts)
            }
            Self::Agent(below) => {
                let (arrived, reply) = below.answers.try_recv().ok()?;
                let chosen = reply["result"]["outcome"]["optionId"].clone();
                // Anything but a plain rejection is a permission, or something unintended.
                (arrived, reply.clone(), reply["id"] == asked, chosen != "no")
            }
        };
        Some(ArrivedAnswer {
            arrived,
            is_of_it,
            accepts,
            words: reply.to_string(),
        })
    }
}

/// A person at the program that always has a question open.
struct PtyRig {
    terminal: Terminal,
    asker: QuestionServer,
    hands: AnswerModel,
    asked: u64,
    sight: Instant,
    keys: u64,
    accepted: u64,
    resized: u64,
    unexplained: Vec<String>,
}

impl PtyRig {
    fn at_a_producer() -> Self {
        // A few events a second in addition to the questions.
        let flood = Flood::start(5);
        let arguments = ["watch", &flood.url, "--face", "full", "--voice", "none"];
        let mut terminal = Terminal::start(100, 30, &arguments);
        terminal.wait("Connected");
        Self::new(terminal, QuestionServer::Producer(flood))
    }

    fn above_an_agent() -> Self {
        let (terminal, below) = AgentPipes::start();
        Self::new(terminal, QuestionServer::Agent(below))
    }

    fn new(terminal: Terminal, asker: QuestionServer) -> Self {
        let mut rig = Self {
            terminal,
            asker,
            hands: AnswerModel::default(),
            asked: 0,
            sight: Instant::now(),
            keys: 0,
            accepted: 0,
            resized: 0,
            unexplained: Vec::new(),
        };
        rig.ask();
        rig
    }

    fn two_steps(&self) -> bool {
        match self.asker {
            QuestionServer::Producer(_) => self.asked.is_multiple_of(2),
            // It states no risk.
            QuestionServer::Agent(_) => true,
        }
    }

    fn ask(&mut self) {
        self.asked += 1;
        let n = self.asked;
        let high = self.two_steps();
        let risk = if high { "high" } else { "low" };
        let fields = json!({
            "action": format!("Do thing {n}"), "reply_token": format!("rpl_{n}"), "timeout_seconds": 3000,
            "default_decision": "reject", "risk_level": risk, "irreversible": high, "urgency": "critical",
        });
        self.sight = Instant::now();
        let asked = event(&format!("q{n}"), "asks", "awaiting.confirmation", fields);
        match &mut self.asker {
            QuestionServer::Producer(flood) => flood.asked.send(asked).unwrap(),
            QuestionServer::Agent(below) => below.wants(n),
        }
    }

    /// Writes, and waits until it has been read.
    fn write(&mut self, bytes: &[u8]) {
        self.keys += 1;
        let earliest = Instant::now();
        self.terminal.send(bytes);
        // Input is read no later than now until the terminal is seen empty.
        loop {
            self.terminal.let_pass(Duration::from_millis(5));
            if self.terminal.unread() == 0 {
                break;
            }
            assert!(
                earliest.elapsed() < PATIENCE,
                "it reads nothing any more:\n{}",
                self.terminal.screen()
            );
        }
        let latest = Instant::now() + HANDED_OVER;
        self.hands.write(bytes, earliest, latest, self.sight);
        self.judge();
    }

    fn wait(&mut self, time: u64) {
        let until = Instant::now() + Duration::from_millis(time);
        while Instant::now() < until {
            let rest = until.saturating_duration_since(Instant::now());
            self.terminal.let_pass(rest.min(Duration::from_millis(50)));
            self.judge();
        }
    }

    /// Explains what arrived; closes a decided question, and asks the next one.
    fn judge(&mut self) {
        while let Some(reply) = self.asker.reply(self.asked) {
            let explained = if !reply.is_of_it {
                Err("it is not the question".to_owned())
            } else if reply.accepts {
                self.accepted += 1;
                self.hands.explain(self.two_steps(), reply.arrived)
            } else {
                Ok(())
            };
            if let Err(why) = explained {
                self.unexplained.push(format!("{}: {why}", reply.words));
            }
            let fields = json!({"from_state": "awaiting_input", "to_state": "thinking"});
            let id = format!("s{}", self.asked);
            let settled = event(&id, "asks", "state.changed", fields);
            match &mut self.asker {
                QuestionServer::Producer(flood) => flood.asked.send(settled).unwrap(),
                QuestionServer::Agent(below) => below.is_done(self.asked),
            }
            self.ask();
        }
    }

    /// Changes the size: the question is invisible until it is redrawn.
    fn resize(&mut self, columns: u16, rows: u16) {
        let began = Instant::now();
        let from = self.terminal.raw().len();
        self.terminal.resize(columns, rows);
        self.resized += 1;
        while began.elapsed() < Duration::from_secs(2) {
            self.wait(5);
            // Only a redrawn screen shows that the program knows of it.
            if self.terminal.raw()[from..]
                .windows(4)
                .any(|it| it == b"\x1b[2J")
            {
                self.sight = self.sight.max(began);
                return;
            }
        }
    }

    /// Answers as documented; not always with enough patience.
    fn answer(&mut self, dice: &mut HandsDice) {
        for bytes in [&b"\x1b[201~"[..], b"\x1b", b"\x1b"] {
            self.write(bytes);
            self.wait(60);
        }
        self.wait(dice.pick(&[300, 380, 450, 700, 1000]));
        let two_steps = self.two_steps();
        self.write(b"y");
        if two_steps {
            self.wait(dice.pick(&[100, 140, 160, 250, 600]));
            self.write(b"c");
        }
        self.wait(200);
    }
}

/// Returns random input from hands and terminals: anything but what quits or leaves.
fn roll(dice: &mut HandsDice) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        if dice.one_in(3) {
            bytes.push(u8::try_from(32 + dice.below(95)).unwrap());
        } else {
            bytes.extend(dice.pick(&SENT));
        }
        if !dice.one_in(5) {
            break;
        }
    }
    bytes.retain(|byte| !matches!(byte, b'q' | b'Q' | b'x' | b'X'));
    bytes
}

#[test]
#[ignore = "takes minutes: .ci/run plays a part and .ci/deep all of it"]
fn every_acceptance_of_the_program_in_a_terminal_is_explained() {
    among_hands(PtyRig::at_a_producer());
}

#[test]
#[ignore = "takes minutes: .ci/run plays a part and .ci/deep all of it"]
fn every_permission_that_an_agent_below_the_program_gets_is_explained() {
    among_hands(PtyRig::above_an_agent());
}

fn among_hands(mut rig: PtyRig) {
    let seconds = std::env::var("HEARKEN_PTY_SECONDS").map_or(300, |it| it.parse().unwrap());
    let seed = std::env::var("HEARKEN_FUZZ_SEED").map_or(2026, |seed| seed.parse().unwrap());
    let mut dice = HandsDice(seed);
    let until = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < until {
        if dice.one_in(6) {
            rig.answer(&mut dice);
            continue;
        }
        if dice.one_in(15) {
            let columns = dice.pick(&[60, 80, 100, 132]);
            let rows = dice.pick(&[20, 24, 30, 43]);
            rig.resize(columns, rows);
        }
        let mut bytes = roll(&mut dice);
        if dice.one_in(6) && bytes.len() > 1 {
            let at = 1 + usize::try_from(dice.below(bytes.len() as u64 - 1)).unwrap();
            let rest = bytes.split_off(at);
            rig.write(&bytes);
            rig.wait(dice.below(110));
            rig.write(&rest);
        } else if !bytes.is_empty() {
            rig.write(&bytes);
        }
        rig.wait(dice.pick(&[0, 20, 60, 100, 150, 200, 300, 390, 420, 500, 710]));
    }
    rig.wait(500);
    eprintln!(
        "{seconds} seconds, {} writes, {} sizes, {} questions, {} acceptances, {} unexplained",
        rig.keys,
        rig.resized,
        rig.asked,
        rig.accepted,
        rig.unexplained.len()
    );
    assert!(rig.unexplained.is_empty(), "{}", rig.unexplained.join("\n"));
    assert!(
        rig.accepted > ENOUGH.0 * seconds / ENOUGH.1,
        "only {} acceptances:\n{}",
        rig.accepted,
        rig.terminal.screen()
    );
}

#[test]
fn the_bounds_do_not_explain_everything() {
    let start = Instant::now();
    let at = |ms: u64| start + Duration::from_millis(ms);
    let explains = |two_steps, steps: &[(u64, &[u8])], arrived| {
        let mut hands = AnswerModel::default();
        for (ms, bytes) in steps {
            hands.write(bytes, at(*ms), at(*ms + 110), at(1000));
        }
        hands.explain(two_steps, at(arrived)).is_ok()
    };
    assert!(explains(false, &[(1400, b"y")], 1405));
    // The machine was slow: it may have been read this late.
    assert!(explains(false, &[(900, b"z"), (1350, b"y")], 1405));
    assert!(explains(true, &[(1400, b"y"), (1550, b"c")], 1555));
    assert!(explains(
        true,
        &[(1400, b"y"), (1500, b"y"), (1600, b"c")],
        1605
    ));
    for (two_steps, steps, arrived) in [
        (false, &[(1390, &b"y"[..])][..], 1395),
        (false, &[(1500, b"n")], 1505),
        (false, &[(1500, b"zy")], 1505),
        (false, &[(1500, b"z"), (1800, b"y")], 1805),
        (false, &[(1500, b"\xff"), (1700, b"y")], 2500),
        (false, &[(1000, b"y"), (1500, b"y")], 1505),
        (false, &[(1500, b"y"), (4000, b"z")], 4005),
        (false, &[(1400, b"\x1b[200~"), (2000, b"y")], 2005),
        (true, &[(1400, b"y")], 1405),
        (true, &[(1400, b"y"), (1500, b"c")], 1505),
        (true, &[(1200, b"y"), (1500, b"c")], 1505),
        (true, &[(1400, b"y"), (1500, b"z"), (1600, b"c")], 1605),
    ] {
        assert!(!explains(two_steps, steps, arrived), "{steps:?}");
    }
}
