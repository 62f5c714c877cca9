//! How a run ends: by itself, when that was wished and all is said, or by wish.

use std::time::Duration;

use crate::protocol::Now;

use super::stream::LinkPhase;
use super::{App, Effect, Exit, Until};

impl App {
    /// Ends the run, after what is being said where there is time.
    pub(super) fn quit(&mut self, exit: Exit, now: Now) {
        // Nothing that could still speak remains: that is how it ended, whoever closed the screen.
        let over = self.links.iter().all(|link| link.phase.is_over());
        let failed = self
            .links
            .iter()
            .any(|link| matches!(link.phase, LinkPhase::Failed));
        let exit = if exit == Exit::Clean && over && failed {
            Exit::NoSource
        } else {
            exit
        };
        if self.quitting.is_none() {
            self.quitting = Some(exit);
            // Whoever left can't answer by what still calls for an answer.
            for prompt in self.attention.leave() {
                self.effects.push(Effect::Withdraw(prompt));
            }
            self.release_all(now);
            self.effects.push(Effect::Quit(exit));
        }
    }

    /// Tells whether nothing waits to be read, said or sent.
    pub(super) fn is_silent(&self) -> bool {
        !self.is_reading() && self.queue.is_idle() && self.outgoing.is_empty()
    }

    /// Gives when the run ends by itself, or stops waiting for the last answers.
    pub(super) fn end_due(&self) -> Option<Duration> {
        if self.quitting.is_some() {
            return None;
        }
        let idle = match self.until {
            // Whatever still has to be said or sent ends with an input of its own.
            Until::Idle(_) if !self.is_silent() => None,
            Until::Idle(wait) => Some(self.last_activity + wait),
            Until::NoSource | Until::Ended | Until::Asked => None,
        };
        let parting = self.parting.map(|(_, latest)| latest);
        [idle, parting].into_iter().flatten().min()
    }

    /// Ends by itself when that is wished and all is said.
    pub(super) fn check_end(&mut self, now: Now) {
        if let Some((exit, latest)) = self.parting
            && (self.outgoing.is_empty() || now.monotonic >= latest)
        {
            self.tell_undelivered(now);
            self.quit(exit, now);
        }
        let silent = self.is_silent();
        let over = self.links.iter().all(|link| link.phase.is_over());
        let failed = self
            .links
            .iter()
            .any(|link| matches!(link.phase, LinkPhase::Failed));
        let exit = match self.until {
            _ if !silent => None,
            Until::Asked => None,
            Until::Idle(wait) if now.monotonic >= self.last_activity + wait => {
                self.tell_left_open(now);
                Some(Exit::Clean)
            }
            Until::Ended
                if self.seen_session
                    && !self.sessions.is_holding()
                    && self.sessions.iter().all(|session| session.is_ended()) =>
            {
                Some(Exit::Clean)
            }
            Until::NoSource | Until::Ended | Until::Idle(_) => {
                over.then_some(if failed { Exit::NoSource } else { Exit::Clean })
            }
        };
        if let Some(exit) = exit {
            self.quit(exit, now);
        }
    }
}
