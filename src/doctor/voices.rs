//! The voices: which one a run would have, which others are available, and whether they sound.
//!
//! Responsibilities: opening each engine as a run does, having it speak a sentence, and reporting the
//! outcome in words. Not here: engines and their order (`voice`).

use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use super::finding_lines::{DoctorFinding, DoctorTopic, because, own};
use crate::announce::Sound as UtteranceSound;
use crate::announce::{Arg, Class, Mark, Phrases, Reason, Utterance, UtteranceId};
use crate::config::{VOICES, VoiceChoice, VoiceConfig};
use crate::link::Phrase;
use crate::voice::{self, OWN_VOICE, SPEAKS, VoiceEvent, VoiceSink};

/// The time limit for opening an engine: the most that the slowest one may take by its own limits, for the
/// start of a daemon, its list of voices and its silent test.
const OPENING: Duration = Duration::from_secs(25);

/// The time limit for the test sentence: four seconds at the slowest usual rate, after any words of a
/// screen reader.
const SENTENCE: Duration = Duration::from_secs(20);

/// The most notices reported for one engine.
const MOST_NOTICES: usize = 8;

/// The remedy if there is no engine at all.
const INSTALL: &str = "doctor.voice.install";
const OWN: &str = "doctor.voice.own";

/// The remedy if an engine is available but nothing is heard.
const SOUND: &str = "doctor.voice.sound";

/// The reasons of an engine that is available but has no sound device.
const NO_DEVICE: [&str; 2] = ["voice.cause.none.no_device", "voice.cause.how.no_device"];

/// The remedy if an engine is available but has no sound device.
const DEVICE: &str = "doctor.voice.device";

/// The outcome of the test sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sound {
    /// It was not requested.
    NotTried,
    /// The engine spoke it to its end.
    Said {
        /// The time from the order to the end.
        took: Duration,
    },
    /// It was not spoken.
    Failed {
        /// The reason.
        reason: Reason,
    },
}

/// The outcome of trying one engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VoiceTrial {
    /// It is available.
    There {
        /// Its display name.
        engine: Reason,
        /// What the person should know about it.
        notices: Vec<Reason>,
        /// Whether it sounds.
        sound: Sound,
    },
    /// It is not available.
    Missing {
        /// The reason.
        reason: Reason,
    },
}

/// The test sentence, in the person's words.
#[derive(Debug, Clone)]
pub struct Sentence(pub Phrases);

impl Sentence {
    fn text(&self, engine: &Reason) -> String {
        let engine = Arg::Own(self.0.because(engine));
        self.0.text("doctor.test", &[("engine", engine)])
    }
}

/// Examines the voices one after the other and passes on each finding as soon as it is made.
pub async fn look(
    config: &VoiceConfig,
    reader: bool,
    sentence: Option<&Sentence>,
    tell: &mut (dyn FnMut(DoctorFinding) + Send),
) {
    // While a screen reader speaks, our sentence would be a second voice.
    let quiet = reader && config.engine == VoiceChoice::Auto;
    let sentence = sentence.filter(|_| !quiet);
    let chosen = attempt(&config.engine, config, reader, sentence).await;
    for finding in of_the_chosen(&config.engine, reader, &chosen) {
        tell(finding);
    }
    let mut espeak = false;
    for voice in VOICES.iter().filter(|voice| voice::can_be_here(voice)) {
        let (name, Some(engine)) = (voice.name(), voice.engine()) else {
            continue;
        };
        if taken(&chosen, &config.engine, name, &engine) {
            espeak |= name == "espeak-ng";
            continue;
        }
        // On most machines, one is just another name for the other.
        if name == "espeak" && espeak {
            continue;
        }
        // The chosen one has spoken; the others would only repeat it.
        let tried = attempt(&engine, config, false, None).await;
        espeak |= name == "espeak-ng" && matches!(tried, VoiceTrial::There { .. });
        tell(of_another(name, &tried));
    }
    if sentence.is_none() && config.engine != VoiceChoice::None {
        let why = if quiet {
            "doctor.voice.untried.reader"
        } else {
            "doctor.voice.untried"
        };
        tell(DoctorFinding::fine(DoctorTopic::Voice, why));
    }
}

