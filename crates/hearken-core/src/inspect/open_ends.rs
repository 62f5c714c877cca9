//! What a session leaves open at the end of a stream: its own end, tools, questions and outputs.

use crate::session::{OutputRun, SessionKey};

use super::report::{FoundIn, ReportItem};
use super::safe_names;
use super::stream_check::Checker;
use super::stream_rules::{Fact, StreamRule};

impl Checker {
    /// Returns what a session leaves open at the end of the stream.
    pub(super) fn still_open(
        &mut self,
        line: u64,
        key: &SessionKey,
        index: usize,
    ) -> Vec<ReportItem> {
        let Some(session) = self.sessions.get(key) else {
            return Vec::new();
        };
        if session.is_ended() {
            return Vec::new();
        }
        let tools: Vec<String> = session
            .tools
            .iter()
            .map(|call| safe_names::name(&call.tool))
            .collect();
        let questions = self
            .sessions
            .open_questions()
            .filter(|question| question.key == *key)
            .count() as u64;
        let outputs = session
            .outputs()
            .filter(|(_, output)| output.run == OutputRun::Streaming)
            .count() as u64;
        let alone = |rule: StreamRule, times: u64| (0..times).map(move |_| (rule, String::new()));
        let items: Vec<(StreamRule, String)> =
            alone(StreamRule::EndMissing, u64::from(!session.helps))
                .chain(
                    tools
                        .iter()
                        .map(|tool| (StreamRule::ToolOpen, tool.clone())),
                )
                .chain(alone(StreamRule::QuestionOpen, questions))
                .chain(alone(StreamRule::OutputOpen, outputs))
                .collect();
        let agent = Some(safe_names::name(key.agent.as_str()));
        let name = Some(safe_names::name(key.session.as_str()));
        if let Some(report) = self.summary.sessions.get_mut(index) {
            report.open_tools = tools;
            report.open_questions = questions;
            report.open_outputs = outputs;
        }
        items
            .into_iter()
            .map(|(rule, field)| ReportItem {
                place: FoundIn::End,
                agent: agent.clone(),
                session: name.clone(),
                ..self.of_stream(line, Fact::Rule(rule), field)
            })
            .collect()
    }
}
