//! How everything sounds, and how much of it is said, while a run lasts.
//!
//! The folder: this struct and `voice` hold what is known of the voice; `knobs` (its settings), `announcing`
//! (verbosity, load, language), `quiet` (what is not said), `engine` (news of the voice, the bell and the beat
//! in its place) change it and say it back. Not here: how an engine is told (`crate::voice`), words (`announce`).

mod announcing;
mod engine;
mod knobs;
mod quiet;
pub(super) mod voice;

use std::sync::Arc;
use std::time::Duration;

use crate::announce::{Beat, Cue, Heartbeat, Tongue};
use crate::config::{CueConfig, Delivery, Knob};

use voice::VoiceState;

/// The bell rings for a fault at most this often: an agent that fails without an end must not ring
/// without one.
const BELL: Duration = Duration::from_secs(2);

/// Remembers what changing the voice needs.
#[derive(Debug, Clone)]
pub(super) struct Tuning {
    voice: VoiceState,
    /// What keys are about.
    at: usize,
    /// How everything was to sound when the run began.
    start: Delivery,
    /// How everything is to sound in later runs.
    kept: Delivery,
    /// What the engine can change; absent until it is known.
    knobs: Option<Vec<Knob>>,
    /// The engine's own settings, as far as it told them.
    own: Delivery,
    /// Whether short sounds are known to be heard.
    cues_heard: bool,
    /// How the program's own words were spoken when the run began.
    tongue: Arc<Tongue>,
    /// When the bell last rang in the place of a cue.
    bell: Option<Duration>,
    heartbeat: Heartbeat,
    /// Whether the last thing that was put into the queue is a beat: saying it is no end of silence.
    beating: bool,
}

impl Tuning {
    /// Begins with a voice that is wanted or not, and with how everything is to sound.
    pub(super) fn new(voice: VoiceState, start: Delivery, tongue: Arc<Tongue>) -> Self {
        Self {
            voice,
            at: 0,
            kept: start.clone(),
            start,
            knobs: None,
            own: Delivery::default(),
            cues_heard: false,
            tongue,
            bell: None,
            heartbeat: Heartbeat::default(),
            beating: false,
        }
    }

    /// Returns what is known of the voice.
    pub(super) fn voice(&self) -> &VoiceState {
        &self.voice
    }

    fn set_voice(&mut self, voice: VoiceState) {
        self.voice = voice;
    }

    /// Returns how the program's own words were spoken when the run began.
    fn tongue(&self) -> &Tongue {
        &self.tongue
    }

    #[cfg(test)]
    pub(super) fn set_tongue(&mut self, tongue: Arc<Tongue>) {
        self.tongue = tongue;
    }

    fn start(&self) -> &Delivery {
        &self.start
    }

    fn kept(&self) -> &Delivery {
        &self.kept
    }

    fn keep(&mut self, delivery: Delivery) {
        self.kept = delivery;
    }

    fn own(&self) -> &Delivery {
        &self.own
    }

    fn next_knob(&mut self) {
        self.at = (self.at + 1) % Knob::ALL.len();
    }

    fn go_to(&mut self, knob: Knob) {
        if let Some(at) = Knob::ALL.iter().position(|it| *it == knob) {
            self.at = at;
        }
    }

    /// Returns whether the engine can't change a setting.
    fn is_fixed(&self, knob: Knob) -> bool {
        let fixed = |knobs: &Vec<Knob>| !knobs.contains(&knob);
        self.knobs.as_ref().is_some_and(fixed)
    }

    /// Rings in the place of a voice, if one is missed and the bell did not ring just before.
    fn rings(&mut self, now: Duration) -> bool {
        let again = self.bell.is_none_or(|at| now >= at + BELL);
        let rings = self.voice.is_missed() && again;
        if rings {
            self.bell = Some(now);
        }
        rings
    }

    /// Takes the news that something other than a beat is told: the silence begins anew.
    pub(super) fn rest(&mut self) {
        self.beating = false;
        self.heartbeat.rest();
    }

    /// Returns when the next beat is due.
    pub(super) fn beat_due(&self) -> Option<Duration> {
        self.heartbeat.deadline()
    }

    fn is_beating(&self) -> bool {
        self.beating
    }

    /// Steps the beat of an agent that works in silence; `true` where one is to be heard.
    fn step_beat(&mut self, wanted: bool, cues: &CueConfig, now: Duration) -> bool {
        let beat = self.beat(cues);
        let beats = self.heartbeat.step(wanted, beat, now);
        self.beating |= beats;
        beats
    }

    /// Takes what an engine told of itself.
    fn adjustable(&mut self, knobs: Vec<Knob>, own: Delivery) {
        self.knobs = Some(knobs);
        self.own = own;
    }

    /// Takes whether short sounds are heard.
    pub(super) fn cues_heard(&mut self, heard: bool) {
        self.cues_heard = heard;
    }

    /// Returns what the beat of a working agent is heard as.
    pub(super) fn beat(&self, cues: &CueConfig) -> Beat {
        if self.cues_heard && Cue::Tick.is_on(cues) {
            Beat::Sound
        } else {
            Beat::Word
        }
    }

    /// Returns the setting that keys are about.
    fn knob(&self) -> Knob {
        Knob::ALL[self.at % Knob::ALL.len()]
    }
}
