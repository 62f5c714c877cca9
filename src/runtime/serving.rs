//! The demo's agent for others: where it is served, how it is signed, what starts it.
//!
//! Responsibilities: reading places from words, writing the public key down, starting a scenario for
//! whoever comes first, the end. Not here: the producer itself (`demo`).

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;

use crate::announce::{Arg, Phrases, Reason};
use crate::app::Exit;
use crate::demo::{self, Answer, Entrance, News, Signer, Verdict};
use crate::platform::signals::{Leave, Leaving};
use crate::platform::{files, pipes, sockets};
use crate::transport::{self, PipeName};

use super::failure::Failure;

/// How many lines of the log may wait for a reader who is slow; what is more is counted.
const WAITING_LINES: usize = 256;

/// How the demo's agent is served.
#[derive(Debug, Clone, Default)]
pub struct Serving {
    /// Where: `HOST:PORT`, `unix:PATH`, `unix:AGENT`, `pipe:NAME` or `-`.
    pub places: Vec<String>,
    /// What is played to the first subscriber; others are started by a request.
    pub scenario: Option<String>,
    /// Where the public key goes with which the manifest is signed.
    pub sign: Option<PathBuf>,
}

/// Serves the demo's agent until an interrupt, or until the pipes end that it is spoken to by. Who comes and what
/// is answered is written to the standard error.
///
/// # Errors
/// When a place can't be listened at, the scenario is not known or the key can't be written.
pub async fn serve(
    serving: &Serving,
    words: &Phrases,
    announce: &dyn Fn(&str),
) -> anyhow::Result<Exit> {
    if let Some(name) = &serving.scenario
        && !demo::names().any(|known| known == name)
    {
        anyhow::bail!(Failure::new("call.scenario").with("name", format!("{name:?}")));
    }
    if let Some(script) = serving.scenario.as_deref().and_then(demo::script) {
        anyhow::ensure!(serving.places == ["-"], Failure::new("call.scenario.pipes"));
        let settings = demo::Settings::live(super::plan::seed()?);
        let input = tokio::io::BufReader::new(tokio::io::stdin());
        script
            .play(&settings.clock, 1.0, input, tokio::io::stdout())
            .await;
        return Ok(Exit::Clean);
    }
    let places = serving.places.iter().map(|place| read(place));
    let places: Vec<Entrance> = places.collect::<anyhow::Result<_>>()?;
    let is_socket = |place: &Entrance| matches!(place, Entrance::Socket(_));
    anyhow::ensure!(
        sockets::THERE || !places.iter().any(is_socket),
        Failure::new("call.source.no_sockets")
    );
    let is_pipe = |place: &Entrance| matches!(place, Entrance::Pipe(_));
    anyhow::ensure!(
        pipes::THERE || !places.iter().any(is_pipe),
        Failure::new("call.source.no_pipes")
    );
    // Before anything is told: who reads it may interrupt at once.
    let mut leaving = Leaving::listen_without_terminal()?;
    let mut settings = demo::Settings::live(super::plan::seed()?);
    if let Some(file) = &serving.sign {
        let signer = Signer::generate()?;
        std::fs::write(file, signer.public_pem())
            .map_err(|error| Failure::unwritable(file, &error))?;
        settings.signer = Some(Arc::new(signer));
    }
    settings.hearer = Some(log(words.clone()));
    for place in &places {
        of_owner(place)?;
    }
    let mut running = demo::serve_at(&places, settings).await.map_err(|error| {
        Failure::new("call.listening")
            .with("names", serving.places.join(", "))
            .because(Reason::of_system(&error))
    })?;
    // Without an address nobody can post a request that starts a run.
    let posts = places
        .iter()
        .any(|place| matches!(place, Entrance::Address(_)));
    let scenario = match (&serving.scenario, posts) {
        (Some(name), _) => Some(name.clone()),
        (None, false) => Some(demo::DEFAULT.to_owned()),
        (None, true) => None,
    };
    if let Some(name) = scenario {
        let producer = running.producer().clone();
        tokio::spawn(async move {
            producer.until_subscribed(1).await;
            // The name was checked; a server that is stopping has nothing to start any more.
            let _ = producer.start(&name);
        });
    }
    let name = |place: &Entrance| match place {
        Entrance::Address(_) | Entrance::Socket(_) | Entrance::Pipe(_) => place.to_string(),
        Entrance::Pipes => words.text("serve.pipes", &[]),
    };
    let names: Vec<String> = running.places().iter().map(name).collect();
    let url = if posts { running.url() } else { String::new() };
    let places = names.join(&format!(" {} ", words.text("serve.and", &[])));
    let args = [("places", Arg::Own(places)), ("url", Arg::Own(url))];
    announce(&words.text("serve.at", &args));
    let exit = tokio::select! {
        told = leaving.told() => match told {
            Leave::Interrupt => Exit::Interrupted,
            Leave::End => Exit::Terminated,
        },
        () = running.over() => Exit::Clean,
    };
    running.stop().await;
    Ok(exit)
}

