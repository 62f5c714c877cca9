//! The cues' sounds, made by code: a few short tones each.
//!
//! Responsibilities: frequencies, lengths, loudness, and the samples. Not here: playing them (`cue`).

use crate::announce::Cue;

/// Samples a second.
const RATE: u32 = 44_100;

/// How long each tone rises and falls, in samples, so that none clicks.
const EDGE: usize = 220;

/// Half of a quarter of the full scale: beside speech, not over it.
const LOUD: f64 = 5_000.0;

/// The tick comes often and tells little.
const SOFT: f64 = 2_000.0;

/// Returns a cue's tones: hertz and milliseconds, 0 hertz for a pause.
///
/// Up asks, down ends badly, three steps up are done; a source that is lost falls, one that is back
/// rises by the same two tones.
fn tones(cue: Cue) -> &'static [(f64, u32)] {
    match cue {
        Cue::Question => &[(660.0, 70), (0.0, 20), (990.0, 90)],
        Cue::Error => &[(294.0, 90), (0.0, 20), (208.0, 120)],
        Cue::Done => &[(523.0, 50), (659.0, 50), (784.0, 80)],
        Cue::Tick => &[(1200.0, 25)],
        Cue::Lost => &[(740.0, 70), (370.0, 110)],
        Cue::Back => &[(370.0, 70), (740.0, 110)],
    }
}

/// Returns a cue as raw samples: 44,100 a second, one channel, 16 bits, little endian.
pub(super) fn samples(cue: Cue) -> Vec<u8> {
    let loud = if cue == Cue::Tick { SOFT } else { LOUD };
    let mut bytes = Vec::new();
    for (hertz, millis) in tones(cue) {
        let count = (RATE * millis / 1000) as usize;
        for (at, height) in wave(*hertz).take(count).enumerate() {
            let edge = at.min(count - 1 - at).min(EDGE) as f64 / EDGE as f64;
            let sample = (loud * edge * height) as i16;
            bytes.extend_from_slice(&sample.to_le_bytes());
        }
    }
    bytes
}

/// Returns the heights of a sine wave, from one sample to the next: a point goes round a circle in small steps. The system's
/// library of mathematics would be loaded at each start for this alone.
fn wave(hertz: f64) -> impl Iterator<Item = f64> {
    let half = std::f64::consts::PI * hertz / f64::from(RATE);
    // Twice the sine of half a step, and its cosine; of so small an angle two terms are enough.
    let step = 2.0 * half * (1.0 - half * half / 6.0);
    let (mut beside, mut height) = (1.0 - half * half / 2.0, 0.0);
    std::iter::from_fn(move || {
        let now = height;
        beside -= step * height;
        height += step * beside;
        Some(now)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_wave_is_a_sine() {
        for hertz in [0.0, 208.0, 990.0, 1200.0] {
            for (at, height) in wave(hertz).take(RATE as usize / 5).enumerate() {
                let turn = std::f64::consts::TAU * hertz * at as f64 / f64::from(RATE);
                assert!(
                    (height - turn.sin()).abs() < 0.001,
                    "{hertz} {at}: {height}"
                );
            }
        }
    }

    #[test]
    fn every_cue_is_short_and_another_and_begins_and_ends_in_silence() {
        let mut all = BTreeSet::new();
        for cue in Cue::ALL {
            let bytes = samples(cue);
            let samples: Vec<i16> = bytes
                .chunks_exact(2)
                .map(|pair| i16::from_le_bytes([pair[0], pair[1]]))
                .collect();
            let millis = samples.len() * 1000 / RATE as usize;
            assert!((20..=240).contains(&millis), "{cue:?}: {millis} ms");
            let most = samples.iter().map(|sample| sample.unsigned_abs()).max();
            assert!(most.is_some_and(|most| (1_500..=5_000).contains(&most)));
            assert_eq!((samples.first(), samples.last()), (Some(&0), Some(&0)));
            assert!(all.insert(bytes), "{cue:?} sounds like another");
        }
    }
}
