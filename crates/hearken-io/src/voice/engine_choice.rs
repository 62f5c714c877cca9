//! Which engine speaks: the person's choice, or the first one found.
//!
//! Responsibilities: where speech-dispatcher's socket and the speech programs are, the order of
//! `auto`, and what is missing. Not here: the engines.

use std::env::consts::FAMILY;
use std::ffi::OsString;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use super::command_voice::CommandVoice;
use super::cue::{PLAYERS, Player, VoiceWithCues};
use super::dialogue::{DaemonFault, Greeting};
use super::limits::Limits;
use super::no_voice::Silence;
use super::resident_program::{LastingProgram, LastingVoice};
use super::speech_dispatcher::{self, DaemonFiles, SpeechDispatcher};
use super::speech_program::Program;
use super::system::{self, SpeechMeans, SystemVoice};
use super::worker::SpeechAccounts;
use super::{MissingVoice, Voice, VoiceEvent, command_words, ssip};
use crate::announce::Reason;
use crate::config::{Delivery, Knob, OnlyOn, VoiceChoice, VoiceConfig, VoiceDescriptor};
use crate::platform::files::callable;
use crate::platform::{OWN_VOICE, SPEAKS, program_places};

/// The name of the daemon's program and package.
const DAEMON: &str = "speech-dispatcher";

/// The daemon's socket below the runtime folder.
const SOCKET: &str = "speech-dispatcher/speechd.sock";

/// The programs that `auto` tries after speech-dispatcher, best first.
const PROGRAMS: [&str; 2] = ["espeak-ng", "espeak"];

/// The parts of a process's environment that determine where voices are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VoiceEnvironment {
    /// `SPEECHD_ADDRESS`: `unix_socket:PATH`, `unix_socket` or `inet_socket:HOST:PORT`.
    pub speechd_address: Option<OsString>,
    /// `XDG_RUNTIME_DIR`, or if it is not set the user's cache folder, as the daemon does.
    pub runtime_dir: Option<PathBuf>,
    /// `PATH`, extended by the folders that are searched after it.
    pub path: Option<OsString>,
    /// The user's name, for the daemon's list of clients.
    pub user: String,
    /// This program itself, which is also the child that speaks with the platform's own speech.
    pub executable: Option<PathBuf>,
}

impl VoiceEnvironment {
    /// Reads this process's environment.
    pub fn from_env() -> Self {
        let folder = |name: &str| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let cache =
            || folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")));
        Self {
            speechd_address: std::env::var_os("SPEECHD_ADDRESS"),
            runtime_dir: folder("XDG_RUNTIME_DIR").or_else(cache),
            path: program_places::path(),
            user: std::env::var("USER")
                .or_else(|_| std::env::var("LOGNAME"))
                .unwrap_or_default(),
            executable: std::env::current_exe().ok(),
        }
    }

    /// Finds a program as a shell would: by its path if it has a slash, otherwise along `PATH`.
    fn program(&self, name: &str) -> Option<PathBuf> {
        if Path::new(name).components().count() > 1 {
            return callable(Path::new(name));
        }
        std::env::split_paths(self.path.as_ref()?)
            .filter(|folder| folder.is_absolute())
            .find_map(|folder| callable(&folder.join(name)))
    }

    /// Finds a program that plays cues.
    fn player(&self) -> Option<Player> {
        PLAYERS.iter().find_map(|(name, arguments)| {
            Some(Player {
                path: self.program(name)?,
                name,
                arguments,
            })
        })
    }

    /// Finds speech-dispatcher's socket, which need not exist yet.
    fn socket(&self) -> Result<PathBuf, Reason> {
        let usual = || {
            self.runtime_dir
                .as_ref()
                .map(|folder| folder.join(SOCKET))
                .ok_or_else(|| Reason::new("voice.cause.daemon.no_place"))
        };
        let Some(address) = self
            .speechd_address
            .as_ref()
            .filter(|text| !text.is_empty())
        else {
            return usual();
        };
        let address = address.to_string_lossy();
        match address.split_once(':') {
            Some(("unix_socket", path)) if !path.is_empty() => Ok(PathBuf::from(path)),
            Some(("unix_socket", _)) => usual(),
            None if address == "unix_socket" => usual(),
            Some(("inet_socket", _)) => Err(Reason::new("voice.cause.daemon.network")),
            Some(_) | None => Err(Reason::new("voice.cause.daemon.unread_address")),
        }
    }
}

/// An engine that was found.
pub(super) struct FoundEngine {
    /// Its name for the person.
    name: Reason,
    /// What the person should know about it.
    notice: Option<Reason>,
    /// Which properties of its sound can be adjusted, unless it reports them itself.
    adjustable: Option<VoiceEvent>,
    serve: Box<dyn FnOnce(SpeechAccounts, Option<Player>, Limits) -> Serving>,
}

