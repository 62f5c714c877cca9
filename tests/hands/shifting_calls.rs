//! Random hands at an agent that changes what it asks: commands that arrive after the question, inputs that change
//! while it is open and between its two steps, ids that are used twice, calls that run with something else.
//!
//! The agent here keeps each call as it would run it. An acceptance must be explained by the model, and bound: the call
//! that was visible while the keys were pressed must be the call at the time when the answer goes out. This is judged
//! by the words that were shown and by what the agent sent, never by what the program stores of either.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use hearken::announce::Phrases;
use hearken::app::{App, Effect, Input, LinkOrder, QuestionVisibility, VisiblePage};
use hearken::config::Dialect;
use hearken::dialect::TransportKind;
use hearken::keys::{KeyReader, LineFeed, Mode, Stroke};
use hearken::link::{Frame, LinkEvent, LinkId, Receipt};
use hearken::protocol::Now;
use hearken::session::{Question, QuestionBody, QuestionId};
use serde_json::{Map, Value, json};

use super::answer_model::Model;
use super::{GAPS, HandsDice, SENT, app, as_many, ms};

const READS: (usize, usize) = (4000, 1_000_000);

/// Names of inputs other than the command.
const INPUTS: [&str; 6] = [
    "args",
    "env",
    "stdin",
    "script",
    "timeout",
    "with_escalated_permissions",
];

/// A call as the agent would now run it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ShiftedCall {
    number: u64,
    revision: u64,
    input: Map<String, Value>,
}

impl ShiftedCall {
    fn new(number: u64) -> Self {
        Self {
            number,
            revision: 0,
            input: Map::new(),
        }
    }

    fn id(&self) -> String {
        format!("c{}", self.number)
    }

    /// Gives it a command that no other call and no other revision has.
    fn set_command(&mut self) {
        let command = format!("touch c{}r{}z", self.number, self.revision);
        self.input.insert("command".into(), command.into());
    }

    /// Changes one aspect of it.
    fn change(&mut self, dice: &mut HandsDice) {
        self.revision += 1;
        let value = format!("v{}r{}z", self.number, self.revision);
        match dice.below(4) {
            0 | 1 => self.set_command(),
            2 => {
                self.input.insert(dice.pick(&INPUTS).into(), value.into());
            }
            _ => {
                let name = dice.pick(&INPUTS);
                if self.input.remove(name).is_none() {
                    self.input.insert(name.into(), value.into());
                }
            }
        }
    }

    /// Checks that the words of a question are those of this call; the error says why not.
    fn shown_by(&self, question: &Question) -> Result<(), String> {
        let QuestionBody::Confirmation(asked) = &question.body else {
            return Err("it is no confirmation".into());
        };
        let is_said = |value: &Value| {
            value
                .as_str()
                .is_some_and(|value| asked.action.contains(value))
        };
        // Each value is unique, so that any one identifies the call.
        if !self.input.values().any(is_said) {
            return Err(format!("{:?} says nothing of it", asked.action));
        }
        let deed = question.attached.action_details.as_ref();
        let counted = deed.map(|deed| deed.unsaid.as_slice()).unwrap_or_default();
        for (name, value) in &self.input {
            // A command is said in words, and never merely counted.
            let is_counted = name != "command" && counted.contains(name);
            if !is_said(value) && !is_counted {
                return Err(format!("{name} is neither said nor counted"));
            }
        }
        match counted.iter().find(|name| !self.input.contains_key(*name)) {
            Some(name) => Err(format!("{name} is counted and not there")),
            None => Ok(()),
        }
    }
}

/// An unanswered request of the agent's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OpenRequest {
    id: u64,
    call: u64,
}

struct ShiftingRig {
    app: App,
    now: Now,
    reader: KeyReader,
    model: Model,
    calls: BTreeMap<u64, ShiftedCall>,
    open: Vec<OpenRequest>,
    /// The call and revision that each question asked about when it was first drawn.
    bound: HashMap<QuestionId, (u64, u64)>,
    /// The question that the model was last told is visible.
    in_sight: Option<(OpenRequest, u64)>,
    next: u64,
    reads: usize,
    accepted: usize,
    otherwise: usize,
    shown: String,
    over: bool,
}

fn token(open: OpenRequest, revision: u64) -> String {
    format!("{}.{}.{revision}", open.id, open.call)
}

