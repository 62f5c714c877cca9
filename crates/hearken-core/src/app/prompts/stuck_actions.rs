//! Dealing with stuck work: announcing it, and leaving it behind.
//!
//! Responsibilities: whether an agent is at work as far as is known, the announcements, a further stop of work
//! that does not stop. Not here: what is due when (`stuck_work`), what leaving the work means to an agent (its
//! dialect).

use std::time::Duration;

use crate::announce::{AnnouncementKind, Arg, Class};
use crate::dialect::PersonRequest;
use crate::link::LinkId;
use crate::protocol::{AgentId, Now};
use crate::session::SessionKey;

use super::Prompts;
use super::stuck_work::SentStop;
use crate::app::{AppCx, AppFacts, Conversation, Links};

impl Prompts {
    /// Announces what is stuck.
    pub(in crate::app) fn tick_stuck(&mut self, links: &Links, cx: &mut AppCx) {
        self.tell_silences(links, cx);
        self.tell_stop(links, cx);
    }

    fn tell_silences(&mut self, links: &Links, cx: &mut AppCx) {
        for (link, agent, quiet) in self.stuck.due_silences(cx.now) {
            let next = is_at_work(link, agent.as_ref(), links, cx).then(|| quiet.told_again());
            self.stuck.set(link, agent.as_ref(), next);
            if next.is_none() {
                continue;
            }
            let whom = match agent {
                Some(_) => Conversation { link, agent },
                None => self.meant_on(link, links, cx),
            };
            let agent = self.name_of_prompted(&whom, links, cx);
            let time = cx.now.monotonic.saturating_sub(quiet.since());
            // Above a minute, seconds do not matter.
            let time = Duration::from_secs(time.as_secs() / 60 * 60);
            let args = [
                ("time", Arg::Own(cx.announcer.time(time))),
                ("agent", Arg::Name(agent.unwrap_or_default())),
            ];
            let (class, kind) = (Class::Outcome, AnnouncementKind::Connection);
            cx.say(class, kind, "stuck.nothing", &args);
        }
    }

    /// Notes that a stop was sent, if there is work to stop.
    pub(in crate::app) fn stop_sent(
        &mut self,
        conversation: Conversation,
        number: Option<usize>,
        links: &Links,
        now: Now,
    ) {
        let stops = is_stopping(&conversation, links);
        let stop = stops.then(|| SentStop::new(conversation, number, now.monotonic));
        self.stuck.set_stop(stop);
    }

    /// Returns the name of an agent that was asked to stop and has not.
    pub(in crate::app) fn not_stopping(&self, links: &Links, cx: &AppCx) -> Option<String> {
        let stop = self.stuck.stop().filter(|stop| stop.is_told())?;
        let whom = stop.conversation();
        if !is_stopping(whom, links) {
            return None;
        }
        let name = self.name_of_prompted(whom, links, cx);
        Some(name.unwrap_or_else(|| links.name(whom.link)))
    }

    fn tell_stop(&mut self, links: &Links, cx: &mut AppCx) {
        let Some(stop) = self.stuck.take_due_stop(cx.now) else {
            return;
        };
        if !is_stopping(stop.conversation(), links) {
            self.stuck.set_stop(None);
            return;
        }
        let key = cx
            .face
            .pick("stop_turn.no_effect.keys", "stop_turn.no_effect.lines");
        let agent = self
            .name_of_prompted(stop.conversation(), links, cx)
            .unwrap_or_default();
        let number = stop.number().map(|number| number.to_string());
        let args = [
            ("agent", Arg::Name(agent)),
            ("n", Arg::Own(number.unwrap_or_default())),
        ];
        cx.say(Class::Outcome, AnnouncementKind::Connection, key, &args);
    }

    /// Handles another stop of work that was asked to stop before; returns `None` if there is no such work.
    pub(super) fn stop_again(
        &mut self,
        conversation: &Conversation,
        links: &Links,
        cx: &mut AppCx,
    ) -> Option<AppFacts> {
        let told = self.stuck.stop_of(conversation)?.is_told();
        if !is_stopping(conversation, links) {
            self.stuck.set_stop(None);
            return None;
        }
        if told {
            self.stuck.set_stop(None);
            return Some(self.want_of(conversation, PersonRequest::Abandon, cx.now));
        }
        cx.respond("stop_turn.stopping", &[]);
        Some(Vec::new())
    }
}

/// Returns whether a prompted agent works, as far as is known, and does not wait for the person; without an
/// agent, whether there is work without a known session.
fn is_at_work(link: LinkId, agent: Option<&AgentId>, links: &Links, cx: &AppCx) -> bool {
    let view = links.get(link);
    let Some(view) = view.filter(|view| !view.is_down() && !view.is_over()) else {
        return false;
    };
    let is_meant =
        |key: &SessionKey| key.link == link && agent.is_none_or(|agent| key.agent == *agent);
    let connection = view.connection();
    let mut sessions = cx.sessions.iter();
    let runs = sessions.any(|session| is_meant(&session.key) && !session.is_ended());
    let works = match agent {
        Some(_) => runs,
        None => connection.in_turn && !runs,
    };
    let mut questions = cx.sessions.answerable_questions();
    connection.takes_prompts && works && !questions.any(|question| is_meant(&question.key))
}

/// Returns whether work there was asked to stop, and has not stopped.
fn is_stopping(whom: &Conversation, links: &Links) -> bool {
    let view = links.get(whom.link);
    view.is_some_and(|view| !view.is_over() && view.connection().is_stopping)
}
