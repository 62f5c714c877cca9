//! Going from one conversation to another, and describing each.
//!
//! Responsibilities: the list with numbers and states; the target of a prompt, a stop, a mute or a leave once the
//! person has chosen a conversation. Not here: the numbers (`conversations`), what a prompt or a stop does
//! (`prompt_delivery`).

use std::collections::BTreeSet;

use crate::announce::{Arg, Quote, Segment};
use crate::link::LinkId;
use crate::session::{Session, SessionKey, Sessions};

use super::Prompts;
use crate::app::{AppCx, AppFact, AppFacts, Conversation, LinkView, Links};

/// How many conversations are read at most.
const MOST_READ: usize = 20;
/// How many history entries are searched for who spoke last.
const MOST_SPEAKERS: usize = 2000;

impl Prompts {
    /// Reads the conversations that can continue, with their numbers and states.
    pub(in crate::app) fn read_conversations(&mut self, links: &Links, cx: &mut AppCx) {
        let all = self.conversations_there(links, cx);
        let near = self.near(&all, cx);
        let rest = all.len() - near.len();
        let (mut words, mut quotes) = (Vec::new(), Vec::new());
        for number in near {
            let (told, of_agent) = self.conversation_told(number, links, cx);
            words.extend(told);
            quotes.extend(of_agent);
        }
        if words.is_empty() {
            cx.respond("conversation.none", &[]);
            return;
        }
        if rest > 0 {
            let args = [("n", Arg::own(rest))];
            let rest = cx.phrases().text("conversation.rest", &args);
            words.push(Segment::own(rest));
        }
        cx.quote(words, quotes);
    }

    /// Returns the conversations among these that the person may want next: all, unless there are too many to listen
    /// to.
    fn near(&self, all: &[usize], cx: &AppCx) -> Vec<usize> {
        if all.len() <= MOST_READ {
            return all.to_vec();
        }
        // The chosen conversation comes first, then those that wait for the person, then those announced last.
        let chosen = self.conversations.chosen();
        let asking = cx.sessions.open_questions();
        let asking = asking.filter(|question| question.answer().is_none());
        let spoken = cx.speakers().take(MOST_SPEAKERS);
        let keys = asking.map(|question| &question.key).chain(spoken);
        let wanted = keys.map(|key| Conversation {
            link: key.link,
            agent: Some(key.agent.clone()),
        });
        let mut near = BTreeSet::new();
        for conversation in chosen.cloned().into_iter().chain(wanted) {
            if let Some(number) = self.conversations.known_number(&conversation)
                && near.len() < MOST_READ
                && all.contains(&number)
            {
                near.insert(number);
            }
        }
        // If no agent was heard yet, any of them will do.
        if near.is_empty() {
            near.extend(all.iter().take(MOST_READ));
        }
        near.into_iter().collect()
    }

    /// Switches to the conversation with a number; without one, leaves the current one.
    pub(in crate::app) fn go_to_conversation(
        &mut self,
        number: Option<usize>,
        links: &Links,
        cx: &mut AppCx,
    ) -> AppFacts {
        let all = self.conversations_there(links, cx);
        match number {
            None => {
                self.conversations.go_to(None);
                cx.respond("conversation.nobody", &[]);
                Vec::new()
            }
            Some(number) if all.contains(&number) => self.be_with(number, links, cx),
            Some(number) => {
                self.no_such_conversation(number, cx);
                Vec::new()
            }
        }
    }

    /// Switches to the next conversation.
    pub(in crate::app) fn next_conversation(&mut self, links: &Links, cx: &mut AppCx) -> AppFacts {
        let all = self.conversations_there(links, cx);
        let near = self.near(&all, cx);
        match self.conversations.next(&near) {
            Some(number) => self.be_with(number, links, cx),
            None => {
                cx.respond("conversation.none", &[]);
                Vec::new()
            }
        }
    }

    /// Switches to a conversation: announces its state, and shows its question.
    fn be_with(&mut self, number: usize, links: &Links, cx: &mut AppCx) -> AppFacts {
        self.conversations.go_to(Some(number));
        let (words, quotes) = self.conversation_told(number, links, cx);
        cx.quote(words, quotes);
        let conversation = self.conversations.get(number).cloned();
        conversation.map(AppFact::Joined).into_iter().collect()
    }

