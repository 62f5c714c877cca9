//! How a decision made by one of the person's rules is worded.

use crate::config::{PolicyDecision, PolicyRule, Verbosity};
use crate::protocol::Now;
use crate::session::{Question, QuestionBody, Sessions};

use super::Announcer;
use super::time_left::stated_time_left;
use crate::announce::words::phrase::Arg;
use crate::announce::words::segment::Segment;

impl Announcer {
    /// Returns what a rule does with a question, together with everything that the question would have said.
    pub fn policy_words(
        &self,
        rule: &PolicyRule,
        question: &Question,
        sessions: &Sessions,
        now: Now,
    ) -> Vec<Segment> {
        let QuestionBody::Confirmation(asked) = &question.body else {
            return Vec::new();
        };
        let left = stated_time_left(question, sessions, now);
        let agent = self.asker(question, sessions);
        let mut args = self.confirmation_args(question, asked, agent, left, Question::LONGEST_PART);
        let keys = self.keys_now(question);
        let keys = Arg::Sounding {
            text: keys.text().to_owned(),
            spoken: keys.spoken().to_owned(),
        };
        args.extend([("rule", Arg::Own(rule.name.clone())), ("keys", keys)]);
        let key = match rule.decision {
            PolicyDecision::Reject => "policy.rejects",
            PolicyDecision::Leave => "policy.leaves",
            PolicyDecision::Accept => "policy.accepts",
        };
        let mut segments = self.phrases.say(key, Verbosity::Normal, &args);
        if question.is_cut() {
            segments.push(Segment::own(self.cut_words(question, sessions, now)));
        }
        segments
    }
}
