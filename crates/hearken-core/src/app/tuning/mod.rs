//! How everything sounds, and how much of it is spoken, during a run.
//!
//! The folder: this struct holds the settings of the voice; `knobs` (these settings), `announcement_settings`
//! (verbosity, load, language), `speech_amount` (what is not spoken), `speech_position` (continuing and going back) and
//! `engine` (news of the voice, and the beat that replaces it) change it and announce the result. Not here: how an
//! engine receives it (`crate::voice`), words (`announce`), whether there is a voice (`signals`).

mod announcement_settings;
mod engine;
mod knobs;
mod speech_amount;
mod speech_position;

use std::sync::Arc;

use crate::announce::SpokenLanguage;
use crate::config::{Delivery, Knob};

/// The state needed for changing the voice.
#[derive(Debug, Clone)]
pub(super) struct Tuning {
    /// The setting that keys change.
    at: usize,
    /// The settings of the voice when the run began.
    start: Delivery,
    /// The settings of the voice for later runs.
    kept: Delivery,
    /// The settings that the engine can change; `None` until they are known.
    knobs: Option<Vec<Knob>>,
    /// The engine's own settings, as reported.
    engine_delivery: Delivery,
    /// How the program's own words were spoken when the run began.
    tongue: Arc<SpokenLanguage>,
}

impl Tuning {
    /// Creates it with the settings of the voice.
    pub(super) fn new(start: Delivery, tongue: Arc<SpokenLanguage>) -> Self {
        Self {
            at: 0,
            kept: start.clone(),
            start,
            knobs: None,
            engine_delivery: Delivery::default(),
            tongue,
        }
    }

    /// Returns how the program's own words were spoken when the run began.
    fn tongue(&self) -> &SpokenLanguage {
        &self.tongue
    }

    #[cfg(test)]
    pub(super) fn set_tongue(&mut self, tongue: Arc<SpokenLanguage>) {
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

    fn engine_delivery(&self) -> &Delivery {
        &self.engine_delivery
    }

    /// Goes to the next setting, or after the last one to the first.
    pub(super) fn next_knob(&mut self) {
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

    /// Stores what an engine reported about itself.
    fn adjustable(&mut self, knobs: Vec<Knob>, own: Delivery) {
        self.knobs = Some(knobs);
        self.engine_delivery = own;
    }

    /// Returns the setting that keys change.
    fn knob(&self) -> Knob {
        Knob::ALL[self.at % Knob::ALL.len()]
    }
}
