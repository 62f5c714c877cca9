//! Continues an earlier conversation.
//!
//! Responsibilities: finding it among those that the agent keeps, asking the person which one if they want to choose,
//! opening it again. Not here: the greeting, and a new conversation (`greeting`).
//!
//! # Mental model
//! A person who wants to continue a conversation never gets a different one: if the agent keeps none that fits, or
//! can't open it again, the source is given up with a sentence. The choice is an ordinary AAEP question. Until a
//! conversation is open again, the agent only repeats what was said before: that is counted, and announced in one
//! sentence.

use serde_json::{Map, Value, json};

use crate::event_writer::{self, cut};
use crate::link::{Phrase, PhraseArg};
use crate::protocol::Answer;
use crate::{ConversationToContinue, Cx, DialectOutput};

use super::client::{Acp, AcpRequest};
use crate::kit::call::first;
use crate::kit::members::text;
use crate::kit::standalone_question::{self, QuestionContent, SideQuestion};
use crate::kit::turn_updates::Update;

/// How many conversations are offered.
const MOST: usize = standalone_question::MOST_CHOICES;
/// How many are searched for the latest one; an agent that lists more lists the newest first.
const MOST_READ: usize = 1000;
/// The longest title, in characters.
const LONGEST: usize = 200;

/// What an agent can do with earlier conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConversationAbilities {
    /// It lists them.
    pub lists: bool,
    /// It opens one again, and repeats what was said in it.
    pub loads: bool,
    /// It opens one again, and repeats nothing.
    pub resumes: bool,
}

impl ConversationAbilities {
    /// Returns whether a conversation can be taken up again.
    pub fn can_continue(self) -> bool {
        self.lists && (self.loads || self.resumes)
    }

    /// Parses the capabilities of an agent.
    pub fn read(capabilities: Option<&Map<String, Value>>) -> Self {
        let object =
            |map: &Map<String, Value>, name: &str| map.get(name).is_some_and(Value::is_object);
        let Some(map) = capabilities else {
            return Self::default();
        };
        let session = map.get("sessionCapabilities").and_then(Value::as_object);
        Self {
            lists: session.is_some_and(|map| object(map, "list")),
            loads: map.get("loadSession") == Some(&Value::Bool(true)),
            resumes: session.is_some_and(|map| object(map, "resume")),
        }
    }
}

/// A conversation that the agent keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EarlierConversation {
    id: String,
    title: String,
    /// When something was last said in it, as the agent writes it.
    at: String,
}

/// How far continuing a conversation has got.
#[derive(Debug)]
pub(super) enum ResumeStage {
    /// Nothing is under way.
    Idle,
    /// The person is being asked which one.
    Asked(ResumeQuestion),
    /// The agent is opening it again.
    Reopening(Reopening),
}

/// The question of which conversation to continue.
#[derive(Debug)]
pub(super) struct ResumeQuestion {
    aside: SideQuestion,
    kept: Vec<EarlierConversation>,
    /// The choice in the answer under way.
    chosen: Option<EarlierConversation>,
}

/// A conversation that the agent is opening again.
#[derive(Debug)]
pub(super) struct Reopening {
    kept: EarlierConversation,
    prompts: u64,
    /// The person's message that was counted last.
    last: Option<String>,
}

impl Reopening {
    fn new(kept: EarlierConversation) -> Self {
        Self {
            kept,
            prompts: 0,
            last: None,
        }
    }

    /// Counts a repeated message from the person.
    fn count(&mut self, message: Option<&String>) {
        if message.is_none() || message != self.last.as_ref() {
            self.prompts += 1;
        }
        self.last = message.cloned();
    }
}

impl Acp {
    /// Requests a new conversation, or the list of earlier ones. If that is impossible, the reason is returned.
    pub(super) fn want_conversation(&mut self, out: &mut Vec<DialectOutput>) -> Result<(), Phrase> {
        let (folder, keeps) = (self.teller.folder.clone(), self.keeps);
        match self.wanted {
            ConversationToContinue::None => {
                let params = json!({"cwd": folder, "mcpServers": []}).to_string();
                self.ask(AcpRequest::Opening, "session/new", &params, out);
            }
            ConversationToContinue::Last | ConversationToContinue::Chosen => {
                if !keeps.can_continue() {
                    return Err(Phrase::new("acp.earlier.never"));
                }
                let params = json!({"cwd": folder}).to_string();
                self.ask(AcpRequest::Listing, "session/list", &params, out);
            }
        }
        Ok(())
    }

    /// Handles the list of conversations that the agent keeps.
    pub(super) fn listed(&mut self, result: &Map<String, Value>, cx: &mut Cx<'_>) {
        let mut kept = read(result, &self.teller.folder);
        if self.wanted == ConversationToContinue::Last {
            kept.truncate(1);
        }
        match kept.len() {
            0 => self.give_up(Phrase::new("acp.earlier.none"), cx.out),
            1 => {
                let kept = kept.remove(0);
                let frame = self.opening(&kept);
                self.send(frame, cx.out);
                self.earlier = ResumeStage::Reopening(Reopening::new(kept));
            }
            _ => self.ask_which(kept, cx),
        }
    }

    /// Writes the request to open one again.
    fn opening(&mut self, kept: &EarlierConversation) -> String {
        let params = json!({"sessionId": kept.id, "cwd": self.teller.folder, "mcpServers": []});
        let id = self.pending_requests.ask(AcpRequest::Going);
        let method = if self.keeps.loads {
            "session/load"
        } else {
            "session/resume"
        };
        crate::rpc::request(id, method, &params.to_string())
    }

