//! What is requested after each connection: the stream reports nothing earlier.
//!
//! Responsibilities: which requests are sent, and what their combined answers mean for what is open. Not here: sending
//! them (`client`).
//!
//! Mental model: the stream is open before the first of these requests is sent, so later changes are heard there, and
//! are newer than any answer. An answer closes only questions that were open before the request, and ends only turns
//! that were not heard of since. What an idle conversation still has in its list of questions is left over from a
//! stopped turn and needs no answer.

use std::collections::{BTreeMap, BTreeSet};

use crate::kit::turn_end::TurnEnd;
use crate::link::{Fault, HttpAnswer, HttpCall, Phrase};
use crate::protocol::object;
use crate::rpc::Id;
use crate::{Cx, DialectOutput, OpenQuestionsChange};

use super::client::{Opencode, RequestPurpose};
use super::messages::{self, ConversationActivity, MessageInfo, MessagePart, SessionDescription};
use super::question_messages::{self, PermissionQuery, WordsRequest};
use super::questions::segment;

/// How many unknown conversations are looked up.
const MOST_ABOUT: usize = 32;
/// For how many active conversations the messages are requested.
const MOST_READ: usize = 16;
/// How many of the latest messages are read.
const MESSAGES: usize = 50;
/// The largest answer with messages, in bytes.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// One of the requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CatchUpRequest {
    /// The states of the conversations.
    Does,
    /// The open permissions.
    Wants,
    /// The open questions in words.
    Wonders,
    /// The description of a conversation.
    About(String),
    /// The messages of a conversation.
    Messages(String),
}

/// The answers so far.
#[derive(Debug, Default)]
pub(super) struct CatchUp {
    waits: BTreeSet<u64>,
    /// The questions that were open before the first request.
    judged: Vec<(String, String)>,
    /// The turns that were active then.
    turns: Vec<String>,
    /// The conversations heard of since.
    stirred: BTreeSet<String>,
    does: Option<Vec<(String, ConversationActivity)>>,
    wants: Option<Vec<PermissionQuery>>,
    wonders: Option<Vec<WordsRequest>>,
    abouts: Vec<SessionDescription>,
    messages: BTreeMap<String, Vec<(MessageInfo, Vec<MessagePart>)>>,
    is_second: bool,
    missed: bool,
    /// Whether a question is open that cannot be read.
    unread: bool,
}

impl CatchUp {
    /// Records that a conversation was heard of.
    pub(super) fn stirs(&mut self, id: &str) {
        if self.stirred.len() < 1024 {
            self.stirred.insert(id.to_owned());
        }
    }

    /// Returns the readable part of a list, and records whether that is everything.
    fn take<T>(&mut self, (known, unread): (Vec<T>, usize)) -> Vec<T> {
        self.unread |= unread > 0;
        known
    }

    fn works(&self, id: &str) -> bool {
        let does = self.does.as_deref();
        does.is_none_or(|all| all.iter().any(|(it, _)| it == id)) || self.stirred.contains(id)
    }
}

impl Opencode {
    /// Requests what was missed.
    pub(super) fn begin_to_catch_up(&mut self, out: &mut Vec<DialectOutput>) {
        if self.listens {
            return;
        }
        let mut catch_up = CatchUp::default();
        for (id, conversation) in self.conversations.iter() {
            if let Some(turn) = &conversation.turn {
                let open = turn.requests().filter_map(Id::name);
                catch_up.judged.extend(open.map(|name| (id.clone(), name)));
                catch_up.turns.push(id.clone());
            }
        }
        for (piece, path) in [
            (CatchUpRequest::Does, "/session/status"),
            (CatchUpRequest::Wants, "/permission"),
            (CatchUpRequest::Wonders, "/question"),
        ] {
            let asked = self.call(RequestPurpose::Missed(piece), HttpCall::get(path), out);
            catch_up.waits.extend(asked);
        }
        self.catch_up = Some(catch_up);
    }

    /// Handles one of the answers.
    pub(super) fn caught(
        &mut self,
        request: u64,
        piece: CatchUpRequest,
        outcome: &Result<HttpAnswer, Fault>,
        cx: &mut Cx<'_>,
    ) {
        let Some(catch_up) = &mut self.catch_up else {
            return;
        };
        // The answer belongs to an earlier connection.
        if !catch_up.waits.remove(&request) {
            return;
        }
        let answer = outcome.as_ref().ok().filter(|it| it.status == 200);
        let body = answer.map_or("", |answer| answer.body.as_str());
        let read = match piece {
            CatchUpRequest::Does => {
                catch_up.does = messages::all_does(body);
                catch_up.does.is_some()
            }
            CatchUpRequest::Wants => {
                let all = question_messages::each(body, question_messages::wants);
                catch_up.wants = all.map(|all| catch_up.take(all));
                catch_up.wants.is_some()
            }
            CatchUpRequest::Wonders => {
                let all = question_messages::each(body, question_messages::wonders);
                catch_up.wonders = all.map(|all| catch_up.take(all));
                catch_up.wonders.is_some()
            }
            CatchUpRequest::About(_) => {
                let about = object(body).and_then(|map| messages::about(&map));
                let is_there = about.is_some();
                catch_up.abouts.extend(about);
                is_there
            }
            CatchUpRequest::Messages(id) => match messages::messages(body) {
                Some(messages) => {
                    catch_up.messages.insert(id, messages);
                    true
                }
                None => false,
            },
        };
        catch_up.missed |= !read;
        if !catch_up.waits.is_empty() {
            return;
        }
        if !std::mem::replace(&mut catch_up.is_second, true) {
            self.ask_further(cx.out);
        }
        if let Some(catch_up) = self.catch_up.take_if(|it| it.waits.is_empty()) {
            self.apply(catch_up, cx);
        }
    }

