//! The agent's mode: who decides in it, and a person's wish to be asked about everything.
//!
//! Responsibilities: what is announced about the mode at the start and when it changes, and choosing the mode that asks
//! most where `[run] ask = "always"`. Not here: the settings themselves (`settings`), the questions that lead to a
//! change (`setting_changes`), what a mode asks (`kit::oversight`, `agent_table`).
//!
//! # Mental model
//! An agent that can't be made to ask would act on the first prompt. So where the person wants to be asked about every
//! action, prompts wait until the agent has confirmed the mode, and are not sent at all if it refuses.

use std::time::Duration;

use crate::kit::call::first;
use crate::kit::oversight::{self, AskingChange, Oversight};
use crate::link::{Phrase, PhraseArg};
use crate::{Cx, DialectOutput, KeptMode, KnownAgent};

use super::client::Acp;
use super::review::ReviewVerdict;
use super::settings::Setting;

/// How long an agent may take to confirm its mode: it only notes a word.
const CONFIRMED_WITHIN: Duration = Duration::from_secs(20);

/// Who chose the mode that the agent was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModeChooser {
    /// The person, by a command.
    Person,
    /// Their settings.
    Settings,
}

/// The progress of the person's wish to be asked about everything.
#[derive(Debug, Default)]
enum AskAlways {
    /// The agent works in whichever mode it likes.
    #[default]
    Unwanted,
    /// The mode that asks most is to be chosen as soon as a conversation is open.
    Wanted,
    /// The agent was asked to change its mode.
    Requested {
        /// The setting that is its mode.
        setting: String,
        /// The mode that asks most.
        mode: String,
        /// When it was asked.
        since: Duration,
    },
}

/// What is known of the agent's mode, beside the setting itself.
#[derive(Debug, Default)]
pub(super) struct ModeWatch {
    /// The agent's row in the table.
    agent: Option<KnownAgent>,
    ask_always: AskAlways,
    /// The change of mode that was requested and is not reported yet.
    expected: Option<(String, ModeChooser)>,
    /// The message that undoes, when the person leaves, what their settings chose.
    undoing: Option<String>,
}

impl ModeWatch {
    /// Creates the watch over an agent's mode.
    pub(super) fn new(ask_always: bool) -> Self {
        Self {
            ask_always: match ask_always {
                true => AskAlways::Wanted,
                false => AskAlways::Unwanted,
            },
            ..Self::default()
        }
    }

    /// Sets the agent's row in the table, which its name in the greeting leads to.
    pub(super) fn meet(&mut self, agent: Option<KnownAgent>) {
        self.agent = agent;
    }

    /// Returns the agent's row in the table, if it has one.
    pub(super) fn known_agent(&self) -> Option<&KnownAgent> {
        self.agent.as_ref()
    }

    /// Returns the message that undoes, when the person leaves, what their settings chose.
    pub(super) fn undoing(&self) -> Option<&str> {
        self.undoing.as_deref()
    }

    /// Returns what the agent asks in a mode, if that is known.
    fn oversight(&self, mode: &str) -> Option<Oversight> {
        self.agent.as_ref()?.oversight(mode)
    }

    /// Returns whether prompts wait for the agent to confirm its mode.
    pub(super) fn holds_prompts(&self) -> bool {
        match self.ask_always {
            AskAlways::Requested { .. } => true,
            AskAlways::Unwanted | AskAlways::Wanted => false,
        }
    }

    /// Returns when the agent has taken too long to confirm its mode.
    pub(super) fn deadline(&self) -> Option<Duration> {
        match self.ask_always {
            AskAlways::Requested { since, .. } => Some(since + CONFIRMED_WITHIN),
            AskAlways::Unwanted | AskAlways::Wanted => None,
        }
    }

    /// Returns the mode of a setting that asks most, among those in which the agent works at all.
    fn asks_most<'a>(&self, setting: &'a Setting) -> Option<&'a str> {
        let known = setting.values.iter().filter_map(|value| {
            let oversight = self.oversight(&value.id)?;
            let works = !matches!(oversight, Oversight::Plans | Oversight::Denies);
            works.then_some((value.id.as_str(), oversight))
        });
        let most = known.reduce(|best, other| {
            match oversight::asking_change(Some(best.1), Some(other.1)) {
                AskingChange::Tightened => other,
                AskingChange::Loosened | AskingChange::Same | AskingChange::Unknown => best,
            }
        });
        most.map(|(id, _)| id)
    }

    /// Returns a mode of a setting that asks more than the present one, if one is known.
    fn asks_more<'a>(&self, setting: &'a Setting) -> Option<&'a str> {
        let most = self.asks_most(setting)?;
        let change = oversight::asking_change(self.oversight(&setting.now), self.oversight(most));
        match change {
            AskingChange::Tightened => Some(most),
            // A mode that is not known may ask anything, so the one that is known is better.
            AskingChange::Unknown => Some(most).filter(|most| *most != setting.now),
            AskingChange::Loosened | AskingChange::Same => None,
        }
    }
}

