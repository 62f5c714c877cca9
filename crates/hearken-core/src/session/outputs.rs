//! The outputs: their positions and their completion (A.6, 4.5.4).

use crate::protocol::OutputStreaming;

use super::anomaly::AnomalyKind;
use super::change::ChangeKind;
use super::context::Context;
use super::machine_observer::Subject;
use super::machines::{AgentState, OutputEvent, OutputRun};
use super::model::{MOST_OUTPUTS, Output};
use super::question::Question;
use super::sessions::Sessions;

impl Sessions {
    pub(super) fn output(&mut self, context: &mut Context, event: OutputStreaming) {
        let Some(session) = self.sessions.of_mut(context) else {
            return;
        };
        let mut found = Vec::new();
        let mut place = session.place_of_output(&event.output_id);
        if place.is_err() && session.outputs.len() >= MOST_OUTPUTS {
            let by_run = |(_, (_, output)): &(usize, &(_, Output))| output.run;
            let oldest = session.outputs.iter().enumerate().max_by_key(by_run);
            if let Some((at, _)) = oldest {
                session.outputs.remove(at);
                self.dropped.outputs += 1;
            }
            place = session.place_of_output(&event.output_id);
        }
        let state = session.sure_state().map(AgentState::named);
        let epoch = session.epoch();
        let relays_a_tool = session.implied.contains(AgentState::Thinking);
        let at = place.unwrap_or_else(|at| {
            session.loaded += (event.output_id.as_ref()).map_or(0, |id| id.as_str().len());
            let output = Output {
                position: None,
                run: OutputRun::Absent,
                had_text: false,
                epoch,
            };
            session
                .outputs
                .insert(at, (event.output_id.clone(), output));
            at
        });
        let Some((_, output)) = session.outputs.get_mut(at) else {
            return;
        };
        output.epoch = epoch;
        let begins = output.run == OutputRun::Absent;
        if begins && !relays_a_tool && state.is_some_and(|state| state != AgentState::WritingOutput)
        {
            found.push(AnomalyKind::OutputOutOfState);
        }
        let subject = Subject::Output(event.output_id.as_ref());
        match context.step(subject, output.run, OutputEvent::chunk(event.complete)) {
            Ok(run) => {
                match (output.position, event.position) {
                    (Some(before), Some(now)) if now < before => {
                        found.push(AnomalyKind::PositionDecreased);
                    }
                    (Some(before), Some(now)) if now == before && output.had_text => {
                        found.push(AnomalyKind::PositionRepeated);
                    }
                    (Some(_) | None, Some(_) | None) => {}
                }
                output.run = run;
            }
            Err(_) if event.complete => found.push(AnomalyKind::OutputCompletedTwice),
            Err(_) => found.push(AnomalyKind::ChunkAfterComplete),
        }
        output.position = event.position.or(output.position);
        output.had_text = !event.chunk.is_empty();
        let after = if event.chunk.chars().all(char::is_whitespace) {
            None
        } else {
            session.aftermath.take()
        };
        if let Some(after) = &after {
            let introduce = |question: &mut Question| question.introduced = true;
            self.questions.change(after.question, introduce);
        }
        self.implies(context, AgentState::WritingOutput);
        for kind in found {
            self.anomaly(context, kind, String::new());
        }
        let has_text = !event.chunk.is_empty();
        context.push(ChangeKind::Output {
            output: event.output_id.clone(),
            event,
            after,
        });
        if has_text {
            self.perhaps_resolved(context);
        }
    }
}
