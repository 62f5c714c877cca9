//! The command voice with real processes.

use std::time::Instant;

use super::*;

/// Returns the processes whose command line contains a word, except the test's own.
fn processes(word: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(line) = std::fs::read(entry.path().join("cmdline")) else {
            continue;
        };
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains(word) && !line.contains("cargo") {
            found.push(line);
        }
    }
    found
}

/// Waits until a condition holds.
async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "waited in vain for {what}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

fn open_command(command: String) -> (VoiceHandle, Ear) {
    let (sink, ear) = Ear::new();
    let handle = open_limited(
        VoiceEnvironment::default(),
        &VoiceChoice::Command(command),
        &VoiceConfig::default(),
        false,
        sink,
        quick(),
    );
    (handle, ear)
}

async fn said(ear: &mut Ear, id: u64) {
    ear.expect(VoiceEvent::Begun(UtteranceId(id))).await;
    ear.expect(VoiceEvent::Ended(UtteranceId(id))).await;
}

#[tokio::test]
async fn a_text_goes_to_the_standard_input_as_one_line() {
    let folder = Folder::new();
    let said_to = folder.path("said");
    let program = folder.program("say", &format!("cat >> {}", said_to.display()));
    let (handle, mut ear) = open_command(program.display().to_string());
    assert!(ear.ready().await.starts_with('/'));
    handle.speak(utterance(1, "-w one\r\ntwo\0 $(id) ; ls"));
    said(&mut ear, 1).await;
    assert_eq!(
        std::fs::read_to_string(said_to).unwrap(),
        "-w one two $(id) ; ls\n"
    );
}

#[tokio::test]
async fn a_text_goes_into_an_argument_without_a_shell() {
    let folder = Folder::new();
    let said_to = folder.path("said");
    let program = folder.program(
        "say",
        &format!(
            "printf '[%s]' \"$@\" >> {}\ncat >> {}",
            said_to.display(),
            said_to.display()
        ),
    );
    let (handle, mut ear) = open_command(format!("'{}' -v 'a b' {{}}", program.display()));
    ear.ready().await;
    for (id, text) in [(1, "--help"), (2, "$(id) `id` \"'\\ *; ls\ttab\nline")] {
        handle.speak(utterance(id, text));
        said(&mut ear, id).await;
    }
    assert_eq!(
        std::fs::read_to_string(said_to).unwrap(),
        "[-v][a b][ --help][-v][a b][$(id) `id` \"'\\ *; ls tab line]"
    );
}

#[tokio::test]
async fn a_long_text_reaches_a_program_that_reads_late() {
    let folder = Folder::new();
    let go = folder.path("go");
    let said_to = folder.path("said");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&go)
            .status()
            .unwrap()
            .success()
    );
    let program = folder.program(
        "say",
        &format!(
            "cat {} > /dev/null\ncat > {}",
            go.display(),
            said_to.display()
        ),
    );
    let (handle, mut ear) = open_command(program.display().to_string());
    ear.ready().await;
    let text = "word ".repeat(13_000).trim_end().to_owned();
    handle.speak(utterance(1, &text));
    ear.expect(VoiceEvent::Begun(UtteranceId(1))).await;
    tokio::task::spawn_blocking(move || std::fs::write(go, "go").unwrap())
        .await
        .unwrap();
    ear.expect(VoiceEvent::Ended(UtteranceId(1))).await;
    assert_eq!(std::fs::read_to_string(said_to).unwrap(), text + "\n");
}

#[tokio::test]
async fn a_stop_ends_the_program_and_its_children_within_50_ms() {
    // The second one ignores SIGTERM, in itself and in its child.
    for (mark, trap) in [("71001", ""), ("71002", "trap '' TERM")] {
        let folder = Folder::new();
        let ready = folder.path("ready");
        let program = folder.program(
            "say",
            &format!(
                "{trap}\nsleep {mark} &\necho > {}\nwait\nsleep {mark}",
                ready.display()
            ),
        );
        let (handle, mut ear) = open_command(program.display().to_string());
        ear.ready().await;
        handle.speak(utterance(1, "hello"));
        ear.expect(VoiceEvent::Begun(UtteranceId(1))).await;
        until("the child", || ready.exists()).await;
        until("the child", || !processes(mark).is_empty()).await;

        let stopped = Instant::now();
        handle.stop();
        ear.expect(VoiceEvent::Cut(UtteranceId(1))).await;
        until("the end", || processes(mark).is_empty()).await;
        let took = stopped.elapsed();
        assert!(
            took < Duration::from_millis(150),
            "{took:?} on a loaded machine"
        );
        eprintln!("stop to the end of the group {mark}: {took:?}");

        // The next one is spoken after it, and nothing is left at the end.
        handle.speak(utterance(2, "hello"));
        ear.expect(VoiceEvent::Begun(UtteranceId(2))).await;
        until("the child", || !processes(mark).is_empty()).await;
        handle.close(Duration::ZERO).await;
        until("the end", || processes(mark).is_empty()).await;
        assert_eq!(ear.rest().await, [VoiceEvent::Cut(UtteranceId(2))]);
    }
}

