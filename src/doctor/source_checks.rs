//! The sources: whether each one can be read.
//!
//! Responsibilities: opening each source once as a run does, and reporting the outcome in words
//! with a remedy. Not here: reading what a source sends.

use std::time::Duration;

use super::broker_checks;
use super::finding_lines::{DoctorFinding, DoctorTopic, because, own as name_of};
use super::remedies::remedy;
use crate::announce::Reason;
use crate::config::{Config, SourceConfig};
use crate::link::{Fault, LinkEvent, Phrase, PhraseArg};
use crate::runtime::settings_file::{credential, token_of};
use crate::runtime::source_links;
use crate::transport::{self, LinkSettings, LinkSink, Source, Tls};

/// The time limit for one source; a server on the other side of the world answers in far less.
const LIMIT: Duration = Duration::from_secs(8);

/// The most events kept while a source is tried; the first ones decide.
const NEWS: usize = 16;

/// The outcome of trying a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceOutcome {
    /// It opens.
    Open,
    /// It answers and has a manifest, so a handshake is due; the check does not make one, because that would leave a
    /// subscription behind.
    Manifest,
    /// It ended immediately, as a file does.
    Ended,
    /// It can't be read.
    Failed(Fault),
    /// Nothing arrived in time.
    Silent,
}

/// Tries every source, one after the other, and passes on each finding as soon as it is made.
///
/// A word is first tried as a name in the settings; with no words, all sources in the settings are
/// tried.
pub async fn look(
    words: &[String],
    config: &Config,
    settings: &LinkSettings,
    tell: &mut (dyn FnMut(DoctorFinding) + Send),
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
        return tell(DoctorFinding::fine(
            DoctorTopic::Source,
            "doctor.source.none",
        ));
    }
    let alone = meant.len() == 1;
    for (word, own) in meant {
        let findings = match own {
            Some(own) => of_the_settings(own, config, settings, alone).await,
            None => match (
                source_links::read(word, &settings.config),
                source_links::with_own(word, config),
            ) {
                (Err(error), _) => {
                    vec![refused(source_links::unknown(word, error, config).reason())]
                }
                (Ok(source), Some(own)) if source.is_live() => {
                    of_the_settings(&own, config, settings, alone).await
                }
                (Ok(_), _) => attempt(None, word, settings, config).await,
            },
        };
        findings.into_iter().for_each(&mut *tell);
    }
}

/// Tries a source from the settings, with its own values.
async fn of_the_settings(
    own: &SourceConfig,
    config: &Config,
    settings: &LinkSettings,
    alone: bool,
) -> Vec<DoctorFinding> {
    let own = &source_links::spelled_out(own.clone());
    let name = &own.name;
    let Some(url) = &own.url else {
        // An examination must not start a program.
        let program = own.command.first().cloned().unwrap_or_default();
        let text = Phrase::new("doctor.source.program")
            .with("name", name_of(name))
            .with("program", name_of(program));
        return vec![DoctorFinding::fine(DoctorTopic::Source, text)];
    };
    let links = own.over(&config.links);
    let token = token_of(own, || Ok(settings.token.clone()), alone);
    let token = token.and_then(|token| credential(links.dialect, token));
    let remedy = "doctor.source.own.remedy";
    let failed = |why: &Reason| {
        Phrase::new("doctor.source.failed")
            .with("name", name_of(name))
            .with("why", because(why))
    };
    let token = match token {
        Ok(token) => token,
        Err(error) => {
            let text = failed(error.reason());
            return vec![DoctorFinding::broken(DoctorTopic::Source, text, remedy)];
        }
    };
    match Tls::load(&links) {
        Ok(tls) => {
            let settings = LinkSettings::new(links, token, tls, 0);
            attempt(Some(name), url, &settings, config).await
        }
        Err(error) => {
            let text = failed(&crate::runtime::of_tls(&error));
            vec![DoctorFinding::broken(DoctorTopic::Source, text, remedy)]
        }
    }
}

/// Tries one source.
async fn attempt(
    name: Option<&str>,
    text: &str,
    settings: &LinkSettings,
    config: &Config,
) -> Vec<DoctorFinding> {
    vec![match source_links::read(text, &settings.config) {
        Err(error) => refused(&crate::runtime::of_source(&error)),
        Ok(Source::Stdin) => DoctorFinding::fine(DoctorTopic::Source, "doctor.source.stdin"),
        Ok(Source::Nats(address)) => {
            return broker_checks::look(&address, settings, &config.questions.user).await;
        }
        Ok(source) => {
            let dialect = settings.config.dialect;
            let name = name.map_or_else(|| source_links::name(&source, dialect), str::to_owned);
            told(&name, &reach(source, settings).await)
        }
    }]
}