impl Acp {
    fn agent_name(&self) -> &str {
        self.teller.writer.name()
    }

    /// Announces who decides at the start, and asks for the mode that asks most where the settings want that.
    pub(super) fn begin_mode(&mut self, cx: &mut Cx<'_>) {
        let asks = self.mode.known_agent().and_then(|agent| agent.asks);
        // If all modes ask the same, they differ in something else.
        let setting = self.settings.mode().filter(|_| asks.is_none()).cloned();
        let Some(setting) = setting else {
            // That it is not known matters once the agent changes something unasked.
            cx.out.push(match asks {
                Some(_) => DialectOutput::Announce(oversight::who_decides(self.agent_name(), asks)),
                None => DialectOutput::Detail(oversight::not_known(self.agent_name())),
            });
            return self.note_unasked(asks, cx.out);
        };
        let more = self.mode.asks_more(&setting).map(str::to_owned);
        let wanted = matches!(self.mode.ask_always, AskAlways::Wanted);
        if let (true, Some(mode)) = (wanted, &more)
            && let Some(frame) = self.setting_frame(&setting.id, mode)
        {
            self.mode.ask_always = AskAlways::Requested {
                setting: setting.id.clone(),
                mode: mode.clone(),
                since: cx.now.monotonic,
            };
            self.expect_mode(&setting.id, mode, ModeChooser::Settings);
            self.send(frame, cx.out);
            return;
        }
        let asks = self.mode.oversight(&setting.now);
        let mode = self.value_words(&setting, &setting.now);
        let phrase = oversight::starts_in(self.agent_name(), &mode, asks, more.is_some());
        cx.out.push(DialectOutput::Announce(phrase));
        self.note_unasked(asks, cx.out);
    }

    /// Announces that the agent does not ask about every action, although the settings want that.
    fn note_unasked(&mut self, asks: Option<Oversight>, out: &mut Vec<DialectOutput>) {
        let wanted = matches!(self.mode.ask_always, AskAlways::Wanted);
        if wanted && !asks.is_some_and(Oversight::asks_most) {
            let agent = PhraseArg::Name(self.agent_name().to_owned());
            out.push(DialectOutput::Announce(
                Phrase::new("oversight.none").with("agent", agent),
            ));
        }
    }

    /// Handles a report that the agent works in a mode.
    pub(super) fn in_mode(&mut self, mode: &str, out: &mut Vec<DialectOutput>) {
        if let Some((setting, before)) = self.settings.in_mode(mode) {
            self.tell_mode(&setting, &before, out);
        }
    }

    /// Announces that the agent works in another mode.
    pub(super) fn tell_mode(
        &mut self,
        setting: &Setting,
        before: &str,
        out: &mut Vec<DialectOutput>,
    ) {
        let mode = self.value_words(setting, &setting.now);
        let expected = self.mode.expected.take_if(|it| it.0 == setting.now);
        let asks = self.mode.oversight(&setting.now);
        let by_settings = matches!(expected, Some((_, ModeChooser::Settings)));
        let keeps = self.mode.known_agent().and_then(|agent| agent.keeps_mode);
        let undoes = by_settings && keeps == Some(KeptMode::Set);
        // A later choice is no longer due to the settings.
        self.mode.undoing = match undoes {
            true => self.setting_frame(&setting.id, before),
            false => None,
        };
        out.push(DialectOutput::LastWords(self.last_words()));
        out.push(DialectOutput::Announce(match expected {
            // The person has heard who decides in it before they chose it.
            Some((_, ModeChooser::Person)) => {
                Phrase::new("acp.mode").with("mode", PhraseArg::Name(mode))
            }
            Some((_, ModeChooser::Settings)) => {
                let key = match keeps {
                    Some(KeptMode::Prompted) => "oversight.chosen.kept",
                    Some(KeptMode::Set) => "oversight.chosen.undone",
                    None => "oversight.chosen",
                };
                oversight::about(key, self.agent_name(), &mode, asks)
            }
            None => {
                let before = self.mode.oversight(before);
                oversight::changed_to(self.agent_name(), &mode, before, asks)
            }
        }));
    }

    /// Returns the sentence that says who decides in a mode.
    pub(super) fn who_decides_in(&self, mode: &str) -> String {
        let phrase = oversight::who_decides(self.agent_name(), self.mode.oversight(mode));
        first(
            &self.teller.words,
            phrase.key,
            &[("agent", self.agent_name())],
        )
    }

