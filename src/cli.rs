//! The command line: a contract that scripts rely on.
//!
//! Responsibilities: flags and their help, and applying flags to the settings. Not here: what a command does
//! (`runtime`), how a source is reached (`transport`).

mod bench_arguments;
mod bridge_arguments;
mod flag_origins;
mod flag_values;
mod mcp_flags;
mod speech_flags;
mod voice_values;
mod word_values;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use crate::app::EndCondition;
use crate::config::{
    Config, Dialect, FaceChoice, Load, ReaderChoice, ThemeChoice, TimesChoice, Verbosity,
    VoiceChoice,
};

pub use crate::config::HookedAgent;
pub use bench_arguments::BenchArguments;
pub use bridge_arguments::BridgeArguments;
pub use flag_origins::said;
pub use flag_values::BadValue;
use flag_values::{retries, speed, until, width};
pub use mcp_flags::ToolServing;
pub use speech_flags::SpeechFlags;
use voice_values::VoiceValues;
pub use word_values::{HookAction, TraceFormat};

/// Follow AI agents by ear, in braille or at a glance, and answer them with a key press.
#[derive(Debug, Parser)]
// The executable may have another name, such as hearken.exe.
#[command(
    name = "hearken",
    bin_name = "hearken",
    version,
    about,
    max_term_width = 100
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Try everything with an agent inside the program
    Demo {
        /// The scenario to play, by its name; --list shows the names. With --serve, it is played to the first
        /// subscriber
        #[arg(long, value_name = "NAME")]
        scenario: Option<String>,
        /// List the scenarios and exit
        #[arg(long, conflicts_with = "serve")]
        list: bool,
        /// Only serve the demo's agent for others: at HOST:PORT (there POST /sessions starts a run),
        /// unix:PATH, unix:AGENT, pipe:AGENT or - for standard input and output; may be given several times
        #[arg(long, value_name = "PLACE")]
        serve: Vec<String>,
        /// Sign its manifest with a new key, and write the public half to this file
        #[arg(long, value_name = "FILE", requires = "serve")]
        sign: Option<PathBuf>,
        /// How to show and say it.
        #[command(flatten)]
        options: Options,
    },
    /// Follow one or more agents
    Watch {
        /// An address (http(s)://… or ws(s)://…), opencode:URL, codex:URL, a2a:URL, agui:URL, codex for Codex in a
        /// terminal, claude for Claude Code by its hooks, unix:PATH, unix:AGENT, pipe:AGENT, a FILE of events, - for
        /// standard input, or the name of a source in your settings; without any, all of those, or you choose among
        /// what runs here
        #[arg(value_name = "SOURCE")]
        sources: Vec<String>,
        /// A program to start, without a shell, that speaks over its standard input and output
        #[arg(value_name = "COMMAND", last = true)]
        program: Vec<OsString>,
        /// How to show and say it.
        #[command(flatten)]
        options: Options,
    },
    /// Start an agent, tell it what to do, and answer it
    ///
    /// hearken starts the agent, without a shell, and speaks with it over the Agent Client Protocol.
    Run {
        /// The name of a known agent; --list shows the names; or the address of one that runs elsewhere: agui:URL for
        /// AG-UI, ws://HOST or wss://HOST for the Agent Client Protocol
        #[arg(value_name = "AGENT")]
        agent: Option<String>,
        /// List the known agents, and which are installed
        #[arg(long)]
        list: bool,
        /// The folder in which the agent works
        #[arg(long, value_name = "DIR")]
        cwd: Option<PathBuf>,
        /// The task that the agent starts with
        #[arg(long, value_name = "TEXT", conflicts_with = "prompt_file")]
        prompt: Option<String>,
        /// A file with the task that the agent starts with
        #[arg(long, value_name = "FILE")]
        prompt_file: Option<PathBuf>,
        /// Continue the agent's last conversation in that folder
        #[arg(long = "continue", conflicts_with = "resume")]
        go_on: bool,
        /// Choose an earlier conversation, and continue it
        #[arg(long)]
        resume: bool,
        /// Instead of a known agent, a program that speaks the protocol, and its arguments
        #[arg(value_name = "COMMAND", last = true, conflicts_with = "agent")]
        program: Vec<OsString>,
        /// How to show and say it.
        #[command(flatten)]
        options: Options,
    },
    /// Sit between an editor and its agent: listen in, speak, and answer from a terminal
    ///
    /// Your editor starts this instead of its agent. Every byte is passed on unchanged; what the agent does is spoken,
    /// and with hearken watch unix:NAME you follow and answer it. Whoever answers first decides.
    AcpProxy {
        /// The name under which it can be watched; the program's name if not given
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// How it speaks.
        #[command(flatten)]
        speaking: SpeechFlags,
        /// The agent that the editor would have started, without a shell, and its arguments
        #[arg(value_name = "COMMAND", last = true, required = true)]
        program: Vec<OsString>,
    },
    /// Listen in for an acp-proxy; hearken starts it by itself
    #[command(hide = true)]
    AcpListen {
        /// The name under which it is watched.
        #[arg(long, value_name = "NAME")]
        name: String,
        /// How it speaks.
        #[command(flatten)]
        speaking: SpeechFlags,
    },
    /// Speak the events of an acp-proxy; hearken starts it by itself
    #[command(hide = true)]
    AcpSpeak {
        /// The name of the agent.
        #[arg(long, value_name = "NAME")]
        name: String,
        /// How it speaks.
        #[command(flatten)]
        speaking: SpeechFlags,
    },
    /// Offer this machine's agents to hearken on another machine
    ///
    /// Whatever the sources report is offered again as AAEP, without a face or a voice. Watchers follow it with
    /// hearken watch, answer, prompt and stop; the bridge itself decides nothing. For example:
    /// hearken watch -- ssh build-3 hearken bridge claude --serve -
    Bridge(BridgeArguments),
    /// Play a recording as if it were live
    Replay {
        /// A recording: one event per line
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// How many times faster than it was recorded
        #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = speed)]
        speed: f64,
        /// Play without any pause
        #[arg(long, conflicts_with = "speed")]
        no_delay: bool,
        /// How to show and say it.
        #[command(flatten)]
        options: Options,
    },
    /// Check that every event of a capture or a live stream is valid, and in a valid order
    ///
    /// A live stream is checked until it ends, --until applies, or you press Ctrl-C; its questions are not answered.
    Check {
        /// A FILE of events, one per line, - for standard input, or a SOURCE as for watch
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Write JSON, one object per line
        #[arg(long)]
        json: bool,
        /// Treat warnings as errors
        #[arg(long)]
        strict: bool,
        /// For a live stream: `ended` ends the check when every session has ended, `idle:SECONDS` when nothing arrives
        #[arg(long, value_name = "WHEN", value_parser = until)]
        until: Option<EndCondition>,
        /// For a live stream: take the bearer token from this environment variable
        #[arg(long, value_name = "NAME", conflicts_with = "token_file")]
        token_env: Option<String>,
        /// For a live stream: take the bearer token from this file
        #[arg(long, value_name = "FILE")]
        token_file: Option<PathBuf>,
        /// The settings file
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        /// Allow http and ws without encryption to other machines
        #[arg(long)]
        allow_plain_http: bool,
    },
    /// Show what the state machines of each session did, step by step
    Trace {
        /// A FILE of events, one per line, or - for standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The format of the output
        #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
        format: TraceFormat,
    },
    /// Check terminal, settings, screen reader, voices, agents and sources: what is there, and what would help
    ///
    /// Takes the same sources and flags as watch, and reports what watch would find. Exits with 1 if something would
    /// prevent watch from working.
    Doctor {
        /// The sources to check; each one is opened once
        #[arg(value_name = "SOURCE")]
        sources: Vec<String>,
        /// Do not speak a test sentence
        #[arg(long)]
        silent: bool,
        /// Report every setting, even those at their defaults
        #[arg(long)]
        all: bool,
        /// Write JSON, one object per line
        #[arg(long)]
        json: bool,
        /// How it would be shown and said.
        #[command(flatten)]
        options: Options,
    },
    /// Answer five questions that set hearken up, and try each answer at once
    ///
    /// They are about screen reader or voice, speed, switches or keys, verbosity and colours. Nothing is written before
    /// the last answer.
    Setup {
        /// Whether a screen reader is running: detected, or as you say
        #[arg(
            long,
            value_enum,
            value_name = "WHETHER",
            env = "HEARKEN_SCREEN_READER"
        )]
        screen_reader: Option<ReaderChoice>,
        /// The settings file to change, instead of your own
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        /// Your languages, best first
        #[arg(long, value_name = "TAG", value_delimiter = ',')]
        language: Vec<String>,
    },
    /// Say a text with the chosen voice
    Say {
        /// The text
        #[arg(value_name = "TEXT", required = true)]
        text: Vec<String>,
        /// How to say it
        #[arg(long, value_name = "VOICE", value_parser = VoiceValues)]
        voice: Option<VoiceChoice>,
        /// The settings file
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
    /// Measure what an event costs on this machine, with a flood of events over a socket and from a file
    ///
    /// Without options it takes at most a minute; it needs space for the events in the temporary folder, and no network.
    #[command(hide = true)]
    Bench(BenchArguments),
    /// Speak with the platform's own speech, in a separate process; hearken starts it by itself
    #[command(hide = true)]
    SystemVoice {
        /// NVDA's controller client, if NVDA is to speak
        #[arg(long, value_name = "LIBRARY")]
        nvda: Option<PathBuf>,
    },
    /// Hear an agent that you start elsewhere, through hooks in its settings
    ///
    /// Shows what it will write, and asks first. If no hearken is listening, a hook ends at once and decides nothing.
    Hooks {
        /// What to do with the hooks
        #[arg(value_enum, value_name = "ACTION")]
        action: HookAction,
        /// Whose settings
        #[arg(value_enum, value_name = "AGENT", default_value = "claude")]
        agent: HookedAgent,
        /// What happened, if a hook's message does not say it; the hooks pass this
        #[arg(value_name = "EVENT")]
        event: Option<String>,
        /// Use the settings of this folder instead of your own
        #[arg(long)]
        project: bool,
        /// Write without asking
        #[arg(long)]
        yes: bool,
        /// Your languages, best first
        #[arg(long, value_name = "TAG", value_delimiter = ',')]
        language: Vec<String>,
    },
    /// Give an agent tools with which it speaks and asks here; the agent starts this as an MCP server
    ///
    /// Its announcements and questions are heard as the agent's own words, where hearken watch hooks runs. No answer to
    /// them permits anything. Claude Code can also be told what to do, and its permissions answered, over its channel.
    Mcp(ToolServing),
    /// Write shell completions to standard output
    ///
    /// The script asks hearken for names, so that it offers scenarios, commands and the sources in your settings. It
    /// calls hearken by that name, which must be on your PATH.
    Completions {
        /// Which shell
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Write a manual page to standard output, or all pages to a folder
    ///
    /// A page is meant for programs that show manual pages, for example: hearken man watch | man -l -
    Man {
        /// The command whose page to write; without it, the page of hearken as a whole
        #[arg(value_name = "COMMAND", conflicts_with = "dir")]
        page: Option<String>,
        /// Write every page to this folder; man finds them if the folder is named man1
        #[arg(long, value_name = "FOLDER")]
        dir: Option<PathBuf>,
        /// Your languages, best first
        #[arg(long, value_name = "TAG", value_delimiter = ',')]
        language: Vec<String>,
    },
}

/// How to show and say what agents do.
#[derive(Debug, Clone, Default, Args)]
pub struct Options {
    /// How to show it: full screen, plain lines, or JSON
    #[arg(long, value_enum, value_name = "FACE")]
    pub face: Option<FaceChoice>,
    /// Whether a screen reader is running: detected, or as you say
    #[arg(
        long,
        value_enum,
        value_name = "WHETHER",
        env = "HEARKEN_SCREEN_READER"
    )]
    pub screen_reader: Option<ReaderChoice>,
    /// How the full face is coloured; NO_COLOR makes it plain
    #[arg(long, value_enum, value_name = "THEME", env = "HEARKEN_THEME")]
    pub theme: Option<ThemeChoice>,
    /// When plain lines and the transcript of the full face show the time
    #[arg(long, value_enum, value_name = "WHEN")]
    pub times: Option<TimesChoice>,
    /// How to say it
    #[arg(long, value_name = "VOICE", value_parser = VoiceValues)]
    pub voice: Option<VoiceChoice>,
    /// How long each announcement is
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub verbosity: Option<Verbosity>,
    /// How much is announced
    #[arg(long, value_enum, value_name = "LOAD")]
    pub load: Option<Load>,
    /// Your languages, best first
    #[arg(long, value_name = "TAG", value_delimiter = ',')]
    pub language: Vec<String>,
    /// Write the events to a new file as they arrive
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Exit automatically: `ended` when every session has ended, or `idle:SECONDS` when nothing arrives
    #[arg(long, value_name = "WHEN", value_parser = until)]
    pub until: Option<EndCondition>,
    /// Connect without a handshake, over /events and /messages only
    #[arg(long)]
    pub plain_pair: bool,
    /// The protocol that the sources speak, if it is not to be detected
    #[arg(long, value_name = "NAME")]
    pub dialect: Option<Dialect>,
    /// Follow only agents whose signed manifest one of your keys verifies
    #[arg(long)]
    pub require_signed: bool,
    /// Take the bearer token from this environment variable
    #[arg(long, value_name = "NAME", conflicts_with = "token_file")]
    pub token_env: Option<String>,
    /// Take the bearer token from this file
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Answer questions by the rules of this file, for scripts
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,
    /// Change the keys with a file of lines such as accept = ["F5"]
    #[arg(long, value_name = "FILE")]
    pub keys: Option<PathBuf>,
    /// The settings file
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The width of plain lines in columns
    #[arg(long, value_name = "N", value_parser = width)]
    pub width: Option<u16>,
    /// How many times to try a lost source again; forever if not given
    #[arg(long, value_name = "N", value_parser = retries)]
    pub retries: Option<u32>,
    /// Allow http and ws without encryption to other machines
    #[arg(long)]
    pub allow_plain_http: bool,
    /// Keep reading a FILE as it grows, and wait for one that does not exist yet
    #[arg(long)]
    pub follow: bool,
    /// Trust the certificates in this file in addition to the system's
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// Present this certificate to servers
    #[arg(long, value_name = "FILE", requires = "client_key")]
    pub client_cert: Option<PathBuf>,
    /// The private key of the certificate
    #[arg(long, value_name = "FILE", requires = "client_cert")]
    pub client_key: Option<PathBuf>,
    /// Prove who you are to NATS servers with this file: a signed identity (.creds), or the seed of a key
    #[arg(long, value_name = "FILE")]
    pub creds: Option<PathBuf>,
    /// Speak only what is urgent and what answers your keys
    #[arg(long)]
    pub quiet: bool,
}

