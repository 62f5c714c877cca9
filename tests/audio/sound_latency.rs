//! The time from an order, a stop and a resumption to sound and silence, through each kind of
//! voice.

use std::time::SystemTime;

use hearken::demo::{DemoSettings, Scenario, serve};

use super::heard_questions::pty_terminal::Terminal;
use super::*;

/// How often each is measured.
const TIMES: usize = 9;

/// How long speech may continue after a stop.
const SILENT_WITHIN: Duration = Duration::from_millis(100);

/// How long a voice may take to its first sound: what speech-dispatcher is allowed (`hello_can_be_heard`).
const SOUND_WITHIN: Duration = Duration::from_millis(300);

/// How much later than its own start of sound a voice that stays may be heard.
const AFTER_ITS_OWN: Duration = Duration::from_millis(200);

/// Writes a program into the rig's folder that plays into its sound server.
fn program(rig: &SoundRig, name: &str, script: &str) -> PathBuf {
    let path = rig.folder.join("bin").join(name);
    let script = format!(
        "#!/bin/sh\nexport PULSE_SERVER={} HOME={}\n{script}\n",
        rig.pulse_address(),
        rig.folder.join("home").display()
    );
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// The example for piper in the docs.
const EXAMPLE: &str = include_str!("../../docs/piper-voice");

/// The measurements of a voice, each sorted.
#[derive(Debug, Default)]
struct Latencies {
    first_sound: Vec<Duration>,
    silence: Vec<Duration>,
    sound_again: Vec<Duration>,
}

impl Latencies {
    fn settled(mut self, voice: &str) -> Self {
        for (what, times) in [
            ("order to first sound", &mut self.first_sound),
            ("stop to silence", &mut self.silence),
            ("going on to sound", &mut self.sound_again),
        ] {
            times.sort_unstable();
            let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
            eprintln!("{voice}: {what}: median {median:.0?}, worst {worst:.0?}");
        }
        let middle = |times: &[Duration]| times[times.len() / 2];
        assert!(
            middle(&self.first_sound) < SOUND_WITHIN,
            "{voice}: {self:?}"
        );
        assert!(middle(&self.silence) < SILENT_WITHIN, "{voice}: {self:?}");
        assert!(
            middle(&self.sound_again) < SOUND_WITHIN,
            "{voice}: {self:?}"
        );
        self
    }
}

fn first_sound(recorder: &Recorder, from: Instant) -> Duration {
    until("sound", || !recorder.loud(from).is_empty());
    recorder.loud(from)[0] - from
}

/// Measures how long a stop takes, after some sound.
async fn silence(
    handle: &VoiceHandle,
    events: &mut mpsc::Receiver<VoiceEvent>,
    recorder: &Recorder,
    at: usize,
    id: u64,
) -> Duration {
    recorder.recorded(Instant::now(), Duration::from_millis(150 + 37 * at as u64));
    let stopped = Instant::now();
    handle.stop();
    while next(events).await != VoiceEvent::Cut(UtteranceId(id)) {}
    recorder.recorded(stopped, Duration::from_millis(400));
    let last = recorder.loud(stopped).last().copied();
    last.map_or(Duration::ZERO, |last| last - stopped)
}

/// Speaks, stops and says the same sentence again, as the queue does when the person goes on.
async fn measure(
    handle: &VoiceHandle,
    events: &mut mpsc::Receiver<VoiceEvent>,
    recorder: &Recorder,
) -> Latencies {
    let mut found = Latencies::default();
    for at in 0..TIMES {
        let id = 2 * at as u64 + 101;
        let asked = Instant::now();
        handle.speak(utterance(id, LONG));
        found.first_sound.push(first_sound(recorder, asked));
        found
            .silence
            .push(silence(handle, events, recorder, at, id).await);
        let on = Instant::now();
        handle.speak(utterance(id + 1, LONG));
        found.sound_again.push(first_sound(recorder, on));
        silence(handle, events, recorder, at, id + 1).await;
    }
    found
}

fn open_voice(choice: &VoiceChoice, rig: &SoundRig) -> (VoiceHandle, mpsc::Receiver<VoiceEvent>) {
    let (sink, events) = VoiceSink::channel();
    let config = VoiceConfig {
        own_pitch: 0,
        ..VoiceConfig::default()
    };
    let handle = open_in(rig.surroundings(), choice, &config, false, sink);
    (handle, events)
}

#[tokio::test]
async fn every_kind_of_voice_begins_stops_and_goes_on_in_time() {
    let rig = SoundRig::new();
    let espeak = program(&rig, "espeak-ng", "exec /usr/bin/espeak-ng \"$@\"");
    let command = VoiceChoice::Command(espeak.display().to_string());
    for (name, choice) in [
        ("speech-dispatcher", VoiceChoice::SpeechDispatcher),
        ("command:espeak-ng", command),
    ] {
        let (handle, mut events) = open_voice(&choice, &rig);
        assert!(matches!(next(&mut events).await, VoiceEvent::Ready { .. }));
        let recorder = rig.record();
        let found = measure(&handle, &mut events, &recorder).await;
        found.settled(name);
        handle.close(Duration::ZERO).await;
    }
}

#[tokio::test]
async fn the_example_for_piper_sounds_within_200_ms_of_its_own_start_of_sound() {
    let rig = SoundRig::with_sound();
    let folder = rig.folder.display();
    std::fs::write(rig.folder.join("piper-voice"), EXAMPLE).unwrap();
    let script = format!(
        "export PYTHONPATH={} HEARKEN_TIMES={folder}/times\nexec /usr/bin/env python3 {folder}/piper-voice \"$@\"",
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/audio"),
    );
    // The path of this machine's Python may depend on the home folder.
    let home = std::env::var("HOME").unwrap_or_default();
    let script = script.replace(
        "exec /usr",
        &format!("export HOME={home} PYTHONDONTWRITEBYTECODE=1\nexec /usr"),
    );
    let speaker = program(&rig, "piper-voice", &script);
    let choice = VoiceChoice::Lasting(format!("{} voice.onnx", speaker.display()));
    let (handle, mut events) = open_voice(&choice, &rig);
    assert!(matches!(next(&mut events).await, VoiceEvent::Ready { .. }));
    let recorder = rig.record();
    // It loads once.
    handle.speak(utterance(1000, "Ready."));
    said(&mut events, 1000).await;
    let times = || {
        let text = std::fs::read_to_string(rig.folder.join("times")).unwrap_or_default();
        let times = text.lines().map(|line| line.parse::<f64>().unwrap());
        times.collect::<Vec<_>>()
    };
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let (wall, monotonic) = (now.unwrap().as_secs_f64(), Instant::now());
    let mut later = Vec::new();
    for id in 1..=TIMES as u64 {
        let before = times().len();
        let asked = Instant::now();
        handle.speak(utterance(id, LONG));
        let heard = asked + first_sound(&recorder, asked);
        let own = monotonic + Duration::from_secs_f64(times()[before] - wall);
        later.push(heard.saturating_duration_since(own));
        silence(&handle, &mut events, &recorder, 0, id).await;
    }
    later.sort_unstable();
    let (median, worst) = (later[TIMES / 2], later[TIMES - 1]);
    eprintln!("json: its own start of sound to sound: median {median:.0?}, worst {worst:.0?}");
    assert!(median < AFTER_ITS_OWN, "{later:?}");
    let found = measure(&handle, &mut events, &recorder).await;
    found.settled("json:piper-voice");
    handle.close(Duration::ZERO).await;
}

/// An agent that says twenty sentences at once.
fn talkative() -> Scenario {
    let head = serde_json::json!({
        "scenario": "talkative", "title": "A talker", "description": "It talks.",
        "language": "en-US", "keywords": ["talker"],
        "agents": [{"agent_id": "talker", "agent_version": "1.0.0", "agent_name": "Talker"}],
    });
    let start = serde_json::json!({"event": {
        "type": "aaep:agent.session.started", "summary_terse": "Started.",
        "summary_normal": "Started.", "request_text": "Talk.",
    }});
    let texts = [LONG; 20];
    let say = serde_json::json!({"say": {"output": "talk", "sentences": {"every_ms": 1, "texts": texts}}});
    let end = serde_json::json!({"event": {
        "type": "aaep:agent.session.completed", "summary_terse": "Done.", "summary_normal": "Done.",
    }});
    Scenario::parse(&format!("{head}\n{start}\n{say}\n{end}\n")).unwrap()
}

#[test]
fn a_key_stops_speech_and_another_goes_on_in_time() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let rig = SoundRig::new();
    let running = runtime
        .block_on(serve("127.0.0.1:0", DemoSettings::stepped(1)))
        .unwrap();
    let producer = running.producer().clone();
    let agents = running.agents().clone();
    let recorder = rig.record();
    let address = format!("unix_socket:{}", rig.socket().display());
    let url = running.url();
    let arguments = [
        "watch",
        &url,
        "--face",
        "full",
        "--voice",
        "speech-dispatcher",
    ];
    let environment = [("TERM", "xterm-256color"), ("SPEECHD_ADDRESS", &address)];
    let mut terminal = Terminal::start_with(100, 30, &arguments, &environment);
    terminal.wait("Voice: speech-dispatcher.");
    runtime.block_on(producer.until_subscribed(1));
    agents.hold_before("aaep:agent.session.completed");
    agents.start_scenario(talkative()).unwrap();
    terminal.wait("send an email to Bob");
    // The sources and the session are announced first.
    recorder.recorded(Instant::now(), Duration::from_secs(6));
    let (mut silences, mut sounds) = (Vec::new(), Vec::new());
    for at in 0..TIMES {
        let began = Instant::now();
        until("speech", || recorder.loud(began).len() > 20);
        recorder.recorded(began, Duration::from_millis(500 + 37 * at as u64));
        let stopped = Instant::now();
        terminal.press("s");
        recorder.recorded(stopped, Duration::from_millis(1500));
        let last = recorder.loud(stopped).last().copied();
        silences.push(last.map_or(Duration::ZERO, |last| last - stopped));
        let on = Instant::now();
        terminal.press("'");
        sounds.push(first_sound(&recorder, on));
        terminal.drain();
    }
    for (what, times, bound) in [
        ("stop key to silence", &mut silences, SILENT_WITHIN),
        ("key that goes on to sound", &mut sounds, SOUND_WITHIN),
    ] {
        times.sort_unstable();
        let (median, worst) = (times[TIMES / 2], times[TIMES - 1]);
        eprintln!("{what}: median {median:.0?}, worst {worst:.0?}");
        assert!(median < bound, "{what}: {times:?}");
    }
    drop(terminal);
    runtime.block_on(running.stop());
}
