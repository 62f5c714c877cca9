//! `hearken bridge`: agents of this machine, offered to watchers elsewhere.
//!
//! Responsibilities: a bridge's sources and places, who may reach it, the loop between the pure bridge and its sockets,
//! its lines on standard error. Not here: a watcher's rights (`bridge` in the core), serving, opening sources.

use std::collections::BTreeMap;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::{mpsc, oneshot};

use crate::announce::{Arg, Phrases, Reason};
use crate::app::{Exit, Input, phrase_text};
use crate::bridge::{Bridge, BridgeEffect, BridgeInput};
use crate::broker::{BrokerAddress, BrokerEvent, BrokerRequest};
use crate::cli::BridgeArguments;
use crate::config::{Dialect, FaceChoice, VoiceChoice};
use crate::dialect::fleet::{
    BRIDGE, BridgeReport, Request, RequestContent, RequestFault, RequestOutcome,
};
use crate::link::{Cause, Fault, Phrase, PhraseArg};
use crate::platform;
use crate::platform::files::open_to_read;
use crate::platform::system_signals::{Termination, TerminationSignals};
use crate::producer::{
    self, Admission, Host, ListenAddress, PendingAnswer, ProducerSettings, PromptAnswer,
    PromptReceiver, RequestReceiver, Retention, RunningServer,
};
use crate::protocol::{Now, Reply};
use crate::transport::Secret;

use super::broker_place::{BrokerSide, WatcherRequest};
use super::request_failure::{self, RequestFailure};
use super::run_plan::Plan;
use super::source_feed::SourceFeeds;
use super::{agent_commands, demo_server, person_wording};

/// The most requests and replies that may wait for the loop: more than all connections together may have under way.
const WAITING: usize = 8192;
/// How many events a second are asked of a source: more than any agent has.
const MOST_EVENTS: u64 = 10_000;
/// The longest name of a machine, in characters.
const LONGEST_NAME: usize = 64;

/// What is at the bridge's address, for people who open it.
const ABOUT: &str = "hearken's bridge: agents of this machine over AAEP 1.0.0.\n";

/// What a watcher or another subscriber wants.
enum WatcherMessage {
    Request(Request, oneshot::Sender<String>),
    Reply(Reply),
}

/// Offers sources to watchers until an interrupt, until no source is left, or until the pipes that carry it end.
///
/// # Errors
/// When a source, a place or the settings can't be used.
pub async fn bridge(
    wanted: &BridgeArguments,
    words: &Phrases,
    announce: &dyn Fn(&str),
) -> anyhow::Result<Exit> {
    let places = demo_server::entrances(&wanted.serve)?;
    let broker = wanted
        .to
        .as_deref()
        .map(|to| broker_at(to, wanted.allow_plain_http));
    let broker = broker.transpose()?;
    let takes_stdin = places.contains(&ListenAddress::Pipes);
    anyhow::ensure!(
        !(takes_stdin && wanted.sources.iter().any(|source| source == "-")),
        RequestFailure::new("call.bridge.stdin_twice")
    );
    let token = match &wanted.serve_token_file {
        Some(file) => Some(token_in(file)?),
        None => None,
    };
    admits_no_stranger(&places, token.is_some(), wanted.allow_plain_http)?;
    let host = host_name(wanted.name.as_deref())?;
    let plan = plan(wanted)?;
    // Before the announcement: its reader may interrupt immediately.
    let mut leaving = TerminationSignals::listen()?;
    let (inbox, mut waiting) = mpsc::channel(WAITING);
    let secret = token.as_ref().and_then(Secret::in_message);
    let admission = Admission::new(secret, wanted.allow_origin.clone());
    let setup = plan.setup;
    let mut outlet = match broker {
        Some(address) => {
            let published = BrokerSide::begin(address, plan.links.clone(), &host, setup.seed);
            Outlet::Broker(Box::new(published))
        }
        None => Outlet::Served(serve(&host, &places, admission, inbox, setup.seed, words).await?),
    };
    let names: Vec<&str> = setup.sources.iter().map(|one| one.name.as_str()).collect();
    let args = [
        ("sources", Arg::own(names.join(", "))),
        ("host", Arg::Name(host.clone())),
        ("places", Arg::Own(outlet.places(wanted, words))),
    ];
    announce(&words.text("bridge.at", &args));

    let bridge = Bridge::new(host, &setup.config, &setup.keys, setup.seed, setup.sources);
    let mut shell = BridgeShell {
        bridge,
        feeds: SourceFeeds::open(plan.feeds, plan.links)?,
        started: Instant::now(),
        outcomes: BTreeMap::new(),
        requests: 0,
        is_down: false,
        left_out: 0,
        exit: None,
    };
    shell.take(BridgeInput::Start, &mut outlet);
    let exit = loop {
        let deadline = shell.bridge.deadline();
        let deadline = deadline.and_then(|at| shell.started.checked_add(at));
        tokio::select! {
            biased;
            told = leaving.received() => break match told {
                Termination::Interrupt => Exit::Interrupted,
                Termination::End => Exit::Terminated,
            },
            news = outlet.next() => match news {
                OutletNews::Over => break Exit::Clean,
                OutletNews::Broker(event) => {
                    if let Some(line) = shell.broker(event, &mut outlet, words) {
                        announce(&line);
                    }
                }
            },
            Some(wanted) = waiting.recv() => shell.wanted(wanted, &mut outlet),
            () = super::until(deadline) => shell.take(BridgeInput::Deadline, &mut outlet),
            input = shell.feeds.next() => {
                if let Input::Link { link, event } = input {
                    shell.take(BridgeInput::Link { link, event }, &mut outlet);
                }
            }
        }
        if let Some(line) = shell.left_out(&mut outlet, words) {
            announce(&line);
        }
        if let Some(exit) = shell.exit {
            break exit;
        }
        // The links share this thread: yielding lets them carry out their orders, however busy the loop is.
        tokio::task::yield_now().await;
    };
    shell.take(BridgeInput::End, &mut outlet);
    // Outcomes that are still missing go out as such while their connections close.
    shell.outcomes.clear();
    outlet.stop().await;
    shell.feeds.close().await;
    Ok(exit)
}

