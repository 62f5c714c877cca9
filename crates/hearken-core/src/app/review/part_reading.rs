//! Reading what belongs to a question, a call or a plan, part by part and only on request.
//!
//! Responsibilities: what each key opens, and going through it. Not here: the parts' words (`announce`), the person's
//! place in them (`reading_place`).

use std::sync::Arc;

use crate::announce::{
    Announcement, AnnouncementId, AnswerMethod, Arg, AttachedMaterial, ChangePlace, Class,
    Presentation, QuestionRelation, Quote, QuoteKind, Segment,
};
use crate::protocol::Attachments;
use crate::session::{Question, QuestionId, Session, SessionKey, Sessions};

use super::Review;
use super::reading_place::{LastRead, ReadingStepResult, ReadingTarget};
use crate::app::AppCx;
use crate::app::change_visibility::ChangeVisibility;

/// The part of a question's changes that was read last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangeRead {
    /// The part, from 0.
    pub part: usize,
    /// The number of parts.
    pub parts: usize,
    /// Where the words that were read last begin: on a small screen, perhaps within the part.
    pub from: ChangePlace,
    /// The announcement that reads them.
    pub announcement: AnnouncementId,
}

impl Review {
    /// Opens the changes that belong to a question, and announces how to read them.
    pub(in crate::app) fn offer_changes(&mut self, question: QuestionId, cx: &mut AppCx) {
        if !self.open_changes(question, cx) {
            return;
        }
        match cx.face.manner() {
            // A screen says it below the words of the question, which this would displace.
            AnswerMethod::Keys => {
                let words = (cx.words("reading.changes.keys", &[]), Presentation::Heard);
                cx.tell_aloud(Class::Response, QuestionRelation::Concerns(question), words);
            }
            AnswerMethod::Lines | AnswerMethod::Program => cx.respond("reading.changes.lines", &[]),
        }
    }

    fn open_changes(&mut self, question: QuestionId, cx: &AppCx) -> bool {
        let asked = cx.sessions.question(question);
        let parts = asked.map(|asked| {
            cx.announcer
                .parts_of(&asked.attached, AttachedMaterial::Changes)
        });
        let Some(parts) = parts.filter(|parts| !parts.is_empty()) else {
            return false;
        };
        self.reading
            .open(ReadingTarget::Question(question), None, parts);
        true
    }

    /// Returns the part of a question's changes that was read last, the number of parts, and the announcement
    /// that reads it.
    pub(in crate::app) fn change_read(&self, question: QuestionId) -> Option<ChangeRead> {
        if self.reading.of() != Some(ReadingTarget::Question(question)) {
            return None;
        }
        let (part, parts) = self.reading.place()?;
        let read = self.last_read?;
        Some(ChangeRead {
            part,
            parts,
            from: read.from(),
            announcement: read.announcement(),
        })
    }

    /// Moves one part forward or back in what is being read; returns `false` if nothing is. On a screen, the
    /// whole part of a question is shown before the next one.
    pub(super) fn read_part(
        &mut self,
        on: bool,
        shown: Option<QuestionId>,
        sight: ChangeVisibility,
        cx: &mut AppCx,
    ) -> bool {
        let open = match self.reading.of() {
            Some(ReadingTarget::Question(id)) => Some(id) == shown,
            Some(ReadingTarget::Announcement | ReadingTarget::Turn) => true,
            None => false,
        };
        if !open {
            // The changes of the shown question can be read without opening them first.
            let question = shown.filter(|_| self.at.is_none());
            if !question.is_some_and(|question| self.open_changes(question, cx)) {
                return false;
            }
        }
        if let Some(ReadingTarget::Question(id)) = self.reading.of()
            && let Some((part, from)) = self.within_part(id, on, sight, cx)
        {
            let asked = cx.sessions.question(id);
            let words = asked.map(|asked| cx.announcer.rest_of_part(&asked.attached, part, from));
            let spoken = self.last_read.map(|read| read.spoken_by());
            let spoken = spoken.filter(|told| on && cx.queue.tells_whole(*told));
            self.tell_change(id, words.unwrap_or_default(), from, spoken, cx);
            return true;
        }
        let stepped = self.reading.step(on);
        self.tell_step(stepped, cx)
    }

