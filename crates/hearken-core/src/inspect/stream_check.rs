//! The check of a stream: every line on its own, and the order of events.
//!
//! Responsibilities: passing each line to the modules that know the rules, and collecting their findings as items and
//! totals. Not here: the rules, the words of a report (`report`).

use std::collections::BTreeMap;
use std::time::Duration;

use foldhash::HashMap;
use jiff::Timestamp;

use crate::protocol::{
    Answer, Decoded, Envelope, NoObserver, RecentValues, RecordedReply, Severity, ToolInvoked,
};
use crate::session::{
    AnomalyKind, Change, ChangeKind, Consent, Danger, LinkId, Reception, Session, SessionEndEvent,
    SessionEndKind, SessionKey, Sessions, ToolCall,
};

use super::json_lines::{Gatherer, JsonText};
use super::recorded_answers::RecordedAnswers;
use super::report::{
    FoundIn, ReportFact, ReportItem, RuleCount, SessionReport, SeverityCounts, Summary,
};
use super::safe_names;
use super::session_account::SessionAccounts;
use super::stream_clock::StreamClock;
use super::stream_rules::{Fact, StreamRule};
use super::translated_captures::Translator;

/// The most sessions that are listed; the rest are counted, so that an endless stream does not need endless memory.
const MOST_SESSIONS: usize = 1000;

/// How often the clock of the sessions is advanced between two events; a waiting call or question needs a handful of
/// ticks.
const MOST_TICKS: usize = 64;

/// The only link: a file counts as one link.
const LINK: LinkId = LinkId(0);

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// No errors; with `strict` no warnings either.
    Good,
    /// At least one error, or with `strict` a warning.
    Bad,
    /// The stream had no event at all.
    Unusable,
}

/// The event that caused changes: its type, its session, and the index of that session's report.
#[derive(Debug, Clone, Copy)]
struct EventOrigin<'a> {
    event: &'a str,
    key: &'a SessionKey,
    index: Option<usize>,
}

/// The checker of a stream, line by line.
#[derive(Debug, Default)]
pub struct Checker {
    gatherer: Gatherer,
    recent: RecentValues,
    pub(super) sessions: Sessions,
    pub(super) clock: StreamClock,
    pub(super) translator: Translator,
    answers: RecordedAnswers,
    known: HashMap<SessionKey, usize>,
    accounts: SessionAccounts,
    /// The sessions seen without their start, by the index of their report, until the start comes late, which
    /// is the same fault, or their end proves that it is missing.
    without_start: BTreeMap<usize, ReportItem>,
    pub(super) summary: Summary,
    rules: BTreeMap<(Severity, &'static str, &'static str), u64>,
    found: Vec<ReportItem>,
}

impl Checker {
    /// Creates a checker for one stream.
    pub fn new() -> Self {
        let mut checker = Self::default();
        // It is a recording: nothing in it can be answered, and nothing in it is outdated.
        checker.sessions.add_link(LINK, false);
        checker
    }

    /// Creates a checker for a recording whose answers are known: what was sent and when, by the line of its question.
    pub fn of_recording(answers: BTreeMap<u64, (Answer, Timestamp)>) -> Self {
        let mut checker = Self::new();
        checker.answers = RecordedAnswers::new(answers);
        checker
    }

    fn answer(&mut self, line: u64, before: Timestamp) {
        for (id, answer, at) in self.answers.before(Some(before)) {
            let now = self.clock.at(Some(at));
            let changes = self
                .sessions
                .answered_before(id, answer, now, &mut NoObserver);
            self.changes(line, None, changes);
        }
    }

    /// Applies a reply to its question, if a text is one and the question is open.
    pub(super) fn is_answered_by(&mut self, gathered: &JsonText) -> bool {
        let Some(reply) = RecordedReply::read(&gathered.text) else {
            return false;
        };
        let Some(question) = self.sessions.open_under(LINK, &reply.token) else {
            return false;
        };
        let now = self.clock.at(reply.timestamp);
        let changes = self
            .sessions
            .answered_before(question, reply.answer, now, &mut NoObserver);
        self.changes(gathered.line, None, changes);
        true
    }

