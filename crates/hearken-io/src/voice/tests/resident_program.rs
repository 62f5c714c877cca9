//! A speech program that stays, with real processes.

use std::time::Instant;

use super::*;
use crate::voice::limits::Limits;

/// A program that speaks instantly. It keeps what it is sent in `log` and its number in `started`; `cases` adds what it
/// does with certain words.
fn stand_in(folder: &Folder, cases: &str) -> String {
    let script = format!(
        r#"cd {folder}
echo $$ >> started
while read -r line; do
  echo "$line" >> log
  rest=${{line#*:}}
  id=${{rest%%[,\}}]*}}
  case "$line" in
    {cases}
    '{{"say"'*) echo "{{\"begin\":$id}}"; echo "{{\"end\":$id}}" ;;
    '{{"stop"'*) echo "{{\"end\":$id}}" ;;
  esac
done"#,
        folder = folder.0.display()
    );
    folder.program("speaker", &script).display().to_string()
}

fn limits() -> Limits {
    Limits {
        load: Duration::from_secs(5),
        ..quick()
    }
}

fn open(program: &str, limits: Limits) -> (VoiceHandle, Ear) {
    let (sink, ear) = Ear::new();
    let handle = open_limited(
        VoiceEnvironment::default(),
        &VoiceChoice::Lasting(program.to_owned()),
        &VoiceConfig {
            own_pitch: 0,
            ..VoiceConfig::default()
        },
        false,
        sink,
        limits,
    );
    (handle, ear)
}

