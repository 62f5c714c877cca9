//! The keys that matter now, and none that does nothing.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;
use unicode_width::UnicodeWidthStr;

use crate::announce::{AnnouncementKind, Arg, wrap};
use crate::app::{App, QuestionVisibility};
use crate::keys::Mode;
use crate::protocol::{Decision, ResponseKind};
use crate::session::{Question, QuestionBody};

use super::{Look, text_rows};

/// The separator between two keys.
const BETWEEN: &str = "  ";

/// The longest agent's word for an answer in a row of keys, in characters.
const LONGEST_ANSWER: usize = 24;

/// The keys whose descriptions are shorter on the narrowest screens.
const SHORTER: [(&str, &str); 2] = [
    ("keys.accept_twice", "keys.accept_twice.short"),
    ("keys.leave_open", "keys.leave_open.short"),
];

/// Returns the keys that answer the shown question beside what is drawn of it: before all of it was shown, those that
/// turn to the rest or reject it.
pub(super) fn of_question(app: &App, showing: QuestionVisibility) -> Vec<String> {
    // A change on the screen itself says how to turn its pages.
    let has_change = match showing {
        QuestionVisibility::Page(drawn) => drawn.change.is_some(),
        QuestionVisibility::Change(..) => true,
        QuestionVisibility::Blank
        | QuestionVisibility::SideQuestion
        | QuestionVisibility::Choices(_) => false,
    };
    let change = !has_change && app.hides_changes();
    offered(app, app.shows_whole(showing), change)
}

/// Returns all keys that can ever answer the shown question.
pub(super) fn most_of_question(app: &App) -> Vec<String> {
    offered(app, true, true)
}

fn offered(app: &App, is_whole: bool, change: bool) -> Vec<String> {
    // Switches have all items of the mode in one place.
    let Some((_, question)) = app.shown().filter(|_| app.scanned_items().is_none()) else {
        return Vec::new();
    };
    let mut words = match is_whole {
        true => answer_keys(app, question, change),
        false => {
            let reject = takes_reject(question).then_some("keys.reject");
            ["keys.next_page"].into_iter().chain(reject).collect()
        }
    };
    let answerable = |question: &&&Question| question.is_answerable();
    if app.questions().iter().filter(answerable).count() > 1 {
        words.push("keys.more");
    }
    units(app, &words)
}

/// Returns all other keys that matter now, or what switches can select.
pub(super) fn of_mode(app: &App) -> Vec<String> {
    if let Some(items) = app.scanned_items() {
        return items;
    }
    let words = match app.mode() {
        Mode::Help => vec!["keys.help"],
        Mode::Editing(_) => vec!["keys.editing"],
        Mode::Searching => vec!["keys.searching"],
        Mode::Prompting(_) => vec!["keys.prompting"],
        Mode::Choosing(..) => vec!["keys.choosing"],
        Mode::Confirming(_) => return confirming(app),
        Mode::Quitting => vec!["keys.quitting"],
        Mode::Leaving(_) => vec!["keys.leaving"],
        Mode::Watching => return when_watching(app),
    };
    units(app, &words)
}

/// Returns the keys that matter while nothing else has them.
pub(super) fn when_watching(app: &App) -> Vec<String> {
    if let Some(items) = app.scanned_items() {
        return items;
    }
    let mut words = Vec::new();
    if app.is_looking_back() {
        words.push("keys.looking_back");
    }
    words.push("keys.first");
    if app.takes_prompts() {
        words.push("keys.prompt");
    }
    if app.shown().is_none() {
        words.extend(of_news(app));
    }
    if app.speaks() {
        words.push("keys.stop");
    }
    words.push(if app.is_looking_back() {
        "keys.rest"
    } else {
        "keys.rest_and_back"
    });
    units(app, &words)
}

/// How many of the newest entries are looked at for what can be read.
const NEWS: usize = 40;

/// Returns the keys that read what came last: an answer, the output of a call, a plan.
fn of_news(app: &App) -> Vec<&'static str> {
    let mut words = Vec::new();
    let news = || app.history().iter().rev().take(NEWS);
    if news().any(|told| told.kind == AnnouncementKind::Output && told.is_agents_text()) {
        words.push("keys.whole_turn");
    }
    if news().any(|told| app.has_call_results(told)) {
        words.push("keys.output");
    }
    if app
        .conversation()
        .is_some_and(|session| !session.plan.plan.is_empty())
    {
        words.push("keys.plan");
    }
    words
}

