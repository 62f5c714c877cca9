//! Changes an agent's settings: its mode, its model, and what else it offers.
//!
//! Responsibilities: announcing the settings, the questions that lead to a change, and its outcome. Not here: what the
//! settings are (`settings`).
//!
//! # Mental model
//! A mode may end all asking, so no single step changes anything: the person first chooses what to change and to which
//! value, then hears what the agent says about it, and only a yes after that changes it. The agent decides what is set:
//! a change is announced only when the agent reports it.

use serde_json::{Map, Value, json};

use crate::link::{Phrase, PhraseArg, Receipt};
use crate::protocol::{Answer, Response, SessionCompleted};
use crate::rpc;
use crate::{Cx, DialectOutput};

use super::client::{Acp, AcpRequest, AgentPhase};
use super::mode::ModeChooser;
use super::settings::{ON, Setting, SettingChange, SettingKind};
use crate::kit::call::first;
use crate::kit::standalone_question::{self, QuestionContent, SideQuestion};
use crate::kit::turn_end::closed;

/// How many values are offered at a time: AAEP allows 32 choices, and two are ours.
const MOST_AT_ONCE: usize = standalone_question::MOST_CHOICES - 2;

/// The questions that lead to a change.
#[derive(Debug)]
pub(super) struct SettingQuestion {
    aside: SideQuestion,
    step: ChangeStep,
}

/// The open question.
#[derive(Debug, Clone)]
enum ChangeStep {
    /// Which of these settings to change.
    Setting(Vec<String>),
    /// Which of these values to set.
    Value {
        setting: String,
        values: Vec<String>,
        /// How many values come before these.
        from: usize,
        /// Whether more follow.
        more: bool,
    },
    /// Whether to set that value.
    Confirmation { setting: String, value: String },
}

impl Acp {
    /// Applies the settings in a message, and announces those that differ from before.
    pub(super) fn has_options(&mut self, map: &Map<String, Value>, out: &mut Vec<DialectOutput>) {
        for (setting, news) in self.settings.take(map) {
            match news {
                // The mode at the start is announced once the conversation is open.
                SettingChange::There => {}
                SettingChange::Changed(before) => self.tell_setting(&setting, &before, out),
            }
        }
        let left_out = std::mem::take(&mut self.settings.left_out);
        if left_out > 0 {
            let n = PhraseArg::Own(left_out.to_string());
            out.push(DialectOutput::Announce(
                Phrase::new("acp.set.left_out").with("n", n),
            ));
        }
    }

    fn tell_setting(&mut self, setting: &Setting, before: &str, out: &mut Vec<DialectOutput>) {
        if setting.is_mode {
            return self.tell_mode(setting, before, out);
        }
        let value = PhraseArg::Name(self.value_words(setting, &setting.now));
        let phrase = Phrase::new("acp.set.is")
            .with("name", PhraseArg::Name(self.setting_words(setting)))
            .with("value", value);
        out.push(DialectOutput::Announce(phrase));
    }

    fn setting_words(&self, setting: &Setting) -> String {
        match setting.name.is_empty() {
            true => first(&self.teller.words, "acp.set.mode", &[]),
            false => setting.name.clone(),
        }
    }

    pub(super) fn value_words(&self, setting: &Setting, value: &str) -> String {
        match setting.kind {
            SettingKind::Switch if value == ON => first(&self.teller.words, "acp.set.on", &[]),
            SettingKind::Switch => first(&self.teller.words, "acp.set.off", &[]),
            SettingKind::Mode | SettingKind::Option => setting.value(value).to_owned(),
        }
    }

    /// Starts to change a setting: the one that the person named or numbered, if they did.
    pub(super) fn change(&mut self, what: Option<&str>, cx: &mut Cx<'_>) {
        let tell = |key| DialectOutput::Announce(Phrase::new(key));
        match self.phase {
            AgentPhase::Open(_) => {}
            AgentPhase::Unmet | AgentPhase::Meeting => return cx.out.push(tell("acp.set.early")),
            AgentPhase::Over => return cx.out.push(tell("prompt.nobody")),
        }
        if self
            .changing
            .as_ref()
            .is_some_and(|it| it.aside.is_sending())
        {
            return cx.out.push(tell("acp.set.waits"));
        }
        let all: Vec<Setting> = self.settings.choosable().cloned().collect();
        if all.is_empty() {
            return cx.out.push(tell("settings.none"));
        }
        let meant = match what {
            None if all.len() == 1 => all.first(),
            None => None,
            Some(what) => match self.settings_called(&all, what).as_slice() {
                [] => {
                    let names = all.iter().map(|it| self.setting_words(it)).collect();
                    let phrase =
                        Phrase::new("acp.set.no_such").with("names", PhraseArg::Names(names));
                    return cx.out.push(DialectOutput::Announce(phrase));
                }
                [found] => Some(*found),
                [..] => None,
            },
        };
        self.leave_changing(None, cx);
        let asks = match meant {
            Some(setting) => self.ask_what(setting, 0),
            None => self.ask_setting(&all),
        };
        let teller = &mut self.teller;
        let mut aside = SideQuestion::begin("settings", "", "acp.set.asks", teller, cx);
        let (step, asks) = asks;
        aside.ask(asks, teller, cx);
        self.changing = Some(SettingQuestion { aside, step });
    }