    /// Checks the next line, without its end, and returns what is wrong with it.
    pub fn line(&mut self, text: &str) -> Vec<ReportItem> {
        self.summary.lines += 1;
        let text = if self.summary.lines == 1 {
            text.strip_prefix('\u{feff}').unwrap_or(text)
        } else {
            text
        };
        // Nearly every line is a valid AAEP event on its own, whatever surrounds it.
        if self.gatherer.begins()
            && let Some(decoded) = self.recent.decode_at_once(text)
        {
            self.event(self.summary.lines, decoded);
            return std::mem::take(&mut self.found);
        }
        // Programs write text between their messages, and its indentation may mean something.
        if self.translator.is_at_work() && self.gatherer.passes(text) {
            self.translated(&JsonText {
                line: self.summary.lines,
                text: text.to_owned(),
            });
            return std::mem::take(&mut self.found);
        }
        for gathered in self.gatherer.take(self.summary.lines, text) {
            self.text(&gathered);
        }
        std::mem::take(&mut self.found)
    }

    /// Records that the next line can't be read.
    pub fn unreadable(&mut self, rule: StreamRule) -> Vec<ReportItem> {
        self.summary.lines += 1;
        let line = self.summary.lines;
        self.stream(line, Fact::Rule(rule), String::new());
        std::mem::take(&mut self.found)
    }

    /// Records that bytes of the next line were replaced because they are not UTF-8.
    pub fn replaced(&mut self) -> Vec<ReportItem> {
        let line = self.summary.lines + 1;
        self.stream(line, Fact::Rule(StreamRule::NotUtf8), String::new());
        std::mem::take(&mut self.found)
    }

    /// Ends the stream, and returns what is still open and the summary.
    pub fn finish(mut self) -> (Vec<ReportItem>, Summary) {
        if let Some(cut) = self.gatherer.end() {
            self.text(&cut);
        }
        let line = self.summary.lines;
        let now = self.clock.now();
        let changes = self.sessions.release_link(LINK, now);
        self.changes(line, None, changes);
        while let Some((index, _)) = self.without_start.first_key_value() {
            self.start_is_missing(*index);
        }
        let open: Vec<(SessionKey, usize)> = self
            .known
            .iter()
            .map(|(key, index)| (key.clone(), *index))
            .collect();
        let mut ends: Vec<(usize, ReportItem)> = Vec::new();
        for (key, index) in open {
            for item in self.still_open(line, &key, index) {
                ends.push((index, item));
            }
        }
        ends.sort_by_key(|(index, _)| *index);
        for (index, item) in ends {
            self.push(Some(index), item);
        }
        self.summary.rules = self
            .rules
            .iter()
            .rev()
            .map(|((severity, rule, section), times)| RuleCount {
                rule,
                severity: *severity,
                section,
                times: *times,
            })
            .collect();
        (self.found, self.summary)
    }

