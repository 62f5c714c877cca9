//! Changing how the voice sounds while it is in use.
//!
//! Responsibilities: which setting the keys change, its steps and limits, and the response. Not here: how an
//! engine receives it (`voice`), where settings are kept (`runtime`).
//!
//! The response is the first text with the new sound. Nothing is kept after the end of the run unless the
//! person asks for it, and the engine's own settings are never touched.

use crate::announce::{Arg, Reason};
use crate::config::{Delivery, Knob, Punctuation, SCALE, is_voice_name};
use crate::keys::VoiceChange;

use super::Tuning;
use crate::app::signals::VoiceState;
use crate::app::{AppCx, Effect};

/// How far one key changes a number.
const STEP: i32 = 10;

/// The kinds of voices that keys step through. Engines have thousands of voices; a line can name any of them.
const VOICES: [&str; 8] = [
    "male1",
    "male2",
    "male3",
    "female1",
    "female2",
    "female3",
    "child_male",
    "child_female",
];

/// The outcome of a change.
enum KnobChange {
    To(Delivery),
    /// The value is already at its limit.
    End,
    /// The text is not a value of this setting.
    Unknown,
}

impl Tuning {
    /// Changes a setting, or the current one. Returns it if its new value is yet to be announced; otherwise the
    /// response is already given.
    pub(in crate::app) fn turn_knob(
        &mut self,
        knob: Option<Knob>,
        turn: VoiceChange,
        cx: &mut AppCx,
    ) -> Option<Knob> {
        let knob = knob.unwrap_or_else(|| self.knob());
        self.go_to(knob);
        let what = word(cx, name_of(knob));
        match cx.signals.voice() {
            VoiceState::Off | VoiceState::LeftToReader | VoiceState::None => {
                cx.respond("tune.no_voice", &[]);
                return None;
            }
            VoiceState::Checking | VoiceState::Ready { .. } | VoiceState::Lost => {}
        }
        if self.is_fixed(knob) {
            cx.respond("tune.fixed", &[("what", what)]);
            return None;
        }
        match self.turned(knob, turn, cx) {
            KnobChange::To(delivery) => {
                cx.queue.deliveries_mut().set_usual(delivery);
                return Some(knob);
            }
            KnobChange::End => self.tell_knob(knob, Some("tune.end"), cx),
            KnobChange::Unknown => {
                let wanted = word(cx, wanted_by(knob));
                let args = [("what", what), ("wanted", wanted)];
                cx.respond("tune.unknown", &args);
            }
        }
        None
    }

    /// Announces the value of a setting, and that it is at its limit if so.
    pub(in crate::app) fn tell_knob(&self, knob: Knob, end: Option<&str>, cx: &mut AppCx) {
        let mut args = vec![("what", word(cx, name_of(knob)))];
        args.extend(end.map(|end| ("end", word(cx, end))));
        args.push(("value", self.value(knob, cx)));
        cx.respond("tune.said", &args);
    }

    /// Saves the present settings for later runs.
    pub(in crate::app) fn remember(&self, cx: &mut AppCx) {
        let usual = cx.queue.deliveries().usual().clone();
        if usual == *self.kept() {
            cx.respond("tune.nothing_new", &[]);
            return;
        }
        cx.effects.push(Effect::Remember(usual));
    }

    /// Announces whether they were saved, and where.
    pub(in crate::app) fn remembered(&mut self, outcome: Result<String, Reason>, cx: &mut AppCx) {
        match outcome {
            Ok(place) => {
                let usual = cx.queue.deliveries().usual().clone();
                self.keep(usual);
                cx.respond("tune.remembered", &[("place", Arg::Own(place))]);
            }
            Err(reason) => {
                let reason = cx.because(&reason);
                cx.respond("tune.not_remembered", &[("reason", reason)]);
            }
        }
    }

    fn turned(&self, knob: Knob, turn: VoiceChange, cx: &AppCx) -> KnobChange {
        let mut new = cx.queue.deliveries().usual().clone();
        let (start, own) = (self.start(), self.engine_delivery());
        match knob {
            Knob::Rate => number(&mut new.rate, start.rate, own.rate.unwrap_or(0), turn),
            Knob::Pitch => number(&mut new.pitch, start.pitch, own.pitch.unwrap_or(0), turn),
            // Without a value from the engine, the usual volume is the highest, as in SSIP.
            Knob::Volume => number(
                &mut new.volume,
                start.volume,
                own.volume.unwrap_or(100),
                turn,
            ),
            Knob::Voice => voice(&mut new.voice, start.voice.as_deref(), turn),
            Knob::Punctuation => punctuation(&mut new.punctuation, start.punctuation, turn),
        }
        .map_or_else(|outcome| outcome, |()| KnobChange::To(new))
    }

