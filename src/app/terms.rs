//! The terms of a subscription: what is asked for, and how far a producer keeps to it.

use std::collections::BTreeSet;

use crate::announce::{Arg, Phrases};
use crate::config::{HandshakeConfig, Load, Verbosity};
use crate::protocol::{Capabilities, EventFilters, Level};

/// How fast speech is that nobody has set, in words a minute: what espeak-ng does by itself.
const USUAL_PACE: i64 = 175;
/// The slowest and the fastest speech at the ends of the scale, in words a minute.
const PACES: (i64, i64) = (80, 450);

/// Holds what decides the terms that are asked of one producer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wishes<'a> {
    pub(super) handshake: &'a HandshakeConfig,
    pub(super) verbosity: Verbosity,
    pub(super) load: Load,
    /// Best first.
    pub(super) languages: &'a [String],
    /// The speech rate of this moment, -100 to 100, where the person has set one.
    pub(super) rate: Option<i32>,
}

/// Gives what is asked of a producer (5.3).
pub(super) fn wanted(wishes: Wishes<'_>) -> Capabilities {
    let handshake = wishes.handshake;
    Capabilities {
        max_events_per_second: Some(handshake.max_events_per_second),
        preferred_verbosity: Some(level(wishes.verbosity)),
        languages: Some(wishes.languages.to_vec()),
        supports_confirmation_reply: Some(true),
        supports_clarification_reply: Some(true),
        coalesce_boundaries: Some(handshake.boundaries.clone()),
        event_filters: Some(EventFilters {
            include: handshake.include.clone(),
            exclude: handshake.exclude.clone(),
        }),
        supported_conformance_levels: Some(handshake.levels.clone()),
        supported_extensions: Some(handshake.extensions.clone()),
        cognitive_load: Some(
            match wishes.load {
                Load::Low => "low",
                Load::Medium => "medium",
                Load::High => "high",
            }
            .to_owned(),
        ),
        pace_wpm: Some(handshake.pace_wpm.unwrap_or_else(|| pace(wishes.rate))),
        accept_signed_manifests_only: Some(handshake.require_signed),
    }
}

/// Gives a verbosity as the protocol names it.
fn level(verbosity: Verbosity) -> Level {
    match verbosity {
        Verbosity::Terse => Level::Terse,
        Verbosity::Normal => Level::Normal,
        Verbosity::Detailed => Level::Detailed,
    }
}

/// Estimates words a minute from a speech rate of -100 to 100.
fn pace(rate: Option<i32>) -> u64 {
    let rate = i64::from(rate.unwrap_or(0).clamp(-100, 100));
    let (slowest, fastest) = PACES;
    let pace = if rate < 0 {
        USUAL_PACE + rate * (USUAL_PACE - slowest) / 100
    } else {
        USUAL_PACE + rate * (fastest - USUAL_PACE) / 100
    };
    u64::try_from(pace).unwrap_or_default()
}

/// Holds one difference between what was asked for and what a producer keeps.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Difference {
    phrase: &'static str,
    asked: Term,
    honored: Term,
}

/// Holds one side of a difference.
#[derive(Debug, Clone, PartialEq)]
enum Term {
    /// The phrase tells it all.
    Told,
    Number(u64),
    Level(Level),
    /// As the wire names it.
    Load(String),
    List(Vec<String>),
}

impl Difference {
    /// Tells whether who heard of one knows the other: an order of the same things is no news.
    pub(super) fn is_known_from(&self, other: &Self) -> bool {
        self.phrase == other.phrase
            && self.asked.is_known_from(&other.asked)
            && self.honored.is_known_from(&other.honored)
    }

    /// Tells whether it keeps questions from the person.
    pub(super) fn leaves_unasked(&self) -> bool {
        matches!(self.phrase, "terms.confirmation" | "terms.clarification")
    }

    /// Words it.
    pub(super) fn words(&self, phrases: &Phrases) -> String {
        let args = [
            ("asked", self.asked.words(phrases)),
            ("honored", self.honored.words(phrases)),
        ];
        phrases.text(self.phrase, &args)
    }
}

