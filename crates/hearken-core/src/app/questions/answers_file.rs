//! Questions that a file named on the command line answers by rule, for scripts (`--answers`).
//!
//! # Mental model
//! The file stands for an absent person who wrote down in advance what they would say. It goes through the gate
//! of the settings' rules (`policy`), which take precedence: no rule answers a question that may be decided
//! already, is reused or can't be answered. A rule of the file accepts what a rule of the settings may accept,
//! and beyond that only a named action with a named risk; it never accepts an action that hides something, is
//! too long to be spoken, is not named, or would be allowed by silence.
//!
//! # Worked example
//! `tidy` accepts `Move 3 notes` of low risk. An agent asks for it: "Your rule tidy accepts question 1: …", and
//! `decided_by: auto:tidy` is sent. The next question asks to delete them, which no rule matches: this is
//! announced, and the question stays open.
//!
//! # Tuning by symptom
//! A rule is announced as unable to answer: the risk is not named (`risks`, `irreversible`), or the answer is none of
//! those that the question takes.

use crate::announce::{Arg, Class, QuestionRelation, Trust, hides_something};
use crate::config::{AnswerKind, AnswerRule, PolicyDecision, PolicyRisk, PolicyRule, RuleEffect};
use crate::protocol::{Answer, AwaitingConfirmation, Decision, Response, UndoStatement};
use crate::session::{Question, QuestionBody, Sessions};

use super::Questions;
use super::policy::{Decider, is_fit, is_of, named};
use crate::app::cx::kind_of;
use crate::app::{AppCx, AppFacts};

/// Returns the first rule that matches a question.
fn rule_for<'a>(
    rules: &'a [AnswerRule],
    question: &Question,
    trust: &Trust,
) -> Option<&'a AnswerRule> {
    let kind = match &question.body {
        QuestionBody::Confirmation(_) => AnswerKind::Confirmation,
        QuestionBody::Clarification(_) => AnswerKind::Clarification,
    };
    rules.iter().find(|rule| {
        let about = |tool: &String| Sessions::is_about(question, tool, rule.answer == "reject");
        rule.kind == kind
            && is_of(&rule.agents, question, trust)
            && (rule.tools.is_empty() || rule.tools.iter().any(about))
            && rule.names(question.body.subject())
    })
}

/// Returns whether a rule may accept an action: what any rule may accept, or a risk that it names.
fn may_accept(rule: &AnswerRule, question: &Question, asked: &AwaitingConfirmation) -> bool {
    if is_fit(PolicyDecision::Accept, rule.silence, question, asked) {
        return true;
    }
    let risk = named(question.tool_risk().or(asked.risk_level.as_ref()));
    let final_too = question.is_irreversible() || asked.undoing() != UndoStatement::Reversible;
    rule.takes_risk()
        && asked.accepts(&Decision::Accept)
        && (risk == PolicyRisk::Low || rule.risks.contains(&risk))
        && (rule.irreversible || !final_too)
        && asked.names_action
        && (rule.silence || asked.default_decision != Some(Decision::Accept))
        && question.reject_only().is_none()
        && is_plain(question)
}

/// Returns whether all of a question can be spoken and displayed unchanged.
fn is_plain(question: &Question) -> bool {
    !hides_something(question) && !question.is_cut() && !question.turns_its_direction()
}