fn confirming(app: &App) -> Vec<String> {
    let answer = app.waits_to_be_confirmed().unwrap_or_default();
    let rejects = app
        .shown()
        .is_some_and(|(_, question)| takes_reject(question));
    let mut short: String = answer.chars().take(LONGEST_ANSWER).collect();
    if short.len() < answer.len() {
        short.push('…');
    }
    let words = app
        .phrases()
        .text("keys.confirming", &[("answer", Arg::Own(short))]);
    let mut keys = split(&words);
    let reject = rejects.then_some("keys.reject");
    let rest: Vec<&str> = reject.into_iter().chain(["keys.leave_open"]).collect();
    keys.extend(units(app, &rest));
    keys
}

fn takes_reject(question: &Question) -> bool {
    match &question.body {
        QuestionBody::Confirmation(asked) => asked.accepts(&Decision::Reject),
        QuestionBody::Clarification(_) => false,
    }
}

fn units(app: &App, words: &[&str]) -> Vec<String> {
    words
        .iter()
        .flat_map(|key| split(&app.phrases().text(key, &[])))
        .collect()
}

/// Splits a phrase with several keys, which two spaces separate.
fn split(words: &str) -> Vec<String> {
    let units = words.split(BETWEEN).filter(|key| !key.is_empty());
    units.map(str::to_owned).collect()
}

/// Returns the keys for the answers that the question's producer accepts; only an answerable
/// question is shown.
fn answer_keys(app: &App, question: &Question, change: bool) -> Vec<&'static str> {
    match &question.body {
        QuestionBody::Confirmation(asked) => {
            let mut words = Vec::new();
            if asked.accepts(&Decision::Accept) {
                words.push(match app.accepts_in_two_steps(question) {
                    true => "keys.accept_twice",
                    false => "keys.accept",
                });
            }
            if asked.accepts(&Decision::Reject) {
                words.push("keys.reject");
            }
            if change {
                words.push("keys.change");
            }
            if asked.further_decisions().next().is_some() {
                words.push("keys.choice");
            }
            words.push("keys.details");
            words
        }
        QuestionBody::Clarification(asked) => {
            let mut words: Vec<&'static str> = asked
                .accepted_response_kinds
                .iter()
                .map(|kind| match kind {
                    ResponseKind::MultipleChoice => "keys.choice",
                    ResponseKind::YesNo => "keys.yes_no",
                    ResponseKind::Freetext | ResponseKind::Numeric | ResponseKind::Other(_) => {
                        "keys.text"
                    }
                })
                .collect();
            words.dedup();
            words
        }
    }
}

/// Arranges keys in rows, never separating a key from its description.
pub(super) fn lines(lead: &str, units: &[String], width: u16) -> Vec<String> {
    let width = usize::from(width);
    let mut lines: Vec<String> = Vec::new();
    for (at, unit) in units.iter().enumerate() {
        let key = if at == 0 {
            format!("{lead}{unit}")
        } else {
            unit.clone()
        };
        match lines.last_mut() {
            Some(line) if line.width() + BETWEEN.len() + key.width() <= width => {
                line.push_str(BETWEEN);
                line.push_str(&key);
            }
            Some(_) | None => lines.extend(wrap(&key, width)),
        }
    }
    lines
}

/// Arranges as many keys as fit, each with all of its description; those that don't fit are in the help, whose key is
/// always among them.
pub(super) fn fitting(app: &App, units: Vec<String>, place: Rect) -> Vec<String> {
    let room = usize::from(place.height);
    let fits = |units: &[String]| lines("", units, place.width).len() <= room;
    if fits(&units) {
        return lines("", &units, place.width);
    }
    let text = |key: &str| app.phrases().text(key, &[]);
    let mut units = units;
    if place.width < text_rows::TINY {
        for (long, short) in SHORTER {
            let long = text(long);
            units
                .iter_mut()
                .filter(|unit| **unit == long)
                .for_each(|unit| *unit = text(short));
        }
    }
    let help = text("keys.first");
    let mut chosen: Vec<String> = Vec::new();
    let mut is_due = units.contains(&help);
    for unit in units {
        is_due &= unit != help;
        let mut more = chosen.clone();
        more.push(unit.clone());
        more.extend(is_due.then(|| help.clone()));
        if fits(&more) {
            chosen.push(unit);
        }
    }
    lines("", &chosen, place.width)
}

/// Draws rows of keys.
pub(super) fn draw(frame: &mut Frame<'_>, lines: Vec<String>, area: Rect, look: Look) {
    let lines: Vec<Line<'_>> = lines
        .into_iter()
        .map(|line| Line::styled(line, look.quiet()))
        .collect();
    frame.render_widget(Paragraph::new(lines), area);
}
