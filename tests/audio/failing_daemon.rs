//! A daemon that dies, freezes, has no synthesiser or no device, or has not been started.

use super::*;

#[tokio::test]
async fn a_killed_daemon_is_lost_and_its_successor_is_heard() {
    let mut rig = SoundRig::new();
    let (handle, mut events) = open(rig.surroundings());
    ready(&mut events).await;
    handle.speak(utterance(1, LONG));
    begun(&mut events, 1).await;
    rig.daemon().signal(Signal::KILL);
    let killed = Instant::now();
    assert_eq!(next(&mut events).await, VoiceEvent::Cut(UtteranceId(1)));
    assert!(matches!(next(&mut events).await, VoiceEvent::Lost { .. }));
    eprintln!("killed to lost: {:?}", killed.elapsed());
    rig.start_daemon();
    let back = Instant::now();
    assert!(matches!(
        next(&mut events).await,
        VoiceEvent::Recovered { .. }
    ));
    eprintln!("back to recovered: {:?}", back.elapsed());
    let recorder = rig.record();
    let asked = Instant::now();
    handle.speak(utterance(2, "hello"));
    said(&mut events, 2).await;
    recorder.recorded(Instant::now(), Duration::from_millis(100));
    assert!(!recorder.loud(asked).is_empty(), "the successor is heard");
}

#[tokio::test]
async fn a_frozen_daemon_is_lost_and_comes_back() {
    let rig = SoundRig::new();
    let (handle, mut events) = open(rig.surroundings());
    ready(&mut events).await;
    rig.daemon().signal(Signal::STOP);
    let frozen = Instant::now();
    handle.speak(utterance(1, "hello"));
    assert_eq!(next(&mut events).await, VoiceEvent::Cut(UtteranceId(1)));
    assert!(matches!(next(&mut events).await, VoiceEvent::Lost { .. }));
    eprintln!("frozen to lost: {:?}", frozen.elapsed());
    rig.daemon().signal(Signal::CONT);
    assert!(matches!(
        next(&mut events).await,
        VoiceEvent::Recovered { .. }
    ));
    handle.speak(utterance(2, "hello"));
    said(&mut events, 2).await;
}

/// Returns the child processes of a process.
fn children(parent: u32) -> Vec<Pid> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(status) = std::fs::read_to_string(entry.path().join("status")) else {
            continue;
        };
        if status.contains(&format!("\nPPid:\t{parent}\n"))
            && let Some(pid) = entry.file_name().to_str().and_then(|pid| pid.parse().ok())
        {
            found.extend(Pid::from_raw(pid));
        }
    }
    found
}

#[tokio::test]
async fn a_daemon_whose_synthesiser_died_is_lost_and_not_silence() {
    let mut rig = SoundRig::new();
    let (handle, mut events) = open(rig.surroundings());
    ready(&mut events).await;
    let synthesisers = children(rig.daemon().0.id());
    assert!(!synthesisers.is_empty());
    for synthesiser in synthesisers {
        rustix::process::kill_process(synthesiser, Signal::KILL).unwrap();
    }
    let asked = Instant::now();
    handle.speak(utterance(1, "hello"));
    loop {
        match next(&mut events).await {
            VoiceEvent::Begun(_) | VoiceEvent::Cut(_) => {}
            VoiceEvent::Lost { reason } => break eprintln!("{}", said_of(&reason)),
            other => panic!("{other:?}"),
        }
    }
    eprintln!("synthesiser killed to lost: {:?}", asked.elapsed());
    // The daemon never starts another synthesiser; a new daemon does.
    rig.daemon = None;
    rig.start_daemon();
    assert!(matches!(
        next(&mut events).await,
        VoiceEvent::Recovered { .. }
    ));
    handle.speak(utterance(2, "hello"));
    said(&mut events, 2).await;
}

#[tokio::test]
async fn a_daemon_without_a_device_is_no_voice_in_words() {
    let mut rig = SoundRig::folder();
    rig.start_daemon();
    let began = Instant::now();
    let (_handle, mut events) = open(rig.surroundings());
    match next(&mut events).await {
        VoiceEvent::None { reason, .. } => assert!(said_of(&reason).contains("can't play sound")),
        other => panic!("{other:?}"),
    }
    eprintln!("no device found out after {:?}", began.elapsed());
}

#[tokio::test]
async fn an_installed_daemon_is_started_and_heard() {
    let rig = SoundRig::with_sound();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let real = std::env::split_paths(&path)
        .map(|folder| folder.join("speech-dispatcher"))
        .find(|path| path.exists())
        .expect("speech-dispatcher is installed");
    let program = rig.folder.join("bin/speech-dispatcher");
    let script = format!(
        "#!/bin/sh\nexport HOME={0}/home XDG_RUNTIME_DIR={0}/run PULSE_SERVER={1}\n\
         exec {2} -C {0}/conf -L {0}/log -P {0}/daemon.pid \"$@\"\n",
        rig.folder.display(),
        rig.pulse_address(),
        real.display()
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    // The daemon starts automatically only for its default socket.
    let surroundings = VoiceEnvironment {
        speechd_address: None,
        runtime_dir: Some(rig.folder.join("run")),
        path: program.parent().map(|folder| folder.as_os_str().to_owned()),
        ..rig.surroundings()
    };
    let began = Instant::now();
    let (handle, mut events) = open(surroundings);
    ready(&mut events).await;
    eprintln!("started and ready after {:?}", began.elapsed());
    let recorder = rig.record();
    let asked = Instant::now();
    handle.speak(utterance(1, "hello"));
    said(&mut events, 1).await;
    recorder.recorded(Instant::now(), Duration::from_millis(100));
    assert!(!recorder.loud(asked).is_empty(), "it is heard");
    handle.close(Duration::ZERO).await;
}
