//! News of the voice, and the sounds that replace it: the bell for a fault, the beat of an agent at work.

use crate::announce::VoiceEvent;
use crate::announce::{Beat, Class, HEARTBEAT_STALE, Kind, Reason};
use crate::config::Load;
use crate::protocol::Now;
use crate::session::Phase;

use crate::app::signals::VoiceState;
use crate::app::{App, Effect};

impl App {
    /// Handles news of the voice.
    pub(in crate::app) fn voice(&mut self, event: VoiceEvent, now: Now) {
        match event {
            VoiceEvent::Ready { engine } => self.voice_is_there(engine, "voice.ready", now),
            VoiceEvent::Recovered { engine } => self.voice_is_there(engine, "voice.back", now),
            VoiceEvent::Begun(_) => {}
            VoiceEvent::Adjustable { knobs, usual } => self.tuning.adjustable(knobs, usual),
            VoiceEvent::Cues { heard } => self.cx.signals.cues_heard(heard),
            VoiceEvent::Ended(id) => {
                let wishes = self.cx.queue.ended(id, now.monotonic);
                self.cx.wish(wishes);
            }
            VoiceEvent::Cut(id) => {
                let wishes = self.cx.queue.cut_short(id, now.monotonic);
                self.cx.wish(wishes);
            }
            VoiceEvent::Notice { text } => {
                self.cx.say(
                    Class::Outcome,
                    Kind::Connection,
                    "voice.notice",
                    &[("text", self.cx.because(&text))],
                    now,
                );
            }
            VoiceEvent::Lost { reason } => {
                // Speech is still sent to it: some voices come back only when they are tried.
                self.cx.signals.set_voice(VoiceState::Lost);
                self.cx.say(
                    Class::Outcome,
                    Kind::Connection,
                    "voice.lost",
                    &[("reason", self.cx.because(&reason))],
                    now,
                );
                self.cx.effects.push(Effect::Bell);
            }
            VoiceEvent::None { reason } => {
                self.cx.queue.disable();
                self.cx.signals.set_voice(VoiceState::None);
                self.cx.say(
                    Class::Outcome,
                    Kind::Connection,
                    "voice.none",
                    &[("reason", self.cx.because(&reason))],
                    now,
                );
            }
        }
        self.note_said(now);
    }

    fn voice_is_there(&mut self, engine: Reason, key: &str, now: Now) {
        self.cx.queue.enable();
        let args = [("engine", self.cx.because(&engine))];
        self.cx.signals.set_voice(VoiceState::Ready { engine });
        self.cx
            .say(Class::Outcome, Kind::Connection, key, &args, now);
        self.ask_again_after_voice(now);
    }

    /// Signals to the person that a silent agent is working.
    pub(in crate::app) fn beat(&mut self, now: Now) {
        let settings = self.cx.announcer.settings();
        let wanted = settings.heartbeat && !settings.quiet;
        let is_word = self.cx.signals.beat(&self.cx.config.voice.cues) == Beat::Word;
        let works = || {
            self.cx.sessions.iter().any(|session| {
                let is_up = self
                    .links
                    .get(session.key.link)
                    .is_some_and(|link| !link.is_down() && !link.phase.is_over());
                session.phase == Phase::Running
                    && is_up
                    // What is known of it was said: that nothing is.
                    && !(is_word && self.stuck.is_told(session.key.link, &session.key.agent))
                    && self.cx.announcer.load_of(session.key.link) != Load::Low
                    && now.monotonic < session.last_event + HEARTBEAT_STALE
                    && !self.cx.announcer.is_muted(&session.key, &session.agent)
            })
        };
        let silent = match self.cx.queue.is_enabled() {
            true => self.cx.queue.is_idle() || self.cx.signals.is_beating(),
            // A person who reads lines as they come gets a line; output into a pipe needs none.
            false => self.cx.face.is_read_live(),
        };
        // Checked last: it may have to look at all sessions.
        let wanted = wanted && silent && works();
        if self
            .cx
            .signals
            .step_beat(wanted, &self.cx.config.voice.cues, now.monotonic)
        {
            let beat = self.cx.announcer.heartbeat(now);
            self.cx.emit(beat, now);
        }
    }
}