/// Returns whether the chosen voice was this engine, found or missing.
fn taken(chosen: &VoiceTrial, choice: &VoiceChoice, name: &str, engine: &VoiceChoice) -> bool {
    let found = match chosen {
        VoiceTrial::There { engine, .. } => {
            *engine == Reason::said(name)
                || *engine == Reason::new("voice.engine.program").with("name", name)
        }
        VoiceTrial::Missing { .. } => false,
    };
    found || choice == engine
}

/// Returns the findings about the voice that a run would have.
fn of_the_chosen(choice: &VoiceChoice, reader: bool, tried: &VoiceTrial) -> Vec<DoctorFinding> {
    let (engine, notices, sound) = match tried {
        VoiceTrial::There {
            engine,
            notices,
            sound,
        } => (engine, notices, sound),
        VoiceTrial::Missing { reason } => return vec![of_none(choice, reader, reason)],
    };
    let say = |key| Phrase::new(key).with("engine", because(engine));
    let mut found = vec![match sound {
        Sound::NotTried => DoctorFinding::fine(DoctorTopic::Voice, say("doctor.voice.there")),
        Sound::Said { took } => DoctorFinding::fine(
            DoctorTopic::Voice,
            say("doctor.voice.said").with("n", own(format!("{:.1}", took.as_secs_f64()))),
        ),
        Sound::Failed { reason } => DoctorFinding::broken(
            DoctorTopic::Voice,
            say("doctor.voice.failed").with("reason", because(reason)),
            SOUND,
        ),
    }];
    for notice in notices {
        found.push(DoctorFinding::weak(
            DoctorTopic::Voice,
            Phrase::new("fault.other").with("reason", because(notice)),
            "doctor.voice.notice.remedy",
        ));
    }
    found
}

fn of_none(choice: &VoiceChoice, reader: bool, reason: &Reason) -> DoctorFinding {
    let says = |key| Phrase::new(key).with("reason", because(reason));
    if choice.is_engine() {
        let says = says("doctor.voice.unusable");
        DoctorFinding::broken(DoctorTopic::Voice, says, remedy(reason))
    } else if *choice == VoiceChoice::None {
        DoctorFinding::fine(DoctorTopic::Voice, "doctor.voice.unwanted")
    } else if reader {
        let says = Phrase::new("doctor.voice.reader").with("voice", own(OWN_VOICE));
        DoctorFinding::fine(DoctorTopic::Voice, says)
    } else {
        let says = says("doctor.voice.none");
        DoctorFinding::weak(DoctorTopic::Voice, says, remedy(reason))
    }
}

/// Returns the remedy if no voice can be used: an engine that merely lacks a sound device need not be
/// installed.
fn remedy(reason: &Reason) -> &'static str {
    if NO_DEVICE.iter().any(|key| reason.comes_of(key)) {
        DEVICE
    } else if SPEAKS {
        OWN
    } else {
        INSTALL
    }
}

/// Returns the finding about an engine that was not chosen.
fn of_another(name: &str, tried: &VoiceTrial) -> DoctorFinding {
    let text = match tried {
        VoiceTrial::There { .. } => {
            Phrase::new("doctor.voice.other").with("flag", own(format!("--voice {name}")))
        }
        VoiceTrial::Missing { reason } => {
            Phrase::new("doctor.voice.missing").with("reason", because(reason))
        }
    };
    DoctorFinding::fine(DoctorTopic::Voice, text.with("name", own(name)))
}

