//! Where a person left off: the consumer that the broker remembers for them.

use std::error::Error as _;
use std::time::Duration;

use async_nats::jetstream::consumer::pull::Config;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, FromConsumer as _, PullConsumer};
use async_nats::jetstream::context::{RequestError, RequestErrorKind};
use async_nats::jetstream::stream::{ConsumerError, ConsumerErrorKind, Stream as BrokerStream};
use async_nats::jetstream::{self, ErrorCode};

use crate::broker::words_of;
use crate::link::{Cause, Consumer, Fault};

/// How long the broker remembers where a person left off.
const REMEMBERED: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How long a message may wait to be received before it is delivered again.
const RECEIVED_WITHIN: Duration = Duration::from_secs(60);
/// The most messages that were delivered and not yet received.
const MOST_UNRECEIVED: i64 = 4096;
/// How long one request for messages lasts. Until then, another program of the same person can't be told from a dead
/// one; our own lost connection is recognised at once.
pub(super) const PULL: Duration = Duration::from_secs(10);
/// The longest name that the broker accepts, in bytes.
const LONGEST_DURABLE: usize = 128;

/// The field of a consumer's metadata that tells which program follows.
const PROGRAM: &str = "hearken-program";

/// The consumer of a person on the broker.
pub(super) struct ConsumerPlace {
    pub(super) consumer: PullConsumer,
    /// How many messages were missed.
    pub(super) missed: u64,
}

impl ConsumerPlace {
    /// Returns where a person left off: the consumer that the broker remembers, or a new one. `resume_at` is the
    /// position to deliver from, if the broker has just forgotten it. Until everything that was missed has arrived, the
    /// same subjects as before are delivered.
    pub(super) async fn find(
        context: &jetstream::Context,
        wanted: &Consumer,
        program: &str,
        resume_at: &mut Option<u64>,
    ) -> Result<Self, Fault> {
        let stream = context
            .get_stream_no_info(&wanted.stream)
            .await
            .map_err(|error| Fault::Other(words_of(&error)))?;
        if let Some(name) = &wanted.durable {
            if !is_durable(name) {
                return Err(Fault::Unusable(Cause::BrokerName));
            }
            if let Ok(consumer) = stream.get_consumer::<Config>(name).await {
                let known = consumer.cached_info();
                let follower = known.config.metadata.get(PROGRAM);
                let is_ours = follower.is_some_and(|follower| follower == program);
                if known.num_waiting > 0 && !is_ours {
                    let name = name.trim_start_matches("hearken-").to_owned();
                    return Err(Fault::Other(Cause::BrokerPersonTwice { name }));
                }
                if known.num_ack_pending == 0 && known.num_waiting == 0 {
                    let missed = known.num_pending;
                    let subjects = match missed {
                        0 => wanted.subjects.clone(),
                        _ => known.config.filter_subjects.clone(),
                    };
                    let consumer = updated(&stream, consumer, subjects, program).await?;
                    return Ok(ConsumerPlace { consumer, missed });
                }
                // Messages delivered but not received would come late and out of order, and our own lost connection may
                // still wait for more: so delivery starts from there.
                *resume_at = Some(known.ack_floor.stream_sequence + 1);
                stream
                    .delete_consumer(name)
                    .await
                    .map_err(|error| consumer_fault(&error))?;
            }
        }
        let config = config(wanted, program, *resume_at);
        let consumer = stream
            .create_consumer(config)
            .await
            .map_err(|error| consumer_fault(&error))?;
        let missed = match resume_at.take() {
            Some(_) => consumer.cached_info().num_pending,
            None => 0,
        };
        Ok(ConsumerPlace { consumer, missed })
    }
}

/// Returns whether a fault means that nothing is stored there, or not yet.
pub(super) fn is_missing(fault: &Fault) -> bool {
    matches!(
        fault,
        Fault::Other(Cause::BrokerNoStream | Cause::BrokerNoStreams)
    )
}

/// Returns whether the broker accepts a text as the name of a consumer.
pub(super) fn is_durable(name: &str) -> bool {
    name.len() <= LONGEST_DURABLE
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_=".contains(&byte))
}

/// Returns a consumer that delivers these subjects to this program, from where it is.
pub(super) async fn updated(
    stream: &BrokerStream<()>,
    consumer: PullConsumer,
    subjects: Vec<String>,
    program: &str,
) -> Result<PullConsumer, Fault> {
    let known = consumer.cached_info().config.clone();
    let is_ours = known.metadata.get(PROGRAM).is_some_and(|it| it == program);
    if is_ours && known.filter_subjects == subjects {
        return Ok(consumer);
    }
    let mut config =
        Config::try_from_consumer_config(known).map_err(|_| Fault::Unusable(Cause::BrokerName))?;
    config.filter_subjects = subjects;
    config
        .metadata
        .insert(PROGRAM.to_owned(), program.to_owned());
    stream
        .update_consumer(config)
        .await
        .map_err(|error| Fault::Other(words_of(&error)))
}

fn config(wanted: &Consumer, program: &str, resume_at: Option<u64>) -> Config {
    Config {
        metadata: [(PROGRAM.to_owned(), program.to_owned())].into(),
        durable_name: wanted.durable.clone(),
        deliver_policy: match resume_at {
            Some(start_sequence) => DeliverPolicy::ByStartSequence { start_sequence },
            None => DeliverPolicy::New,
        },
        ack_policy: AckPolicy::All,
        ack_wait: RECEIVED_WITHIN,
        max_ack_pending: MOST_UNRECEIVED,
        filter_subjects: wanted.subjects.clone(),
        inactive_threshold: match wanted.durable {
            Some(_) => REMEMBERED,
            None => 3 * PULL,
        },
        ..Config::default()
    }
}

fn consumer_fault(error: &ConsumerError) -> Fault {
    match error.kind() {
        ConsumerErrorKind::TimedOut => Fault::TimedOut,
        ConsumerErrorKind::JetStream(inner)
            if inner.error_code() == ErrorCode::STREAM_NOT_FOUND =>
        {
            Fault::Other(Cause::BrokerNoStream)
        }
        ConsumerErrorKind::JetStream(inner)
            if [
                ErrorCode::JETSTREAM_NOT_ENABLED,
                ErrorCode::JETSTREAM_NOT_ENABLED_FOR_ACCOUNT,
            ]
            .contains(&inner.error_code()) =>
        {
            Fault::Other(Cause::BrokerNoStreams)
        }
        // Nobody answers there if nothing is stored at all.
        ConsumerErrorKind::Request if asks_nobody(error) => Fault::Other(Cause::BrokerNoStreams),
        ConsumerErrorKind::Request
        | ConsumerErrorKind::InvalidConsumerType
        | ConsumerErrorKind::InvalidName
        | ConsumerErrorKind::JetStream(_)
        | ConsumerErrorKind::Other => Fault::Other(words_of(error)),
    }
}

/// Returns whether a request failed because nobody answers under its subject.
fn asks_nobody(error: &ConsumerError) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref());
    cause.is_some_and(|cause: &RequestError| cause.kind() == RequestErrorKind::NoResponders)
}