impl ShiftingRig {
    fn new(phrases: &Arc<Phrases>) -> Self {
        let mut rig = Self {
            app: app(Dialect::Acp, TransportKind::Lines, phrases),
            now: Now {
                monotonic: ms(1000),
                wall: "2026-01-01T00:00:00Z".parse().unwrap(),
            },
            reader: KeyReader::new(LineFeed::ControlJ),
            model: Model::default(),
            calls: BTreeMap::new(),
            open: Vec::new(),
            bound: HashMap::new(),
            in_sight: None,
            next: 0,
            reads: 0,
            accepted: 0,
            otherwise: 0,
            shown: String::new(),
            over: false,
        };
        rig.input(Input::Start);
        rig.link(LinkEvent::Connected);
        rig.wait(2000);
        rig
    }

    fn link(&mut self, event: LinkEvent) {
        self.input(Input::Link {
            link: LinkId(0),
            event,
        });
    }

    fn line(&mut self, message: &Value) {
        self.link(LinkEvent::Frame(Frame::of(message.to_string())));
    }

    fn update(&mut self, update: &Value) {
        self.line(&json!({"jsonrpc": "2.0", "method": "session/update",
            "params": {"sessionId": "s", "update": update}}));
    }

    /// Requests a call: with its full content, with none of it yet, or with content announced before.
    fn request(&mut self, id: u64, dice: &mut HandsDice) {
        self.next += 1;
        let mut call = ShiftedCall::new(self.next);
        call.set_command();
        while dice.one_in(3) {
            let value = format!("v{}r0z", call.number);
            call.input.insert(dice.pick(&INPUTS).into(), value.into());
        }
        let whole = json!({"toolCallId": call.id(), "kind": "execute", "title": "bash", "rawInput": call.input});
        let bare = json!({"toolCallId": call.id(), "kind": "execute", "title": "bash"});
        let asked = match dice.below(4) {
            // The command comes later, if ever.
            0 => {
                call.input.clear();
                json!({"toolCallId": call.id(), "kind": "execute", "title": "bash", "rawInput": {}})
            }
            // It came before.
            1 => {
                let mut first = whole;
                first["sessionUpdate"] = "tool_call".into();
                first["status"] = "pending".into();
                self.update(&first);
                bare
            }
            _ => whole,
        };
        let open = OpenRequest {
            id,
            call: call.number,
        };
        self.calls.insert(call.number, call);
        self.open.push(open);
        let option = |id: &str, kind: &str| json!({"optionId": id, "name": id, "kind": kind});
        let options = [option("once", "allow_once"), option("no", "reject_once")];
        self.line(
            &json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission",
            "params": {"sessionId": "s", "toolCall": asked, "options": options}}),
        );
    }

    /// Acts as such agents do.
    fn act(&mut self, dice: &mut HandsDice) {
        match (self.open.len(), dice.below(6)) {
            (0, _) => {
                let id = 1000 + self.next;
                self.request(id, dice);
            }
            // The id of an open request, used again.
            (1, 0) => self.request(self.open[0].id, dice),
            (1, 1) => {
                let id = 1000 + self.next;
                self.request(id, dice);
            }
            (open, _) => {
                let at = usize::try_from(dice.below(open as u64)).unwrap();
                self.change(self.open[at].call, dice);
            }
        }
    }

    fn change(&mut self, number: u64, dice: &mut HandsDice) {
        let call = self.calls.get_mut(&number).unwrap();
        call.change(dice);
        let update = json!({"sessionUpdate": "tool_call_update", "toolCallId": call.id(), "rawInput": call.input});
        self.update(&update);
    }

    fn input(&mut self, input: Input) {
        let mut facts = vec![input];
        while let Some(fact) = facts.pop() {
            let read = match &fact {
                Input::Stroke(stroke) => Some(stroke.read),
                _ => None,
            };
            for effect in self.app.update(fact, self.now) {
                match effect {
                    Effect::Link {
                        order: LinkOrder::Send { request, body },
                        ..
                    } => {
                        let body: Value = serde_json::from_str(&body).unwrap();
                        facts.extend(self.told(&body, read));
                        facts.push(Input::Link {
                            link: LinkId(0),
                            event: LinkEvent::Replied {
                                request,
                                outcome: Ok(Receipt::Taken),
                            },
                        });
                    }
                    Effect::Show(announcement) => self.shown.push_str(&announcement.text()),
                    Effect::Quit(_)
                    | Effect::Link {
                        order: LinkOrder::Close,
                        ..
                    } => self.over = true,
                    _ => {}
                }
            }
            if facts.is_empty() && self.app.wants_sight() {
                facts.push(self.frame());
            }
        }
    }

    /// Draws the shown question, and tells the model what is visible of it: nothing if the words are not those of the
    /// current call.
    fn frame(&mut self) -> Input {
        let at = self.now.monotonic;
        let (shown, prompt) = self.app.shown().unwrap();
        let is_it = |open: &&OpenRequest| self.calls[&open.call].shown_by(prompt).is_ok();
        let found = self.open.iter().find(is_it).copied();
        let found = found.map(|open| (open, self.calls[&open.call].revision));
        let question = shown.question;
        let found = found.filter(|(open, revision)| {
            *self.bound.entry(question).or_insert((open.call, *revision)) == (open.call, *revision)
        });
        let showing = match self.app.mode() {
            Mode::Choosing(..) => QuestionVisibility::Choices(question),
            _ => QuestionVisibility::Page(VisiblePage::single_page(question)),
        };
        if found != self.in_sight {
            self.in_sight = found;
            let token = found.map_or_else(|| "nothing".to_owned(), |(open, rev)| token(open, rev));
            self.model.asked(&token, true);
        }
        if let Some((open, revision)) = found {
            self.model.in_sight(&token(open, revision), at);
        }
        Input::Drawn { showing, at }
    }

    fn told(&mut self, body: &Value, read: Option<std::time::Duration>) -> Option<Input> {
        let result = match body["method"].as_str() {
            Some("initialize") => json!({"protocolVersion": 1}),
            Some("session/new") => json!({"sessionId": "s"}),
            // While nothing is asked, keys may tell the agent to do something, or to stop.
            Some("session/prompt" | "session/cancel") => return None,
            Some(other) => panic!("nobody wanted {other}"),
            None => {
                self.decided(body, read);
                return None;
            }
        };
        let answer = json!({"jsonrpc": "2.0", "id": body["id"], "result": result});
        Some(Input::Link {
            link: LinkId(0),
            event: LinkEvent::Frame(Frame::of(answer.to_string())),
        })
    }

    fn decided(&mut self, body: &Value, read: Option<std::time::Duration>) {
        let id = body["id"].as_u64().unwrap();
        let of_id: Vec<OpenRequest> = self
            .open
            .iter()
            .filter(|open| open.id == id)
            .copied()
            .collect();
        if body["result"]["outcome"]["optionId"] == "once" {
            let [open] = of_id[..] else {
                panic!("accepted {id}, which stands for {of_id:?}");
            };
            let call = &self.calls[&open.call];
            let read = read.expect("accepted without a key");
            let explained = self
                .model
                .explain(&token(open, call.revision), read, self.now);
            if let Err(why) = explained {
                panic!(
                    "{call:?} was accepted at {read:?} with {:?} in sight: {why}\n{}",
                    self.in_sight, self.model
                );
            }
            self.accepted += 1;
        }
        self.open.retain(|open| open.id != id);
        self.model.closed();
        self.in_sight = None;
    }

    fn read(&mut self, bytes: &[u8], late: u64, dice: &mut HandsDice) {
        let at = self.now.monotonic;
        self.reads += 1;
        self.model.read(bytes, self.now);
        let strokes = self.reader.bytes(bytes, at);
        self.judge(strokes, late, dice);
    }

    fn judge(&mut self, strokes: Vec<Stroke>, late: u64, dice: &mut HandsDice) {
        if strokes.is_empty() {
            return;
        }
        self.now = self.now.after(ms(late));
        let before = self.open.clone();
        let accepted = self.accepted;
        for stroke in strokes {
            self.input(Input::Stroke(stroke));
        }
        if self.accepted > accepted {
            let ran = before.into_iter().find(|open| !self.open.contains(open));
            self.run(ran.unwrap().call, dice);
        }
    }

    /// Runs an accepted call: mostly as it is, and sometimes with something else, which must be reported.
    fn run(&mut self, number: u64, dice: &mut HandsDice) {
        let lies = dice.one_in(4);
        let call = self.calls.get_mut(&number).unwrap();
        if lies {
            call.change(dice);
        }
        let update = json!({"sessionUpdate": "tool_call_update", "toolCallId": call.id(),
            "status": "in_progress", "rawInput": call.input});
        let over = json!({"sessionUpdate": "tool_call_update", "toolCallId": call.id(), "status": "completed"});
        self.shown.clear();
        self.update(&update);
        self.wait(2000);
        self.update(&over);
        self.wait(100);
        let reported = self
            .shown
            .contains("does something other than what you accepted");
        assert_eq!(reported, lies, "{number}: {}", self.shown);
        self.otherwise += usize::from(lies);
    }

    fn wait(&mut self, time: u64) {
        let end = self.now.monotonic + ms(time);
        loop {
            let next = [self.app.deadline(), self.reader.deadline()];
            let Some(at) = next.into_iter().flatten().min().filter(|at| *at <= end) else {
                break;
            };
            let ahead = at.saturating_sub(self.now.monotonic);
            self.now = self.now.after(ahead);
            for stroke in self.reader.expire(self.now.monotonic) {
                self.input(Input::Stroke(stroke));
            }
            self.input(Input::Deadline);
        }
        self.now = self.now.after(end.saturating_sub(self.now.monotonic));
    }

    /// Answers as a careful person does: accepts what can be accepted, and rejects the rest.
    fn answer_carefully(&mut self, dice: &mut HandsDice) {
        self.wait(1500);
        for bytes in [&b"\x1b[201~"[..], b"\x1b", b"\x1b"] {
            self.read(bytes, 0, dice);
            self.wait(1000);
        }
        let (before, shown) = (self.accepted, self.in_sight);
        self.shown.clear();
        let can_accept = shown.is_some_and(|(open, _)| {
            self.open.iter().filter(|other| other.id == open.id).count() == 1
        });
        match can_accept {
            true => {
                self.read(b"y", 0, dice);
                self.wait(1000);
                // It changes between the two steps.
                let changes = dice.one_in(3);
                if let (true, Some((open, _))) = (changes, shown) {
                    self.change(open.call, dice);
                }
                self.read(b"c", 0, dice);
                self.wait(1000);
                let wanted = before + usize::from(!changes);
                assert_eq!(
                    self.accepted,
                    wanted,
                    "{shown:?} of {:?}, {:?}\n{:?}\n{}\n{}",
                    self.open,
                    shown.map(|(open, _)| &self.calls[&open.call]),
                    self.app.shown(),
                    self.model,
                    self.shown
                );
            }
            false => {
                self.read(b"n", 0, dice);
                self.wait(1000);
                assert_eq!(self.accepted, before);
            }
        }
    }
}

