//! The routes: the plain pair, `GET /events` and `POST /messages`, as in today's producers, and the
//! handshake's under `/aaep/v1` (appendix B.1).
//!
//! Responsibilities: the routes, their answers, the limits of a request. Not here: listening
//! (`producer_server`), what is agreed in a handshake and how a stream keeps to it (`subscription_handshake`).

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE,
};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::upgrade::OnUpgrade;
use serde_json::{Map, Value, json};

use super::admission::NotAdmitted;
use super::agreed_terms::{SharedTerms, SubscriptionRefusal};
use super::host::{PROMPT_WORDS, PendingAnswer, Prompt, PromptAnswer};
use super::hub::Subscriber;
use super::posted_reply::Malformed;
use super::producer_handle::Producer;
use super::running_session::AAEP_VERSION;
use super::shaper::Shaper;
use super::sse_body::{EventBody, HEARTBEAT};
use super::verdict::PostVerdict;
use super::websocket_upgrade;

/// The path where an agent is started or prompted by a person's words.
pub const PROMPTS: &str = "/sessions";
/// The largest request that is read, in bytes: the largest AAEP message (chapter 3.7).
const MAX_REQUEST_BYTES: usize = 64 * 1024;
/// How long a client may take to send a request's body.
const REQUEST_TIME: Duration = Duration::from_secs(10);
/// When a client that was turned away should try again, in seconds.
const RETRY_SECONDS: &str = "5";

