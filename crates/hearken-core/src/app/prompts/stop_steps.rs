//! The two steps of stopping an agent's work.
//!
//! Responsibilities: whether a step is the second one. Not here: which agent, and the announcements
//! (`prompt_delivery`).

use std::time::Duration;

use crate::app::Conversation;

/// The second step counts only this long after the first: a key that bounces or is held down is not a decision.
const APART: Duration = Duration::from_millis(150);

/// How long the second step counts; a later one is a first step again.
const PATIENCE: Duration = Duration::from_secs(10);

/// The first step of a stop.
#[derive(Debug, Clone, Default)]
pub(super) struct StopSteps(Option<(Conversation, Duration)>);

impl StopSteps {
    /// Registers a step made by a key; returns whether it is the second one.
    pub(super) fn key(&mut self, whose: &Conversation, at: Duration) -> bool {
        self.step(whose, at, APART)
    }

    /// Registers a step made by a line, which can't bounce; returns whether it is the second one.
    pub(super) fn line(&mut self, whose: &Conversation, at: Duration) -> bool {
        self.step(whose, at, Duration::ZERO)
    }

    fn step(&mut self, whose: &Conversation, at: Duration, apart: Duration) -> bool {
        let second = self.0.as_ref().is_some_and(|(first, since)| {
            first == whose && at >= *since + apart && at <= *since + PATIENCE
        });
        self.0 = match second {
            true => None,
            false => Some((whose.clone(), at)),
        };
        second
    }

    /// Forgets the first step, because something else came.
    pub(super) fn forget(&mut self) {
        self.0 = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::LinkId;
    use crate::protocol::AgentId;

    #[test]
    fn a_stop_takes_two_steps_that_are_neither_too_close_nor_too_far_apart() {
        let ms = Duration::from_millis;
        let of = |link: usize, agent: Option<&str>| Conversation {
            link: LinkId(link),
            agent: agent.map(AgentId::from),
        };
        let (link, other) = (&of(0, None), &of(1, None));
        let mut stopping = StopSteps::default();
        assert!(!stopping.key(link, ms(1000)));
        assert!(!stopping.key(link, ms(1100)), "a bounce");
        assert!(stopping.key(link, ms(1400)));
        assert!(!stopping.key(link, ms(2000)), "it was used up");
        assert!(!stopping.key(link, ms(20_000)), "too late");
        assert!(!stopping.key(other, ms(21_000)), "another agent");
        assert!(stopping.key(other, ms(22_000)));
        stopping.key(link, ms(30_000));
        assert!(stopping.line(link, ms(30_001)), "two lines are no bounce");
        stopping.key(link, ms(30_000));
        stopping.key(&of(0, Some("a")), ms(29_000));
        assert!(
            !stopping.key(&of(0, Some("b")), ms(30_000)),
            "another conversation"
        );
        stopping.key(link, ms(30_000));
        stopping.forget();
        assert!(!stopping.key(link, ms(31_000)), "something else came");
    }
}
