//! Codex as it runs in a terminal: a WebSocket behind a Unix socket, found by the program's name or by its path.

use std::io::Write;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use hearken_wording::phrase;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};
use tokio_tungstenite::tungstenite::protocol::WebSocket;
use tokio_tungstenite::tungstenite::{Message, accept_hdr};

use crate::support::PATIENCE;
use crate::support::child::{Hearken, command};

/// One connection to a Codex that a test plays by hand.
struct CodexConnection(WebSocket<UnixStream>);

impl CodexConnection {
    /// Accepts a connection and its upgrade.
    fn accept(listener: &UnixListener) -> Self {
        let (stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        #[allow(clippy::result_large_err, reason = "the type is tungstenite's")]
        let socket = accept_hdr(stream, |request: &Request, response: Response| {
            let header = |name: &str| request.headers().get(name).map(|it| it.to_str().unwrap());
            assert_eq!(request.uri().path(), "/");
            assert_eq!(header("host"), Some("localhost"));
            assert_eq!(header("sec-websocket-protocol"), None);
            assert_eq!(header("sec-websocket-extensions"), None);
            assert_eq!(header("authorization"), None);
            Ok(response)
        });
        Self(socket.unwrap())
    }

    fn send(&mut self, message: &Value) {
        self.0.send(Message::text(message.to_string())).unwrap();
    }

    /// Receives the next message; `None` once the other side has left.
    fn receive(&mut self) -> Option<Value> {
        loop {
            match self.0.read() {
                Ok(Message::Text(text)) => return Some(serde_json::from_str(&text).unwrap()),
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// Receives a request of this kind and answers it; returns its parameters.
    fn answers(&mut self, method: &str, result: &Value) -> Value {
        let request = self.receive().unwrap();
        assert_eq!(request["method"], method, "{request}");
        self.send(&json!({"id": request["id"], "result": result}));
        request["params"].clone()
    }

    /// Greets, and lists these threads, in each of which a turn waits for an answer.
    fn meets(&mut self, threads: &[&str]) {
        self.answers("initialize", &json!({"userAgent": "codex"}));
        assert_eq!(self.receive().unwrap()["method"], "initialized");
        self.answers(
            "thread/loaded/list",
            &json!({"data": threads, "nextCursor": null}),
        );
    }

    /// Lets a thread be joined and caught up with, and asks again what is open there.
    fn joins(&mut self, thread: &str, id: u64, command: &str) {
        let status = json!({"type": "active", "activeFlags": ["waitingOnApproval"]});
        let about = json!({"id": thread, "cwd": "/w", "status": status, "ephemeral": false});
        let joined = self.answers("thread/resume", &json!({"thread": about, "cwd": "/w"}));
        assert_eq!(joined["threadId"], thread);
        self.asks(thread, id, command);
        let prompt = json!({"type": "userMessage", "id": format!("u{id}"),
            "content": [{"type": "text", "text": "do it"}], "completedAtMs": 1});
        let turn =
            json!({"id": format!("{thread}-turn"), "status": "inProgress", "items": [prompt]});
        self.answers("thread/turns/list", &json!({"data": [turn]}));
    }

    fn asks(&mut self, thread: &str, id: u64, command: &str) {
        self.send(&json!({"method": "item/commandExecution/requestApproval", "id": id, "params": {
            "threadId": thread, "turnId": format!("{thread}-turn"), "itemId": format!("call-{id}"),
            "command": command, "cwd": "/w", "availableDecisions": ["accept", "cancel"],
        }}));
    }

    fn resolves(&mut self, thread: &str, id: u64) {
        let params = json!({"threadId": thread, "requestId": id});
        self.send(&json!({"method": "serverRequest/resolved", "params": params}));
    }
}

fn watch(source: &str, home: &Path) -> Hearken {
    let settings = home.join("settings.toml");
    let mut file = std::fs::File::create(&settings).unwrap();
    file.write_all(b"[links]\nbackoff_first_ms = 50\nbackoff_cap_ms = 100\n")
        .unwrap();
    let settings = settings.to_str().unwrap();
    let arguments = [
        "watch", source, "--face", "json", "--voice", "none", "--config", settings,
    ];
    Hearken::spawn(command(&arguments).env("CODEX_HOME", home))
}

fn number(question: &Value) -> String {
    let text = question["text"].as_str().unwrap();
    let words = text.split("uestion ").nth(1).unwrap();
    words.split([' ', '.']).next().unwrap().to_owned()
}

/// Hearken waits for the socket; what was asked before is asked here, and each side hears who
/// answered.
#[test]
fn codex_in_its_terminal_is_waited_for_heard_and_answered() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("app-server-control");
    let path = folder.join("app-server-control.sock");
    let mut hearken = watch("codex", home.path());
    let told = hearken.announced(
        "connection",
        phrase!("cause.socket.program", program = "codex"),
    );
    let words = told["text"].as_str().unwrap();
    assert!(words.contains(path.to_str().unwrap()), "{words}");
    assert!(phrase!("cause.socket.program").is_in(words), "{words}");

    std::fs::create_dir(&folder).unwrap();
    let listener = UnixListener::bind(&path).unwrap();
    let mut codex = CodexConnection::accept(&listener);
    codex.meets(&["t-1"]);
    codex.joins("t-1", 0, "touch a.txt");
    hearken.announced("connection", phrase!("codex.attached", n = 1));
    let question = hearken.announced("confirmation", "touch a.txt");
    let n = number(&question);
    hearken.say(&format!("y {n}"));
    hearken.announced("reply", phrase!("reply.second_step.*"));
    hearken.say(&format!("c {n}"));
    let answer = codex.receive().unwrap();
    assert_eq!(answer["id"], 0);
    assert_eq!(answer["result"]["decision"], "accept");
    codex.resolves("t-1", 0);
    hearken.announced("reply", phrase!("reply.sent.*"));

    // Codex's own terminal is first.
    codex.asks("t-1", 1, "touch b.txt");
    let question = hearken.announced("confirmation", "touch b.txt");
    codex.resolves("t-1", 1);
    let n = number(&question);
    hearken.announced(
        "confirmation",
        &format!("Question {n} was settled without you."),
    );

    // The terminal ends; whoever starts another is heard again.
    drop((codex, listener));
    hearken.announced("connection", "The connection to codex is lost");
    std::fs::remove_file(&path).unwrap();
    let listener = UnixListener::bind(&path).unwrap();
    let mut codex = CodexConnection::accept(&listener);
    codex.meets(&["t-2"]);
    codex.joins("t-2", 0, "touch c.txt");
    hearken.announced("confirmation", "touch c.txt");
    hearken.say("q");
    hearken.say("q");
    while let Some(message) = codex.receive() {
        assert!(message.get("result").is_none(), "leaving answers {message}");
    }
    let (code, errors, _) = hearken.exit();
    assert_eq!((code, errors.as_str()), (0, ""));
}

/// A path is enough, and a thread can be chosen by either way of naming the socket.
#[test]
fn one_thread_behind_the_socket_is_followed_by_its_name() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("app-server-control");
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join("app-server-control.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let by_path = format!("codex:unix:{}#t-2", path.to_str().unwrap());
    for source in [by_path.as_str(), "codex#t-2"] {
        let mut hearken = watch(source, home.path());
        let mut codex = CodexConnection::accept(&listener);
        codex.answers("initialize", &json!({}));
        assert_eq!(codex.receive().unwrap()["method"], "initialized");
        codex.joins("t-2", 0, "touch a.txt");
        codex.asks("t-1", 1, "touch b.txt");
        codex.asks("t-2", 2, "touch c.txt");
        hearken.announced("confirmation", "touch a.txt");
        codex.resolves("t-2", 0);
        hearken.announced("confirmation", "touch c.txt");
        hearken.say("q");
        hearken.say("q");
        let (code, errors, lines) = hearken.exit();
        assert_eq!((code, errors.as_str()), (0, ""));
        assert!(!lines.concat().contains("touch b.txt"), "{lines:?}");
    }
}

/// A refusal by Codex's own reviewer is nobody's broken rule, and the person can overrule it in two steps.
#[test]
fn what_codexs_reviewer_refuses_is_said_and_overruled_only_in_two_steps() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("app-server-control");
    std::fs::create_dir(&folder).unwrap();
    let listener = UnixListener::bind(folder.join("app-server-control.sock")).unwrap();
    let mut hearken = watch("codex", home.path());
    let mut codex = CodexConnection::accept(&listener);
    codex.meets(&["t"]);
    let idle = json!({"id": "t", "cwd": "/w", "status": {"type": "idle"}});
    codex.answers("thread/resume", &json!({"thread": idle, "cwd": "/w"}));
    hearken.announced("connection", phrase!("codex.attached", n = 1));
    let of_turn = |method: &str, more: Value| {
        let mut params = more;
        params["threadId"] = json!("t");
        params["turnId"] = json!("u");
        json!({"method": method, "params": params})
    };
    let prompt =
        json!({"type": "userMessage", "id": "p", "content": [{"type": "text", "text": "go"}]});
    codex.send(&of_turn("item/started", json!({"item": prompt})));
    let call = |status: &str| {
        json!({"item": {"type": "commandExecution", "id": "c", "command": "touch x",
        "cwd": "/w", "status": status}})
    };
    codex.send(&of_turn("item/started", call("inProgress")));
    let review = |status: &str| {
        json!({"reviewId": "r", "targetItemId": "c", "startedAtMs": 1, "completedAtMs": 2,
        "decisionSource": "agent", "action": {"type": "command", "source": "shell", "command": "touch x", "cwd": "/w"},
        "review": {"status": status, "riskLevel": "critical", "rationale": "Too much."}})
    };
    let begins = of_turn("item/autoApprovalReview/started", review("inProgress"));
    codex.send(&begins);
    codex.send(&of_turn(
        "item/autoApprovalReview/completed",
        review("denied"),
    ));
    codex.send(&of_turn("item/completed", call("declined")));
    let turn = json!({"turn": {"id": "u", "items": [], "status": "completed", "error": null}});
    codex.send(&of_turn("turn/completed", turn));
    hearken.announced(
        "connection",
        phrase!(
            "oversight.reviewer.refused",
            agent = "Codex",
            title = "touch x",
            reason = "Too much"
        ),
    );
    let question = hearken.announced("confirmation", "touch x. If accepted");
    let text = question["text"].as_str().unwrap();
    assert!(phrase!("question.risk.high").is_in(text), "{text}");
    let n = number(&question);
    hearken.announced("session_completed", phrase!("session.completed.*"));
    hearken.say(&format!("y {n}"));
    hearken.announced("reply", phrase!("reply.second_step.*"));
    hearken.say(&format!("c {n}"));
    let params = codex.answers("thread/approveGuardianDeniedAction", &json!({}));
    assert_eq!(params["threadId"], "t");
    assert_eq!(params["event"]["action"]["command"], "touch x");
    hearken.announced("session_completed", phrase!("session.completed.*"));
    hearken.announced("connection", phrase!("codex.overrule.waits"));
    hearken.say("q");
    let (code, errors, lines) = hearken.exit();
    assert_eq!((code, errors.as_str()), (0, ""));
    let all = lines.concat();
    for never in ["\"anomaly\"", "\"danger\"", "Rejected elsewhere", "failed"] {
        assert!(!all.contains(never), "{never}: {lines:?}");
    }
}
