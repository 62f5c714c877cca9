//! Sending prompts to an agent, and stopping it.
//!
//! Responsibilities: which agent is meant, typing the prompt, the two steps of a stop. Not here: what is sent, and when
//! (its dialect).
//!
//! Mental model: a stop throws away work, so it takes two steps, wherever the person is: the same key or line twice,
//! not too close together, not too far apart, and nothing else in between. A third one leaves work that does not stop
//! (`stuck_actions`). Text that is being typed stays.

use crate::announce::Arg;
use crate::dialect::{Out, Wish};
use crate::link::LinkId;
use crate::protocol::Now;

use super::App;
use super::activity::Doing;
use super::conversations::Conversation;
use super::questions::gate::By;

impl App {
    /// Returns whether any agent takes prompts.
    pub fn takes_prompts(&self) -> bool {
        !self.prompted_links(false).is_empty()
    }

    /// Returns the sources whose agents take prompts, or can be stopped; once the person has chosen one, only that one.
    fn prompted_links(&self, in_turn: bool) -> Vec<LinkId> {
        let there = self.links.iter().filter(|view| !view.is_over());
        let there: Vec<_> = there.collect();
        // A person who chose a conversation means that one, not another that happens to speak.
        let chosen = self.chosen_link();
        let chosen = chosen.filter(|link| there.iter().any(|view| view.id == *link));
        let meant = there.into_iter();
        let meant = meant.filter(|view| chosen.is_none_or(|link| view.id == link));
        let can = meant.filter(|view| {
            let connection = view.connection();
            connection.takes_prompts && (connection.in_turn || !in_turn)
        });
        can.map(|view| view.id).collect()
    }

    /// Returns the source whose agent is meant, among those that take prompts: the chosen one, or else the last one
    /// that said something.
    pub(super) fn prompted_link(&self, in_turn: bool) -> Option<LinkId> {
        let can = self.prompted_links(in_turn);
        // The last speaker matters only among several; the history may be long.
        if can.len() < 2 {
            return can.first().copied();
        }
        let history = self.cx.announcer.history().iter().rev();
        let told = history.filter_map(|told| told.key.as_ref());
        let of_last = told.map(|key| key.link).find(|link| can.contains(link));
        of_last.or_else(|| can.first().copied())
    }

    /// Returns whether the conversation that is meant can only be heard and answered: the chosen one, or else all that
    /// exist.
    fn is_only_heard(&self) -> bool {
        if let Some(chosen) = self.chosen_link() {
            let view = self.links.get(chosen);
            return view.is_some_and(|view| view.connection().only_heard);
        }
        let mut there = self.links.iter().filter(|view| !view.is_over()).peekable();
        there.peek().is_some() && there.all(|view| view.connection().only_heard)
    }

    /// Sends a prompt to an agent; without a text, opens the editor.
    pub(super) fn tell_agent(&mut self, text: Option<String>, now: Now) {
        let (number, text) = match text {
            Some(text) => match addressed(&text) {
                Some((number, rest)) => (Some(number), Some(rest)),
                None => (None, Some(text)),
            },
            None => (None, None),
        };
        let meant = match number {
            Some(number) => {
                let whom = self.conversation_with(number);
                if whom.is_none() {
                    self.no_such_conversation(number, now);
                    return;
                }
                whom.filter(|whom| {
                    self.links
                        .get(whom.link)
                        .is_some_and(|it| it.connection().takes_prompts)
                })
            }
            None => self.prompted_link(false).map(|link| self.meant_on(link)),
        };
        let Some(whom) = meant else {
            let key = match number.is_some() || self.chosen_link().is_some() {
                _ if self.is_only_heard() => "prompt.only_heard",
                true => "prompt.not_this",
                false => "prompt.nobody",
            };
            self.cx.respond(key, &[], now);
            return;
        };
        match text {
            Some(text) if text.trim().is_empty() => self.cx.respond("prompt.lines", &[], now),
            Some(text) => self.send_prompt(&whom, &text, now),
            None => {
                self.prompts.begin();
                let agent = self.name_of_prompted(&whom).unwrap_or_default();
                self.cx.doing = Doing::prompting(whom);
                self.cx
                    .respond("prompt.editing", &[("agent", Arg::Name(agent))], now);
            }
        }
    }