    pub(super) fn event(&mut self, line: u64, decoded: Box<Decoded>) {
        self.summary.events += 1;
        if let Some(stamp) = decoded.envelope.timestamp {
            self.answer(line, stamp);
        }
        let now = self.clock.at(decoded.envelope.timestamp);
        for _ in 0..MOST_TICKS {
            let Some(due) = self.sessions.deadline().filter(|due| *due <= now.monotonic) else {
                break;
            };
            let changes = self.sessions.tick(self.clock.moment(due));
            self.changes(line, None, changes);
        }
        let key = SessionKey {
            link: LINK,
            agent: decoded.envelope.producer.agent_id.clone(),
            session: decoded.envelope.session_id.clone(),
        };
        let before = self
            .sessions
            .get(&key)
            .map(|session| (session.events, session.since));
        let since = before.map(|(_, since)| since);
        let index = self.report(line, &key, &decoded.envelope, since, now.monotonic);
        let event = decoded.envelope.type_name.clone();
        for finding in &decoded.findings {
            let item = ReportItem {
                line,
                place: FoundIn::Event,
                severity: finding.severity,
                rule: finding.rule.name(),
                section: finding.section,
                event: Some(short_type(&event)),
                agent: Some(safe_names::name(key.agent.as_str())),
                session: Some(safe_names::name(key.session.as_str())),
                field: finding.field.clone(),
                fact: ReportFact::Problem(finding.problem.clone()),
            };
            self.push(index, item);
        }
        let duplicates = self.sessions.dropped().duplicates;
        let changes = self.sessions.apply(LINK, decoded, now);
        self.answers.note(line, &changes);
        // The session's event count before an event that changed nothing. An unknown session is left out: the
        // event may be its first one in the stream.
        let had_taken = (before.filter(|_| changes.is_empty())).map(|(taken, _)| taken);
        let of = EventOrigin {
            event: &event,
            key: &key,
            index,
        };
        self.changes(line, Some(of), changes);
        let rule = if self.sessions.dropped().duplicates > duplicates {
            Some(StreamRule::Duplicate)
        } else if had_taken.is_some() && had_taken == self.taken(&key) {
            Some(StreamRule::Held)
        } else {
            None
        };
        if let Some(rule) = rule {
            let mut item = self.of_stream(line, Fact::Rule(rule), String::new());
            item.event = Some(short_type(&event));
            item.agent = Some(safe_names::name(key.agent.as_str()));
            item.session = Some(safe_names::name(key.session.as_str()));
            self.push(index, item);
        }
        if let Some(report) = index.and_then(|index| self.summary.sessions.get_mut(index)) {
            report.last_line = line;
        }
    }

    /// Returns how many events a session has applied.
    fn taken(&self, key: &SessionKey) -> Option<u64> {
        self.sessions.get(key).map(|session| session.events)
    }

    /// Returns the index of a session's report, which is created if it is missing.
    fn report(
        &mut self,
        line: u64,
        key: &SessionKey,
        envelope: &Envelope,
        since: Option<Duration>,
        elapsed: Duration,
    ) -> Option<usize> {
        let index = match self.known.get(key) {
            Some(index) => *index,
            None if self.known.len() >= MOST_SESSIONS => {
                // Nobody knows any more whether it was counted before; a start means that it was not.
                if since.is_none() {
                    self.summary.more_sessions += 1;
                }
                return None;
            }
            None => {
                let index = self.summary.sessions.len();
                self.known.insert(key.clone(), index);
                self.accounts.begin(&key.session);
                self.summary.sessions.push(SessionReport {
                    agent: safe_names::name(key.agent.as_str()),
                    session: safe_names::name(key.session.as_str()),
                    first_line: line,
                    ..SessionReport::default()
                });
                index
            }
        };
        let report = self.summary.sessions.get_mut(index)?;
        report.events += 1;
        let label = envelope.producer.label();
        if report.label.as_str() != &**label {
            report.label = safe_names::name(label);
        }
        report.time = elapsed.saturating_sub(since.unwrap_or(elapsed));
        Some(index)
    }

    fn changes(&mut self, line: u64, of: Option<EventOrigin<'_>>, changes: Vec<Change>) {
        for change in changes {
            self.change(line, of, change);
        }
    }