    pub(super) fn no_such_conversation(&self, number: usize, cx: &mut AppCx) {
        let args = [("n", Arg::own(number))];
        cx.respond("conversation.no_such", &args);
    }

    /// Returns the numbers of the conversations that can continue.
    fn conversations_there(&mut self, links: &Links, cx: &AppCx) -> Vec<usize> {
        let prompted = links.iter().filter(|view| !view.is_over());
        let prompted = prompted.filter(|view| view.connection().takes_prompts);
        let (several, prompted): (Vec<_>, Vec<_>) =
            prompted.partition(|view| view.connection().converses);
        let promptable = several.iter().flat_map(|view| {
            let agents = view.promptable().iter();
            agents.map(|agent| Conversation {
                link: view.id,
                agent: Some(agent.id.clone()),
            })
        });
        let promptable: Vec<Conversation> = promptable.collect();
        let read_back = links.iter().filter(|view| view.connection().selects);
        let read_back = read_back.map(|view| view.id);
        let links = |views: Vec<&LinkView>| -> Vec<LinkId> {
            views.into_iter().map(|view| view.id).collect()
        };
        let (several, prompted) = (links(several), links(prompted));
        let heard_on = |link: &LinkId| {
            cx.sessions.iter().any(|it| it.key.link == *link)
                || promptable.iter().any(|known| known.link == *link)
        };
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
        all.extend(promptable);
        // A conversation that takes prompts outlives the end of its work, and so does one that can be read back.
        let read_back: Vec<LinkId> = read_back.collect();
        let outlives = |link: &LinkId| several.contains(link) || read_back.contains(link);
        let goes_on = |session: &&Session| !session.is_ended() || outlives(&session.key.link);
        let mut found: BTreeSet<Conversation> = all.iter().cloned().collect();
        let heard = cx.sessions.iter().filter(goes_on);
        for session in heard.filter(|session| !prompted.contains(&session.key.link)) {
            let conversation = Conversation {
                link: session.key.link,
                agent: Some(session.key.agent.clone()),
            };
            if found.insert(conversation.clone()) {
                all.push(conversation);
            }
        }
        let mut numbers: Vec<usize> = all
            .iter()
            .map(|conversation| self.conversations.number(conversation))
            .collect();
        numbers.sort_unstable();
        numbers
    }

    /// Assigns a number to the conversation of a session, so that a face can show it.
    pub(in crate::app) fn number_session(&mut self, key: &SessionKey, links: &Links) {
        self.conversations.number(&conversation_of(key, links));
    }

    /// Returns the number of the conversation that a session belongs to.
    pub(in crate::app) fn number_of(&self, key: &SessionKey, links: &Links) -> Option<usize> {
        self.conversations
            .known_number(&conversation_of(key, links))
    }

    /// Returns the number and the state of a conversation, in words.
    fn conversation_told(
        &self,
        number: usize,
        links: &Links,
        cx: &AppCx,
    ) -> (Vec<Segment>, Vec<Quote>) {
        let Some(conversation) = self.conversations.get(number) else {
            return (Vec::new(), Vec::new());
        };
        let phrases = cx.phrases();
        let session = session_of(conversation, &cx.sessions);
        let (words, calls, quotes) = match session {
            Some(session) => cx.session_told(session),
            None => {
                let name = links.name_of(conversation);
                let idle = phrases.text("conversation.idle", &[("agent", Arg::Name(name))]);
                (idle, Vec::new(), Vec::new())
            }
        };
        let muted = session
            .is_some_and(|session| cx.announcer.is_muted(&session.key, &session.agent))
            .then(|| phrases.text("conversation.muted", &[]));
        let here = (self.conversations.chosen() == Some(conversation))
            .then(|| phrases.text("conversation.here", &[]));
        let args = [
            ("n", Arg::own(number)),
            ("words", Arg::Own(words)),
            ("muted", Arg::Own(muted.unwrap_or_default())),
            ("here", Arg::Own(here.unwrap_or_default())),
        ];
        let mut told = vec![Segment::own(phrases.text("conversation", &args))];
        told.extend(calls);
        (told, quotes)
    }

