//! Who decides in a conversation between an editor and its agent.
//!
//! Responsibilities: the notices about the agent's mode, at the start and when it changes, and about its reviewer. Not
//! here: choosing a mode, which is the editor's (`mode`, for agents started here).

use serde_json::{Map, Value};

use crate::Cx;
use crate::kit::call::first;
use crate::kit::oversight::{self, AskingChange, Oversight};

use super::editor_listener::{AgentListener, ListenerNotice};
use super::review::ReviewVerdict;
use super::settings::{Setting, SettingChange};

impl AgentListener {
    fn oversight(&self, mode: &str) -> Option<Oversight> {
        self.known_agent.as_ref()?.oversight(mode)
    }

    /// Applies settings in a message, and announces who decides where that is new.
    pub(super) fn takes_settings(
        &mut self,
        conversation: &str,
        map: &Map<String, Value>,
        cx: &mut Cx<'_>,
    ) {
        let Some(conversation) = self.conversation(conversation) else {
            return;
        };
        for (setting, news) in conversation.settings.take(map) {
            if setting.is_mode {
                let before = match news {
                    SettingChange::There => None,
                    SettingChange::Changed(before) => Some(before),
                };
                self.tell_mode(&setting, before.as_deref());
            }
        }
        self.tell_notices(cx);
    }

    /// Handles a report that the agent works in a mode.
    pub(super) fn works_in(&mut self, conversation: &str, mode: &str, cx: &mut Cx<'_>) {
        let settings = self.conversation(conversation).map(|it| &mut it.settings);
        if let Some((setting, before)) = settings.and_then(|it| it.in_mode(mode)) {
            self.tell_mode(&setting, Some(&before));
        }
        self.tell_notices(cx);
    }

    fn tell_mode(&mut self, setting: &Setting, before: Option<&str>) {
        let asks = self.oversight(&setting.now);
        let change = before.map(|before| oversight::asking_change(self.oversight(before), asks));
        let key = match change {
            Some(AskingChange::Loosened) => "oversight.loosened",
            Some(AskingChange::Tightened) => "oversight.tightened",
            Some(AskingChange::Same | AskingChange::Unknown) | None => "oversight.starts",
        };
        let agent = self.teller.writer.name();
        let who = oversight::who_decides(agent, asks);
        let who = first(&self.teller.words, who.key, &[("agent", agent)]);
        let mode = setting.value(&setting.now).to_owned();
        self.notice(
            ListenerNotice::from(key)
                .with("mode", mode)
                .with("who", who),
        );
    }

    /// Announces what the agent's own reviewer decided, where that keeps something from running.
    pub(super) fn reviewed(&mut self, review: ReviewVerdict, cx: &mut Cx<'_>) {
        let agent = self.teller.writer.name().to_owned();
        let notice = |key: &'static str, action| {
            ListenerNotice::from(key)
                .with("agent", agent)
                .with("title", action)
        };
        match review {
            ReviewVerdict::Passes => return,
            ReviewVerdict::Refused { action, reason } => {
                self.notice(notice("oversight.reviewer.refused", action).with("reason", reason));
            }
            ReviewVerdict::Undecided { action } => {
                self.notice(notice("oversight.reviewer.undecided", action));
            }
        }
        self.tell_notices(cx);
    }
}
