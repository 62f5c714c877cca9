//! Real sound: hearken's voice through speech-dispatcher and espeak-ng into a recorder.
//!
//! Responsibilities: showing that words can be heard, that a stop silences, and that the daemon's real faults
//! (killed, frozen, without a device) are reported and survived. Not here: orders of replies and events, which the
//! scripted server of `crates/hearken-io/src/voice/tests` covers better.
//!
//! Every test builds its own sound system in its own folder: PulseAudio with a null sink, a speech-dispatcher on
//! its own socket, and parec on the sink's monitor. All of it ends with the test. The test fails, and is not
//! skipped, if any of the programs is missing: speech-dispatcher, speech-dispatcher-espeak-ng,
//! speech-dispatcher-audio-plugins, espeak-ng, pulseaudio, pulseaudio-utils.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by panicking, and tells its figures"
)]

use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hearken::announce::{Class, Mark, Sound, Utterance, UtteranceId};
use hearken::config::{VoiceChoice, VoiceConfig};
use hearken::voice::{VoiceEnvironment, VoiceEvent, VoiceHandle, VoiceSink, open_in};
use rustix::process::{Pid, Signal};
use tokio::sync::mpsc;

#[path = "audio/failing_daemon.rs"]
mod failing_daemon;
#[path = "audio/heard_cues.rs"]
mod heard_cues;
#[path = "audio/heard_delivery.rs"]
mod heard_delivery;
#[path = "audio/heard_questions.rs"]
mod heard_questions;
#[path = "audio/phonemes.rs"]
mod phonemes;
#[path = "audio/sound_latency.rs"]
mod sound_latency;
#[cfg(feature = "system-voice")]
#[path = "audio/system_voice.rs"]
mod system_voice;

/// Returns the words of a reason as they are heard.
fn said_of(reason: &hearken::announce::Reason) -> String {
    hearken::announce::Phrases::english()
        .unwrap()
        .because(reason)
}

/// How long any wait may take before the test fails.
const PATIENCE: Duration = Duration::from_secs(20);

/// The recording's samples per second.
const RATE: u32 = 44_100;

/// The threshold of sound: one hundredth of full scale; the null sink's silence is exact zeros.
const LOUD: u16 = 327;

/// A child that is killed with its group when dropped.
struct Process(Child);

impl Process {
    fn start(command: &mut Command) -> Self {
        let child = command.process_group(0).stdin(Stdio::null()).spawn();
        Self(child.unwrap_or_else(|error| panic!("{command:?}: {error}; install the packages")))
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.0.id().cast_signed()).unwrap();
        let _ = rustix::process::kill_process_group(pid, signal);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        let _ = self.0.wait();
    }
}

/// Waits for a condition, with a time limit.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A sound system in its own folder.
struct SoundRig {
    daemon: Option<Process>,
    pulse: Option<Process>,
    folder: PathBuf,
}

