//! The arguments of `hearken bridge`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::Options;
use super::flag_values::retries;
use crate::config::Dialect;

/// What is offered to watchers, and where.
#[derive(Debug, Clone, Default, Args)]
pub struct BridgeArguments {
    /// The sources, as for watch; without any, all sources in your settings
    #[arg(value_name = "SOURCE")]
    pub sources: Vec<String>,
    /// An agent to start, without a shell, that speaks the Agent Client Protocol, or the protocol of --dialect
    #[arg(value_name = "COMMAND", last = true)]
    pub program: Vec<OsString>,
    /// Where watchers reach it: unix:NAME, unix:PATH, pipe:NAME, HOST:PORT or - for standard input and output; may be
    /// given several times
    #[arg(long, value_name = "PLACE", required_unless_present = "to")]
    pub serve: Vec<String>,
    /// The NATS server on which watchers find it, and the space there: nats://HOST/SPACE, or tls://…
    #[arg(long, value_name = "URL", conflicts_with_all = ["serve", "serve_token_file", "allow_origin"])]
    pub to: Option<String>,
    /// The name of this machine for watchers; the system's own if not given
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// At HOST:PORT, admit only watchers that send the bearer token in this file
    #[arg(long, value_name = "FILE")]
    pub serve_token_file: Option<PathBuf>,
    /// At HOST:PORT, also admit web pages of this origin, such as http://localhost:3000; may be given several times
    #[arg(long, value_name = "ORIGIN")]
    pub allow_origin: Vec<String>,
    /// Prove who this is to the NATS server with this file: a signed identity (.creds), or the seed of a key
    #[arg(long, value_name = "FILE")]
    pub creds: Option<PathBuf>,
    /// The folder in which a started agent works
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// The protocol that the sources speak, if it is not to be detected
    #[arg(long, value_name = "NAME")]
    pub dialect: Option<Dialect>,
    /// Take the sources' bearer token from this environment variable
    #[arg(long, value_name = "NAME", conflicts_with = "token_file")]
    pub token_env: Option<String>,
    /// Take the sources' bearer token from this file
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// The settings file
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The languages of what the bridge itself says, best first
    #[arg(long, value_name = "TAG", value_delimiter = ',')]
    pub language: Vec<String>,
    /// How many times to try a lost source again; forever if not given
    #[arg(long, value_name = "N", value_parser = retries)]
    pub retries: Option<u32>,
    /// Allow http, ws and nats without encryption to other machines, and HOST:PORT beyond this machine
    #[arg(long)]
    pub allow_plain_http: bool,
    /// Trust the certificates in this file in addition to the system's
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// Present this certificate to servers
    #[arg(long, value_name = "FILE", requires = "client_key")]
    pub client_cert: Option<PathBuf>,
    /// The private key of the certificate
    #[arg(long, value_name = "FILE", requires = "client_cert")]
    pub client_key: Option<PathBuf>,
}

impl BridgeArguments {
    /// Returns the flags that concern the sources, as `watch` has them.
    pub fn options(&self) -> Options {
        Options {
            dialect: self.dialect,
            token_env: self.token_env.clone(),
            token_file: self.token_file.clone(),
            config: self.config.clone(),
            language: self.language.clone(),
            retries: self.retries,
            allow_plain_http: self.allow_plain_http,
            ca: self.ca.clone(),
            client_cert: self.client_cert.clone(),
            client_key: self.client_key.clone(),
            creds: self.creds.clone(),
            ..Options::default()
        }
    }
}
