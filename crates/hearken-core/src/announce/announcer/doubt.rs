//! What is unusual about a question, in words: where its tool contradicts it, whose token it carries, what was
//! hidden in it, where its answer may have gone.
//!
//! Responsibilities: those sentences. Not here: whether a question takes two steps (`answerable`), how the
//! question itself is worded (`question_wording`), asking for the second step (`app`).

use crate::config::Verbosity;
use crate::protocol::RiskLevel;
use crate::session::{AnswerReach, Change, Question, QuestionBody, Sessions, TokenUse};

use super::answerable::hides_something;
use super::{Announcer, Draft};
use crate::announce::announcement::{AnnouncementKind, Class};
use crate::announce::words::phrase::Arg;
use crate::announce::words::segment::Segment;

impl Announcer {
    /// Describes how a question's tool rates itself worse than the question does; empty if it does not.
    pub(super) fn tool_says(&self, question: &Question) -> String {
        let QuestionBody::Confirmation(asked) = &question.body else {
            return String::new();
        };
        let risk = match question.tool_risk() {
            Some(RiskLevel::Medium) => self.phrases.text("question.risk.medium", &[]),
            Some(RiskLevel::High) => self.phrases.text("question.risk.high", &[]),
            Some(RiskLevel::Low | RiskLevel::Other(_)) | None => String::new(),
        };
        let reversibility = if question.is_irreversible() && !asked.is_irreversible() {
            self.phrases
                .text("question.reversibility.irreversible", &[])
        } else {
            String::new()
        };
        if risk.is_empty() && reversibility.is_empty() {
            return String::new();
        }
        let args = [
            ("risk", Arg::Own(risk)),
            ("reversibility", Arg::Own(reversibility)),
        ];
        self.phrases.text("question.tool_says", &args)
    }

    /// Announces that a question whose token belonged to another can now be answered, or that the agent repeats a
    /// question that was answered.
    pub(super) fn asked_anew(&self, question: &Question) -> Vec<Segment> {
        let perhaps = self.perhaps_words(question);
        let key = if perhaps.is_empty() {
            "question.freed"
        } else {
            "question.unheard"
        };
        let args = [
            ("n", Arg::own(question.id.0)),
            ("perhaps", Arg::Own(perhaps)),
            ("subject", self.subject(question)),
        ];
        self.phrases.say(key, Verbosity::Normal, &args)
    }

    /// Announces, at each power of ten, that an agent's questions wait for room.
    pub(super) fn questions_waiting(
        &self,
        change: &Change,
        waiting: usize,
        sessions: &Sessions,
    ) -> Option<Draft> {
        let mut rest = waiting;
        while rest > 1 && rest.is_multiple_of(10) {
            rest /= 10;
        }
        if rest != 1 {
            return None;
        }
        let agent = self.agent_name(&change.key, &change.agent, sessions);
        let args = [
            ("agent", Arg::Name(agent.to_string())),
            ("n", Arg::own(waiting)),
        ];
        let segments = self
            .phrases
            .say("question.waiting", Verbosity::Normal, &args);
        Some(Draft::new(Class::Alert, AnnouncementKind::Hint, segments))
    }

    /// Returns everything else about a question that must not be missed; empty if nothing is unusual.
    pub(super) fn doubts(&self, question: &Question) -> Vec<String> {
        let text = |key: &str| self.phrases.text(key, &[]);
        let mut doubts = Vec::new();
        let own = [self.changed(question), self.reject_only(question)];
        doubts.extend(own.into_iter().filter(|doubt| !doubt.is_empty()));
        if hides_something(question) {
            doubts.push(text("question.hidden"));
        }
        if let QuestionBody::Confirmation(asked) = &question.body
            && !asked.names_action
            && !asked.action.trim().is_empty()
        {
            doubts.push(text("question.unnamed"));
        }
        match question.reach {
            AnswerReach::LinkLost | AnswerReach::Resumed => {
                doubts.push(text("question.perhaps_answered"))
            }
            AnswerReach::Live | AnswerReach::NotAnswerable => {}
        }
        match question.token_use {
            TokenUse::Own => {}
            TokenUse::UsedBefore | TokenUse::Shared { .. } if question.replaces.is_none() => {
                doubts.push(text("question.reused"));
            }
            TokenUse::UsedBefore | TokenUse::Shared { .. } => {}
        }
        if question.shares_token {
            doubts.push(text("question.shares_token"));
        }
        if let Some((one, other)) = question.body.twin_choices() {
            let args = [("one", Arg::own(one)), ("other", Arg::own(other))];
            doubts.push(self.phrases.text("question.twins", &args));
        }
        let perhaps = self.perhaps_words(question);
        if !perhaps.is_empty() {
            doubts.push(perhaps);
        }
        doubts
    }
}
