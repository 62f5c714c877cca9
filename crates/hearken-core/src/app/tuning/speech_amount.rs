//! How much is spoken: an agent muted, only what is urgent, or everything to its end.

use crate::announce::{AnnouncementId, Arg};
use crate::session::{Session, SessionKey};

use super::Tuning;
use crate::app::AppCx;

impl Tuning {
    /// Mutes the named agent, or else the one under review, the chosen one, or the last one that said something;
    /// unmutes it if it was muted.
    pub(in crate::app) fn mute(
        &self,
        name: Option<&str>,
        looked_at: Option<AnnouncementId>,
        chosen: Option<SessionKey>,
        cx: &mut AppCx,
    ) {
        if let Some(name) = name {
            match agents_called(name, cx).as_slice() {
                [key] => self.mute_agent(key.clone(), cx),
                found => {
                    let key = match found.is_empty() {
                        true => "mute.unknown",
                        false => "mute.several",
                    };
                    let name = Arg::Own(crate::announce::speakable::one_line(name));
                    cx.respond(key, &[("agent", name)]);
                }
            }
            return;
        }
        let of_review = looked_at
            .and_then(|id| cx.announcer.history().get(id))
            .and_then(|told| told.key.clone());
        let of_last = || cx.speakers().next().cloned();
        let Some(key) = of_review.or(chosen).or_else(of_last) else {
            cx.respond("mute.nobody", &[]);
            return;
        };
        self.mute_agent(key, cx);
    }

    fn mute_agent(&self, key: SessionKey, cx: &mut AppCx) {
        let name = name_of(&key, cx);
        let muted = !cx.announcer.is_muted(&key, &name);
        cx.announcer.set_muted(&key, muted);
        if muted {
            let wishes = cx.queue.drop_unwanted(
                |told| {
                    told.key
                        .as_ref()
                        .is_some_and(|other| other.link == key.link && other.agent == key.agent)
                },
                cx.now.monotonic,
            );
            cx.command_voice(wishes);
        }
        let name = ("agent", Arg::Name(name));
        if muted {
            cx.respond("mute.on", &[name]);
        } else {
            let args = [name, self.left_out(cx)];
            cx.respond("mute.off", &args);
        }
    }

    /// Returns how much was left out while the person wanted less, as an argument; empty for nothing.
    pub(in crate::app) fn left_out(&self, cx: &mut AppCx) -> (&'static str, Arg) {
        match cx.announcer.take_left_out() {
            0 => ("n", Arg::own("")),
            n => ("n", Arg::own(n)),
        }
    }

    /// Speaks only urgent announcements and answers to keys from now on, or everything again.
    pub(in crate::app) fn keep_quiet(&self, cx: &mut AppCx) {
        let quiet = !cx.announcer.settings().quiet;
        cx.announcer.set_quiet(quiet);
        if quiet {
            let wishes = cx.queue.drop_unwanted(|_| true, cx.now.monotonic);
            cx.command_voice(wishes);
        }
        if quiet {
            cx.respond("quiet.on", &[]);
        } else {
            let args = [self.left_out(cx)];
            cx.respond("quiet.off", &args);
        }
    }

    /// Makes all speech finish from now on, or allows interruptions again.
    pub(in crate::app) fn do_not_interrupt(&self, cx: &mut AppCx) {
        let polite = !cx.queue.is_polite();
        cx.queue.set_polite(polite);
        let key = if polite {
            "interrupt.off"
        } else {
            "interrupt.on"
        };
        cx.respond(key, &[]);
    }
}

fn name_of(key: &SessionKey, cx: &AppCx) -> String {
    let agent = cx
        .sessions
        .get(key)
        .map_or(key.agent.as_str(), |session| &*session.agent);
    let name = cx.announcer.name_of_agent(key, agent, &cx.sessions);
    cx.phrases().name_of(&name).into_owned()
}

/// Returns the agents that a person may mean by a name: those with this full name, or else those with this name
/// alone.
fn agents_called(name: &str, cx: &AppCx) -> Vec<SessionKey> {
    let is = |called: &str| called.to_lowercase() == name.to_lowercase();
    let one_each = |wanted: &dyn Fn(&Session) -> bool| {
        let mut found: Vec<SessionKey> = Vec::new();
        for session in cx.sessions.iter().filter(|session| wanted(session)) {
            let key = &session.key;
            let known = |other: &SessionKey| other.link == key.link && other.agent == key.agent;
            if !found.iter().any(known) {
                found.push(key.clone());
            }
        }
        found
    };
    let whole = one_each(&|session| {
        let key = &session.key;
        let run = (cx.announcer).agent_name(key, &session.agent, &cx.sessions);
        is(&cx.phrases().name_of(&run)) || is(&name_of(key, cx))
    });
    match whole.is_empty() {
        true => one_each(&|session| is(&session.agent)),
        false => whole,
    }
}
