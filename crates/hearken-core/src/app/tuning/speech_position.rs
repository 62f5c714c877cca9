//! Continuing speech that was stopped, and going back in it.

use crate::announce::{Announcement, Arg, RewindUnit};

use super::Tuning;
use crate::app::AppCx;

impl Tuning {
    /// Continues what was stopped last, at its sentence.
    pub(in crate::app) fn resume_speech(&self, cx: &mut AppCx) {
        let skipped = cx.queue.take_skipped();
        let (found, wishes) = cx.queue.resume(cx.now.monotonic);
        cx.command_voice(wishes);
        if skipped > 0 {
            cx.respond("go_on.skipped", &[("n", Arg::own(skipped))]);
        }
        let Some(told) = found else {
            if skipped == 0 {
                cx.respond("go_on.nothing", &[]);
            }
            return;
        };
        match speaker(&told, cx) {
            // Other agents may have spoken meanwhile.
            Some(agent) => cx.respond("go_on.agent", &[("agent", agent)]),
            None => cx.answer_unsaid("go_on.done", &[]),
        }
    }

    /// Goes back in what is being spoken, or was spoken last.
    pub(in crate::app) fn go_back(&self, by: RewindUnit, cx: &mut AppCx) {
        match cx.queue.go_back(by, cx.now.monotonic) {
            Some(wishes) => {
                cx.command_voice(wishes);
                cx.answer_unsaid("go_back.done", &[]);
            }
            None => cx.respond("go_back.nothing", &[]),
        }
    }
}

/// Returns the speaker of a text, if that is not obvious.
fn speaker(told: &Announcement, cx: &AppCx) -> Option<Arg> {
    let agent = told.agent.as_ref().filter(|_| told.is_agents_text());
    let agent = agent.filter(|_| cx.sessions.several());
    Some(Arg::Name(agent?.to_string()))
}
