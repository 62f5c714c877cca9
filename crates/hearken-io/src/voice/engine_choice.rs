//! Which engine speaks: the person's choice, or the first one found.
//!
//! Responsibilities: where speech-dispatcher's socket and the speech programs are, the order of
//! `auto`, and what is missing. Not here: the engines.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

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
use super::{MissingVoice, VoiceEvent, command_words, ssip};
use crate::announce::Reason;
use crate::config::{Delivery, Knob, VoiceChoice, VoiceConfig};
use crate::platform::files::callable;
use crate::platform::{OWN_VOICE, SPEAKS, nvda_client, program_places, sockets};

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

/// The engine that was found.
enum FoundEngine {
    SpeechDispatcher(Box<SpeechDispatcher>),
    Program(Box<CommandVoice>),
    Lasting(Box<LastingVoice>),
    System(Box<SystemVoice>),
    Nvda(Box<SystemVoice>),
    Nothing { reason: Reason },
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
    let Some((found, notice)) = desk.until(search).await else {
        return;
    };
    if let Some(text) = notice {
        desk.tell(VoiceEvent::Notice { text });
    }
    let player = surroundings.player();
    match found {
        FoundEngine::SpeechDispatcher(voice) => {
            desk.tell(VoiceEvent::Ready {
                engine: Reason::said(speech_dispatcher::NAME),
            });
            desk.serve(VoiceWithCues::new(*voice, player), limits).await;
        }
        FoundEngine::Program(voice) => {
            desk.tell(VoiceEvent::Ready {
                engine: voice.engine(),
            });
            desk.tell(voice.adjustable());
            desk.serve(VoiceWithCues::new(*voice, player), limits).await;
        }
        FoundEngine::Lasting(voice) => {
            desk.tell(VoiceEvent::Ready {
                engine: voice.engine(),
            });
            desk.tell(voice.adjustable());
            desk.serve(VoiceWithCues::new(*voice, player), limits).await;
        }
        FoundEngine::System(voice) => {
            desk.tell(VoiceEvent::Ready {
                engine: voice.engine(),
            });
            desk.tell(VoiceEvent::Adjustable {
                knobs: vec![Knob::Rate, Knob::Pitch, Knob::Volume, Knob::Voice],
                usual: Delivery::default(),
            });
            desk.serve(VoiceWithCues::new(*voice, player), limits).await;
        }
        FoundEngine::Nvda(voice) => {
            desk.tell(VoiceEvent::Ready {
                engine: voice.engine(),
            });
            desk.serve(VoiceWithCues::new(*voice, player), limits).await;
        }
        FoundEngine::Nothing { reason } => {
            desk.tell(VoiceEvent::None {
                reason,
                telling: MissingVoice::default(),
            });
            desk.serve(Silence::default(), limits).await;
        }
    }
}

/// Finds the engine, and what the person should know about the search.
async fn find(
    surroundings: &VoiceEnvironment,
    choice: &VoiceChoice,
    config: &VoiceConfig,
    reader_present: bool,
    limits: Limits,
) -> (FoundEngine, Option<Reason>) {
    let found = match choice {
        VoiceChoice::Auto if reader_present => FoundEngine::Nothing {
            reason: Reason::new("voice.cause.reader").with("voice", OWN_VOICE),
        },
        VoiceChoice::Auto => return automatic(surroundings, config, limits).await,
        VoiceChoice::SpeechDispatcher => match daemon(surroundings, config, limits).await {
            Ok(voice) => FoundEngine::SpeechDispatcher(Box::new(voice)),
            Err(reason) => FoundEngine::Nothing { reason },
        },
        VoiceChoice::Lasting(command) => match lasting(surroundings, command, config.own_pitch) {
            Ok(program) => {
                let voice = LastingVoice::new(program, limits);
                let notice = voice.notice();
                return (FoundEngine::Lasting(Box::new(voice)), notice);
            }
            Err(reason) => FoundEngine::Nothing { reason },
        },
        VoiceChoice::Command(command) => match program(surroundings, command, config.own_pitch) {
            Ok(program) => {
                let notice = program.notice();
                let voice = CommandVoice::new(program, limits);
                return (FoundEngine::Program(Box::new(voice)), notice);
            }
            Err(reason) => FoundEngine::Nothing { reason },
        },
        // All texts of the crate tts have a priority at which speech-dispatcher discards what the reader is saying.
        VoiceChoice::System if reader_present && cfg!(target_os = "linux") => {
            FoundEngine::Nothing {
                reason: Reason::new("voice.cause.reader.system"),
            }
        }
        VoiceChoice::System => match own_speech(surroundings, config, limits).await {
            Ok(voice) => FoundEngine::System(Box::new(voice)),
            Err(reason) => FoundEngine::Nothing { reason },
        },
        VoiceChoice::Nvda(_) if !nvda_client::THERE => FoundEngine::Nothing {
            reason: Reason::new("voice.cause.nvda.none_here"),
        },
        VoiceChoice::Nvda(library) => match by_nvda(surroundings, library, config, limits).await {
            Ok(voice) => FoundEngine::Nvda(Box::new(voice)),
            Err(reason) => FoundEngine::Nothing { reason },
        },
        VoiceChoice::None => FoundEngine::Nothing {
            reason: Reason::new("voice.cause.off"),
        },
    };
    (found, None)
}

