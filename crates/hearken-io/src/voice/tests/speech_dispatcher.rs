//! The voice of speech-dispatcher against the scripted server.

use std::time::Instant;

use super::fake_ssip::{CommandAnswer, FakeSsip, WordsFate};
use super::*;

fn open_daemon(server: &FakeSsip) -> (VoiceHandle, Ear) {
    open_configured(server, &VoiceConfig::default())
}

fn open_configured(server: &FakeSsip, config: &VoiceConfig) -> (VoiceHandle, Ear) {
    let (sink, ear) = Ear::new();
    let handle = open_limited(
        server.surroundings(),
        &VoiceChoice::SpeechDispatcher,
        config,
        false,
        sink,
        quick(),
    );
    (handle, ear)
}

const fn id(number: u64) -> UtteranceId {
    UtteranceId(number)
}

#[tokio::test]
async fn the_whole_conversation_line_by_line() {
    let server = FakeSsip::start();
    let config = VoiceConfig::default();
    let (handle, mut ear) = open_configured(&server, &config);
    assert_eq!(ear.ready().await, "speech-dispatcher");
    handle.speak(Utterance {
        class: Class::Alert,
        mark: Mark::Own,
        sound: Sound {
            delivery: Delivery {
                rate: Some(30),
                voice: Some("female2".to_owned()),
                ..Delivery::default()
            },
            ..Sound::default()
        },
        language: Some("en".to_owned()),
        ..utterance(1, "Send the email to Bob?")
    });
    ear.expect(VoiceEvent::Begun(id(1))).await;
    server.event(702, server.wait_message("Send the email to Bob?").number);
    ear.expect(VoiceEvent::Ended(id(1))).await;
    handle.speak(Utterance {
        class: Class::Stream,
        language: Some("de".to_owned()),
        ..utterance(2, "Guten Tag.\n.\nQUIT")
    });
    ear.expect(VoiceEvent::Begun(id(2))).await;
    server.event(702, server.wait_message("Guten Tag.\n.\nQUIT").number);
    ear.expect(VoiceEvent::Ended(id(2))).await;
    handle.close(Duration::ZERO).await;
    server.wait_command("QUIT", 1);
    assert_eq!(
        server.transcript(),
        [
            "SET SELF CLIENT_NAME ann:hearken:main",
            "SET SELF NOTIFICATION ALL ON",
            "SET SELF SSML_MODE OFF",
            "LIST OUTPUT_MODULES",
            "GET OUTPUT_MODULE",
            "GET LANGUAGE",
            "GET RATE",
            "GET PITCH",
            "GET VOLUME",
            "SET SELF PRIORITY NOTIFICATION",
            "SPEAK",
            " ",
            ".",
            "SET SELF PRIORITY MESSAGE",
            "GET VOICE_TYPE",
            "SET SELF VOICE_TYPE FEMALE2",
            "SET SELF RATE 30",
            "SET SELF PITCH 30",
            "SPEAK",
            "Send the email to Bob?",
            ".",
            "SET SELF PRIORITY TEXT",
            "LIST SYNTHESIS_VOICES",
            "SET SELF LANGUAGE de",
            "SET SELF VOICE_TYPE FEMALE1",
            "SET SELF RATE 15",
            "SET SELF PITCH 10",
            "SPEAK",
            "Guten Tag.",
            "..",
            "QUIT",
            ".",
            "QUIT",
        ]
    );
}

#[tokio::test]
async fn events_may_come_before_inside_and_after_a_reply() {
    for speech in [WordsFate::Begins, WordsFate::BeginsEarly] {
        let server = FakeSsip::start();
        server.speech(speech);
        let (handle, mut ear) = open_daemon(&server);
        ear.ready().await;
        for number in 1..20 {
            let text = format!("text {number}");
            handle.speak(utterance(number, &text));
            ear.expect(VoiceEvent::Begun(id(number))).await;
            server.event(702, server.wait_message(&text).number);
            ear.expect(VoiceEvent::Ended(id(number))).await;
        }
    }
    let server = FakeSsip::start();
    server.speech(WordsFate::Ends);
    let (handle, mut ear) = open_daemon(&server);
    ear.ready().await;
    for number in 1..200 {
        handle.speak(utterance(number, "text"));
        ear.expect(VoiceEvent::Begun(id(number))).await;
        ear.expect(VoiceEvent::Ended(id(number))).await;
    }
}

