//! From the command line to a run: sources, face, voice, end.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::announce::normalise::Pronunciation;
use crate::announce::speakable::Profile;
use crate::announce::{
    AnswerMethod, Class, Deliveries, Mark, Phrases, Reason, Utterance, UtteranceId,
};
use crate::app::{EndCondition, LineSource, Recording, Setup, SourceSetup};
use crate::cli::{Options, SpeechFlags};
use crate::config::{Config, Dialect, FaceChoice, LinkConfig, VoiceChoice, closest};
use crate::demo;
use crate::dialect::{Identity, Token, TransportKind};
use crate::keys::{Keymap, Scan};
use crate::producer;
use crate::protocol::{Answer, Decision, Response};
use crate::transport::{LinkSettings, RecordedAnswer, RecordingInfo, Secret, Source, Tls};
use crate::voice::{self, VoiceEvent, VoiceSink};

use super::agent_commands::{self, AgentCall};
use super::broker_place;
use super::chosen_sources;
use super::decision_identity::{handler, identity};
use super::face_choice::{Face, Terminals, choose_face, reader_present, speech_mode};
use super::request_failure::RequestFailure;
use super::source_feed::SourceFeed;
use super::terminal_signs::takes_long_ones;
use super::{settings_file, source_links};

/// Everything that a run needs.
pub struct Plan {
    pub(super) setup: Setup,
    pub(super) face: Face,
    pub(super) feeds: Vec<SourceFeed>,
    pub(super) links: LinkSettings,
    pub(super) record: Option<PathBuf>,
    /// Whether a screen reader is running, which a voice then gives way to.
    pub(super) reader: bool,
}

/// Follows sources.
///
/// # Errors
/// When a source, the settings or the token can't be used.
pub fn watch(
    sources: &[String],
    program: Vec<OsString>,
    options: &Options,
) -> anyhow::Result<Plan> {
    let config = configured(options)?;
    let chosen = chosen_sources::meant(sources, program, &config)?;
    let takes_stdin = chosen.iter().any(|one| one.source == Source::Stdin);
    let alone = chosen.iter().filter(|one| !one.beside).count() == 1;
    let mut feeds = Vec::new();
    let mut described = Vec::new();
    for one in chosen {
        let own = match &one.own_settings {
            Some(own) => Some(Box::new(own.settings(options, &config, alone)?)),
            None => None,
        };
        let links = own.as_ref().map_or(&config.links, |own| &own.config);
        let mut about = described_as(&one.source, links)?;
        if let Some(name) = one.name {
            about = about.called(name);
        }
        if let Some(place) = &mut about.broker {
            place.beside = one.beside;
        }
        if let Some(own) = &one.own_settings {
            about.announce = own.announce();
            about.prompts_at = own.prompts_at();
            about.handshake = Some(own.handshake(&config));
        }
        described.push(about);
        feeds.push(SourceFeed::Link(one.source, own));
    }
    plan(
        config,
        options,
        feeds,
        described,
        EndCondition::NoSource,
        takes_stdin,
    )
}

/// Speaks the events on standard input as those of this agent; shows nothing.
pub fn acp_speak(name: String, speaking: SpeechFlags) -> anyhow::Result<Plan> {
    let options = Options {
        face: Some(FaceChoice::Linear),
        dialect: Some(Dialect::Aaep),
        voice: speaking.voice,
        verbosity: speaking.verbosity,
        load: speaking.load,
        language: speaking.language,
        config: speaking.config,
        ..Options::default()
    };
    let config = configured(&options)?;
    let described = described_as(&Source::Stdin, &config.links)?.called(name);
    let feeds = vec![SourceFeed::Link(Source::Stdin, None)];
    plan(
        config,
        &options,
        feeds,
        vec![described],
        EndCondition::NoSource,
        true,
    )
}

