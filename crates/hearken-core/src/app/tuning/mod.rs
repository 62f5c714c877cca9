//! How everything sounds, and how much of it is spoken, during a run.
//!
//! The folder: this struct and `voice` hold the state of the voice; `knobs` (its settings), `announcing` (verbosity,
//! load, language), `quiet` (what is not spoken), `engine` (news of the voice, and the bell and the beat that replace
//! it) change it and announce the result. Not here: how an engine receives it (`crate::voice`), words (`announce`).

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

/// The bell rings for a fault at most this often: an agent that fails endlessly must not ring endlessly.
const BELL: Duration = Duration::from_secs(2);

/// The state that changes of the voice need.
#[derive(Debug, Clone)]
pub(super) struct Tuning {
    voice: VoiceState,
    /// The setting that keys change.
    at: usize,
    /// The settings of the voice when the run began.
    start: Delivery,
    /// The settings of the voice for later runs.
    kept: Delivery,
    /// The settings that the engine can change; `None` until they are known.
    knobs: Option<Vec<Knob>>,
    /// The engine's own settings, as far as it reported them.
    own: Delivery,
    /// Whether short sounds are known to be audible.
    cues_heard: bool,
    /// How the program's own words were spoken when the run began.
    tongue: Arc<Tongue>,
    /// When the bell last replaced a cue.
    bell: Option<Duration>,
    heartbeat: Heartbeat,
    /// Whether the last announcement in the queue is a beat: speaking it does not end the silence.
    beating: bool,
}

impl Tuning {
    /// Creates it with the state and the settings of the voice.
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

    /// Returns the state of the voice.
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

    /// Returns whether the bell rings instead of a voice: if a voice is missing and the bell has not rung just before.
    fn rings(&mut self, now: Duration) -> bool {
        let again = self.bell.is_none_or(|at| now >= at + BELL);
        let rings = self.voice.is_missed() && again;
        if rings {
            self.bell = Some(now);
        }
        rings
    }

    /// Notes an announcement other than a beat: the silence starts again.
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

    /// Steps the beat of an agent that works in silence; returns whether a beat is due.
    fn step_beat(&mut self, wanted: bool, cues: &CueConfig, now: Duration) -> bool {
        let beat = self.beat(cues);
        let beats = self.heartbeat.step(wanted, beat, now);
        self.beating |= beats;
        beats
    }

    /// Stores what an engine reported about itself.
    fn adjustable(&mut self, knobs: Vec<Knob>, own: Delivery) {
        self.knobs = Some(knobs);
        self.own = own;
    }

    /// Stores whether short sounds are audible.
    pub(super) fn cues_heard(&mut self, heard: bool) {
        self.cues_heard = heard;
    }

    /// Returns the form of the beat of a working agent.
    pub(super) fn beat(&self, cues: &CueConfig) -> Beat {
        if self.cues_heard && Cue::Tick.is_on(cues) {
            Beat::Sound
        } else {
            Beat::Word
        }
    }

    /// Returns the setting that keys change.
    fn knob(&self) -> Knob {
        Knob::ALL[self.at % Knob::ALL.len()]
    }
}
