//! What a dialect wants beside the stream: requests to services, and what to follow.
//!
//! Responsibilities: carrying requests out, with one answer or several. Not here: what they are about (a dialect).

use std::future::Future;
use std::time::Duration;

use async_nats::client::RequestErrorKind;
use async_nats::{Client, HeaderMap};
use futures_util::StreamExt as _;
use tokio::sync::{mpsc, watch};

use crate::broker::words_of;
use crate::link::{
    Address, Consumer, Fault, HttpAnswer, LinkEvent, Receipt, ServiceCall, Stream, Undelivered,
};
use crate::transport::halves::Poster;
use crate::transport::sink::LinkSink;

/// What a dialect decided about an attempt.
#[derive(Debug)]
pub(super) enum Course {
    Follow(Consumer),
    Refuse(Fault),
}

/// The half that makes requests.
pub(crate) struct NatsPoster {
    pub(super) courses: mpsc::UnboundedSender<Course>,
    pub(super) client: watch::Receiver<Option<Client>>,
    pub(super) limit: Duration,
}

impl Poster for NatsPoster {
    fn post(
        &self,
        body: String,
    ) -> impl Future<Output = Result<Receipt, Undelivered>> + Send + 'static {
        drop(body);
        // Every message needs a subject.
        std::future::ready(Err(Undelivered::Kept(Fault::OneWay)))
    }

    fn call_service(
        &self,
        request: u64,
        call: ServiceCall,
        sink: LinkSink,
    ) -> impl Future<Output = Result<HttpAnswer, Fault>> + Send + 'static {
        let client = self.client.borrow().clone();
        let limit = self.limit;
        async move {
            let client = client.ok_or(Fault::Refused)?;
            match call.gathers {
                Some(time) => gather(&client, request, call, time, &sink).await,
                None => ask(&client, call, limit).await,
            }
        }
    }

    fn follow(&self, stream: Stream) {
        if let Address::Stored(consumer) = stream.at {
            // This fails only if the link is over.
            let _ = self.courses.send(Course::Follow(consumer));
        }
    }

    fn refuse(&self, fault: Fault) {
        let _ = self.courses.send(Course::Refuse(fault));
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
    let status = answer.headers.as_ref().and_then(|headers| {
        headers
            .get("Nats-Service-Error-Code")?
            .as_str()
            .parse()
            .ok()
    });
    Ok(HttpAnswer {
        status: status.unwrap_or(200),
        location: None,
        retry_after: None,
        body: String::from_utf8_lossy(&answer.payload).into_owned(),
    })
}

/// Makes a request with several answers, which go to the sink.
async fn gather(
    client: &Client,
    number: u64,
    call: ServiceCall,
    time: Duration,
    sink: &LinkSink,
) -> Result<HttpAnswer, Fault> {
    let lost = |error: &dyn std::error::Error| Fault::Other(words_of(error));
    let inbox = client.new_inbox();
    let mut answers = client
        .subscribe(inbox.clone())
        .await
        .map_err(|error| lost(&error))?;
    let headers = headers(&call);
    client
        .publish_with_reply_and_headers(call.subject, inbox, headers, call.body.into())
        .await
        .map_err(|error| lost(&error))?;
    let end = tokio::time::Instant::now() + time;
    let mut is_first = true;
    loop {
        let answer = match tokio::time::timeout_at(end, answers.next()).await {
            Ok(Some(answer)) => answer,
            Ok(None) | Err(_) => break,
        };
        if is_first && answer.status == Some(async_nats::StatusCode::NO_RESPONDERS) {
            return Err(Fault::Refused);
        }
        if answer.payload.is_empty() {
            break;
        }
        is_first = false;
        let text = String::from_utf8_lossy(&answer.payload).into_owned();
        let request = number;
        if sink.put(LinkEvent::Piece { request, text }).await.is_err() {
            break;
        }
    }
    Ok(HttpAnswer {
        status: 200,
        location: None,
        retry_after: None,
        body: String::new(),
    })
}
