//! How each SOURCE is interpreted.

#[cfg(unix)]
use super::Socket;
use super::{Source, SourceError};
use crate::config::LinkConfig;

fn parse(text: &str) -> Result<Source, SourceError> {
    Source::parse(text, &LinkConfig::default())
}

#[test]
fn an_address_stays_as_it_was_given_but_for_its_fragment() {
    for (given, wanted) in [
        ("http://localhost:8080", "http://localhost:8080/"),
        ("HTTP://127.0.0.1:1/a/b/?c=d", "http://127.0.0.1:1/a/b/?c=d"),
        ("http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
        ("https://agents.example/x#part", "https://agents.example/x"),
        ("ws://localhost:1", "ws://localhost:1/"),
        (
            "ws://[::1]:9/own?key=s3cret#x",
            "ws://[::1]:9/own?key=s3cret",
        ),
    ] {
        let source = parse(given).unwrap();
        let url = match &source {
            Source::Http(address) => address.url(),
            Source::WebSocket(address) => address.url(),
            other => panic!("{other:?}"),
        };
        assert_eq!(url.as_str(), wanted, "{given}");
        assert!(!format!("{source:?} {source}").contains("s3cret"));
        let (path, query) = source.path().unwrap();
        assert_eq!((path, query), (url.path(), url.query().is_some()));
    }
}

#[test]
fn what_stands_behind_the_sign_of_a_part_stays_here_and_is_known() {
    for (given, wanted) in [
        ("ws://localhost:1/#thread-1", Some("thread-1")),
        ("http://localhost:1/a#task", Some("task")),
        ("http://localhost:1/#", None),
        ("http://localhost:1", None),
        #[cfg(unix)]
        ("unix:/tmp/x#y", None),
    ] {
        assert_eq!(parse(given).unwrap().fragment(), wanted, "{given}");
    }
    let origin = |given: &str| parse(given).unwrap().origin();
    assert_eq!(
        origin("https://Agents.example:443/x?y"),
        Some("https://agents.example".to_owned())
    );
    assert_eq!(origin("-"), None);
}

#[test]
fn plain_http_to_another_machine_is_refused_unless_allowed() {
    for far in [
        "http://example.com",
        "http://10.0.0.1:80/events",
        "http://0.0.0.0",
        "http://localhost.example.com",
        "http://[::2]/",
        "http://128.0.0.1",
    ] {
        assert!(
            matches!(parse(far), Err(SourceError::PlainHttp { .. })),
            "{far}"
        );
        let allowed = LinkConfig {
            allow_plain_http: true,
            ..LinkConfig::default()
        };
        assert!(
            matches!(Source::parse(far, &allowed), Ok(Source::Http(_))),
            "{far}"
        );
    }
    assert!(
        parse("http://example.com")
            .unwrap_err()
            .to_string()
            .contains("example.com")
    );
}

#[test]
fn a_credential_in_an_address_is_refused_and_not_shown() {
    for text in [
        "https://me:hunter2@example.com/",
        "http://hunter2@localhost/",
    ] {
        let error = parse(text).unwrap_err();
        assert_eq!(error, SourceError::Credential);
        assert!(!format!("{error} {error:?}").contains("hunter2"));
    }
}

fn file(path: &str) -> Source {
    Source::File(path.into())
}

#[test]
fn a_websocket_is_judged_as_any_address_is() {
    assert_eq!(
        parse("ws://example.com/"),
        Err(SourceError::PlainHttp {
            host: "example.com".to_owned()
        })
    );
    assert_eq!(
        parse("wss://me:hunter2@example.com/"),
        Err(SourceError::Credential)
    );
}

#[cfg(unix)]
#[test]
fn a_socket_is_a_path_or_the_id_of_an_agent() {
    assert_eq!(
        parse("unix:/run/agent.sock"),
        Ok(Source::Unix(Socket::Path("/run/agent.sock".into())))
    );
    assert!(matches!(
        parse("unix:retirement-planner"),
        Ok(Source::Unix(Socket::Agent { id, .. })) if id == "retirement-planner"
    ));
    for bad in [
        "unix:",
        "unix:..",
        "unix:.hidden",
        "unix:a b",
        "unix:a\u{1b}",
    ] {
        assert_eq!(parse(bad), Err(SourceError::BadSocket), "{bad:?}");
    }
}

#[test]
fn unknown_kinds_are_refused_in_words() {
    assert_eq!(
        parse("ftp://x/"),
        Err(SourceError::UnknownScheme {
            scheme: "ftp".to_owned()
        })
    );
    assert_eq!(parse("http://"), Err(SourceError::BadAddress));
    assert_eq!(parse("http://local host/"), Err(SourceError::BadAddress));
}

#[test]
fn a_program_is_named_without_its_folder_and_its_arguments() {
    let command = ["/opt/agents/planner", "--token", "s3cret"];
    let source = Source::Program(command.map(Into::into).to_vec());
    assert_eq!(source.name(), "planner");
}

#[test]
fn files_and_standard_input() {
    assert_eq!(parse("-"), Ok(Source::Stdin));
    assert_eq!(parse("not-there.jsonl"), Ok(file("not-there.jsonl")));
    assert_eq!(parse("Cargo.toml"), Ok(file("Cargo.toml")));
    assert!(matches!(
        parse("not-there.txt"),
        Err(SourceError::NoSuchFile { .. })
    ));
    assert!(matches!(parse(""), Err(SourceError::NoSuchFile { .. })));
}

#[test]
fn an_address_without_its_kind_is_told_how_it_is_written() {
    for (given, wanted) in [
        ("localhost:8080", "http://localhost:8080"),
        ("localhost", "http://localhost"),
        ("localhost/events", "http://localhost/events"),
        ("127.0.0.1:8080/x", "http://127.0.0.1:8080/x"),
        ("127.0.0.1", "http://127.0.0.1"),
        ("[::1]:80", "http://[::1]:80"),
        ("10.0.0.1", "https://10.0.0.1"),
        ("agents.example:8443", "https://agents.example:8443"),
        ("agents.example/events", "https://agents.example/events"),
    ] {
        let error = parse(given).unwrap_err();
        assert!(
            matches!(&error, SourceError::NoKind { address, .. } if address == wanted),
            "{given}: {error:?}"
        );
        assert!(error.to_string().ends_with(wanted), "{error}");
    }
    for given in [
        "planner",
        "notes.txt",
        "/nonexistent/x",
        "./a.b/c",
        "me:secret@localhost:80",
        "a b:80",
        "agents.example:port",
        "http//x",
    ] {
        let error = parse(given).unwrap_err();
        assert!(
            matches!(error, SourceError::NoSuchFile { .. }),
            "{given}: {error:?}"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_socket_that_is_named_as_a_file_is_told_how_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.sock");
    let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let error = parse(path.to_str().unwrap()).unwrap_err();
    let wanted = format!("write unix:{}", path.display());
    assert!(error.to_string().ends_with(&wanted), "{error}");
}

#[test]
fn a_name_shows_no_query_and_no_control_character() {
    let source = parse("http://localhost/events?key=s3cret").unwrap();
    assert_eq!(source.to_string(), "http://localhost/events");
    assert!(!format!("{source:?}").contains("s3cret"));
    let file = parse("a\u{1b}]0;b\u{202e}.jsonl").unwrap();
    assert_eq!(file.to_string(), "a\u{FFFD}]0;b\u{FFFD}.jsonl");
    assert_eq!(Source::Stdin.to_string(), "standard input");
}