impl Questions {
    /// Answers a question by the file of `--answers`, if a rule there may. Returns `None` if the person is
    /// asked.
    pub(super) fn by_answers(&mut self, question: &Question, cx: &mut AppCx) -> Option<AppFacts> {
        let trust = cx.announcer.trust();
        let Some(rule) = rule_for(&cx.config.answers, question, trust).cloned() else {
            self.no_answer("answers.none", question, String::new(), cx);
            return None;
        };
        let fit = match &question.body {
            QuestionBody::Confirmation(asked) => match rule.effect() {
                RuleEffect::Accept => {
                    may_accept(&rule, question, asked).then_some(PolicyDecision::Accept)
                }
                RuleEffect::Reject => is_fit(PolicyDecision::Reject, false, question, asked)
                    .then_some(PolicyDecision::Reject),
                RuleEffect::Leave => Some(PolicyDecision::Leave),
                RuleEffect::Words(_) => None,
            },
            QuestionBody::Clarification(asked) => {
                let response = self.response_of_rule(asked, &rule.answer, cx);
                if let Some(response) = response.filter(|_| is_plain(question)) {
                    return Some(self.answer_by(&rule, question, response, cx));
                }
                None
            }
        };
        let Some(decision) = fit else {
            self.no_answer("answers.unfit", question, rule.name, cx);
            return None;
        };
        let rule = PolicyRule {
            name: rule.name,
            decision,
            agents: Vec::new(),
            tools: Vec::new(),
            risks: Vec::new(),
            silence: rule.silence,
        };
        Some(self.decide_by(rule, question, cx))
    }

    /// Answers a clarification by a rule, and announces it.
    fn answer_by(
        &mut self,
        rule: &AnswerRule,
        question: &Question,
        response: Response,
        cx: &mut AppCx,
    ) -> AppFacts {
        let answer = Answer::Response(response);
        let words = cx.announcer.answer_words(question, &answer);
        let args = [
            ("rule", Arg::Own(rule.name.clone())),
            ("n", Arg::own(question.id.0)),
            ("question", cx.announcer.subject(question)),
            ("answer", Arg::Own(words)),
        ];
        cx.tell_about(Class::Outcome, question, "answers.answers", &args);
        self.rules.note_answered(question.id);
        self.dispatch(question, answer, Decider::Rule(rule.name.clone()), cx)
    }

    /// Announces, once per question, that none of the file's rules answers it, if there are any rules.
    pub(super) fn no_answer(
        &mut self,
        key: &str,
        question: &Question,
        rule: String,
        cx: &mut AppCx,
    ) {
        if cx.config.answers.is_empty() || !self.rules.note_unanswered(question.id) {
            return;
        }
        let args = [("rule", Arg::Own(rule)), ("n", Arg::own(question.id.0))];
        let (kind, about) = (kind_of(question), QuestionRelation::Concerns(question.id));
        cx.tell_words(Class::Outcome, kind, about, cx.words(key, &args));
    }

    /// Announces at the start which questions the file's rules answer.
    pub(super) fn tell_answers(&self, cx: &mut AppCx) {
        if cx.config.answers.is_empty() {
            return;
        }
        let phrases = cx.phrases();
        let rules: Vec<String> = cx
            .config
            .answers
            .iter()
            .map(|rule| {
                let name = ("rule", Arg::Own(rule.name.clone()));
                let key = match rule.effect() {
                    RuleEffect::Reject => "policy.rule.reject",
                    RuleEffect::Leave => "policy.rule.leave",
                    RuleEffect::Words(words) => {
                        let answer = ("answer", Arg::Exact(words.to_owned(), None));
                        return phrases.text("answers.rule.words", &[name, answer]);
                    }
                    RuleEffect::Accept if rule.takes_risk() => {
                        let risks = rule.risks.iter().map(|risk| {
                            let key = match risk {
                                PolicyRisk::Low => "answers.risk.low",
                                PolicyRisk::Medium => "answers.risk.medium",
                                PolicyRisk::High => "answers.risk.high",
                                PolicyRisk::Unknown => "answers.risk.unknown",
                            };
                            phrases.text(key, &[])
                        });
                        let mut taken: Vec<String> = risks.collect();
                        if rule.irreversible {
                            taken.push(phrases.text("answers.risk.final", &[]));
                        }
                        let taken = ("risks", Arg::Own(taken.join(", ")));
                        return phrases.text("answers.rule.risk", &[name, taken]);
                    }
                    RuleEffect::Accept => "policy.rule.accept",
                };
                phrases.text(key, &[name])
            })
            .collect();
        let args = [
            ("n", Arg::own(rules.len())),
            ("rules", Arg::Own(rules.join("; "))),
        ];
        cx.say(
            Class::Outcome,
            crate::announce::AnnouncementKind::Hint,
            "answers.start",
            &args,
        );
    }
}
