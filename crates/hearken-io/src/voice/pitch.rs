//! How high an utterance is spoken, so that no agent is ever mistaken for the program.
//!
//! Responsibilities: the pitch of the program's own words, and keeping an agent with a pitch of its
//! own away from it. Not here: how the pitch reaches an engine (`dialogue`, `speech_program`, `system`).
//!
//! All numbers are on the scale of SSIP, -100 to 100.

use crate::announce::{Mark, Sound};

/// Returns the pitch of an utterance, if the engine's own is `base` and the program's words are
/// `distance` above the usual pitch.
pub(super) fn of(mark: Mark, sound: &Sound, base: i32, distance: i32) -> i32 {
    let usual = sound.usual_pitch.unwrap_or(base);
    let own = own(usual, distance);
    match mark {
        Mark::Own => own,
        Mark::Agent => apart(sound.delivery.pitch.unwrap_or(usual), own, usual),
    }
}

/// Returns the pitch of the program's own words, always at the same distance from the agents'.
///
/// If the usual pitch leaves no space above, the words are lowered instead, because a difference lost in clamping would
/// let an agent speak in the program's name.
pub(super) fn own(usual: i32, distance: i32) -> i32 {
    let wanted = usual.saturating_add(distance);
    if (-100..=100).contains(&wanted) {
        wanted
    } else {
        usual.saturating_sub(distance).clamp(-100, 100)
    }
}

/// Moves an agent's pitch to the usual one if it is within half the distance between the usual
/// pitch and the program's: a person could no longer tell the two apart.
fn apart(wanted: i32, own: i32, usual: i32) -> i32 {
    let room = own.abs_diff(usual) / 2;
    if own != usual && wanted.abs_diff(own) <= room {
        usual
    } else {
        wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Delivery;

    fn agent(pitch: Option<i32>, usual: Option<i32>) -> Sound {
        Sound {
            delivery: Delivery {
                pitch,
                ..Delivery::default()
            },
            usual_pitch: usual,
            ..Sound::default()
        }
    }

    #[test]
    fn own_words_lie_apart_at_every_usual_pitch() {
        for usual in -100..=100 {
            for distance in [-100, -40, 20, 100] {
                let own = of(Mark::Own, &agent(None, Some(usual)), 0, distance);
                assert!((-100..=100).contains(&own));
                assert!(own.abs_diff(usual) >= 20, "{usual} {distance} {own}");
            }
        }
    }

    #[test]
    fn no_agent_comes_near_the_mark() {
        for wanted in -100..=100 {
            for (usual, base) in [(Some(0), 30), (Some(90), 0), (None, 10), (None, -100)] {
                let own = of(Mark::Own, &agent(None, usual), base, 20);
                let heard = of(Mark::Agent, &agent(Some(wanted), usual), base, 20);
                assert!(
                    heard.abs_diff(own) > 10,
                    "{wanted} {usual:?}: {heard} by {own}"
                );
            }
        }
        let free = of(Mark::Agent, &agent(Some(-30), None), 0, 20);
        assert_eq!(free, -30, "away from the mark a wish is a wish");
        assert_eq!(
            of(Mark::Agent, &agent(Some(5), None), 0, 0),
            5,
            "no mark, no bound"
        );
    }
}
