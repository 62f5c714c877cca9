//! The sources: whether each one can be read.
//!
//! Responsibilities: opening each source once as a run does, and what came of it in words with a
//! remedy. Not here: reading what a source sends.

use std::time::Duration;

use super::report::{Finding, Part};
use crate::config::{Config, SourceConfig};
use crate::link::{Fault, LinkEvent};
use crate::runtime::settings::token_of;
use crate::runtime::sources;
use crate::transport::{self, LinkSettings, LinkSink, Source, SourceError, Tls};

/// Bounds the wait for one source; a server on the other side of the world answers in far less.
const LIMIT: Duration = Duration::from_secs(8);

/// How many news of one source are kept while it is tried; the first says what is wanted.
const NEWS: usize = 16;

/// Says what came of trying a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reached {
    /// It is open.
    Open,
    /// It answers and has a manifest, so that there is a handshake to be made; looking makes none,
    /// because that would leave a subscription behind.
    Manifest,
    /// It came to its end at once, which a file does.
    Ended,
    /// It can't be read.
    Failed(Fault),
    /// Nothing came in time.
    Silent,
}

/// Tries every source, one after the other, and hands each finding over as soon as it is there.
///
/// A word is a name of the settings first; without any word, all of the settings are tried.
pub async fn look(
    words: &[String],
    config: &Config,
    settings: &LinkSettings,
    mut tell: impl FnMut(Finding),
) {
    let named = |word: &String| config.source.iter().find(|own| own.name == *word);
    let meant: Vec<(&str, Option<&SourceConfig>)> = if words.is_empty() {
        let all = config.source.iter();
        all.map(|own| (own.name.as_str(), Some(own))).collect()
    } else {
        let each = words.iter();
        each.map(|word| (word.as_str(), named(word))).collect()
    };
    if meant.is_empty() {
        return tell(Finding::fine(
            Part::Source,
            "none was named, and the settings have none; hearken doctor SOURCE tries one as hearken watch would",
        ));
    }
    let alone = meant.len() == 1;
    for (word, own) in meant {
        tell(match own {
            Some(own) => of_the_settings(own, config, settings, alone).await,
            None => attempt(None, word, settings).await,
        });
    }
}

/// Tries a source that the settings have, with what is its own.
async fn of_the_settings(
    own: &SourceConfig,
    config: &Config,
    settings: &LinkSettings,
    alone: bool,
) -> Finding {
    let name = &own.name;
    let Some(url) = &own.url else {
        // Starting a program is no look.
        let program = own.command.first().map_or("a program", String::as_str);
        return Finding::fine(
            Part::Source,
            format!("{name} would start {program}, which is not done by looking"),
        );
    };
    let links = own.over(&config.links);
    let token = token_of(own, || Ok(settings.token.clone()), alone);
    let remedy = "check the token and the certificates that the settings name for it";
    let token = match token {
        Ok(token) => token,
        Err(error) => {
            return Finding::broken(Part::Source, format!("{name}: {error:#}"), remedy);
        }
    };
    match Tls::load(&links) {
        Ok(tls) => attempt(Some(name), url, &LinkSettings::new(links, token, tls, 0)).await,
        Err(error) => Finding::broken(Part::Source, format!("{name}: {error}"), remedy),
    }
}

/// Tries one source.
async fn attempt(name: Option<&str>, text: &str, settings: &LinkSettings) -> Finding {
    match sources::read(text, &settings.config) {
        Err(error) => refused(&error),
        Ok(Source::Stdin) => Finding::fine(
            Part::Source,
            "standard input is not tried, because what is read from it would be gone",
        ),
        Ok(source) => {
            let name = name.map_or_else(|| sources::name(&source), str::to_owned);
            told(&name, &reach(source, settings).await)
        }
    }
}

/// Opens a source and waits for the first news that decide.
async fn reach(source: Source, settings: &LinkSettings) -> Reached {
    let (sink, mut news) = LinkSink::channel(0, NEWS);
    let shakes = !settings.config.plain_pair;
    let addresses = sources::addresses(&source);
    let settings = sources::prepared(settings.clone());
    let is_stream = matches!(source, Source::Http(_));
    let handle = transport::open(source, settings, sink);
    let decided = async {
        loop {
            match news.recv().await {
                Some((_, LinkEvent::Connected | LinkEvent::Frame(_))) => return Reached::Open,
                Some((_, LinkEvent::Ended)) | None => return Reached::Ended,
                Some((_, LinkEvent::Failed { fault } | LinkEvent::Lost { fault, .. })) => {
                    return Reached::Failed(fault);
                }
                Some((_, LinkEvent::Connecting { .. })) => {
                    if is_stream && shakes {
                        handle.call(0, addresses.manifest());
                    } else if is_stream {
                        handle.follow(addresses.plain());
                    }
                }
                Some((_, LinkEvent::Answered { outcome, .. })) => match outcome {
                    Ok(answer) if answer.status == 200 && !answer.body.is_empty() => {
                        return Reached::Manifest;
                    }
                    Ok(_) => handle.follow(addresses.plain()),
                    Err(fault) => return Reached::Failed(fault),
                },
                Some((
                    _,
                    LinkEvent::Replied { .. }
                    | LinkEvent::Silent { .. }
                    | LinkEvent::Resumed
                    | LinkEvent::Listening { .. }
                    | LinkEvent::Request { .. }
                    | LinkEvent::Lapsed { .. }
                    | LinkEvent::StreamEnded
                    | LinkEvent::Remark { .. }
                    | LinkEvent::Dropped { .. },
                )) => {}
            }
        }
    };
    let reached = tokio::time::timeout(LIMIT, decided).await;
    handle.close();
    reached.unwrap_or(Reached::Silent)
}

