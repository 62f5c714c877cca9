//! The plan of the conversation that the person is in: its steps, or the one under way in a row.
//!
//! Responsibilities: which steps fit, and how long the rest may take. Not here: where it is drawn (`side`, `pane`),
//! reading it out (`app`).

use std::time::Duration;

use crate::announce::{Arg, speakable};
use crate::protocol::{PlanStage, PlanStep};
use crate::session::Session;

use super::text_rows::{self, PaneRow};
use super::{View, headline, session_rows, times};

/// How many done steps are shown before the one under way.
const BEFORE: usize = 2;
/// How many steps must be done before they say how long the others may take.
const ENOUGH: usize = 2;

/// Returns the session whose plan is shown, if it has one.
pub(super) fn planned(view: View<'_>) -> Option<&Session> {
    let session = view.app.conversation();
    session.filter(|session| !session.plan.plan.is_empty())
}

/// Returns the row with the step under way, or the next one; none without a plan.
pub(super) fn row(view: View<'_>, width: u16) -> Vec<PaneRow> {
    let Some(session) = planned(view) else {
        return Vec::new();
    };
    let steps = &session.plan.plan;
    let is_at = |stage: PlanStage| steps.iter().position(|step| step.stage == stage);
    let now = is_at(PlanStage::UnderWay).or_else(|| is_at(PlanStage::Open));
    let Some((at, step)) = now.and_then(|at| Some((at, steps.get(at)?))) else {
        let words = counted(view, session, steps.len());
        return vec![PaneRow::own(headline::cut(&words, width), view.look.own())];
    };
    let args = [
        ("agent", agent(view, session)),
        ("at", Arg::own(at + 1)),
        ("n", Arg::own(steps.len())),
    ];
    let before = view.app.phrases().text("pane.plan.step", &args);
    let before = format!("{} ", before.trim_end());
    let words = speakable::one_line(&step.words);
    let rows = text_rows::hanging(&before, &words, "", None, width, view.look.text());
    text_rows::fitting(rows, 1, width)
}

/// Returns the name of the agent whose plan it is, if there are several.
fn agent(view: View<'_>, session: &Session) -> Arg {
    match view.app.sessions().several() {
        true => Arg::Name(session.agent.to_string()),
        false => Arg::own(""),
    }
}

/// Returns the words for how many steps are done.
fn counted(view: View<'_>, session: &Session, done: usize) -> String {
    let args = [
        ("agent", agent(view, session)),
        ("done", Arg::own(done)),
        ("n", Arg::own(session.plan.plan.len())),
    ];
    view.app.phrases().text("pane.plan", &args)
}

/// Returns the rows of a plan: how much of it is done, and the steps around the one under way.
pub(super) fn rows(
    view: View<'_>,
    session: &Session,
    width: u16,
    room: usize,
    timed: bool,
) -> Vec<PaneRow> {
    let (app, look) = (view.app, view.look);
    let steps = &session.plan.plan;
    let done = steps
        .iter()
        .filter(|step| step.stage == PlanStage::Done)
        .count();
    let head = counted(view, session, done);
    let head = headline::cut(&head, width);
    let mut all = vec![PaneRow::head(head, look.region())];
    let percent = u64::try_from(done * 100 / steps.len().max(1)).unwrap_or(100);
    let left = left(view, session, done).filter(|_| timed && done < steps.len());
    let left = left.map_or(String::new(), |left| app.announcer().time(left));
    let words = app
        .phrases()
        .text("pane.plan.left", &[("left", Arg::Own(left))]);
    let bar = format!("{} {words}", session_rows::bar(percent));
    all.extend(text_rows::own(bar.trim_end(), width, look.quiet()));
    let room = room.saturating_sub(all.len());
    let now = steps.iter().position(|step| step.stage != PlanStage::Done);
    let first = now.unwrap_or(steps.len()).saturating_sub(BEFORE);
    let mut rows: Vec<PaneRow> = Vec::new();
    let mut shown = 0;
    for step in steps.iter().skip(first) {
        let of_it = step_rows(view, step, width);
        // The last row says how many follow.
        let is_last = first + shown + 1 == steps.len();
        if rows.len() + of_it.len() + usize::from(!is_last) > room {
            break;
        }
        rows.extend(of_it);
        shown += 1;
    }
    all.extend(rows);
    let more = steps.len() - first - shown;
    if more > 0 && room > 0 {
        let words = app
            .phrases()
            .text("pane.plan.more", &[("n", Arg::own(more))]);
        all.extend(text_rows::fitting(
            text_rows::own(&words, width, look.quiet()),
            1,
            width,
        ));
    }
    all
}

/// Returns a step with its box, indented as an agent's words are.
fn step_rows(view: View<'_>, step: &PlanStep, width: u16) -> Vec<PaneRow> {
    let (mark, style) = match step.stage {
        PlanStage::Done => ("[x] ", view.look.text()),
        PlanStage::UnderWay => ("[>] ", view.look.own()),
        PlanStage::Open => ("[ ] ", view.look.text()),
    };
    let inside = width.saturating_sub(text_rows::HANG + 4).max(1);
    let words = speakable::one_line(&step.words);
    let rows = text_rows::mixed("", &words, "", None, inside, style);
    text_rows::set_in(text_rows::led_by(rows, mark, "    "), text_rows::HANG)
}

/// Returns how long the rest may take: as the agent says, else as long for each step as for those that are done.
fn left(view: View<'_>, session: &Session, done: usize) -> Option<Duration> {
    let said = session
        .progress
        .as_ref()
        .and_then(|progress| progress.eta_ms);
    if let Some(said) = said.filter(|ms| *ms > 0) {
        return Some(times::left(Duration::from_millis(said)));
    }
    if done < ENOUGH {
        return None;
    }
    let ran = view.now.monotonic.saturating_sub(session.since);
    let open = session.plan.plan.len().saturating_sub(done);
    let each = ran / u32::try_from(done).ok()?;
    // Whole minutes: it is a guess.
    let left = each
        .checked_mul(u32::try_from(open).ok()?)?
        .as_secs()
        .div_ceil(60);
    Some(Duration::from_secs(left * 60))
}
