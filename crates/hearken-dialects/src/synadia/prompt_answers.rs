//! What comes in answer to a prompt.
//!
//! Responsibilities: the turn of a prompt: its text, its questions, its end. Not here: the person's answers
//! (`answers`), leaving it (`prompts`).
//!
//! # Mental model
//! A prompt is known to be taken when the first part of its answer comes; until then it may wait behind prompts of
//! other callers. An error may come before any part, which then means that the prompt was not taken.

use crate::event_writer::{cut, short, stated};
use crate::kit::permission::Permission;
use crate::kit::post_outcome::delivered;
use crate::kit::turn::Turn;
use crate::kit::turn_end::TurnEnd;
use crate::kit::turn_updates::Update;
use crate::link::{Cause, DeliveryFailure, Fault, HttpAnswer, Phrase, PhraseArg};
use crate::protocol::{AwaitingClarification, ResponseKind};
use crate::rpc::Id;
use crate::{Cx, DialectOutput, QuestionEnd};

use super::agent::{AnswerableQuestion, SynadiaAgent};
use super::agent_discovery::unread;
use super::client::Synadia;
use super::messages::{self, AnswerChunk, Files, Query};
use super::prompts::not_taken;
use super::subject;

/// The longest question, in characters; the rest is read on demand.
const LONGEST: usize = 3600;
/// How many unknown kinds of chunks are reported, each once.
const MOST_UNKNOWN: usize = 64;
/// How many questions of one turn are kept for answers.
const MOST_ASKED: usize = 128;

impl Synadia {
    /// Handles a part of the answer to a prompt.
    pub(super) fn hear(&mut self, subject: &str, text: &str, cx: &mut Cx<'_>) {
        let Some(agent) = self.agents.get_mut(subject) else {
            return;
        };
        if let Some(answering) = &mut agent.answering {
            answering.heard = cx.now.monotonic;
            answering.is_silence_told = false;
        }
        agent.wait_anew(cx.now);
        let Some(chunk) = messages::chunk(text) else {
            return unread(cx);
        };
        if let AnswerChunk::Unknown(kind) = &chunk
            && self.unknown.len() < MOST_UNKNOWN
            && self.unknown.insert(kind.clone())
        {
            let kind = PhraseArg::Name(kind.clone());
            let phrase = Phrase::new("acp.unknown").with("kind", kind);
            cx.out.push(DialectOutput::Detail(phrase));
        }
        agent.begin(cx);
        match chunk {
            AnswerChunk::Says { text, files } => {
                agent.update(
                    Update::Says {
                        message: None,
                        text,
                    },
                    cx,
                );
                agent.has_files(files, cx);
            }
            AnswerChunk::Asks(query) => agent.asks(query, cx),
            AnswerChunk::Works | AnswerChunk::Unknown(_) => {}
        }
    }

    /// Handles the end of the answer to a prompt.
    pub(super) fn heard_all(
        &mut self,
        subject: &str,
        outcome: &Result<HttpAnswer, Fault>,
        cx: &mut Cx<'_>,
    ) {
        if let Some(agent) = self.agents.get_mut(subject) {
            agent.answering = None;
            agent.is_answered(outcome, cx);
        }
        self.send_all_held(cx);
    }
}

impl SynadiaAgent {
    /// Begins the turn of the prompt, unless it has begun.
    fn begin(&mut self, cx: &mut Cx<'_>) {
        if self.turn.is_some() {
            return;
        }
        let prompt = std::mem::take(&mut self.prompt);
        let turn = Turn::begin(&self.subject, Some(&prompt), &mut self.teller, cx);
        self.turn = Some(turn);
    }

    fn update(&mut self, update: Update, cx: &mut Cx<'_>) {
        if let Some(turn) = &mut self.turn {
            turn.update(update, &mut self.teller, cx);
        }
    }

    /// Announces files that can't be read here.
    fn has_files(&self, files: Files, cx: &mut Cx<'_>) {
        if files.count == 0 {
            return;
        }
        let phrase = Phrase::new("synadia.files")
            .with("agent", PhraseArg::Name(self.name.clone()))
            .with("n", PhraseArg::Own(files.count.to_string()))
            .with("names", PhraseArg::Names(files.names));
        cx.out.push(DialectOutput::Announce(phrase));
    }

