//! Confirmations that the person's own rules decide.
//!
//! # Mental model
//! A rule of the settings (`[[policy]]`) is a decision that the person made beforehand. The rules are consulted
//! once, when a question is raised: the first rule that matches it decides. The outcome is announced with the
//! action and the rule's name, and sent as `decided_by: auto:NAME` (6.3.2). If the answer can't be delivered,
//! the person is asked after all.
//!
//! # Worked example
//! `no_mail` rejects for the tool `send_email`. An agent asks to send a mail and names the tool: "Your rule no_mail
//! rejects question 1: …" is announced instead of the question, and the rejection is sent. An agent that names no tool
//! is not covered, and the person is asked.
//!
//! # Tuning by symptom
//! A rule does nothing: the question names no tool, or an `accept` rule met a question that does not itself declare low
//! risk and reversibility. Too much is rejected: name agents, tools or risks.

use crate::announce::{AnnouncementKind, Arg, Class, QuestionRelation, Trust, hides_something};
use crate::config::{PolicyDecision, PolicyRisk, PolicyRule};
use crate::protocol::{Answer, AwaitingConfirmation, Decision, RiskLevel, UndoStatement};
use crate::session::{AnswerReach, Question, QuestionBody, QuestionId, Sessions, TokenUse};

use super::Questions;
use crate::app::{AppCx, AppFacts};

/// The source of a decision, for `decided_by`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::app) enum Decider {
    /// The person, now.
    Person,
    /// One of the person's rules.
    Rule(String),
}

/// Returns the first rule that matches a question.
fn rule_for<'a>(
    rules: &'a [PolicyRule],
    question: &Question,
    trust: &Trust,
) -> Option<&'a PolicyRule> {
    let QuestionBody::Confirmation(asked) = &question.body else {
        // No rule can know the information that an agent asks for.
        return None;
    };
    rules.iter().find(|rule| {
        let agent = is_of(&rule.agents, question, trust);
        // To accept by a tool, the tool must be known; to reject, its name in the action is enough.
        let weakly = rule.decision != PolicyDecision::Accept;
        let about = |tool: &String| Sessions::is_about(question, tool, weakly);
        let tool = rule.tools.is_empty() || rule.tools.iter().any(about);
        let risk = rule.risks.is_empty() || rule.risks.contains(&risk_of(asked));
        agent && tool && risk && is_fit(rule.decision, rule.silence, question, asked)
    })
}

/// Returns whether a question comes from one of these agents; an empty list stands for any.
pub(super) fn is_of(agents: &[String], question: &Question, trust: &Trust) -> bool {
    let names = [question.key.agent.as_str(), &question.agent];
    // A rule is about the agent, not about an impostor under its name.
    let claimed = trust.doubts(question.key.link, &question.key.agent, &question.agent);
    let named = |name: &String| names.contains(&name.as_str());
    agents.is_empty() || (!claimed && agents.iter().any(named))
}

fn risk_of(asked: &AwaitingConfirmation) -> PolicyRisk {
    named(asked.risk_level.as_ref())
}

/// Returns a risk as rules name it.
pub(super) fn named(risk: Option<&RiskLevel>) -> PolicyRisk {
    match risk {
        Some(RiskLevel::Low) => PolicyRisk::Low,
        Some(RiskLevel::Medium) => PolicyRisk::Medium,
        Some(RiskLevel::High) => PolicyRisk::High,
        Some(RiskLevel::Other(_)) | None => PolicyRisk::Unknown,
    }
}

/// Returns whether a rule may decide a question like this.
///
/// Only accepting can do harm: the event itself must declare low risk and effortless reversibility, its tool must not
/// contradict, nothing about the question may be unusual, and if silence would accept it, the rule must explicitly
/// cover that.
pub(super) fn is_fit(
    decision: PolicyDecision,
    silence: bool,
    question: &Question,
    asked: &AwaitingConfirmation,
) -> bool {
    match decision {
        PolicyDecision::Leave => true,
        PolicyDecision::Reject => asked.accepts(&Decision::Reject),
        PolicyDecision::Accept => {
            asked.accepts(&Decision::Accept)
                && question.reject_only().is_none()
                && asked.risk_level == Some(RiskLevel::Low)
                && asked.undoing() == UndoStatement::Reversible
                && question.tool_risk().is_none()
                && (silence || asked.default_decision != Some(Decision::Accept))
                && !hides_something(question)
                && !question.is_unusual()
        }
    }
}

