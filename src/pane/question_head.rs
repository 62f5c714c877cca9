//! The head of a question: which one of how many, which page of it, how much time is left, and whose it is.

use unicode_width::UnicodeWidthStr;

use crate::announce::Arg;
use crate::keys::Mode;
use crate::session::Question;

use super::text_rows::{self, PaneRow};
use super::{View, headline, times};

/// The page of a question or of its details.
#[derive(Debug, Clone, Copy)]
pub(super) struct Page {
    pub(super) at: usize,
    pub(super) count: usize,
    pub(super) details: bool,
}

/// Returns the head: which question of how many, which page, how much time is left, and whose it is. On a narrow screen
/// it has two rows if it has a time, or if more questions would not fit: so nothing below it moves as either changes.
pub(super) fn head(
    view: View<'_>,
    question: &Question,
    width: u16,
    page: Option<Page>,
) -> Vec<PaneRow> {
    let (app, look) = (view.app, view.look);
    let mut answerable = app.waiting_questions();
    if !answerable.iter().any(|other| other.id == question.id) {
        // It is shown although a rule sets it aside: those questions come after the others.
        answerable = app.questions();
        answerable.retain(|question| question.is_answerable());
    }
    let place = answerable
        .iter()
        .position(|other| other.id == question.id)
        .map_or(1, |at| at + 1);
    let narrow = width < text_rows::NARROW;
    let left = app.time_left(question, view.now.monotonic).map(times::left);
    let time = |in_short: bool| match (left, in_short) {
        (Some(left), true) => app.announcer().short_time(left),
        (Some(left), false) => app.announcer().time(left),
        (None, _) => String::new(),
    };
    let part = |in_short: bool| match (page, app.mode()) {
        (_, Mode::Confirming(_)) => app.phrases().text("pane.question.second_step", &[]),
        (Some(page), _) => {
            let args = [("n", Arg::own(page.at)), ("count", Arg::own(page.count))];
            let key = match (page.details, page.count, in_short) {
                (true, 1, _) => "pane.question.details",
                (true, _, false) => "pane.question.details.page",
                (true, _, true) => "pane.question.details.page.short",
                (false, _, false) => "pane.question.page",
                (false, _, true) => "pane.question.page.short",
            };
            app.phrases().text(key, &args)
        }
        (None, _) => String::new(),
    };
    let count = answerable.len().max(place);
    let agent = app.agent_of(question);
    let has_room = |part: String| {
        let args = [
            ("place", Arg::own(88)),
            ("count", Arg::own(88)),
            ("n", Arg::own(question.id.0)),
            ("part", Arg::Own(part)),
            ("agent", Arg::Name(agent.clone())),
            ("left", Arg::own("")),
        ];
        let text = app.phrases().text("pane.question", &args);
        left.is_none() && text.width() <= usize::from(width)
    };
    let has_one_row = !narrow || has_room(part(false));
    // If it is the only one, its place goes without saying.
    let place = match count {
        1 => String::new(),
        _ => place.to_string(),
    };
    let row = |key: &str, place: &str, part: String, in_short: bool| {
        let args = [
            ("place", Arg::Own(place.to_owned())),
            ("count", Arg::own(count)),
            ("n", Arg::own(question.id.0)),
            ("part", Arg::Own(part)),
            ("agent", Arg::Name(agent.clone())),
            ("left", Arg::Own(time(in_short))),
        ];
        app.phrases().text(key, &args)
    };
    let cut = |text: String| headline::cut(&text, width);
    let fits = |text: &String| text.width() <= usize::from(width);
    if has_one_row {
        let whole = |in_short| row("pane.question", &place, part(false), in_short);
        let whole = Some(whole(false))
            .filter(fits)
            .unwrap_or_else(|| whole(true));
        return vec![PaneRow::head(cut(whole), look.alert())];
    }
    // Its page matters more than its place among others.
    let which =
        |(place, in_short): (&str, bool)| row("pane.question.which", place, part(in_short), true);
    let mut which = [(place.as_str(), false), ("", false), ("", true)].map(which);
    let at = which.iter().position(fits).unwrap_or(which.len() - 1);
    let whose = row("pane.question.whose", "", String::new(), true);
    vec![
        PaneRow::head(cut(std::mem::take(&mut which[at])), look.alert()),
        PaneRow::head(cut(whose), look.own()),
    ]
}