    fn change(&mut self, line: u64, of: Option<EventOrigin<'_>>, change: Change) {
        let index = match of.filter(|of| *of.key == change.key) {
            Some(of) => of.index,
            None => self.known.get(&change.key).copied(),
        };
        let linked = if let ChangeKind::SessionEnded(SessionEndEvent::Completed(_)) = change.kind {
            self.sessions.linked_to(&change.key)
        } else {
            Vec::new()
        };
        let fact = index.and_then(|index| self.accounts.compare(index, &change, &linked));
        if let Some(fact) = fact {
            self.differs(line, of, &change.key, (fact, index));
        }
        let mut report = index.and_then(|index| self.summary.sessions.get_mut(index));
        let mut tell = |count: fn(&mut SessionReport)| {
            if let Some(report) = &mut report {
                count(report);
            }
        };
        let (place, severity, rule, section, field, told) = match change.kind {
            ChangeKind::Anomaly(anomaly) => {
                // The findings of an invalid event were already reported one by one.
                if anomaly.kind == AnomalyKind::Invalid {
                    return;
                }
                let kind = anomaly.kind;
                if let (AnomalyKind::LateStart, Some(index)) = (kind, index) {
                    self.without_start.remove(&index);
                }
                let field = safe_names::name(anomaly.detail.name());
                (
                    FoundIn::Order,
                    kind.severity(),
                    kind.name(),
                    kind.section(),
                    field,
                    ReportFact::Order(kind),
                )
            }
            ChangeKind::Danger(danger) => {
                let (place, severity) = match danger {
                    // A missing part of the stream is no ground for an accusation.
                    Danger::PerhapsUnasked { .. } | Danger::PerhapsUnaskedLost { .. } => {
                        (FoundIn::Order, Severity::Warning)
                    }
                    Danger::DoneAfterRejection { suspicion, .. } if !suspicion.is_sure => {
                        (FoundIn::Order, Severity::Warning)
                    }
                    Danger::Unasked { .. }
                    | Danger::DoneAfterRejection { .. }
                    | Danger::RanOtherwise { .. }
                    | Danger::AcceptsBySilence { .. }
                    | Danger::AnsweredAfterEnd { .. }
                    | Danger::ActsAfterEnd { .. } => (FoundIn::Danger, Severity::Error),
                };
                let field = danger.tool().map(safe_names::name).unwrap_or_default();
                (
                    place,
                    severity,
                    danger.name(),
                    danger.section(),
                    field,
                    ReportFact::Danger(danger),
                )
            }
            ChangeKind::SessionJoined => of_rule(StreamRule::StartMissing, String::new()),
            ChangeKind::HelperJoined => return,
            ChangeKind::HelperEnded(ending) => {
                if let Some(report) = report {
                    report.ending = Some(ending);
                }
                return index.map_or((), |index| self.start_is_missing(index));
            }
            ChangeKind::SessionEnded(ended) => {
                if let Some(report) = report {
                    report.ending = Some(match ended {
                        SessionEndEvent::Completed(_) => SessionEndKind::Completed,
                        SessionEndEvent::Errored(_) => SessionEndKind::Errored,
                        SessionEndEvent::Cancelled(_) => SessionEndKind::Cancelled,
                    });
                }
                return index.map_or((), |index| self.start_is_missing(index));
            }
            ChangeKind::ToolInvoked(event) => {
                tell(|report| report.tools += 1);
                if !self.is_before_asking(&change.key, &event) {
                    return;
                }
                of_rule(StreamRule::BeforeAsking, safe_names::name(&event.tool))
            }
            ChangeKind::QuestionOpened(_) => return tell(|report| report.questions += 1),
            ChangeKind::Output { .. } => return tell(|report| report.chunks += 1),
            ChangeKind::SessionStarted(_)
            | ChangeKind::StateChanged(_)
            | ChangeKind::Progress(_)
            | ChangeKind::ToolCompleted { .. }
            | ChangeKind::QuestionAnswerable(_)
            | ChangeKind::QuestionFreed(_)
            | ChangeKind::QuestionDoubted(_)
            | ChangeKind::QuestionUnheard(_)
            | ChangeKind::QuestionsWaiting { .. }
            | ChangeKind::QuestionWarning { .. }
            | ChangeKind::QuestionTimedOut(_)
            | ChangeKind::QuestionPerhapsResolved(_)
            | ChangeKind::QuestionClosed { .. }
            | ChangeKind::Handoff(_)
            | ChangeKind::Unknown { .. } => return,
        };
        let item = ReportItem {
            line,
            place,
            severity,
            rule,
            section,
            event: of.map(|of| short_type(of.event)),
            agent: Some(safe_names::name(change.key.agent.as_str())),
            session: Some(safe_names::name(change.key.session.as_str())),
            field,
            fact: told,
        };
        match index {
            Some(index) if rule == StreamRule::StartMissing.name() => {
                self.without_start.insert(index, item);
            }
            Some(_) | None => self.push(index, item),
        }
    }