/// Opens an engine, has it speak the sentence, and closes it.
async fn attempt(
    choice: &VoiceChoice,
    config: &VoiceConfig,
    reader: bool,
    sentence: Option<&Sentence>,
) -> VoiceTrial {
    let (sink, mut news) = VoiceSink::channel();
    let handle = voice::open(choice, config, reader, sink);
    let mut notices = Vec::new();
    let opened = tokio::time::timeout(OPENING, ready(&mut news, &mut notices)).await;
    let tried = match opened {
        Err(_) => VoiceTrial::Missing {
            reason: Reason::new("doctor.voice.cause.slow").with("n", OPENING.as_secs()),
        },
        Ok(Err(reason)) => VoiceTrial::Missing { reason },
        Ok(Ok(engine)) => {
            let sound = match sentence {
                None => Sound::NotTried,
                Some(sentence) => {
                    let began = Instant::now();
                    handle.speak(Utterance {
                        id: UtteranceId(1),
                        class: Class::Response,
                        text: sentence.text(&engine),
                        language: sentence.0.voice_language().map(str::to_owned),
                        mark: Mark::Own,
                        sound: UtteranceSound::default(),
                    });
                    match tokio::time::timeout(SENTENCE, said(&mut news, &mut notices)).await {
                        Ok(Ok(())) => Sound::Said {
                            took: began.elapsed(),
                        },
                        Ok(Err(reason)) => Sound::Failed { reason },
                        Err(_) => Sound::Failed {
                            reason: Reason::new("doctor.voice.cause.endless")
                                .with("n", SENTENCE.as_secs()),
                        },
                    }
                }
            };
            VoiceTrial::There {
                engine,
                notices,
                sound,
            }
        }
    };
    handle.close(Duration::ZERO).await;
    tried
}

/// Waits for the engine's name, or for the reason that there is none.
async fn ready(
    news: &mut mpsc::Receiver<VoiceEvent>,
    notices: &mut Vec<Reason>,
) -> Result<Reason, Reason> {
    loop {
        match news.recv().await {
            Some(VoiceEvent::Ready { engine } | VoiceEvent::Recovered { engine }) => {
                return Ok(engine);
            }
            Some(VoiceEvent::None { reason, .. } | VoiceEvent::Lost { reason }) => {
                return Err(reason);
            }
            Some(VoiceEvent::Notice { text }) => keep(notices, text),
            Some(
                VoiceEvent::Begun(_)
                | VoiceEvent::Ended(_)
                | VoiceEvent::Cut(_)
                | VoiceEvent::Adjustable { .. }
                | VoiceEvent::Cues { .. },
            ) => {}
            None => return Err(Reason::new("doctor.voice.cause.gone")),
        }
    }
}

/// Waits for the sentence's end, or for the reason that it has none.
///
/// A cut alone carries no reason; the loss that explains it follows immediately.
async fn said(
    news: &mut mpsc::Receiver<VoiceEvent>,
    notices: &mut Vec<Reason>,
) -> Result<(), Reason> {
    const REASON: Duration = Duration::from_millis(500);
    let mut cut = false;
    loop {
        let event = if cut {
            match tokio::time::timeout(REASON, news.recv()).await {
                Ok(event) => event,
                Err(_) => return Err(Reason::new("doctor.voice.cause.cut")),
            }
        } else {
            news.recv().await
        };
        match event {
            Some(VoiceEvent::Ended(_)) => return Ok(()),
            Some(VoiceEvent::Cut(_)) => cut = true,
            Some(VoiceEvent::None { reason, .. } | VoiceEvent::Lost { reason }) => {
                return Err(reason);
            }
            Some(VoiceEvent::Notice { text }) => keep(notices, text),
            Some(
                VoiceEvent::Begun(_)
                | VoiceEvent::Ready { .. }
                | VoiceEvent::Recovered { .. }
                | VoiceEvent::Adjustable { .. }
                | VoiceEvent::Cues { .. },
            ) => {}
            None => return Err(Reason::new("doctor.voice.cause.gone")),
        }
    }
}

