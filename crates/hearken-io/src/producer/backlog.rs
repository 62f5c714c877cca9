//! The events that wait for a subscriber's budget, merging while they wait.
//!
//! Responsibilities: events on their way to one subscriber (5.6.1): waiting text is joined with the
//! text that follows, a progress event is replaced by the next one, everything else waits in order;
//! the numbers that the subscriber sees. Not here: when an event may leave (`shaper`), which events
//! wait (`subscription_handshake`).
//!
//! Mental model: a slot with text either ends at a place where the subscriber wants text to be cut, or
//! contains no such place. A piece that ends at such a place joins the slot before it; so does any
//! other piece, unless that slot already ends well. A slot can thus leave at any moment, cut as well
//! as the input allows. Only neighbours within a session are joined: anything between them in their
//! session keeps its place, which is the order that 8.2.3 requires.
//!
//! Worked example: `"One. "` and `"Two. "`, both with the hint `sentence`, wait together with `"Thr"`,
//! which has none. The first to leave is `"One. Two. "` as one sentence-cut chunk at the position of
//! `"One. "`; `"Thr"` waits for the rest of its sentence for as long as the budget makes it wait
//! anyway.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::event_kinds::EventKind;
use super::queue::{Frame, QUEUE_EVENTS};

/// The longest joined text, in bytes: the longest string in an event (3.7).
const MAX_JOINED_BYTES: usize = 16 * 1024;
/// How many sessions' numbers are kept for one subscriber; a person follows a handful at a time.
const MAX_NUMBERED: usize = 256;

/// One frame, and the event in it if it is one.
#[derive(Debug)]
pub(super) struct EventFrame {
    frame: Arc<Frame>,
    event: Option<Map<String, Value>>,
}

impl EventFrame {
    pub(super) fn new(frame: Arc<Frame>) -> Self {
        let event = match serde_json::from_str(&frame.text) {
            Ok(Value::Object(event)) => Some(event),
            Ok(_) | Err(_) => None,
        };
        Self { frame, event }
    }

    fn text(&self, field: &str) -> Option<&str> {
        self.event.as_ref()?.get(field)?.as_str()
    }

    /// Returns the `type`; `None` if it is not an event.
    pub(super) fn kind(&self) -> Option<&str> {
        self.text("type")
    }

    /// Returns the `coalesce_hint` of a chunk of text; `none` if it has none.
    pub(super) fn hint(&self) -> &str {
        self.text("coalesce_hint").unwrap_or("none")
    }

    pub(super) fn critical(&self) -> bool {
        self.frame.critical
    }

    fn known(&self) -> Option<EventKind> {
        self.kind().and_then(EventKind::from_wire)
    }

    fn completes(&self) -> bool {
        let complete = |event: &Map<String, Value>| event.get("complete") == Some(&true.into());
        self.event.as_ref().is_some_and(complete)
    }

    /// Returns whether a chunk continues where another one ended.
    fn follows(&self, other: &EventFrame) -> bool {
        let number = |parcel: &EventFrame| parcel.event.as_ref()?.get("position")?.as_u64();
        let length = |parcel: &EventFrame| Some(parcel.text("chunk")?.chars().count() as u64);
        let same = ["output_id", "content_type", "language"]
            .iter()
            .all(|field| self.text(field) == other.text(field));
        let size = |parcel: &EventFrame| parcel.text("chunk").map_or(0, str::len);
        let end = number(other).zip(length(other)).map(|(at, len)| at + len);
        same && !other.completes()
            && end.is_some()
            && number(self) == end
            && size(self) + size(other) <= MAX_JOINED_BYTES
    }

    /// Prepends an earlier chunk: the result is this event, starting sooner.
    fn begun_by(&mut self, earlier: &EventFrame) {
        let chunk = [earlier.text("chunk"), self.text("chunk")]
            .map(Option::unwrap_or_default)
            .concat();
        let position = earlier.event.as_ref().and_then(|e| e.get("position"));
        if let (Some(event), Some(position)) = (&mut self.event, position) {
            event.insert("position".to_owned(), position.clone());
            event.insert("chunk".to_owned(), chunk.into());
        }
    }
}

/// How a slot may grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Growth {
    Never,
    /// It is replaced by the next one of its kind.
    Replaced,
    /// Text; `well_cut` says whether it ends where the subscriber wants it to.
    Text {
        well_cut: bool,
    },
}

#[derive(Debug)]
struct BacklogSlot {
    parcel: EventFrame,
    growth: Growth,
    session: Option<String>,
    number: Option<u64>,
    /// The order of arrival of the first and of the last event in it.
    first: u64,
    last: u64,
}