/// The paths, for people who open the address.
const PATHS: &str = "\
GET  /events    the agents' events, as server-sent events
POST /messages  replies: confirmation.reply, clarification.reply
POST /sessions  prompts an agent: {\"user_message\": TEXT}
GET  /healthz   whether the server is well, and its counts
With a handshake (chapter 5):
GET  /.well-known/aaep-manifest.json   what is offered
POST /aaep/v1/subscriptions            subscription.request; the answer says where the stream is
POST /aaep/v1/replies                  replies, subscription.renegotiate, subscription.close
GET  /aaep/v1/ws                       all of that over a WebSocket (aaep.v1)
";

/// The body type of every answer.
pub(super) type ResponseBody = UnsyncBoxBody<Bytes, std::io::Error>;

/// The connection after a request has turned it into a WebSocket.
pub(super) type UpgradeSlot = Arc<Mutex<Option<OnUpgrade>>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HttpRoute {
    About,
    Health,
    Events,
    Messages,
    Sessions,
    Manifest,
    Subscriptions,
    Agreed,
    Replies,
    WebSocket,
}

impl HttpRoute {
    fn of(path: &str) -> Option<Self> {
        match path {
            "/" => Some(HttpRoute::About),
            "/healthz" => Some(HttpRoute::Health),
            "/events" => Some(HttpRoute::Events),
            "/messages" => Some(HttpRoute::Messages),
            PROMPTS => Some(HttpRoute::Sessions),
            "/.well-known/aaep-manifest.json" => Some(HttpRoute::Manifest),
            "/aaep/v1/subscriptions" => Some(HttpRoute::Subscriptions),
            "/aaep/v1/events" => Some(HttpRoute::Agreed),
            "/aaep/v1/replies" => Some(HttpRoute::Replies),
            "/aaep/v1/ws" => Some(HttpRoute::WebSocket),
            _ => None,
        }
    }

    fn method(self) -> Method {
        match self {
            HttpRoute::About
            | HttpRoute::Health
            | HttpRoute::Events
            | HttpRoute::Manifest
            | HttpRoute::Agreed
            | HttpRoute::WebSocket => Method::GET,
            HttpRoute::Messages
            | HttpRoute::Sessions
            | HttpRoute::Subscriptions
            | HttpRoute::Replies => Method::POST,
        }
    }
}

/// Why a request's body could not be read.
enum BodyError {
    TooLarge,
    TooSlow,
    Broken,
}

/// Answers one request.
pub(super) async fn answer(
    producer: Producer,
    request: Request<Incoming>,
    turned: UpgradeSlot,
) -> Result<Response<ResponseBody>, Infallible> {
    let admission = producer.admission().cloned();
    let page = admission
        .as_ref()
        .map(|one| one.for_page(request.headers()));
    let mut response = match admission.map_or(Ok(()), |one| one.judge(request.headers())) {
        // A browser asks before it sends a page's request.
        Ok(()) if request.method() == Method::OPTIONS && page.is_some() => {
            whole(StatusCode::NO_CONTENT, "text/plain", Bytes::new())
        }
        Ok(()) => routed(producer, request, turned).await?,
        Err(why) => not_admitted(why),
    };
    response.headers_mut().extend(page.unwrap_or_default());
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        // One request per connection: no idle client occupies a place, and none sends its request
        // into a connection that is just being closed as idle.
        let headers = response.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(response)
}

/// Returns the answer to a request that is not admitted.
fn not_admitted(why: NotAdmitted) -> Response<ResponseBody> {
    match why {
        NotAdmitted::Token => {
            let words = "this bridge wants its bearer token";
            let mut response = fault(StatusCode::UNAUTHORIZED, "no_token", words);
            let wanted = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(WWW_AUTHENTICATE, wanted);
            response
        }
        NotAdmitted::Origin => {
            let words = "this web page is not admitted; --allow-origin admits it";
            fault(StatusCode::FORBIDDEN, "other_origin", words)
        }
        NotAdmitted::Host => {
            let words = "ask for this machine by a loopback name, such as localhost";
            fault(StatusCode::FORBIDDEN, "other_host", words)
        }
    }
}

async fn routed(
    producer: Producer,
    mut request: Request<Incoming>,
    turned: UpgradeSlot,
) -> Result<Response<ResponseBody>, Infallible> {
    let Some(route) = HttpRoute::of(request.uri().path()) else {
        return Ok(fault(
            StatusCode::NOT_FOUND,
            "not_found",
            "there is nothing at this path",
        ));
    };
    if *request.method() != route.method() {
        let mut response = fault(
            StatusCode::METHOD_NOT_ALLOWED,
            "method_not_allowed",
            "this path takes another method",
        );
        if let Ok(method) = HeaderValue::from_str(route.method().as_str()) {
            response.headers_mut().insert(ALLOW, method);
        }
        return Ok(response);
    }
    Ok(match route {
        HttpRoute::About => {
            let about = format!("{}\n{PATHS}", producer.about());
            whole(StatusCode::OK, "text/plain; charset=utf-8", about.into())
        }
        HttpRoute::Health => health(&producer),
        HttpRoute::Events => events(&producer, &request, None),
        HttpRoute::Manifest => document(StatusCode::OK, &producer.manifest()),
        HttpRoute::WebSocket => websocket(&mut request, &turned),
        HttpRoute::Agreed => match subscription(&producer, &request) {
            Some(agreed) => events(&producer, &request, Some(agreed)),
            None => fault(
                StatusCode::NOT_FOUND,
                "unknown_subscription",
                "there is no such subscription; ask for one at /aaep/v1/subscriptions",
            ),
        },
        HttpRoute::Subscriptions => match read(request).await {
            Ok(body) => subscribe(&producer, &body),
            Err(unread) => unread.into(),
        },
        HttpRoute::Replies => match read(request).await {
            Ok(body) => told(&producer, &body).await,
            Err(unread) => unread.into(),
        },
        HttpRoute::Messages => match read(request).await {
            Ok(body) => message(&producer, &body).await,
            Err(unread) => unread.into(),
        },
        HttpRoute::Sessions => match read(request).await {
            Ok(body) => start(&producer, &body).await,
            Err(unread) => unread.into(),
        },
    })
}

/// Turns a request's connection into a WebSocket.
fn websocket(request: &mut Request<Incoming>, turned: &UpgradeSlot) -> Response<ResponseBody> {
    match websocket_upgrade::invite(request) {
        Ok((headers, becomes)) => {
            *turned.lock().unwrap_or_else(PoisonError::into_inner) = Some(becomes);
            let mut response = whole(StatusCode::SWITCHING_PROTOCOLS, "", Bytes::new());
            *response.headers_mut() = headers;
            response
        }
        Err(missing) => fault(StatusCode::BAD_REQUEST, "no_websocket", missing),
    }
}

fn health(producer: &Producer) -> Response<ResponseBody> {
    let counts = json!({
        "status": "ok",
        "aaep_version": AAEP_VERSION,
        "subscribers": producer.subscribers(),
        "open_sessions": producer.open_sessions(),
        "open_questions": producer.open_questions(),
        "events_sent": producer.emitted(),
        "events_dropped": producer.dropped(),
    });
    document(StatusCode::OK, &counts)
}

/// Returns the subscription that an address names, and its terms.
fn subscription(producer: &Producer, request: &Request<Incoming>) -> Option<(String, SharedTerms)> {
    let query = request.uri().query()?;
    let id = query
        .split('&')
        .find_map(|pair| pair.strip_prefix("subscription_id="))?;
    Some((id.to_owned(), producer.terms(id)?))
}

fn subscribe(producer: &Producer, body: &[u8]) -> Response<ResponseBody> {
    let message: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
    match producer.agree(&message) {
        Ok((id, consent)) => {
            let mut response = document(StatusCode::CREATED, &consent);
            let place = format!("/aaep/v1/events?subscription_id={id}");
            if let Ok(place) = HeaderValue::from_str(&place) {
                response.headers_mut().insert(LOCATION, place);
            }
            response
        }
        Err(refusal) => refused(refusal),
    }
}

fn refused(refusal: SubscriptionRefusal) -> Response<ResponseBody> {
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST);
    document(status, &refusal.message())
}

