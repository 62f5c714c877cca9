//! How much is spoken: one agent muted, only what is urgent, everything to its end.

use crate::announce::Arg;
use crate::protocol::Now;
use crate::session::SessionKey;

use crate::app::App;

impl App {
    /// Mutes the agent that is looked at or told something last, or hears it again.
    pub(in crate::app) fn mute(&mut self, now: Now) {
        let of_review = self
            .review
            .at()
            .and_then(|id| self.announcer.history().get(id))
            .and_then(|told| told.key.clone());
        let of_last = || {
            let mut recent = self.announcer.history().iter().rev();
            recent.find_map(|told| told.key.clone())
        };
        let Some(key) = of_review.or_else(of_last) else {
            self.respond("mute.nobody", &[], now);
            return;
        };
        let name = self.name_of(&key);
        let muted = !self.announcer.is_muted(&key, &name);
        self.announcer.set_muted(&key, muted);
        if muted {
            let wishes = self.queue.drop_unwanted(
                |told| {
                    told.key
                        .as_ref()
                        .is_some_and(|other| other.link == key.link && other.agent == key.agent)
                },
                now.monotonic,
            );
            self.wish(wishes);
        }
        let name = ("agent", Arg::Name(name));
        if muted {
            self.respond("mute.on", &[name], now);
        } else {
            let args = [name, self.left_out()];
            self.respond("mute.off", &args, now);
        }
    }

    /// Gives how much was left out while the person wanted less; nothing where it was nothing.
    pub(in crate::app) fn left_out(&mut self) -> (&'static str, Arg) {
        match self.announcer.take_left_out() {
            0 => ("n", Arg::own("")),
            n => ("n", Arg::own(n)),
        }
    }

    fn name_of(&self, key: &SessionKey) -> String {
        let agent = self
            .sessions
            .get(key)
            .map_or(key.agent.as_str(), |session| session.agent.as_str());
        let name = self.announcer.agent_name(key, agent, &self.sessions);
        self.announcer.phrases().name_of(&name)
    }

    /// Says only what is urgent and what answers keys from now on, or everything again.
    pub(in crate::app) fn keep_quiet(&mut self, now: Now) {
        let quiet = !self.announcer.settings().quiet;
        self.announcer.set_quiet(quiet);
        if quiet {
            let wishes = self.queue.drop_unwanted(|_| true, now.monotonic);
            self.wish(wishes);
        }
        if quiet {
            self.respond("quiet.on", &[], now);
        } else {
            let args = [self.left_out()];
            self.respond("quiet.off", &args, now);
        }
    }

    /// Lets everything be said to its end from now on, or be interrupted again.
    pub(in crate::app) fn do_not_interrupt(&mut self, now: Now) {
        let polite = !self.queue.is_polite();
        self.queue.set_polite(polite);
        let key = if polite {
            "interrupt.off"
        } else {
            "interrupt.on"
        };
        self.respond(key, &[], now);
    }
}