/// An engine at work, until the voice is closed.
type Serving = Pin<Box<dyn Future<Output = ()>>>;

impl FoundEngine {
    pub(super) fn new(name: Reason, voice: impl Voice + 'static) -> Self {
        Self {
            name,
            notice: None,
            adjustable: None,
            serve: Box::new(move |desk, player, limits| {
                Box::pin(desk.serve(VoiceWithCues::new(voice, player), limits))
            }),
        }
    }

    fn adjustable(self, knobs: Vec<Knob>) -> Self {
        let usual = Delivery::default();
        let adjustable = Some(VoiceEvent::Adjustable { knobs, usual });
        Self { adjustable, ..self }
    }

    fn with_notice(self, notice: Option<Reason>) -> Self {
        Self { notice, ..self }
    }
}

/// Finds the engine, reports the result, and serves the engine until the voice is closed.
pub(super) async fn run(
    mut desk: SpeechAccounts,
    surroundings: VoiceEnvironment,
    choice: VoiceChoice,
    config: VoiceConfig,
    reader_present: bool,
    limits: Limits,
) {
    let limits = if reader_present {
        limits.beside_a_reader()
    } else {
        limits
    };
    let search = find(&surroundings, &choice, &config, reader_present, limits);
    match desk.until(search).await {
        None => {}
        Some(Ok(found)) => {
            let notice = found.notice.map(|text| VoiceEvent::Notice { text });
            let engine = found.name;
            let news = [notice, Some(VoiceEvent::Ready { engine }), found.adjustable];
            for event in news.into_iter().flatten() {
                desk.tell(event);
            }
            (found.serve)(desk, surroundings.player(), limits).await;
        }
        Some(Err(reason)) => {
            desk.tell(VoiceEvent::None {
                reason,
                telling: MissingVoice::default(),
            });
            desk.serve(Silence::default(), limits).await;
        }
    }
}

/// Returns whether this system can have a voice.
pub fn can_be_here(voice: &VoiceDescriptor) -> bool {
    let only = voice.only_on.map(OnlyOn::name);
    only.is_none_or(|family| family.eq_ignore_ascii_case(FAMILY))
}

/// Opens the engine, or returns why there is none.
async fn find(
    surroundings: &VoiceEnvironment,
    choice: &VoiceChoice,
    config: &VoiceConfig,
    reader_present: bool,
    limits: Limits,
) -> Result<FoundEngine, Reason> {
    if let Some(voice) = choice.descriptor().filter(|voice| !can_be_here(voice)) {
        return Err(Reason::new("voice.cause.elsewhere")
            .with("name", voice.name())
            .with("system", voice.only_on.map_or("", OnlyOn::name)));
    }
    match choice {
        VoiceChoice::Auto if reader_present => {
            Err(Reason::new("voice.cause.reader").with("voice", OWN_VOICE))
        }
        VoiceChoice::Auto => automatic(surroundings, config, limits).await,
        VoiceChoice::SpeechDispatcher => daemon(surroundings, config, limits).await,
        VoiceChoice::Lasting(command) => lasting(surroundings, command, config, limits),
        VoiceChoice::Command(command) => program(surroundings, command, config, limits),
        // All texts of the crate tts have a priority at which speech-dispatcher discards what the reader is saying.
        VoiceChoice::System if reader_present && cfg!(target_os = "linux") => {
            Err(Reason::new("voice.cause.reader.system"))
        }
        VoiceChoice::System => own_speech(surroundings, config, limits).await,
        VoiceChoice::Nvda(library) => by_nvda(surroundings, library, config, limits).await,
        VoiceChoice::None => Err(Reason::new("voice.cause.off")),
    }
}

/// Tries the system's own speech where every build has it, otherwise speech-dispatcher; then a speech program on this
/// machine.
async fn automatic(
    surroundings: &VoiceEnvironment,
    config: &VoiceConfig,
    limits: Limits,
) -> Result<FoundEngine, Reason> {
    let found = if SPEAKS {
        own_speech(surroundings, config, limits).await
    } else {
        daemon(surroundings, config, limits).await
    };
    let why_not = match found {
        Ok(found) => return Ok(found),
        Err(reason) => reason,
    };
    for name in PROGRAMS {
        let Some(path) = surroundings.program(name) else {
            continue;
        };
        let program = Program::espeak(path, name, config.own_pitch);
        let mut voice = CommandVoice::new(program, limits);
        if voice.works().await {
            return Ok(by_program(voice).with_notice(Some(why_not)));
        }
        return Err(Reason::new("voice.cause.none.no_device")
            .because("why", why_not)
            .with("name", name));
    }
    Err(Reason::new("voice.cause.none").because("why", why_not))
}