/// Returns what a bridge opens and follows.
fn plan(wanted: &BridgeArguments) -> anyhow::Result<Plan> {
    let mut options = wanted.options();
    // Nothing is shown, and nothing is said.
    (options.face, options.voice) = (Some(FaceChoice::Json), Some(VoiceChoice::None));
    let mut plan = super::run_plan::watch(&wanted.sources, wanted.program.clone(), &options)?;
    // Each watcher agrees with the bridge on how much it wants.
    plan.setup.config.handshake.max_events_per_second = MOST_EVENTS;
    let folder = wanted.cwd.as_deref();
    let folder = folder
        .map(|path| agent_commands::folder(Some(path)))
        .transpose()?;
    for source in &mut plan.setup.sources {
        // What a person has received on a broker is not a bridge's to remember.
        if let Some(place) = &mut source.broker {
            place.durable = None;
        }
        // An agent that is started waits to be spoken to in its protocol.
        if source.program && source.dialect == Dialect::Auto {
            source.dialect = Dialect::Acp;
        }
        if let Some(folder) = folder.as_ref().filter(|_| source.program) {
            source.folder = folder.to_string_lossy().into_owned();
        }
    }
    if folder.is_some() {
        plan.links.folder = folder;
    }
    Ok(plan)
}

/// Returns the name of this machine for watchers.
fn host_name(chosen: Option<&str>) -> Result<String, RequestFailure> {
    let name = chosen.map_or_else(platform::machine_name, str::to_owned);
    let fits = |name: &str| {
        (1..=LONGEST_NAME).contains(&name.chars().count())
            && name
                .chars()
                .all(|sign| sign.is_alphanumeric() || matches!(sign, '-' | '_' | '.'))
    };
    match (fits(&name), chosen) {
        (true, _) => Ok(name),
        (false, Some(_)) => Err(RequestFailure::new("call.bridge.name").with("name", name)),
        (false, None) => Err(RequestFailure::new("call.bridge.no_name")),
    }
}

fn token_in(file: &std::path::Path) -> anyhow::Result<Secret> {
    let text = open_to_read(file)
        .and_then(std::io::read_to_string)
        .map_err(|error| RequestFailure::unreadable(file, Reason::of_reading(&error)))?;
    let secret = Secret::new(&text);
    let is_empty = secret.in_message().is_none_or(str::is_empty);
    anyhow::ensure!(
        !is_empty,
        RequestFailure::new("call.bridge.no_token").with("file", file.display())
    );
    Ok(secret)
}