impl BacklogSlot {
    fn joins(&self, before: &BacklogSlot) -> bool {
        match (before.growth, self.growth) {
            (Growth::Text { well_cut: true }, Growth::Text { well_cut: false }) => false,
            (Growth::Text { .. }, Growth::Text { .. }) => self.parcel.follows(&before.parcel),
            (Growth::Replaced, Growth::Replaced) => true,
            (Growth::Never | Growth::Replaced | Growth::Text { .. }, _) => false,
        }
    }

    /// Takes over the place and the number of the slot before.
    fn absorb(&mut self, before: &BacklogSlot) {
        match self.growth {
            Growth::Text { .. } => self.parcel.begun_by(&before.parcel),
            Growth::Replaced | Growth::Never => {}
        }
        self.first = before.first;
        self.number = before.number;
    }

    /// Builds the frame; without its id if a subscriber that resumed from it would miss what still
    /// waits.
    fn sealed(self, resumable: bool) -> Arc<Frame> {
        let Some(mut event) = self.parcel.event else {
            return self.parcel.frame;
        };
        if let (Some(number), Some(place)) = (self.number, event.get_mut("sequence_number")) {
            *place = number.into();
        }
        Arc::new(Frame {
            event_id: self.parcel.frame.event_id.clone().filter(|_| resumable),
            critical: self.parcel.frame.critical,
            text: Value::Object(event).to_string(),
        })
    }
}

/// The events that wait for one subscriber, in order.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    slots: VecDeque<BacklogSlot>,
    arrived: u64,
}

impl Backlog {
    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Returns whether no more may be added.
    pub(super) fn is_full(&self) -> bool {
        self.slots.len() >= QUEUE_EVENTS
    }

    /// Numbers an event and returns it immediately, ahead of everything that waits.
    pub(super) fn pass(&mut self, parcel: EventFrame, numbers: &mut EventNumbers) -> Arc<Frame> {
        let slot = self.slot(parcel, Growth::Never, numbers);
        let resumable = self.is_empty();
        slot.sealed(resumable)
    }

    /// Adds an event that must wait. `wanted` says whether the subscriber wants text to be cut at its
    /// end.
    pub(super) fn hold(&mut self, parcel: EventFrame, wanted: bool, numbers: &mut EventNumbers) {
        let growth = match parcel.known() {
            Some(EventKind::OutputStreaming) => Growth::Text {
                well_cut: wanted || parcel.completes(),
            },
            Some(EventKind::ProgressUpdated) => Growth::Replaced,
            Some(_) | None => Growth::Never,
        };
        let mut slot = self.slot(parcel, growth, numbers);
        // A piece may complete a slot, which then joins the one before it.
        while let Some(before) = self.neighbour(&slot) {
            slot.absorb(&before);
            if let Some(session) = &slot.session {
                numbers.joined(session, slot.number, slot.parcel.text("event_id"));
            }
        }
        let at = self.slots.partition_point(|other| other.first < slot.first);
        self.slots.insert(at, slot);
    }

    /// Removes and returns the slot just before this one in its session, if the two are to be joined.
    fn neighbour(&mut self, slot: &BacklogSlot) -> Option<BacklogSlot> {
        let same = |other: &BacklogSlot| other.session == slot.session;
        let at = self.slots.iter().rposition(same)?;
        let before = self.slots.get(at)?;
        // An urgent event that has passed in the session since then separates them.
        let next = before.number.map(|number| number + 1);
        (next == slot.number && slot.joins(before))
            .then(|| self.slots.remove(at))
            .flatten()
    }

    /// Returns the event that has waited longest.
    pub(super) fn next(&mut self) -> Option<Arc<Frame>> {
        let slot = self.slots.pop_front()?;
        let resumable = self
            .slots
            .front()
            .is_none_or(|other| other.first > slot.last);
        Some(slot.sealed(resumable))
    }

    fn slot(
        &mut self,
        parcel: EventFrame,
        growth: Growth,
        numbers: &mut EventNumbers,
    ) -> BacklogSlot {
        let place = self.arrived;
        self.arrived += 1;
        let session = parcel.text("session_id").map(str::to_owned);
        let number = session
            .as_deref()
            .and_then(|session| numbers.give(session, &parcel));
        BacklogSlot {
            parcel,
            growth,
            session,
            number,
            first: place,
            last: place,
        }
    }
}

/// The numbers of each session's events as one subscriber gets them: filtered or joined events leave
/// no gap (3.4.1 requires each number to be one more than the last; 5.9 lets each subscription have
/// its own shape). An event is numbered when its turn comes, so that what overtakes it is in order.
#[derive(Debug, Default)]
pub(super) struct EventNumbers {
    next: BTreeMap<String, u64>,
    given: VecDeque<NumberedEvent>,
}

#[derive(Debug)]
struct NumberedEvent {
    event_id: Option<String>,
    session: String,
    number: u64,
}

