//! `hearken bridge` as a whole program: agents behind it, watchers in front of it.

use std::io::{Read, Write};
use std::net::TcpStream;

use hearken::demo::{DemoSettings, ServedDemo, serve};
use hearken::producer::Producer;
use hearken_wording::phrase;
use serde_json::{Value, json};

use crate::run::AgentFolder;
use crate::run::scripted_agents::AskingAgent;
use crate::support::child::{Hearken, command};
use crate::support::hook_relays::{HooksFolder, STATE, ended, printed};
use crate::support::{PATIENCE, block_on, program, within};

/// A bridge to the demo's agent, at loopback and, where there are sockets, at one of its own.
struct DemoBridge {
    producer: Producer,
    bridge: Hearken,
    /// The address at loopback.
    address: String,
    folder: tempfile::TempDir,
    running: ServedDemo,
}

/// Starts a bridge to the demo's agent and lets the test watch it.
fn with(test: impl FnOnce(&mut DemoBridge) + Send) {
    block_on(async {
        let running = serve("127.0.0.1:0", DemoSettings::stepped(3));
        let running = running.await.unwrap();
        let producer = running.producer().clone();
        let folder = tempfile::tempdir().unwrap();
        let mut call = command(&["bridge", &running.url(), "--name", "build-3"]);
        call.args(["--serve", "127.0.0.1:0"]);
        if cfg!(unix) {
            let socket = folder.path().join("bridge.sock");
            call.arg("--serve")
                .arg(format!("unix:{}", socket.display()));
        }
        let mut bridge = Hearken::spawn(&mut call);
        let line = bridge.wait("place", |line| line.starts_with("Bridging"));
        let address = line.split("http://127.0.0.1:").last().unwrap();
        let port: String = address.chars().take_while(char::is_ascii_digit).collect();
        within("bridge", producer.until_subscribed(1)).await;
        let mut bridged = DemoBridge {
            producer,
            bridge,
            address: format!("127.0.0.1:{port}"),
            folder,
            running,
        };
        test(&mut bridged);
    });
}

impl DemoBridge {
    /// Follows it, as this person, at a source.
    fn watch(&self, person: &str, source: &str) -> Hearken {
        let settings = self.folder.path().join(format!("{person}.toml"));
        std::fs::write(&settings, format!("[questions]\nuser = \"{person}\"\n")).unwrap();
        let mut call = command(&["watch", source, "--face", "json", "--voice", "none"]);
        let mut watcher = Hearken::spawn(call.arg("--config").arg(settings));
        watcher.announced("connection", phrase!("link.connected.*"));
        watcher
    }

