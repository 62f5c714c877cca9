//! Carries out the outputs of a link's dialect, in order.
//!
//! Responsibilities: turning each output into an effect, a change of sessions or an announcement. Not here: which
//! outputs exist (`dialect`), events (`text_reading`).

use crate::announce::{AnnouncementKind, Arg, Class};
use crate::dialect::{
    self, AgentPast, CatchUpPhase, DialectOutput, OpenQuestionsChange, QuestionEnd,
};
use crate::link::{LinkId, ServerRoute};
use crate::session::{self, CloseReason, Session};

use super::Links;
use crate::app::{
    Answerability, AppCx, AppFact, AppFacts, Effect, LinkOrder, LinkStep, RecordedFact,
};

impl Links {
    /// Carries out an output of a dialect.
    pub(in crate::app) fn carry_out(
        &mut self,
        id: LinkId,
        wish: DialectOutput,
        cx: &mut AppCx,
    ) -> AppFacts {
        match wish {
            DialectOutput::Event(text) => {
                return self.frame(id, text, Answerability::ToBeAnswered, cx);
            }
            DialectOutput::ViewOnly(text) => {
                return self.frame(id, text, Answerability::ToBeSeen, cx);
            }
            DialectOutput::Unread(why, times) => {
                return vec![AppFact::Unread(id, why, times)];
            }
            DialectOutput::Send { request, frame } => {
                let body = frame;
                cx.order(id, LinkOrder::Send { request, body });
            }
            DialectOutput::Hand { request, message } => {
                cx.order(id, LinkOrder::Hand { request, message })
            }
            DialectOutput::Call { request, call } => {
                cx.order(id, LinkOrder::Call { request, call })
            }
            DialectOutput::CallService { request, call } => {
                cx.order(id, LinkOrder::CallService { request, call });
            }
            DialectOutput::LeaveCall(request) => cx.order(id, LinkOrder::LeaveCall(request)),
            DialectOutput::Respond {
                id: of,
                request,
                body,
            } => {
                let order = LinkOrder::Respond {
                    id: of,
                    request,
                    body,
                };
                cx.order(id, order);
            }
            DialectOutput::Follow(stream) => cx.order(id, LinkOrder::Follow(stream)),
            DialectOutput::Refuse(fault) => cx.order(id, LinkOrder::Refuse(fault)),
            DialectOutput::Release => return vec![AppFact::Release(id)],
            DialectOutput::LastWords(words) => cx.order(id, LinkOrder::LastWords(words)),
            DialectOutput::ChangeWay(way) => {
                if let Some(view) = self.get_mut(id) {
                    view.left_connection();
                    if way == ServerRoute::AsGiven {
                        view.tries_as_given();
                    }
                }
                return vec![
                    AppFact::Release(id),
                    AppFact::Link(id, LinkStep::ChangeWay(way)),
                ];
            }
            DialectOutput::Close(fault) => {
                let mut facts = self.fail(id, fault);
                facts.push(AppFact::Link(id, LinkStep::Close));
                return facts;
            }
            DialectOutput::Settled { request, outcome } => {
                return vec![
                    AppFact::SourceActive(id),
                    AppFact::Settled(request, outcome),
                ];
            }
            DialectOutput::Standing(standing) => return self.stand(id, standing, cx),
            DialectOutput::Decided { token, to } => {
                let how = CloseReason::StateLeft { to };
                let changes = cx.sessions.decided(id, &token, &how, cx.now);
                return vec![AppFact::Changed(changes)];
            }
            DialectOutput::AnsweredBy {
                token,
                person,
                answer,
            } => {
                let how = CloseReason::answered_by(person.as_deref(), &answer);
                let changes = cx.sessions.decided(id, &token, &how, cx.now);
                return vec![AppFact::Changed(changes)];
            }
            DialectOutput::Answered(reply) => {
                if let Some(question) = cx.sessions.open_under(id, &reply.token) {
                    return self.tell_recorded_answer(question, reply.answer, cx);
                }
            }
            DialectOutput::Over { token, reason: how } => {
                let how = match how {
                    QuestionEnd::Stopped => CloseReason::Stopped,
                    QuestionEnd::TakenBack => CloseReason::TakenBack,
                    QuestionEnd::Default => CloseReason::Unsubscribed,
                    QuestionEnd::Forgotten => CloseReason::Forgotten,
                };
                let changes = cx.sessions.decided(id, &token, &how, cx.now);
                return vec![AppFact::Changed(changes)];
            }
            DialectOutput::Missed(CatchUpPhase::Begins) => {
                let from = cx.announcer.next_id();
                if let Some(known) = cx.catching_up.get_mut(&id) {
                    *known = from;
                }
            }
            DialectOutput::Missed(CatchUpPhase::IsOver) => return self.caught_up(id, cx),
            DialectOutput::Proven(agent) => cx.announcer.trust_mut().prove(id, agent),
            DialectOutput::Announce(phrase) => {
                let args = self.told_args(id, &phrase, cx);
                let key = self.told_key(phrase.key, cx);
                cx.say(Class::Outcome, AnnouncementKind::Connection, key, &args);
                return vec![AppFact::SourceActive(id)];
            }
            DialectOutput::Warn(phrase) => {
                let args = self.told_args(id, &phrase, cx);
                cx.say(Class::Alert, AnnouncementKind::Danger, phrase.key, &args);
            }
            DialectOutput::Recalled(recalled) => self.keep_recalled(id, recalled, cx),
            // Observers of a dialect's machines read its frames themselves.
            DialectOutput::Stepped(_) => {}
            DialectOutput::Detail(phrase) => {
                let args = self.told_args(id, &phrase, cx);
                cx.say_in_detail(
                    Class::Outcome,
                    AnnouncementKind::Connection,
                    phrase.key,
                    &args,
                );
            }
        }
        Vec::new()
    }