/// Handles a subscriber's message to its subscription: a reply, new terms, a farewell, or a request of a bridge.
async fn told(producer: &Producer, body: &[u8]) -> Response<ResponseBody> {
    let empty = || whole(StatusCode::NO_CONTENT, "application/json", Bytes::new());
    let message: Result<Value, Malformed> =
        serde_json::from_slice(body).map_err(|_| Malformed::NotJson);
    let kind = message
        .as_ref()
        .ok()
        .and_then(|message| message.get("type")?.as_str());
    match (kind, &message) {
        (Some("subscription.renegotiate"), Ok(message)) => match producer.renegotiate(message) {
            Ok(consent) => document(StatusCode::OK, &consent),
            Err(refusal) => refused(refusal),
        },
        (Some("subscription.close"), Ok(message)) => match producer.close(message) {
            Ok(()) => empty(),
            Err(refusal) => refused(refusal),
        },
        (_, Ok(message)) if let Some(answer) = requested(producer, message) => {
            let answer = answer.message().await;
            whole(StatusCode::OK, "application/json", answer.into())
        }
        _ => match producer.receive(message) {
            PostVerdict::Malformed(malformed) => fault(
                StatusCode::BAD_REQUEST,
                malformed.code(),
                &malformed.to_string(),
            ),
            PostVerdict::UnknownToken => fault(
                StatusCode::BAD_REQUEST,
                "invalid_token",
                "the token does not belong to any question that was asked",
            ),
            PostVerdict::Taken
            | PostVerdict::UsedToken
            | PostVerdict::TooLate
            | PostVerdict::WrongKind
            | PostVerdict::NotAllowed => empty(),
        },
    }
}

/// Passes a message on as a request, if it is one and its subscription is known.
fn requested(producer: &Producer, message: &Value) -> Option<PendingAnswer> {
    producer.terms(message.get("subscription_id")?.as_str()?)?;
    producer.request(message)
}

fn events(
    producer: &Producer,
    request: &Request<Incoming>,
    agreed: Option<(String, SharedTerms)>,
) -> Response<ResponseBody> {
    let last = request
        .headers()
        .get("last-event-id")
        .and_then(|id| id.to_str().ok())
        .filter(|id| !id.is_empty());
    let (listener, terms) = match agreed {
        Some((id, terms)) => (Subscriber::Agreed(id), Some(terms)),
        None => (Subscriber::Plain, None),
    };
    match producer.subscribe(last, listener) {
        Ok(subscription) => {
            let shaper = terms.map(|terms| Shaper::new(terms, last));
            let mut response =
                Response::new(EventBody::new(subscription, shaper, HEARTBEAT).boxed_unsync());
            let headers = response.headers_mut();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            response
        }
        Err(_full) => busy("too_many_subscribers", "no more subscribers are taken now"),
    }
}