impl EventNumbers {
    /// Returns the number of a session's next event; `None` if the session has no numbers.
    fn give(&mut self, session: &str, parcel: &EventFrame) -> Option<u64> {
        let own = parcel.event.as_ref()?.get("sequence_number")?.as_u64()?;
        let number = *self.next.get(session).unwrap_or(&own);
        if parcel.known().is_some_and(EventKind::ends_session) {
            self.next.remove(session);
        } else {
            if self.next.len() >= MAX_NUMBERED {
                self.next.pop_first();
            }
            self.next.insert(session.to_owned(), number + 1);
        }
        if self.given.len() >= QUEUE_EVENTS {
            self.given.pop_front();
        }
        self.given.push_back(NumberedEvent {
            event_id: parcel.text("event_id").map(str::to_owned),
            session: session.to_owned(),
            number,
        });
        Some(number)
    }

    /// Undoes the session's latest number, because its event was joined to the one before it.
    fn joined(&mut self, session: &str, number: Option<u64>, event_id: Option<&str>) {
        let Some(number) = number else { return };
        if let Some(next) = self.next.get_mut(session) {
            *next = number + 1;
        }
        self.given
            .retain(|given| given.session != session || given.number <= number);
        if let Some(given) = self.given.iter_mut().rfind(|g| g.session == session) {
            given.event_id = event_id.map(str::to_owned);
        }
    }

