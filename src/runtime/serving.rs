//! The demo's agent for others: where it is served, how it is signed, what starts it.
//!
//! Responsibilities: reading places from words, writing the public key down, starting a scenario for
//! whoever comes first, the end. Not here: the producer itself (`demo`).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};

use crate::app::Exit;
use crate::demo::{self, Place, Signer};
use crate::transport;

/// Says how the demo's agent is served.
#[derive(Debug, Clone, Default)]
pub struct Serving {
    /// Where: `HOST:PORT`, `unix:PATH`, `unix:AGENT` or `-`.
    pub places: Vec<String>,
    /// What is played to the first subscriber; others are started by a request.
    pub scenario: Option<String>,
    /// Where the public key goes with which the manifest is signed.
    pub sign: Option<PathBuf>,
}

/// Serves the demo's agent until an interrupt, or until the pipes end that it is spoken to by.
///
/// # Errors
/// When a place can't be listened at, the scenario is not known or the key can't be written.
pub async fn serve(serving: &Serving, announce: impl FnOnce(&str)) -> anyhow::Result<Exit> {
    if let Some(name) = &serving.scenario
        && !demo::list().iter().any(|info| info.name == *name)
        && !demo::scripts()
            .iter()
            .any(|script| script.info().name == *name)
    {
        anyhow::bail!("there is no scenario {name:?}; hearken demo --list names them");
    }
    let script = demo::scripts()
        .iter()
        .find(|script| serving.scenario.as_ref() == Some(&script.info().name));
    if let Some(script) = script {
        anyhow::ensure!(
            serving.places == ["-"],
            "this scenario is in another protocol and is only served at -"
        );
        let settings = demo::Settings::live(super::plan::seed()?);
        let input = tokio::io::BufReader::new(tokio::io::stdin());
        script
            .play(&settings.clock, 1.0, input, tokio::io::stdout())
            .await;
        return Ok(Exit::Clean);
    }
    let places: Vec<Place> = serving.places.iter().map(|place| read(place)).collect();
    let mut settings = demo::Settings::live(super::plan::seed()?);
    if let Some(file) = &serving.sign {
        let signer = Signer::generate()?;
        std::fs::write(file, signer.public_pem())
            .with_context(|| format!("{} can't be written", file.display()))?;
        settings.signer = Some(Arc::new(signer));
    }
    let mut running = demo::serve_at(&places, settings)
        .await
        .with_context(|| format!("{} can't be listened on", serving.places.join(" or ")))?;
    // Without an address nobody can post a request that starts a run.
    let posts = places
        .iter()
        .any(|place| matches!(place, Place::Address(_)));
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
    let names: Vec<String> = running.places().iter().map(Place::to_string).collect();
    let mut words = format!("Serving the demo at {}.", names.join(" and "));
    if posts {
        words.push_str(&format!(" POST {}/sessions starts a run.", running.url()));
    }
    announce(&words);
    let mut terminate = signal(SignalKind::terminate())?;
    let exit = tokio::select! {
        _ = tokio::signal::ctrl_c() => Exit::Interrupted,
        _ = terminate.recv() => Exit::Terminated,
        () = running.over() => Exit::Clean,
    };
    running.stop().await;
    Ok(exit)
}

/// Reads a place; a name after `unix:` is an agent's in the first of the protocol's folders (B.4.1).
fn read(text: &str) -> Place {
    match text.strip_prefix("unix:") {
        _ if text == "-" => Place::Pipes,
        Some(name) if !name.contains('/') => Place::Socket(
            transport::socket_folders()
                .into_iter()
                .next()
                .unwrap_or_default()
                .join(format!("{name}.sock")),
        ),
        Some(path) => Place::Socket(Path::new(path).to_owned()),
        None => Place::Address(text.to_owned()),
    }
}