/// Starts an agent, and acts as its client.
///
/// # Errors
/// When the agent can't be found, or the settings can't be used.
pub fn run_agent(wanted: AgentCall, options: &Options) -> anyhow::Result<Plan> {
    let config = configured(options)?;
    if agent_commands::is_endpoint(&wanted) {
        return run_endpoint(wanted, config, options);
    }
    if agent_commands::is_remote(&wanted) {
        return run_remote(wanted, config, options);
    }
    let found = agent_commands::find(wanted)?;
    let source = Source::Program(found.command);
    let usual = described_as(&source, &config.links)?;
    let described = SourceSetup {
        name: found.title.unwrap_or_else(|| usual.name.clone()),
        dialect: match config.links.dialect {
            Dialect::Auto => Dialect::Acp,
            named => named,
        },
        folder: found.folder.to_string_lossy().into_owned(),
        prompt: found.prompt,
        earlier: found.earlier,
        ..usual
    };
    let mut plan = plan(
        config,
        options,
        vec![SourceFeed::Link(source, None)],
        vec![described],
        EndCondition::NoSource,
        false,
    )?;
    plan.links.folder = Some(found.folder);
    Ok(plan)
}

/// Acts as the client of an agent that runs elsewhere.
fn run_remote(wanted: AgentCall, mut config: Config, options: &Options) -> anyhow::Result<Plan> {
    let agent = agent_commands::remote(wanted)?;
    if config.links.dialect == Dialect::Auto {
        config.links.dialect = Dialect::Acp;
    }
    let source = source_links::read(&agent.address, &config.links)
        .map_err(|error| source_links::unknown(&agent.address, error, &config))?;
    let described = SourceSetup {
        prompt: agent.prompt,
        earlier: agent.earlier,
        folder: agent.folder,
        ..described_as(&source, &config.links)?
    };
    plan(
        config,
        options,
        vec![SourceFeed::Link(source, None)],
        vec![described],
        EndCondition::NoSource,
        false,
    )
}

/// Requests runs from an endpoint, as from an agent that runs elsewhere.
fn run_endpoint(wanted: AgentCall, config: Config, options: &Options) -> anyhow::Result<Plan> {
    let (word, prompt) = agent_commands::endpoint(wanted)?;
    let mut chosen = chosen_sources::meant(&[word], Vec::new(), &config)?;
    let Some(one) = chosen.pop() else {
        anyhow::bail!(RequestFailure::new("call.itself"));
    };
    let own = one
        .own_settings
        .map(|own| own.settings(options, &config, true));
    let own = own.transpose()?.map(Box::new);
    let links = own.as_ref().map_or(&config.links, |own| &own.config);
    let described = SourceSetup {
        prompt,
        ..described_as(&one.source, links)?
    };
    plan(
        config,
        options,
        vec![SourceFeed::Link(one.source, own)],
        vec![described],
        EndCondition::NoSource,
        false,
    )
}

/// Describes a source for the app.
fn described_as(source: &Source, links: &LinkConfig) -> anyhow::Result<SourceSetup> {
    let is_program = matches!(source, Source::Program(_));
    let mut recorded = None;
    if let Source::File(path) = source
        && !links.follow
    {
        // A file that still grows is not a finished recording.
        recorded = Some(recording(path));
    }
    Ok(SourceSetup {
        identity: identity(links)?,
        handler: handler(links)?,
        name: source_links::name(source, links.dialect),
        as_given: Some(source_links::name_as_given(source)),
        answerable: source.is_live(),
        carrier: source_links::carrier(source),
        path: source_links::path(source).to_owned(),
        origin: source.origin().unwrap_or_default(),
        conversation: source.fragment().map(str::to_owned),
        broker: broker_place::place(source),
        dialect: links.dialect,
        plain: links.plain_pair,
        recording: recorded,
        program: is_program,
        folder: match std::env::current_dir() {
            // A program started here works in our folder, unless told otherwise.
            Ok(folder) if is_program => folder.to_string_lossy().into_owned(),
            Ok(_) | Err(_) => String::new(),
        },
        ..SourceSetup::default()
    })
}