impl Options {
    /// Applies the flags to the settings.
    pub fn apply(&self, config: &mut Config) {
        if let Some(face) = self.face {
            config.screen.face = face;
        }
        if let Some(reader) = self.screen_reader {
            config.screen.reader = reader;
        }
        if let Some(theme) = self.theme {
            config.screen.theme = theme;
        }
        if let Some(times) = self.times {
            config.screen.times = times;
        }
        if let Some(voice) = &self.voice {
            config.voice.engine = voice.clone();
        }
        if let Some(verbosity) = self.verbosity {
            config.announce.verbosity = verbosity;
        }
        if let Some(load) = self.load {
            config.announce.load = load;
        }
        if !self.language.is_empty() {
            config.announce.languages.clone_from(&self.language);
        }
        if let Some(width) = self.width {
            config.screen.width = Some(width);
        }
        if let Some(retries) = self.retries {
            config.links.retries = Some(retries);
        }
        config.links.allow_plain_http |= self.allow_plain_http;
        config.links.follow |= self.follow;
        config.links.plain_pair |= self.plain_pair;
        if let Some(dialect) = self.dialect {
            config.links.dialect = dialect;
        }
        config.handshake.require_signed |= self.require_signed;
        if let Some(ca) = &self.ca {
            config.links.ca = Some(ca.clone());
        }
        if let (Some(certificate), Some(key)) = (&self.client_cert, &self.client_key) {
            config.links.client_cert = Some(certificate.clone());
            config.links.client_key = Some(key.clone());
        }
        if let Some(creds) = &self.creds {
            config.links.creds = Some(creds.clone());
        }
        config.announce.quiet |= self.quiet;
    }
}

