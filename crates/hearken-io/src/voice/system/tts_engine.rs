//! The platform's own speech through the crate `tts`, as an engine of the child.
//!
//! Responsibilities: its scales, its voices, and avoiding its known faults where that is possible. Not here: the faults
//! that can't be avoided (the parent kills and restarts).
//!
//! Known about tts 0.26.3 on Linux, from reading and measuring: an empty text makes the next call hang and a NUL
//! poisons it (neither gets here); a text of one byte sets punctuation to "none" for all that follows (it gets a
//! space); a second instance before the first is dropped aborts (there is one at a time); the list of voices takes more
//! than a second (it is read once, and only if one is wanted); there is no way back to the person's own voice (the
//! instance is recreated). Every text has the priority "important", so it is not used beside a screen reader
//! (`engine_choice`).

use std::sync::mpsc::Sender;

use tts::{Tts, UtteranceId, Voice};

use super::child_messages::{ChildReport, Name, SpeechNotice, SpokenWords, Why};
use super::speech_child::{ChildNews, EndDetection, Engine, SpeechEvent};
use crate::announce::{Mark, Sound};
use crate::voice::pitch;
use crate::voice::voice_languages::covers;

/// The most notices given one by one, such as languages without a voice: an agent could invent more.
const MOST_TOLD: usize = 16;

/// Values on the engine's own scales.
#[derive(Debug, Clone, Copy, PartialEq)]
struct EngineValues {
    rate: f32,
    pitch: f32,
    volume: f32,
}

/// An engine that speaks through the platform.
pub(super) struct Platform {
    tts: Option<Tts>,
    items: Sender<ChildNews<String>>,
    /// The engine's own settings, found at the start.
    usual: EngineValues,
    now: EngineValues,
    voices: Option<Vec<Voice>>,
    /// The voice in force, if it is not the engine's own.
    voice: Option<String>,
    /// The tag of the person's own voice, as far as it is known.
    home: String,
    told: Vec<SpeechNotice>,
}

impl Platform {
    pub(super) fn open(items: &Sender<ChildNews<String>>) -> Result<Self, Why> {
        let tts = fresh(items)?;
        let usual = EngineValues {
            rate: tts.get_rate().unwrap_or_else(|_| tts.normal_rate()),
            pitch: tts.get_pitch().unwrap_or_else(|_| tts.normal_pitch()),
            volume: tts.get_volume().unwrap_or_else(|_| tts.normal_volume()),
        };
        let own = if tts.supported_features().get_voice {
            tts.voice().ok().flatten()
        } else {
            None
        };
        Ok(Self {
            home: own.map_or_else(locale, |voice| voice.language().as_str().to_owned()),
            tts: Some(tts),
            items: items.clone(),
            usual,
            now: usual,
            voices: None,
            voice: None,
            told: Vec::new(),
        })
    }

    fn tts(&mut self) -> Result<&mut Tts, Why> {
        self.tts.as_mut().ok_or(Why::NotReopened)
    }

    /// Adjusts rate, pitch and volume, each only if it differs.
    fn numbers(
        &mut self,
        words: &SpokenWords,
        tell: &mut dyn FnMut(ChildReport),
    ) -> Result<(), Why> {
        let (usual, now) = (self.usual, self.now);
        let tts = self.tts()?;
        let can = tts.supported_features();
        let rates = Scale::new(tts.min_rate(), tts.normal_rate(), tts.max_rate());
        let pitches = Scale::new(tts.min_pitch(), tts.normal_pitch(), tts.max_pitch());
        let wanted = EngineValues {
            rate: words.delivery.rate.map_or(usual.rate, |n| rates.of(n)),
            pitch: pitches.of(pitch_of(words, pitches.back(usual.pitch))),
            // The usual volume is at the top of most scales, so the whole scale is used.
            volume: words.delivery.volume.map_or(usual.volume, |n| {
                let (least, most) = (tts.min_volume(), tts.max_volume());
                least + (most - least) * (n.clamp(-100, 100) + 100) as f32 / 200.0
            }),
        };
        if can.rate && wanted.rate != now.rate {
            tts.set_rate(wanted.rate)
                .map_err(|error| words_of(&error))?;
        }
        if can.pitch && wanted.pitch != now.pitch {
            tts.set_pitch(wanted.pitch)
                .map_err(|error| words_of(&error))?;
        }
        if can.volume && wanted.volume != now.volume {
            tts.set_volume(wanted.volume)
                .map_err(|error| words_of(&error))?;
        }
        self.now = wanted;
        if !can.pitch && words.own && words.own_pitch != 0 {
            self.once(SpeechNotice::OnePitch, tell);
        }
        Ok(())
    }

