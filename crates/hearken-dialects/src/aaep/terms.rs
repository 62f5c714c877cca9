//! The terms of a subscription: what to ask for, and how far a producer keeps to it.

use std::collections::BTreeSet;

use crate::config::{HandshakeConfig, Load, Verbosity};
use crate::link::{Phrase, PhraseArg};
use crate::protocol::{Capabilities, EventFilters, SummaryLevel};

use super::Terms;

/// The speech rate if none is set, in words per minute: the default of espeak-ng.
const USUAL_PACE: i64 = 175;
/// The slowest and the fastest speech rate of the scale, in words per minute.
const PACES: (i64, i64) = (80, 450);

/// Returns the terms to ask for (5.3): from the settings, and from what the person wants now.
pub(super) fn requested_terms(handshake: &HandshakeConfig, wishes: &Terms) -> Capabilities {
    Capabilities {
        max_events_per_second: Some(handshake.max_events_per_second),
        preferred_verbosity: Some(level(wishes.verbosity)),
        languages: Some(wishes.languages.clone()),
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

/// Returns the protocol's name for a verbosity.
fn level(verbosity: Verbosity) -> SummaryLevel {
    match verbosity {
        Verbosity::Terse => SummaryLevel::Terse,
        Verbosity::Normal => SummaryLevel::Normal,
        Verbosity::Detailed => SummaryLevel::Detailed,
    }
}

/// Estimates words per minute from a speech rate of -100 to 100.
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

/// A difference between a term that was asked for and the one honoured.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Difference {
    phrase: &'static str,
    requested: Term,
    honored: Term,
}

/// One side of a difference.
#[derive(Debug, Clone, PartialEq)]
enum Term {
    /// The phrase says everything.
    Told,
    Number(u64),
    Level(SummaryLevel),
    /// As on the wire.
    Load(String),
    List(Vec<String>),
}

impl Difference {
    /// Returns whether a person who heard one difference knows the other: a new order of the same things is no news.
    pub(super) fn is_known_from(&self, other: &Self) -> bool {
        self.phrase == other.phrase
            && self.requested.is_known_from(&other.requested)
            && self.honored.is_known_from(&other.honored)
    }

    /// Returns whether the difference keeps questions from the person.
    pub(super) fn leaves_unasked(&self) -> bool {
        matches!(self.phrase, "terms.confirmation" | "terms.clarification")
    }

    /// Returns the phrase for the difference.
    pub(super) fn phrase(&self) -> Phrase {
        Phrase::new(self.phrase)
            .with("asked", self.requested.word())
            .with("honored", self.honored.word())
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

    fn word(&self) -> PhraseArg {
        let phrase = |key| PhraseArg::Phrase(Phrase::new(key));
        match self {
            Self::Told => PhraseArg::Own(String::new()),
            Self::Number(number) => PhraseArg::Own(number.to_string()),
            Self::Level(SummaryLevel::Terse) => phrase("verbosity.terse"),
            Self::Level(SummaryLevel::Normal) => phrase("verbosity.normal"),
            Self::Level(SummaryLevel::Detailed) => phrase("verbosity.detailed"),
            Self::Load(load) => match load.as_str() {
                "low" => phrase("load.low"),
                "medium" => phrase("load.medium"),
                "high" => phrase("load.high"),
                _ => PhraseArg::Name(load.clone()),
            },
            Self::List(list) if list.is_empty() => phrase("terms.none"),
            Self::List(list) => PhraseArg::Names(list.clone()),
        }
    }
}

/// Returns every difference between the terms asked for and honoured; a term that the producer does not mention counts
/// as kept.
pub(super) fn differences(asked: &Capabilities, honored: &Capabilities) -> Vec<Difference> {
    /// Returns both sides if both name a term and differ in it.
    fn both<T: PartialEq>(
        sides: [&Capabilities; 2],
        field: impl Fn(&Capabilities) -> Option<T>,
        term: impl Fn(T) -> Term,
    ) -> Option<(Term, Term)> {
        let (asked, honored) = field(sides[0]).zip(field(sides[1]))?;
        (asked != honored).then(|| (term(asked), term(honored)))
    }
    let sides = [asked, honored];
    let refused = |field: fn(&Capabilities) -> Option<bool>| {
        (sides.map(field) == [Some(true), Some(false)]).then_some((Term::Told, Term::Told))
    };
    let highest = |it: &Capabilities| {
        let levels = it.supported_conformance_levels.as_ref()?;
        levels.iter().max().copied()
    };
    let load = |it: &Capabilities| it.cognitive_load.clone();
    let filters = |it: &Capabilities| it.event_filters.clone();
    let rows = [
        (
            "terms.rate",
            both(sides, |it| it.max_events_per_second, Term::Number),
        ),
        (
            "terms.verbosity",
            both(sides, |it| it.preferred_verbosity, Term::Level),
        ),
        (
            "terms.languages",
            both(sides, |it| it.languages.clone(), Term::List),
        ),
        (
            "terms.confirmation",
            refused(|it| it.supports_confirmation_reply),
        ),
        (
            "terms.clarification",
            refused(|it| it.supports_clarification_reply),
        ),
        (
            "terms.boundaries",
            both(sides, |it| it.coalesce_boundaries.clone(), Term::List),
        ),
        ("terms.filters", both(sides, filters, |_| Term::Told)),
        ("terms.load", both(sides, load, Term::Load)),
        ("terms.level", both(sides, highest, Term::Number)),
    ];
    let differs = |(phrase, sides): (&'static str, Option<(Term, Term)>)| {
        let (asked, honored) = sides?;
        Some(Difference {
            phrase,
            requested: asked,
            honored,
        })
    };
    rows.into_iter().filter_map(differs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wishes(verbosity: Verbosity, rate: Option<i32>) -> Terms {
        Terms {
            verbosity,
            load: Load::Medium,
            languages: vec!["en-US".to_owned()],
            rate,
        }
    }

    fn asked(verbosity: Verbosity) -> Capabilities {
        requested_terms(&HandshakeConfig::default(), &wishes(verbosity, None))
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
        let asked = asked(Verbosity::Normal);
        assert!(differences(&asked, &asked).is_empty());
        assert!(differences(&asked, &Capabilities::default()).is_empty());
        let honored = Capabilities {
            max_events_per_second: Some(2),
            supports_confirmation_reply: Some(false),
            languages: Some(vec!["de\u{1b}[2J".into()]),
            ..asked.clone()
        };
        let told: Vec<Phrase> = differences(&asked, &honored)
            .iter()
            .map(Difference::phrase)
            .collect();
        let keys: Vec<&str> = told.iter().map(|phrase| phrase.key).collect();
        assert_eq!(
            keys,
            ["terms.rate", "terms.languages", "terms.confirmation"]
        );
        assert_eq!(told[0].args[1], ("honored", PhraseArg::Own("2".into())));
        // A stranger's words stay marked as such until they are put into a sentence.
        let strange = PhraseArg::Names(vec!["de\u{1b}[2J".into()]);
        assert_eq!(told[1].args[1], ("honored", strange));
    }
}
