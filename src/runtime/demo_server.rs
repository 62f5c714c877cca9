//! The demo's agent for other programs: where it is served, how it is signed, what starts it.
//!
//! Responsibilities: parsing places, writing the public key, starting a scenario for the first subscriber, the end.
//! Not here: its agents (`demo`), the server (`producer`).

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;

use crate::announce::{Arg, Phrases, Reason};
use crate::app::Exit;
use crate::demo;
use crate::platform::system_signals::{Termination, TerminationSignals};
use crate::platform::{files, pipes, sockets};
use crate::producer::{AnswerKind, Hearer, ListenAddress, PostVerdict, ProducerEvent, Signer};
use crate::transport::{self, PipeName};

use super::request_failure::RequestFailure;

/// The most log lines that may wait for a slow reader; further ones are counted.
const WAITING_LINES: usize = 256;

/// How the demo's agent is served.
#[derive(Debug, Clone, Default)]
pub struct DemoServing {
    /// The places: `HOST:PORT`, `unix:PATH`, `unix:AGENT`, `pipe:NAME` or `-`.
    pub places: Vec<String>,
    /// The scenario played to the first subscriber; others are started by a request.
    pub scenario: Option<String>,
    /// The file for the public key of the manifest's signature.
    pub sign: Option<PathBuf>,
}

/// Serves the demo's agent until an interrupt, or until the pipes that carry it end. Connections and answers are
/// logged to standard error.
///
/// # Errors
/// When a place can't be opened, the scenario does not exist or the key can't be written.
pub async fn serve(
    serving: &DemoServing,
    words: &Phrases,
    announce: &dyn Fn(&str),
) -> anyhow::Result<Exit> {
    if let Some(name) = &serving.scenario
        && !demo::names().any(|known| known == name)
    {
        anyhow::bail!(RequestFailure::new("call.scenario").with("name", format!("{name:?}")));
    }
    if let Some(script) = serving.scenario.as_deref().and_then(demo::script) {
        anyhow::ensure!(
            serving.places == ["-"],
            RequestFailure::new("call.scenario.pipes")
        );
        let settings = demo::DemoSettings::live(super::run_plan::seed()?);
        let input = tokio::io::BufReader::new(tokio::io::stdin());
        script
            .play(&settings.clock, 1.0, input, tokio::io::stdout())
            .await;
        return Ok(Exit::Clean);
    }
    let places = entrances(&serving.places)?;
    // Before the announcement: its reader may interrupt immediately.
    let mut leaving = TerminationSignals::listen_without_terminal()?;
    let mut settings = demo::DemoSettings::live(super::run_plan::seed()?);
    if let Some(file) = &serving.sign {
        let signer = Signer::generate()?;
        std::fs::write(file, signer.public_pem())
            .map_err(|error| RequestFailure::unwritable(file, &error))?;
        settings.signer = Some(Arc::new(signer));
    }
    let log = log(words);
    settings.hearer = Some(told_to(&log, words));
    settings.starts = Some(starts_to(&log, words));
    let mut running = demo::serve_at(&places, settings).await.map_err(|error| {
        RequestFailure::new("call.listening")
            .with("names", serving.places.join(", "))
            .because(Reason::of_system(&error))
    })?;
    // Without an address, no request can be posted to start a run.
    let posts = places
        .iter()
        .any(|place| matches!(place, ListenAddress::Address(_)));
    let scenario = match (&serving.scenario, posts) {
        (Some(name), _) => Some(name.clone()),
        (None, false) => Some(demo::DEFAULT.to_owned()),
        (None, true) => None,
    };
    if let Some(name) = scenario {
        let (producer, agents) = (running.producer().clone(), running.agents().clone());
        tokio::spawn(async move {
            producer.until_subscribed(1).await;
            // The name was checked; a server that is stopping starts nothing.
            let _ = agents.start(&name);
        });
    }
    let url = if posts { running.url() } else { String::new() };
    let places = place_names(running.places(), words);
    let args = [("places", Arg::Own(places)), ("url", Arg::Own(url))];
    announce(&words.text("serve.at", &args));
    let exit = tokio::select! {
        told = leaving.received() => match told {
            Termination::Interrupt => Exit::Interrupted,
            Termination::End => Exit::Terminated,
        },
        () = running.over() => Exit::Clean,
    };
    running.stop().await;
    Ok(exit)
}

/// Reads the places where something is to be served.
///
/// # Errors
/// When one can't be read, this system has none of its kind, or others could replace it.
pub(super) fn entrances(places: &[String]) -> anyhow::Result<Vec<ListenAddress>> {
    let places = places.iter().map(|place| read(place));
    let places: Vec<ListenAddress> = places.collect::<anyhow::Result<_>>()?;
    let is_socket = |place: &ListenAddress| matches!(place, ListenAddress::Socket(_));
    anyhow::ensure!(
        sockets::THERE || !places.iter().any(is_socket),
        RequestFailure::new("call.source.no_sockets")
    );
    let is_pipe = |place: &ListenAddress| matches!(place, ListenAddress::Pipe(_));
    anyhow::ensure!(
        pipes::THERE || !places.iter().any(is_pipe),
        RequestFailure::new("call.source.no_pipes")
    );
    for place in &places {
        of_owner(place)?;
    }
    Ok(places)
}

