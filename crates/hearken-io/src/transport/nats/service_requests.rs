//! What a dialect wants beside the stream: requests to services, and what to follow.
//!
//! Responsibilities: carrying requests out, with one answer, several or none. Not here: what they are about (a
//! dialect).

use std::future::Future;
use std::time::Duration;

use async_nats::client::RequestErrorKind;
use async_nats::{Client, HeaderMap, Message, StatusCode, Subscriber};
use futures_util::StreamExt as _;
use tokio::sync::{mpsc, watch};

use crate::broker::words_of;
use crate::link::{
    Address, Consumer, DeliveryFailure, Fault, HttpAnswer, LinkEvent, Receipt, ServiceAnswers,
    ServiceCall, Stream, UnstoredSubjects,
};
use crate::transport::halves::Poster;
use crate::transport::link_sink::LinkSink;
use crate::transport::outside_text::readable;

/// What a dialect decided about an attempt.
#[derive(Debug)]
pub(super) enum NatsConnectDecision {
    Follow(Consumer),
    Listen(UnstoredSubjects),
    Refuse(Fault),
}

/// The half that makes requests.
pub(crate) struct NatsPoster {
    pub(super) courses: mpsc::UnboundedSender<NatsConnectDecision>,
    pub(super) client: watch::Receiver<Option<Client>>,
    pub(super) limit: Duration,
    /// The largest answer of several that is passed on, in bytes.
    pub(super) largest: usize,
}

/// The header of an error's code.
const ERROR_CODE: &str = "Nats-Service-Error-Code";
/// The header of an error's words.
const ERROR: &str = "Nats-Service-Error";
/// How long a server may take to report that nobody receives a message. Usually a second message, unless the server
/// stops it, shows sooner that there is nothing to report.
const NOBODY_REPORTED: Duration = Duration::from_secs(1);

impl Poster for NatsPoster {
    fn post(
        &self,
        body: String,
    ) -> impl Future<Output = Result<Receipt, DeliveryFailure>> + Send + 'static {
        drop(body);
        // Every message needs a subject.
        std::future::ready(Err(DeliveryFailure::Kept(Fault::OneWay)))
    }

    fn call_service(
        &self,
        request: u64,
        call: ServiceCall,
        sink: LinkSink,
    ) -> impl Future<Output = Result<HttpAnswer, Fault>> + Send + 'static {
        let mut up = self.client.clone();
        let client = up.borrow_and_update().clone();
        let (limit, largest) = (self.limit, self.largest);
        async move {
            let client = client.ok_or(Fault::Refused)?;
            let several = ResponseStream {
                request,
                largest,
                sink: &sink,
            };
            match call.answers {
                ServiceAnswers::One => ask(&client, call, limit).await,
                ServiceAnswers::Gathered(time) => gather(&client, call, time, several).await,
                ServiceAnswers::Unanswered => publish(&client, call, limit).await,
                ServiceAnswers::Streamed => tokio::select! {
                    biased;
                    // Without the connection nothing more comes.
                    _ = up.changed() => Err(Fault::Closed),
                    outcome = stream(&client, call, several) => outcome,
                },
            }
        }
    }

    fn follow(&self, stream: Stream) {
        let course = match stream.at {
            Address::Stored(consumer) => NatsConnectDecision::Follow(consumer),
            Address::Passing(passing) => NatsConnectDecision::Listen(passing),
            Address::Given | Address::GivenAt(_) | Address::Path(_) | Address::Named(_) => return,
        };
        // This fails only if the link is over.
        let _ = self.courses.send(course);
    }

    fn refuse(&self, fault: Fault) {
        let _ = self.courses.send(NatsConnectDecision::Refuse(fault));
    }
}

fn headers(call: &ServiceCall) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in &call.headers {
        let one_line: String = value.chars().filter(|sign| !sign.is_control()).collect();
        headers.insert(*name, one_line.as_str());
    }
    headers
}

/// Makes a request with one answer.
async fn ask(client: &Client, call: ServiceCall, limit: Duration) -> Result<HttpAnswer, Fault> {
    let request = async_nats::client::Request::new()
        .headers(headers(&call))
        .payload(call.body.into())
        .timeout(Some(limit));
    let answer = client
        .send_request(call.subject, request)
        .await
        .map_err(|error| match error.kind() {
            RequestErrorKind::NoResponders => Fault::Refused,
            RequestErrorKind::TimedOut => Fault::TimedOut,
            RequestErrorKind::MaxPayloadExceeded => Fault::TooLarge {
                limit: client.max_payload(),
            },
            RequestErrorKind::InvalidSubject | RequestErrorKind::Other => {
                Fault::Other(words_of(&error))
            }
        })?;
    let status = error_of(&answer).map(|(code, _)| code);
    let body = String::from_utf8_lossy(&answer.payload).into_owned();
    Ok(answered(status.unwrap_or(200), body))
}

