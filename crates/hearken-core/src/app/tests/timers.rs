//! One table decides when a timer is due and fires it; every timer in it fires by [`Input::Deadline`] alone.

use super::*;
use crate::app::timers::Timer;
use crate::dialect::{self, Cx, Dialect, DialectOutput};
use crate::link::Phrase;
use crate::protocol::Reply;

/// Returns the timers that are due at the moment, in the order of the table.
pub(super) fn due(stage: &Stage) -> Vec<Timer> {
    let now = stage.now.monotonic;
    let is_due = |timer: &&Timer| stage.app.due(**timer).is_some_and(|at| at <= now);
    Timer::ALL.iter().filter(is_due).copied().collect()
}

/// Asserts that the timers that were due no longer are: one that is never fired would stay due for ever.
pub(super) fn all_fired(stage: &Stage, due: &[Timer]) {
    let left = self::due(stage);
    for timer in due {
        // The frame timer stays due until the frame is read to its end.
        let fired = *timer == Timer::Frame || !left.contains(timer);
        assert!(fired, "{timer:?} is due and was not fired");
    }
}

/// Waits deadline by deadline, and counts the timers that were due at each.
fn watch(stage: &mut Stage, ms: u64, seen: &mut BTreeMap<String, usize>) {
    let end = stage.now.monotonic + Duration::from_millis(ms);
    while let Some(deadline) = stage.app.deadline().filter(|at| *at <= end) {
        stage.now = stage
            .now
            .after(deadline.saturating_sub(stage.now.monotonic));
        let due = due(stage);
        assert!(!due.is_empty(), "a deadline of no timer");
        stage.input(Input::Deadline);
        all_fired(stage, &due);
        for timer in due {
            *seen.entry(format!("{timer:?}")).or_insert(0) += 1;
        }
        if stage.quit.is_some() {
            return;
        }
    }
    stage.now = stage.now.after(end.saturating_sub(stage.now.monotonic));
}

#[test]
fn every_timer_of_the_table_is_waited_for_and_fires_by_the_deadline_alone() {
    let mut seen = BTreeMap::new();
    let speaks = |manner, lines, until| Options {
        manner,
        lines,
        voice: SpeechMode::Speak,
        until,
    };

    // An unanswered question, its second step, and an answer that does not arrive.
    let mut stage = Stage::new(KEYS);
    stage.ask_with("rpl_1", json!({"irreversible": true}));
    watch(&mut stage, 1000, &mut seen);
    stage.press('y');
    assert!(matches!(stage.app.mode(), Mode::Confirming(_)));
    watch(&mut stage, 60_000, &mut seen);
    stage.press('n');
    let (request, _) = stage.sent[0];
    let outcome = Err(DeliveryFailure::Kept(Fault::Refused));
    stage.link(0, LinkEvent::Replied { request, outcome });
    watch(&mut stage, 600, &mut seen);
    let (request, _) = stage.sent[1];
    let outcome = Ok(Receipt::Taken);
    stage.link(0, LinkEvent::Replied { request, outcome });
    stage.ask("rpl_2");
    watch(&mut stage, 400_000, &mut seen);

    // A link that is lost and comes back, and one that is slow to start.
    let fault = Fault::Closed;
    stage.link(
        0,
        LinkEvent::Lost {
            fault,
            retry_in: Duration::from_secs(1),
        },
    );
    stage.link(0, LinkEvent::Connected);
    stage.link(1, LinkEvent::Connecting { attempt: 1 });
    watch(&mut stage, 10_000, &mut seen);

    // Lines that are being typed, and input that was typed ahead.
    let mut stage = Stage::new(speaks(
        AnswerMethod::Lines,
        Some(LineSource::Terminal),
        EndCondition::Asked,
    ));
    stage.input(Input::LineBegun);
    stage.ask("rpl_1");
    watch(&mut stage, 5000, &mut seen);

    // Automatic scanning.
    let mut stage = super::scanning::stage("", 1000);
    stage.code(KeyCode::F(8));
    watch(&mut stage, 3000, &mut seen);

    // An agent that works in silence, then writes without an end, and a frame of many events.
    let mut stage = Stage::new(speaks(AnswerMethod::Keys, None, EndCondition::Asked));
    let engine = "test".into();
    stage.input(Input::Voice(VoiceEvent::Ready { engine }));
    stage.event("session.started", json!({}));
    say_all(&mut stage);
    watch(&mut stage, 20_000, &mut seen);
    let chunk = json!({"chunk": "A sentence that may go on.", "output_id": "out_1"});
    stage.event("output.streaming", chunk);
    watch(&mut stage, 20_000, &mut seen);
    say_all(&mut stage);
    stage.press('s');
    stage.ask("rpl_1");
    watch(&mut stage, 2000, &mut seen);
    let event = json!({
        "@context": "https://aaep-protocol.org/context/v1", "type": "aaep:agent.progress",
        "event_id": "evt_many", "session_id": "sess_1", "timestamp": "2026-01-01T00:00:00Z",
        "producer": {"agent_id": "a", "agent_name": "Mailer"},
    });
    let text = format!("[{}]", vec![event.to_string(); 400].join(","));
    stage.link(0, LinkEvent::Frame(Frame::of(text)));
    watch(&mut stage, 1000, &mut seen);

    // A dialect that waits for something.
    let mut stage = Stage::new(KEYS);
    let until = Some(stage.now.monotonic + Duration::from_secs(3));
    let view = stage.app.links.get_mut(LinkId(0)).unwrap();
    view.speak(Box::new(Waits { until }));
    watch(&mut stage, 5000, &mut seen);
    stage.assert_heard(phrase!("link.way_handshake"));

    // An agent that waits for its first prompt.
    let mut stage = super::newcomer::ready(PIPE, Config::default(), 1);
    watch(&mut stage, 2000, &mut seen);

    // A run that ends when nothing has happened for a while.
    let mut stage = Stage::new(Options {
        until: EndCondition::Idle(Duration::from_secs(60)),
        ..PIPE
    });
    watch(&mut stage, 70_000, &mut seen);
    assert_eq!(stage.quit, Some(Exit::Clean));

    for timer in Timer::ALL {
        let name = format!("{timer:?}");
        assert!(seen.contains_key(&name), "{name} was never due: {seen:?}");
    }
}

/// A dialect that waits once.
#[derive(Debug)]
struct Waits {
    until: Option<Duration>,
}

impl Dialect for Waits {
    fn on_frame(&mut self, _: &Frame, _: &mut Cx<'_>) {}

    fn reply(&mut self, _: u64, _: &Reply, _: &mut Cx<'_>) {}

    fn tick(&mut self, cx: &mut Cx<'_>) {
        self.until = None;
        cx.out
            .push(DialectOutput::Announce(Phrase::new("link.way_handshake")));
    }

    fn deadline(&self) -> Option<Duration> {
        self.until
    }

    fn connection(&self) -> dialect::Connection {
        dialect::Connection::default()
    }
}

/// Lets all speech finish.
fn say_all(stage: &mut Stage) {
    let mut said = 0;
    while let Some((id, _)) = stage.spoken.get(said).cloned() {
        said += 1;
        stage.input(Input::Voice(VoiceEvent::Ended(id)));
        let mut pauses = BTreeMap::new();
        watch(stage, 1000, &mut pauses);
    }
}
