//! The program's side with scripted children.

use std::path::PathBuf;
use std::time::Duration;

use rustix::process::{Pid, Signal};

use super::super::child_messages::{ChildOrder, MessageParser};
use super::super::*;
use crate::announce::{Mark, Sound, UtteranceId};
use crate::config::Delivery;
use crate::voice::tests::{Ear, Folder, PATIENCE, quick, utterance};
use crate::voice::worker;
use crate::voice::{MissingVoice, VoiceHandle, VoiceSink};

/// The beginning of a child script: it reports ready, and can find the number of an order's words.
const READY: &str = r#"
echo "$$" >> "$0.pids"
echo '{"told":"ready","engine":{"called":"a scripted engine"}}'
id() { id=${line#*\"id\":}; id=${id%%[,\}]*}; }
"#;

/// A child that speaks every text until it is stopped, or finishes immediately if the text contains "short".
const POLITE: &str = r#"
while read -r line; do
  echo "$line" >> "$0.orders"
  case $line in
    *'"order":"speak"'*) id
      echo "{\"told\":\"taken\",\"id\":$id}"
      echo "{\"told\":\"begun\",\"id\":$id}"
      case $line in *short*) echo "{\"told\":\"ended\",\"id\":$id}";; esac;;
    *'"order":"stop"'*) echo '{"told":"silent"}';;
  esac
done
"#;

struct OrderStage {
    folder: Folder,
    handle: VoiceHandle,
    ear: Ear,
}

fn limits() -> Limits {
    Limits {
        end: Duration::ZERO,
        ..quick()
    }
}

/// Starts a voice whose child is a script; the child's first report is the first news.
fn open(script: &str, limits: Limits) -> OrderStage {
    let folder = Folder::new();
    let program = folder.program("child", &format!("{READY}{script}"));
    let (sink, ear) = Ear::new();
    let handle = start(program, sink, limits);
    OrderStage {
        folder,
        handle,
        ear,
    }
}

fn start(program: PathBuf, sink: VoiceSink, limits: Limits) -> VoiceHandle {
    start_by(SpeechMeans::System, program, sink, limits)
}

fn start_by(by: SpeechMeans, program: PathBuf, sink: VoiceSink, limits: Limits) -> VoiceHandle {
    let place = ChildProgram {
        program,
        by,
        arguments: Vec::new(),
        environment: Vec::new(),
        daemon: None,
    };
    let mailbox = worker::start(sink.clone(), move |mut desk| async move {
        match desk.until(SystemVoice::open(place, 20, limits)).await {
            Some(Ok(voice)) => {
                let engine = voice.engine();
                desk.tell(VoiceEvent::Ready { engine });
                desk.serve(voice, limits).await;
            }
            Some(Err(fault)) => desk.tell(VoiceEvent::None {
                reason: fault.reason(by),
                telling: MissingVoice::default(),
            }),
            None => {}
        }
    });
    VoiceHandle { mailbox, sink }
}