    /// Returns the source of the conversation that the person is in.
    pub(in crate::app) fn chosen_link(&self) -> Option<LinkId> {
        self.conversations.chosen().map(|chosen| chosen.link)
    }

    /// Returns the conversation with a number, if it can continue.
    pub(super) fn conversation_with(
        &mut self,
        number: usize,
        links: &Links,
        cx: &AppCx,
    ) -> Option<Conversation> {
        let there = self.conversations_there(links, cx).contains(&number);
        self.conversations.get(number).filter(|_| there).cloned()
    }

    /// Returns the conversation that a prompt to a source is meant for: the chosen one, or else the one heard last, if
    /// the source has several.
    pub(super) fn meant_on(&self, link: LinkId, links: &Links, cx: &AppCx) -> Conversation {
        let several = links
            .get(link)
            .is_some_and(|view| view.connection().converses);
        if !several {
            return Conversation { link, agent: None };
        }
        let chosen = self.conversations.chosen();
        let chosen = chosen.filter(|chosen| chosen.link == link);
        let heard = || cx.speakers().find(|key| key.link == link);
        let agent = chosen.and_then(|chosen| chosen.agent.clone());
        Conversation {
            link,
            agent: agent.or_else(|| heard().map(|key| key.agent.clone())),
        }
    }

    /// Returns the session that the person is in.
    pub(in crate::app) fn chosen_session(&self, cx: &AppCx) -> Option<SessionKey> {
        let chosen = self.conversations.chosen()?;
        session_of(chosen, &cx.sessions).map(|session| session.key.clone())
    }

    /// Returns the name of the agent that a prompt goes to; `None` if only one is possible.
    pub(super) fn name_of_prompted(
        &self,
        conversation: &Conversation,
        links: &Links,
        cx: &AppCx,
    ) -> Option<String> {
        let can = |view: &&LinkView| !view.is_over() && view.connection().takes_prompts;
        let link = conversation.link;
        let others = conversation.agent.as_ref().is_some_and(|agent| {
            let mut heard = cx.sessions.iter();
            let promptable = links.get(link).map_or(&[][..], LinkView::promptable);
            heard.any(|it| it.key.link == link && it.key.agent != *agent)
                || promptable.iter().any(|known| known.id != *agent)
        });
        if links.iter().filter(can).count() < 2 && !others {
            return None;
        }
        let session = session_of(conversation, &cx.sessions);
        Some(match session {
            Some(session) => {
                let (key, agent) = (&session.key, &session.agent);
                (cx.announcer.agent_name(key, agent, &cx.sessions)).to_string()
            }
            None => links.name_of(conversation),
        })
    }
}

impl Links {
    /// Returns the name of a conversation's agent before anything was heard in it, or else the name of its
    /// source.
    fn name_of(&self, conversation: &Conversation) -> String {
        let view = self.get(conversation.link);
        let mut promptable = view.map_or(&[][..], LinkView::promptable).iter();
        let known = promptable.find(|known| conversation.agent.as_ref() == Some(&known.id));
        known.map_or_else(|| self.name(conversation.link), |known| known.name.clone())
    }
}

/// Returns the conversation that a session belongs to.
fn conversation_of(key: &SessionKey, links: &Links) -> Conversation {
    let view = links.get(key.link).filter(|view| !view.is_over());
    let connection = view.map(|view| view.connection());
    let alone = connection.is_some_and(|it| it.takes_prompts && !it.converses);
    Conversation {
        link: key.link,
        agent: (!alone).then(|| key.agent.clone()),
    }
}

/// Returns the current or last session of a conversation.
fn session_of<'a>(conversation: &Conversation, sessions: &'a Sessions) -> Option<&'a Session> {
    let of_it = sessions.iter().filter(|it| conversation.includes(&it.key));
    of_it.max_by_key(|session| (!session.is_ended(), session.last_event))
}