/// Replays a recording.
pub fn replay(file: &Path, speed: Option<f64>, options: &Options) -> anyhow::Result<Plan> {
    source_links::only_captures(file, "replay")?;
    let config = configured(options)?;
    let feed = SourceFeed::Recording {
        path: file.to_owned(),
        speed,
    };
    let name = file.file_name().map_or_else(
        || file.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    );
    let source = SourceSetup {
        name,
        answerable: false,
        carrier: TransportKind::OneWay,
        dialect: config.links.dialect,
        recording: Some(recording(file)),
        ..SourceSetup::default()
    };
    plan(
        config,
        options,
        vec![feed],
        vec![source],
        EndCondition::NoSource,
        false,
    )
}

/// Returns what is stored next to a recording, in the protocol's terms.
pub(super) fn recording(file: &Path) -> Recording {
    let recorded = RecordingInfo::beside(file);
    let answers = recorded
        .answers
        .into_iter()
        .map(|(line, (answer, at))| {
            let answer = match answer {
                RecordedAnswer::Decision(decision) => Answer::Decision {
                    decision: Decision::parse(&decision),
                    rationale: None,
                },
                RecordedAnswer::Text(text) => Answer::Response(Response::Text(text)),
                RecordedAnswer::YesNo(yes) => Answer::Response(Response::YesNo(yes)),
                RecordedAnswer::Number(number) => Answer::Response(Response::Number(number)),
            };
            (line, (answer, at))
        })
        .collect();
    Recording {
        made_at: recorded.started_at,
        answers,
    }
}

/// Starts the built-in agent with a scenario, the first one if none is named, and follows it; the agent
/// lives as long as the returned handle.
///
/// # Errors
/// When the scenario does not exist, or no loopback port is free.
pub async fn demo(
    scenario: Option<&str>,
    options: &Options,
) -> anyhow::Result<(Plan, Option<demo::ServedDemo>)> {
    let scenario = scenario.unwrap_or(demo::DEFAULT);
    if !demo::names().any(|name| name == scenario) {
        let failure = match closest(scenario, demo::names()) {
            Some(close) => RequestFailure::new("call.scenario.close").with("close", close),
            None => {
                let names: Vec<&str> = demo::names().collect();
                RequestFailure::new("call.scenario.names").with("names", names.join(", "))
            }
        };
        anyhow::bail!(failure.with("name", format!("{scenario:?}")));
    }
    let config = configured(options)?;
    if let Some(script) = demo::script(scenario) {
        return Ok((scripted(script, config, options)?, None));
    }
    let running = demo::serve("127.0.0.1:0", demo::DemoSettings::live(seed()?))
        .await
        .map_err(|error| RequestFailure::new("call.demo").because(Reason::of_system(&error)))?;
    let source = source_links::read(&running.url(), &config.links)?;
    let (producer, agents) = (running.producer().clone(), running.agents().clone());
    let name = scenario.to_owned();
    tokio::spawn(async move {
        producer.until_subscribed(1).await;
        // The name was checked; a server that is stopping starts nothing.
        let _ = agents.start(&name);
    });
    let described = SourceSetup {
        name: phrases(&config)?.text("source.demo", &[]),
        answerable: true,
        prompts_at: Some(producer::PROMPTS.to_owned()),
        ..described_as(&source, &config.links)?
    };
    let plan = plan(
        config,
        options,
        vec![SourceFeed::Link(source, None)],
        vec![described],
        EndCondition::Ended,
        false,
    )?;
    Ok((plan, Some(running)))
}

/// Follows a scenario in another protocol: its agents are further instances of this program, connected by
/// pipes.
fn scripted(script: &demo::Script, config: Config, options: &Options) -> anyhow::Result<Plan> {
    let program = std::env::current_exe()
        .map_err(|error| RequestFailure::new("call.itself").because(Reason::of_system(&error)))?;
    let command = ["demo", "--serve", "-", "--scenario", &script.info().name].map(OsString::from);
    let source = Source::Program(
        std::iter::once(program.into_os_string())
            .chain(command)
            .collect(),
    );
    let described = SourceSetup {
        name: phrases(&config)?.text("source.demo", &[]),
        dialect: <Dialect as clap::ValueEnum>::from_str(script.dialect(), true).map_err(|_| {
            RequestFailure::new("call.demo.dialect").with("dialect", script.dialect())
        })?,
        identity: Some(Identity::new(demo::PERSON, &demo::private_key()?)?),
        ..described_as(&source, &config.links)?
    };
    plan(
        config,
        options,
        vec![SourceFeed::Link(source, None)],
        vec![described],
        EndCondition::Ended,
        false,
    )
}

