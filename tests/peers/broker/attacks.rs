//! What a machine, a person or a stranger could try on a server that is set up as docs/fleet.md says.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use async_nats::{ConnectOptions, HeaderMap};
use hearken_wording::phrase;
use nkeys::KeyPair;
use serde_json::{Value, json};

use crate::child::{Hearken, command};

use super::nats_client::{NatsClient, reply_subject};
use super::nats_server::{NatsServer, Space, settings, with, with_bridge};
use super::synadia_agents::agent_at;

/// How long to wait for a request that the server refuses.
const REFUSED: Duration = Duration::from_secs(1);

/// The keys of those whom the page's configuration admits.
struct Keys {
    all: HashMap<&'static str, KeyPair>,
    folder: tempfile::TempDir,
}

impl Keys {
    fn new() -> Self {
        let names = ["U_BUILD_3", "U_BUILD_4", "U_ANNA", "U_BEN"];
        Self {
            all: names.map(|name| (name, KeyPair::new_user())).into(),
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// Writes the file for `--creds`.
    fn file(&self, name: &str) -> PathBuf {
        let file = self.folder.path().join(name);
        std::fs::write(&file, self.all[name].seed().unwrap()).unwrap();
        file
    }

    fn options(&self, name: &str, inbox: &str) -> ConnectOptions {
        ConnectOptions::new()
            .nkey(self.all[name].seed().unwrap())
            .custom_inbox_prefix(format!("_INBOX.{inbox}"))
    }

    /// Returns the page's configuration, with these keys, a second machine, a second person and an agent.
    fn configuration(&self) -> String {
        let text = include_str!("../../../docs/nats-server.conf");
        // The port, the folder and TLS are this test's own.
        let own = |line: &&str| {
            let mine = ["listen:", "jetstream", "tls "];
            !mine.iter().any(|mine| line.starts_with(mine))
        };
        let text: Vec<&str> = text.lines().filter(own).collect();
        let text = text.join("\n");
        let users = text.find("    {").unwrap();
        let end = text.rfind("  ]").unwrap();
        let block = &text[users..end];
        let others = block
            .replace("build-3", "build-4")
            .replace("U_BUILD_3", "U_BUILD_4")
            .replace("anna", "ben")
            .replace("U_ANNA", "U_BEN");
        let agent = "    { user: \"pi\", password: \"s3cret\" }\n";
        let mut text = format!("{}{block}{others}{agent}{}", &text[..users], &text[end..]);
        for (name, key) in &self.all {
            text = text.replace(name, &key.public_key());
        }
        text
    }

    fn server(&self) -> NatsServer {
        let file = self.folder.path().join("nats-server.conf");
        std::fs::write(&file, self.configuration()).unwrap();
        NatsServer::with(&["-c", file.to_str().unwrap()])
    }
}

/// Starts the page's server with the machine `build-3` and lets the test attack it.
fn guarded(test: impl FnOnce(&mut Space, &Keys)) {
    let keys = Keys::new();
    let file = keys.file("U_BUILD_3");
    let more = ["--creds", file.to_str().unwrap()];
    with_bridge(keys.server(), &more, |space| test(space, &keys));
}

fn watch(space: &Space, keys: &Keys, more: &[&str]) -> Hearken {
    let file = keys.file("U_ANNA");
    let creds = ["--creds", file.to_str().unwrap()];
    let more: Vec<&str> = more.iter().copied().chain(creds).collect();
    space.watch_with("anna", &more)
}

fn event(id: &str, agent: &str) -> Value {
    json!({
        "@context": "https://aaep-protocol.org/context/v1", "type": "aaep:agent.session.started",
        "aaep_version": "1.0.0", "event_id": id, "session_id": "sess_forged", "sequence_number": 0,
        "timestamp": "2026-01-01T00:00:00Z", "producer": {"agent_id": agent},
        "summary_normal": "Forged.",
    })
}

#[test]
fn the_pages_server_lets_its_people_prompt_and_answer_agents_that_speak_nats() {
    guarded(|space, keys| {
        let url = space.server.url().replace("://", "://pi:s3cret@");
        let mut pi = agent_at(&url, "pi", "build", &[]);
        let mut anna = watch(space, keys, &[]);
        anna.announced(
            "connection",
            phrase!("synadia.there", n = 1, names = "pi build"),
        );
        anna.say("> ask");
        anna.announced("clarification", "Deploy to production");
        anna.say("a staging");
        anna.announced("reply", "Sent.");
        pi.wait("answer", |line| line == "answer staging");
        anna.announced("output", "Then staging.");
    });
}

#[test]
fn the_pages_server_lets_its_people_answer_its_machines() {
    guarded(|space, keys| {
        let mut anna = watch(space, keys, &[]);
        space.start("email");
        anna.announced("confirmation", phrase!("question.head", n = 1));
        anna.say("y 1");
        anna.announced("reply", phrase!("reply.second_step.*"));
        anna.say("c 1");
        anna.announced("session_completed", "Finished");
        anna.leave();
        assert_eq!(anna.exit().0, 0);
        space.start("email");
        let mut anna = watch(space, keys, &[]);
        anna.announced("connection", phrase!("away.missed"));
        anna.announced("confirmation", phrase!("question.head", n = 1));
    });
}

#[test]
fn a_machine_can_not_publish_as_another_and_a_watcher_can_not_publish_events() {
    guarded(|space, keys| {
        let mut anna = watch(space, keys, &[]);
        let url = space.server.url();
        let forged = "aaep.v1.main.build-3.opencode.sess_forged.life";
        for (name, inbox) in [
            ("U_BUILD_4", "bridge-build-4"),
            ("U_ANNA", "hearken-anna"),
            ("U_BEN", "hearken-ben"),
        ] {
            let options = keys.options(name, inbox).connect(&url);
            let client = space.runtime.block_on(options).unwrap();
            let text = event("evt_forged", "opencode").to_string();
            let published = space.runtime.block_on(async {
                let context = async_nats::jetstream::new(client);
                let sent = context.publish(forged, text.into()).await.unwrap();
                tokio::time::timeout(std::time::Duration::from_millis(500), sent.into_future())
                    .await
            });
            assert!(!matches!(published, Ok(Ok(_))), "{name}: {published:?}");
        }
        // The real one is heard, and nothing else.
        space.start("tool");
        anna.announced("session_completed", "Finished");
        let seen = anna.seen().join("\n");
        assert!(!seen.contains("Forged"), "{seen}");
    });
}

#[test]
fn a_machine_is_refused_what_only_people_may_do() {
    guarded(|space, keys| {
        let url = space.server.url();
        space.start("email");
        space.runtime.block_on(async {
            let options = keys.options("U_BUILD_4", "bridge-build-4");
            let client = options.connect(&url).await.unwrap();
            let mut events = client.subscribe("aaep.v1.>").await.unwrap();
            let mut inboxes = client.subscribe("_INBOX.hearken-anna.>").await.unwrap();
            client.flush().await.unwrap();
            let subject = "aaep-reply.v1.main.build-3.x.y";
            let request = async_nats::client::Request::new()
                .payload("{}".into())
                .timeout(Some(std::time::Duration::from_millis(500)));
            assert!(client.send_request(subject, request).await.is_err());
            use futures_util::StreamExt as _;
            let heard = async {
                tokio::select! { one = events.next() => one, one = inboxes.next() => one }
            };
            let heard = tokio::time::timeout(std::time::Duration::from_millis(500), heard).await;
            assert!(!matches!(heard, Ok(Some(_))), "{heard:?}");
        });
        assert_eq!(space.producer.replies().len(), 0);
    });
}

#[test]
fn a_person_reads_an_agents_past_through_a_consumer_of_their_own_only() {
    guarded(|space, keys| {
        let run = space.start("answer");
        space.finish(run);
        let options = keys.options("U_ANNA", "hearken-anna");
        space.runtime.block_on(async {
            let client = options.connect(space.server.url()).await.unwrap();
            let create = async |name: &str| {
                let subject = format!("$JS.API.CONSUMER.CREATE.AAEP_main.{name}");
                let config = json!({"name": name, "ack_policy": "none", "deliver_policy": "all",
                    "filter_subjects": ["aaep.v1.main.*.*.*.text"]});
                let body = json!({"stream_name": "AAEP_main", "config": config}).to_string();
                let request = async_nats::client::Request::new()
                    .payload(body.into())
                    .timeout(Some(REFUSED));
                let answer = client.send_request(subject, request).await.ok()?;
                let answer: Value = serde_json::from_slice(&answer.payload).unwrap();
                answer["num_pending"].as_u64()
            };
            assert!(create("hearken-anna=past").await.unwrap() > 0);
            assert_eq!(create("hearken-ben=past").await, None);
        });
    });
}

#[test]
fn nobody_without_a_key_is_admitted_and_no_key_is_written() {
    guarded(|space, keys| {
        let url = space.server.url();
        let mut call = command(&["watch", &url, "--face", "json", "--voice", "none"]);
        call.arg("--config").arg(settings(&space.server, "eve"));
        let (code, errors, lines) = Hearken::spawn(&mut call).exit();
        assert_eq!(code, 1, "{errors} {lines:?}");
        assert!(
            lines
                .iter()
                .any(|line| phrase!("cause.broker.wants").is_in(line)),
            "{lines:?}"
        );

        let recording = keys.folder.path().join("recording");
        let mut anna = watch(space, keys, &["--record", recording.to_str().unwrap()]);
        space.start("tool");
        anna.announced("session_completed", "Finished");
        anna.leave();
        let (_, errors, lines) = anna.exit();
        let notes = recording.with_added_extension("meta.jsonl");
        let [recorded, notes] =
            [recording, notes].map(|file| std::fs::read_to_string(file).unwrap());
        let all = [errors, lines.join("\n"), recorded, notes];
        let seed = keys.all["U_ANNA"].seed().unwrap();
        for text in all {
            assert!(!text.contains(&seed[..20]), "{text}");
        }
    });
}

#[test]
fn a_reply_counts_once_and_only_for_its_own_question() {
    with(|space| {
        let url = space.server.url();
        let mut eve = NatsClient::connect(&space.runtime, &url, "eve");
        space.start("email");
        space.start("question");
        space.runtime.block_on(async {
            let asked = "aaep:agent.awaiting.confirmation";
            let (first, question) = eve.until(asked).await;
            let (second, other) = eve.until(asked).await;
            // A reply for another session's question.
            let crossed = eve.answer(&second, &question, "accept").await;
            assert_eq!(crossed["result"], "unknown", "{crossed}");
            // What was never shown.
            let mut headers = HeaderMap::new();
            headers.insert("Hearken-Digest", "0000");
            let reply = json!({
                "type": "confirmation.reply", "reply_token": other["reply_token"],
                "decision": "accept", "subscription_id": "own", "timestamp": "2026-01-01T00:00:00Z",
            });
            let changed = eve
                .request(reply_subject(&second), headers, reply.to_string())
                .await;
            assert_eq!(changed["result"], "changed", "{changed}");
            // A guessed token.
            let mut guessed = question.clone();
            guessed["reply_token"] = json!("rpl_guessed");
            let unknown = eve.answer(&first, &guessed, "accept").await;
            assert_eq!(unknown["result"], "unknown", "{unknown}");
            assert_eq!(space.producer.replies().len(), 0);
            // The same reply twice.
            let taken = eve.answer(&first, &question, "reject").await;
            assert_eq!(taken["result"], "taken", "{taken}");
            let again = eve.answer(&first, &question, "reject").await;
            assert!(
                ["decided", "closed"].contains(&again["result"].as_str().unwrap()),
                "{again}"
            );
            // Something that is not a reply.
            let subject = reply_subject(&second);
            for text in ["", "null", "[]", "{}", r#"{"reply_token":1}"#, "\u{feff}x"] {
                let result = eve
                    .request(subject.clone(), HeaderMap::new(), text.to_owned())
                    .await;
                assert_eq!(result["result"], "unknown", "{text:?}");
            }
        });
        assert_eq!(space.producer.replies().len(), 1);
    });
}

#[test]
fn an_event_of_ten_megabytes_is_refused_and_what_follows_is_heard() {
    with(|space| {
        let mut anna = space.watch("anna");
        let url = space.server.url();
        space.runtime.block_on(async {
            let client = async_nats::connect(&url).await.unwrap();
            let huge = "x".repeat(10 * 1024 * 1024);
            let subject = "aaep.v1.main.build-3.a.b.text";
            let refused = client.publish(subject, huge.into()).await;
            assert!(refused.is_err(), "the server's own limit");
            // Of what the server accepts, only events of their own subjects are passed on.
            let most = "x".repeat(client.max_payload());
            client.publish(subject, most.into()).await.unwrap();
            let other = event("evt_other", "somebody").to_string();
            client
                .publish("aaep.v1.main.build-3.a.b.life", other.into())
                .await
                .unwrap();
            client.flush().await.unwrap();
        });
        anna.announced("connection", phrase!("fleet.forged"));
        space.start("tool");
        anna.announced("session_completed", "Finished");
        let seen = anna.seen().join("\n");
        assert!(!seen.contains("Forged"), "{seen}");
    });
}
