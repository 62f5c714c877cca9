//! The person's settings for the sound of words.

use serde::{Deserialize, Serialize};

/// The scale of rate, pitch and volume, as in SSIP: -100 to 100.
pub const SCALE: std::ops::RangeInclusive<i32> = -100..=100;

/// The punctuation marks that are spoken by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Punctuation {
    /// None of them.
    None,
    /// The rarer ones.
    Some,
    /// All but the most common.
    Most,
    /// All of them.
    All,
}

/// A property of the voice that can be changed while it is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Knob {
    /// How fast it speaks.
    Rate,
    /// How high it speaks.
    Pitch,
    /// How loud it speaks.
    Volume,
    /// The voice, one of the engine's.
    Voice,
    /// The punctuation marks that are named.
    Punctuation,
}

impl Knob {
    /// Every knob, in the order in which keys step through them.
    pub const ALL: [Self; 5] = [
        Self::Rate,
        Self::Pitch,
        Self::Volume,
        Self::Voice,
        Self::Punctuation,
    ];
}

impl Punctuation {
    /// Every level, the fewest marks first.
    pub const ALL: [Self; 4] = [Self::None, Self::Some, Self::Most, Self::All];

    /// Returns its name in the settings and in SSIP.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Some => "some",
            Self::Most => "most",
            Self::All => "all",
        }
    }
}

/// The sound of words; an absent value is left to the engine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Delivery {
    /// How fast, from -100 to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<i32>,
    /// How high, from -100 to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pitch: Option<i32>,
    /// How loud, from -100 to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume: Option<i32>,
    /// The name of one of the engine's voices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voice: Option<String>,
    /// The punctuation marks that are named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub punctuation: Option<Punctuation>,
}

impl Delivery {
    /// Overrides this with the values that another delivery sets.
    #[must_use]
    pub fn under(&self, other: &Self) -> Self {
        Self {
            rate: other.rate.or(self.rate),
            pitch: other.pitch.or(self.pitch),
            volume: other.volume.or(self.volume),
            voice: other.voice.clone().or_else(|| self.voice.clone()),
            punctuation: other.punctuation.or(self.punctuation),
        }
    }

    /// Returns whether every number is on the [`SCALE`] and a voice has a name.
    pub fn is_sound(&self) -> bool {
        let numbers = [self.rate, self.pitch, self.volume];
        numbers.into_iter().flatten().all(|n| SCALE.contains(&n))
            && self.voice.as_deref().is_none_or(is_voice_name)
    }
}

/// The longest name of a voice; the longest of the 13,000 that espeak-ng offers has 50 characters.
pub const LONGEST_VOICE: usize = 120;

/// Returns whether a text can be a voice's name: it is not empty, not too long, and has no control
/// character, which could end a command to an engine.
pub fn is_voice_name(name: &str) -> bool {
    !name.trim().is_empty() && name.len() <= LONGEST_VOICE && !name.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_upper_one_says_goes_before() {
        let lower = Delivery {
            rate: Some(1),
            pitch: Some(2),
            ..Delivery::default()
        };
        let upper = Delivery {
            rate: Some(5),
            voice: Some("Ida".into()),
            ..Delivery::default()
        };
        let laid = lower.under(&upper);
        assert_eq!(
            (laid.rate, laid.pitch, laid.volume),
            (Some(5), Some(2), None)
        );
        assert_eq!(laid.voice.as_deref(), Some("Ida"));
        assert_eq!(lower.under(&Delivery::default()), lower);
    }

    #[test]
    fn a_voice_name_can_end_no_command() {
        assert!(is_voice_name("English (America)+f3"));
        for bad in ["", " ", "a\r\nSTOP ALL", "a\0", &"x".repeat(121)] {
            assert!(!is_voice_name(bad), "{bad:?}");
        }
    }
}