    /// Asks the person what the agent asks.
    fn asks(&mut self, query: Query, cx: &mut Cx<'_>) {
        let asked = AnswerableQuestion {
            id: query.id,
            reply_subject: query.reply_subject,
            text: query.text,
        };
        // A repeated question is not a new one.
        if self.questions.values().any(|known| *known == asked) {
            return;
        }
        let is_answerable = subject::takes_answers(&asked.reply_subject);
        self.asked_count += 1;
        let name = format!("query_{}", self.asked_count);
        let text = asked.text.trim();
        let question = cut(text, LONGEST);
        let is_cut = question != text;
        let question = AwaitingClarification {
            context: is_cut.then(|| short(text)).and_then(stated),
            question,
            accepted_response_kinds: match is_answerable {
                true => vec![ResponseKind::Freetext],
                false => Vec::new(),
            },
            ..AwaitingClarification::default()
        };
        let permission = Permission::words(Id::of_name(&name), question);
        let has_room = self.questions.len() < MOST_ASKED
            && (self.turn.as_mut())
                .is_some_and(|turn| turn.clarify(permission, false, &mut self.teller, cx));
        if !has_room {
            self.unasked += 1;
            return;
        }
        self.questions.insert(name, asked);
        self.has_files(query.files, cx);
        if !is_answerable {
            let agent = PhraseArg::Name(self.name.clone());
            let phrase = Phrase::new("synadia.no_inbox").with("agent", agent);
            cx.out.push(DialectOutput::Announce(phrase));
        }
    }

    /// Handles the end of the answer to a prompt, or its absence.
    fn is_answered(&mut self, outcome: &Result<HttpAnswer, Fault>, cx: &mut Cx<'_>) {
        let end = match outcome {
            Ok(answer) if (200..300).contains(&answer.status) => {
                self.begin(cx);
                TurnEnd::Done
            }
            Ok(answer) => TurnEnd::Failed(messages::error(answer.status, &answer.body)),
            Err(_) => TurnEnd::Lost("agui.end.lost"),
        };
        if self.turn.is_some() {
            return self.end(end, cx);
        }
        match (end, outcome) {
            (TurnEnd::Failed(words), _) => {
                let words = PhraseArg::Agent(words);
                let phrase = Phrase::new("a2a.refused").with("words", words);
                not_taken(Fault::Declined(phrase), cx);
            }
            (_, Err(Fault::Refused)) => {
                not_taken(Fault::Declined(Phrase::new("synadia.why.nobody")), cx);
            }
            (_, outcome) => match delivered(outcome) {
                Err(DeliveryFailure::Unknown(fault)) if !was_kept(&fault) => {
                    let reason = PhraseArg::Fault(fault);
                    let phrase = Phrase::new("prompt.perhaps_taken").with("reason", reason);
                    cx.out.push(DialectOutput::Announce(phrase));
                }
                Err(undelivered) => not_taken(undelivered.fault().clone(), cx),
                Ok(_) => {}
            },
        }
    }

    /// Ends the turn, and whatever it asked.
    pub(super) fn end(&mut self, end: TurnEnd, cx: &mut Cx<'_>) {
        self.questions.clear();
        self.asked_count = 0;
        let unasked = std::mem::take(&mut self.unasked);
        if unasked > 0 {
            let phrase = Phrase::new("synadia.unasked")
                .with("agent", PhraseArg::Name(self.name.clone()))
                .with("n", PhraseArg::Own(unasked.to_string()));
            cx.out.push(DialectOutput::Announce(phrase));
        }
        if let Some(mut turn) = self.turn.take() {
            // Nobody waits for an answer any more.
            turn.close(QuestionEnd::TakenBack, &mut self.teller, cx);
            turn.end(end);
            turn.finish(&mut self.teller, cx);
        }
    }
}

/// Returns whether a request never left.
fn was_kept(fault: &Fault) -> bool {
    matches!(
        fault,
        Fault::TooLarge { .. } | Fault::Other(Cause::TooManyRequests)
    )
}