    /// Keeps what an agent wrote before the person followed it, and says how much that is.
    fn keep_recalled(&self, id: LinkId, recalled: AgentPast, cx: &mut AppCx) {
        let of_agent =
            |session: &&Session| session.key.link == id && session.key.agent == recalled.agent;
        let Some(session) = cx
            .sessions
            .iter()
            .filter(of_agent)
            .max_by_key(|it| it.last_event)
        else {
            return;
        };
        let name = cx
            .announcer
            .agent_name(&session.key, &session.agent, &cx.sessions);
        let count = recalled.texts.len();
        for text in recalled.texts {
            cx.announcer
                .keep_earlier(session, text, &cx.sessions, cx.now);
        }
        if count > 0 {
            let args = [
                ("n", Arg::own(count)),
                ("agent", Arg::Name(name.to_string())),
                (
                    "left",
                    Arg::own(match recalled.left_out {
                        0 => String::new(),
                        left => left.to_string(),
                    }),
                ),
            ];
            cx.say(
                Class::Outcome,
                AnnouncementKind::Connection,
                "fleet.recalled",
                &args,
            );
        }
    }

    /// Leaves a connection to follow its source in another way.
    pub(super) fn change_way(&self, id: LinkId, way: ServerRoute, cx: &mut AppCx) -> AppFacts {
        let facts = self.unsure(id, cx);
        cx.order(id, LinkOrder::ChangeWay(way));
        facts
    }

    /// Records an event as the app reads it.
    pub(super) fn keep_event(&self, id: LinkId, text: String, cx: &mut AppCx) {
        if !cx.is_recorded {
            return;
        }
        let kept = RecordedFact::Event(text);
        cx.effects.push(Effect::Keep { link: id, kept });
    }

    /// Records a frame, if it is worded differently from the events translated from it.
    pub(super) fn keep_raw(&self, id: LinkId, frame: &str, made: &[DialectOutput], cx: &mut AppCx) {
        if !cx.is_recorded {
            return;
        }
        let frame = dialect::bare(frame);
        let same =
            |wish: &DialectOutput| matches!(wish, DialectOutput::Event(text) if text == frame);
        if !made.iter().any(same) {
            let kept = RecordedFact::Frame(frame.to_owned());
            cx.effects.push(Effect::Keep { link: id, kept });
        }
    }

    /// Handles a report on the open questions of a link.
    fn stand(&mut self, id: LinkId, standing: OpenQuestionsChange, cx: &mut AppCx) -> AppFacts {
        let back = match standing {
            OpenQuestionsChange::Back => session::AnswerReach::Live,
            OpenQuestionsChange::PerhapsBack => session::AnswerReach::Resumed,
            OpenQuestionsChange::Decided => {
                let changes = cx.sessions.over(id, &CloseReason::Unsubscribed, cx.now);
                return vec![AppFact::Changed(changes)];
            }
        };
        if let Some(view) = self.get_mut(id) {
            view.resumed(back, cx.now);
        }
        Vec::new()
    }
}
