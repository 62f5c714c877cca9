//! How to begin, said once in a run: a person who only hears would never find it.
//!
//! Responsibilities: when it is said. Not here: how the screen says it (`pane`).

use std::time::Duration;

use super::Prompts;
use super::invitation::Invitation;
use crate::announce::{AnnouncementKind, AnswerMethod, Class};
use crate::app::{Activity, AppCx, Links};
use crate::session::Session;

/// How long an agent must be idle first: its work may be reported right after it is ready.
const IDLE: Duration = Duration::from_secs(1);

impl Prompts {
    /// Returns when the person is to be told how to begin.
    pub(in crate::app) fn invitation_due(&self) -> Option<Duration> {
        match self.invitation {
            Invitation::Idle(since) => Some(since + IDLE),
            Invitation::Early | Invitation::Over => None,
        }
    }

    /// Notes whether an agent is ready for the first prompt.
    pub(in crate::app) fn look_for_idle(&mut self, links: &Links, cx: &AppCx) {
        match self.invitation {
            Invitation::Over => {}
            _ if self.stops_work(links) || cx.face.manner() == AnswerMethod::Program => {
                self.invitation = Invitation::Over;
            }
            _ if !self.is_idle(links, cx) => self.invitation = Invitation::Early,
            Invitation::Early => self.invitation = Invitation::Idle(cx.now.monotonic),
            Invitation::Idle(_) => {}
        }
    }

    /// Returns whether an agent takes a prompt, and none works or asks.
    pub(in crate::app) fn is_idle(&self, links: &Links, cx: &AppCx) -> bool {
        self.takes_prompts(links)
            && !self.stops_work(links)
            && cx.sessions.open_questions().next().is_none()
            && cx.sessions.iter().all(Session::is_ended)
    }

    /// Announces how to begin, once in a run.
    pub(in crate::app) fn invite(&mut self, links: &Links, cx: &mut AppCx) {
        let several = self
            .prompted_link(false, links, cx)
            .map(|link| self.meant_on(link, links, cx))
            .is_some_and(|whom| self.name_of_prompted(&whom, links, cx).is_some());
        let key = match several {
            false => cx.face.pick("prompt.begin.keys", "prompt.begin.lines"),
            true => (cx.face).pick("prompt.begin.any.keys", "prompt.begin.any.lines"),
        };
        match cx.face.manner() {
            // The screen shows the invitation while nothing happens.
            AnswerMethod::Keys if !cx.queue.is_enabled() && cx.has_voice() => {
                // The voice is still getting ready.
                self.invitation = Invitation::Idle(cx.now.monotonic);
                return;
            }
            AnswerMethod::Keys if matches!(cx.doing, Activity::Watching) => {
                if cx.has_voice() {
                    let told = cx.announcer.hint_by_ear(key, cx.now);
                    cx.emit(told);
                }
            }
            AnswerMethod::Keys | AnswerMethod::Program => {}
            AnswerMethod::Lines => cx.say(Class::Outcome, AnnouncementKind::Hint, key, &[]),
        }
        self.invitation = Invitation::Over;
    }
}
