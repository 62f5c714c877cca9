//! News of the voice, and the sounds that replace it: the bell for a fault, the beat of an agent at work.

use crate::announce::VoiceEvent;
use crate::announce::{Aloud, Announcement, Beat, Class, Cue, HEARTBEAT_STALE, Kind, Reason};
use crate::config::Load;
use crate::protocol::Now;
use crate::session::Phase;

use super::voice::VoiceState;
use crate::app::{App, Effect};

impl App {
    /// Handles news of the voice.
    pub(in crate::app) fn voice(&mut self, event: VoiceEvent, now: Now) {
        match event {
            VoiceEvent::Ready { engine } => self.voice_is_there(engine, "voice.ready", now),
            VoiceEvent::Recovered { engine } => self.voice_is_there(engine, "voice.back", now),
            VoiceEvent::Begun(_) => {}
            VoiceEvent::Adjustable { knobs, usual } => self.tuning.adjustable(knobs, usual),
            VoiceEvent::Cues { heard } => self.tuning.cues_heard(heard),
            VoiceEvent::Ended(id) => {
                let wishes = self.queue.ended(id, now.monotonic);
                self.wish(wishes);
            }
            VoiceEvent::Cut(id) => {
                let wishes = self.queue.cut_short(id, now.monotonic);
                self.wish(wishes);
            }
            VoiceEvent::Notice { text } => {
                self.say(
                    Class::Outcome,
                    Kind::Connection,
                    "voice.notice",
                    &[("text", self.because(&text))],
                    now,
                );
            }
            VoiceEvent::Lost { reason } => {
                // Speech is still sent to it: some voices come back only when they are tried.
                self.tuning.set_voice(VoiceState::Lost);
                self.say(
                    Class::Outcome,
                    Kind::Connection,
                    "voice.lost",
                    &[("reason", self.because(&reason))],
                    now,
                );
                self.effects.push(Effect::Bell);
            }
            VoiceEvent::None { reason } => {
                self.queue.disable();
                self.tuning.set_voice(VoiceState::None);
                self.say(
                    Class::Outcome,
                    Kind::Connection,
                    "voice.none",
                    &[("reason", self.because(&reason))],
                    now,
                );
            }
        }
        self.note_said(now);
    }

    fn voice_is_there(&mut self, engine: Reason, key: &str, now: Now) {
        self.queue.enable();
        let args = [("engine", self.because(&engine))];
        self.tuning.set_voice(VoiceState::Ready { engine });
        self.say(Class::Outcome, Kind::Connection, key, &args, now);
        self.ask_again_after_voice(now);
    }

    /// Rings the bell for a cue that signals a fault, if a voice is wanted but there is none; a question rings by
    /// itself.
    pub(in crate::app) fn ring_for(&mut self, announcement: &Announcement, now: Now) {
        let fault = match announcement.cue {
            Some(cue @ (Cue::Error | Cue::Lost)) => cue.is_on(&self.config.voice.cues),
            Some(Cue::Question | Cue::Done | Cue::Tick | Cue::Back) | None => false,
        };
        let wanted = self.config.screen.bell && announcement.aloud == Aloud::Yes;
        if fault && wanted && self.tuning.rings(now.monotonic) {
            self.effects.push(Effect::Bell);
        }
    }

    /// Signals to the person that a silent agent is working.
    pub(in crate::app) fn beat(&mut self, now: Now) {
        let settings = self.announcer.settings();
        let wanted = settings.heartbeat && !settings.quiet;
        let is_word = self.tuning.beat(&self.config.voice.cues) == Beat::Word;
        let works = || {
            self.sessions.iter().any(|session| {
                let is_up = self
                    .links
                    .get(session.key.link)
                    .is_some_and(|link| !link.is_down() && !link.phase.is_over());
                session.phase == Phase::Running
                    && is_up
                    // What is known of it was said: that nothing is.
                    && !(is_word && self.stuck.is_told(session.key.link, &session.key.agent))
                    && self.announcer.load_of(session.key.link) != Load::Low
                    && now.monotonic < session.last_event + HEARTBEAT_STALE
                    && !self.announcer.is_muted(&session.key, &session.agent)
            })
        };
        let silent = match self.queue.is_enabled() {
            true => self.queue.is_idle() || self.tuning.is_beating(),
            // A person who reads lines as they come gets a line; output into a pipe needs none.
            false => self.face.is_read_live(),
        };
        // Checked last: it may have to look at all sessions.
        let wanted = wanted && silent && works();
        if self
            .tuning
            .step_beat(wanted, &self.config.voice.cues, now.monotonic)
        {
            let beat = self.announcer.heartbeat(now);
            self.emit(beat, now);
        }
    }
}