    fn ask_which(&mut self, mut kept: Vec<EarlierConversation>, cx: &mut Cx<'_>) {
        let left_out = kept.len().saturating_sub(MOST);
        kept.truncate(MOST);
        let words = &self.teller.words;
        let labels = kept.iter().map(|kept| {
            let title = if kept.title.is_empty() {
                &kept.id
            } else {
                &kept.title
            };
            // The day is enough to recognise a conversation, and the same in every time zone that matters here.
            let day: String = kept.at.chars().take_while(|c| *c != 'T').collect();
            first(words, "acp.earlier.one", &[("title", title), ("day", &day)])
        });
        let asks =
            QuestionContent::one_of(first(words, "acp.earlier.which", &[]), labels.collect());
        let teller = &mut self.teller;
        let mut aside = SideQuestion::begin("conversations", "", "acp.earlier.asks", teller, cx);
        aside.ask(asks, teller, cx);
        if left_out > 0 {
            let n = PhraseArg::Own(left_out.to_string());
            cx.out.push(DialectOutput::Announce(
                Phrase::new("acp.earlier.left_out").with("n", n),
            ));
        }
        self.earlier = ResumeStage::Asked(ResumeQuestion {
            aside,
            kept,
            chosen: None,
        });
    }

    /// Returns the request that an answer from the person leads to, if it answers the question of which conversation.
    pub(super) fn chosen(&mut self, request: u64, token: &str, answer: &Answer) -> Option<String> {
        let ResumeStage::Asked(asked) = &self.earlier else {
            return None;
        };
        let free = asked.aside.is_open(token);
        let kept = asked.kept.get(standalone_question::place(answer)?);
        let kept = kept.filter(|_| free)?.clone();
        let frame = self.opening(&kept);
        if let ResumeStage::Asked(asked) = &mut self.earlier {
            asked.aside.sends(request);
            asked.chosen = Some(kept);
        }
        Some(frame)
    }

    /// Handles the delivery of that answer.
    pub(super) fn choice_went(&mut self, request: u64, went: bool, cx: &mut Cx<'_>) {
        let ResumeStage::Asked(asked) = &mut self.earlier else {
            return;
        };
        if !asked.aside.went(request) {
            return;
        }
        let chosen = asked.chosen.take();
        if let (true, Some(kept)) = (went, chosen)
            && let ResumeStage::Asked(asked) = std::mem::replace(
                &mut self.earlier,
                ResumeStage::Reopening(Reopening::new(kept)),
            )
        {
            asked.aside.end(&mut self.teller, cx);
        }
    }

    /// Handles the end of the agent.
    pub(super) fn leave_earlier(&mut self, cx: &mut Cx<'_>) {
        if let ResumeStage::Asked(asked) = std::mem::replace(&mut self.earlier, ResumeStage::Idle) {
            asked.aside.lose(&mut self.teller, cx);
        }
    }

    /// Requests the chosen conversation once more; returns false if none was chosen.
    pub(super) fn open_again(&mut self, out: &mut Vec<DialectOutput>) -> bool {
        let ResumeStage::Reopening(opens) = &self.earlier else {
            return false;
        };
        let kept = opens.kept.clone();
        let frame = self.opening(&kept);
        self.send(frame, out);
        true
    }

    /// Handles an update; returns whether it only repeats what was said before.
    pub(super) fn said_before(&mut self, update: &Update) -> bool {
        let ResumeStage::Reopening(opens) = &mut self.earlier else {
            return false;
        };
        match update {
            Update::Echoes(message) => opens.count(message.as_ref()),
            Update::Says { .. }
            | Update::Shows(_)
            | Update::Thinks
            | Update::Calls(_)
            | Update::Plans { .. } => {}
            Update::Mode(_)
            | Update::Options(_)
            | Update::Commands { .. }
            | Update::Quiet
            | Update::Unknown(_) => {
                return false;
            }
        }
        true
    }

    /// Handles the news that an earlier conversation is open.
    pub(super) fn went_on(&mut self, result: &Map<String, Value>, cx: &mut Cx<'_>) {
        let ResumeStage::Reopening(opens) = std::mem::replace(&mut self.earlier, ResumeStage::Idle)
        else {
            return;
        };
        let n = if opens.prompts == 0 {
            String::new()
        } else {
            opens.prompts.to_string()
        };
        let phrase = Phrase::new("acp.earlier.open")
            .with("title", PhraseArg::Agent(opens.kept.title))
            .with("n", PhraseArg::Own(n));
        cx.out.push(DialectOutput::Announce(phrase));
        self.open(opens.kept.id, result, cx);
    }
}

/// Parses the list: the conversations of this folder, newest first.
fn read(result: &Map<String, Value>, folder: &str) -> Vec<EarlierConversation> {
    let list = result.get("sessions").and_then(Value::as_array);
    let list = list.into_iter().flatten().take(MOST_READ);
    let kept = list.filter_map(Value::as_object).filter_map(|map| {
        let here = text(map, "cwd").is_none_or(|cwd| cwd == folder);
        let id = text(map, "sessionId").filter(|_| here)?;
        Some(EarlierConversation {
            id: id.to_owned(),
            title: event_writer::short(&cut(text(map, "title").unwrap_or_default(), LONGEST)),
            at: cut(text(map, "updatedAt").unwrap_or_default(), LONGEST),
        })
    });
    let mut kept: Vec<EarlierConversation> = kept.collect();
    let time = |kept: &EarlierConversation| kept.at.parse::<jiff::Timestamp>().ok();
    // If any has no time, only the agent's own order is known.
    if kept.iter().all(|kept| time(kept).is_some()) {
        kept.sort_by_key(|kept| std::cmp::Reverse(time(kept)));
    }
    kept
}
