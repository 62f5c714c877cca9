//! News of the voice, and the sounds that replace it: the bell for a fault, the beat of an agent at work.

use crate::announce::{AnnouncementKind, Beat, Class, HEARTBEAT_STALE, Reason};
use crate::announce::{MissingVoice, VoiceEvent};
use crate::config::Load;
use crate::session::{Phase, SessionKey};

use super::Tuning;
use crate::app::signals::VoiceState;
use crate::app::{AppCx, Effect};

impl Tuning {
    /// Handles news of the voice.
    pub(in crate::app) fn voice(&mut self, event: VoiceEvent, cx: &mut AppCx) {
        match event {
            VoiceEvent::Ready { engine } => voice_is_there(engine, "voice.ready", cx),
            VoiceEvent::Recovered { engine } => voice_is_there(engine, "voice.back", cx),
            VoiceEvent::Begun(_) => {}
            VoiceEvent::Adjustable { knobs, usual } => self.adjustable(knobs, usual),
            VoiceEvent::Cues { heard } => cx.signals.cues_heard(heard),
            VoiceEvent::Ended(id) => {
                let wishes = cx.queue.ended(id, cx.now.monotonic);
                cx.command_voice(wishes);
            }
            VoiceEvent::Cut(id) => {
                let wishes = cx.queue.cut_short(id, cx.now.monotonic);
                cx.command_voice(wishes);
            }
            VoiceEvent::Notice { text } => {
                cx.say(
                    Class::Outcome,
                    AnnouncementKind::Connection,
                    "voice.notice",
                    &[("text", cx.because(&text))],
                );
            }
            VoiceEvent::Lost { reason } => {
                // Speech is still sent to it: some voices come back only when they are tried.
                cx.signals.set_voice(VoiceState::Lost);
                cx.say(
                    Class::Outcome,
                    AnnouncementKind::Connection,
                    "voice.lost",
                    &[("reason", cx.because(&reason))],
                );
                cx.effects.push(Effect::Bell);
            }
            VoiceEvent::None { reason, telling } => {
                cx.queue.disable();
                cx.signals.set_voice(VoiceState::None);
                let (class, kind) = (Class::Outcome, AnnouncementKind::Connection);
                let args = [("reason", cx.because(&reason))];
                match telling {
                    MissingVoice::Why => cx.say(class, kind, "voice.none.chosen", &args),
                    MissingVoice::That => cx.say(class, kind, "voice.none", &args),
                    MissingVoice::Known => cx.say_in_detail(class, kind, "voice.none", &args),
                }
            }
        }
    }

    /// Signals to the person that a silent agent is working. `is_heard` returns whether a session's source is
    /// up and, for a beat in words, whether its silence was not announced.
    pub(in crate::app) fn beat(
        &self,
        is_heard: impl Fn(&SessionKey, bool) -> bool,
        cx: &mut AppCx,
    ) {
        let settings = cx.announcer.settings();
        let wanted = settings.heartbeat && !settings.quiet;
        let is_word = cx.signals.beat(&cx.config.voice.cues) == Beat::Word;
        let works = || {
            cx.sessions.iter().any(|session| {
                session.phase == Phase::Running
                    && is_heard(&session.key, is_word)
                    && cx.announcer.load_of(session.key.link) != Load::Low
                    && cx.now.monotonic < session.last_event + HEARTBEAT_STALE
                    && !cx.announcer.is_muted(&session.key, &session.agent)
            })
        };
        let silent = match cx.queue.is_enabled() {
            true => cx.queue.is_idle() || cx.signals.is_beating(),
            // A person who reads lines as they come gets a line; output into a pipe needs none.
            false => cx.face.is_read_live(),
        };
        // Checked last, because it may look at all sessions.
        let wanted = wanted && silent && works();
        if cx
            .signals
            .step_beat(wanted, &cx.config.voice.cues, cx.now.monotonic)
        {
            let beat = cx.announcer.heartbeat(cx.now);
            cx.emit(beat);
        }
    }
}

fn voice_is_there(engine: Reason, key: &str, cx: &mut AppCx) {
    cx.queue.enable();
    let args = [("engine", cx.because(&engine))];
    cx.signals.set_voice(VoiceState::Ready { engine });
    cx.say(Class::Outcome, AnnouncementKind::Connection, key, &args);
}