/// Returns the settings file and the languages that a call names, even if the call is invalid: the person who has to
/// correct it must be able to read what is wrong.
pub fn asked(arguments: &[OsString]) -> (Option<PathBuf>, Vec<String>) {
    let words = arguments.iter().map_while(|word| {
        let word = word.to_string_lossy();
        (word != "--").then_some(word)
    });
    let words: Vec<_> = words.collect();
    let value = |name: &str| {
        words.iter().enumerate().find_map(|(at, word)| {
            let rest = word.strip_prefix(name)?;
            match rest.strip_prefix('=') {
                Some(value) => Some(value.to_owned()),
                None if rest.is_empty() => words.get(at + 1).map(|word| word.to_string()),
                None => None,
            }
        })
    };
    let languages = value("--language").unwrap_or_default();
    let languages = languages.split(',').map(str::trim);
    let languages = languages.filter(|tag| !tag.is_empty() && !tag.starts_with('-'));
    (
        value("--config").map(PathBuf::from),
        languages.map(str::to_owned).collect(),
    )
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_call_that_can_not_be_used_names_its_settings_and_languages_all_the_same() {
        let asked = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let (file, languages) = asked(&words);
            (
                file.map(|file| file.display().to_string()),
                languages.join(" "),
            )
        };
        let none = || (None, String::new());
        assert_eq!(asked("hearken watch --nonsense"), none());
        let german = || (Some("a.toml".to_owned()), "de en".to_owned());
        assert_eq!(
            asked("hearken x --language de,en --config a.toml"),
            german()
        );
        assert_eq!(
            asked("hearken x --config=a.toml --language=de,en"),
            german()
        );
        assert_eq!(asked("hearken watch --language --face"), none());
        assert_eq!(asked("hearken watch -- x --language de"), none());
        assert_eq!(asked("hearken watch --languages de"), none());
    }
}