/// Checks that nobody on the network can answer an agent's questions unless they have the token, and that the person
/// knows that it is sent without encryption.
fn admits_no_stranger(
    places: &[ListenAddress],
    has_token: bool,
    plain: bool,
) -> anyhow::Result<()> {
    for place in places {
        let ListenAddress::Address(address) = place else {
            continue;
        };
        let mut all = address
            .to_socket_addrs()
            .map_err(|error| {
                let failure = RequestFailure::new("call.listening").with("names", address);
                failure.because(Reason::of_system(&error))
            })?
            .peekable();
        let is_near = all.peek().is_some() && all.all(|one: SocketAddr| one.ip().is_loopback());
        if !is_near && !has_token {
            anyhow::bail!(RequestFailure::new("call.bridge.open").with("place", address));
        }
        if !is_near && !plain {
            anyhow::bail!(RequestFailure::new("call.bridge.plain").with("place", address));
        }
    }
    Ok(())
}

/// Begins to serve.
async fn serve(
    host: &str,
    places: &[ListenAddress],
    admission: Admission,
    inbox: mpsc::Sender<WatcherMessage>,
    seed: u64,
    words: &Phrases,
) -> anyhow::Result<RunningServer> {
    let replies = inbox.clone();
    let passing = inbox.clone();
    let requests: RequestReceiver = Arc::new(move |message| {
        Some(match Request::read(message)? {
            Ok(request) => passed_on(request, &passing),
            Err(id) => malformed(&id),
        })
    });
    let prompts: PromptReceiver = Arc::new(move |prompt| {
        let Some(words) = prompt.words() else {
            return PromptAnswer::Refused {
                code: "invalid_message",
                message: "the body wants user_message, a text that is not empty".to_owned(),
            };
        };
        let content = RequestContent::Prompt {
            agent: None,
            text: words.to_owned(),
        };
        let id = "prompt".to_owned();
        PromptAnswer::Pending(passed_on(Request { id, content }, &inbox))
    });
    let host = Host {
        id: BRIDGE.to_owned(),
        name: format!("hearken on {host}"),
        about: ABOUT.to_owned(),
        farewell: words.text("bridge.over", &[]),
        // When too many wait, the answer is dropped, and its sender sees that nothing came of it.
        answers: Some(Arc::new(move |reply| {
            drop(replies.try_send(WatcherMessage::Reply(reply)));
        })),
        requests: Some(requests),
        prompts: Some(prompts),
        admission: Some(admission),
    };
    let hearer = demo_server::told_to(&demo_server::log(words), words);
    let settings = ProducerSettings {
        hearer: Some(hearer),
        ..ProducerSettings::new(host, seed)
    };
    let running = producer::serve(places, settings).await.map_err(|error| {
        let names: Vec<String> = places.iter().map(ListenAddress::to_string).collect();
        let failure = RequestFailure::new("call.listening").with("names", names.join(", "));
        failure.because(Reason::of_system(&error))
    })?;
    Ok(running)
}

/// Passes a request on to the loop. One that the loop can't take, or never gets to, perhaps arrived.
fn passed_on(request: Request, inbox: &mpsc::Sender<WatcherMessage>) -> PendingAnswer {
    let (sender, answer) = oneshot::channel();
    let otherwise = RequestOutcome::Perhaps(RequestFault::Ending).to_json(&request.id);
    // When too many wait, the sender is dropped with the request, and the other answer counts.
    let _ = inbox.try_send(WatcherMessage::Request(request, sender));
    PendingAnswer { answer, otherwise }
}

/// Answers a message that is meant as a request, but is malformed.
fn malformed(id: &str) -> PendingAnswer {
    let reason = RequestFault::Other("the request is malformed".to_owned());
    // Its sender is dropped, so the other answer counts at once.
    let (_, answer) = oneshot::channel();
    let otherwise = RequestOutcome::NotTaken(reason).to_json(id);
    PendingAnswer { answer, otherwise }
}

/// Reads the address of a broker.
fn broker_at(text: &str, allow_plain: bool) -> Result<BrokerAddress, RequestFailure> {
    BrokerAddress::parse(text, allow_plain).map_err(|error| request_failure::source(&error).into())
}

/// Where watchers find the bridge.
enum Outlet {
    /// At places of its own.
    Served(RunningServer),
    /// On a broker.
    Broker(Box<BrokerSide>),
}

/// What happens there.
enum OutletNews {
    /// It has ended.
    Over,
    /// An event of the broker.
    Broker(BrokerEvent),
}