fn keep(notices: &mut Vec<Reason>, text: Reason) {
    if notices.len() < MOST_NOTICES {
        notices.push(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding_lines::Grade;

    fn there(sound: Sound) -> VoiceTrial {
        VoiceTrial::There {
            engine: "speech-dispatcher".into(),
            notices: Vec::new(),
            sound,
        }
    }

    fn missing() -> VoiceTrial {
        VoiceTrial::Missing {
            reason: Reason::new("voice.cause.daemon.not_installed"),
        }
    }

    #[test]
    fn where_only_the_sound_device_is_missing_nothing_is_to_be_installed() {
        let words = crate::announce::Phrases::english().unwrap();
        let mute = Reason::new("voice.cause.daemon.mute");
        let reason = Reason::new("voice.cause.none.no_device")
            .because("why", mute)
            .with("name", "espeak-ng");
        for choice in [VoiceChoice::Auto, VoiceChoice::Command("espeak-ng".into())] {
            let line = of_none(&choice, false, &reason).line(&words);
            assert!(
                line.contains("Connect or switch on a sound device"),
                "{line}"
            );
            assert!(!line.contains("nstall"), "{line}");
            let line = of_none(&choice, false, &Reason::said("it is not there")).line(&words);
            let help = if SPEAKS {
                "See that the system's own speech works"
            } else {
                "Install speech-dispatcher"
            };
            assert!(line.contains(help), "{line}");
        }
    }

    #[test]
    fn a_voice_that_sounds_is_fine_and_one_that_does_not_is_a_problem() {
        let took = Duration::from_millis(2345);
        let fine = of_the_chosen(&VoiceChoice::Auto, false, &there(Sound::Said { took }));
        assert_eq!(
            fine[0].line(&crate::announce::Phrases::english().unwrap()),
            "Voice: speech-dispatcher would speak; it said a test sentence in 2.3 seconds.\n"
        );
        let failed = Sound::Failed {
            reason: Reason::new("doctor.voice.cause.cut"),
        };
        let mute = of_the_chosen(&VoiceChoice::Auto, false, &there(failed));
        assert!(matches!(mute[0].grade, Grade::Broken { .. }), "{mute:?}");
    }

    #[test]
    fn no_voice_is_a_problem_only_for_who_asked_for_one() {
        let command = VoiceChoice::Command("robot".to_owned());
        for (choice, reader, weak, broken) in [
            (VoiceChoice::Auto, false, 1, 0),
            (VoiceChoice::Auto, true, 0, 0),
            (VoiceChoice::None, false, 0, 0),
            (VoiceChoice::SpeechDispatcher, false, 0, 1),
            (VoiceChoice::System, true, 0, 1),
            (command, false, 0, 1),
        ] {
            let mut tally = crate::doctor::finding_lines::Tally::default();
            for finding in of_the_chosen(&choice, reader, &missing()) {
                tally.count(&finding);
            }
            assert_eq!((tally.weak, tally.broken), (weak, broken), "{choice:?}");
        }
    }

    #[test]
    fn the_chosen_engine_is_not_told_twice() {
        let is_taken = |chosen: &VoiceTrial, choice: VoiceChoice, name: &str| {
            taken(chosen, &choice, name, &name.parse().unwrap())
        };
        let chosen = there(Sound::NotTried);
        assert!(is_taken(&chosen, VoiceChoice::Auto, "speech-dispatcher"));
        assert!(!is_taken(&chosen, VoiceChoice::Auto, "espeak-ng"));
        let program = VoiceTrial::There {
            engine: Reason::new("voice.engine.program").with("name", "espeak-ng"),
            notices: Vec::new(),
            sound: Sound::NotTried,
        };
        assert!(is_taken(&program, VoiceChoice::Auto, "espeak-ng"));
        assert!(is_taken(&missing(), VoiceChoice::System, "system"));
    }

    /// Uses programs that every Unix has.
    #[cfg(unix)]
    #[tokio::test]
    async fn a_program_that_speaks_is_tried_and_one_that_fails_is_named() {
        let config = VoiceConfig::default();
        let sentence = Sentence(Phrases::english().unwrap());
        let choice = VoiceChoice::Command("cat".to_owned());
        let tried = attempt(&choice, &config, false, Some(&sentence)).await;
        let VoiceTrial::There { engine, sound, .. } = tried else {
            panic!("{tried:?}");
        };
        assert_eq!(
            engine,
            Reason::new("voice.engine.program").with("name", "cat")
        );
        assert!(matches!(sound, Sound::Said { .. }), "{sound:?}");
        let choice = VoiceChoice::Command("false".to_owned());
        let tried = attempt(&choice, &config, false, Some(&sentence)).await;
        assert!(
            matches!(
                tried,
                VoiceTrial::There {
                    sound: Sound::Failed { .. },
                    ..
                }
            ),
            "{tried:?}"
        );
        let choice = VoiceChoice::Command("/nonexistent/robot".to_owned());
        let tried = attempt(&choice, &config, false, Some(&sentence)).await;
        assert!(matches!(tried, VoiceTrial::Missing { .. }), "{tried:?}");
    }
}