/// Returns who hears what happens and has it written, a line each with its time. The agents never wait for the reader
/// of these lines.
/// Checks that nobody else could put a socket of their own in the place of one.
///
/// # Errors
/// When others may write to its folder.
pub(super) fn of_owner(place: &Entrance) -> Result<(), Failure> {
    let Entrance::Socket(path) = place else {
        return Ok(());
    };
    match path.parent().filter(|folder| files::is_shared(folder)) {
        Some(folder) => Err(Failure::shared(folder)),
        None => Ok(()),
    }
}

fn log(words: Phrases) -> demo::Hearer {
    let (sender, lines) = mpsc::sync_channel::<String>(WAITING_LINES);
    std::thread::spawn(move || {
        for line in lines {
            // Whoever closed the standard error wants no log.
            if writeln!(std::io::stderr(), "{line}").is_err() {
                return;
            }
        }
    });
    let lost = AtomicU64::new(0);
    Arc::new(move |news| {
        let left_out = match lost.swap(0, Ordering::Relaxed) {
            0 => String::new(),
            count => words.text("serve.left_out", &[("n", Arg::own(count))]) + " ",
        };
        let time = jiff::Zoned::now().strftime("%H:%M:%S").to_string();
        let line = format!("{time} {left_out}{}", told(&words, &news));
        if sender.try_send(line).is_err() {
            lost.fetch_add(1, Ordering::Relaxed);
        }
    })
}

/// Words what happened; nothing of what anybody wrote is in it.
fn told(words: &Phrases, news: &News) -> String {
    let phrase = |key: &str| Arg::Own(words.text(key, &[]));
    match news {
        News::Came {
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
        News::Left { number, there } => {
            let args = [("number", Arg::own(number)), ("n", Arg::own(there))];
            words.text("serve.left", &args)
        }
        News::Started { scenario } => {
            words.text("serve.started", &[("scenario", Arg::own(scenario))])
        }
        News::Answered { answer, verdict } => {
            let answer = match answer {
                Answer::Accept => "answer.accept",
                Answer::Reject => "answer.reject",
                Answer::Response => "serve.answer.response",
                Answer::Unknown => "serve.answer.unknown",
            };
            let became = match verdict {
                Verdict::Taken => "serve.taken",
                Verdict::UnknownToken => "serve.unasked",
                Verdict::UsedToken => "serve.settled",
                Verdict::TooLate => "serve.late",
                Verdict::WrongKind => "serve.wrong_kind",
                Verdict::NotAllowed => "serve.not_allowed",
                Verdict::Malformed(_) => "serve.malformed",
            };
            let args = [("answer", phrase(answer)), ("became", phrase(became))];
            words.text("serve.answered", &args)
        }
    }
}

/// Reads a place; a name after `unix:` is an agent's in the first of the protocol's folders (B.4.1).
fn read(text: &str) -> anyhow::Result<Entrance> {
    if let Some(name) = text.strip_prefix("pipe:") {
        let name = PipeName::parse(name).ok_or_else(|| Failure::new("call.source.pipe"))?;
        return Ok(Entrance::Pipe(name.whole().to_owned()));
    }
    Ok(match text.strip_prefix("unix:") {
        _ if text == "-" => Entrance::Pipes,
        Some(name) if !name.contains('/') => Entrance::Socket(
            transport::socket_folders()
                .into_iter()
                .next()
                .unwrap_or_default()
                .join(format!("{name}.sock")),
        ),
        Some(path) => Entrance::Socket(Path::new(path).to_owned()),
        None => Entrance::Address(text.to_owned()),
    })
}