fn by_program(voice: CommandVoice) -> FoundEngine {
    let knobs = voice.knobs();
    FoundEngine::new(voice.engine(), voice).adjustable(knobs)
}

async fn daemon(
    surroundings: &VoiceEnvironment,
    config: &VoiceConfig,
    limits: Limits,
) -> Result<FoundEngine, Reason> {
    let place = DaemonFiles {
        socket: surroundings.socket()?,
        program: surroundings.program(DAEMON),
    };
    let greeting = Greeting {
        client_name: ssip::client_name(&surroundings.user),
        own_pitch: config.own_pitch,
    };
    let voice = SpeechDispatcher::open(place, greeting, limits)
        .await
        .map_err(|fault: DaemonFault| fault.reason())?;
    Ok(FoundEngine::new(
        Reason::said(speech_dispatcher::NAME),
        voice,
    ))
}

async fn own_speech(
    surroundings: &VoiceEnvironment,
    config: &VoiceConfig,
    limits: Limits,
) -> Result<FoundEngine, Reason> {
    let place = system::ChildProgram {
        program: own_file(surroundings, SpeechMeans::System)?,
        by: SpeechMeans::System,
        arguments: vec![system::COMMAND.to_owned()],
        // The library in the child finds the daemon by the same variable as we do.
        environment: surroundings
            .speechd_address
            .iter()
            .map(|address| ("SPEECHD_ADDRESS".into(), address.clone()))
            .collect(),
        // In a build without the platform's speech, the child only reports that.
        daemon: cfg!(all(target_os = "linux", feature = "system-voice"))
            .then(|| surroundings.socket().ok())
            .flatten(),
    };
    let voice = SystemVoice::open(place, config.own_pitch, limits)
        .await
        .map_err(|fault| fault.reason(SpeechMeans::System))?;
    let knobs = vec![Knob::Rate, Knob::Pitch, Knob::Volume, Knob::Voice];
    Ok(FoundEngine::new(voice.engine(), voice).adjustable(knobs))
}

/// Opens NVDA in a child of its own, because this loads a third-party library.
async fn by_nvda(
    surroundings: &VoiceEnvironment,
    library: &str,
    config: &VoiceConfig,
    limits: Limits,
) -> Result<FoundEngine, Reason> {
    let place = system::ChildProgram {
        program: own_file(surroundings, SpeechMeans::Nvda)?,
        by: SpeechMeans::Nvda,
        arguments: [system::COMMAND, system::NVDA_FLAG, library]
            .map(str::to_owned)
            .into(),
        environment: Vec::new(),
        daemon: None,
    };
    let voice = SystemVoice::open(place, config.own_pitch, limits)
        .await
        .map_err(|fault| fault.reason(SpeechMeans::Nvda))?;
    Ok(FoundEngine::new(voice.engine(), voice))
}

/// Returns this program's file, which is also the child's.
fn own_file(surroundings: &VoiceEnvironment, by: SpeechMeans) -> Result<PathBuf, Reason> {
    let file = surroundings.executable.clone();
    file.ok_or_else(|| by.no_file())
}

fn program(
    surroundings: &VoiceEnvironment,
    command: &str,
    config: &VoiceConfig,
    limits: Limits,
) -> Result<FoundEngine, Reason> {
    let (path, name, arguments) = called(surroundings, command)?;
    let program = Program::given(path, &name, arguments, config.own_pitch);
    let notice = program.notice();
    Ok(by_program(CommandVoice::new(program, limits)).with_notice(notice))
}

fn lasting(
    surroundings: &VoiceEnvironment,
    command: &str,
    config: &VoiceConfig,
    limits: Limits,
) -> Result<FoundEngine, Reason> {
    let (path, name, arguments) = called(surroundings, command)?;
    let program = LastingProgram {
        path,
        name,
        arguments,
        own_pitch: config.own_pitch,
    };
    let voice = LastingVoice::new(program, limits);
    let notice = voice.notice();
    let found = FoundEngine::new(voice.engine(), voice);
    Ok(found.adjustable(Knob::ALL.to_vec()).with_notice(notice))
}

/// Returns the file, the name and the arguments of a program.
fn called(
    surroundings: &VoiceEnvironment,
    command: &str,
) -> Result<(PathBuf, String, Vec<String>), Reason> {
    let mut words = command_words::split(command)
        .map_err(|error| Reason::new("voice.cause.command").because("why", error.reason()))?
        .into_iter();
    let name = words.next().unwrap_or_default();
    match surroundings.program(&name) {
        Some(path) => Ok((path, name, words.collect())),
        None => Err(Reason::new("voice.cause.program.missing").with("name", name)),
    }
}
