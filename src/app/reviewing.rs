//! Looking back, and how much is spoken: a whole turn, a search, the time away, mute, quiet.
//!
//! Responsibilities: what these commands do to the queue and the place in the history. Not here: the
//! words of the answers (`announce`), stepping through the history (`commands`), spelling (`spelling`).

use std::sync::Arc;
use std::time::Duration;

use crate::announce::{
    Aloud, Announcement, AnnouncementId, Arg, Class, HEARTBEAT_STALE, Heartbeat, Kind,
};
use crate::config::Load;
use crate::keys;
use crate::protocol::Now;
use crate::session::{Phase, SessionKey};

use super::App;
use super::doing::Doing;
use super::spelling::Spelling;

/// Nobody was there when no key or line came for this long.
const ABSENCE: Duration = Duration::from_secs(60);

/// Remembers what looking back needs.
#[derive(Debug, Clone, Default)]
pub(super) struct Reviewing {
    heartbeat: Heartbeat,
    /// Whether the last thing that was put into the queue is a beat: saying it is no end of silence.
    beating: bool,
    /// When the last key or line came.
    last: Option<Duration>,
    /// When the person was last seen before the present visit; absent means never.
    away_since: Option<Duration>,
    /// Which word is chosen, and what was spelled last.
    pub(super) spelling: Spelling,
    /// What was searched for last, and where it was found.
    searched: Option<Searched>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Searched {
    text: String,
    found: AnnouncementId,
    hit: Hit,
}

/// Says which of the places that hold what was searched for is looked at, counted when it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// From the newest on, from 1.
    pub place: usize,
    /// How many there are.
    pub count: usize,
}

impl Reviewing {
    /// Takes the time of a key or a line.
    pub(super) fn note(&mut self, now: Duration) {
        let last = self.last.replace(now).unwrap_or_default();
        if now >= last + ABSENCE {
            self.away_since = Some(last);
        }
    }

    /// Takes the news that something other than a beat is told: the silence begins anew.
    pub(super) fn heard(&mut self) {
        self.beating = false;
        self.heartbeat.rest();
    }

    /// Ends the search, so that the next one begins anew.
    pub(super) fn leave_search(&mut self) {
        self.searched = None;
    }

    /// Gives when the next heartbeat is due.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.heartbeat.deadline()
    }
}

/// How many announcements a leap goes over.
const LEAP: usize = 10;

/// Says which way a leap in the history goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leap {
    /// Towards the beginning.
    Back,
    /// Towards the end.
    Forward,
    /// To the beginning.
    First,
}

impl App {
    /// Goes over several announcements of the history at once; in the help, over as many rows.
    pub(super) fn leap(&mut self, leap: Leap, now: Now) {
        if let Doing::Helping { scroll } = &mut self.doing {
            *scroll = match leap {
                Leap::Back => scroll.saturating_sub(LEAP),
                Leap::Forward => (*scroll + LEAP).min(keys::BINDINGS.len() * 2),
                Leap::First => 0,
            };
            return;
        }
        let worth = |told: &&Arc<Announcement>| told.class != Class::Response;
        let history = self.announcer.history();
        let review = self.review;
        let found = match leap {
            Leap::Back => history
                .iter()
                .rev()
                .filter(worth)
                .filter(|told| review.is_none_or(|review| told.id < review))
                .take(LEAP)
                .last()
                .cloned(),
            Leap::Forward => history
                .iter()
                .filter(worth)
                .filter(|told| review.is_some_and(|review| told.id > review))
                .take(LEAP)
                .last()
                .cloned(),
            Leap::First => history.iter().find(worth).cloned(),
        };
        match (found, leap) {
            (Some(told), _) => {
                self.review = Some(told.id);
                self.say_again(&told, now);
            }
            (None, Leap::Forward) => {
                self.review = None;
                self.respond("history.end", &[], now);
            }
            (None, Leap::Back | Leap::First) if history.is_empty() => {
                self.respond("history.empty", &[], now);
            }
            (None, Leap::Back | Leap::First) => self.respond("history.start", &[], now),
        }
    }

    /// Shows another part of a long announcement that is looked at; without one, looks at the last.
    pub(super) fn turn_page(&mut self, by: isize, now: Now) {
        match self.review {
            Some(id) => self.review_page = Some((id, self.review_page() + by)),
            None => match self.last_told().cloned() {
                Some(told) => {
                    self.review = Some(told.id);
                    self.say_again(&told, now);
                }
                None => self.respond("history.empty", &[], now),
            },
        }
    }