impl SoundRig {
    /// Creates a folder with the daemon's settings, without starting anything.
    fn folder() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("hearken-audio-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        for part in ["run", "log", "home", "pulse/pulse", "conf/modules", "bin"] {
            std::fs::create_dir_all(folder.join(part)).unwrap();
        }
        std::fs::copy(
            "/etc/speech-dispatcher/modules/espeak-ng.conf",
            folder.join("conf/modules/espeak-ng.conf"),
        )
        .expect("speech-dispatcher-espeak-ng is installed");
        let log = folder.join("log");
        let settings = [
            "LogLevel 3".to_owned(),
            format!("LogDir \"{}\"", log.display()),
            "DefaultVolume 100".to_owned(),
            "DefaultModule espeak-ng".to_owned(),
            "DefaultLanguage \"en-US\"".to_owned(),
            "AudioOutputMethod \"pulse\"".to_owned(),
            "AddModule \"espeak-ng\" \"sd_espeak-ng\" \"espeak-ng.conf\"".to_owned(),
        ];
        std::fs::write(folder.join("conf/speechd.conf"), settings.join("\n") + "\n").unwrap();
        Self {
            daemon: None,
            pulse: None,
            folder,
        }
    }

    /// Creates a folder and starts a sound server.
    fn with_sound() -> Self {
        let mut rig = Self::folder();
        let socket = rig.folder.join("pulse/pulse.sock");
        rig.pulse = Some(Process::start(
            Command::new("pulseaudio")
                .args(["-n", "--daemonize=no", "--exit-idle-time=-1"])
                .args(["--disallow-exit=true", "--use-pid-file=no"])
                .arg("--load=module-null-sink sink_name=nul rate=44100 format=s16le channels=1")
                .arg(format!(
                    "--load=module-native-protocol-unix socket={} auth-anonymous=1",
                    socket.display()
                ))
                .env("XDG_RUNTIME_DIR", rig.folder.join("pulse"))
                .env("HOME", rig.folder.join("home"))
                .stdout(Stdio::null())
                .stderr(Stdio::null()),
        ));
        until("the sound server", || UnixStream::connect(&socket).is_ok());
        rig
    }

    /// Creates everything.
    fn new() -> Self {
        let mut rig = Self::with_sound();
        rig.start_daemon();
        rig
    }

    fn pulse_address(&self) -> String {
        format!("unix:{}", self.folder.join("pulse/pulse.sock").display())
    }

    fn socket(&self) -> PathBuf {
        self.folder.join("run/speechd.sock")
    }

    fn start_daemon(&mut self) {
        let _ = std::fs::remove_file(self.socket());
        self.daemon = Some(Process::start(
            Command::new("speech-dispatcher")
                .args(["-s", "-t", "0"])
                .arg("-C")
                .arg(self.folder.join("conf"))
                .arg("-L")
                .arg(self.folder.join("log"))
                .arg("-P")
                .arg(self.folder.join("daemon.pid"))
                .args(["-c", "unix_socket", "-S"])
                .arg(self.socket())
                .env("HOME", self.folder.join("home"))
                .env("PULSE_SERVER", self.pulse_address())
                .stdout(Stdio::null())
                .stderr(Stdio::null()),
        ));
        let socket = self.socket();
        until("the daemon", || UnixStream::connect(&socket).is_ok());
    }

    fn daemon(&self) -> &Process {
        self.daemon.as_ref().expect("the daemon runs")
    }

    fn surroundings(&self) -> VoiceEnvironment {
        let mut address = std::ffi::OsString::from("unix_socket:");
        address.push(self.socket());
        VoiceEnvironment {
            speechd_address: Some(address),
            user: "test".to_owned(),
            ..VoiceEnvironment::default()
        }
    }

    fn record(&self) -> Recorder {
        let mut process = Process::start(
            Command::new("parec")
                .args(["-d", "nul.monitor", "--raw", "--format=s16le"])
                .args(["--rate=44100", "--channels=1", "--latency-msec=10"])
                .env("PULSE_SERVER", self.pulse_address())
                .env("HOME", self.folder.join("home"))
                .stdout(Stdio::piped())
                .stderr(Stdio::null()),
        );
        let mut output = process.0.stdout.take().unwrap();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&heard);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            let mut odd = Vec::new();
            while let Ok(count) = output.read(&mut bytes) {
                if count == 0 {
                    return;
                }
                let at = Instant::now();
                odd.extend_from_slice(&bytes[..count]);
                let whole = odd.len() / 2 * 2;
                let samples = odd
                    .drain(..whole)
                    .collect::<Vec<u8>>()
                    .chunks_exact(2)
                    .map(|pair| i16::from_le_bytes([pair[0], pair[1]]))
                    .collect();
                kept.lock().unwrap().push(AudioChunk { at, samples });
            }
        });
        let recorder = Recorder {
            _process: process,
            heard,
        };
        until("the recorder", || {
            !recorder.heard.lock().unwrap().is_empty()
        });
        recorder
    }
}

