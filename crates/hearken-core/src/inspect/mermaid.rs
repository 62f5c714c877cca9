//! A trace as Mermaid state diagrams, one per session, in Markdown.

use std::collections::BTreeMap;
use std::fmt::Write;

use unicode_normalization::char::is_combining_mark;

use super::machine_steps::{MachineLane, RecordedStep, SessionTrace, verdict};
use super::report_wording::Wording;

/// Returns every session as a separate diagram.
pub(super) fn write(sessions: &[SessionTrace], notes: &[String], wording: &dyn Wording) -> String {
    let mut out = String::new();
    // Writing into a string can't fail.
    for trace in sessions {
        let _ = writeln!(
            out,
            "## {}, {}\n\n```mermaid\n{}```\n",
            label(&trace.agent),
            label(&trace.session),
            diagram(trace)
        );
    }
    for note in notes {
        let note = wording.text("trace.note", &[("told", label(note))]);
        let _ = writeln!(out, "{note}\n");
    }
    out
}

/// Returns the diagram of one session: each machine is a state with states inside.
fn diagram(trace: &SessionTrace) -> String {
    let mut lanes: Vec<(&MachineLane, Vec<&RecordedStep>)> = Vec::new();
    let mut places: BTreeMap<&MachineLane, usize> = BTreeMap::new();
    for step in &trace.steps {
        let place = *places.entry(&step.lane).or_insert_with(|| {
            lanes.push((&step.lane, Vec::new()));
            lanes.len() - 1
        });
        if let Some((_, steps)) = lanes.get_mut(place) {
            steps.push(step);
        }
    }
    let mut out = "stateDiagram-v2\n".to_owned();
    for (at, (lane, steps)) in lanes.iter().enumerate() {
        let _ = writeln!(out, "    state \"{}\" as m{at} {{", label(&lane.label()));
        let mut states: Vec<&str> = Vec::new();
        for state in steps
            .iter()
            .flat_map(|step| [step.from.as_str(), step.to.as_str()])
        {
            if !states.contains(&state) {
                states.push(state);
            }
        }
        for (number, state) in states.iter().enumerate() {
            let _ = writeln!(out, "        state \"{}\" as m{at}s{number}", label(state));
        }
        let id = |state: &str| {
            let number = states.iter().position(|known| *known == state);
            format!("m{at}s{}", number.unwrap_or_default())
        };
        if let Some(first) = steps.first() {
            let _ = writeln!(out, "        [*] --> {}", id(&first.from));
        }
        for step in steps {
            let seconds = step.since.as_secs_f64();
            let event = label(step.event);
            let mark = match verdict(step) {
                "legal" => String::new(),
                other => format!("{other} "),
            };
            let _ = writeln!(
                out,
                "        {} --> {} : {mark}{event} at {seconds:.3} s",
                id(&step.from),
                id(&step.to)
            );
        }
        out.push_str("    }\n");
    }
    out
}

/// Returns a text without characters that have a meaning in Mermaid or Markdown: each is replaced by an
/// underscore.
fn label(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || is_combining_mark(c) || " _.,-".contains(c) {
                c
            } else {
                '_'
            }
        })
        .collect();
    if text.trim().is_empty() {
        "without a name".to_owned()
    } else {
        text
    }
}