fn refused(error: &SourceError) -> Finding {
    Finding::broken(
        Part::Source,
        error.to_string(),
        "name it in another way, as hearken watch --help says",
    )
}

fn told(name: &str, reached: &Reached) -> Finding {
    match reached {
        Reached::Open => Finding::fine(Part::Source, format!("{name} is open")),
        Reached::Manifest => Finding::fine(
            Part::Source,
            format!("{name} answers and offers a handshake"),
        ),
        Reached::Ended => Finding::fine(
            Part::Source,
            format!("{name} can be read, and ends at once"),
        ),
        Reached::Silent => Finding::weak(
            Part::Source,
            format!(
                "{name} takes connections and sent nothing in {} seconds",
                LIMIT.as_secs()
            ),
            "wait for its first event, because some servers send nothing before it; if none comes, check the address",
        ),
        Reached::Failed(fault) => {
            Finding::broken(Part::Source, format!("{name}: {fault}"), remedy(fault))
        }
    }
}

fn remedy(fault: &Fault) -> &'static str {
    match fault {
        Fault::Refused => "start the agent, or check the host and the port",
        Fault::UnknownHost => "check the host's spelling, and that this machine has a network",
        Fault::TimedOut => "check the host and the port, and whether a firewall is in between",
        Fault::Closed => "look into the server's log; it took the connection and dropped it",
        Fault::Status {
            status: 401 | 403, ..
        } => "give the server's token with --token-env NAME or --token-file FILE",
        Fault::Status { status: 404, .. } => {
            "check the path; hearken asks for /events below a base address"
        }
        Fault::Status { status: 204, .. } => "the server has nothing more to tell; start a session",
        Fault::Status { status: 429, .. } => "wait; the server has too much to do",
        Fault::Status { status: 500.., .. } => "look into the server's log; the fault is there",
        Fault::Status { .. } => "check the address",
        Fault::NotEventStream { .. } => {
            "check the path; an AAEP server has its event stream at /events"
        }
        Fault::NotWebSocket(_) => "check the path; an AAEP server has its WebSocket at /aaep/v1/ws",
        Fault::Tls(_) => "check the server's certificate, its name and this machine's clock",
        Fault::TooLarge { .. } => "raise links.max_frame_bytes, if the source is to be trusted",
        Fault::Unusable(_) => "check the name, and that you may read it",
        Fault::ClosedWith { .. } => "look the code up in AAEP B.2.6, and into the server's log",
        Fault::Exited { .. } | Fault::Killed { .. } => {
            "start the program by hand and look at its words"
        }
        Fault::Rejected { .. } => {
            "look at what it says, and at the section handshake of your settings"
        }
        Fault::OneWay | Fault::Other(_) => "check the source",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use super::*;
    use crate::config::LinkConfig;
    use crate::doctor::report::Grade;

    /// Answers one request with bytes and then keeps the connection, until the test is over.
    fn server(answer: &'static str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let mut kept = Vec::new();
            for stream in listener.incoming().map_while(Result::ok) {
                let mut stream = stream;
                let _ = stream.read(&mut [0; 1024]);
                let _ = stream.write_all(answer.as_bytes());
                kept.push(stream);
            }
        });
        address
    }

    async fn found(sources: &[String]) -> Vec<Finding> {
        let settings = LinkSettings::new(LinkConfig::default(), None, transport::Tls::default(), 1);
        let mut found = Vec::new();
        let config = Config::default();
        look(sources, &config, &settings, |finding| found.push(finding)).await;
        found
    }

    #[tokio::test]
    async fn each_source_is_told_with_what_helps() {
        let open = server("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hello\n\n");
        let shaking = server(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
        );
        let denied = server("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.jsonl");
        std::fs::write(&file, "{}\n").unwrap();
        let path = |path: &std::path::Path| path.to_string_lossy().into_owned();
        let found = found(&[
            open,
            shaking,
            denied,
            "http://127.0.0.1:1".to_owned(),
            path(&file),
            path(&folder.path().join("b.jsonl")),
            "gopher://x".to_owned(),
            "-".to_owned(),
        ])
        .await;
        let wanted = [
            (None, "is open"),
            (None, "offers a handshake"),
            (Some("--token-env"), "401"),
            (Some("start the agent"), "refused"),
            (None, ""),
            (Some("check the name"), "b.jsonl"),
            (Some("--help"), "gopher"),
            (None, "not tried"),
        ];
        assert_eq!(found.len(), wanted.len(), "{found:#?}");
        for (finding, (remedy, text)) in found.iter().zip(wanted) {
            assert!(finding.text.contains(text), "{finding:?}");
            match (&finding.grade, remedy) {
                (Grade::Fine, None) => {}
                (Grade::Broken { remedy }, Some(words)) => {
                    assert!(remedy.contains(words), "{finding:?}");
                }
                (Grade::Fine | Grade::Weak { .. } | Grade::Broken { .. }, _) => {
                    panic!("{finding:?}")
                }
            }
        }
    }

    #[tokio::test]
    async fn no_source_is_no_fault() {
        let found = found(&[]).await;
        assert_eq!(found[0].grade, Grade::Fine);
    }
}
