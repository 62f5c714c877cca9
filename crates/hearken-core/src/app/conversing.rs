//! Going from one conversation to another, and describing each.
//!
//! Responsibilities: the list with numbers and states; the target of a prompt, a stop, a mute or a leave once the
//! person has chosen a conversation. Not here: the numbers (`conversations`), what a prompt or a stop does
//! (`prompting`).

use crate::announce::{Arg, Class};
use crate::link::LinkId;
use crate::protocol::Now;
use crate::session::{QuestionId, Session, SessionKey};

use super::App;
use super::conversations::Conversation;

impl App {
    /// Reads the conversations that can go on, with their numbers and states.
    pub(super) fn read_conversations(&mut self, now: Now) {
        let all = self.conversations_there();
        let words: Vec<String> = all
            .iter()
            .map(|number| self.conversation_words(*number, now))
            .collect();
        if words.is_empty() {
            self.cx.respond("conversation.none", &[], now);
            return;
        }
        let reason = [("reason", Arg::Own(words.join(" ")))];
        self.cx.respond("fault.other", &reason, now);
    }

    /// Switches to the conversation with a number; without one, leaves the current one.
    pub(super) fn go_to_conversation(&mut self, number: Option<usize>, now: Now) {
        let all = self.conversations_there();
        match number {
            None => {
                self.conversations.go_to(None);
                self.cx.respond("conversation.nobody", &[], now);
            }
            Some(number) if all.contains(&number) => self.be_with(number, now),
            Some(number) => self.no_such_conversation(number, now),
        }
    }

    /// Switches to the next conversation.
    pub(super) fn next_conversation(&mut self, now: Now) {
        let all = self.conversations_there();
        match self.conversations.next(&all) {
            Some(number) => self.be_with(number, now),
            None => self.cx.respond("conversation.none", &[], now),
        }
    }

    /// Switches to a conversation: announces its state, and shows its question.
    fn be_with(&mut self, number: usize, now: Now) {
        self.conversations.go_to(Some(number));
        let words = self.conversation_words(number, now);
        self.cx
            .respond("fault.other", &[("reason", Arg::Own(words))], now);
        let Some(conversation) = self.conversations.get(number).cloned() else {
            return;
        };
        let asks = self.questions().into_iter().find(|question| {
            question.is_answerable() && is_of(&conversation, question.key.link, &question.key)
        });
        let asks: Option<QuestionId> = asks.map(|question| question.id);
        if let Some(id) = asks.filter(|id| self.questions.shown_id() != Some(*id)) {
            self.show(Some(id), false, now);
            self.questions.note_change(now.monotonic);
            self.ask(id, Class::Response, now);
        }
    }

    pub(super) fn no_such_conversation(&mut self, number: usize, now: Now) {
        let args = [("n", Arg::own(number))];
        self.cx.respond("conversation.no_such", &args, now);
    }

    /// Returns the numbers of the conversations that can go on.
    fn conversations_there(&mut self) -> Vec<usize> {
        let prompted = self.links.iter().filter(|view| !view.is_over());
        let prompted = prompted.filter(|view| view.connection().takes_prompts);
        let (several, prompted): (Vec<_>, Vec<_>) =
            prompted.partition(|view| view.connection().converses);
        let links = |views: Vec<&super::LinkView>| -> Vec<LinkId> {
            views.into_iter().map(|view| view.id).collect()
        };
        let (several, prompted) = (links(several), links(prompted));
        let heard_on = |link: &LinkId| self.cx.sessions.iter().any(|it| it.key.link == *link);
        // As long as no agent has been heard there, the first prompt goes to whichever agent takes it.
        let unheard = several.iter().filter(|link| !heard_on(link));
        let mut all: Vec<Conversation> = prompted
            .iter()
            .chain(unheard)
            .map(|link| Conversation {
                link: *link,
                agent: None,
            })
            .collect();
        // A conversation that takes prompts outlives the end of its work.
        let goes_on =
            |session: &&Session| !session.is_ended() || several.contains(&session.key.link);
        let heard = self.cx.sessions.iter().filter(goes_on);
        for session in heard.filter(|session| !prompted.contains(&session.key.link)) {
            let conversation = Conversation {
                link: session.key.link,
                agent: Some(session.key.agent.clone()),
            };
            if !all.contains(&conversation) {
                all.push(conversation);
            }
        }
        let mut numbers: Vec<usize> = all
            .iter()
            .filter_map(|conversation| self.conversations.number(conversation))
            .collect();
        numbers.sort_unstable();
        numbers
    }

