//! An endpoint that accepts runs, as a whole program: the real hearken against a scripted server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use hearken_wording::phrase;
use serde_json::{Value, json};

use crate::support::PATIENCE;
use crate::support::child::Hearken;

/// Serves one run after the other, as the last words of each request say, and reports what was
/// posted.
struct Endpoint {
    port: u16,
    posts: Receiver<Value>,
}

impl Endpoint {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, posts) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, sender) = (stream.unwrap(), sender.clone());
                std::thread::spawn(move || {
                    // A client that leaves in the middle of a run breaks the pipe.
                    let _ = serve(stream, |post| sender.send(post).unwrap());
                });
            }
        });
        Self { port, posts }
    }

    fn hearken(&self, more: &[&str]) -> Hearken {
        let address = format!("agui:http://127.0.0.1:{}/helper", self.port);
        let mut arguments = vec!["run", &address, "--voice", "none", "--face", "json"];
        arguments.extend(more);
        Hearken::start(&arguments)
    }

    fn post(&self) -> Value {
        self.posts.recv_timeout(PATIENCE).unwrap()
    }
}

fn serve(stream: TcpStream, posted: impl Fn(Value)) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut line, mut length) = (String::new(), 0);
    while reader.read_line(&mut line)? > 2 {
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let post: Value = serde_json::from_slice(&body).unwrap();
    posted(post.clone());
    let words = post["messages"]
        .as_array()
        .and_then(|all| all.last()?["content"].as_str())
        .unwrap_or_default()
        .to_owned();
    let mut stream = stream;
    if words == "vanish" {
        return Ok(());
    }
    write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    )?;
    let mut says = |event: Value| {
        let text = format!("data: {event}\n\n");
        write!(stream, "{:x}\r\n{text}\r\n", text.len()).and_then(|()| stream.flush())
    };
    says(json!({"type": "RUN_STARTED", "threadId": post["threadId"], "runId": post["runId"]}))?;
    let end = |outcome: Value| json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "outcome": outcome});
    let text = |text: &str| json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": post["runId"], "delta": text});
    match words.as_str() {
        "break" => {
            says(text("Half of it is said. And"))?;
            return Ok(());
        }
        "ask" if post.get("resume").is_none() => {
            says(json!({"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "touch"}))?;
            says(
                json!({"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "{\"path\": \"a.txt\"}"}),
            )?;
            says(json!({"type": "TOOL_CALL_END", "toolCallId": "c"}))?;
            let asks =
                json!({"id": "i", "reason": "tool_call", "toolCallId": "c", "message": "May it?"});
            says(end(json!({"type": "interrupt", "interrupts": [asks]})))?;
        }
        "wait" => {
            for n in 1..1000 {
                says(text(&format!("Sentence {n} stands here. ")))?;
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        _ => {
            says(text("It is done."))?;
            says(end(json!({"type": "success"})))?;
        }
    }
    stream.write_all(b"0\r\n\r\n")
}

#[test]
fn each_prompt_is_one_run_and_none_is_posted_twice() {
    let endpoint = Endpoint::new();
    let mut hearken = endpoint.hearken(&["--prompt", "hello"]);
    hearken.announced("session_started", "helper started");
    hearken.announced("output", "It is done.");
    hearken.announced("session_completed", phrase!("session.completed.*"));
    let first = endpoint.post();
    for (words, kind, told) in [
        (
            "break",
            "session_errored",
            "What became of this is not known",
        ),
        (
            "vanish",
            "connection",
            "It is unknown whether your prompt was taken",
        ),
    ] {
        hearken.say(&format!("> {words}"));
        hearken.announced(kind, told);
        assert_eq!(
            endpoint.post()["messages"]
                .as_array()
                .unwrap()
                .last()
                .unwrap()["content"],
            words
        );
    }
    // However long the wait before another attempt, only a person's words end it.
    assert!(
        endpoint.posts.recv_timeout(Duration::from_secs(4)).is_err(),
        "a run was posted again"
    );
    hearken.say("> go on");
    hearken.announced("session_completed", phrase!("session.completed.*"));
    let last = endpoint.post();
    assert_eq!(last["threadId"], first["threadId"]);
    let said = last["messages"].to_string();
    assert!(
        said.contains("Half of it is said. And") && said.contains("vanish"),
        "{said}"
    );
    hearken.say("q");
    assert_eq!(hearken.exit().0, 0);
}

#[test]
fn an_interrupt_is_answered_by_the_next_run_and_a_run_is_left() {
    let endpoint = Endpoint::new();
    let mut hearken = endpoint.hearken(&[]);
    hearken.announced("connection", phrase!("agui.ready"));
    hearken.say("> ask");
    hearken.announced("confirmation", "touch (path: a.txt)");
    endpoint.post();
    hearken.say("y 1");
    hearken.announced("reply", phrase!("reply.second_step.*"));
    assert!(
        endpoint.posts.try_recv().is_err(),
        "nothing is answered yet"
    );
    hearken.say("c 1");
    hearken.announced("session_completed", phrase!("session.completed.*"));
    let wanted = json!([{"interruptId": "i", "status": "resolved", "payload": {"approved": true}}]);
    assert_eq!(endpoint.post()["resume"], wanted);
    hearken.say("> wait");
    hearken.announced("output", "Sentence 3 stands here.");
    hearken.say("stop");
    hearken.announced("reply", phrase!("stop_turn.first.*"));
    hearken.say("stop");
    hearken.announced("reply", phrase!("agui.left"));
    hearken.announced("session_cancelled", phrase!("agui.end.left"));
    hearken.say("> hello");
    hearken.announced("session_completed", phrase!("session.completed.*"));
    hearken.say("q");
    assert_eq!(hearken.exit().0, 0);
}

#[test]
fn what_only_programs_have_is_refused_with_words() {
    for (arguments, words) in [
        (
            vec!["run", "agui:http://127.0.0.1:1/", "--continue"],
            "runs elsewhere",
        ),
        (
            vec!["run", "agui:http://127.0.0.1:1/", "--cwd", "/"],
            "runs elsewhere",
        ),
        (
            vec!["run", "agui:http://127.0.0.1:1/", "--prompt", " "],
            "the prompt is empty",
        ),
        (vec!["run", "agui:ws://127.0.0.1:1/"], "agui:ws"),
    ] {
        let hearken = Hearken::start(&arguments);
        let (code, errors, _) = hearken.exit();
        assert_eq!(code, 2, "{arguments:?}: {errors}");
        assert!(errors.contains(words), "{errors}");
    }
}
