//! A space on a NATS server as a source.
//!
//! Responsibilities: one connection after another; delivering what the broker stores. Not here: the subjects (a
//! dialect), the connection itself (`broker`), where the person left off (`consumer_place`), what passes unstored
//! (`unstored_messages`), requests to services (`service_requests`).
//!
//! # Mental model
//! The broker remembers under a name of the person's what they have received. A message counts as received once the
//! program has taken it out of the link's sink: what was still waiting when the program died is delivered again.

mod consumer_place;
mod service_requests;
mod unstored_messages;

use std::collections::VecDeque;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::consumer::pull::{MessagesError, MessagesErrorKind};
use async_nats::jetstream::{self, Message};
use async_nats::{Client, Subscriber};
use futures_util::StreamExt as _;
use futures_util::stream::SelectAll;
use tokio::sync::{mpsc, watch};

use super::halves::{Link, SourceReader};
use super::link_sink::{LinkSink, SinkGone};
use super::outside_text::readable;
use super::transport_settings::LinkSettings;
use crate::broker::{BrokerAddress, BrokerStateWatch, Connected, connect, words_of};
use crate::link::{Cause, Consumer, Fault, Frame, LinkEvent};
use consumer_place::{ConsumerPlace, PULL, is_durable, is_missing, updated};
use service_requests::{NatsConnectDecision, NatsPoster};

/// How often the broker gives a sign of life while nothing arrives.
const PULSE: Duration = Duration::from_secs(3);
/// How often receipts are looked for while nothing arrives.
const RECEIPTS: Duration = Duration::from_millis(50);
/// How many messages are passed on together.
const AT_ONCE: usize = 128;
/// The longest subject that is kept, in bytes.
const LONGEST_SUBJECT: usize = 512;

/// The link to a space on a NATS server.
pub(super) fn link(
    address: &BrokerAddress,
    settings: LinkSettings,
) -> Link<NatsReader, NatsPoster> {
    let (courses, course) = mpsc::unbounded_channel();
    let (up, client) = watch::channel(None);
    let limit = settings.config.reply_timeout();
    let largest = settings.config.max_frame_bytes;
    Link {
        reader: NatsReader {
            address: address.clone(),
            settings,
            course,
            up,
            resume_at: None,
            latest: LatestMessage::default(),
            program: program_name(),
        },
        poster: NatsPoster {
            courses,
            client,
            limit,
            largest,
        },
    }
}

/// The half that follows.
pub(super) struct NatsReader {
    address: BrokerAddress,
    settings: LinkSettings,
    course: mpsc::UnboundedReceiver<NatsConnectDecision>,
    up: watch::Sender<Option<Client>>,
    /// The position to deliver from, if the broker has just forgotten it.
    resume_at: Option<u64>,
    latest: LatestMessage,
    /// What distinguishes this program from another of the same person.
    program: String,
}

/// The latest message that was passed on. A message that is not later is being delivered again, because its receipt was
/// lost with a connection. The time distinguishes a stream that was deleted and created again from the earlier one.
#[derive(Debug, Clone, Copy, Default)]
struct LatestMessage {
    sequence: u64,
    published_nanos: i128,
}

impl LatestMessage {
    /// Notes a message; returns `false` if it was passed on before.
    fn advance(&mut self, sequence: u64, published_nanos: i128) -> bool {
        let is_later = sequence > self.sequence || published_nanos > self.published_nanos;
        if is_later {
            *self = Self {
                sequence,
                published_nanos,
            };
        }
        is_later
    }
}

impl SourceReader for NatsReader {
    async fn read(mut self, sink: LinkSink) {
        // An error only means that the receiver is gone.
        let _ = self.follow(&sink).await;
    }
}

impl NatsReader {
    async fn follow(&mut self, sink: &LinkSink) -> Result<(), SinkGone> {
        let config = self.settings.config.clone();
        let mut backoff = self.settings.backoff();
        let mut attempt: u32 = 1;
        let mut tried_again: u32 = 0;
        loop {
            sink.put(LinkEvent::Connecting { attempt }).await?;
            let (fault, good) = match self.course.recv().await {
                Some(NatsConnectDecision::Follow(consumer)) => {
                    self.connection(consumer, sink).await?
                }
                Some(NatsConnectDecision::Listen(passing)) => self.listen(passing, sink).await?,
                Some(NatsConnectDecision::Refuse(fault)) => (fault, false),
                None => return Ok(()),
            };
            self.up.send_replace(None);
            // What was decided about the lost connection means nothing for the next.
            while self.course.try_recv().is_ok() {}
            if good {
                backoff.reset();
                (attempt, tried_again) = (0, 0);
            }
            if fault.is_final() || config.retries.is_some_and(|most| tried_again >= most) {
                return sink.put(LinkEvent::Failed { fault }).await;
            }
            let retry_in = backoff.next(None);
            sink.put(LinkEvent::Lost { fault, retry_in }).await?;
            tokio::time::sleep(retry_in).await;
            attempt = attempt.saturating_add(1);
            tried_again = tried_again.saturating_add(1);
        }
    }