/// Returns the details of every scenario, those in other protocols last.
pub(super) fn scenarios() -> impl Iterator<Item = &'static demo::ScenarioInfo> {
    demo::list().chain(demo::scripts().map(demo::Script::info))
}

/// Lists the scenarios as plain text.
pub fn list() -> String {
    let mut text = String::new();
    for info in scenarios() {
        text.push_str(&format!(
            "{}: {}. {}\n",
            info.name, info.title, info.description
        ));
    }
    text
}

/// Speaks a text and waits for its end.
pub async fn say(
    text: &str,
    choice: Option<VoiceChoice>,
    file: Option<&Path>,
) -> anyhow::Result<String> {
    let mut config = settings_file::load(file)?;
    settings_file::recall(&mut config)?;
    if let Some(choice) = choice {
        config.voice.engine = choice;
    }
    let phrases = phrases(&config)?;
    let spoken = phrases.lexicon().speak(text, Profile::Prose, None);
    let (sink, mut news) = VoiceSink::channel();
    // Whoever asks for a text to be spoken wants to hear it, even with a screen reader.
    let voice = voice::open(&config.voice.engine, &config.voice, false, sink);
    let mut engine = String::new();
    let outcome = loop {
        match news.recv().await {
            Some(VoiceEvent::Ready { engine: name } | VoiceEvent::Recovered { engine: name }) => {
                engine = phrases.because(&name);
                voice.speak(Utterance {
                    id: UtteranceId(1),
                    class: Class::Response,
                    text: spoken.clone(),
                    language: None,
                    mark: Mark::Own,
                    sound: Deliveries::new(&config.voice).sound(Mark::Own, [None, None], None),
                });
            }
            Some(VoiceEvent::Ended(_)) => break Ok(engine),
            Some(VoiceEvent::Cut(_)) => break Err(RequestFailure::new("call.voice.cut").into()),
            Some(VoiceEvent::Lost { reason } | VoiceEvent::None { reason, .. }) => {
                break Err(RequestFailure::new("call.voice").because(reason).into());
            }
            Some(
                VoiceEvent::Begun(_)
                | VoiceEvent::Notice { .. }
                | VoiceEvent::Adjustable { .. }
                | VoiceEvent::Cues { .. },
            ) => {}
            None => break Err(RequestFailure::new("call.voice.gone").into()),
        }
    };
    voice.close(Duration::ZERO).await;
    outcome
}

/// Loads the phrases in the person's language, with their pronunciation dictionary.
pub(super) fn phrases(config: &Config) -> anyhow::Result<Phrases> {
    let phrases = Phrases::for_languages(&config.announce.languages)?;
    Ok(phrases.pronouncing(Pronunciation::new(&config.pronunciation)))
}

pub(super) fn configured(options: &Options) -> anyhow::Result<Config> {
    let mut config = settings_file::load(options.config.as_deref())?;
    settings_file::recall(&mut config)?;
    options.apply(&mut config);
    if let Some(path) = &options.answers {
        config.answers = settings_file::answers(path)?;
    }
    if let Some(path) = &options.keys {
        config.keys.extend(settings_file::keys(path)?);
    }
    Ok(config)
}

/// Returns the token of a source whose protocol wants it in a message, or may turn out to: only ASP's translator sends
/// it, and only to a server that has shown that it speaks ASP.
fn token_in_messages(feed: &SourceFeed, usual: Option<&Secret>, dialect: Dialect) -> Option<Token> {
    let token = match feed {
        SourceFeed::Link(_, Some(own)) => own.token.as_ref(),
        SourceFeed::Link(_, None) => usual,
        SourceFeed::Recording { .. } => None,
    };
    let wanted = token.filter(|_| matches!(dialect, Dialect::Asp | Dialect::Auto));
    wanted.and_then(Secret::in_message).map(Token::new)
}