    /// Returns the value of a setting in words.
    fn value(&self, knob: Knob, cx: &AppCx) -> Arg {
        let delivery = cx.queue.deliveries().usual();
        let own = self.engine_delivery();
        let number = |set: Option<i32>, own: Option<i32>| match (set, own) {
            (Some(n), _) => Arg::Own(number_words(cx, n)),
            (None, Some(n)) => {
                let args = [("n", Arg::Own(number_words(cx, n)))];
                Arg::Own(cx.phrases().text("tune.own_is", &args))
            }
            (None, None) => word(cx, "tune.own"),
        };
        match knob {
            Knob::Rate => number(delivery.rate, own.rate),
            Knob::Pitch => number(delivery.pitch, own.pitch),
            Knob::Volume => number(delivery.volume, own.volume),
            Knob::Voice => match delivery.voice.as_deref() {
                None => word(cx, "tune.own"),
                Some(name) => match voice_words(name) {
                    Some(key) => word(cx, key),
                    None => Arg::Own(name.to_owned()),
                },
            },
            Knob::Punctuation => match delivery.punctuation {
                None => word(cx, "tune.own"),
                Some(level) => word(
                    cx,
                    match level {
                        Punctuation::None => "tune.punctuation.none",
                        Punctuation::Some => "tune.punctuation.some",
                        Punctuation::Most => "tune.punctuation.most",
                        Punctuation::All => "tune.punctuation.all",
                    },
                ),
            },
        }
    }
}

/// Returns a number as it should be spoken: many voices do not speak a minus sign.
fn number_words(cx: &AppCx, n: i32) -> String {
    if n < 0 {
        let args = [("n", Arg::own(-i64::from(n)))];
        cx.phrases().text("tune.minus", &args)
    } else {
        n.to_string()
    }
}

fn word(cx: &AppCx, key: &str) -> Arg {
    Arg::Own(cx.phrases().text(key, &[]))
}

fn name_of(knob: Knob) -> &'static str {
    match knob {
        Knob::Rate => "tune.rate",
        Knob::Pitch => "tune.pitch",
        Knob::Volume => "tune.volume",
        Knob::Voice => "tune.voice",
        Knob::Punctuation => "tune.punctuation",
    }
}

fn wanted_by(knob: Knob) -> &'static str {
    match knob {
        Knob::Rate | Knob::Pitch | Knob::Volume => "tune.wants.number",
        Knob::Voice => "tune.wants.voice",
        Knob::Punctuation => "tune.wants.punctuation",
    }
}

fn voice_words(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "male1" => "tune.voice.male_one",
        "male2" => "tune.voice.male_two",
        "male3" => "tune.voice.male_three",
        "female1" => "tune.voice.female_one",
        "female2" => "tune.voice.female_two",
        "female3" => "tune.voice.female_three",
        "child_male" => "tune.voice.boy",
        "child_female" => "tune.voice.girl",
        _ => return None,
    })
}

fn number(
    place: &mut Option<i32>,
    start: Option<i32>,
    own: i32,
    turn: VoiceChange,
) -> Result<(), KnobChange> {
    let now = place.unwrap_or(own);
    let new = match turn {
        VoiceChange::Say => return Ok(()),
        VoiceChange::Usual => {
            *place = start;
            return Ok(());
        }
        VoiceChange::Up if now >= *SCALE.end() => return Err(KnobChange::End),
        VoiceChange::Down if now <= *SCALE.start() => return Err(KnobChange::End),
        VoiceChange::Up => now + STEP,
        VoiceChange::Down => now - STEP,
        VoiceChange::To(text) => match text.parse::<i32>() {
            Ok(number) if SCALE.contains(&number) => number,
            Ok(_) | Err(_) => return Err(KnobChange::Unknown),
        },
    };
    *place = Some(new.clamp(*SCALE.start(), *SCALE.end()));
    Ok(())
}

fn voice(
    place: &mut Option<String>,
    start: Option<&str>,
    turn: VoiceChange,
) -> Result<(), KnobChange> {
    let at = place
        .as_deref()
        .and_then(|name| VOICES.iter().position(|it| it.eq_ignore_ascii_case(name)));
    let count = VOICES.len();
    *place = match turn {
        VoiceChange::Say => return Ok(()),
        VoiceChange::Usual => start.map(str::to_owned),
        VoiceChange::Up => Some(VOICES[at.map_or(0, |at| (at + 1) % count)].to_owned()),
        VoiceChange::Down => {
            Some(VOICES[at.map_or(count - 1, |at| (at + count - 1) % count)].to_owned())
        }
        VoiceChange::To(name) if is_voice_name(&name) => Some(name),
        VoiceChange::To(_) => return Err(KnobChange::Unknown),
    };
    Ok(())
}

fn punctuation(
    place: &mut Option<Punctuation>,
    start: Option<Punctuation>,
    turn: VoiceChange,
) -> Result<(), KnobChange> {
    let levels = Punctuation::ALL;
    let at = place.and_then(|level| levels.iter().position(|it| *it == level));
    *place = match turn {
        VoiceChange::Say => return Ok(()),
        VoiceChange::Usual => start,
        VoiceChange::Up => match at {
            None => Some(levels[0]),
            Some(at) => Some(*levels.get(at + 1).ok_or(KnobChange::End)?),
        },
        VoiceChange::Down => match at {
            None => levels.last().copied(),
            Some(0) => return Err(KnobChange::End),
            Some(at) => Some(levels[at - 1]),
        },
        VoiceChange::To(name) => {
            let named = levels.into_iter().find(|level| level.name() == name);
            Some(named.ok_or(KnobChange::Unknown)?)
        }
    };
    Ok(())
}