    /// Returns the part of a question's changes that was read last, and the place where it continues; `None` if
    /// another part comes next.
    fn within_part(
        &self,
        question: QuestionId,
        on: bool,
        sight: ChangeVisibility,
        cx: &AppCx,
    ) -> Option<(usize, ChangePlace)> {
        let ChangeVisibility::BySight(drawn) = sight else {
            return None;
        };
        let read = self.change_read(question)?;
        let asked = cx.sessions.question(question)?;
        let begins = cx.announcer.places_of_parts(&asked.attached);
        if !on {
            let begin = *begins.get(read.part)?;
            return (begin < read.from).then_some((read.part, begin));
        }
        let end = begins.get(read.part + 1).copied();
        let end = end.unwrap_or(ChangePlace::END);
        match drawn.filter(|drawn| drawn.from == read.from) {
            // Without room on the screen, reading goes part by part.
            Some(drawn) if drawn.to == drawn.from => None,
            Some(drawn) => (drawn.to < end).then_some((read.part, drawn.to)),
            // It is not drawn yet.
            None => Some((read.part, read.from)),
        }
    }

    /// Leaps to a landmark in a turn; returns `false` if no turn is being read.
    pub(super) fn leap_part(&mut self, on: bool, cx: &mut AppCx) -> bool {
        if self.reading.of() != Some(ReadingTarget::Turn) {
            return false;
        }
        let stepped = self.reading.leap(on);
        if let Some(ReadingStepResult::AtEnd | ReadingStepResult::AtStart) = stepped {
            let key = match on {
                true => "turn.no_more",
                false => "turn.no_before",
            };
            cx.respond(key, &[]);
            return true;
        }
        self.tell_step(stepped, cx)
    }

    /// Skips the rest of the code being read, and announces how much was skipped and what comes next.
    pub(in crate::app) fn skip_code(&mut self, cx: &mut AppCx) {
        let Some((skipped, stepped)) = self.reading.skip_code() else {
            cx.respond("skip_code.none", &[]);
            return;
        };
        let mut words = match skipped {
            0 => Vec::new(),
            n => cx.words("skip_code.done", &[("n", Arg::own(n))]),
        };
        match stepped {
            ReadingStepResult::To(mut next) => words.append(&mut next),
            ReadingStepResult::AtEnd | ReadingStepResult::AtStart => {
                words.extend(cx.words("reading.end", &[]))
            }
        }
        let quotes = self.reading.quote().into_iter().collect();
        cx.quote(words, quotes);
    }

    /// Leaps likewise at a typed line, or announces that nothing is being read.
    pub(in crate::app) fn leap_line(&mut self, on: bool, cx: &mut AppCx) {
        if !self.leap_part(on, cx) {
            cx.respond("reading.none", &[]);
        }
    }

    fn tell_step(&mut self, stepped: Option<ReadingStepResult>, cx: &mut AppCx) -> bool {
        match stepped {
            Some(ReadingStepResult::To(words)) => match self.reading.of() {
                // Next to a question each speaker has separate lines: a line of a file is not one of hearken's.
                Some(ReadingTarget::Question(id)) => {
                    let asked = cx.sessions.question(id);
                    let begins = asked.map(|asked| cx.announcer.places_of_parts(&asked.attached));
                    let part = self.reading.place().map_or(0, |(part, _)| part);
                    let from = begins.and_then(|begins| begins.get(part).copied());
                    self.tell_change(id, words, from.unwrap_or_default(), None, cx);
                }
                Some(ReadingTarget::Announcement | ReadingTarget::Turn) | None => {
                    let quotes = self.reading.quote().into_iter().collect();
                    cx.quote(words, quotes);
                }
            },
            Some(ReadingStepResult::AtEnd) => cx.respond("reading.end", &[]),
            Some(ReadingStepResult::AtStart) => cx.respond("reading.start", &[]),
            None => return false,
        }
        true
    }

    /// Reads some of a question's changes; only shows it, if the voice tells these words already in `spoken`.
    fn tell_change(
        &mut self,
        question: QuestionId,
        words: Vec<Segment>,
        from: ChangePlace,
        spoken: Option<AnnouncementId>,
        cx: &mut AppCx,
    ) {
        let presentation = match spoken {
            Some(_) => Presentation::Shown,
            None => Presentation::Spoken,
        };
        let about = QuestionRelation::Concerns(question);
        cx.tell_aloud(Class::Response, about, (words, presentation));
        let told = cx.announcer.history().last();
        self.last_read = told.map(|told| LastRead::new(told.id, spoken, from));
    }

    /// Opens the changes that an announcement is about; returns the words on how to read them.
    pub(super) fn changes_of(&mut self, told: &Announcement, cx: &AppCx) -> Vec<Segment> {
        let quote = quote_of(told.agent.as_deref());
        self.begin(
            told.facts().attached(),
            &[AttachedMaterial::Changes],
            quote,
            cx,
        )
    }