    /// Reports a notice once, and at most [`MOST_TOLD`] notices in total.
    fn once(&mut self, what: SpeechNotice, tell: &mut dyn FnMut(ChildReport)) {
        if self.told.len() < MOST_TOLD && !self.told.contains(&what) {
            self.told.push(what.clone());
            tell(ChildReport::Notice { what });
        }
    }

    /// Selects the voice: the one that is named, otherwise one for the words' language, otherwise the engine's own.
    fn choose(
        &mut self,
        words: &SpokenWords,
        tell: &mut dyn FnMut(ChildReport),
    ) -> Result<(), Why> {
        let foreign = words
            .language
            .as_deref()
            .filter(|tag| !covers(primary(&self.home), primary(tag)));
        let named = words.delivery.voice.as_deref();
        if named.is_none() && foreign.is_none() {
            return self.back_to_own();
        }
        if self.voices.is_none() {
            tell(ChildReport::Looking);
            let voices = self.tts()?.voices().map_err(|error| words_of(&error))?;
            self.voices = Some(voices);
        }
        let voices = self.voices.as_deref().unwrap_or_default();
        let by_name = named.and_then(|name| {
            let is = |voice: &&Voice| voice.name() == name || voice.id() == name;
            voices.iter().find(is)
        });
        let by_tag = |tag: &str| {
            let speaks = |like: fn(&str) -> &str, voice: &&Voice| {
                like(voice.language().as_str()).eq_ignore_ascii_case(like(tag))
            };
            let exact = voices.iter().find(|voice| speaks(|tag| tag, voice));
            exact.or_else(|| voices.iter().find(|voice| speaks(primary, voice)))
        };
        let Some(found) = by_name.or_else(|| foreign.and_then(by_tag)).cloned() else {
            let missing = match (named, foreign) {
                (Some(name), _) => SpeechNotice::NoVoice(name.to_owned()),
                (None, tag) => SpeechNotice::NoLanguage(tag.unwrap_or("?").to_owned()),
            };
            self.once(missing, tell);
            return self.back_to_own();
        };
        if self.voice.as_deref() != Some(found.id().as_str()) {
            tell(ChildReport::Looking);
            self.tts()?
                .set_voice(&found)
                .map_err(|error| words_of(&error))?;
            self.voice = Some(found.id());
        }
        Ok(())
    }

    /// Returns to the engine's own voice, through an instance that was never given another.
    fn back_to_own(&mut self) -> Result<(), Why> {
        if self.voice.take().is_some() {
            self.tts = None;
            self.tts = Some(fresh(&self.items)?);
            self.now = self.usual;
        }
        Ok(())
    }
}

impl Engine for Platform {
    type Token = String;

    fn name(&self) -> Name {
        Name::Platform
    }

    fn ends(&self) -> EndDetection {
        let tells = self
            .tts
            .as_ref()
            .is_some_and(|tts| tts.supported_features().utterance_callbacks);
        // macOS calls back on its main loop, which does not run here.
        if tells && !cfg!(target_os = "macos") {
            EndDetection::Told
        } else {
            EndDetection::Asked
        }
    }

    fn say(
        &mut self,
        words: &SpokenWords,
        tell: &mut dyn FnMut(ChildReport),
    ) -> Result<Option<String>, Why> {
        self.choose(words, tell)?;
        self.numbers(words, tell)?;
        let mut text = words.text.replace('\0', " ");
        if text.len() < 2 {
            text.push(' ');
        }
        self.tts()?
            .speak(text, false)
            .map(|id| id.map(token))
            .map_err(|error| words_of(&error))
    }