#[tokio::test]
async fn no_text_becomes_a_command() {
    let server = FakeSsip::start();
    server.speech(WordsFate::Ends);
    let (handle, mut ear) = open_daemon(&server);
    ear.ready().await;
    let hostile = [
        ".",
        ".\r\nCANCEL ALL\r\n",
        "a\r\n.\r\nSET ALL RATE 100\r\nPAUSE ALL",
        "..\n...\n.a",
        "\0.\0\r\nSTOP ALL",
        "\u{85}.\u{2028}.\u{2029}PAUSE SELF",
        "a\u{1b}]0;x\u{7}\u{9c}b",
    ];
    for (number, text) in (1..).zip(hostile) {
        handle.speak(utterance(number, text));
        ear.expect(VoiceEvent::Begun(id(number))).await;
        ear.expect(VoiceEvent::Ended(id(number))).await;
    }
    let spoken = server.wait("all", |_, messages| {
        let texts: Vec<String> = messages[1..]
            .iter()
            .map(|message| message.text.clone())
            .collect();
        (texts.len() == hostile.len()).then_some(texts)
    });
    assert_eq!(
        spoken,
        [
            ".",
            ".\nCANCEL ALL\n",
            "a\n.\nSET ALL RATE 100\nPAUSE ALL",
            "..\n...\n.a",
            ".\nSTOP ALL",
            " . . PAUSE SELF",
            "a]0;xb",
        ]
    );
}

#[tokio::test]
async fn a_stop_overtakes_a_daemon_that_does_not_answer() {
    let server = FakeSsip::start();
    let (handle, mut ear) = open_daemon(&server);
    ear.ready().await;
    handle.speak(utterance(1, "first"));
    ear.expect(VoiceEvent::Begun(id(1))).await;
    handle.stop();
    ear.expect(VoiceEvent::Cut(id(1))).await;
    server.wait_command("CANCEL SELF", 1);

    // The text's reply is held: the cancel is sent all the same.
    server.answer("TEXT", CommandAnswer::Held);
    handle.speak(utterance(2, "second"));
    server.wait_held();
    handle.stop();
    ear.expect(VoiceEvent::Cut(id(2))).await;
    handle.speak(utterance(3, "third"));
    server.answer_as_usual("TEXT");
    server.release();
    ear.expect(VoiceEvent::Begun(id(3))).await;
    let commands = server.commands();
    let cancel = commands
        .iter()
        .rposition(|line| line == "CANCEL SELF")
        .unwrap();
    let speak = commands.iter().rposition(|line| line == "SPEAK").unwrap();
    assert!(cancel < speak, "{commands:?}");
}

