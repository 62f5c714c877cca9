//! Sending prompts to an agent, and stopping it.
//!
//! Responsibilities: which agent is meant, typing the prompt, the two steps of a stop. Not here: what is sent, and when
//! (its dialect).
//!
//! Mental model: a stop throws away work, so it takes two steps, wherever the person is: the same key or line
//! twice, not too close together, not too far apart, and nothing else in between. A third stop leaves behind
//! work that does not stop (`stuck_actions`). Text being typed stays.

use crate::announce::Arg;
use crate::dialect::PersonRequest;
use crate::link::LinkId;
use crate::protocol::Now;

use super::Prompts;
use super::invitation::Invitation;
use crate::app::typing::echo;
use crate::app::{Activity, AnswerOrigin, AppCx, AppFact, AppFacts, Conversation, Links};

impl Prompts {
    /// Returns whether any agent takes prompts.
    pub(in crate::app) fn takes_prompts(&self, links: &Links) -> bool {
        !self.prompted_links(false, links).is_empty()
    }

    /// Returns whether any agent's work can be stopped.
    pub(in crate::app) fn stops_work(&self, links: &Links) -> bool {
        !self.prompted_links(true, links).is_empty()
    }

    /// Returns the sources whose agents take prompts, or can be stopped; once the person has chosen one, only that one.
    fn prompted_links(&self, in_turn: bool, links: &Links) -> Vec<LinkId> {
        let there = links.iter().filter(|view| !view.is_over());
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

    /// Returns the source whose agent is meant, among those that take prompts: the chosen one, or else the one
    /// heard last.
    pub(super) fn prompted_link(&self, in_turn: bool, links: &Links, cx: &AppCx) -> Option<LinkId> {
        let can = self.prompted_links(in_turn, links);
        // The last speaker matters only among several; the history may be long.
        if can.len() < 2 {
            return can.first().copied();
        }
        let of_last = cx
            .speakers()
            .map(|key| key.link)
            .find(|link| can.contains(link));
        of_last.or_else(|| can.first().copied())
    }

    /// Returns whether the conversation that is meant can only be heard and answered: the chosen one, or else all that
    /// exist.
    fn is_only_heard(&self, links: &Links) -> bool {
        if let Some(chosen) = self.chosen_link() {
            let view = links.get(chosen);
            return view.is_some_and(|view| view.connection().only_heard);
        }
        let mut there = links.iter().filter(|view| !view.is_over()).peekable();
        there.peek().is_some() && there.all(|view| view.connection().only_heard)
    }

    /// Sends a prompt to an agent; without a text, opens the editor.
    pub(in crate::app) fn tell_agent(
        &mut self,
        text: Option<String>,
        links: &Links,
        cx: &mut AppCx,
    ) -> AppFacts {
        let (number, text) = match text {
            Some(text) => match addressed(&text) {
                Some((number, rest)) => (Some(number), Some(rest)),
                None => (None, Some(text)),
            },
            None => (None, None),
        };
        let meant = match number {
            Some(number) => {
                let conversation = self.conversation_with(number, links, cx);
                if conversation.is_none() {
                    self.no_such_conversation(number, cx);
                    return Vec::new();
                }
                conversation.filter(|conversation| {
                    links
                        .get(conversation.link)
                        .is_some_and(|it| it.connection().takes_prompts)
                })
            }
            None => self
                .prompted_link(false, links, cx)
                .map(|link| self.meant_on(link, links, cx)),
        };
        let Some(conversation) = meant else {
            let key = match number.is_some() || self.chosen_link().is_some() {
                _ if self.is_only_heard(links) => "prompt.only_heard",
                true => "prompt.not_this",
                false => "prompt.nobody",
            };
            cx.respond(key, &[]);
            return Vec::new();
        };
        match text {
            Some(text) if text.trim().is_empty() => cx.respond("prompt.lines", &[]),
            Some(text) => return self.send_prompt(&conversation, &text, links, cx),
            None => {
                self.earlier.begin();
                let agent = self
                    .name_of_prompted(&conversation, links, cx)
                    .unwrap_or_default();
                cx.doing = Activity::prompting(conversation);
                cx.respond("prompt.editing", &[("agent", Arg::Name(agent))]);
            }
        }
        Vec::new()
    }

    /// Replaces the prompt that is being typed by the previous one or the next one, and reads it out.
    pub(in crate::app) fn take_up(&mut self, older: bool, cx: &mut AppCx) {
        let typed = cx.editor().0.to_owned();
        let text = match older {
            true => self.earlier.older(&typed),
            false => self.earlier.newer(),
        };
        let (Some(text), Some(line)) = (text, cx.doing.line_mut()) else {
            let none = match older {
                true => "prompt.no_older",
                false => "prompt.no_newer",
            };
            cx.respond(none, &[]);
            return;
        };
        *line = tui_input::Input::new(text.clone());
        echo(&text, "editor.empty", cx);
    }

    /// Sends the typed prompt.
    pub(in crate::app) fn submit_prompt(
        &mut self,
        conversation: &Conversation,
        text: &str,
        links: &Links,
        cx: &mut AppCx,
    ) -> AppFacts {
        if text.is_empty() {
            cx.respond("prompt.empty", &[]);
            return Vec::new();
        }
        cx.doing = Activity::Watching;
        self.send_prompt(conversation, text, links, cx)
    }

    fn send_prompt(
        &mut self,
        conversation: &Conversation,
        text: &str,
        links: &Links,
        cx: &mut AppCx,
    ) -> AppFacts {
        if links
            .get(conversation.link)
            .is_none_or(|view| view.is_over())
        {
            cx.respond("prompt.nobody", &[]);
            return Vec::new();
        }
        self.keep(text);
        self.invitation = Invitation::Over;
        let agent = self.name_of_prompted(conversation, links, cx);
        if let Some(agent) = &agent {
            cx.respond("prompt.to", &[("agent", Arg::Name(agent.clone()))]);
        }
        self.check_command(conversation.link, text, links, cx);
        let wish = self.wish_of(conversation, PersonRequest::Prompt(text.to_owned()), cx.now);
        vec![AppFact::Prompted(
            conversation.link,
            wish,
            text.to_owned(),
            agent,
        )]
    }

    /// Sends a wish to one of the agents behind a source.
    pub(super) fn want_of(
        &mut self,
        conversation: &Conversation,
        wish: PersonRequest,
        now: Now,
    ) -> AppFacts {
        vec![AppFact::Request(
            conversation.link,
            self.wish_of(conversation, wish, now),
        )]
    }

    fn wish_of(
        &mut self,
        conversation: &Conversation,
        wish: PersonRequest,
        now: Now,
    ) -> PersonRequest {
        self.stuck.stir(conversation.link, now);
        match &conversation.agent {
            Some(agent) => PersonRequest::ForAgent(agent.clone(), Box::new(wish)),
            None => wish,
        }
    }

    /// Handles one of the two steps of stopping an agent's work.
    pub(in crate::app) fn stop_turn(
        &mut self,
        number: Option<usize>,
        by: AnswerOrigin,
        links: &Links,
        cx: &mut AppCx,
    ) -> AppFacts {
        let meant = match number {
            Some(number) => {
                let conversation = self.conversation_with(number, links, cx);
                if conversation.is_none() {
                    self.stopping.forget();
                    self.no_such_conversation(number, cx);
                    return Vec::new();
                }
                let busy = |conversation: &Conversation| {
                    let view = links.get(conversation.link);
                    view.is_some_and(|view| view.connection().in_turn)
                };
                conversation.filter(busy)
            }
            None => self
                .prompted_link(true, links, cx)
                .map(|link| self.meant_on(link, links, cx)),
        };
        let Some(conversation) = meant else {
            self.stopping.forget();
            let prompted = match number {
                Some(number) => self
                    .conversation_with(number, links, cx)
                    .map(|conversation| conversation.link),
                None => self.prompted_link(false, links, cx),
            };
            let never = prompted.and_then(|link| links.get(link));
            if never.is_some_and(|view| view.connection().never_stops) {
                cx.respond("stop_turn.never", &[]);
                return Vec::new();
            }
            if self.is_only_heard(links) {
                cx.respond("stop_turn.only_heard", &[]);
                return Vec::new();
            }
            match (by, number.is_some() || self.takes_prompts(links)) {
                // If no agent takes prompts, the line stops the voice.
                (AnswerOrigin::Line { .. }, false) => return vec![AppFact::StopSpeech],
                (AnswerOrigin::Line { .. } | AnswerOrigin::Key(_) | AnswerOrigin::Begun, _) => {
                    cx.respond("stop_turn.none", &[]);
                }
            }
            return Vec::new();
        };
        let is_press = match by {
            AnswerOrigin::Key(press) => !press.again,
            AnswerOrigin::Line { .. } => true,
            AnswerOrigin::Begun => false,
        };
        if let Some(facts) = is_press
            .then(|| self.stop_again(&conversation, links, cx))
            .flatten()
        {
            self.stopping.forget();
            return facts;
        }
        let second = match by {
            // A key that is held down is not a decision.
            AnswerOrigin::Key(press) => {
                !press.again && self.stopping.key(&conversation, press.read)
            }
            AnswerOrigin::Line { read } => self.stopping.line(&conversation, read),
            AnswerOrigin::Begun => false,
        };
        if !second {
            let only_leaves = links
                .get(conversation.link)
                .is_some_and(|view| view.connection().is_only_left);
            let key = match only_leaves {
                true => (cx.face).pick("stop_turn.leave.keys", "stop_turn.leave.lines"),
                false => (cx.face).pick("stop_turn.first.keys", "stop_turn.first.lines"),
            };
            let agent = self
                .name_of_prompted(&conversation, links, cx)
                .unwrap_or_default();
            let number = number.map(|number| number.to_string()).unwrap_or_default();
            let args = [("agent", Arg::Name(agent)), ("n", Arg::Own(number))];
            cx.respond(key, &args);
            return Vec::new();
        }
        let mut facts = self.want_of(&conversation, PersonRequest::Stop, cx.now);
        facts.push(AppFact::StopSent(conversation, number));
        facts
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