    /// Returns the question that leads to a mode: with a warning if less is asked in it.
    pub(super) fn asks_to_change(&self, setting: &Setting, mode: &str) -> &'static str {
        let (now, then) = (self.mode.oversight(&setting.now), self.mode.oversight(mode));
        match oversight::asking_change(now, then) {
            AskingChange::Loosened => "acp.set.sure.loosened",
            AskingChange::Tightened => "acp.set.sure.tightened",
            AskingChange::Same | AskingChange::Unknown => "acp.set.sure.mode",
        }
    }

    /// Announces what the agent's own reviewer decided, where that keeps something from running.
    pub(super) fn reviewed(&self, review: ReviewVerdict, out: &mut Vec<DialectOutput>) {
        let agent = self.agent_name();
        let phrase = match review {
            ReviewVerdict::Passes => return,
            ReviewVerdict::Refused { action, reason } => {
                oversight::reviewer_refused(agent, &action, &reason)
            }
            ReviewVerdict::Undecided { action } => Phrase::new("oversight.reviewer.undecided")
                .with("agent", PhraseArg::Name(agent.to_owned()))
                .with("title", PhraseArg::Agent(action)),
        };
        out.push(DialectOutput::Announce(phrase));
    }

    /// Records that the agent is asked to change its mode.
    pub(super) fn expect_mode(&mut self, setting: &str, mode: &str, chooser: ModeChooser) {
        if self.settings.get(setting).is_some_and(|it| it.is_mode) {
            self.mode.expected = Some((mode.to_owned(), chooser));
        }
    }

    /// Records that a requested change will not come.
    pub(super) fn forget_expected(&mut self) {
        self.mode.expected = None;
    }

    /// Handles the agent's answer to a change of its mode; returns whether nothing more needs to be said about it.
    pub(super) fn mode_was_set(
        &mut self,
        id: &str,
        value: &str,
        out: &mut Vec<DialectOutput>,
    ) -> bool {
        let Some(setting) = self.settings.get(id).filter(|it| it.is_mode).cloned() else {
            return false;
        };
        self.forget_expected();
        match std::mem::take(&mut self.mode.ask_always) {
            AskAlways::Requested { .. } if setting.now == value => {
                if !self.has_held_prompts() {
                    out.push(DialectOutput::Announce(Phrase::new("acp.ready")));
                }
                true
            }
            AskAlways::Requested { mode, .. } => {
                self.tell_refused(&setting, &mode, PhraseArg::Own(String::new()), out);
                true
            }
            AskAlways::Unwanted | AskAlways::Wanted => false,
        }
    }

    /// Handles the agent's refusal of the mode that the settings want; returns whether this was
    /// such a refusal.
    pub(super) fn mode_was_refused(
        &mut self,
        id: &str,
        words: &PhraseArg,
        out: &mut Vec<DialectOutput>,
    ) -> bool {
        let AskAlways::Requested { setting, mode, .. } = &self.mode.ask_always else {
            return false;
        };
        let (true, Some(setting)) = (setting == id, self.settings.get(setting).cloned()) else {
            return false;
        };
        let mode = mode.clone();
        self.mode.ask_always = AskAlways::Unwanted;
        self.tell_refused(&setting, &mode, words.clone(), out);
        true
    }

    /// Announces that the agent stays in a mode that asks less than the settings want, and sends no prompt into it.
    fn tell_refused(
        &mut self,
        setting: &Setting,
        mode: &str,
        words: PhraseArg,
        out: &mut Vec<DialectOutput>,
    ) {
        let agent = self.agent_name().to_owned();
        let wanted = self.value_words(setting, mode);
        let asks = self.mode.oversight(&setting.now);
        let now = self.value_words(setting, &setting.now);
        out.push(DialectOutput::Announce(
            oversight::about("oversight.refused", &agent, &wanted, asks)
                .with("now", PhraseArg::Name(now))
                .with("agent", PhraseArg::Name(agent.clone()))
                .with("words", words),
        ));
        self.tell_unsent(out);
    }

    /// Treats a mode that the agent has not confirmed in time as refused.
    pub(super) fn tick_mode(&mut self, cx: &mut Cx<'_>) {
        if self.mode.deadline().is_none_or(|at| at > cx.now.monotonic) {
            return;
        }
        let AskAlways::Requested { setting, mode, .. } = std::mem::take(&mut self.mode.ask_always)
        else {
            return;
        };
        self.forget_expected();
        if let Some(setting) = self.settings.get(&setting).cloned() {
            self.tell_refused(&setting, &mode, PhraseArg::Own(String::new()), cx.out);
        }
    }
}