#[tokio::test]
async fn the_latest_of_many_utterances_is_said() {
    let server = FakeSsip::start();
    let (handle, mut ear) = open_daemon(&server);
    ear.ready().await;
    for number in 1..=50 {
        handle.speak(utterance(number, &format!("text {number}")));
    }
    let mut cut = Vec::new();
    loop {
        match ear.next().await {
            VoiceEvent::Cut(id) => cut.push(id.0),
            VoiceEvent::Begun(UtteranceId(50)) => break,
            VoiceEvent::Begun(_) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(cut, (1..50).collect::<Vec<_>>());
    server.event(702, server.wait_message("text 50").number);
    ear.expect(VoiceEvent::Ended(id(50))).await;
    let alive = server.wait("messages", |_, messages| {
        Some(messages.iter().filter(|message| !message.over).count())
    });
    assert_eq!(alive, 0, "nothing is left in the daemon");
}

#[tokio::test]
async fn a_mute_daemon_is_no_voice() {
    let mute = ["SET SELF CLIENT_NAME", "GET LANGUAGE", "SPEAK"].map(|command| async move {
        let server = FakeSsip::start();
        server.answer(command, CommandAnswer::Nothing);
        let (_handle, mut ear) = open_daemon(&server);
        let reason = ear.none().await;
        assert!(reason.contains("does not answer"), "{reason}");
    });
    futures_util::future::join_all(mute).await;
}

#[tokio::test]
async fn a_daemon_that_falls_mute_is_lost_and_comes_back() {
    let server = FakeSsip::start();
    let (handle, mut ear) = open_daemon(&server);
    ear.ready().await;
    server.answer("SPEAK", CommandAnswer::Nothing);
    handle.speak(utterance(1, "hello"));
    ear.expect(VoiceEvent::Cut(id(1))).await;
    assert!(ear.lost().await.contains("does not answer"));
    handle.speak(utterance(2, "cut at once"));
    ear.expect(VoiceEvent::Cut(id(2))).await;
    server.answer_as_usual("SPEAK");
    ear.expect(VoiceEvent::Recovered {
        engine: "speech-dispatcher".into(),
    })
    .await;
    handle.speak(utterance(3, "back"));
    ear.expect(VoiceEvent::Begun(id(3))).await;
}

#[tokio::test]
async fn a_slow_daemon_is_still_a_voice() {
    let server = FakeSsip::start();
    server.answer("GET PITCH", CommandAnswer::Held);
    let (handle, mut ear) = open_daemon(&server);
    server.wait_command("GET PITCH", 1);
    handle.speak(utterance(1, "early"));
    handle.speak(utterance(2, "later"));
    ear.expect(VoiceEvent::Cut(id(1))).await;
    server.release();
    ear.ready().await;
    ear.expect(VoiceEvent::Begun(id(2))).await;
}

#[tokio::test]
async fn a_stop_before_the_voice_is_ready_cuts_what_waits() {
    let server = FakeSsip::start();
    server.answer("GET PITCH", CommandAnswer::Held);
    let (handle, mut ear) = open_daemon(&server);
    server.wait_command("GET PITCH", 1);
    handle.speak(utterance(1, "early"));
    handle.stop();
    ear.expect(VoiceEvent::Cut(id(1))).await;
    handle.speak(utterance(2, "later"));
    handle.close(Duration::ZERO).await;
    assert_eq!(ear.rest().await, [VoiceEvent::Cut(id(2))]);
}

#[tokio::test]
async fn garbage_is_no_voice_and_no_panic() {
    for bytes in [
        &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..],
        b"\0\0\0\0\n",
        b"225 OK\r\n225 OK\r\n",
        b"9",
    ] {
        let server = FakeSsip::start();
        server.answer("SET SELF CLIENT_NAME", CommandAnswer::Bytes(bytes));
        let (_handle, mut ear) = open_daemon(&server);
        let reason = ear.none().await;
        assert!(
            reason.contains("does not speak the speech protocol")
                || reason.contains("does not answer"),
            "{reason}"
        );
    }
}

#[tokio::test]
async fn garbage_in_the_middle_loses_the_voice_and_it_comes_back() {
    let server = FakeSsip::start();
    let (handle, mut ear) = open_daemon(&server);
    ear.ready().await;
    handle.speak(utterance(1, "hello"));
    ear.expect(VoiceEvent::Begun(id(1))).await;
    server.send(b"\xff\xff\xff\xff\r\n");
    ear.expect(VoiceEvent::Cut(id(1))).await;
    assert!(
        ear.lost()
            .await
            .contains("does not speak the speech protocol")
    );
    assert!(matches!(ear.next().await, VoiceEvent::Recovered { .. }));
}

#[tokio::test]
async fn a_killed_daemon_is_lost_once_and_recovered_once() {
    let server = FakeSsip::start();
    let (handle, mut ear) = open_daemon(&server);
    ear.ready().await;
    handle.speak(utterance(1, "hello"));
    ear.expect(VoiceEvent::Begun(id(1))).await;
    server.die();
    ear.expect(VoiceEvent::Cut(id(1))).await;
    assert!(ear.lost().await.contains("ended the connection"));
    // Words in between are cut, one by one, and nothing else is reported.
    for number in 2..30 {
        handle.speak(utterance(number, "into the void"));
        ear.expect(VoiceEvent::Cut(id(number))).await;
    }
    server.listen();
    ear.expect(VoiceEvent::Recovered {
        engine: "speech-dispatcher".into(),
    })
    .await;
    handle.speak(utterance(40, "back"));
    ear.expect(VoiceEvent::Begun(id(40))).await;
    server.event(702, server.wait_message("back").number);
    ear.expect(VoiceEvent::Ended(id(40))).await;
    handle.close(Duration::ZERO).await;
    assert_eq!(ear.rest().await, []);
}

#[tokio::test]
async fn a_message_that_never_begins_loses_the_voice_until_there_is_sound() {
    let server = FakeSsip::start();
    let (handle, mut ear) = open_daemon(&server);
    ear.ready().await;
    server.speech(WordsFate::Stuck);
    server.sound(false);
    handle.speak(utterance(1, "hello"));
    ear.expect(VoiceEvent::Cut(id(1))).await;
    assert!(ear.lost().await.contains("never begins"));
    // It is not left in the daemon's queue, to be spoken whenever sound returns.
    server.wait("its cancellation", |_, messages| {
        messages
            .iter()
            .find(|message| message.text == "hello" && message.over)
            .cloned()
    });
    // The silent test finds the daemon still without sound, and says nothing.
    server.wait_command("SET SELF CLIENT_NAME", 3);
    server.sound(true);
    server.speech(WordsFate::Begins);
    assert!(matches!(ear.next().await, VoiceEvent::Recovered { .. }));
}

#[tokio::test]
async fn a_daemon_without_sound_is_no_voice_from_the_start() {
    let server = FakeSsip::start();
    server.sound(false);
    let (_handle, mut ear) = open_daemon(&server);
    let reason = ear.none().await;
    assert!(reason.contains("can't play sound"), "{reason}");
}

#[tokio::test]
async fn only_a_dummy_module_is_no_voice() {
    let server = FakeSsip::start();
    server.answer(
        "LIST OUTPUT_MODULES",
        CommandAnswer::Bytes(b"250-dummy\r\n250 OK MODULE LIST SENT\r\n"),
    );
    let (handle, mut ear) = open_daemon(&server);
    handle.speak(utterance(1, "hello"));
    let reason = ear.none().await;
    assert!(
        reason.contains("dummy") && reason.contains("install"),
        "{reason}"
    );
    ear.expect(VoiceEvent::Cut(id(1))).await;
    assert!(!server.commands().contains(&"SPEAK".to_owned()));
}

#[tokio::test]
async fn an_unknown_language_is_told_once_and_the_voice_goes_on() {
    let server = FakeSsip::start();
    server.speech(WordsFate::Ends);
    server.answer(
        "SET SELF LANGUAGE el",
        CommandAnswer::Bytes(b"302 ERR COULDNT SET LANGUAGE\r\n"),
    );
    let (handle, mut ear) = open_daemon(&server);
    ear.ready().await;
    let mut told = 0;
    for (number, tag) in (1..).zip(["el", "fr", "el", "fr", "en-US", "de"]) {
        handle.speak(Utterance {
            language: Some(tag.to_owned()),
            ..utterance(number, "text")
        });
        loop {
            match ear.next().await {
                VoiceEvent::Notice { text } => {
                    assert!(in_words(&text).contains("language"));
                    told += 1;
                }
                VoiceEvent::Begun(_) => {}
                VoiceEvent::Ended(ended) => break assert_eq!(ended, id(number)),
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(told, 2, "once for each of the two");
}

#[tokio::test]
async fn closing_leaves_nothing_in_the_daemon() {
    let server = FakeSsip::start();
    let (handle, mut ear) = open_daemon(&server);
    ear.ready().await;
    handle.speak(utterance(1, "a long story"));
    ear.expect(VoiceEvent::Begun(id(1))).await;
    handle.close(Duration::from_millis(10)).await;
    server.wait_command("QUIT", 1);
    let commands = server.commands();
    assert_eq!(commands[commands.len() - 2..], ["CANCEL SELF", "QUIT"]);
    assert_eq!(ear.rest().await, [VoiceEvent::Cut(id(1))]);
}

#[tokio::test]
async fn closing_a_mute_daemon_is_bounded() {
    let server = FakeSsip::start();
    let (handle, mut ear) = open_daemon(&server);
    ear.ready().await;
    handle.speak(utterance(1, "a long story"));
    ear.expect(VoiceEvent::Begun(id(1))).await;
    server.answer("CANCEL", CommandAnswer::Nothing);
    let began = Instant::now();
    handle.close(Duration::ZERO).await;
    assert!(began.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn a_daemon_that_is_installed_is_started_as_its_clients_do() {
    let server = FakeSsip::absent();
    let folder = Folder::new();
    let called = folder.path("called");
    folder.program(
        "speech-dispatcher",
        &format!("printf '%s ' \"$@\" > {}", called.display()),
    );
    let surroundings = VoiceEnvironment {
        path: Some(folder.0.clone().into_os_string()),
        ..server.surroundings()
    };
    let (sink, mut ear) = Ear::new();
    let config = VoiceConfig::default();
    let handle = open_in(surroundings, &VoiceChoice::Auto, &config, false, sink);
    let end = Instant::now() + PATIENCE;
    while !called.exists() {
        assert!(Instant::now() < end, "it was not started");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    server.listen();
    ear.ready().await;
    assert_eq!(
        std::fs::read_to_string(called).unwrap(),
        format!(
            "--spawn --timeout 10 --communication-method unix_socket --socket-path {} ",
            server.socket().display()
        )
    );
    handle.close(Duration::ZERO).await;
}

#[tokio::test]
async fn a_daemon_that_does_not_start_is_told_in_words() {
    for (script, word) in [("exit 1", "does not start"), ("exit 0", "did not answer")] {
        let server = FakeSsip::absent();
        let folder = Folder::new();
        folder.program("speech-dispatcher", script);
        let surroundings = VoiceEnvironment {
            path: Some(folder.0.clone().into_os_string()),
            ..server.surroundings()
        };
        let (sink, mut ear) = Ear::new();
        let config = VoiceConfig::default();
        let choice = VoiceChoice::SpeechDispatcher;
        let _handle = open_limited(surroundings, &choice, &config, false, sink, quick());
        let reason = ear.none().await;
        assert!(reason.contains(word), "{reason}");
    }
}

#[tokio::test]
async fn a_network_address_is_said_to_be_unsupported() {
    let (sink, mut ear) = Ear::new();
    let surroundings = VoiceEnvironment {
        speechd_address: Some("inet_socket:127.0.0.1:6560".into()),
        ..VoiceEnvironment::default()
    };
    let config = VoiceConfig::default();
    let choice = VoiceChoice::SpeechDispatcher;
    let _handle = open_in(surroundings, &choice, &config, false, sink);
    assert!(ear.none().await.contains("unix_socket:PATH"));
}

/// From the request to the command on the socket, while the machine handles 1,000 events a second.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_is_on_the_socket_within_10_ms() {
    let server = FakeSsip::start();
    let (handle, mut ear) = open_daemon(&server);
    ear.ready().await;
    let (events, mut flood) = mpsc::channel::<String>(64);
    let sender = tokio::spawn(async move {
        let mut tick = tokio::time::interval(Duration::from_millis(10));
        loop {
            tick.tick().await;
            for number in 0..10 {
                let event = format!(
                    "{{\"event_id\":\"evt_{number}\",\"text\":\"{}\"}}",
                    "x".repeat(300)
                );
                if events.send(event).await.is_err() {
                    return;
                }
            }
        }
    });
    let reader = tokio::spawn(async move {
        let mut bytes = 0;
        while let Some(event) = flood.recv().await {
            bytes += event.matches(':').count();
        }
        bytes
    });
    // A machine that happens to be busy once is not busy three times.
    let mut best = Duration::MAX;
    for round in 0..3 {
        let mut times = Vec::new();
        for number in round * 200 + 1..=round * 200 + 200 {
            handle.speak(utterance(number, &format!("text {number}")));
            ear.expect(VoiceEvent::Begun(id(number))).await;
            let pressed = Instant::now();
            handle.stop();
            ear.expect(VoiceEvent::Cut(id(number))).await;
            let line = server.wait_command("CANCEL SELF", usize::try_from(number).unwrap());
            times.push(line.at.saturating_duration_since(pressed));
        }
        times.sort_unstable();
        let (median, p99, worst) = (times[99], times[197], times[199]);
        eprintln!("stop to the socket: median {median:?}, p99 {p99:?}, worst {worst:?}");
        best = best.min(p99);
        if best < Duration::from_millis(10) {
            break;
        }
    }
    sender.abort();
    reader.abort();
    assert!(best < Duration::from_millis(10), "p99 {best:?}");
}