    /// Sends the typed prompt.
    pub(super) fn submit_prompt(&mut self, whom: &Conversation, text: &str, now: Now) {
        if text.is_empty() {
            self.cx.respond("prompt.empty", &[], now);
            return;
        }
        self.cx.doing = Doing::Watching;
        self.send_prompt(whom, text, now);
    }

    fn send_prompt(&mut self, whom: &Conversation, text: &str, now: Now) {
        if self.links.get(whom.link).is_none_or(|view| view.is_over()) {
            self.cx.respond("prompt.nobody", &[], now);
            return;
        }
        self.prompts.keep(text);
        if let Some(agent) = self.name_of_prompted(whom) {
            self.cx
                .respond("prompt.to", &[("agent", Arg::Name(agent))], now);
        }
        self.check_command(whom.link, text, now);
        self.want_of(whom, Wish::Prompt(text.to_owned()), now);
    }

    /// Sends a wish to one of the agents behind a source.
    pub(super) fn want_of(&mut self, whom: &Conversation, wish: Wish, now: Now) {
        self.stuck.stir(whom.link, now);
        let wish = match &whom.agent {
            Some(agent) => Wish::Of(agent.clone(), Box::new(wish)),
            None => wish,
        };
        self.want(whom.link, &wish, now);
    }

    /// Passes a wish to a source's dialect; whatever the dialect announces answers the person's key or line.
    pub(super) fn want(&mut self, link: LinkId, wish: &Wish, now: Now) {
        for wish in self.links.want(link, wish, now) {
            match wish {
                Out::Tell(phrase) => {
                    let args = self.told_args(link, &phrase);
                    self.cx.respond(phrase.key, &args, now);
                }
                other => self.carry_out(link, vec![other], now),
            }
        }
    }

    /// Handles one of the two steps of stopping an agent's work.
    pub(super) fn stop_turn(&mut self, number: Option<usize>, by: By, now: Now) {
        let meant = match number {
            Some(number) => {
                let whom = self.conversation_with(number);
                if whom.is_none() {
                    self.stopping.forget();
                    self.no_such_conversation(number, now);
                    return;
                }
                let busy = |whom: &Conversation| {
                    let view = self.links.get(whom.link);
                    view.is_some_and(|view| view.connection().in_turn)
                };
                whom.filter(busy)
            }
            None => self.prompted_link(true).map(|link| self.meant_on(link)),
        };
        let Some(whom) = meant else {
            self.stopping.forget();
            let prompted = match number {
                Some(number) => self.conversation_with(number).map(|whom| whom.link),
                None => self.prompted_link(false),
            };
            let never = prompted.and_then(|link| self.links.get(link));
            if never.is_some_and(|view| view.connection().never_stops) {
                self.cx.respond("stop_turn.never", &[], now);
                return;
            }
            if self.is_only_heard() {
                self.cx.respond("stop_turn.only_heard", &[], now);
                return;
            }
            match (by, number.is_some() || self.takes_prompts()) {
                // If no agent takes prompts, the line means the voice.
                (By::Line { .. }, false) => self.stop(now),
                (By::Line { .. } | By::Key(_) | By::Begun, _) => {
                    self.cx.respond("stop_turn.none", &[], now);
                }
            }
            return;
        };
        let is_press = match by {
            By::Key(press) => !press.again,
            By::Line { .. } => true,
            By::Begun => false,
        };
        if is_press && self.stop_again(&whom, now) {
            self.stopping.forget();
            return;
        }
        let second = match by {
            // A key that is held down is not a decision.
            By::Key(press) => !press.again && self.stopping.key(&whom, press.read),
            By::Line { read } => self.stopping.line(&whom, read),
            By::Begun => false,
        };
        if !second {
            let key = self
                .cx
                .face
                .pick("stop_turn.first.keys", "stop_turn.first.lines");
            let agent = self.name_of_prompted(&whom).unwrap_or_default();
            let number = number.map(|number| number.to_string()).unwrap_or_default();
            let args = [("agent", Arg::Name(agent)), ("n", Arg::Own(number))];
            self.cx.respond(key, &args, now);
            return;
        }
        self.want_of(&whom, Wish::Stop, now);
        self.stop_sent(whom, number, now);
    }
}

/// Reads the number of a conversation before a prompt: `#2 run the tests`.
fn addressed(text: &str) -> Option<(usize, String)> {
    let (number, rest) = text
        .trim_start()
        .strip_prefix('#')?
        .split_once(char::is_whitespace)?;
    Some((number.parse().ok()?, rest.trim().to_owned()))
}
