//! The terms of a subscription: what is asked for, and how far a producer keeps to it.

use crate::announce::{Arg, Phrases};
use crate::config::{Config, Load, Verbosity};
use crate::protocol::{Capabilities, EventFilters, Level};

/// How fast speech is that nobody has set, in words a minute: what espeak-ng does by itself.
const USUAL_PACE: i64 = 175;
/// The slowest and the fastest speech at the ends of the scale, in words a minute.
const PACES: (i64, i64) = (80, 450);

/// Gives what this person's settings ask of every producer (5.3), at the verbosity and the speech rate of
/// this moment.
pub(super) fn wanted(config: &Config, verbosity: Verbosity, rate: Option<i32>) -> Capabilities {
    let handshake = &config.handshake;
    Capabilities {
        max_events_per_second: Some(handshake.max_events_per_second),
        preferred_verbosity: Some(level(verbosity)),
        languages: Some(config.announce.languages.clone()),
        supports_confirmation_reply: Some(true),
        supports_clarification_reply: Some(true),
        coalesce_boundaries: Some(handshake.boundaries.clone()),
        event_filters: Some(EventFilters {
            include: handshake.include.clone(),
            exclude: handshake.exclude.clone(),
        }),
        supported_conformance_levels: Some(vec![1, 2, 3]),
        supported_extensions: Some(handshake.extensions.clone()),
        cognitive_load: Some(
            match config.announce.load {
                Load::Low => "low",
                Load::Medium => "medium",
                Load::High => "high",
            }
            .to_owned(),
        ),
        pace_wpm: Some(handshake.pace_wpm.unwrap_or_else(|| pace(rate))),
        accept_signed_manifests_only: Some(handshake.require_signed),
    }
}

/// Gives a verbosity as the protocol names it.
pub(super) fn level(verbosity: Verbosity) -> Level {
    match verbosity {
        Verbosity::Terse => Level::Terse,
        Verbosity::Normal => Level::Normal,
        Verbosity::Detailed => Level::Detailed,
    }
}

/// Estimates words a minute from a speech rate of -100 to 100.
pub(super) fn pace(rate: Option<i32>) -> u64 {
    let rate = i64::from(rate.unwrap_or(0).clamp(-100, 100));
    let (slowest, fastest) = PACES;
    let pace = if rate < 0 {
        USUAL_PACE + rate * (USUAL_PACE - slowest) / 100
    } else {
        USUAL_PACE + rate * (fastest - USUAL_PACE) / 100
    };
    u64::try_from(pace).unwrap_or_default()
}

/// Words each difference between what was asked for and what a producer keeps; a term that it does
/// not mention counts as kept.
pub(super) fn differences(
    phrases: &Phrases,
    asked: &Capabilities,
    honored: &Capabilities,
) -> Vec<String> {
    let mut told = Vec::new();
    let mut tell = |key: &str, asked: String, honored: String| {
        let args = [("asked", Arg::Name(asked)), ("honored", Arg::Name(honored))];
        told.push(phrases.text(key, &args));
    };
    if let (Some(asked), Some(honored)) =
        (asked.max_events_per_second, honored.max_events_per_second)
        && asked != honored
    {
        tell("terms.rate", asked.to_string(), honored.to_string());
    }
    if let (Some(asked), Some(honored)) = (asked.preferred_verbosity, honored.preferred_verbosity)
        && asked != honored
    {
        let word = |level| match level {
            Level::Terse => phrases.text("verbosity.terse", &[]),
            Level::Normal => phrases.text("verbosity.normal", &[]),
            Level::Detailed => phrases.text("verbosity.detailed", &[]),
        };
        tell("terms.verbosity", word(asked), word(honored));
    }
    if let (Some(asked), Some(honored)) = (&asked.languages, &honored.languages)
        && asked != honored
    {
        tell("terms.languages", asked.join(", "), honored.join(", "));
    }
    for (key, asked, honored) in [
        (
            "terms.confirmation",
            asked.supports_confirmation_reply,
            honored.supports_confirmation_reply,
        ),
        (
            "terms.clarification",
            asked.supports_clarification_reply,
            honored.supports_clarification_reply,
        ),
    ] {
        if asked == Some(true) && honored == Some(false) {
            tell(key, String::new(), String::new());
        }
    }
    if let (Some(asked), Some(honored)) = (&asked.coalesce_boundaries, &honored.coalesce_boundaries)
        && asked != honored
    {
        tell("terms.boundaries", asked.join(", "), honored.join(", "));
    }
    if let (Some(asked), Some(honored)) = (&asked.event_filters, &honored.event_filters)
        && asked != honored
    {
        tell("terms.filters", String::new(), String::new());
    }
    if let (Some(asked), Some(honored)) = (&asked.cognitive_load, &honored.cognitive_load)
        && asked != honored
    {
        tell("terms.load", asked.clone(), honored.clone());
    }
    if let (Some(asked), Some(honored)) = (
        &asked.supported_conformance_levels,
        &honored.supported_conformance_levels,
    ) && asked.iter().max() != honored.iter().max()
    {
        let highest = |levels: &[u64]| levels.iter().max().copied().unwrap_or(0).to_string();
        tell("terms.level", highest(asked), highest(honored));
    }
    told
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    #[test]
    fn every_capability_of_the_chapter_is_declared() {
        let value = wanted(&Config::default(), Verbosity::Terse, None).to_value();
        assert_eq!(value.as_object().unwrap().len(), 12);
        assert_eq!(value["preferred_verbosity"], "terse");
        assert_eq!(value["pace_wpm"], 175);
        assert_eq!(value["accept_signed_manifests_only"], false);
    }

    #[test]
    fn the_pace_follows_the_voice() {
        for (rate, words) in [
            (None, 175),
            (Some(0), 175),
            (Some(100), 450),
            (Some(-100), 80),
        ] {
            assert_eq!(pace(rate), words);
        }
    }

    #[test]
    fn only_differences_are_told() {
        let phrases = Phrases::english().unwrap();
        let asked = wanted(&Config::default(), Verbosity::Normal, None);
        assert!(differences(&phrases, &asked, &asked).is_empty());
        assert!(differences(&phrases, &asked, &Capabilities::default()).is_empty());
        let honored = Capabilities {
            max_events_per_second: Some(2),
            supports_confirmation_reply: Some(false),
            languages: Some(vec!["de\u{1b}[2J".into()]),
            ..asked.clone()
        };
        let told = differences(&phrases, &asked, &honored);
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told[0].contains('2') && !told.concat().contains('\u{1b}'));
    }
}