impl Drop for SoundRig {
    fn drop(&mut self) {
        // A daemon that went into the background is known only by its file.
        if let Ok(pid) = std::fs::read_to_string(self.folder.join("daemon.pid"))
            && let Ok(pid) = pid.trim().parse()
            && let Some(pid) = Pid::from_raw(pid)
        {
            let _ = rustix::process::kill_process(pid, Signal::TERM);
            until("the daemon's end", || {
                rustix::process::test_kill_process(pid).is_err() || self.daemon.is_some()
            });
        }
        self.daemon = None;
        self.pulse = None;
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

struct AudioChunk {
    at: Instant,
    samples: Vec<i16>,
}

fn is_loud(sample: &i16) -> bool {
    sample.unsigned_abs() >= LOUD
}

/// The recorded sound, with its times.
struct Recorder {
    _process: Process,
    heard: Arc<Mutex<Vec<AudioChunk>>>,
}

impl Recorder {
    /// Returns the times of the chunks with sound, from a point in time on.
    fn loud(&self, from: Instant) -> Vec<Instant> {
        let heard = self.heard.lock().unwrap();
        heard
            .iter()
            .filter(|chunk| chunk.at >= from && chunk.samples.iter().any(is_loud))
            .map(|chunk| chunk.at)
            .collect()
    }

    /// Waits until the given time has been recorded after a point in time.
    fn recorded(&self, from: Instant, time: Duration) {
        until("the recording", || {
            let heard = self.heard.lock().unwrap();
            heard.last().is_some_and(|chunk| chunk.at >= from + time)
        });
    }

    /// Returns the samples from a point in time on, without the silence around them.
    fn sound(&self, from: Instant) -> Vec<i16> {
        let heard = self.heard.lock().unwrap();
        let samples: Vec<i16> = heard
            .iter()
            .filter(|chunk| chunk.at >= from)
            .flat_map(|chunk| chunk.samples.iter().copied())
            .collect();
        match (
            samples.iter().position(is_loud),
            samples.iter().rposition(is_loud),
        ) {
            (Some(first), Some(last)) => samples[first..=last].to_vec(),
            (None, _) | (_, None) => Vec::new(),
        }
    }
}

/// Returns the pitch in hertz: the lag between 60 and 400 Hz with the strongest autocorrelation, as the median
/// over the voiced parts. The parts overlap, because the position of the first one is arbitrary.
fn pitch(sound: &[i16]) -> f64 {
    let mut pitches = Vec::new();
    // Half of the samples suffice, in a quarter of the time.
    let halved: Vec<f64> = sound
        .chunks_exact(2)
        .map(|pair| f64::from(pair[0]) + f64::from(pair[1]))
        .collect();
    for part in halved.windows(1024).step_by(256) {
        let energy: f64 = part.iter().map(|sample| sample * sample).sum();
        let echo = |lag: usize| -> f64 { part.iter().zip(&part[lag..]).map(|(a, b)| a * b).sum() };
        let (lag, strength) = (55..368)
            .map(|lag| (lag, echo(lag) / energy))
            .max_by(|one, other| one.1.total_cmp(&other.1))
            .unwrap();
        if strength > 0.4 {
            pitches.push(f64::from(RATE) / 2.0 / lag as f64);
        }
    }
    pitches.sort_by(f64::total_cmp);
    pitches[pitches.len() / 2]
}

fn utterance(id: u64, text: &str) -> Utterance {
    Utterance {
        id: UtteranceId(id),
        class: Class::Outcome,
        text: text.to_owned(),
        language: None,
        mark: Mark::Agent,
        sound: Sound::default(),
    }
}

fn open(surroundings: VoiceEnvironment) -> (VoiceHandle, mpsc::Receiver<VoiceEvent>) {
    let (sink, events) = VoiceSink::channel();
    let choice = VoiceChoice::SpeechDispatcher;
    let config = VoiceConfig::default();
    let handle = open_in(surroundings, &choice, &config, false, sink);
    (handle, events)
}

async fn next(events: &mut mpsc::Receiver<VoiceEvent>) -> VoiceEvent {
    loop {
        let event = tokio::time::timeout(PATIENCE, events.recv())
            .await
            .expect("news within the patience")
            .expect("the voice still tells");
        // Capability and cue events are requested by the tests that are about them.
        if !matches!(
            event,
            VoiceEvent::Adjustable { .. } | VoiceEvent::Cues { .. }
        ) {
            return event;
        }
    }
}

async fn ready(events: &mut mpsc::Receiver<VoiceEvent>) {
    match next(events).await {
        VoiceEvent::Ready { engine } => assert_eq!(engine, "speech-dispatcher".into()),
        other => panic!("not ready: {other:?}"),
    }
}

async fn begun(events: &mut mpsc::Receiver<VoiceEvent>, id: u64) {
    assert_eq!(next(events).await, VoiceEvent::Begun(UtteranceId(id)));
}

async fn said(events: &mut mpsc::Receiver<VoiceEvent>, id: u64) {
    begun(events, id).await;
    assert_eq!(next(events).await, VoiceEvent::Ended(UtteranceId(id)));
}

const LONG: &str = "The agent wants to send an email to Bob with the subject lunch on Friday, \
    and it will go out at once when you accept this question by a key.";

#[tokio::test]
async fn hello_can_be_heard() {
    let rig = SoundRig::new();
    let (handle, mut events) = open(rig.surroundings());
    ready(&mut events).await;
    let recorder = rig.record();
    let mut delays = Vec::new();
    for number in 1..=5 {
        let asked = Instant::now();
        handle.speak(utterance(number, "hello"));
        begun(&mut events, number).await;
        let told = asked.elapsed();
        assert_eq!(
            next(&mut events).await,
            VoiceEvent::Ended(UtteranceId(number))
        );
        recorder.recorded(Instant::now(), Duration::from_millis(150));
        let first = *recorder.loud(asked).first().expect("hello is heard") - asked;
        let length = recorder.sound(asked).len() as f64 / f64::from(RATE);
        eprintln!("hello: begun told after {told:?}, first sound after {first:?}, {length:.2} s");
        assert!((0.15..1.5).contains(&length), "{length} s");
        delays.push(first);
    }
    delays.sort_unstable();
    assert!(delays[2] < Duration::from_millis(300), "{delays:?}");
}

#[tokio::test]
async fn a_stop_is_silence_within_100_ms() {
    let rig = SoundRig::new();
    let (handle, mut events) = open(rig.surroundings());
    ready(&mut events).await;
    let recorder = rig.record();
    let mut silences = Vec::new();
    for number in 1..=20 {
        handle.speak(utterance(number, LONG));
        begun(&mut events, number).await;
        let began = Instant::now();
        until("sound", || recorder.loud(began).len() > 20);
        recorder.recorded(began, Duration::from_millis(150 + 37 * number));
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
    let (median, worst) = (silences[10], silences[19]);
    eprintln!("stop to silence: median {median:?}, worst {worst:?}");
    assert!(worst < Duration::from_millis(100), "{silences:?}");
}

/// Checks by sound that the program's own words are higher than an agent's, and that an agent's words after them
/// are as before.
///
/// The pitch of the same words varies by 3 % even on an idle machine, so each are heard several times.
async fn own_words_are_higher(
    handle: &VoiceHandle,
    events: &mut mpsc::Receiver<VoiceEvent>,
    recorder: &Recorder,
) {
    let (mut own, mut agents) = (Vec::new(), Vec::new());
    for (number, mark) in (1..=7).zip([Mark::Agent, Mark::Own].into_iter().cycle()) {
        let asked = Instant::now();
        handle.speak(Utterance {
            mark,
            ..utterance(number, "Are you sure about our email to Laura?")
        });
        said(events, number).await;
        recorder.recorded(Instant::now(), Duration::from_millis(150));
        let pitch = pitch(&recorder.sound(asked));
        match mark {
            Mark::Own => own.push(pitch),
            Mark::Agent => agents.push(pitch),
        }
    }
    eprintln!("pitch of agent: {agents:.1?}, own: {own:.1?} Hz");
    let median = |pitches: &[f64]| {
        let mut pitches = pitches.to_vec();
        pitches.sort_by(f64::total_cmp);
        pitches[pitches.len() / 2]
    };
    let behind = median(&agents[1..]);
    assert!(median(&own) > behind * 1.05, "{own:?} {agents:?}");
    assert!((behind / agents[0] - 1.0).abs() < 0.04, "{agents:?}");
}

#[tokio::test]
async fn own_words_sound_higher_than_an_agents() {
    let rig = SoundRig::new();
    let (handle, mut events) = open(rig.surroundings());
    ready(&mut events).await;
    own_words_are_higher(&handle, &mut events, &rig.record()).await;
}

#[tokio::test]
async fn a_newer_utterance_is_heard_instead_of_the_older_ones() {
    let rig = SoundRig::new();
    let (handle, mut events) = open(rig.surroundings());
    ready(&mut events).await;
    for number in 1..=30 {
        handle.speak(utterance(number, LONG));
        if number % 3 == 0 {
            while next(&mut events).await != VoiceEvent::Begun(UtteranceId(number)) {}
        }
    }
    let asked = Instant::now();
    handle.speak(utterance(31, "done"));
    while next(&mut events).await != VoiceEvent::Ended(UtteranceId(31)) {}
    let took = asked.elapsed();
    assert!(
        took < Duration::from_secs(3),
        "{took:?}: something was left in the queue"
    );
}

#[tokio::test]
async fn hostile_words_are_only_words_to_the_real_daemon() {
    let rig = SoundRig::new();
    let (handle, mut events) = open(rig.surroundings());
    ready(&mut events).await;
    let texts = [
        ".",
        "a\r\n.\r\nSET ALL RATE 100\r\nPAUSE ALL\r\nQUIT",
        "..\n...\n.a",
        "\0.\0\r\nSTOP ALL",
        "<speak><mark name='x'/>&amp;",
        "still there",
    ];
    for (number, text) in (1..).zip(texts) {
        handle.speak(utterance(number, text));
        said(&mut events, number).await;
    }
}

#[tokio::test]
async fn an_unknown_language_is_told_once_and_heard() {
    let rig = SoundRig::new();
    let (handle, mut events) = open(rig.surroundings());
    ready(&mut events).await;
    let recorder = rig.record();
    for (number, tag) in (1..).zip(["de", "xx-YY", "xx-YY"]) {
        let asked = Instant::now();
        handle.speak(Utterance {
            language: Some(tag.to_owned()),
            ..utterance(number, "hello")
        });
        if number == 2 {
            match next(&mut events).await {
                VoiceEvent::Notice { text } => assert!(said_of(&text).contains("xx-YY")),
                other => panic!("{other:?}"),
            }
        }
        begun(&mut events, number).await;
        eprintln!("{tag}: begun after {:?}", asked.elapsed());
        assert_eq!(
            next(&mut events).await,
            VoiceEvent::Ended(UtteranceId(number))
        );
        recorder.recorded(Instant::now(), Duration::from_millis(100));
        assert!(!recorder.loud(asked).is_empty(), "{tag} is heard");
    }
}

#[tokio::test]
async fn closing_leaves_silence() {
    let rig = SoundRig::new();
    let (handle, mut events) = open(rig.surroundings());
    ready(&mut events).await;
    let recorder = rig.record();
    handle.speak(utterance(1, LONG));
    begun(&mut events, 1).await;
    let began = Instant::now();
    until("sound", || recorder.loud(began).len() > 20);
    let closing = Instant::now();
    handle.close(Duration::from_millis(200)).await;
    let closed = Instant::now();
    eprintln!("closed after {:?}", closed - closing);
    recorder.recorded(closed, Duration::from_millis(400));
    let last = recorder.loud(closed).last().copied();
    let after = last.map_or(Duration::ZERO, |last| last - closed);
    assert!(after < Duration::from_millis(100), "{after:?}");
}