    /// Follows it by standard input and output, through a bridge of its own, as ssh would carry it.
    fn watch_through_pipes(&self) -> Hearken {
        let source = format!("http://{}", self.address);
        let mut call = command(&["watch", "--face", "json", "--voice", "none", "--"]);
        let bridge = [program(), "bridge".into(), source.into()];
        call.args(bridge).args(["--serve", "-", "--name", "near"]);
        let mut watcher = Hearken::spawn(&mut call);
        watcher.announced("connection", phrase!("link.connected.*"));
        watcher
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Makes a request and returns the status and the body of the answer.
    fn request(&self, head: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        let request = format!("{head}\r\nContent-Length: {length}\r\n\r\n{body}");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        (status, body.to_owned())
    }
}

#[test]
fn a_question_is_answered_on_another_machine() {
    with(|bridged| {
        let mut watcher = bridged.watch_through_pipes();
        bridged.running.agents().start("email").unwrap();
        watcher.announced("confirmation", phrase!("question.head", n = 1));
        watcher.say("y 1");
        watcher.announced("reply", phrase!("reply.second_step.*"));
        assert_eq!(bridged.producer.replies().len(), 0);
        watcher.say("c 1");
        watcher.announced("reply", phrase!("reply.accepting.*"));
        watcher.announced("tool_completed", "is sent");
        watcher.announced("session_completed", phrase!("session.completed.*"));
        let replies = bridged.producer.replies();
        assert_eq!(replies.len(), 1);
        assert_eq!(replies[0].message["decision"], "accept");
    });
}

#[test]
fn the_first_answer_wins_and_the_others_hear_who_gave_it() {
    with(|bridged| {
        let mut anna = bridged.watch("anna", &bridged.url());
        let websocket = format!("ws://{}/aaep/v1/ws", bridged.address);
        let mut ben = bridged.watch("ben", &websocket);
        bridged.running.agents().start("email").unwrap();
        anna.announced("confirmation", phrase!("question.head", n = 1));
        ben.announced("confirmation", phrase!("question.head", n = 1));
        anna.say("r not now");
        anna.announced("reply", phrase!("reply.rejecting.*"));
        ben.announced(
            "confirmation",
            phrase!("question.closed.by.rejected", by = "anna", n = 1),
        );
        ben.announced("session_completed", "Nothing was sent");
        let replies = bridged.producer.replies();
        assert_eq!(replies.len(), 1);
        assert_eq!(replies[0].message["decision_rationale"], "not now");
        assert_eq!(replies[0].message["decided_by"], "user:anna");
    });
}

#[test]
fn a_watcher_that_comes_late_is_asked_and_one_that_goes_decides_nothing() {
    with(|bridged| {
        let mut anna = bridged.watch("anna", &bridged.url());
        bridged.running.agents().start("email").unwrap();
        anna.announced("confirmation", phrase!("question.head", n = 1));
        drop(anna);
        let mut ben = bridged.watch("ben", &bridged.url());
        ben.announced("confirmation", phrase!("question.head", n = 1));
        assert_eq!(bridged.producer.replies().len(), 0);
        assert_eq!(bridged.producer.open_questions(), 1);
        ben.say("n 1");
        ben.announced("reply", phrase!("reply.rejecting.*"));
        ben.announced("output", phrase!("output.after_rejection"));
        assert_eq!(bridged.producer.replies().len(), 1);
    });
}

#[test]
fn questions_that_nobody_who_comes_later_is_told_of_are_reported_at_both_ends() {
    with(|bridged| {
        let ask = |n: usize| {
            let event = json!({
                "@context": "https://aaep-protocol.org/context/v1",
                "type": "aaep:agent.awaiting.confirmation", "event_id": format!("evt_{n}"),
                "session_id": format!("sess_{n}"), "timestamp": format!("{:.3}", jiff::Timestamp::now()),
                "producer": {"agent_id": format!("agent-{n}")}, "reply_token": format!("rpl_{n}"),
                "action": format!("Do {n}."), "consequence": "It is done.", "default_decision": "reject",
                "timeout_seconds": 3600, "risk_level": "low", "irreversible": false, "urgency": "critical",
                "summary_normal": format!("May I do {n}?"),
            });
            let text = event.to_string();
            bridged
                .producer
                .publish(&text, &hearken::producer::Retention::AsItsType);
        };
        // As many as a bridge repeats, and one more.
        (0..=1000).for_each(ask);
        let line = bridged
            .bridge
            .wait("report", |line| line.starts_with("Too many questions"));
        assert_eq!(
            line,
            "Too many questions are open: 1 is heard only by those who were there."
        );
        let mut late = bridged.watch("late", &bridged.url());
        late.announced("connection", phrase!("bridge.forgets", host = "build-3"));
    });
}

#[test]
fn a_subscriber_that_knows_only_aaep_follows_and_answers() {
    with(|bridged| {
        let url = bridged.url();
        let mut call = command(&["watch", &url, "--face", "json", "--voice", "none"]);
        let mut watcher = Hearken::spawn(call.arg("--plain-pair"));
        watcher.announced("connection", phrase!("link.connected.*"));
        bridged.running.agents().start("email").unwrap();
        watcher.announced("confirmation", phrase!("question.head", n = 1));
        watcher.say("n 1");
        watcher.announced("output", phrase!("output.after_rejection"));
        assert_eq!(bridged.producer.replies().len(), 1);
    });
}

#[test]
fn a_bridge_that_is_killed_leaves_its_question_perhaps_decided() {
    with(|bridged| {
        let mut watcher = bridged.watch("anna", &bridged.url());
        bridged.running.agents().start("email").unwrap();
        watcher.announced("confirmation", phrase!("question.head", n = 1));
        bridged.bridge.kill();
        watcher.announced("confirmation", phrase!("question.unsure"));
        watcher.say("y 1");
        watcher.announced("reply", phrase!("reply.perhaps"));
        assert_eq!(bridged.producer.replies().len(), 0);
    });
}

#[cfg(unix)]
#[test]
fn a_bridge_that_ends_says_what_becomes_of_its_question() {
    with(|bridged| {
        let socket = bridged.folder.path().join("bridge.sock");
        let mut watcher = bridged.watch("anna", &format!("unix:{}", socket.display()));
        bridged.running.agents().start("email").unwrap();
        watcher.announced("confirmation", phrase!("question.head", n = 1));
        bridged.bridge.signal(rustix::process::Signal::INT);
        watcher.announced("connection", "goes on without an answer");
        watcher.announced("confirmation", phrase!("question.unsure"));
        assert_eq!(bridged.producer.replies().len(), 0);
    });
}

#[test]
fn a_web_page_and_a_wrong_host_are_not_admitted() {
    with(|bridged| {
        let post = |host: &str, more: &str| {
            let head = format!("POST /messages HTTP/1.1\r\nHost: {host}{more}");
            bridged.request(&head, "{}").0
        };
        // It is read, and is not a reply.
        assert_eq!(post("localhost", ""), 400);
        assert_eq!(post("evil.example", ""), 403);
        assert_eq!(post("localhost", "\r\nOrigin: http://evil.example"), 403);
        let websocket = "GET /aaep/v1/ws HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n\
            Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
            Sec-WebSocket-Protocol: aaep.v1\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
        assert_eq!(bridged.request(websocket, "").0, 403);
    });
}

#[test]
fn the_manifest_and_the_health_name_the_bridge_and_no_scenario_starts() {
    with(|bridged| {
        let get =
            |path: &str| bridged.request(&format!("GET {path} HTTP/1.1\r\nHost: localhost"), "");
        let (status, manifest) = get("/.well-known/aaep-manifest.json");
        let manifest: Value = serde_json::from_str(&manifest).unwrap();
        assert_eq!(
            (status, &manifest["agent_id"]),
            (200, &json!("hearken-bridge"))
        );
        assert_eq!(manifest["agent_name"], "hearken on build-3");
        let (_, about) = get("/");
        assert!(about.starts_with("hearken's bridge"), "{about}");
        let head = "POST /sessions HTTP/1.1\r\nHost: localhost";
        assert_eq!(bridged.request(head, r#"{"scenario":"tour"}"#).0, 400);
        let (status, answer) = bridged.request(head, r#"{"user_message":"go"}"#);
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!((status, &answer["reason"]), (409, &json!("no_prompts")));
        assert_eq!(bridged.producer.emitted(), 0);
    });
}

#[test]
fn places_that_anybody_could_reach_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "s3cret\n").unwrap();
    let (empty, token) = (folder.path().join("empty"), token.to_str().unwrap());
    std::fs::write(&empty, "\n").unwrap();
    let refused = |more: &[&str], words: &str| {
        let mut call = vec!["bridge", "http://127.0.0.1:1", "--serve"];
        call.extend(more);
        let (code, errors, _) = Hearken::start(&call).exit();
        assert_eq!(code, 2, "{errors}");
        assert!(errors.contains(words), "{errors}");
        assert!(!errors.contains("s3cret"), "{errors}");
    };
    refused(&["0.0.0.0:0"], "anyone on the network could answer");
    refused(
        &["0.0.0.0:0", "--serve-token-file", token],
        "would travel without encryption",
    );
    refused(
        &["127.0.0.1:0", "--serve-token-file", empty.to_str().unwrap()],
        "there is no token in",
    );
    refused(
        &["127.0.0.1:0", "--name", "a b"],
        "can't be the name of a machine",
    );
    let call = ["bridge", "-", "--serve", "-"];
    let (code, errors, _) = Hearken::start(&call).exit();
    assert!(code == 2 && errors.contains("standard input"), "{errors}");
}

#[test]
fn a_token_is_wanted_where_one_is_set() {
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "s3cret\n").unwrap();
    let token = token.to_str().unwrap();
    let agent = AgentFolder::new::<AskingAgent>();
    let mut call = command(&["bridge", "--serve", "127.0.0.1:0", "--name", "build-3"]);
    call.args(["--serve-token-file", token, "--cwd", agent.path(), "--"]);
    let mut bridge = Hearken::spawn(call.args(&agent.call));
    let line = bridge.wait("place", |line| line.starts_with("Bridging"));
    let address = line.split("http://").last().unwrap().trim_end_matches('.');
    let url = format!("http://{address}");
    let watch = ["watch", &url, "--face", "json", "--voice", "none"];
    let (code, _, lines) = Hearken::start(&watch).exit();
    assert_eq!(code, 1, "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("401")), "{lines:?}");
    let mut call = command(&watch);
    let mut watcher = Hearken::spawn(call.args(["--token-file", token]));
    watcher.announced("connection", phrase!("link.connected.*"));
}

#[test]
fn an_agent_is_prompted_answered_and_stopped_on_another_machine() {
    let agent = AgentFolder::new::<AskingAgent>();
    let mut call = command(&["watch", "--face", "linear", "--voice", "none"]);
    call.args(["--verbosity", "detailed", "--"])
        .arg(program())
        .args(["bridge", "--serve", "-"]);
    call.args(["--name", "build-3", "--cwd", agent.path(), "--"]);
    let mut hearken = Hearken::spawn(call.args(&agent.call));
    let mut wait = |words: &'static str, say: &str| {
        hearken.wait(words, |line| line.contains(words));
        if !say.is_empty() {
            hearken.say(say);
        }
    };
    wait("sends with a handshake", "> touch it");
    wait("Mock asks: touch notes.txt", "");
    wait("o 1 1 for choice 1: allow from now on: Every touch", "y 1");
    wait("c 1 to confirm", "c 1");
    wait("It is done.", "");
    wait("Finished", "> and more");
    wait("c 2", "stop");
    wait("Type stop once more", "stop");
    wait("Cancelled by user.", "q");
    let (code, _, seen) = hearken.exit();
    assert_eq!(code, 0, "{seen:?}");
    let heard = agent.heard().join("\n");
    let outcome = r#""outcome":"selected","optionId":"once""#;
    assert_eq!(heard.matches(outcome).count(), 1, "{heard}");
    assert_eq!(heard.matches("session/cancel").count(), 1, "{heard}");
    assert!(heard.contains(r#""text":"touch it""#), "{heard}");
    let folder = format!(r#""cwd":{}"#, json!(agent.path()));
    assert!(heard.contains(&folder), "it works in its folder: {heard}");
}

/// Every call in the page about other machines is one that hearken accepts.
#[test]
fn the_calls_of_the_page_can_be_made() {
    use clap::Parser as _;
    let page = include_str!("../docs/fleet.md");
    let mut calls: Vec<Vec<String>> = Vec::new();
    for line in page.lines() {
        let line = line.trim();
        let line = line
            .strip_prefix("ExecStart=%h/.local/bin/")
            .unwrap_or(line);
        let line = line.split('#').next().unwrap();
        if let Some(at) = line
            .find("hearken bridge")
            .filter(|_| !line.contains(['`', '=']))
        {
            let call = line[at..].split_whitespace().map(str::to_owned);
            calls.push(call.collect());
        }
        // The lists of Compose and of the settings.
        if let Some(at) = line.find("[\"").filter(|_| line.contains("\"bridge\"")) {
            let words: Vec<String> = serde_json::from_str(&line[at..]).unwrap();
            let start = words.iter().position(|word| word == "hearken").unwrap();
            calls.push(words[start..].to_vec());
        }
    }
    let property: Vec<String> = page
        .lines()
        .skip_while(|line| !line.contains("<key>ProgramArguments</key>"))
        .take_while(|line| !line.contains("</array>"))
        .filter_map(|line| {
            line.trim()
                .strip_prefix("<string>")?
                .strip_suffix("</string>")
        })
        .map(str::to_owned)
        .collect();
    calls.push(property);
    assert_eq!(calls.len(), 9, "{calls:?}");
    for call in calls {
        if let Err(error) = hearken::cli::Cli::try_parse_from(&call) {
            panic!("{call:?}: {error}");
        }
    }
}

/// Claude Code on another machine, by its hooks: the machine is a folder of its own, the person never leaves the lines.
#[test]
fn claude_code_is_followed_and_answered_on_another_machine() {
    let there = HooksFolder::new();
    let mut call = command(&["watch", "--face", "linear", "--voice", "none", "--"]);
    call.arg(program())
        .args(["bridge", "claude", "--serve", "-", "--name", "build-3"])
        .env(STATE, there.path());
    let mut hearken = Hearken::spawn(&mut call);
    hearken.wait("Connected", |line| line.contains("Connected"));
    // Until its file says where the bridge listens, a hook decides nothing.
    let door = || there.path().join("hearken/claude.json").exists();
    let until = std::time::Instant::now() + PATIENCE;
    while !door() {
        assert!(std::time::Instant::now() < until, "nobody listens");
        std::thread::yield_now();
    }
    let body = |event: &str, more: Value| {
        let mut body = json!({
            "session_id": "s1", "transcript_path": "/tmp/x.jsonl", "cwd": "/work/s1",
            "permission_mode": "default", "hook_event_name": event,
        });
        let more = more.as_object().unwrap().clone();
        body.as_object_mut().unwrap().extend(more);
        body
    };
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "touch notes.txt"}});
    ended(there.relay(
        &[],
        &body("UserPromptSubmit", json!({"prompt": "make a file"})),
    ));
    let asks = || there.relay(&[], &body("PermissionRequest", call.clone()));
    let decided = |child| -> Value {
        let printed: Value = serde_json::from_str(&printed(&ended(child))).unwrap();
        printed["hookSpecificOutput"]["decision"].clone()
    };
    let asked = asks();
    hearken.wait("question", |line| line.contains("touch notes.txt"));
    hearken.wait("keys", |line| line.contains("y 1"));
    hearken.say("y 1");
    hearken.wait("second step", |line| line.contains("c 1"));
    hearken.say("c 1");
    assert_eq!(decided(asked)["behavior"], "allow");
    // The call may begin before its bridge has reported the answer.
    hearken.wait("receipt", |line| {
        line.contains("Sent.") || line.contains("Settled.")
    });
    let asked = asks();
    hearken.wait("second question", |line| line.contains("n 2"));
    hearken.say("r 2 not today");
    let decision = decided(asked);
    assert_eq!(decision["behavior"], "deny");
    assert!(decision["message"].as_str().unwrap().contains("not today"));
    hearken.say("q");
    assert_eq!(hearken.exit().0, 0);
}

/// One watcher's answer against another's, both at once, again and again.
#[test]
fn of_two_answers_at_once_exactly_one_decides_and_both_are_told_the_truth() {
    // Each round is a session of the demo's agent; the whole number is for .ci/deep.
    let rounds = match std::env::var_os("HEARKEN_ALL_RUNS") {
        Some(_) => 1000,
        None => 25,
    };
    with(|bridged| {
        let mut people = ["anna", "ben"].map(|person| (person, Line::open(bridged, person)));
        for round in 0..rounds {
            bridged.running.agents().start("email").unwrap();
            let asked: Vec<Value> = people
                .iter_mut()
                .map(|(_, line)| line.until("aaep:agent.awaiting.confirmation"))
                .collect();
            let token = asked[0]["reply_token"].as_str().unwrap();
            assert_eq!(token, asked[1]["reply_token"], "the same question");
            let digest = hearken::dialect::fleet::digest(asked[0].as_object().unwrap());
            // Who is first changes; both are on their way before either is answered.
            let order = if round % 2 == 0 { [0, 1] } else { [1, 0] };
            for at in order {
                let (person, line) = &mut people[at];
                let decision = if at == 0 { "accept" } else { "reject" };
                line.answers(person, token, &digest, decision);
            }
            let results = people
                .each_mut()
                .map(|(_, line)| line.until("hearken.result"));
            let of = |result: &str| {
                let named = |one: &&Value| one["result"] == result;
                results.iter().filter(named).count()
            };
            assert_eq!((of("taken"), of("decided")), (1, 1), "{round}: {results:?}");
            let winner = usize::from(results[0]["result"] != "taken");
            let told = &results[1 - winner];
            assert_eq!(told["by"], people[winner].0, "{results:?}");
            let wanted = if winner == 0 { "accept" } else { "reject" };
            assert_eq!(told["decision"], wanted, "{results:?}");
            let replies = bridged.producer.replies();
            let last = &replies.last().unwrap().message;
            assert_eq!(last["decision"], wanted, "what the agent got");
            for (_, line) in &mut people {
                let report = line.until("hearken:closed");
                let answered = &report["extensions"]["hearken"]["answered"];
                assert_eq!(answered["by"], told["by"]);
                line.until("aaep:agent.session.completed");
            }
        }
        let taken = bridged.producer.replies();
        assert!(taken.len() >= rounds.min(128));
    });
}

/// A watcher of the test's own, on a WebSocket.
struct Line {
    socket: tokio_tungstenite::tungstenite::WebSocket<TcpStream>,
    requests: u64,
    subscription: String,
    /// The messages that came before an awaited one, and have not been awaited yet.
    unread: Vec<Value>,
}

impl Line {
    fn open(bridged: &DemoBridge, person: &str) -> Self {
        use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
        let mut request = format!("ws://{}/aaep/v1/ws", bridged.address)
            .into_client_request()
            .unwrap();
        let protocol = "aaep.v1".parse().unwrap();
        request
            .headers_mut()
            .insert("sec-websocket-protocol", protocol);
        let stream = TcpStream::connect(&bridged.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (socket, _) = tokio_tungstenite::tungstenite::client(request, stream).unwrap();
        let mut line = Self {
            socket,
            requests: 0,
            subscription: String::new(),
            unread: Vec::new(),
        };
        line.say(&json!({
            "type": "subscription.request", "aaep_version": "1.0.0", "subscriber_id": person,
            "capabilities": {"supports_confirmation_reply": true},
        }));
        let consent = line.until("subscription.accepted");
        line.subscription = consent["subscription_id"].as_str().unwrap().to_owned();
        line
    }

    fn say(&mut self, message: &Value) {
        let text = message.to_string();
        self.socket.send(text.into()).unwrap();
    }

    fn answers(&mut self, person: &str, token: &str, digest: &str, decision: &str) {
        self.requests += 1;
        let subscription = self.subscription.clone();
        let reply = json!({
            "type": "confirmation.reply", "reply_token": token, "decision": decision,
            "subscription_id": subscription, "timestamp": "2026-01-01T00:00:00Z",
            "decided_by": format!("user:{person}"),
        });
        self.say(&json!({
            "type": "hearken.request", "subscription_id": subscription,
            "request_id": format!("r{}", self.requests), "reply": reply, "digest": digest,
        }));
    }

    /// Waits for the next message of a type, which may have come before another.
    fn until(&mut self, kind: &str) -> Value {
        if let Some(at) = self.unread.iter().position(|value| value["type"] == kind) {
            return self.unread.remove(at);
        }
        loop {
            let message = self.socket.read().unwrap();
            let Ok(text) = message.to_text() else {
                continue;
            };
            let Ok(value) = serde_json::from_str::<Value>(text) else {
                continue;
            };
            if value["type"] == kind {
                return value;
            }
            self.unread.push(value);
        }
    }
}