    /// Reports that a session's start is missing, if it did not come late.
    fn start_is_missing(&mut self, index: usize) {
        if let Some(item) = self.without_start.remove(&index) {
            self.push(Some(index), item);
        }
    }

    /// Reports that an event differs from what its session said before.
    fn differs(
        &mut self,
        line: u64,
        of: Option<EventOrigin<'_>>,
        key: &SessionKey,
        ((fact, field), index): ((Fact, String), Option<usize>),
    ) {
        let item = ReportItem {
            place: FoundIn::Order,
            event: of.map(|of| short_type(of.event)),
            agent: Some(safe_names::name(key.agent.as_str())),
            session: Some(safe_names::name(key.session.as_str())),
            ..self.of_stream(line, fact, field)
        };
        self.push(index, item);
    }

    /// Returns whether an irreversible call has no question before it. The person is in danger only if no question
    /// follows either (`Danger::Unasked`); if part of the stream is missing, the question may be in that part.
    fn is_before_asking(&self, key: &SessionKey, event: &ToolInvoked) -> bool {
        let asked = |call: &ToolCall| match call.consent {
            Consent::NotNeeded
            | Consent::Asked(_)
            | Consent::Missing(Reception::Partial)
            | Consent::MissingTold(Reception::Partial) => true,
            Consent::Missing(Reception::Complete) | Consent::MissingTold(Reception::Complete) => {
                false
            }
        };
        let call = |session: &Session| {
            let same =
                |call: &&ToolCall| call.tool == event.tool && call.call_id == event.tool_call_id;
            session.tools.iter().rev().find(same).is_none_or(asked)
        };
        event.irreversible == Some(true)
            && self.sessions.get(key).is_some_and(|session| !call(session))
    }

    pub(super) fn of_stream(&self, line: u64, fact: Fact, field: String) -> ReportItem {
        let rule = fact.rule();
        ReportItem {
            line,
            place: FoundIn::Line,
            severity: rule.severity(),
            rule: rule.name(),
            section: rule.section(),
            event: None,
            agent: None,
            session: None,
            field,
            fact: ReportFact::Stream(fact),
        }
    }

    pub(super) fn stream(&mut self, line: u64, fact: Fact, field: String) {
        if let Fact::Foreign(what) = &fact
            && what.kept().is_some()
        {
            self.summary.kept.get_or_insert(*what);
        }
        if fact.rule().hides_an_event() {
            self.accounts.miss_all();
        }
        let item = self.of_stream(line, fact, field);
        self.push(None, item);
    }

    /// Counts an item, also for its session, and keeps it until it is fetched.
    fn push(&mut self, report: Option<usize>, item: ReportItem) {
        self.summary.counts.add(&item);
        *self
            .rules
            .entry((item.severity, item.rule, item.section))
            .or_default() += 1;
        if let Some(report) = report.and_then(|index| self.summary.sessions.get_mut(index)) {
            report.counts.add(&item);
        }
        self.found.push(item);
    }
}

impl Summary {
    /// Returns the verdict.
    pub fn verdict(&self, strict: bool) -> Verdict {
        let SeverityCounts {
            errors, warnings, ..
        } = self.counts;
        if self.events == 0 {
            Verdict::Unusable
        } else if errors > 0 || (strict && warnings > 0) {
            Verdict::Bad
        } else {
            Verdict::Good
        }
    }
}

/// Returns the parts of an item for a rule about a session's order.
fn of_rule(
    rule: StreamRule,
    field: String,
) -> (
    FoundIn,
    Severity,
    &'static str,
    &'static str,
    String,
    ReportFact,
) {
    (
        FoundIn::Order,
        rule.severity(),
        rule.name(),
        rule.section(),
        field,
        ReportFact::Stream(Fact::Rule(rule)),
    )
}

/// Returns a type as a report shows it: core types without their prefix.
pub(super) fn short_type(name: &str) -> String {
    safe_names::name(name.strip_prefix("aaep:agent.").unwrap_or(name))
}
