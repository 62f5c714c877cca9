//! How a run ends: by itself, when that was wished and all is said, or by wish.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::announce::Arg;
use crate::link::LinkId;
use crate::protocol::Now;

use super::{Ends, Scene};
use crate::app::{App, Effect, Exit};

/// How many agents are named that were not done; of more, nobody remembers the first by ear.
const MOST_NAMED: usize = 3;

impl App {
    /// Ends the run, after what is being said where there is time.
    pub(in crate::app) fn quit(&mut self, exit: Exit, now: Now) {
        // Nothing that could still speak remains: that is how it ended, whoever closed the screen.
        let scene = self.scene();
        let exit = if exit == Exit::Clean && scene.over && scene.failed {
            Exit::NoSource
        } else {
            exit
        };
        // An answer that is left behind is never left without a word, whichever way the run ends.
        self.tell_undelivered(now);
        if self.run.end() {
            // Whoever left can't answer by what still calls for an answer.
            for about in self.questions.stop_calling() {
                self.effects.push(Effect::Withdraw(about));
            }
            self.release_all(now);
            self.effects.push(Effect::Quit(exit));
        }
    }

    /// Returns whether nothing waits to be read, said or sent.
    fn is_silent(&self) -> bool {
        !self.is_reading() && self.queue.is_idle() && self.questions.is_all_sent()
    }

    /// Returns when the run ends by itself, or stops waiting for the last answers.
    pub(in crate::app) fn end_due(&self) -> Option<Duration> {
        self.run.due(self.is_silent())
    }

    /// Ends by itself when that is wished and all is said.
    pub(in crate::app) fn check_end(&mut self, now: Now) {
        let sent = self.questions.is_all_sent();
        if let Some(exit) = self.run.parted(sent, now.monotonic) {
            if exit != Exit::Terminated {
                // Who is told to end at once has told it by then.
                self.leave_defaults();
            }
            self.quit(exit, now);
        }
        if self.run.is_over() || !self.is_silent() {
            return;
        }
        match self.run.ends(self.scene(), now.monotonic) {
            Some(Ends::Idle) => {
                self.tell_left_open(now);
                self.quit(Exit::Clean, now);
            }
            Some(Ends::So(exit)) => self.quit(exit, now),
            None => {}
        }
    }

    /// Takes note of the sessions that had not ended when their source did, and gives the sentence that says
    /// whose they were, or nothing.
    pub(in crate::app) fn cut_short(&mut self, link: LinkId) -> String {
        let mut cut = 0_usize;
        let mut agents = BTreeSet::new();
        for session in self.sessions.iter() {
            if session.key.link == link && !session.is_ended() {
                cut += 1;
                // Of more than are named, the names are not wanted.
                if agents.len() <= MOST_NAMED {
                    let name =
                        (self.announcer).agent_name(&session.key, &session.agent, &self.sessions);
                    agents.insert(self.announcer.phrases().name_of(&name).into_owned());
                }
            }
        }
        if cut == 0 {
            return String::new();
        }
        self.run.note_failure();
        let (key, n) = if agents.len() > MOST_NAMED {
            ("link.cut_short.many", cut)
        } else {
            ("link.cut_short", agents.len())
        };
        let agents: Vec<String> = agents.into_iter().collect();
        let args = [("n", Arg::own(n)), ("agents", Arg::Own(agents.join(", ")))];
        self.announcer.phrases().text(key, &args)
    }

    fn scene(&self) -> Scene {
        Scene {
            over: self.links.are_over(),
            failed: self.links.has_failed(),
            ended: !self.sessions.is_holding() && !self.sessions.any_goes_on(),
        }
    }
}
