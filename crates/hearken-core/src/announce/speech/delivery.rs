//! How each piece of speech sounds, according to the person's settings.
//!
//! Responsibilities: layering the settings of an agent over those of a language, and these over the general
//! ones. Not here: how they are changed (`app`), how they reach an engine (`voice`).
//!
//! An agent's settings never touch the program's own words. If an agent has its own pitch, the voice keeps it
//! apart from the pitch of those words, which the voice knows.

use std::collections::BTreeMap;

use crate::config::{CueConfig, Delivery, VoiceConfig};

use crate::announce::speech::utterance::Sound;
use crate::announce::words::segment::Mark;
use crate::protocol::fit;

/// The person's settings for the sound of words.
#[derive(Debug, Clone, Default)]
pub struct Deliveries {
    usual: Delivery,
    agents: BTreeMap<String, Delivery>,
    languages: BTreeMap<String, Delivery>,
    cues: CueConfig,
}

impl Deliveries {
    /// Creates them from the settings.
    pub fn new(config: &VoiceConfig) -> Self {
        Self {
            usual: config.delivery(),
            agents: config.agents.clone(),
            languages: config.languages.clone(),
            cues: config.cues.clone(),
        }
    }

    /// Returns which cues are enabled.
    pub fn cues(&self) -> &CueConfig {
        &self.cues
    }

    /// Returns how everything without its own settings sounds.
    pub fn usual(&self) -> &Delivery {
        &self.usual
    }

    /// Sets how everything without its own settings sounds.
    pub fn set_usual(&mut self, usual: Delivery) {
        self.usual = usual;
    }

    /// Returns how words sound, given their speaker, the agent's id and name, and the language.
    pub fn sound(&self, mark: Mark, agent: [Option<&str>; 2], language: Option<&str>) -> Sound {
        let of_language = language.and_then(|tag| self.of_language(tag));
        let mut delivery = self.usual.clone();
        if let Some(of_language) = of_language {
            delivery = delivery.under(of_language);
        }
        // This base pitch is the same for everyone who speaks this language.
        let usual_pitch = delivery.pitch;
        if mark == Mark::Agent {
            let names = agent.into_iter().flatten();
            if let Some(own) = names.filter_map(|name| self.agents.get(name)).next() {
                delivery = delivery.under(own);
            }
        }
        Sound {
            delivery,
            usual_pitch,
            cue: None,
        }
    }

    /// Returns the settings of a language: those of the exact tag, or else of the best match.
    fn of_language(&self, tag: &str) -> Option<&Delivery> {
        let fits = self.languages.iter().filter_map(|(wanted, delivery)| {
            let fit = fit(wanted, tag)?;
            Some((fit, delivery))
        });
        fits.min_by_key(|(fit, _)| *fit).map(|(_, found)| found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn deliveries() -> Deliveries {
        let config = Config::from_toml(
            "[voice]\nrate = 10\npitch = 5\n\
             [voice.languages]\nde = { rate = -20, voice = \"Anna\" }\n\
             [voice.agents]\n\"bot-1\" = { pitch = -30 }\nBob = { voice = \"male2\", rate = 60 }\n",
        )
        .unwrap();
        Deliveries::new(&config.voice)
    }

    #[test]
    fn an_agent_goes_before_a_language_and_that_before_the_usual() {
        let all = deliveries();
        let plain = all.sound(Mark::Agent, [Some("x"), Some("X")], Some("en-US"));
        assert_eq!(plain.delivery, *all.usual());
        let german = all.sound(Mark::Agent, [Some("x"), None], Some("de-AT"));
        assert_eq!(german.delivery.rate, Some(-20));
        assert_eq!(german.delivery.voice.as_deref(), Some("Anna"));
        let bob = all.sound(Mark::Agent, [Some("id"), Some("Bob")], Some("de"));
        assert_eq!(bob.delivery.rate, Some(60));
        assert_eq!(bob.delivery.voice.as_deref(), Some("male2"));
        assert_eq!(bob.delivery.pitch, Some(5), "what is not said is as usual");
        let bot = all.sound(Mark::Agent, [Some("bot-1"), Some("Bot")], None);
        assert_eq!((bot.delivery.pitch, bot.usual_pitch), (Some(-30), Some(5)));
    }

    #[test]
    fn our_own_words_never_sound_as_an_agent_does() {
        let all = deliveries();
        let own = all.sound(Mark::Own, [Some("bot-1"), Some("Bob")], None);
        assert_eq!(own.delivery, *all.usual());
        assert_eq!(own.usual_pitch, Some(5));
    }
}