#[tokio::test]
async fn nothing_is_left_of_a_handle_that_was_dropped() {
    let folder = Folder::new();
    let program = folder.program("say", "sleep 71003");
    let (handle, mut ear) = open_command(program.display().to_string());
    ear.ready().await;
    handle.speak(utterance(1, "hello"));
    ear.expect(VoiceEvent::Begun(UtteranceId(1))).await;
    until("the child", || !processes("71003").is_empty()).await;
    drop(handle);
    until("the end", || processes("71003").is_empty()).await;
}

#[tokio::test]
async fn ended_programs_are_reaped() {
    let folder = Folder::new();
    let pids = folder.path("pids");
    let program = folder.program("say", &format!("echo $$ >> {}", pids.display()));
    let (handle, mut ear) = open_command(format!("{} {{}}", program.display()));
    ear.ready().await;
    for id in 1..=5 {
        handle.speak(utterance(id, "hello"));
        said(&mut ear, id).await;
    }
    for pid in std::fs::read_to_string(pids).unwrap().lines() {
        assert!(
            !std::path::Path::new("/proc").join(pid).exists(),
            "{pid} is still there"
        );
    }
}

#[tokio::test]
async fn three_failures_lose_the_voice_and_a_success_brings_it_back() {
    let folder = Folder::new();
    let works = folder.path("works");
    let program = folder.program("say", &format!("test -e {}", works.display()));
    let (handle, mut ear) = open_command(format!("{} {{}}", program.display()));
    ear.ready().await;
    for id in 1..=3 {
        handle.speak(utterance(id, "hello"));
        ear.expect(VoiceEvent::Begun(UtteranceId(id))).await;
        ear.expect(VoiceEvent::Cut(UtteranceId(id))).await;
    }
    let reason = ear.lost().await;
    assert!(
        reason.contains("three") || reason.contains("3 times"),
        "{reason}"
    );
    assert!(reason.contains("exit status: 1"), "{reason}");

    std::fs::write(works, "").unwrap();
    let mut id = 4;
    loop {
        handle.speak(utterance(id, "hello"));
        match ear.next().await {
            // Cut until the wait is over.
            VoiceEvent::Cut(_) => tokio::task::yield_now().await,
            VoiceEvent::Begun(_) => break,
            other => panic!("{other:?}"),
        }
        id += 1;
    }
    assert!(matches!(ear.next().await, VoiceEvent::Recovered { .. }));
    ear.expect(VoiceEvent::Ended(UtteranceId(id))).await;
}

#[tokio::test]
async fn a_program_that_vanishes_is_lost_and_not_a_hang() {
    let folder = Folder::new();
    let program = folder.program("say", "exit 0");
    let (handle, mut ear) = open_command(program.display().to_string());
    ear.ready().await;
    std::fs::remove_file(program).unwrap();
    for id in 1..=3 {
        handle.speak(utterance(id, "hello"));
        ear.expect(VoiceEvent::Cut(UtteranceId(id))).await;
    }
    assert!(ear.lost().await.contains("can't be started"));
}

#[tokio::test]
async fn auto_takes_an_espeak_that_has_sound_and_says_why() {
    let folder = Folder::new();
    let said_to = folder.path("said");
    let script = format!(
        "printf '[%s]' \"$@\" >> {0}\n/bin/cat >> {0}",
        said_to.display()
    );
    folder.program("espeak-ng", &script);
    let (sink, mut ear) = Ear::new();
    let surroundings = VoiceEnvironment {
        runtime_dir: Some(folder.path("run")),
        path: Some(folder.0.clone().into_os_string()),
        ..VoiceEnvironment::default()
    };
    let config = VoiceConfig::default();
    let handle = open_in(surroundings, &VoiceChoice::Auto, &config, false, sink);
    match ear.next().await {
        VoiceEvent::Notice { text } => assert!(in_words(&text).contains("speech-dispatcher")),
        other => panic!("{other:?}"),
    }
    assert_eq!(ear.ready().await, "espeak-ng");
    handle.speak(utterance(1, "agent"));
    said(&mut ear, 1).await;
    handle.speak(Utterance {
        mark: Mark::Own,
        ..utterance(2, "own")
    });
    said(&mut ear, 2).await;
    assert_eq!(
        std::fs::read_to_string(said_to).unwrap(),
        "[--stdin] \n[--stdin]agent\n[--stdin][-p][59]own\n"
    );
}

#[tokio::test]
async fn an_espeak_without_a_sound_device_is_no_voice() {
    let folder = Folder::new();
    folder.program(
        "espeak-ng",
        "echo 'ALSA lib: nothing' >&2\necho 'error: No such file or directory' >&2\nexit 0",
    );
    let (sink, mut ear) = Ear::new();
    let surroundings = VoiceEnvironment {
        runtime_dir: Some(folder.path("run")),
        path: Some(folder.0.clone().into_os_string()),
        ..VoiceEnvironment::default()
    };
    let config = VoiceConfig::default();
    let _handle = open_in(surroundings, &VoiceChoice::Auto, &config, false, sink);
    let reason = ear.none().await;
    assert!(
        reason.contains("espeak-ng is there but finds no sound device"),
        "{reason}"
    );
}
