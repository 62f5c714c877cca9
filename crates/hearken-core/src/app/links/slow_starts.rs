//! Sources that keep the person waiting at their start: nothing connects, or nothing arrives.
//!
//! Responsibilities: announcing each of the two once, so that the person does not sit through a silence that
//! could mean a typing mistake, a broken server or an idle agent. Not here: connections that fail or are lost
//! (`news`), a stream that falls silent later (`news`).

use crate::announce::{AnnouncementKind, Arg, Class};
use crate::link::LinkId;

use super::Links;
use super::start::StartWait;
use crate::app::AppCx;

impl Links {
    /// Announces sources whose start takes long.
    pub(in crate::app) fn tick_waiting(&mut self, cx: &mut AppCx) {
        let due: Vec<LinkId> = self
            .iter()
            .filter(|view| view.waits_until().is_some_and(|at| cx.now.monotonic >= at))
            .map(|view| view.id)
            .collect();
        for id in due {
            let is_heard_beside = self
                .iter()
                .any(|view| view.is_beside() && !view.promptable().is_empty());
            let late = cx.announcer.phrases().text("link.connecting.late", &[]);
            let Some(view) = self.get_mut(id) else {
                continue;
            };
            let connection = view.connection();
            let (key, next) = match view.waiting() {
                // It connects only when the person wants something from it.
                StartWait::ToConnect { .. } if connection.rests => {
                    view.wait(StartWait::Over);
                    continue;
                }
                StartWait::ToConnect { .. } => ("link.connecting", StartWait::Known),
                StartWait::ToSend { .. } if connection.gets_ready => {
                    ("link.starting", StartWait::Over)
                }
                // It was already announced that it waits for a prompt, or that others on its server do.
                StartWait::ToSend { .. } if connection.takes_prompts || is_heard_beside => {
                    view.wait(StartWait::Over);
                    continue;
                }
                StartWait::ToSend { .. } => ("link.nothing_yet", StartWait::Over),
                StartWait::Unbegun | StartWait::Known | StartWait::Over => continue,
            };
            view.wait(next);
            let why = if connection.may_answer_late {
                late
            } else {
                String::new()
            };
            let args = [
                ("source", Arg::Own(view.name.clone())),
                ("why", Arg::Own(why)),
            ];
            cx.say(Class::Outcome, AnnouncementKind::Connection, key, &args);
        }
    }
}