fn read(folder: &Folder, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(folder.path(name)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

async fn said(ear: &mut Ear, id: u64) {
    ear.expect(VoiceEvent::Begun(UtteranceId(id))).await;
    ear.expect(VoiceEvent::Ended(UtteranceId(id))).await;
}

async fn notice(ear: &mut Ear) -> String {
    match ear.next().await {
        VoiceEvent::Notice { text } => in_words(&text),
        other => panic!("no notice: {other:?}"),
    }
}

/// Waits until a process is gone.
async fn gone(pid: &str) {
    let end = Instant::now() + PATIENCE;
    let alive = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    };
    while alive() {
        assert!(Instant::now() < end, "process {pid} is still there");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn one_process_says_everything_and_learns_how() {
    let folder = Folder::new();
    let (handle, mut ear) = open(&stand_in(&folder, ""), limits());
    assert!(ear.ready().await.starts_with('/'));
    handle.speak(utterance(1, "one\ntwo [[x]] \"three\""));
    said(&mut ear, 1).await;
    handle.speak(Utterance {
        mark: Mark::Own,
        language: Some("de-DE".into()),
        sound: Sound {
            delivery: Delivery {
                rate: Some(20),
                voice: Some("anna".into()),
                ..Delivery::default()
            },
            ..Sound::default()
        },
        ..utterance(2, "vier")
    });
    said(&mut ear, 2).await;
    assert_eq!(
        read(&folder, "log"),
        [
            r#"{"say":1,"text":"one two [ [x]] \"three\"","mark":"agent","pitch":0}"#,
            r#"{"say":2,"text":"vier","mark":"own","pitch":0,"rate":20,"voice":"anna","language":"de-DE"}"#,
        ]
    );
    assert_eq!(read(&folder, "started").len(), 1);
    let pid = read(&folder, "started")[0].clone();
    handle.close(Duration::ZERO).await;
    gone(&pid).await;
}

#[tokio::test]
async fn a_stop_is_obeyed_by_the_same_process_before_anything_else_is_said() {
    let folder = Folder::new();
    let program = stand_in(&folder, r#"*endless*) echo "{\"begin\":$id}" ;;"#);
    let (handle, mut ear) = open(&program, limits());
    ear.ready().await;
    for id in [1, 3] {
        handle.speak(utterance(id, "endless"));
        ear.expect(VoiceEvent::Begun(UtteranceId(id))).await;
        handle.stop();
        ear.expect(VoiceEvent::Cut(UtteranceId(id))).await;
        handle.speak(utterance(id + 1, "next"));
        said(&mut ear, id + 1).await;
    }
    let orders: Vec<String> = (read(&folder, "log").iter())
        .map(|line| line.chars().take(9).collect())
        .collect();
    assert_eq!(
        orders,
        [
            "{\"say\":1,",
            "{\"stop\":1",
            "{\"say\":2,",
            "{\"say\":3,",
            "{\"stop\":3",
            "{\"say\":4,"
        ]
    );
    assert_eq!(read(&folder, "started").len(), 1);
}

#[tokio::test]
async fn a_program_that_does_not_stop_is_ended_with_its_children_and_started_again() {
    let folder = Folder::new();
    let program = stand_in(
        &folder,
        r#"*deaf*) echo "{\"begin\":$id}"; sleep 1000 & echo $! > child; wait ;;"#,
    );
    let (handle, mut ear) = open(&program, limits());
    ear.ready().await;
    handle.speak(utterance(1, "first"));
    said(&mut ear, 1).await;
    handle.speak(utterance(2, "deaf"));
    ear.expect(VoiceEvent::Begun(UtteranceId(2))).await;
    let end = Instant::now() + PATIENCE;
    while read(&folder, "child").is_empty() {
        assert!(Instant::now() < end, "the child starts");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let asked = Instant::now();
    handle.stop();
    ear.expect(VoiceEvent::Cut(UtteranceId(2))).await;
    handle.speak(utterance(3, "next"));
    let told = notice(&mut ear).await;
    assert!(
        told.ends_with("did not fall silent; hearken starts it again"),
        "{told}"
    );
    let child = read(&folder, "child")[0].clone();
    let alive = std::fs::read_to_string(format!("/proc/{child}/stat"));
    assert!(
        alive.is_ok_and(|stat| stat.contains(") Z "))
            || !std::path::Path::new(&format!("/proc/{child}")).exists()
    );
    eprintln!("stop to silence: {:?}", asked.elapsed());
    said(&mut ear, 3).await;
    assert_eq!(read(&folder, "started").len(), 2);
}

#[tokio::test]
async fn what_a_crash_cuts_is_said_again_by_the_next_process() {
    let folder = Folder::new();
    let program = stand_in(
        &folder,
        r#"*crash*) [ -e crashed ] || { : > crashed; echo "{\"begin\":$id}"; echo "no model" >&2; exit 3; }
           echo "{\"end\":$id}" ;;"#,
    );
    let (handle, mut ear) = open(&program, limits());
    ear.ready().await;
    handle.speak(utterance(1, "crash"));
    ear.expect(VoiceEvent::Begun(UtteranceId(1))).await;
    let told = notice(&mut ear).await;
    assert!(
        told.contains("ended with exit status: 3: no model; hearken"),
        "{told}"
    );
    said(&mut ear, 1).await;
    assert_eq!(read(&folder, "started").len(), 2);
}

#[tokio::test]
async fn a_program_that_always_crashes_is_lost_and_one_that_works_again_is_back() {
    let folder = Folder::new();
    let program = stand_in(
        &folder,
        "*say*) [ -e works ] || exit 1; echo \"{\\\"end\\\":$id}\" ;;",
    );
    let (handle, mut ear) = open(&program, limits());
    ear.ready().await;
    let mut told = Vec::new();
    for id in 1.. {
        assert!(id < 10, "{told:?}");
        handle.speak(utterance(id, "words"));
        loop {
            match ear.next().await {
                VoiceEvent::Cut(cut) if cut == UtteranceId(id) => break,
                other => told.push(other),
            }
        }
        if id == 3 {
            break;
        }
    }
    assert!(ear.lost().await.contains("failed 3 times in a row"));
    let notices = told
        .iter()
        .filter(|it| matches!(it, VoiceEvent::Notice { .. }));
    assert_eq!(notices.count(), 1, "{told:?}");
    std::fs::write(folder.path("works"), "").unwrap();
    for id in 4.. {
        assert!(id < 1000);
        handle.speak(utterance(id, "words"));
        match ear.next().await {
            VoiceEvent::Cut(_) => tokio::time::sleep(Duration::from_millis(1)).await,
            VoiceEvent::Recovered { .. } => break,
            VoiceEvent::Begun(_) | VoiceEvent::Notice { .. } => {}
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_program_that_hangs_is_ended_and_the_words_are_said_again() {
    let folder = Folder::new();
    let program = stand_in(
        &folder,
        r#"*hang*) [ -e hung ] || { : > hung; exec sleep 1000; }; echo "{\"end\":$id}" ;;"#,
    );
    let short = Limits {
        load: Duration::ZERO,
        end: Duration::from_millis(50),
        ..limits()
    };
    let (handle, mut ear) = open(&program, short);
    ear.ready().await;
    handle.speak(utterance(1, "hang"));
    let told = notice(&mut ear).await;
    assert!(
        told.ends_with("did not come to an end; hearken starts it again"),
        "{told}"
    );
    said(&mut ear, 1).await;
}

#[tokio::test]
async fn a_failure_that_is_reported_is_no_end_of_the_process() {
    let folder = Folder::new();
    let program = stand_in(
        &folder,
        r#"*bad*) echo "{\"failed\":$id,\"why\":\"no device\"}" ;;"#,
    );
    let (handle, mut ear) = open(&program, limits());
    ear.ready().await;
    for id in 1..=3 {
        handle.speak(utterance(id, "bad"));
        ear.expect(VoiceEvent::Cut(UtteranceId(id))).await;
    }
    assert!(ear.lost().await.ends_with("it reports: no device"));
    assert_eq!(read(&folder, "started").len(), 1);
}

#[tokio::test]
async fn output_that_means_nothing_is_told_once_and_changes_nothing() {
    let folder = Folder::new();
    let program = stand_in(
        &folder,
        r#"*noise*) echo "hello there"; echo "{\"end\":77}"; yes noise | head -n 20000; echo "{\"end\":$id}" ;;"#,
    );
    let (handle, mut ear) = open(&program, limits());
    ear.ready().await;
    handle.speak(utterance(1, "noise"));
    assert!(
        notice(&mut ear)
            .await
            .ends_with("does not understand: hello there")
    );
    said(&mut ear, 1).await;
}

#[tokio::test]
async fn a_program_that_is_not_there_is_told_in_words() {
    let (_handle, mut ear) = open("nowhere --fast", limits());
    assert!(
        ear.none()
            .await
            .contains("the program nowhere is not there")
    );
}