    /// Returns the number and the state of a conversation, in words.
    fn conversation_words(&self, number: usize, now: Now) -> String {
        let Some(conversation) = self.conversations.get(number) else {
            return String::new();
        };
        let phrases = self.cx.phrases();
        let session = self.session_of(conversation);
        let words = match session {
            Some(session) => self.cx.session_words(session, now.monotonic),
            None => {
                let name = self.links.name(conversation.link);
                phrases.text("conversation.idle", &[("agent", Arg::Name(name))])
            }
        };
        let muted = session
            .is_some_and(|session| self.cx.announcer.is_muted(&session.key, &session.agent))
            .then(|| phrases.text("conversation.muted", &[]));
        let here = (self.conversations.chosen() == Some(conversation))
            .then(|| phrases.text("conversation.here", &[]));
        let args = [
            ("n", Arg::own(number)),
            ("words", Arg::Own(words)),
            ("muted", Arg::Own(muted.unwrap_or_default())),
            ("here", Arg::Own(here.unwrap_or_default())),
        ];
        phrases.text("conversation", &args)
    }

    /// Returns the current or last session of a conversation.
    fn session_of(&self, conversation: &Conversation) -> Option<&Session> {
        let all = self.cx.sessions.iter();
        let of_it = all.filter(|session| is_of(conversation, session.key.link, &session.key));
        of_it.max_by_key(|session| (!session.is_ended(), session.last_event))
    }

    /// Returns the source of the conversation that the person is in.
    pub(super) fn chosen_link(&self) -> Option<LinkId> {
        self.conversations.chosen().map(|chosen| chosen.link)
    }

    /// Returns the conversation with a number, if it can go on.
    pub(super) fn conversation_with(&mut self, number: usize) -> Option<Conversation> {
        let there = self.conversations_there().contains(&number);
        self.conversations.get(number).filter(|_| there).cloned()
    }

    /// Returns the conversation that a prompt to a source is meant for: the chosen one, or else the one heard last, if
    /// the source has several.
    pub(super) fn meant_on(&self, link: LinkId) -> Conversation {
        let several = self
            .links
            .get(link)
            .is_some_and(|view| view.connection().converses);
        if !several {
            return Conversation { link, agent: None };
        }
        let chosen = self.conversations.chosen();
        let chosen = chosen.filter(|chosen| chosen.link == link);
        let heard = || {
            let mut told = self.cx.announcer.history().iter().rev();
            told.find_map(|told| told.key.as_ref().filter(|key| key.link == link))
        };
        let agent = chosen.and_then(|chosen| chosen.agent.clone());
        Conversation {
            link,
            agent: agent.or_else(|| heard().map(|key| key.agent.clone())),
        }
    }

    /// Returns the session that the person is in.
    pub(super) fn chosen_session(&self) -> Option<SessionKey> {
        let chosen = self.conversations.chosen()?;
        self.session_of(chosen).map(|session| session.key.clone())
    }

    /// Returns the name of the agent that a prompt goes to; `None` if only one is possible.
    pub(super) fn name_of_prompted(&self, conversation: &Conversation) -> Option<String> {
        let can = |view: &&super::LinkView| !view.is_over() && view.connection().takes_prompts;
        let link = conversation.link;
        let others = conversation.agent.as_ref().is_some_and(|agent| {
            let mut heard = self.cx.sessions.iter();
            heard.any(|it| it.key.link == link && it.key.agent != *agent)
        });
        if self.links.iter().filter(can).count() < 2 && !others {
            return None;
        }
        let session = self.session_of(conversation);
        Some(match session {
            Some(session) => {
                let (key, agent) = (&session.key, &session.agent);
                (self.cx.announcer.agent_name(key, agent, &self.cx.sessions)).to_string()
            }
            None => self.links.name(link),
        })
    }
}

fn is_of(conversation: &Conversation, link: LinkId, key: &SessionKey) -> bool {
    let agent = conversation.agent.as_ref();
    conversation.link == link && agent.is_none_or(|agent| *agent == key.agent)
}