#[test]
fn every_acceptance_is_bound_to_what_the_agent_then_runs() {
    let seed = std::env::var("HEARKEN_FUZZ_SEED").map_or(2027, |seed| seed.parse().unwrap());
    let mut dice = HandsDice(seed);
    let phrases = Arc::new(Phrases::english().unwrap());
    let wanted = as_many(READS);
    let mut rig = ShiftingRig::new(&phrases);
    let (mut reads, mut accepted, mut otherwise) = (0, 0, 0);
    while reads < wanted {
        if rig.over || rig.reads > 3000 {
            reads += rig.reads;
            accepted += rig.accepted;
            otherwise += rig.otherwise;
            rig = ShiftingRig::new(&phrases);
        }
        if rig.open.is_empty() || dice.one_in(6) {
            rig.act(&mut dice);
        }
        if dice.one_in(20) {
            rig.answer_carefully(&mut dice);
        } else {
            let mut bytes = dice.pick(&SENT).to_vec();
            while dice.one_in(5) {
                bytes.extend(dice.pick(&SENT));
            }
            let late = if dice.one_in(4) { dice.below(300) } else { 0 };
            rig.read(&bytes, late, &mut dice);
        }
        if !rig.over {
            let gap = dice.pick(&GAPS);
            rig.wait(if dice.one_in(2) { gap } else { gap + 450 });
        }
    }
    eprintln!(
        "{reads} reads, {accepted} acceptances, all bound; {otherwise} of them run with something else, all reported"
    );
    assert!(accepted >= wanted / 100 && otherwise > 0, "{accepted}");
}