    /// Follows over one connection, and returns why it ended and whether it was good.
    async fn connection(
        &mut self,
        mut wanted: Consumer,
        sink: &LinkSink,
    ) -> Result<(Fault, bool), SinkGone> {
        let terms = match self.settings.broker_terms(&self.address) {
            Ok(terms) => terms,
            Err(fault) => return Ok((fault, false)),
        };
        let inbox = wanted.durable.as_deref().filter(|name| is_durable(name));
        let connected = match connect(&terms, "hearken watch", inbox).await {
            Ok(connected) => connected,
            Err(fault) => return Ok((fault, false)),
        };
        let client = connected.client.clone();
        let mut context = jetstream::new(client.clone());
        context.set_timeout(terms.limit);
        let mut lasts = connected.lasts.clone();
        // A server that is gone answers nothing: whatever waits for it is given up at once.
        let place = tokio::select! {
            place = ConsumerPlace::find(&context, &wanted, &self.program, &mut self.resume_at) => place,
            () = lasts.over() => Err(Fault::Closed),
        };
        let place = match place {
            Err(fault) if wanted.may_be_missing && is_missing(&fault) => {
                self.until_stored(&connected, &context, &mut wanted, sink)
                    .await?
            }
            place => place,
        };
        let ConsumerPlace { consumer, missed } = match place {
            Ok(place) => place,
            Err(fault) => return Ok((self.refusal(&connected, fault), false)),
        };
        let mut passing = SelectAll::new();
        for subject in &wanted.passing {
            match client.subscribe(subject.clone()).await {
                Ok(messages) => passing.push(messages),
                Err(error) => return Ok((Fault::Other(words_of(&error)), false)),
            }
        }
        self.up.send_replace(Some(client));
        sink.put(LinkEvent::Connected).await?;
        if missed > 0 {
            sink.put(LinkEvent::Missed { count: missed }).await?;
        }
        let delivery = BrokerConnection {
            latest: &mut self.latest,
            program: &self.program,
            context,
            consumer,
            wanted,
            passing,
            missed,
            unreceived: None,
            limit: self.settings.config.max_frame_bytes,
        };
        let fault = delivery
            .run(connected.lasts, &mut self.course, sink)
            .await?;
        Ok((fault, true))
    }

    /// Returns the reason for a refusal: the server's own words say more than that nothing came.
    fn refusal(&self, connected: &Connected, fault: Fault) -> Fault {
        match (connected.lasts.refused(), &fault) {
            (Some(words), Fault::TimedOut) => Fault::Other(Cause::BrokerSaid {
                words: crate::link::RemoteText(words),
            }),
            (Some(_) | None, _) => fault,
        }
    }
}

/// What is delivered over one connection.
struct BrokerConnection<'a> {
    latest: &'a mut LatestMessage,
    program: &'a str,
    context: jetstream::Context,
    consumer: PullConsumer,
    wanted: Consumer,
    passing: SelectAll<Subscriber>,
    /// How many of the missed messages are still to come.
    missed: u64,
    /// The last message that was passed on, until it is received.
    unreceived: Option<Message>,
    /// The largest message that is passed on, in bytes.
    limit: usize,
}

