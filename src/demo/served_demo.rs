//! The demo while it is served.
//!
//! Responsibilities: the demo as the host of a producer, a task for each run, the end of them. Not here: starting runs
//! (`demo_agents`), playing them (`performance`).

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};

use super::catalogue;
use super::demo_agents::{DemoAgents, SessionRef, StartError};
use super::demo_settings::DemoSettings;
use super::performance::Performance;
use crate::producer::{
    self, Host, ListenAddress, Producer, ProducerSettings, Prompt, PromptAnswer,
};

/// The demo's id in a handshake; its agents have names of their own in their events.
const AGENT: &str = "hearken-demo";
/// The demo's display name.
const NAME: &str = "hearken's demo";
/// The message to subscribers, and the words of the sessions that it cuts short, when the demo ends.
const STOPPING: &str = "The demo is stopping.";
const ABOUT: &str = "\
hearken's demo: agents that act out scenarios over AAEP 1.0.0. Nothing they say is real.
A prompt may name a scenario: {\"scenario\": NAME}
";

/// The demo while it is served. Dropping it kills everything immediately, as a crash would; [`ServedDemo::stop`] ends
/// it in good order.
pub struct ServedDemo {
    served: producer::RunningServer,
    agents: DemoAgents,
    runs: RunTasks,
}

/// The task that owns those of all runs; dropping it ends them.
struct RunTasks(JoinHandle<()>);

impl Drop for RunTasks {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Serves the demo on an address; port 0 means any free port.
///
/// # Errors
/// When the address can't be resolved or bound.
pub async fn serve(address: &str, settings: DemoSettings) -> io::Result<ServedDemo> {
    serve_at(&[ListenAddress::Address(address.to_owned())], settings).await
}

/// Serves the demo at several places.
///
/// # Errors
/// When a place is not available; places opened before it are closed again.
pub async fn serve_at(places: &[ListenAddress], settings: DemoSettings) -> io::Result<ServedDemo> {
    // Prompts need the agents, which need the producer that takes the prompts.
    let known: Arc<OnceLock<DemoAgents>> = Arc::default();
    let prompted = Arc::clone(&known);
    let host = Host {
        id: AGENT.to_owned(),
        name: NAME.to_owned(),
        about: about(),
        farewell: STOPPING.to_owned(),
        answers: None,
        requests: None,
        prompts: Some(Arc::new(move |prompt| match prompted.get() {
            Some(agents) => answer(agents, prompt),
            None => PromptAnswer::Busy(StartError::Stopped.to_string()),
        })),
        admission: None,
    };
    let serving = ProducerSettings {
        clock: Arc::clone(&settings.clock),
        signer: settings.signer.clone(),
        hearer: settings.hearer.clone(),
        ..ProducerSettings::new(host, settings.seed)
    };
    let served = producer::serve(places, serving).await?;
    let (agents, waiting) = DemoAgents::new(served.producer().clone(), &settings);
    // It was not set before.
    let _ = known.set(agents.clone());
    let runs = RunTasks(tokio::spawn(play(waiting, served.producer().clone())));
    Ok(ServedDemo {
        served,
        agents,
        runs,
    })
}

/// Returns what is at the demo's address, for people.
fn about() -> String {
    let scenarios = catalogue::list().map(|info| format!("{:<14} {}\n", info.name, info.title));
    scenarios.fold(format!("{ABOUT}The scenarios:\n"), |text, line| {
        text + &line
    })
}

/// Starts the run that a prompt asks for.
fn answer(agents: &DemoAgents, prompt: &Prompt) -> PromptAnswer {
    let started = match (prompt.text("scenario"), prompt.words()) {
        (Some(name), _) => agents.start(name),
        (None, Some(words)) => agents.start_for(words),
        (None, None) => {
            return PromptAnswer::Refused {
                code: "invalid_message",
                message: "the body wants scenario or user_message, a text that is not empty"
                    .to_owned(),
            };
        }
    };
    match started {
        Ok(session) => PromptAnswer::Begun(document(&session)),
        Err(error @ StartError::Unknown) => PromptAnswer::Refused {
            code: "unknown_scenario",
            message: error.to_string(),
        },
        Err(error @ (StartError::TooMany | StartError::Stopped)) => {
            PromptAnswer::Busy(error.to_string())
        }
    }
}

fn document(session: &SessionRef) -> serde_json::Value {
    json!({
        "status": "started",
        "scenario": session.scenario(),
        "session_id": session.ids().first(),
        "session_ids": session.ids(),
    })
}

/// Plays what is started until the producer stops. It owns the task of each run: when it is dropped, so are they.
async fn play(mut waiting: mpsc::Receiver<Performance>, producer: Producer) {
    let mut runs = JoinSet::new();
    let mut stopping = std::pin::pin!(producer.until_stopping());
    loop {
        tokio::select! {
            () = stopping.as_mut() => break,
            Some(performance) = waiting.recv() => {
                runs.spawn(performance.play());
            }
            Some(_) = runs.join_next(), if !runs.is_empty() => {}
        }
    }
    waiting.close();
    runs.shutdown().await;
}

impl ServedDemo {
    /// Returns the places as resolved, in the order requested.
    pub fn places(&self) -> &[ListenAddress] {
        self.served.places()
    }

    /// Returns the first address listened on; the unspecified address with port 0 if there is none.
    pub fn addr(&self) -> SocketAddr {
        self.served.addr()
    }

    /// Returns the address as a source for `hearken watch`.
    pub fn url(&self) -> String {
        self.served.url()
    }

    /// Waits until the server ends by itself: when it is served over pipes and they end.
    pub async fn over(&mut self) {
        self.served.over().await;
    }

    /// Returns the handle of the agents.
    pub fn agents(&self) -> &DemoAgents {
        &self.agents
    }

    /// Returns the handle of the producer.
    pub fn producer(&self) -> &Producer {
        self.served.producer()
    }

    /// Stops in good order: when this returns, every open session is cancelled, every stream ended,
    /// every task finished; this takes at most two seconds for slow clients.
    pub async fn stop(self) {
        let Self {
            served, mut runs, ..
        } = self;
        served.stop().await;
        // An error would be the task's panic or abort; either way it has ended.
        let _ = (&mut runs.0).await;
    }
}