impl Outlet {
    fn publish(&mut self, text: &str, lasting: &Retention) {
        match self {
            Self::Served(running) => running.producer().publish(text, lasting),
            Self::Broker(published) => published.publish(text, lasting),
        }
    }

    /// Returns how many open questions later watchers are not told of.
    fn questions_left_out(&self) -> u64 {
        match self {
            Self::Served(running) => running.producer().questions_left_out(),
            Self::Broker(published) => published.questions_left_out(),
        }
    }

    /// Waits for what happens next.
    async fn next(&mut self) -> OutletNews {
        match self {
            Self::Served(running) => {
                running.over().await;
                OutletNews::Over
            }
            Self::Broker(published) => match published.next().await {
                Some(event) => OutletNews::Broker(event),
                None => OutletNews::Over,
            },
        }
    }

    /// Returns the places for people.
    fn places(&self, wanted: &BridgeArguments, words: &Phrases) -> String {
        match self {
            Self::Served(running) => demo_server::place_names(running.places(), words),
            Self::Broker(_) => wanted.to.clone().unwrap_or_default(),
        }
    }

    async fn stop(self) {
        match self {
            Self::Served(running) => running.stop().await,
            Self::Broker(published) => published.close().await,
        }
    }
}

/// Where the outcome of a request goes.
enum Requester {
    /// To a watcher that gave the request a name.
    Named(String, oneshot::Sender<String>),
    /// Back over the broker.
    Broker(oneshot::Sender<Vec<String>>),
}

impl Requester {
    fn answer(self, outcome: &RequestOutcome) {
        // A watcher that has left needs none.
        match self {
            Self::Named(id, sender) => drop(sender.send(outcome.to_json(&id))),
            Self::Broker(sender) => drop(sender.send(vec![outcome.to_result()])),
        }
    }
}

/// The bridge, and what its effects act on.
struct BridgeShell {
    bridge: Bridge,
    feeds: SourceFeeds,
    started: Instant,
    /// Where the outcomes of requests go, by number.
    outcomes: BTreeMap<u64, Requester>,
    /// The number of requests so far.
    requests: u64,
    /// Whether people were told that the broker can't be reached.
    is_down: bool,
    /// The last reported number of questions that later watchers are not told of.
    left_out: u64,
    exit: Option<Exit>,
}

impl BridgeShell {
    /// Passes on what a watcher wants.
    fn wanted(&mut self, wanted: WatcherMessage, outlet: &mut Outlet) {
        match wanted {
            WatcherMessage::Reply(reply) => self.take(BridgeInput::Reply(reply), outlet),
            WatcherMessage::Request(request, outcome) => {
                let requester = Requester::Named(request.id.clone(), outcome);
                self.request(request, requester, outlet);
            }
        }
    }

    fn request(&mut self, request: Request, requester: Requester, outlet: &mut Outlet) {
        self.requests += 1;
        let number = self.requests;
        self.outcomes.insert(number, requester);
        self.take(BridgeInput::Request { number, request }, outlet);
    }