impl Term {
    fn is_known_from(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::List(one), Self::List(other)) => {
                one.iter().collect::<BTreeSet<_>>() == other.iter().collect::<BTreeSet<_>>()
            }
            (Self::Told | Self::Number(_) | Self::Level(_) | Self::Load(_) | Self::List(_), _) => {
                self == other
            }
        }
    }

    fn words(&self, phrases: &Phrases) -> Arg {
        match self {
            Self::Told => Arg::own(""),
            Self::Number(number) => Arg::own(number),
            Self::Level(level) => Arg::Own(phrases.text(
                match level {
                    Level::Terse => "verbosity.terse",
                    Level::Normal => "verbosity.normal",
                    Level::Detailed => "verbosity.detailed",
                },
                &[],
            )),
            Self::Load(load) => match load.as_str() {
                "low" => Arg::Own(phrases.text("load.low", &[])),
                "medium" => Arg::Own(phrases.text("load.medium", &[])),
                "high" => Arg::Own(phrases.text("load.high", &[])),
                _ => Arg::Name(load.clone()),
            },
            Self::List(list) if list.is_empty() => Arg::Own(phrases.text("terms.none", &[])),
            Self::List(list) => {
                let names: Vec<String> = list.iter().map(|one| phrases.name_of(one)).collect();
                Arg::Own(names.join(", "))
            }
        }
    }
}

/// Finds each difference between what was asked for and what a producer keeps; a term that it does
/// not mention counts as kept.
pub(super) fn differences(asked: &Capabilities, honored: &Capabilities) -> Vec<Difference> {
    /// Gives both sides where both name a term and differ in it.
    fn both<T: Clone + PartialEq>(
        asked: Option<&T>,
        honored: Option<&T>,
        term: impl Fn(T) -> Term,
    ) -> Option<(Term, Term)> {
        let (asked, honored) = asked.zip(honored)?;
        (asked != honored).then(|| (term(asked.clone()), term(honored.clone())))
    }
    let refused = |asked: Option<bool>, honored: Option<bool>| {
        (asked == Some(true) && honored == Some(false)).then_some((Term::Told, Term::Told))
    };
    let highest = |levels: &Option<Vec<u64>>| levels.as_ref()?.iter().max().copied();
    let rows = [
        (
            "terms.rate",
            both(
                asked.max_events_per_second.as_ref(),
                honored.max_events_per_second.as_ref(),
                Term::Number,
            ),
        ),
        (
            "terms.verbosity",
            both(
                asked.preferred_verbosity.as_ref(),
                honored.preferred_verbosity.as_ref(),
                Term::Level,
            ),
        ),
        (
            "terms.languages",
            both(
                asked.languages.as_ref(),
                honored.languages.as_ref(),
                Term::List,
            ),
        ),
        (
            "terms.confirmation",
            refused(
                asked.supports_confirmation_reply,
                honored.supports_confirmation_reply,
            ),
        ),
        (
            "terms.clarification",
            refused(
                asked.supports_clarification_reply,
                honored.supports_clarification_reply,
            ),
        ),
        (
            "terms.boundaries",
            both(
                asked.coalesce_boundaries.as_ref(),
                honored.coalesce_boundaries.as_ref(),
                Term::List,
            ),
        ),
        (
            "terms.filters",
            both(
                asked.event_filters.as_ref(),
                honored.event_filters.as_ref(),
                |_| Term::Told,
            ),
        ),
        (
            "terms.load",
            both(
                asked.cognitive_load.as_ref(),
                honored.cognitive_load.as_ref(),
                Term::Load,
            ),
        ),
        (
            "terms.level",
            both(
                highest(&asked.supported_conformance_levels).as_ref(),
                highest(&honored.supported_conformance_levels).as_ref(),
                Term::Number,
            ),
        ),
    ];
    let differs = |(phrase, sides): (&'static str, Option<(Term, Term)>)| {
        let (asked, honored) = sides?;
        Some(Difference {
            phrase,
            asked,
            honored,
        })
    };
    rows.into_iter().filter_map(differs).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    fn asked(verbosity: Verbosity) -> Capabilities {
        wanted(Wishes {
            handshake: &HandshakeConfig::default(),
            verbosity,
            load: Load::Medium,
            languages: &["en-US".to_owned()],
            rate: None,
        })
    }

    #[test]
    fn every_capability_of_the_chapter_is_declared() {
        let value = asked(Verbosity::Terse).to_value();
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
        let asked = asked(Verbosity::Normal);
        assert!(differences(&asked, &asked).is_empty());
        assert!(differences(&asked, &Capabilities::default()).is_empty());
        let honored = Capabilities {
            max_events_per_second: Some(2),
            supports_confirmation_reply: Some(false),
            languages: Some(vec!["de\u{1b}[2J".into()]),
            ..asked.clone()
        };
        let told: Vec<String> = differences(&asked, &honored)
            .iter()
            .map(|difference| difference.words(&phrases))
            .collect();
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told[0].contains('2') && !told.concat().contains('\u{1b}'));
    }
}