    /// Looks up unknown conversations, and requests what was written meanwhile.
    fn ask_further(&mut self, out: &mut Vec<DialectOutput>) {
        let Some(mut catch_up) = self.catch_up.take() else {
            return;
        };
        let works = catch_up.does.iter().flatten().map(|(id, _)| id);
        let wants = catch_up.wants.iter().flatten().map(|it| &it.conversation);
        let wonders = catch_up.wonders.iter().flatten().map(|it| &it.conversation);
        let all: BTreeSet<&String> = works.clone().chain(wants).chain(wonders).collect();
        let unknown = all.into_iter().filter(|id| !self.knows(id));
        let about: Vec<String> = unknown.take(MOST_ABOUT).cloned().collect();
        let helps = |id: &&String| self.parents.contains_key(*id);
        let write: BTreeSet<&String> = works
            .filter(|id| !helps(id))
            .chain(&catch_up.turns)
            .collect();
        let write: Vec<String> = write.into_iter().take(MOST_READ).cloned().collect();
        for id in about {
            let call = HttpCall::get(format!("/session/{}", segment(&id)));
            let asked = self.call(RequestPurpose::Missed(CatchUpRequest::About(id)), call, out);
            catch_up.waits.extend(asked);
        }
        for id in write {
            let path = format!("/session/{}/message?limit={MESSAGES}", segment(&id));
            let call = HttpCall {
                most: MOST_BYTES,
                ..HttpCall::get(path)
            };
            let asked = self.call(
                RequestPurpose::Missed(CatchUpRequest::Messages(id)),
                call,
                out,
            );
            catch_up.waits.extend(asked);
        }
        self.catch_up = Some(catch_up);
    }

    /// Applies all the answers together.
    fn apply(&mut self, mut catch_up: CatchUp, cx: &mut Cx<'_>) {
        for about in std::mem::take(&mut catch_up.abouts) {
            self.about(about);
        }
        let mut messages = std::mem::take(&mut catch_up.messages);
        for (id, does) in catch_up.does.clone().unwrap_or_default() {
            if self.parents.contains_key(&id) || catch_up.stirred.contains(&id) {
                continue;
            }
            let written = messages.remove(&id).unwrap_or_default();
            let Some(conversation) = self.conversation(&id, cx.out) else {
                continue;
            };
            match conversation.turn.is_some() {
                true => conversation.goes_on(written, cx),
                false => conversation.joins(written, cx),
            }
            conversation.does(&does, &id, cx);
        }
        self.close_what_is_over(&catch_up, cx);
        for id in &catch_up.turns {
            let written = messages.remove(id).unwrap_or_default();
            if catch_up.works(id) {
                continue;
            }
            let Some(conversation) = self
                .conversations
                .get_mut(id)
                .filter(|it| it.turn.is_some())
            else {
                continue;
            };
            let broken = written.last().is_some_and(|(last, _)| {
                !last.is_persons && !last.is_whole && last.failure.is_none()
            });
            conversation.goes_on(written, cx);
            match broken {
                true => conversation.end(TurnEnd::Gone, cx),
                false => conversation.does(&ConversationActivity::Nothing, id, cx),
            }
            self.send_held(id, cx.out);
        }
        let mut stale = 0;
        for wants in catch_up.wants.take().unwrap_or_default() {
            match catch_up.works(&wants.conversation) {
                true => self.wants(wants, cx),
                false => stale += 1,
            }
        }
        for wonders in catch_up.wonders.take().unwrap_or_default() {
            match catch_up.works(&wonders.conversation) {
                true => self.wonders(wonders, cx),
                false => stale += 1,
            }
        }
        if stale > 0 {
            cx.out
                .push(DialectOutput::Detail(Phrase::new("opencode.stale")));
        }
        let all: Vec<String> = self.conversations.keys().cloned().collect();
        if self.was_lost {
            for id in &all {
                self.send_held(id, cx.out);
            }
        }
        if catch_up.missed {
            cx.out
                .push(DialectOutput::Announce(Phrase::new("opencode.missed")));
        }
        if catch_up.unread {
            cx.out
                .push(DialectOutput::Announce(Phrase::new("opencode.unread")));
        }
        let asks = self
            .conversations
            .values()
            .filter_map(|it| it.turn.as_ref());
        if std::mem::take(&mut self.was_lost)
            && asks.into_iter().any(|turn| turn.asks())
            && !catch_up.missed
        {
            cx.out
                .push(DialectOutput::Standing(OpenQuestionsChange::Back));
        }
    }

    /// Closes the questions that are no longer open.
    fn close_what_is_over(&mut self, catch_up: &CatchUp, cx: &mut Cx<'_>) {
        let (Some(wants), Some(wonders)) = (&catch_up.wants, &catch_up.wonders) else {
            return;
        };
        let wanted = wants.iter().map(|it| &it.id);
        let asked: BTreeSet<&String> = wanted.chain(wonders.iter().map(|it| &it.id)).collect();
        let over = catch_up
            .judged
            .iter()
            .filter(|(_, request)| !asked.contains(request));
        for (id, request) in over {
            self.decided(id, request, None, cx);
        }
    }
}