    /// Returns to the state when a subscriber got an event: later events are renumbered.
    pub(super) fn resume_after(&mut self, event_id: &str) {
        let named = |given: &NumberedEvent| given.event_id.as_deref() == Some(event_id);
        let known = self.given.iter().rposition(named);
        self.given.truncate(known.map_or(0, |at| at + 1));
        let next = |given: &NumberedEvent| (given.session.clone(), given.number + 1);
        self.next = self.given.iter().map(next).collect();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A generator of one session's events, before any terms apply.
    #[derive(Default)]
    struct EventSource {
        number: u64,
        position: u64,
    }

    impl EventSource {
        fn parcel(&mut self, critical: bool, fields: Value) -> EventFrame {
            let mut event = json!({"event_id": format!("evt_{}", self.number),
                "session_id": "sess_1", "sequence_number": self.number});
            let fields = fields.as_object().unwrap().clone();
            event.as_object_mut().unwrap().extend(fields);
            let event_id = Some(format!("evt_{}", self.number));
            self.number += 1;
            EventFrame::new(Arc::new(Frame {
                event_id,
                critical,
                text: event.to_string(),
            }))
        }

        fn chunk(&mut self, text: &str, hint: &str) -> EventFrame {
            let position = self.position;
            self.position += text.chars().count() as u64;
            let complete = hint == "completion";
            self.parcel(
                false,
                json!({"type": EventKind::OutputStreaming.wire(), "chunk": text, "position": position,
                    "output_id": "out_1", "coalesce_hint": hint, "complete": complete}),
            )
        }

        fn progress(&mut self, percent: u64) -> EventFrame {
            let kind = EventKind::ProgressUpdated.wire();
            self.parcel(
                false,
                json!({"type": kind, "progress": {"percent": percent}}),
            )
        }

        fn question(&mut self) -> EventFrame {
            self.parcel(
                true,
                json!({"type": EventKind::AwaitingConfirmation.wire()}),
            )
        }
    }

    fn hold(backlog: &mut Backlog, numbers: &mut EventNumbers, parcel: EventFrame) {
        let wanted = ["sentence", "completion"].contains(&parcel.hint());
        backlog.hold(parcel, wanted, numbers);
    }

    /// Empties the backlog and returns number, id on the wire, and event for each.
    fn left(backlog: &mut Backlog) -> Vec<(u64, Option<String>, Value)> {
        std::iter::from_fn(|| backlog.next())
            .map(|frame| {
                let event: Value = serde_json::from_str(&frame.text).unwrap();
                let number = event["sequence_number"].as_u64().unwrap();
                (number, frame.event_id.clone(), event)
            })
            .collect()
    }

    fn said(waiting: &[(u64, Option<String>, Value)]) -> Vec<(u64, &str, &str)> {
        let said = waiting.iter().map(|(number, _, event)| {
            let text = event["chunk"].as_str().unwrap_or_default();
            (
                *number,
                text,
                event["coalesce_hint"].as_str().unwrap_or_default(),
            )
        });
        said.collect()
    }

    #[test]
    fn sentences_join_and_the_piece_of_one_waits_for_its_end() {
        let (mut source, mut backlog, mut numbers) = (
            EventSource::default(),
            Backlog::default(),
            EventNumbers::default(),
        );
        for (text, hint) in [
            ("One. ", "sentence"),
            ("Twö. ", "sentence"),
            ("Thr", "word"),
        ] {
            let parcel = source.chunk(text, hint);
            hold(&mut backlog, &mut numbers, parcel);
        }
        let first = backlog.next().unwrap();
        let event: Value = serde_json::from_str(&first.text).unwrap();
        assert_eq!(event["chunk"], "One. Twö. ");
        assert_eq!(
            (&event["position"], &event["coalesce_hint"]),
            (&json!(0), &json!("sentence"))
        );
        assert_eq!(
            first.event_id.as_deref(),
            Some("evt_1"),
            "the last that is in it"
        );
        let parcel = source.chunk("ee. ", "sentence");
        hold(&mut backlog, &mut numbers, parcel);
        let parcel = source.chunk("Four.", "completion");
        hold(&mut backlog, &mut numbers, parcel);
        let rest = left(&mut backlog);
        assert_eq!(said(&rest), [(1, "Three. Four.", "completion")]);
        assert_eq!(
            (&rest[0].2["position"], &rest[0].2["complete"]),
            (&json!(10), &json!(true))
        );
    }

    #[test]
    fn a_finished_sentence_joins_the_one_before_it() {
        let (mut source, mut backlog, mut numbers) = (
            EventSource::default(),
            Backlog::default(),
            EventNumbers::default(),
        );
        for (text, hint) in [
            ("A. ", "sentence"),
            ("B", "none"),
            ("C", "none"),
            (". ", "sentence"),
        ] {
            let parcel = source.chunk(text, hint);
            hold(&mut backlog, &mut numbers, parcel);
        }
        let parcel = source.progress(1);
        hold(&mut backlog, &mut numbers, parcel);
        let waiting = left(&mut backlog);
        assert_eq!(said(&waiting), [(0, "A. BC. ", "sentence"), (1, "", "")]);
    }

    #[test]
    fn what_comes_between_in_the_session_keeps_its_place() {
        let (mut source, mut backlog, mut numbers) = (
            EventSource::default(),
            Backlog::default(),
            EventNumbers::default(),
        );
        for percent in [10, 20, 30] {
            let parcel = source.progress(percent);
            hold(&mut backlog, &mut numbers, parcel);
        }
        let parcel = source.chunk("A. ", "sentence");
        hold(&mut backlog, &mut numbers, parcel);
        let urgent = backlog.pass(source.question(), &mut numbers);
        assert_eq!(urgent.event_id, None, "what waits would be missed");
        let event: Value = serde_json::from_str(&urgent.text).unwrap();
        assert_eq!(event["sequence_number"], 2, "its turn is after what waits");
        let parcel = source.chunk("B. ", "sentence");
        hold(&mut backlog, &mut numbers, parcel);
        let waiting = left(&mut backlog);
        assert_eq!(waiting[0].2["progress"]["percent"], 30);
        assert_eq!(
            said(&waiting),
            [(0, "", ""), (1, "A. ", "sentence"), (3, "B. ", "sentence")]
        );
    }

    #[test]
    fn another_output_a_hole_and_too_long_a_text_are_not_joined() {
        let (mut source, mut backlog, mut numbers) = (
            EventSource::default(),
            Backlog::default(),
            EventNumbers::default(),
        );
        let long = "x".repeat(MAX_JOINED_BYTES);
        for text in ["A. ", &long] {
            let parcel = source.chunk(text, "sentence");
            hold(&mut backlog, &mut numbers, parcel);
        }
        source.position += 1;
        let parcel = source.chunk("B. ", "completion");
        hold(&mut backlog, &mut numbers, parcel);
        // A completed output is not continued.
        let parcel = source.chunk("C. ", "sentence");
        hold(&mut backlog, &mut numbers, parcel);
        assert_eq!(left(&mut backlog).len(), 4);
    }

    #[test]
    fn numbers_go_on_from_the_event_that_a_subscriber_names() {
        let (mut source, mut backlog, mut numbers) = (
            EventSource::default(),
            Backlog::default(),
            EventNumbers::default(),
        );
        let mut pass = |numbers: &mut EventNumbers, parcel| {
            let frame = backlog.pass(parcel, numbers);
            let event: Value = serde_json::from_str(&frame.text).unwrap();
            event["sequence_number"].as_u64().unwrap()
        };
        // A subscriber that joins late begins with the session's own number.
        source.number = 7;
        assert_eq!(pass(&mut numbers, source.progress(1)), 7);
        source.number += 5;
        assert_eq!(pass(&mut numbers, source.progress(2)), 8);
        assert_eq!(pass(&mut numbers, source.progress(3)), 9);
        numbers.resume_after("evt_7");
        source.number = 13;
        assert_eq!(pass(&mut numbers, source.progress(2)), 8);
        numbers.resume_after("evt_unheard");
        assert_eq!(pass(&mut numbers, source.progress(9)), 14);
    }
}