impl BrokerConnection<'_> {
    async fn run(
        mut self,
        mut lasts: BrokerStateWatch,
        course: &mut mpsc::UnboundedReceiver<NatsConnectDecision>,
        sink: &LinkSink,
    ) -> Result<Fault, SinkGone> {
        let pull = self.consumer.stream().expires(PULL).heartbeat(PULSE);
        let messages = match pull.messages().await {
            Ok(messages) => messages,
            Err(error) => return Ok(Fault::Other(words_of(&error))),
        };
        let mut messages = messages.ready_chunks(AT_ONCE);
        let mut receipts = tokio::time::interval(RECEIPTS);
        loop {
            tokio::select! {
                biased;
                () = lasts.over() => return Ok(Fault::Closed),
                next = course.recv() => match next {
                    Some(NatsConnectDecision::Follow(wanted)) => if let Err(fault) = self.change(wanted).await {
                        return Ok(fault);
                    },
                    // A link that follows a stream goes on with it.
                    Some(NatsConnectDecision::Listen(_)) => {}
                    Some(NatsConnectDecision::Refuse(fault)) => return Ok(fault),
                    // The handle is gone, and the link is about to be dropped.
                    None => std::future::pending().await,
                },
                Some(message) = self.passing.next(), if !self.passing.is_empty() => {
                    sink.put(self.frame(&message, None)).await?;
                }
                chunk = messages.next() => {
                    let Some(chunk) = chunk else {
                        return Ok(Fault::Closed);
                    };
                    if let Some(fault) = self.pass_on(chunk, sink).await? {
                        return Ok(fault);
                    }
                    if self.delivers_otherwise()
                        && let Err(fault) = self.deliver_wanted().await
                    {
                        return Ok(fault);
                    }
                }
                _ = receipts.tick(), if self.unreceived.is_some() => {}
            }
            self.acknowledge(sink).await;
        }
    }

    /// Passes messages on, and returns why there are no more.
    async fn pass_on(
        &mut self,
        chunk: Vec<Result<Message, MessagesError>>,
        sink: &LinkSink,
    ) -> Result<Option<Fault>, SinkGone> {
        let mut news = VecDeque::new();
        let mut fault = None;
        for message in chunk {
            match message {
                Ok(message) => {
                    let place = message.info().ok();
                    let place = place
                        .map(|info| (info.stream_sequence, info.published.unix_timestamp_nanos()));
                    if place.is_none_or(|(sequence, at)| self.latest.advance(sequence, at)) {
                        let position = place.map(|(sequence, _)| sequence);
                        news.push_back(self.frame(&message, position));
                    }
                    self.unreceived = Some(message);
                    if self.missed > 0 {
                        self.missed -= 1;
                        if self.missed == 0 {
                            news.push_back(LinkEvent::CaughtUp);
                        }
                    }
                }
                Err(error) => {
                    fault = Some(match error.kind() {
                        MessagesErrorKind::MissingHeartbeat => Fault::TimedOut,
                        MessagesErrorKind::ConsumerDeleted | MessagesErrorKind::NoResponders => {
                            Fault::Other(Cause::BrokerStreamGone)
                        }
                        MessagesErrorKind::Pull
                        | MessagesErrorKind::PushBasedConsumer
                        | MessagesErrorKind::RequestLimitExceeded
                        | MessagesErrorKind::Other => Fault::Other(words_of(&error)),
                    });
                    break;
                }
            }
        }
        sink.put_all(&mut news).await?;
        Ok(fault)
    }

    fn frame(&self, message: &async_nats::Message, position: Option<u64>) -> LinkEvent {
        frame(message, position, self.limit)
    }

    /// Tells the broker what was received.
    async fn acknowledge(&mut self, sink: &LinkSink) {
        if sink.is_received()
            && let Some(message) = self.unreceived.take()
        {
            // This fails only if the connection is lost; then it is delivered again, and recognised.
            let _ = message.ack().await;
        }
    }

    /// Changes what is delivered from now on.
    async fn change(&mut self, wanted: Consumer) -> Result<(), Fault> {
        self.wanted = wanted;
        self.deliver_wanted().await
    }

    /// Returns whether deliveries differ from what is wanted: what was missed still arrives as it was followed then.
    fn delivers_otherwise(&self) -> bool {
        self.missed == 0
            && self.consumer.cached_info().config.filter_subjects != self.wanted.subjects
    }

    /// Makes the broker deliver the wanted subjects and no others. A failure ends the connection.
    async fn deliver_wanted(&mut self) -> Result<(), Fault> {
        let subjects = self.wanted.subjects.clone();
        let stream = self.context.get_stream_no_info(&self.wanted.stream).await;
        let stream = stream.map_err(|error| Fault::Other(words_of(&error)))?;
        self.consumer = updated(&stream, self.consumer.clone(), subjects, self.program).await?;
        Ok(())
    }
}

/// Returns a name that no other program has.
fn program_name() -> String {
    let random = RandomState::new().build_hasher().finish();
    format!("{random:016x}-{}", std::process::id())
}

/// Returns a message as a frame, unless it is larger than the limit.
fn frame(message: &async_nats::Message, position: Option<u64>, limit: usize) -> LinkEvent {
    if message.payload.len() > limit {
        let fault = Fault::TooLarge { limit };
        return LinkEvent::Dropped { fault, count: 1 };
    }
    let subject = message.subject.as_str();
    LinkEvent::Frame(Frame {
        text: readable(&message.payload).into_owned(),
        event: (subject.len() <= LONGEST_SUBJECT).then(|| subject.to_owned()),
        position,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_is_delivered_again_is_passed_on_once() {
        let mut latest = LatestMessage::default();
        let all = [(7, 70), (8, 80), (7, 70), (8, 80), (9, 90)];
        let passed = all.map(|(sequence, at)| latest.advance(sequence, at));
        assert_eq!(passed, [true, true, false, false, true]);
        // The stream was deleted, and its numbers begin again.
        assert!(latest.advance(1, 100));
        assert!(!latest.advance(1, 100));
        assert!(latest.advance(2, 110));
    }
}
