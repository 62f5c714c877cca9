//! Short sounds before the program's own words, played by a separate program, for any engine's voice.
//!
//! Responsibilities: playing a cue to its end before the words begin, speaking words instead if it can't be played,
//! silence at a stop. Not here: which announcement has a cue (`announce`), the sounds themselves (`tone`).
//!
//! Mental model: a cue is a few tenths of a second of sound that is generated here and passed to a player, so no
//! agent's text can produce one, whatever the engine. The words wait for its end: spoken over it, their first syllable
//! would be lost. The tick of a working agent is the sound alone; its word is spoken only if it can't be played. A
//! player that fails [`FAILURES`] times in a row is given up, with one report.

use std::collections::VecDeque;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use super::{Voice, VoiceEvent, tone};
use crate::announce::{Cue, Reason, Utterance};
use crate::platform::processes::alone;

/// The time limit for a cue and its player's start; a busy sound server must not delay a question longer.
const LONGEST: Duration = Duration::from_millis(800);

/// The number of consecutive failures after which the player counts as unusable.
const FAILURES: u32 = 3;

/// The players to look for, the first found being used, with the arguments that make them play raw sound from their
/// standard input: PulseAudio's (also for PipeWire), ALSA's, PipeWire's own.
pub(super) const PLAYERS: [(&str, &[&str]); 3] = [
    (
        "pacat",
        &[
            "--playback",
            "--format=s16le",
            "--rate=44100",
            "--channels=1",
            "--latency-msec=20",
        ],
    ),
    (
        "aplay",
        &[
            "-q", "-t", "raw", "-f", "S16_LE", "-r", "44100", "-c", "1", "-",
        ],
    ),
    (
        "pw-cat",
        &[
            "--playback",
            "--raw",
            "--format=s16",
            "--rate=44100",
            "--channels=1",
            "-",
        ],
    ),
];

/// A program that plays sounds.
#[derive(Debug, Clone)]
pub(super) struct Player {
    /// The program.
    pub path: PathBuf,
    /// Its name, as shown to a person.
    pub name: &'static str,
    /// Its arguments.
    pub arguments: &'static [&'static str],
}

type CueSound = Pin<Box<dyn Future<Output = Result<(), Reason>>>>;

/// A cue that is being played, and the words after it.
struct PlayingCue {
    play: CueSound,
    cue: Cue,
    then: Utterance,
}

/// An engine's voice with cues before its words.
pub(super) struct VoiceWithCues<V> {
    voice: V,
    player: Option<Player>,
    playing: Option<PlayingCue>,
    news: VecDeque<VoiceEvent>,
    /// Whether the audibility of cues has been reported.
    told_heard: bool,
    failures: u32,
}

impl<V: Voice> VoiceWithCues<V> {
    /// Wraps a voice, with a player if there is one.
    pub(super) fn new(voice: V, player: Option<Player>) -> Self {
        Self {
            voice,
            player,
            playing: None,
            news: VecDeque::new(),
            told_heard: false,
            failures: 0,
        }
    }

    /// Continues after a cue: with its words, or with the end if there are none.
    fn played(&mut self, outcome: Result<(), Reason>) {
        let Some(PlayingCue { cue, then, .. }) = self.playing.take() else {
            return;
        };
        match outcome {
            Ok(()) => {
                self.failures = 0;
                if !std::mem::replace(&mut self.told_heard, true) {
                    self.news.push_back(VoiceEvent::Cues { heard: true });
                }
                if cue == Cue::Tick {
                    self.news.push_back(VoiceEvent::Begun(then.id));
                    return self.news.push_back(VoiceEvent::Ended(then.id));
                }
            }
            Err(how) => self.failed(how),
        }
        self.voice.speak(then);
    }

    fn failed(&mut self, how: Reason) {
        self.failures += 1;
        if self.failures >= FAILURES
            && let Some(player) = self.player.take()
        {
            if std::mem::take(&mut self.told_heard) {
                self.news.push_back(VoiceEvent::Cues { heard: false });
            }
            self.news.push_back(VoiceEvent::Notice {
                text: Reason::new("voice.cause.cues")
                    .with("name", player.name)
                    .because("how", how),
            });
        }
    }
}