impl OrderStage {
    fn lines(&self, of: &str) -> Vec<String> {
        let path = self.folder.path(&format!("child.{of}"));
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Returns the children that were started, in order.
    fn children(&self) -> Vec<Pid> {
        let pid = |line: &String| Pid::from_raw(line.parse().unwrap()).unwrap();
        self.lines("pids").iter().map(pid).collect()
    }

    fn signal(&self, signal: Signal) {
        rustix::process::kill_process(*self.children().last().unwrap(), signal).unwrap();
    }

    async fn begun(&mut self, id: u64) {
        self.ear.expect(VoiceEvent::Begun(UtteranceId(id))).await;
    }

    async fn cut(&mut self, id: u64) {
        self.ear.expect(VoiceEvent::Cut(UtteranceId(id))).await;
    }

    async fn says(&mut self, id: u64) {
        self.handle.speak(utterance(id, "short"));
        self.begun(id).await;
        self.ear.expect(VoiceEvent::Ended(UtteranceId(id))).await;
    }

    async fn recovered(&mut self) {
        let engine = "a scripted engine".into();
        self.ear.expect(VoiceEvent::Recovered { engine }).await;
    }
}

/// Waits until no such process is running; a zombie counts as gone.
async fn gone(pid: Pid) {
    let runs = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    };
    let end = Instant::now() + PATIENCE;
    while runs() {
        assert!(Instant::now() < end, "the child still runs");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test]
async fn words_go_to_the_child_with_all_that_the_person_set() {
    let mut stage = open(POLITE, limits());
    assert_eq!(stage.ear.ready().await, "a scripted engine");
    stage.handle.speak(Utterance {
        language: Some("de".into()),
        mark: Mark::Own,
        sound: Sound {
            delivery: Delivery {
                rate: Some(30),
                voice: Some("Ida".into()),
                ..Delivery::default()
            },
            usual_pitch: Some(-5),
            cue: None,
        },
        ..utterance(1, "a short\0one\r\n\u{1b}[2J")
    });
    stage.begun(1).await;
    stage.ear.expect(VoiceEvent::Ended(UtteranceId(1))).await;
    let mut lines = MessageParser::default();
    lines.feed(format!("{}\n", stage.lines("orders")[0]).as_bytes());
    let Some(ChildOrder::Speak(words)) = lines.next().unwrap() else {
        panic!("no words");
    };
    assert!(!words.text.chars().any(char::is_control), "{words:?}");
    assert!(words.text.starts_with("a short"), "{words:?}");
    assert_eq!(words.language.as_deref(), Some("de"));
    assert_eq!((words.own, words.own_pitch), (true, 20));
    assert_eq!(
        (words.usual_pitch, words.delivery.rate),
        (Some(-5), Some(30))
    );
    assert_eq!(words.delivery.voice.as_deref(), Some("Ida"));
}

#[tokio::test]
async fn what_has_no_words_never_reaches_the_child() {
    let folder = Folder::new();
    let program = folder.program("child", &format!("{READY}{POLITE}"));
    let place = ChildProgram {
        program,
        by: SpeechMeans::System,
        arguments: Vec::new(),
        environment: Vec::new(),
        daemon: None,
    };
    let mut voice = SystemVoice::open(place, 20, limits()).await.unwrap();
    for (id, text) in ["", "\0", " \u{1b}\u{7f}\r\n"].into_iter().enumerate() {
        voice.speak(utterance(id as u64, text));
        assert_eq!(
            voice.news().await,
            VoiceEvent::Ended(UtteranceId(id as u64))
        );
    }
    voice.speak(utterance(9, "short"));
    assert_eq!(voice.news().await, VoiceEvent::Begun(UtteranceId(9)));
    let orders = std::fs::read_to_string(folder.path("child.orders")).unwrap();
    assert_eq!(orders.lines().count(), 1, "{orders}");
    voice.close().await;
}

#[tokio::test]
async fn a_stop_goes_out_at_once_and_the_next_words_follow_it() {
    let mut stage = open(POLITE, limits());
    stage.ear.ready().await;
    stage.handle.speak(utterance(1, "long"));
    stage.begun(1).await;
    stage.handle.stop();
    stage.cut(1).await;
    stage.says(2).await;
    let orders = stage.lines("orders");
    assert!(orders[1].contains("stop"), "{orders:?}");
    assert_eq!(stage.children().len(), 1, "the same child all along");
}

#[tokio::test]
async fn a_killed_child_is_told_once_and_comes_back() {
    let mut stage = open(POLITE, limits());
    stage.ear.ready().await;
    for round in 0..3 {
        stage.handle.speak(utterance(round * 2, "long"));
        stage.begun(round * 2).await;
        stage.signal(Signal::KILL);
        stage.cut(round * 2).await;
        assert_eq!(
            stage.ear.lost().await,
            "the system's speech ended by itself"
        );
        stage.recovered().await;
        stage.says(round * 2 + 1).await;
    }
    assert_eq!(stage.children().len(), 4);
}

#[tokio::test]
async fn a_child_that_stands_still_is_killed_and_started_again() {
    let mut stage = open(POLITE, limits());
    stage.ear.ready().await;
    stage.says(1).await;
    let frozen = stage.children()[0];
    stage.signal(Signal::STOP);
    let asked = Instant::now();
    stage.handle.speak(utterance(2, "long"));
    stage.cut(2).await;
    assert_eq!(
        stage.ear.lost().await,
        "the system's speech does not answer"
    );
    assert!(asked.elapsed() >= limits().call);
    stage.recovered().await;
    gone(frozen).await;
    stage.says(3).await;

    // In the middle of words it is the stop that is not obeyed.
    stage.handle.speak(utterance(4, "long"));
    stage.begun(4).await;
    stage.signal(Signal::STOP);
    stage.handle.stop();
    stage.cut(4).await;
    assert_eq!(
        stage.ear.lost().await,
        "the system's speech does not answer"
    );
    stage.recovered().await;
    stage.says(5).await;
}

#[tokio::test]
async fn a_successor_waits_for_words_that_a_killed_child_left_sounding() {
    // The second child accepts words and begins them later than a free engine would.
    let script = format!(
        r#"
if [ -e "$0.second" ]; then
  while read -r line; do id
    echo "{{\"told\":\"taken\",\"id\":$id}}"; sleep 1.6
    echo "{{\"told\":\"begun\",\"id\":$id}}"; echo "{{\"told\":\"ended\",\"id\":$id}}"
  done
fi
: > "$0.second"
{POLITE}"#
    );
    let limits = Limits {
        end: Duration::from_secs(3),
        ..limits()
    };
    let mut stage = open(&script, limits);
    stage.ear.ready().await;
    stage.handle.speak(utterance(1, "long"));
    stage.begun(1).await;
    stage.signal(Signal::KILL);
    stage.cut(1).await;
    stage.ear.lost().await;
    stage.recovered().await;
    assert!(limits.begin < Duration::from_millis(1600));
    stage.says(2).await;
}

#[tokio::test]
async fn every_way_to_be_no_voice_is_told_in_words() {
    for (script, reason) in [
        (
            r#"read -r line; id; echo "nonsense"; read -r line"#,
            "the system's speech sends something that is not an answer",
        ),
        (
            r#"read -r line; id; echo "{\"told\":\"taken\",\"id\":$id}"; read -r line; read -r line"#,
            "the system's speech takes the words but never begins to speak",
        ),
        (
            r#"read -r line; id; echo "{\"told\":\"begun\",\"id\":$id}"; read -r line; read -r line"#,
            "the system's speech began to speak and got stuck",
        ),
        (
            r#"read -r line; echo '{"told":"failed","why":{"failed":"the engine broke"}}'; read -r line"#,
            "the system's speech failed: the engine broke",
        ),
        (
            "read -r line; exec yes",
            "the system's speech sends something that is not an answer",
        ),
        (
            "read -r line; exec tr '\\0' x < /dev/zero",
            "the system's speech sends something that is not an answer",
        ),
    ] {
        let mut stage = open(script, limits());
        stage.ear.ready().await;
        stage.handle.speak(utterance(1, "."));
        let told = loop {
            match stage.ear.next().await {
                VoiceEvent::Lost { reason } => break crate::voice::tests::in_words(&reason),
                VoiceEvent::Begun(_) | VoiceEvent::Cut(_) => {}
                other => panic!("{script}: {other:?}"),
            }
        };
        assert_eq!(told, reason, "{script}");
        let child = stage.children()[0];
        stage.recovered().await;
        gone(child).await;
    }
}

#[tokio::test]
async fn a_child_that_never_gets_ready_is_no_voice() {
    for (script, reason) in [
        ("read -r line", "the system's speech does not answer"),
        ("exit 3", "the system's speech ended by itself"),
        (
            r#"echo '{"told":"failed","why":"not_reopened"}'"#,
            "the system's speech could not be opened again",
        ),
    ] {
        let folder = Folder::new();
        let (sink, mut ear) = Ear::new();
        let quick = Limits {
            spawn: Duration::from_millis(300),
            ..limits()
        };
        let _handle = start(folder.program("child", script), sink, quick);
        assert_eq!(ear.none().await, reason, "{script}");
    }
    let (sink, mut ear) = Ear::new();
    let _handle = start("/nowhere/child".into(), sink, limits());
    let reason = ear.none().await;
    assert!(reason.contains("can't be started"), "{reason}");
}

#[tokio::test]
async fn who_speaks_by_nvda_is_told_of_nvda_and_not_of_the_systems_speech() {
    let folder = Folder::new();
    let (sink, mut ear) = Ear::new();
    let _handle = start_by(
        SpeechMeans::Nvda,
        folder.program("child", "exit 3"),
        sink,
        limits(),
    );
    assert_eq!(
        ear.none().await,
        "the program that speaks by NVDA ended by itself"
    );
    let (sink, mut ear) = Ear::new();
    let garbage = format!("{READY}read -r line; echo nonsense; read -r line");
    let handle = start_by(
        SpeechMeans::Nvda,
        folder.program("other", &garbage),
        sink,
        limits(),
    );
    ear.ready().await;
    handle.speak(utterance(1, "."));
    let reason = loop {
        match ear.next().await {
            VoiceEvent::Lost { reason } => break reason,
            VoiceEvent::Begun(_) | VoiceEvent::Cut(_) => {}
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        crate::voice::tests::in_words(&reason),
        "the program that speaks by NVDA sends something that is not an answer"
    );
}

#[tokio::test]
async fn nothing_outlives_the_voice() {
    // One that ends with its orders, one that does not, and one with a child of its own.
    for script in [
        POLITE,
        "while :; do read -r line || sleep 1000; done",
        "sleep 1000 & echo $! >> \"$0.pids\"; while :; do read -r line || sleep 1000; done",
    ] {
        let stage = open(script, limits());
        let OrderStage {
            folder,
            handle,
            mut ear,
        } = stage;
        ear.ready().await;
        handle.speak(utterance(1, "long"));
        handle.close(Duration::ZERO).await;
        let pids = std::fs::read_to_string(folder.path("child.pids")).unwrap();
        for pid in pids.lines() {
            gone(Pid::from_raw(pid.parse().unwrap()).unwrap()).await;
        }
    }
}