/// Opens a source and waits for the first event that decides.
async fn reach(source: Source, settings: &LinkSettings) -> SourceOutcome {
    let (sink, mut news) = LinkSink::channel(0, NEWS);
    let shakes = !settings.config.plain_pair;
    let addresses = source_links::addresses(&source);
    let own = source_links::own_stream(&source, settings.config.dialect);
    let settings = source_links::prepared(settings.clone());
    let is_stream = matches!(source, Source::Http(_));
    let handle = transport::open(source, settings, sink);
    let decided = async {
        loop {
            match news.recv().await {
                Some((_, LinkEvent::Connected | LinkEvent::Frame(_))) => {
                    return SourceOutcome::Open;
                }
                Some((_, LinkEvent::Ended)) | None => return SourceOutcome::Ended,
                Some((_, LinkEvent::Failed { fault } | LinkEvent::Lost { fault, .. })) => {
                    return SourceOutcome::Failed(fault);
                }
                Some((_, LinkEvent::Connecting { .. })) => {
                    if let Some(stream) = own.clone().filter(|_| is_stream) {
                        handle.follow(stream);
                    } else if is_stream && shakes {
                        handle.call(0, addresses.manifest());
                    } else if is_stream {
                        handle.follow(addresses.plain());
                    }
                }
                Some((_, LinkEvent::Answered { outcome, .. })) => match outcome {
                    Ok(answer) if answer.status == 200 && !answer.body.is_empty() => {
                        return SourceOutcome::Manifest;
                    }
                    Ok(_) => handle.follow(addresses.plain()),
                    Err(fault) => return SourceOutcome::Failed(fault),
                },
                Some((
                    _,
                    LinkEvent::Replied { .. }
                    | LinkEvent::Silent { .. }
                    | LinkEvent::Resumed
                    | LinkEvent::Listening { .. }
                    | LinkEvent::Missed { .. }
                    | LinkEvent::CaughtUp
                    | LinkEvent::Request { .. }
                    | LinkEvent::Lapsed { .. }
                    | LinkEvent::Strangers { .. }
                    | LinkEvent::Piece { .. }
                    | LinkEvent::StreamEnded
                    | LinkEvent::Remark { .. }
                    | LinkEvent::Dropped { .. },
                )) => {}
            }
        }
    };
    let reached = tokio::time::timeout(LIMIT, decided).await;
    handle.close();
    reached.unwrap_or(SourceOutcome::Silent)
}

fn refused(why: &Reason) -> DoctorFinding {
    DoctorFinding::broken(
        DoctorTopic::Source,
        Phrase::new("fault.other").with("reason", because(why)),
        "doctor.source.refused.remedy",
    )
}

fn told(name: &str, reached: &SourceOutcome) -> DoctorFinding {
    let say = |key| Phrase::new(key).with("name", name_of(name));
    match reached {
        SourceOutcome::Open => DoctorFinding::fine(DoctorTopic::Source, say("doctor.source.open")),
        SourceOutcome::Manifest => {
            DoctorFinding::fine(DoctorTopic::Source, say("doctor.source.manifest"))
        }
        SourceOutcome::Ended => {
            DoctorFinding::fine(DoctorTopic::Source, say("doctor.source.ended"))
        }
        SourceOutcome::Silent => DoctorFinding::weak(
            DoctorTopic::Source,
            say("doctor.source.silent").with("n", name_of(LIMIT.as_secs())),
            "doctor.source.silent.remedy",
        ),
        SourceOutcome::Failed(fault) => DoctorFinding::broken(
            DoctorTopic::Source,
            say("doctor.source.failed").with("why", PhraseArg::Fault(fault.clone())),
            remedy(fault),
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use super::*;
    use crate::config::LinkConfig;
    use crate::doctor::finding_lines::Grade;

    /// Answers one request with bytes and then keeps the connection open until the test is over.
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

    async fn found(sources: &[String]) -> Vec<DoctorFinding> {
        let settings = LinkSettings::new(LinkConfig::default(), None, transport::Tls::default(), 1);
        let mut found = Vec::new();
        let config = Config::default();
        look(sources, &config, &settings, &mut |finding| {
            found.push(finding)
        })
        .await;
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
            (Some("Start the agent"), "nobody answers"),
            (None, ""),
            (Some("Check the name"), "b.jsonl"),
            (Some("--help"), "Gopher is not a kind of source"),
            (None, "not tried"),
        ];
        assert_eq!(found.len(), wanted.len(), "{found:#?}");
        for (finding, (remedy, text)) in found.iter().zip(wanted) {
            let words = crate::announce::Phrases::english().unwrap();
            let line = finding.line(&words);
            assert!(line.contains(text), "{line}");
            match (&finding.grade, remedy) {
                (Grade::Fine, None) => {}
                (Grade::Broken { .. }, Some(words)) => assert!(line.contains(words), "{line}"),
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
