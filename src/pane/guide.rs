//! What to do on a screen where nothing happens: hearken's words, below what has been announced so
//! far.
//!
//! Responsibilities: which sentence fits; what else runs here, while nobody is heard. Not here: the keys that apply
//! (`key_hints`).

use crate::announce::Arg;
use crate::app::NearbyCommands;

use super::View;
use super::text_rows::{self, PaneRow};

/// Returns the rows; none while an agent works, or while something else has the person's attention.
pub(super) fn rows(view: View<'_>, width: u16) -> Vec<PaneRow> {
    let app = view.app;
    let works = app.sessions().iter().any(|session| !session.is_ended());
    if works || app.shown().is_some() || app.is_looking_back() || super::editor::is_open(app) {
        return Vec::new();
    }
    let text = |key: &str, args: &[(&'static str, Arg)]| app.phrases().text(key, args);
    let mut words = Vec::new();
    if app.takes_prompts() {
        let mut over = app.links().iter().filter(|link| !link.is_over());
        let only = over.next().filter(|_| over.next().is_none());
        words.push(match only {
            Some(link) => text("guide.prompt", &[("agent", Arg::Name(link.name.clone()))]),
            None => text("guide.prompt.any", &[]),
        });
    } else if app.links().iter().any(|link| !link.is_over()) {
        words.push(text("guide.wait", &[]));
    } else {
        words.push(text("guide.over", &[]));
    }
    words.push(text("guide.help", &[]));
    text_rows::own(&words.join(" "), width, view.look.quiet())
}

/// Returns the rows that follow these where there is room: what else runs here, or starts an agent.
pub(super) fn nearby_rows(view: View<'_>, width: u16) -> Vec<PaneRow> {
    let (key, commands) = match view.app.nearby() {
        Some(NearbyCommands::Running(commands)) => ("guide.nearby", commands),
        Some(NearbyCommands::Startable(commands)) => ("guide.start", commands),
        None => return Vec::new(),
    };
    let head = view.app.phrases().text(key, &[]);
    let mut all = text_rows::own(&head, width, view.look.quiet());
    // Each has rows of its own, to be typed or copied as it is.
    for command in commands {
        all.extend(text_rows::own(command, width, view.look.own()));
    }
    all
}
