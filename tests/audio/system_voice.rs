//! The platform's own speech for real: the crate tts in hearken's child, through speech-dispatcher.

use super::*;

/// Returns the parent and the state of a process.
fn stat(pid: &str) -> Option<(String, String)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut rest = stat.rsplit_once(") ")?.1.split(' ');
    let state = rest.next()?.to_owned();
    Some((rest.next()?.to_owned(), state))
}

/// Returns the running child processes that speak for a process.
fn children(parent: u32) -> Vec<Pid> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| {
            let pid = entry.file_name().into_string().ok()?;
            let (of, state) = stat(&pid)?;
            let line = std::fs::read(entry.path().join("cmdline")).ok()?;
            let speaks = String::from_utf8_lossy(&line).contains("system-voice");
            let ours = of == parent.to_string() && state != "Z" && speaks;
            ours.then(|| Pid::from_raw(pid.parse().unwrap()).unwrap())
        })
        .collect()
}

fn child_of(parent: u32) -> Pid {
    let mut found = Vec::new();
    until("the child", || {
        found = children(parent);
        found.len() == 1
    });
    found[0]
}

fn is_gone(pid: Pid) -> bool {
    stat(&pid.as_raw_nonzero().to_string()).is_none_or(|(_, state)| state == "Z")
}

/// How long a dead child's words may be heard: the death must be noticed, for a frozen child only by the time
/// limit of a call, and then the words are cancelled. They would continue for ten seconds.
const SILENT_AFTER_DEATH: Duration = Duration::from_secs(4);

fn open_system(rig: &SoundRig) -> (VoiceHandle, mpsc::Receiver<VoiceEvent>) {
    let (sink, events) = VoiceSink::channel();
    let surroundings = VoiceEnvironment {
        executable: Some(env!("CARGO_BIN_EXE_hearken").into()),
        ..rig.surroundings()
    };
    let config = VoiceConfig::default();
    let handle = open_in(surroundings, &VoiceChoice::System, &config, false, sink);
    (handle, events)
}

async fn system_ready(events: &mut mpsc::Receiver<VoiceEvent>) {
    match next(events).await {
        VoiceEvent::Ready { engine } => assert_eq!(engine.key(), "voice.engine.system"),
        other => panic!("not ready: {other:?}"),
    }
}

#[tokio::test]
async fn system_words_are_heard_and_our_own_are_higher() {
    let rig = SoundRig::new();
    let (handle, mut events) = open_system(&rig);
    system_ready(&mut events).await;
    own_words_are_higher(&handle, &mut events, &rig.record()).await;
    // Texts known to break the crate: one byte, NUL, nothing, and words after each.
    for (number, text) in (10..).zip(["a", "\0", "", "b\0c", ".", "still there"]) {
        handle.speak(utterance(number, text));
        while next(&mut events).await != VoiceEvent::Ended(UtteranceId(number)) {}
    }
    handle.close(Duration::ZERO).await;
    assert_eq!(children(std::process::id()), [], "the child has ended");
}

#[tokio::test]
async fn system_a_stop_is_silence() {
    let rig = SoundRig::new();
    let (handle, mut events) = open_system(&rig);
    system_ready(&mut events).await;
    let recorder = rig.record();
    let mut silences = Vec::new();
    for number in 1..=10 {
        handle.speak(utterance(number, LONG));
        begun(&mut events, number).await;
        let began = Instant::now();
        until("sound", || recorder.loud(began).len() > 20);
        let stopped = Instant::now();
        handle.stop();
        assert_eq!(
            next(&mut events).await,
            VoiceEvent::Cut(UtteranceId(number))
        );
        recorder.recorded(stopped, Duration::from_millis(400));
        let last = recorder.loud(stopped).last().copied();
        silences.push(last.map_or(Duration::ZERO, |last| last - stopped));
    }
    silences.sort_unstable();
    eprintln!("system: stop to silence: {silences:?}");
    assert!(silences[9] < Duration::from_millis(150), "{silences:?}");
}

#[tokio::test]
async fn system_a_child_killed_or_frozen_is_told_and_its_successor_is_heard() {
    let rig = SoundRig::new();
    let (handle, mut events) = open_system(&rig);
    system_ready(&mut events).await;
    let recorder = rig.record();
    for (number, signal) in [(1, Signal::KILL), (3, Signal::STOP)] {
        let child = child_of(std::process::id());
        handle.speak(utterance(number, LONG));
        begun(&mut events, number).await;
        // The daemon may need more than a second for words that are stopped before their first sound, and anything
        // said meanwhile is delayed as well.
        let spoken = Instant::now();
        until("sound", || !recorder.loud(spoken).is_empty());
        let began = Instant::now();
        rustix::process::kill_process(child, signal).unwrap();
        // A frozen child is noticed by the first order that it ignores.
        handle.stop();
        assert_eq!(
            next(&mut events).await,
            VoiceEvent::Cut(UtteranceId(number))
        );
        match next(&mut events).await {
            VoiceEvent::Lost { reason } => {
                eprintln!("{signal:?}: {:?}: {}", began.elapsed(), said_of(&reason));
            }
            other => panic!("{other:?}"),
        }
        match next(&mut events).await {
            VoiceEvent::Recovered { .. } => eprintln!("back after {:?}", began.elapsed()),
            other => panic!("{other:?}"),
        }
        until("the end of the old child", || is_gone(child));
        recorder.recorded(Instant::now(), Duration::from_millis(1000));
        let killed = began;
        let last = recorder.loud(killed).last().copied();
        let silent = last.map_or(Duration::ZERO, |last| last - killed);
        eprintln!("{signal:?}: silent {silent:?} after it");
        assert!(silent < SILENT_AFTER_DEATH, "{signal:?}: {silent:?}");
        let asked = Instant::now();
        handle.speak(utterance(number + 1, "hello"));
        begun(&mut events, number + 1).await;
        eprintln!("begun {:?} after it was asked for", asked.elapsed());
        let end = next(&mut events).await;
        eprintln!("{end:?} {:?} after it was asked for", asked.elapsed());
        assert_eq!(end, VoiceEvent::Ended(UtteranceId(number + 1)));
        recorder.recorded(Instant::now(), Duration::from_millis(150));
        assert!(!recorder.loud(asked).is_empty());
    }
}

#[test]
fn system_nothing_speaks_on_when_the_program_is_killed() {
    let rig = SoundRig::new();
    let recorder = rig.record();
    let mut address = std::ffi::OsString::from("unix_socket:");
    address.push(rig.socket());
    let began = Instant::now();
    let mut program = Process::start(
        Command::new(env!("CARGO_BIN_EXE_hearken"))
            .args(["say", "--voice", "system", LONG, LONG, LONG])
            .env("SPEECHD_ADDRESS", address)
            .env("HOME", rig.folder.join("home"))
            .stdout(Stdio::null())
            .stderr(Stdio::null()),
    );
    until("sound", || recorder.loud(began).len() > 20);
    let child = child_of(program.0.id());
    program.0.kill().unwrap();
    let killed = Instant::now();
    until("the end of the child", || is_gone(child));
    eprintln!("the child ended {:?} after its parent", killed.elapsed());
    recorder.recorded(killed, Duration::from_millis(1500));
    let last = recorder.loud(killed).last().copied();
    let silent = last.map_or(Duration::ZERO, |last| last - killed);
    eprintln!("silent {silent:?} after the kill");
    assert!(silent < Duration::from_millis(700), "{silent:?}");
}