impl<V: Voice> Voice for VoiceWithCues<V> {
    fn speak(&mut self, utterance: Utterance) {
        self.playing = None;
        match (&self.player, utterance.sound.cue) {
            (Some(player), Some(cue)) => {
                self.playing = Some(PlayingCue {
                    play: Box::pin(play(player.clone(), cue)),
                    cue,
                    then: utterance,
                });
            }
            (None, _) | (_, None) => self.voice.speak(utterance),
        }
    }

    fn stop(&mut self) {
        // Dropping the future that waits for the player kills the player.
        self.playing = None;
        self.voice.stop();
    }

    async fn news(&mut self) -> VoiceEvent {
        loop {
            if let Some(event) = self.news.pop_front() {
                return event;
            }
            let Some(playing) = &mut self.playing else {
                return self.voice.news().await;
            };
            tokio::select! {
                biased;
                outcome = &mut playing.play => self.played(outcome),
                event = self.voice.news() => return event,
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = ()> {
        self.playing = None;
        self.voice.close()
    }
}

/// Plays a cue to its end.
async fn play(player: Player, cue: Cue) -> Result<(), Reason> {
    let playing = async {
        let mut command = Command::new(&player.path);
        command
            .args(player.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        let mut child = alone(&mut command).spawn().map_err(|error| {
            Reason::new("voice.cause.how.not_started").because("why", Reason::of_system(&error))
        })?;
        if let Some(mut input) = child.stdin.take() {
            // A player that does not read its input reports the reason by its exit status.
            let _ = input.write_all(&tone::samples(cue)).await;
        }
        match child.wait().await {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(Reason::new("voice.cause.how.ended").with("status", status)),
            Err(error) => {
                let why = Reason::of_system(&error);
                Err(Reason::new("voice.cause.how.not_waited").because("why", why))
            }
        }
    };
    tokio::time::timeout(LONGEST, playing)
        .await
        .unwrap_or_else(|_| Err(Reason::new("voice.cause.how.endless")))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::announce::{Sound, UtteranceId};
    use crate::voice::tests::{Ear, Folder, PATIENCE, utterance};
    use crate::voice::{VoiceHandle, worker};

    /// A voice that speaks immediately and records its utterances.
    struct FakeVoice {
        said: std::sync::mpsc::Sender<String>,
        news: VecDeque<VoiceEvent>,
    }

    impl Voice for FakeVoice {
        fn speak(&mut self, utterance: Utterance) {
            self.said.send(utterance.text).unwrap();
            self.news.push_back(VoiceEvent::Begun(utterance.id));
            self.news.push_back(VoiceEvent::Ended(utterance.id));
        }
        fn stop(&mut self) {
            self.news.clear();
        }
        async fn news(&mut self) -> VoiceEvent {
            match self.news.pop_front() {
                Some(event) => event,
                None => std::future::pending().await,
            }
        }
        async fn close(&mut self) {}
    }

    struct CueStage {
        folder: Folder,
        handle: VoiceHandle,
        ear: Ear,
        said: std::sync::mpsc::Receiver<String>,
    }

    fn stage(script: &str) -> CueStage {
        let folder = Folder::new();
        let player = Player {
            path: folder.program("player", script),
            name: "player",
            arguments: &[],
        };
        let (sink, ear) = Ear::new();
        let (tell, said) = std::sync::mpsc::channel();
        let mailbox = worker::start(sink.clone(), move |desk| async move {
            let mouth = FakeVoice {
                said: tell,
                news: VecDeque::new(),
            };
            let voice = VoiceWithCues::new(mouth, Some(player));
            desk.serve(voice, crate::voice::limits::Limits::default())
                .await;
        });
        CueStage {
            folder,
            handle: VoiceHandle { mailbox, sink },
            ear,
            said,
        }
    }

    fn with(cue: Option<Cue>, id: u64, text: &str) -> Utterance {
        Utterance {
            sound: Sound {
                cue,
                ..Sound::default()
            },
            ..utterance(id, text)
        }
    }

    impl CueStage {
        async fn says(&mut self, cue: Option<Cue>, id: u64) {
            self.handle.speak(with(cue, id, "words"));
            self.ear.expect(VoiceEvent::Begun(UtteranceId(id))).await;
            self.ear.expect(VoiceEvent::Ended(UtteranceId(id))).await;
        }
    }

    #[tokio::test]
    async fn a_cue_is_played_whole_before_its_words_and_a_tick_without_any() {
        let mut stage = stage("cat > \"$0.heard.$$\"");
        stage.handle.speak(with(Some(Cue::Question), 1, "words"));
        stage.ear.expect(VoiceEvent::Cues { heard: true }).await;
        stage.ear.expect(VoiceEvent::Begun(UtteranceId(1))).await;
        stage.ear.expect(VoiceEvent::Ended(UtteranceId(1))).await;
        assert_eq!(stage.said.recv_timeout(PATIENCE).unwrap(), "words");
        stage.says(Some(Cue::Tick), 2).await;
        stage.says(None, 3).await;
        assert_eq!(stage.said.try_iter().count(), 1, "the tick has no words");
        let mut sizes: Vec<usize> = std::fs::read_dir(&stage.folder.0)
            .unwrap()
            .flatten()
            .filter(|file| file.file_name().to_string_lossy().contains("heard"))
            .map(|file| std::fs::read(file.path()).unwrap().len())
            .collect();
        sizes.sort_unstable();
        let mut wanted = [Cue::Tick, Cue::Question].map(|cue| tone::samples(cue).len());
        wanted.sort_unstable();
        assert_eq!(sizes, wanted);
    }

    #[tokio::test]
    async fn where_a_cue_fails_the_words_come_and_the_player_is_given_up() {
        let mut stage = stage("echo x >> \"$0.tried\"; exit 7");
        for id in 1..=5 {
            stage.handle.speak(with(Some(Cue::Tick), id, "working"));
            if id == 3 {
                match stage.ear.next().await {
                    VoiceEvent::Notice { text } => {
                        assert!(crate::voice::tests::in_words(&text).contains("player ended"));
                    }
                    other => panic!("{other:?}"),
                }
            }
            stage.ear.expect(VoiceEvent::Begun(UtteranceId(id))).await;
            stage.ear.expect(VoiceEvent::Ended(UtteranceId(id))).await;
        }
        assert_eq!(stage.said.try_iter().count(), 5, "every word was said");
        let tried = std::fs::read_to_string(stage.folder.path("player.tried")).unwrap();
        assert_eq!(tried.lines().count(), 3);
    }

    #[tokio::test]
    async fn a_stop_silences_a_cue_and_its_words_and_a_stuck_player_holds_nothing_up() {
        let mut stage = stage("echo $$ > \"$0.pid\"; exec sleep 1000");
        stage.handle.speak(with(Some(Cue::Error), 1, "never said"));
        let pid = stage.folder.path("player.pid");
        let end = std::time::Instant::now() + PATIENCE;
        let number = loop {
            let text = std::fs::read_to_string(&pid).unwrap_or_default();
            if text.ends_with('\n') {
                break text.trim().to_owned();
            }
            assert!(std::time::Instant::now() < end, "the player starts");
            tokio::time::sleep(Duration::from_millis(1)).await;
        };
        stage.handle.stop();
        stage.ear.expect(VoiceEvent::Cut(UtteranceId(1))).await;
        let alive = || {
            let stat = std::fs::read_to_string(format!("/proc/{number}/stat"));
            stat.is_ok_and(|stat| !stat.contains(") Z "))
        };
        while alive() {
            assert!(std::time::Instant::now() < end, "the player is killed");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(stage.said.try_iter().count(), 0);
        let asked = std::time::Instant::now();
        stage.says(Some(Cue::Question), 2).await;
        assert!(asked.elapsed() >= LONGEST, "the words waited for the limit");
        assert_eq!(stage.said.try_iter().count(), 1);
    }
}