    /// Lets a silent agent that works be heard to be working.
    pub(super) fn beat(&mut self, now: Now) {
        let settings = self.announcer.settings();
        let wanted = settings.heartbeat && !settings.quiet;
        let works = self.sessions.iter().any(|session| {
            let is_up = self
                .links
                .get(session.key.link.0)
                .is_some_and(|link| !link.is_down() && !link.phase.is_over());
            session.phase == Phase::Running
                && is_up
                && self.announcer.load_of(session.key.link) != Load::Low
                && now.monotonic < session.last_event + HEARTBEAT_STALE
                && !self.announcer.is_muted(&session.key, &session.agent)
        });
        let silent = self.queue.is_enabled() && (self.queue.is_idle() || self.reviewing.beating);
        if self.reviewing.heartbeat.step(
            wanted && works && silent,
            self.tuning.beat(&self.config.voice.cues),
            now.monotonic,
        ) {
            self.reviewing.beating = true;
            let beat = self.announcer.heartbeat(now);
            self.emit(beat, now);
        }
    }

    /// Says all that the agent wrote in the turn that is looked at, or in the last one.
    pub(super) fn whole_turn(&mut self, now: Now) {
        match self.announcer.whole_turn(self.review) {
            Some(segments) => {
                let told = self
                    .announcer
                    .aside(Class::Response, Kind::Output, segments, now);
                self.emit(told, now);
            }
            None => self.respond("turn.none", &[], now),
        }
    }

    /// Searches the history back from the place that is looked at; without a text, opens the editor.
    pub(super) fn search(&mut self, text: Option<String>, now: Now) {
        match text {
            Some(text) => self.find(&text, now),
            None => {
                self.doing = Doing::searching();
                self.respond("search.editing", &[], now);
            }
        }
    }

    /// Searches for what was typed; nothing typed searches on for the same.
    pub(super) fn submit_search(&mut self, typed: String, now: Now) {
        self.doing = Doing::Watching;
        let last = self
            .reviewing
            .searched
            .as_ref()
            .map(|searched| searched.text.clone());
        match Some(typed).filter(|text| !text.is_empty()).or(last) {
            Some(text) => self.find(&text, now),
            None => self.respond("search.left", &[], now),
        }
    }

    fn find(&mut self, text: &str, now: Now) {
        // The same search goes on from its last hit, a new one begins at the end.
        let from = self
            .reviewing
            .searched
            .as_ref()
            .filter(|last| last.text == text)
            .map(|last| last.found);
        match self.announcer.find(text, from) {
            Some(told) => {
                self.review = Some(told.id);
                let (place, count) = self.announcer.place_among(text, told.id);
                let hit = Hit { place, count };
                self.reviewing.searched = Some(Searched {
                    text: text.to_owned(),
                    found: told.id,
                    hit,
                });
                self.say_found(&told, hit, now);
            }
            None => {
                let key = if from.is_some() {
                    "search.no_more"
                } else {
                    "search.none"
                };
                self.reviewing.searched = None;
                self.respond(key, &[("text", Arg::Name(text.to_owned()))], now);
            }
        }
    }

    /// Gives which hit of a search is looked at; `None` where something else is.
    pub fn hit(&self) -> Option<Hit> {
        let searched = self.reviewing.searched.as_ref()?;
        (Some(searched.found) == self.review).then_some(searched.hit)
    }

    /// Tells in three sentences what happened while the person was away.
    pub(super) fn away(&mut self, now: Now) {
        let since = self.reviewing.away_since.unwrap_or_default();
        let words = self.announcer.away(since, now, &self.sessions);
        self.respond("fault.other", &[("reason", Arg::Own(words))], now);
    }

    /// Mutes the agent that is looked at or told something last, or hears it again.
    pub(super) fn mute(&mut self, now: Now) {
        let of_review = self
            .review
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
    pub(super) fn left_out(&mut self) -> (&'static str, Arg) {
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
    pub(super) fn keep_quiet(&mut self, now: Now) {
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
    pub(super) fn do_not_interrupt(&mut self, now: Now) {
        let polite = !self.queue.is_polite();
        self.queue.set_polite(polite);
        let key = if polite {
            "interrupt.off"
        } else {
            "interrupt.on"
        };
        self.respond(key, &[], now);
    }

    /// Gives the entry that is looked at, or the last one that was told.
    pub(super) fn looked_at(&self) -> Option<Arc<Announcement>> {
        self.review
            .and_then(|id| self.announcer.history().get(id))
            .or_else(|| self.last_told())
            .filter(|told| told.aloud != Aloud::Heard)
            .cloned()
    }
}