/// Tries the system's own speech where every build has it, otherwise speech-dispatcher; then a speech program on this
/// machine.
async fn automatic(
    surroundings: &VoiceEnvironment,
    config: &VoiceConfig,
    limits: Limits,
) -> (FoundEngine, Option<Reason>) {
    let found = if SPEAKS {
        let own = own_speech(surroundings, config, limits).await;
        own.map(|voice| FoundEngine::System(Box::new(voice)))
    } else {
        let daemon = daemon(surroundings, config, limits).await;
        daemon.map(|voice| FoundEngine::SpeechDispatcher(Box::new(voice)))
    };
    let why_not = match found {
        Ok(found) => return (found, None),
        Err(reason) => reason,
    };
    for name in PROGRAMS {
        let Some(path) = surroundings.program(name) else {
            continue;
        };
        let program = Program::espeak(path, name, config.own_pitch);
        let mut voice = CommandVoice::new(program, limits);
        if voice.works().await {
            return (FoundEngine::Program(Box::new(voice)), Some(why_not));
        }
        let reason = Reason::new("voice.cause.none.no_device")
            .because("why", why_not)
            .with("name", name);
        return (FoundEngine::Nothing { reason }, None);
    }
    let reason = Reason::new("voice.cause.none").because("why", why_not);
    (FoundEngine::Nothing { reason }, None)
}

async fn daemon(
    surroundings: &VoiceEnvironment,
    config: &VoiceConfig,
    limits: Limits,
) -> Result<SpeechDispatcher, Reason> {
    if !sockets::THERE {
        return Err(Reason::new("voice.cause.daemon.none_here"));
    }
    let place = DaemonFiles {
        socket: surroundings.socket()?,
        program: surroundings.program(DAEMON),
    };
    let greeting = Greeting {
        client_name: ssip::client_name(&surroundings.user),
        own_pitch: config.own_pitch,
    };
    SpeechDispatcher::open(place, greeting, limits)
        .await
        .map_err(|fault: DaemonFault| fault.reason())
}

async fn own_speech(
    surroundings: &VoiceEnvironment,
    config: &VoiceConfig,
    limits: Limits,
) -> Result<SystemVoice, Reason> {
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
    SystemVoice::open(place, config.own_pitch, limits)
        .await
        .map_err(|fault| fault.reason(SpeechMeans::System))
}

/// Opens NVDA in a child of its own, because this loads a third-party library.
async fn by_nvda(
    surroundings: &VoiceEnvironment,
    library: &str,
    config: &VoiceConfig,
    limits: Limits,
) -> Result<SystemVoice, Reason> {
    let place = system::ChildProgram {
        program: own_file(surroundings, SpeechMeans::Nvda)?,
        by: SpeechMeans::Nvda,
        arguments: [system::COMMAND, system::NVDA_FLAG, library]
            .map(str::to_owned)
            .into(),
        environment: Vec::new(),
        daemon: None,
    };
    SystemVoice::open(place, config.own_pitch, limits)
        .await
        .map_err(|fault| fault.reason(SpeechMeans::Nvda))
}

/// Returns this program's file, which is also the child's.
fn own_file(surroundings: &VoiceEnvironment, by: SpeechMeans) -> Result<PathBuf, Reason> {
    let file = surroundings.executable.clone();
    file.ok_or_else(|| by.no_file())
}

fn program(
    surroundings: &VoiceEnvironment,
    command: &str,
    own_pitch: i32,
) -> Result<Program, Reason> {
    let (path, name, arguments) = called(surroundings, command)?;
    Ok(Program::given(path, &name, arguments, own_pitch))
}

fn lasting(
    surroundings: &VoiceEnvironment,
    command: &str,
    own_pitch: i32,
) -> Result<LastingProgram, Reason> {
    let (path, name, arguments) = called(surroundings, command)?;
    Ok(LastingProgram {
        path,
        name,
        arguments,
        own_pitch,
    })
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