async fn message(producer: &Producer, body: &[u8]) -> Response<ResponseBody> {
    let message: Result<Value, Malformed> =
        serde_json::from_slice(body).map_err(|_| Malformed::NotJson);
    if let Some(words) = message.as_ref().ok().and_then(user_input) {
        let fields = Map::from_iter([(PROMPT_WORDS.to_owned(), words.into())]);
        return prompt(producer, Prompt::new(fields)).await;
    }
    match producer.receive(message) {
        PostVerdict::Malformed(malformed) => fault(
            StatusCode::BAD_REQUEST,
            malformed.code(),
            &malformed.to_string(),
        ),
        // Whether a token is right is not disclosed (chapter 6.3.4).
        PostVerdict::Taken
        | PostVerdict::UnknownToken
        | PostVerdict::UsedToken
        | PostVerdict::TooLate
        | PostVerdict::WrongKind
        | PostVerdict::NotAllowed => document(StatusCode::OK, &json!({"status": "received"})),
    }
}

/// Returns the request in the message with which the protocol's conformance suite starts a session.
fn user_input(message: &Value) -> Option<&str> {
    (message.get("kind")?.as_str()? == "user_input")
        .then(|| message.get("text")?.as_str())
        .flatten()
}

async fn start(producer: &Producer, body: &[u8]) -> Response<ResponseBody> {
    match serde_json::from_slice(body) {
        Ok(Value::Object(fields)) => prompt(producer, Prompt::new(fields)).await,
        Ok(_) | Err(_) => fault(
            StatusCode::BAD_REQUEST,
            "invalid_json",
            "the body must be a JSON object",
        ),
    }
}

/// Starts or prompts an agent.
async fn prompt(producer: &Producer, prompt: Prompt) -> Response<ResponseBody> {
    match producer.prompt(&prompt) {
        Some(PromptAnswer::Begun(begun)) => document(StatusCode::ACCEPTED, &begun),
        Some(PromptAnswer::Refused { code, message }) => {
            fault(StatusCode::BAD_REQUEST, code, &message)
        }
        Some(PromptAnswer::Busy(message)) => busy("busy", &message),
        Some(PromptAnswer::Pending(outcome)) => {
            let answer = outcome.message().await;
            let outcome: Value = serde_json::from_str(&answer).unwrap_or_default();
            let status = match outcome.get("result").and_then(Value::as_str) {
                Some("taken") => StatusCode::ACCEPTED,
                Some(_) | None => StatusCode::CONFLICT,
            };
            whole(status, "application/json", answer.into())
        }
        None => fault(
            StatusCode::NOT_FOUND,
            "no_prompts",
            "this producer takes no prompts",
        ),
    }
}

async fn read(request: Request<Incoming>) -> Result<Bytes, BodyError> {
    let body = Limited::new(request.into_body(), MAX_REQUEST_BYTES).collect();
    match tokio::time::timeout(REQUEST_TIME, body).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(BodyError::TooLarge),
        Ok(Err(_)) => Err(BodyError::Broken),
        Err(_elapsed) => Err(BodyError::TooSlow),
    }
}

impl From<BodyError> for Response<ResponseBody> {
    fn from(unread: BodyError) -> Self {
        match unread {
            BodyError::TooLarge => fault(
                StatusCode::PAYLOAD_TOO_LARGE,
                "too_large",
                "the body is larger than 64 KiB",
            ),
            BodyError::TooSlow => fault(
                StatusCode::REQUEST_TIMEOUT,
                "timeout",
                "the body did not come in time",
            ),
            BodyError::Broken => fault(
                StatusCode::BAD_REQUEST,
                "invalid_body",
                "the body could not be read",
            ),
        }
    }
}

fn busy(code: &str, message: &str) -> Response<ResponseBody> {
    let mut response = fault(StatusCode::SERVICE_UNAVAILABLE, code, message);
    response
        .headers_mut()
        .insert(RETRY_AFTER, HeaderValue::from_static(RETRY_SECONDS));
    response
}

fn fault(status: StatusCode, code: &str, message: &str) -> Response<ResponseBody> {
    document(status, &json!({"error": code, "message": message}))
}

fn document(status: StatusCode, value: &Value) -> Response<ResponseBody> {
    whole(status, "application/json", value.to_string().into())
}

fn whole(status: StatusCode, content_type: &'static str, bytes: Bytes) -> Response<ResponseBody> {
    let body = Full::new(bytes).map_err(|never: Infallible| match never {});
    let mut response = Response::new(body.boxed_unsync());
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
