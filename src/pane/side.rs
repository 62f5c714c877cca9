//! The column beside the work on a wide screen: the conversations, and the plan of the one that the person is in.
//!
//! Responsibilities: its width, and which steps of a plan fit. Not here: what an agent does in words (`session_rows`).

use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::announce::{Arg, speakable};
use crate::protocol::{PlanStage, PlanStep};
use crate::session::Session;

use super::text_rows::{self, PaneRow};
use super::{View, session_rows, times};

/// The narrowest screen with a column beside the work.
const WIDE: u16 = 110;
/// The least and the most columns that it has.
const WIDTH: (u16, u16) = (34, 60);
/// The columns between the work and it.
const BETWEEN: u16 = 2;
/// How many done steps are shown before the one under way.
const BEFORE: usize = 2;
/// How many steps must be done before they say how long the others may take.
const ENOUGH: usize = 2;

/// Splits the column off the right of an area, on a screen with room for it. A screen reader reads rows across both, so
/// that beside one there is none.
pub(super) fn take(view: View<'_>, area: &mut Rect) -> Option<Rect> {
    let running = view
        .app
        .sessions()
        .iter()
        .any(|session| !session.is_ended());
    if area.width < WIDE || !view.regions || view.look.stacked || !running {
        return None;
    }
    let width = area.width.saturating_sub(text_rows::WIDEST + BETWEEN);
    let width = width.clamp(WIDTH.0, WIDTH.1);
    area.width -= width + BETWEEN;
    Some(Rect {
        x: area.right() + BETWEEN,
        width,
        ..*area
    })
}

/// Draws the column. Without times, nothing in it moves.
pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, area: Rect, timed: bool) {
    let plan = view
        .app
        .conversation()
        .filter(|session| !session.plan.plan.is_empty());
    let room = usize::from(area.height);
    let for_agents = match plan {
        Some(_) => room / 2,
        None => room,
    };
    let head = |key: &str| {
        let words = view.app.phrases().text(key, &[]);
        PaneRow::head(words, view.look.region())
    };
    let mut all = vec![head("pane.agents")];
    let rows = session_rows::rows(view, area.width, for_agents.saturating_sub(1), timed);
    all.extend(rows);
    if let Some(session) = plan {
        all.push(PaneRow::own(String::new(), view.look.text()));
        let left = room.saturating_sub(all.len());
        all.extend(plan_rows(view, session, area.width, left, timed));
    }
    text_rows::draw(frame, &all, area);
}

/// Returns the rows of a plan: how much of it is done, and the steps around the one under way.
fn plan_rows(
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
    let several = app.sessions().several();
    let agent = match several {
        true => Arg::Name(session.agent.to_string()),
        false => Arg::own(""),
    };
    let args = [
        ("agent", agent),
        ("done", Arg::own(done)),
        ("n", Arg::own(steps.len())),
    ];
    let head = app.phrases().text("pane.plan", &args);
    let head = super::headline::cut(&head, width);
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

/// Returns a step with its box, set in as an agent's words are.
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
