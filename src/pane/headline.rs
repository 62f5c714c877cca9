//! The first row, with what is going on, and the status row, with the current switches.

use std::time::Duration;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::announce::{Arg, speakable};
use crate::app::{App, LinkPhase};
use crate::config::{Load, Verbosity};
use crate::session::{LinkId, Session};

use super::help::HelpRows;
use super::{View, times};

/// The separator between two parts of the first row.
const BETWEEN: &str = "  ";

/// Returns what is going on in one row: open questions first, then agents, then anything unusual, as far as
/// whole parts fit. If one agent works, it is named with what it does, where and how. Without a status row, the row has
/// the switches too.
pub(super) fn first(view: View<'_>, width: u16, help: Option<HelpRows>) -> String {
    let (app, all) = (view.app, !view.regions);
    if help.is_none()
        && all
        && let Some(mark) = looking_back(app)
    {
        // A person looking back must know it before anything else.
        return cut(&mark, width);
    }
    let text = |key: &str, n: usize| app.phrases().text(key, &[("n", Arg::own(n))]);
    let open = app.waiting();
    let running = app.sessions().iter();
    let running = running.filter(|session| !session.is_ended()).count();
    let mut parts = Vec::new();
    if open > 0 {
        parts.push(text("headline.questions", open));
    }
    if let Some(rows) = help {
        let args = [
            ("from", Arg::own(rows.from + 1)),
            ("to", Arg::own(rows.to)),
            ("n", Arg::own(rows.count)),
        ];
        parts.push(app.phrases().text("headline.help", &args));
    }
    match (running, app.conversation()) {
        (0, _) => {
            parts.push(app.phrases().text("headline.nobody", &[]));
            // Between two turns, where and how the only agent works stays in view.
            if let ([link], false) = (app.links(), all) {
                parts.extend(surroundings(view, link.id, None));
            }
        }
        (1, Some(session)) if !all => {
            parts.push(app.session_head(session).trim_end_matches('.').to_owned());
            // While a question is shown, no time but its own changes.
            parts.extend(circumstances(view, session, app.shown().is_none()));
        }
        (running, session) => {
            parts.push(text("headline.sessions", running));
            // What the other agents do is below; where and how this one works is not.
            let known = session.filter(|_| !all && app.shown().is_none());
            if let Some(session) = known {
                let mut known = circumstances(view, session, false);
                if let Some(first) = known.first_mut() {
                    *first = format!("{}: {first}", app.phrases().name_of(&session.agent));
                }
                parts.extend(known);
            }
        }
    }
    let down = app.links().iter().filter(|link| link.is_down()).count();
    if down > 0 {
        parts.push(text("headline.down", down));
    }
    if all {
        parts.extend(switched(app));
        parts.push(app.voice_words());
    }
    let mut line = "hearken".to_owned();
    for part in parts {
        if line.width() + BETWEEN.len() + part.width() > usize::from(width) {
            break;
        }
        line.push_str(BETWEEN);
        line.push_str(&part);
    }
    line
}

/// The longest name of a mode or a model in the first row, in columns: an agent chooses it.
const LONGEST_NAME: u16 = 32;

/// Returns where and how the agent of a link works: its folder, its mode and its model.
fn surroundings(view: View<'_>, link: LinkId, model: Option<String>) -> Vec<String> {
    let app = view.app;
    let mut parts = Vec::new();
    let mut part = |key: &str, name: &'static str, value: Option<String>| {
        let words = value.map(|value| cut(&speakable::one_line(&value), LONGEST_NAME));
        if let Some(words) = words.filter(|words| !words.is_empty()) {
            parts.push(app.phrases().text(key, &[(name, Arg::Own(words))]));
        }
    };
    let folder = app.folder_of(link).map(|folder| {
        let last = folder
            .trim_end_matches(['/', '\\'])
            .rsplit(['/', '\\'])
            .next();
        last.unwrap_or(folder).to_owned()
    });
    part("headline.folder", "folder", folder);
    part("headline.mode", "mode", app.mode_of(link));
    part("headline.model", "model", model);
    parts
}