impl Questions {
    /// Allows a question to be accepted in one step if the person wants that, and all of it was read without finding a
    /// problem.
    pub(in crate::app) fn ease(&self, id: QuestionId, cx: &mut AppCx) {
        let question = cx.sessions.question(id);
        if question.is_some_and(|question| cx.announcer.may_be_one_step(question)) {
            cx.sessions.ease(id);
        }
    }

    /// Decides a newly raised question if a rule matches it. Returns `None` if the person is asked.
    pub(in crate::app) fn by_policy(&mut self, id: QuestionId, cx: &mut AppCx) -> Option<AppFacts> {
        if self.is_left_alone(id) {
            return Some(Vec::new());
        }
        let question = cx.sessions.shared(id)?;
        // A question that may be decided already is for the person to judge.
        let doubtful = question.reach == AnswerReach::Resumed
            || question.token_use != TokenUse::Own
            || question.reply.perhaps().is_some();
        if doubtful || !question.is_answerable() || self.rules.answered(id) {
            if doubtful {
                self.no_answer("answers.none", &question, String::new(), cx);
            }
            return None;
        }
        let trust = cx.announcer.trust();
        let Some(rule) = rule_for(&cx.config.policy, &question, trust).cloned() else {
            return self.by_answers(&question, cx);
        };
        Some(self.decide_by(rule, &question, cx))
    }

    /// Carries out a rule on a question that it matches.
    pub(super) fn decide_by(
        &mut self,
        rule: PolicyRule,
        question: &Question,
        cx: &mut AppCx,
    ) -> AppFacts {
        let id = question.id;
        let words = cx
            .announcer
            .policy_words(&rule, question, &cx.sessions, cx.now);
        cx.tell_words(
            Class::Outcome,
            AnnouncementKind::Confirmation,
            QuestionRelation::Concerns(id),
            words,
        );
        let decision = match rule.decision {
            PolicyDecision::Leave => {
                self.rules.note_left(id);
                return Vec::new();
            }
            PolicyDecision::Reject => Decision::Reject,
            PolicyDecision::Accept => Decision::Accept,
        };
        self.rules.note_answered(id);
        let answer = Answer::Decision {
            decision,
            rationale: None,
        };
        self.dispatch(question, answer, Decider::Rule(rule.name), cx)
    }

    /// Asks the person after all, because a rule's answer did not arrive.
    pub(super) fn ask_instead_of_rule(&mut self, id: QuestionId, cx: &mut AppCx) {
        let open = cx
            .sessions
            .question(id)
            .is_some_and(Question::is_answerable);
        if open && self.rules.answered(id) {
            self.question_opened(id, cx);
            self.ask(id, Class::Alert, cx);
        }
    }

    /// Announces at the start which questions will not be asked.
    pub(in crate::app) fn tell_policy(&self, cx: &mut AppCx) {
        self.tell_answers(cx);
        if cx.config.policy.is_empty() {
            return;
        }
        let phrases = cx.phrases();
        let rules: Vec<String> = cx
            .config
            .policy
            .iter()
            .map(|rule| {
                let key = match rule.decision {
                    PolicyDecision::Reject => "policy.rule.reject",
                    PolicyDecision::Leave => "policy.rule.leave",
                    PolicyDecision::Accept => "policy.rule.accept",
                };
                phrases.text(key, &[("rule", Arg::Own(rule.name.clone()))])
            })
            .collect();
        let args = [
            ("n", Arg::own(rules.len())),
            ("rules", Arg::Own(rules.join("; "))),
        ];
        cx.say(
            Class::Outcome,
            AnnouncementKind::Hint,
            "policy.start",
            &args,
        );
    }
}