    /// Reads the output and the changes of the call under review, or else of the last call before the place
    /// under review, or else of the last call.
    pub(in crate::app) fn read_output(&mut self, cx: &mut AppCx) {
        let has_output = |told: &&Arc<Announcement>| has_call_results(told, &cx.sessions);
        let history = cx.announcer.history();
        let place = self.at().and_then(|id| history.get(id));
        let of_call = place.and_then(|place| {
            let topic = place.topic.as_ref()?;
            let same = |told: &&Arc<Announcement>| told.topic.as_ref() == Some(topic);
            let from = |told: &&Arc<Announcement>| told.id >= place.id;
            history.iter().filter(from).filter(same).find(has_output)
        });
        let before = || {
            let place = place?;
            let mut all = history.iter().rev().filter(|told| told.id <= place.id);
            all.find(has_output)
        };
        let last = || history.iter().rev().find(has_output);
        match of_call.or_else(before).or_else(last).cloned() {
            Some(told) => {
                let quote = quote_of(told.agent.as_deref());
                let attached = told.facts().attached();
                let reads = [AttachedMaterial::Changes, AttachedMaterial::Output];
                let words = self.begin(attached, &reads, quote.clone(), cx);
                cx.quote(words, vec![quote]);
            }
            None => cx.respond("reading.no_output", &[]),
        }
    }

    /// Reads the plan of the agent under review, or of the active one that spoke last.
    pub(in crate::app) fn read_plan(&mut self, chosen: Option<SessionKey>, cx: &mut AppCx) {
        let looked_at = self.at();
        let looked_at = looked_at.and_then(|id| cx.announcer.history().get(id)?.key.clone());
        let looked_at = looked_at.or(chosen);
        let planned = |session: &&Session| !session.plan.is_empty();
        let of_it = looked_at.and_then(|key| cx.sessions.get(&key).filter(planned));
        let last = || {
            let all = cx.sessions.iter().filter(planned);
            all.max_by_key(|session| (!session.is_ended(), session.last_event))
        };
        let Some(session) = of_it.or_else(last) else {
            cx.respond("reading.no_plan", &[]);
            return;
        };
        let attached = Arc::clone(&session.plan);
        let mut words = Vec::new();
        let name = (cx.announcer).agent_name(&session.key, &session.agent, &cx.sessions);
        if cx.sessions.several() {
            let args = [("agent", Arg::Name(name.to_string()))];
            words = cx.words("fact.of_agent", &args);
        }
        let quote = quote_of(Some(&name));
        words.extend(self.begin(&attached, &[AttachedMaterial::Plan], quote.clone(), cx));
        cx.quote(words, vec![quote]);
    }

    /// Opens something for reading, and returns its announcement: what it is, and all of it if it is a single part.
    fn begin(
        &mut self,
        attached: &Attachments,
        reads: &[AttachedMaterial],
        quote: Quote,
        cx: &AppCx,
    ) -> Vec<Segment> {
        let announcer = &cx.announcer;
        let summaries = reads.iter();
        let summaries = summaries.flat_map(|reads| announcer.summary_of(attached, *reads));
        let mut words: Vec<Segment> = summaries.collect();
        let parts = reads.iter();
        let parts = parts.flat_map(|reads| announcer.parts_of(attached, *reads));
        let mut parts: Vec<Vec<Segment>> = parts.collect();
        if parts.len() == 1 {
            self.reading.close();
            words.append(&mut parts.remove(0));
            return words;
        }
        if parts.is_empty() {
            return words;
        }
        self.reading
            .open(ReadingTarget::Announcement, Some(quote), parts);
        let key = cx.face.pick("reading.keys", "reading.lines");
        words.extend(cx.words(key, &[]));
        words
    }
}

/// Returns whether an announcement has a call's output, or its changes, unless a question about these is still
/// open.
pub(in crate::app) fn has_call_results(told: &Announcement, sessions: &Sessions) -> bool {
    let attached = told.facts().attached();
    let is_open = || {
        let asked = told
            .about
            .and_then(|about| sessions.question(about.question()));
        asked.is_some_and(Question::is_open)
    };
    attached.output.is_some() || !attached.changes.is_empty() && !is_open()
}

/// Returns the quote for an agent's output, plan or change.
fn quote_of(agent: Option<&str>) -> Quote {
    Quote {
        agent: agent.unwrap_or_default().into(),
        kind: QuoteKind::Matter,
    }
}