    /// Handles an event of the broker; returns a line for people if it calls for one.
    fn broker(
        &mut self,
        event: BrokerEvent,
        outlet: &mut Outlet,
        words: &Phrases,
    ) -> Option<String> {
        let own = |number: String| PhraseArg::Own(number);
        let (phrase, is_for_watchers) = match event {
            BrokerEvent::SignDue(sign) => {
                let census = self.bridge.census(self.now());
                // If the connection was lost meanwhile, none is needed.
                let _ = sign.send(census.write());
                return None;
            }
            BrokerEvent::Request(request) => {
                self.broker_request(request, outlet);
                return None;
            }
            BrokerEvent::Up => {
                self.is_down = false;
                (Phrase::new("bridge.broker.up"), false)
            }
            // Each further attempt fails for the same reason, or for one that is soon said.
            BrokerEvent::Down(_) if self.is_down => return None,
            BrokerEvent::Down(fault) => {
                self.is_down = true;
                let key = match fault {
                    Fault::Other(Cause::BrokerStreamGone | Cause::BrokerSmall) => {
                        "bridge.broker.stores_nothing"
                    }
                    _ => "bridge.broker.down",
                };
                let reason = PhraseArg::Fault(fault);
                (Phrase::new(key).with("reason", reason), false)
            }
            BrokerEvent::Failed(fault) => {
                self.exit = Some(Exit::NoSource);
                let reason = PhraseArg::Fault(fault);
                (
                    Phrase::new("bridge.broker.failed").with("reason", reason),
                    false,
                )
            }
            BrokerEvent::LeftOut(count) => {
                let count = own(count.to_string());
                (
                    Phrase::new("bridge.broker.left_out").with("count", count),
                    true,
                )
            }
            BrokerEvent::StoresNothing(fault) => {
                let reason = PhraseArg::Fault(fault);
                let phrase = Phrase::new("bridge.broker.stores_nothing");
                (phrase.with("reason", reason), false)
            }
            BrokerEvent::Stores => (Phrase::new("bridge.broker.stores"), false),
            BrokerEvent::TooLarge { size, limit, asks } => {
                let phrase = match asks {
                    Some(agent) => Phrase::new("bridge.broker.too_large.question")
                        .with("agent", PhraseArg::Name(agent)),
                    None => Phrase::new("bridge.broker.too_large"),
                };
                let phrase = phrase
                    .with("size", own(size.to_string()))
                    .with("limit", own(limit.to_string()));
                (phrase, true)
            }
            BrokerEvent::Clock(seconds) => {
                let key = match seconds > 0 {
                    true => "bridge.broker.clock.ahead",
                    false => "bridge.broker.clock.behind",
                };
                let number = own(seconds.unsigned_abs().to_string());
                (Phrase::new(key).with("n", number), true)
            }
        };
        let line = phrase_text(words, &phrase);
        if is_for_watchers {
            self.take(BridgeInput::Announce(phrase), outlet);
        }
        Some(line)
    }

    /// Returns words about questions that later watchers are not told of: at the first, and whenever their number has
    /// doubled. Watchers are told once.
    fn left_out(&mut self, outlet: &mut Outlet, words: &Phrases) -> Option<String> {
        let count = outlet.questions_left_out();
        if count < (2 * self.left_out).max(1) {
            return None;
        }
        if std::mem::replace(&mut self.left_out, count) == 0 {
            self.take(BridgeInput::Forgets, outlet);
        }
        let number = PhraseArg::Own(count.to_string());
        Some(phrase_text(
            words,
            &Phrase::new("bridge.left_out").with("n", number),
        ))
    }

    fn broker_request(&mut self, request: BrokerRequest, outlet: &mut Outlet) {
        let Outlet::Broker(published) = outlet else {
            return;
        };
        match published.read(&request) {
            WatcherRequest::Now(messages) => drop(request.answer.send(messages)),
            WatcherRequest::Request(wanted) => {
                let requester = Requester::Broker(request.answer);
                self.request(wanted, requester, outlet);
            }
            WatcherRequest::Malformed => {
                Requester::Broker(request.answer).answer(&RequestOutcome::Unknown)
            }
        }
    }

    fn now(&self) -> Now {
        Now {
            monotonic: self.started.elapsed(),
            wall: jiff::Timestamp::now(),
        }
    }

    /// Passes a fact to the bridge, and carries out the effects.
    fn take(&mut self, input: BridgeInput, outlet: &mut Outlet) {
        for effect in self.bridge.update(input, self.now()) {
            match effect {
                BridgeEffect::Publish(text) => {
                    outlet.publish(&text, &Retention::AsItsType);
                }
                BridgeEffect::Report { text, report } => {
                    let lasting = match report {
                        BridgeReport::Standing(_) => Retention::Latest,
                        BridgeReport::Closed { question, .. } => {
                            Retention::Closes(question.as_str().to_owned())
                        }
                        BridgeReport::Notice { .. } | BridgeReport::Danger(_) => Retention::Passing,
                    };
                    outlet.publish(&text, &lasting);
                }
                BridgeEffect::Outcome { number, outcome } => {
                    if let Some(requester) = self.outcomes.remove(&number) {
                        requester.answer(&outcome);
                    }
                }
                BridgeEffect::Link { link, order } => self.feeds.carry_out(link, order),
                BridgeEffect::Over(exit) => self.exit = Some(exit),
            }
        }
    }
}

/// Returns the phrases of a bridge's own lines.
///
/// # Errors
/// When the settings can't be read.
pub fn bridge_words(wanted: &BridgeArguments) -> anyhow::Result<Phrases> {
    person_wording::phrases_for(wanted.config.as_deref(), &wanted.language)
}