/// Returns the code and the words of an error that the headers of an answer name.
fn error_of(answer: &Message) -> Option<(u16, String)> {
    let headers = answer.headers.as_ref()?;
    let code = headers.get(ERROR_CODE)?.as_str().parse();
    let words = headers.get(ERROR).map(|words| words.as_str().to_owned());
    // An error without a numeric code is an error all the same.
    Some((code.unwrap_or(500), words.unwrap_or_default()))
}

fn answered(status: u16, body: String) -> HttpAnswer {
    HttpAnswer {
        status,
        location: None,
        retry_after: None,
        body,
    }
}

fn lost(error: &dyn std::error::Error) -> Fault {
    Fault::Other(words_of(error))
}

fn fits(client: &Client, call: &ServiceCall) -> Result<(), Fault> {
    let limit = client.max_payload();
    match call.body.len() > limit {
        true => Err(Fault::TooLarge { limit }),
        false => Ok(()),
    }
}

/// Publishes a request whose answers come to an inbox, and returns the inbox.
async fn begin(client: &Client, call: ServiceCall) -> Result<(String, Subscriber), Fault> {
    fits(client, &call)?;
    let inbox = client.new_inbox();
    let answers = client
        .subscribe(inbox.clone())
        .await
        .map_err(|error| lost(&error))?;
    let headers = headers(&call);
    client
        .publish_with_reply_and_headers(call.subject, inbox.clone(), headers, call.body.into())
        .await
        .map_err(|error| lost(&error))?;
    Ok((inbox, answers))
}

/// Publishes a message that nobody answers; fails with [`Fault::Refused`] if nobody receives it.
async fn publish(client: &Client, call: ServiceCall, limit: Duration) -> Result<HttpAnswer, Fault> {
    let (inbox, mut answers) = begin(client, call).await?;
    // A server handles the messages of a connection in their order: if this one arrives, the server had nothing to
    // report.
    client
        .publish(inbox, "".into())
        .await
        .map_err(|error| lost(&error))?;
    match tokio::time::timeout(limit.min(NOBODY_REPORTED), answers.next()).await {
        Ok(Some(answer)) if answer.status == Some(StatusCode::NO_RESPONDERS) => Err(Fault::Refused),
        Ok(Some(_)) | Err(_) => Ok(answered(200, String::new())),
        Ok(None) => Err(Fault::Closed),
    }
}

/// Where several answers to one request go.
struct ResponseStream<'a> {
    request: u64,
    largest: usize,
    sink: &'a LinkSink,
}

impl ResponseStream<'_> {
    /// Passes an answer on; returns whether there is still somebody to pass it to.
    async fn put(&self, answer: &Message) -> bool {
        let limit = self.largest;
        let event = match answer.payload.len() > limit {
            true => LinkEvent::Dropped {
                fault: Fault::TooLarge { limit },
                count: 1,
            },
            false => LinkEvent::Piece {
                request: self.request,
                text: readable(&answer.payload).into_owned(),
            },
        };
        self.sink.put(event).await.is_ok()
    }
}

/// Makes a request with a stream of answers, which go to the sink, until an empty one without headers.
async fn stream(
    client: &Client,
    call: ServiceCall,
    several: ResponseStream<'_>,
) -> Result<HttpAnswer, Fault> {
    let (_, mut answers) = begin(client, call).await?;
    while let Some(answer) = answers.next().await {
        if answer.status == Some(StatusCode::NO_RESPONDERS) {
            return Err(Fault::Refused);
        }
        if let Some((code, words)) = error_of(&answer) {
            return Ok(answered(code, words));
        }
        match (answer.payload.is_empty(), &answer.headers) {
            (true, None) => return Ok(answered(200, String::new())),
            (true, Some(_)) => {}
            (false, _) if several.put(&answer).await => {}
            (false, _) => break,
        }
    }
    Err(Fault::Closed)
}

/// Makes a request with several answers, which go to the sink.
async fn gather(
    client: &Client,
    call: ServiceCall,
    time: Duration,
    several: ResponseStream<'_>,
) -> Result<HttpAnswer, Fault> {
    let (_, mut answers) = begin(client, call).await?;
    let end = tokio::time::Instant::now() + time;
    let mut is_first = true;
    loop {
        let answer = match tokio::time::timeout_at(end, answers.next()).await {
            Ok(Some(answer)) => answer,
            Ok(None) | Err(_) => break,
        };
        if is_first && answer.status == Some(StatusCode::NO_RESPONDERS) {
            return Err(Fault::Refused);
        }
        if answer.payload.is_empty() {
            break;
        }
        is_first = false;
        if !several.put(&answer).await {
            break;
        }
    }
    Ok(answered(200, String::new()))
}
