//! Sources that are lost, fail, end, or are left.
//!
//! Responsibilities: what is announced then, and the fate of their questions. Not here: reconnecting (`transport`).

use crate::announce::{AnnouncementKind, Arg, Class};
use crate::link::{Fault, LinkId};

use super::{LinkView, Links};
use crate::app::fault_words::args_of;
use crate::app::{AppCx, AppFact, AppFacts, LinkOrder, LinkStep};

impl Links {
    pub(super) fn lost(&mut self, id: LinkId, fault: &Fault, cx: &mut AppCx) -> AppFacts {
        let Some(view) = self.get_mut(id) else {
            return Vec::new();
        };
        let rests = view.connection().rests;
        // The dialect reports what the lost run was for; nothing is retried automatically.
        if let Some(key) = view.lost().filter(|_| !rests) {
            let args = [
                ("source", Arg::Own(view.name.clone())),
                ("reason", Arg::Own(cx.fault_words(fault))),
            ];
            cx.say(Class::Outcome, AnnouncementKind::Connection, key, &args);
        }
        self.unsure(id, cx)
    }

    /// Begins to handle the final failure of a link.
    pub(super) fn fail(&mut self, id: LinkId, fault: Fault) -> AppFacts {
        let mut facts = self.end_beginning(id);
        facts.extend([
            AppFact::Release(id),
            AppFact::Link(id, LinkStep::Fail(fault)),
        ]);
        facts
    }

    pub(super) fn failed(&mut self, id: LinkId, fault: &Fault, cx: &mut AppCx) -> AppFacts {
        say_rest(id, cx);
        let Some(view) = self.get_mut(id) else {
            return Vec::new();
        };
        view.failed();
        if view.is_beside() {
            return self.unsure(id, cx);
        }
        let name = view.name.clone();
        let program = view.program;
        // The fate of an agent across a network is unknown; a program's agent ends with the program.
        let cut = program.then(|| self.cut_short(id, cx)).flatten();
        let went_wrong = cut.is_some();
        let remedy = remedy(fault).map(|key| cx.phrases().text(key, &[]));
        let more = [remedy, cut, Some(self.has_remarked(id, cx))];
        let more = more.into_iter().flatten().filter(|it| !it.is_empty());
        let more: Vec<String> = more.collect();
        let mut args = vec![
            ("source", Arg::Own(name)),
            ("reason", Arg::Own(cx.fault_words(fault))),
            ("more", Arg::Own(more.join(" "))),
        ];
        let key = match fault {
            Fault::Rejected { reason, .. } if reason.key == "fault.not_spoken" => {
                args.extend(args_of(cx.phrases(), reason));
                "link.not_spoken"
            }
            _ => "link.failed",
        };
        cx.say(Class::Outcome, AnnouncementKind::Connection, key, &args);
        let mut facts = self.unsure(id, cx);
        if went_wrong {
            facts.push(AppFact::SourceFailed);
        }
        facts
    }

    /// Begins to handle the regular end of a link.
    pub(super) fn end(&mut self, id: LinkId) -> AppFacts {
        let mut facts = self.end_beginning(id);
        facts.extend([AppFact::Release(id), AppFact::Link(id, LinkStep::End)]);
        facts
    }

    pub(super) fn ended(&mut self, id: LinkId, cx: &mut AppCx) -> AppFacts {
        say_rest(id, cx);
        let Some(view) = self.get_mut(id) else {
            return Vec::new();
        };
        view.ended();
        let key = if view.recording.is_some() {
            "replay.ended"
        } else {
            "link.ended"
        };
        let source = ("source", Arg::Own(view.name.clone()));
        let cut = self.cut_short(id, cx);
        let went_wrong = cut.is_some();
        let args = [source, ("more", Arg::Own(cut.unwrap_or_default()))];
        cx.say(Class::Outcome, AnnouncementKind::Connection, key, &args);
        let mut facts = self.unsure(id, cx);
        if went_wrong {
            facts.push(AppFact::SourceFailed);
        }
        facts
    }

    /// Announces the fate of each question whose link is gone.
    pub(super) fn unsure(&self, id: LinkId, cx: &mut AppCx) -> AppFacts {
        let over = self.get(id).is_some_and(LinkView::is_over);
        let rests = |view: &LinkView| view.connection().rests;
        if !over && self.get(id).is_some_and(rests) {
            // Questions of this source do not depend on a connection.
            return Vec::new();
        }
        let unsure = if over {
            cx.sessions.link_over(id, cx.now)
        } else {
            cx.sessions.link_lost(id, cx.now)
        };
        let mut told = Vec::new();
        for question in unsure {
            let Some(question) = cx.sessions.shared(question) else {
                continue;
            };
            cx.withdraw(question.id);
            let (key, args) = cx.announcer.unsure(&question);
            cx.tell_about(Class::Alert, &question, key, &args);
            told.push(question.id);
        }
        vec![AppFact::LossAnnounced(told)]
    }

    /// Leaves a source at the person's wish.
    pub(super) fn left(&mut self, id: LinkId, cx: &mut AppCx) -> AppFacts {
        let Some(view) = self.get_mut(id) else {
            return Vec::new();
        };
        view.left();
        let name = view.name.clone();
        cx.order(id, LinkOrder::Close);
        cx.respond("link.left", &[("source", Arg::Own(name))]);
        let over = cx.sessions.link_left(id, cx.now);
        for id in &over {
            cx.withdraw(*id);
        }
        // An answer meant for a question that is gone must not reach another one.
        let gone = (!over.is_empty()).then_some(AppFact::QuestionsChanged);
        gone.into_iter().collect()
    }
}

/// Returns the phrase key of the remedy for an unusable source, if one is known.
fn remedy(fault: &Fault) -> Option<&'static str> {
    match fault {
        // Whatever answers there, hearken can't listen to it.
        Fault::Status { status: 404, .. }
        | Fault::NotEventStream { .. }
        | Fault::NotWebSocket(_) => Some("remedy.address"),
        Fault::Status { status: 401, .. } => Some("remedy.token.status"),
        Fault::ClosedWith { code: 4002, .. } => Some("remedy.token"),
        Fault::Refused
        | Fault::UnknownHost
        | Fault::TimedOut
        | Fault::Closed
        | Fault::Status { .. }
        | Fault::Tls(_)
        | Fault::TooLarge { .. }
        | Fault::TooManyValues { .. }
        | Fault::Unusable(_)
        | Fault::ClosedWith { .. }
        | Fault::Exited { .. }
        | Fault::Killed { .. }
        | Fault::Rejected { .. }
        | Fault::Declined(_)
        | Fault::OneWay
        | Fault::Other(_) => None,
    }
}

/// Announces the rest of an agent's texts, before the news that nothing more comes.
fn say_rest(id: LinkId, cx: &mut AppCx) {
    for told in cx.announcer.flush_link(id, cx.now, &cx.sessions) {
        cx.emit(told);
    }
}