/// Returns the names of places for people.
pub(super) fn place_names(places: &[ListenAddress], words: &Phrases) -> String {
    let name = |place: &ListenAddress| match place {
        ListenAddress::Address(_) | ListenAddress::Socket(_) | ListenAddress::Pipe(_) => {
            place.to_string()
        }
        ListenAddress::Pipes => words.text("serve.pipes", &[]),
    };
    let names: Vec<String> = places.iter().map(name).collect();
    names.join(&format!(" {} ", words.text("serve.and", &[])))
}

/// Checks that no other user could replace a socket with their own.
///
/// # Errors
/// When others may write to its folder.
pub(super) fn of_owner(place: &ListenAddress) -> Result<(), RequestFailure> {
    let ListenAddress::Socket(path) = place else {
        return Ok(());
    };
    match path.parent().filter(|folder| files::is_shared(folder)) {
        Some(folder) => Err(RequestFailure::shared(folder)),
        None => Ok(()),
    }
}

/// The receiver of a line of the log.
pub(super) type LogSink = Arc<dyn Fn(String) + Send + Sync>;

/// Returns the receiver of a producer's events that logs each.
pub(super) fn told_to(log: &LogSink, words: &Phrases) -> Hearer {
    let (log, words) = (Arc::clone(log), words.clone());
    Arc::new(move |event| log(told(&words, &event)))
}

/// Returns the receiver of started scenarios that logs each.
fn starts_to(log: &LogSink, words: &Phrases) -> demo::StartHearer {
    let (log, words) = (Arc::clone(log), words.clone());
    Arc::new(move |scenario| {
        log(words.text("serve.started", &[("scenario", Arg::own(scenario))]));
    })
}

/// Returns the log on standard error, each line with its time. The agents never wait for its reader.
pub(super) fn log(words: &Phrases) -> LogSink {
    let words = words.clone();
    let (sender, lines) = mpsc::sync_channel::<String>(WAITING_LINES);
    std::thread::spawn(move || {
        for line in lines {
            // If standard error is closed, no log is wanted.
            if writeln!(std::io::stderr(), "{line}").is_err() {
                return;
            }
        }
    });
    let lost = AtomicU64::new(0);
    Arc::new(move |line| {
        let left_out = match lost.swap(0, Ordering::Relaxed) {
            0 => String::new(),
            count => words.text("serve.left_out", &[("n", Arg::own(count))]) + " ",
        };
        let time = jiff::Zoned::now().strftime("%H:%M:%S").to_string();
        let line = format!("{time} {left_out}{line}");
        if sender.try_send(line).is_err() {
            lost.fetch_add(1, Ordering::Relaxed);
        }
    })
}

/// Words an event for the log; no text from outside is in it.
fn told(words: &Phrases, event: &ProducerEvent) -> String {
    let phrase = |key: &str| Arg::Own(words.text(key, &[]));
    match event {
        ProducerEvent::Came {
            number,
            agreed,
            there,
        } => {
            let how = if *agreed {
                "link.handshake"
            } else {
                "link.plain_pair"
            };
            let args = [
                ("number", Arg::own(number)),
                ("how", phrase(how)),
                ("n", Arg::own(there)),
            ];
            words.text("serve.came", &args)
        }
        ProducerEvent::Left { number, there } => {
            let args = [("number", Arg::own(number)), ("n", Arg::own(there))];
            words.text("serve.left", &args)
        }
        ProducerEvent::Answered { answer, verdict } => {
            let answer = match answer {
                AnswerKind::Accept => "answer.accept",
                AnswerKind::Reject => "answer.reject",
                AnswerKind::Response => "serve.answer.response",
                AnswerKind::Unknown => "serve.answer.unknown",
            };
            let became = match verdict {
                PostVerdict::Taken => "serve.taken",
                PostVerdict::UnknownToken => "serve.unasked",
                PostVerdict::UsedToken => "serve.settled",
                PostVerdict::TooLate => "serve.late",
                PostVerdict::WrongKind => "serve.wrong_kind",
                PostVerdict::NotAllowed => "serve.not_allowed",
                PostVerdict::Malformed(_) => "serve.malformed",
            };
            let args = [("answer", phrase(answer)), ("became", phrase(became))];
            words.text("serve.answered", &args)
        }
    }
}

/// Parses a place; a name after `unix:` is an agent's in the first of the protocol's folders (B.4.1).
fn read(text: &str) -> anyhow::Result<ListenAddress> {
    if let Some(name) = text.strip_prefix("pipe:") {
        let name = PipeName::parse(name).ok_or_else(|| RequestFailure::new("call.source.pipe"))?;
        return Ok(ListenAddress::Pipe(name.whole().to_owned()));
    }
    Ok(match text.strip_prefix("unix:") {
        _ if text == "-" => ListenAddress::Pipes,
        Some(name) if !name.contains('/') => ListenAddress::Socket(
            transport::socket_folders()
                .into_iter()
                .next()
                .unwrap_or_default()
                .join(format!("{name}.sock")),
        ),
        Some(path) => ListenAddress::Socket(Path::new(path).to_owned()),
        None => ListenAddress::Address(text.to_owned()),
    })
}