/// Returns where and how a session's agent works, and if it is timed, since when its turn goes on.
fn circumstances(view: View<'_>, session: &Session, timed: bool) -> Vec<String> {
    let app = view.app;
    let mut parts = surroundings(view, session.key.link, session.model.clone());
    let ran = view.now.monotonic.saturating_sub(session.since);
    // A screen reader may read a row again with each change of it.
    let ran = match view.look.stacked {
        true => Duration::from_secs(ran.as_secs() / 60 * 60),
        false => times::passed(ran),
    };
    let ran = Some(ran).filter(|ran| !ran.is_zero() && timed);
    if let Some(ran) = ran {
        let time = [("time", Arg::Own(app.announcer().time(ran)))];
        parts.push(app.phrases().text("headline.since", &time));
    }
    parts
}

/// Returns the notice that something older than the newest entry is under review; `None` if not.
pub(super) fn looking_back(app: &App) -> Option<String> {
    if !app.is_looking_back() {
        return None;
    }
    let newer = [
        ("n", Arg::own(app.newer())),
        ("older", Arg::own(app.older())),
    ];
    Some(match app.hit() {
        Some(hit) => {
            let args = [
                ("place", Arg::own(hit.place)),
                ("count", Arg::own(hit.count)),
            ];
            app.phrases().text("headline.hit", &args)
        }
        None if app.newer() == 0 => app.phrases().text("headline.review.newest", &[]),
        None => app.phrases().text("headline.review", &newer),
    })
}

/// Returns as much of a row as fits, from its beginning.
pub(super) fn cut(text: &str, width: u16) -> String {
    if text.width() <= usize::from(width) {
        return text.to_owned();
    }
    let room = usize::from(width.saturating_sub(1));
    let mut used = 0;
    let kept = text.graphemes(true).take_while(|sign| {
        used += sign.width();
        used <= room
    });
    let kept: String = kept.collect();
    format!("{}…", kept.trim_end())
}

/// Returns the current switches, unusual ones first, as far as whole parts fit.
pub(super) fn status(app: &App, width: u16) -> String {
    let text = |key: &str| app.phrases().text(key, &[]);
    let mut parts = switched(app);
    parts.push(text(match app.verbosity() {
        Verbosity::Terse => "status.line.terse",
        Verbosity::Normal => "status.line.normal",
        Verbosity::Detailed => "status.line.detailed",
    }));
    parts.push(text(match app.load() {
        Load::Low => "status.line.load.low",
        Load::Medium => "status.line.load.medium",
        Load::High => "status.line.load.high",
    }));
    parts.push(app.voice_words());
    let links = app.links();
    let up = links
        .iter()
        .filter(|link| matches!(link.phase, LinkPhase::Connected | LinkPhase::Streaming))
        .count();
    let args = [("up", Arg::own(up)), ("n", Arg::own(links.len()))];
    parts.push(match (up, links.len()) {
        (0, _) => text("status.line.links.none"),
        (up, all) if up == all => app.phrases().text("status.line.links", &args),
        (_, _) => app.phrases().text("status.line.links.some", &args),
    });
    let mut line = text("status.line");
    for (at, part) in parts.into_iter().enumerate() {
        let between = if at == 0 { " " } else { ", " };
        if line.width() + between.len() + part.width() > usize::from(width) {
            break;
        }
        line.push_str(between);
        line.push_str(&part);
    }
    line
}

/// Returns the switches that a person may have forgotten: that something is off.
fn switched(app: &App) -> Vec<String> {
    let mut parts = Vec::new();
    if app.is_quiet() {
        parts.push(app.phrases().text("status.line.quiet", &[]));
    }
    if app.stopped() > 0 {
        parts.push(app.phrases().text("status.line.stopped", &[]));
    }
    let muted = app.muted();
    if !muted.is_empty() {
        let agents = ("agents", Arg::Own(muted.join(", ")));
        parts.push(app.phrases().text("status.line.muted", &[agents]));
    }
    if app.is_polite() {
        parts.push(app.phrases().text("status.line.polite", &[]));
    }
    parts
}