    fn stop(&mut self) -> Result<(), Why> {
        let stopped = self.tts()?.stop().map(|_| ());
        stopped.map_err(|error| words_of(&error))
    }

    fn is_speaking(&mut self) -> Result<bool, Why> {
        self.tts()?.is_speaking().map_err(|error| words_of(&error))
    }
}

/// Opens the platform's speech and makes it report the progress of words.
fn fresh(items: &Sender<ChildNews<String>>) -> Result<Tts, Why> {
    let tts = Tts::default().map_err(|error| words_of(&error))?;
    if tts.supported_features().utterance_callbacks {
        let heard = |happening| -> Option<Box<dyn FnMut(UtteranceId)>> {
            let items = items.clone();
            Some(Box::new(move |id| {
                // If the child is about to end, nothing receives this any more.
                let _ = items.send(ChildNews::Heard(happening, token(id)));
            }))
        };
        tts.on_utterance_begin(heard(SpeechEvent::Begun))
            .and_then(|()| tts.on_utterance_end(heard(SpeechEvent::Ended)))
            .and_then(|()| tts.on_utterance_stop(heard(SpeechEvent::Cut)))
            .map_err(|error| words_of(&error))?;
    }
    Ok(tts)
}

/// Returns the pitch of words for an engine whose own is `base`, on the scale of -100 to 100.
fn pitch_of(words: &SpokenWords, base: i32) -> i32 {
    let mark = if words.own { Mark::Own } else { Mark::Agent };
    let sound = Sound {
        delivery: words.delivery.clone(),
        usual_pitch: words.usual_pitch,
        cue: None,
    };
    pitch::of(mark, &sound, base, words.own_pitch)
}

/// Returns an utterance's number as text: on some platforms it is a pointer, which can't be sent between threads.
fn token(id: UtteranceId) -> String {
    format!("{id:?}")
}

/// Converts an error of the crate.
fn words_of(error: &tts::Error) -> Why {
    Why::Failed(error.to_string())
}

/// Returns the language of this process's locale, which the platform's own voice usually speaks.
fn locale() -> String {
    ["LC_ALL", "LC_MESSAGES", "LANG"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty())
        .map(|value| {
            let tag = value.split(['.', '@']).next().unwrap_or_default();
            tag.replace('_', "-")
        })
        .filter(|tag| tag != "C" && tag != "POSIX")
        .unwrap_or_else(|| "en".to_owned())
}

fn primary(tag: &str) -> &str {
    tag.split('-').next().unwrap_or(tag)
}

/// An engine's scale, onto which -100 to 100 is mapped, with 0 as the usual value.
#[derive(Debug, Clone, Copy)]
struct Scale {
    least: f32,
    normal: f32,
    most: f32,
}

impl Scale {
    fn new(least: f32, normal: f32, most: f32) -> Self {
        Self {
            least,
            normal,
            most,
        }
    }

    fn of(self, number: i32) -> f32 {
        let part = number.clamp(-100, 100) as f32 / 100.0;
        if part < 0.0 {
            self.normal + part * (self.normal - self.least)
        } else {
            self.normal + part * (self.most - self.normal)
        }
    }

    fn back(self, value: f32) -> i32 {
        let (room, sign) = if value < self.normal {
            (self.normal - self.least, -1.0)
        } else {
            (self.most - self.normal, 1.0)
        };
        if room <= 0.0 {
            return 0;
        }
        let part = (value - self.normal).abs() / room;
        (sign * part * 100.0).round().clamp(-100.0, 100.0) as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scales_are_mapped_whole_and_back() {
        for scale in [
            Scale::new(-100.0, 0.0, 100.0),
            Scale::new(0.1, 1.0, 2.0),
            Scale::new(0.5, 1.0, 6.0),
        ] {
            for (number, at) in [(-100, scale.least), (0, scale.normal), (100, scale.most)] {
                // Processors round differently.
                assert!((scale.of(number) - at).abs() < 1e-6, "{number}: {scale:?}");
            }
            for number in -100..=100 {
                assert_eq!(scale.back(scale.of(number)), number);
            }
        }
    }
}