fn plan(
    config: Config,
    options: &Options,
    feeds: Vec<SourceFeed>,
    mut sources: Vec<SourceSetup>,
    until: EndCondition,
    takes_stdin: bool,
) -> anyhow::Result<Plan> {
    let reader = reader_present(config.screen.reader);
    let terminals = Terminals {
        output: std::io::stdout().is_terminal(),
        input: std::io::stdin().is_terminal() && !takes_stdin,
        dumb: std::env::var("TERM").map_or(true, |term| term.is_empty() || term == "dumb"),
    };
    let (face, why) = choose_face(config.screen.face, terminals, reader);
    if face == Face::Full && !(std::io::stdout().is_terminal() && std::io::stdin().is_terminal()) {
        anyhow::bail!(RequestFailure::new("call.full_face"));
    }
    let key = match face {
        Face::Full => "start.face.full",
        Face::Linear => "start.face.linear",
        Face::Json => "start.face.json",
    };
    let lines = match face {
        Face::Full => None,
        // Standard input carries the events, so it can't carry answers in this version.
        Face::Linear | Face::Json if takes_stdin => None,
        Face::Linear if terminals.output && terminals.input && super::line_terminal::fits() => {
            Some(LineSource::Editor)
        }
        Face::Linear | Face::Json if std::io::stdin().is_terminal() => Some(LineSource::Terminal),
        Face::Linear | Face::Json => Some(LineSource::Pipe),
    };
    let until = match (options.until, face) {
        (Some(until), _) => until,
        // The full screen stays until the person leaves it, so that they can look back.
        (None, Face::Full) => EndCondition::Asked,
        (None, Face::Linear | Face::Json) => until,
    };
    let token = settings_file::token(options.token_env.as_deref(), options.token_file.as_deref())?;
    for (feed, source) in feeds.iter().zip(&mut sources) {
        source.token = token_in_messages(feed, token.as_ref(), source.dialect);
        if let Some(place) = &mut source.broker {
            place.durable = broker_place::durable(&config.questions.user);
        }
    }
    let tls = Tls::load(&config.links)?;
    let seed = seed()?;
    let keymap = Keymap::new(&config.keys)?;
    let scan = Scan::new(&config.scanning, &keymap)?;
    let mut phrases = phrases(&config)?.keyed(&keymap.names());
    // Switches are read where keys are.
    let reads_keys = match face {
        Face::Full => true,
        Face::Linear => lines == Some(LineSource::Editor),
        Face::Json => false,
    };
    if scan.is_some() && reads_keys {
        phrases = phrases.scanned();
    }
    let trusted = settings_file::trusted_keys(config.handshake.keys.as_deref())?;
    Ok(Plan {
        face,
        feeds,
        links: LinkSettings::new(config.links.clone(), token, tls, seed),
        record: options.record.clone(),
        reader,
        setup: Setup {
            voice: speech_mode(&config.voice.engine, reader),
            phrases: Arc::new(phrases),
            keymap,
            scan,
            config,
            manner: match face {
                Face::Full => AnswerMethod::Keys,
                Face::Linear => AnswerMethod::Lines,
                Face::Json => AnswerMethod::Program,
            },
            lines,
            copies: face != Face::Json
                && terminals.output
                && takes_long_ones(&std::env::var("TERM").unwrap_or_default()),
            face: (key, why),
            until,
            keys: trusted,
            seed,
            is_recorded: options.record.is_some(),
            sources,
        },
    })
}

/// Returns the run's random seed.
pub(super) fn seed() -> anyhow::Result<u64> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes)
        .map_err(|error| RequestFailure::new("call.random").because(Reason::said(error)))?;
    Ok(u64::from_le_bytes(bytes))
}