    /// Returns the settings that the words fit best: the whole name, a word of it, its beginning, or the beginning of a
    /// word. So "mode" finds the agent's mode, not its model.
    fn settings_called<'a>(&self, all: &'a [Setting], what: &str) -> Vec<&'a Setting> {
        if let Ok(number) = what.parse::<usize>() {
            let at = number.checked_sub(1);
            return at.and_then(|at| all.get(at)).into_iter().collect();
        }
        let what = what.to_lowercase();
        let rank = |setting: &Setting| {
            let mode = setting.is_mode.then(|| "mode".to_owned());
            let names = [self.setting_words(setting), setting.id.clone()];
            let names = names
                .into_iter()
                .chain(mode)
                .map(|name| name.to_lowercase());
            let rank = |name: String| {
                let mut words = name.split(|c: char| !c.is_alphanumeric());
                match () {
                    () if name == what => Some(0),
                    () if words.clone().any(|word| word == what) => Some(1),
                    () if name.starts_with(&what) => Some(2),
                    () if words.any(|word| word.starts_with(&what)) => Some(3),
                    () => None,
                }
            };
            names.filter_map(rank).min()
        };
        let best = all.iter().filter_map(rank).min();
        let called = all.iter().filter(|it| best.is_some() && rank(it) == best);
        called.collect()
    }

    fn ask_setting(&self, all: &[Setting]) -> (ChangeStep, QuestionContent) {
        let words = &self.teller.words;
        let mut labels: Vec<String> = all
            .iter()
            .map(|setting| {
                let (name, value) = (
                    self.setting_words(setting),
                    self.value_words(setting, &setting.now),
                );
                first(words, "acp.set.one", &[("name", &name), ("value", &value)])
            })
            .collect();
        labels.push(first(words, "acp.set.nothing", &[]));
        let ids = all.iter().map(|setting| setting.id.clone()).collect();
        let question = first(words, "acp.set.which", &[]);
        (
            ChangeStep::Setting(ids),
            QuestionContent::one_of(question, labels),
        )
    }

    fn ask_what(&self, setting: &Setting, from: usize) -> (ChangeStep, QuestionContent) {
        let words = &self.teller.words;
        let values = setting.values.iter().skip(from).take(MOST_AT_ONCE);
        let values: Vec<String> = values.map(|value| value.id.clone()).collect();
        let more = setting.values.len() > from + values.len();
        let mut labels: Vec<String> = values
            .iter()
            .map(|value| {
                let said = self.value_words(setting, value);
                match *value == setting.now {
                    true => first(words, "acp.set.now", &[("value", &said)]),
                    false => said,
                }
            })
            .collect();
        if more {
            labels.push(first(words, "acp.set.more", &[]));
        }
        labels.push(first(words, "acp.set.leave", &[]));
        let name = self.setting_words(setting);
        let now = self.value_words(setting, &setting.now);
        let args = [("name", name.as_str()), ("value", now.as_str())];
        let mut asks = QuestionContent::one_of(first(words, "acp.set.what", &args), labels);
        asks.context.clone_from(&setting.description);
        let step = ChangeStep::Value {
            setting: setting.id.clone(),
            values,
            from,
            more,
        };
        (step, asks)
    }

    fn ask_whether(&self, setting: &Setting, value: &str) -> (ChangeStep, QuestionContent) {
        let words = &self.teller.words;
        let (name, said) = (
            self.setting_words(setting),
            self.value_words(setting, value),
        );
        let says = setting.values.iter().find(|it| it.id == value);
        let says = says.map(|it| closed(&it.description)).unwrap_or_default();
        let mut args = vec![("value", said.as_str()), ("says", &says)];
        let question = match setting.is_mode {
            true => {
                let who = self.who_decides_in(value);
                args.push(("who", &who));
                first(words, self.asks_to_change(setting, value), &args)
            }
            false => {
                args.push(("name", &name));
                first(words, "acp.set.sure", &args)
            }
        };
        let step = ChangeStep::Confirmation {
            setting: setting.id.clone(),
            value: value.to_owned(),
        };
        (step, QuestionContent::whether(question))
    }

    /// Handles an answer to one of these questions; returns false if it answers none of them.
    pub(super) fn changes(
        &mut self,
        request: u64,
        token: &str,
        answer: &Answer,
        cx: &mut Cx<'_>,
    ) -> bool {
        let Some(changing) = self.changing.as_ref().filter(|it| it.aside.is_open(token)) else {
            return false;
        };
        let settled = DialectOutput::Settled {
            request,
            outcome: Ok(Receipt::Here),
        };
        let next = match changing.step.clone() {
            ChangeStep::Setting(ids) => {
                let Some(at) = standalone_question::place(answer).filter(|at| *at <= ids.len())
                else {
                    return false;
                };
                let setting = ids.get(at).and_then(|id| self.settings.get(id));
                setting.map(|setting| self.ask_what(setting, 0))
            }
            ChangeStep::Value {
                setting,
                values,
                from,
                more,
            } => {
                let last = values.len() + usize::from(more);
                let Some(at) = standalone_question::place(answer).filter(|at| *at <= last) else {
                    return false;
                };
                let setting = self.settings.get(&setting);
                match (setting, values.get(at)) {
                    (Some(setting), Some(value)) if *value == setting.now => None,
                    (Some(setting), Some(value)) => Some(self.ask_whether(setting, value)),
                    (Some(setting), None) if more && at == values.len() => {
                        Some(self.ask_what(setting, from + values.len()))
                    }
                    // The person leaves it as it is, or the agent has removed it meanwhile.
                    (Some(_) | None, _) => None,
                }
            }
            ChangeStep::Confirmation { setting, value } => {
                let Answer::Response(Response::YesNo(yes)) = answer else {
                    return false;
                };
                if *yes && let Some(frame) = self.setting_frame(&setting, &value) {
                    self.expect_mode(&setting, &value, ModeChooser::Person);
                    if let Some(changing) = &mut self.changing {
                        changing.aside.sends(request);
                    }
                    cx.out.push(DialectOutput::Send { request, frame });
                    return true;
                }
                None
            }
        };
        cx.out.push(settled);
        match (next, &mut self.changing) {
            (Some((step, asks)), Some(changing)) => {
                changing.step = step;
                changing.aside.ask(asks, &mut self.teller, cx);
            }
            (None, _) => self.leave_changing(Some("acp.set.stays"), cx),
            (Some(_), None) => {}
        }
        true
    }

    /// Writes the request that changes a setting; `None` if the agent has removed it meanwhile.
    pub(super) fn setting_frame(&mut self, id: &str, value: &str) -> Option<String> {
        let AgentPhase::Open(conversation) = &self.phase else {
            return None;
        };
        let setting = self.settings.get(id)?;
        let (method, params) = match setting.kind {
            SettingKind::Mode => (
                "session/set_mode",
                json!({"sessionId": conversation, "modeId": value}),
            ),
            SettingKind::Option => (
                "session/set_config_option",
                json!({"sessionId": conversation, "configId": id, "value": value}),
            ),
            SettingKind::Switch => (
                "session/set_config_option",
                json!({"sessionId": conversation, "configId": id, "type": "boolean", "value": value == ON}),
            ),
        };
        let what = AcpRequest::Setting {
            id: id.to_owned(),
            value: value.to_owned(),
        };
        let number = self.pending_requests.ask(what);
        Some(rpc::request(number, method, &params.to_string()))
    }

    /// Handles the delivery of the answer that changes a setting.
    pub(super) fn change_went(&mut self, request: u64, went: bool, cx: &mut Cx<'_>) {
        let Some(changing) = &mut self.changing else {
            return;
        };
        if changing.aside.went(request) && went {
            self.leave_changing(Some("acp.set.asked"), cx);
        }
    }

    /// Handles the agent's confirmation of a change.
    pub(super) fn is_set(
        &mut self,
        id: &str,
        value: &str,
        result: &Map<String, Value>,
        out: &mut Vec<DialectOutput>,
    ) {
        let mode = self
            .settings
            .get(id)
            .is_some_and(|it| it.kind == SettingKind::Mode);
        match mode {
            // The protocol says no more about it.
            true => self.in_mode(value, out),
            false => self.has_options(result, out),
        }
        if self.mode_was_set(id, value, out) {
            return;
        }
        if let Some(setting) = self.settings.get(id).filter(|it| it.now != value) {
            let phrase = Phrase::new("acp.set.other")
                .with("name", PhraseArg::Name(self.setting_words(setting)))
                .with(
                    "value",
                    PhraseArg::Name(self.value_words(setting, &setting.now)),
                );
            out.push(DialectOutput::Announce(phrase));
        }
    }

    /// Announces that the agent refused a change.
    pub(super) fn is_not_set(&mut self, id: &str, words: PhraseArg, out: &mut Vec<DialectOutput>) {
        self.forget_expected();
        if self.mode_was_refused(id, &words, out) {
            return;
        }
        let setting = self.settings.get(id);
        let name = setting.map_or_else(|| id.to_owned(), |setting| self.setting_words(setting));
        let phrase = Phrase::new("acp.set.refused")
            .with("name", PhraseArg::Name(name))
            .with("words", words);
        out.push(DialectOutput::Announce(phrase));
    }

    fn leave_changing(&mut self, told: Option<&str>, cx: &mut Cx<'_>) {
        if let Some(changing) = self.changing.take() {
            let words = &self.teller.words;
            let completed = SessionCompleted {
                summary: told.map(|key| words.summary(key, &[])).unwrap_or_default(),
                ..SessionCompleted::default()
            };
            changing.aside.end_with(completed, &mut self.teller, cx);
        }
    }

    /// Handles the end of the agent.
    pub(super) fn lose_changing(&mut self, cx: &mut Cx<'_>) {
        if let Some(changing) = self.changing.take() {
            changing.aside.lose(&mut self.teller, cx);
        }
    }
}
