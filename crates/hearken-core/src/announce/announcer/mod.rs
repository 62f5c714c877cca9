//! From changes to announcements: what is worth announcing, in which class and words.
//!
//! Responsibilities: turning [`Change`]s into [`Announcement`]s, cutting streamed text into sentences, the history,
//! old news. Not here: the order of speech (`queue`), the words (`phrase`, `change_wording`, `question_wording`).

mod agent_names;
mod agent_version;
mod answer_keys;
mod answerable;
mod attached_material;
mod change_wording;
mod changed_lines;
mod command_findings;
mod departures;
mod doubt;
mod draft;
mod duplicate_names;
mod duration;
mod event_facts;
mod failed_call;
mod handoff;
mod interned;
mod kept_changes;
mod kept_lines;
mod last_announced;
mod look_back;
mod muting;
mod open_outputs;
mod publish;
mod question_end;
mod question_in_full;
mod question_view;
mod question_wording;
mod read_parts;
mod recent_words;
mod redundancy;
mod rule;
mod source_settings;
mod time_left;
mod translations;
mod trust;
mod turn_text;
mod unasked_changes;
mod white_space;

pub use answerable::{hides_something, label_of, takes_two_steps};
pub use draft::AnswerMethod;
pub use kept_lines::{KeptChange, KeptLine};
pub use read_parts::{
    AttachedMaterial, ChangeInSight, ChangeItem, ChangePlace, ClipboardText, LineInSight,
    QuestionInSight, QuestionParts, TurnPart, TurnText, source_of,
};
pub use trust::Trust;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::config::{AnnounceConfig, Load, SourceAnnounce, Verbosity};
use crate::protocol::{AgentId, Attachments, Now, OutputId, OutputStreaming, Urgency};
use crate::session::{Change, ChangeKind, DenialReason, LinkId, SessionKey, Sessions};
use jiff::Timestamp;
use smallvec::SmallVec;

use crate::announce::announcement::{
    Announcement, AnnouncementKind, Class, Cue, EventFacts, Opening, Presentation,
    QuestionRelation, Tool, Topic,
};
use crate::announce::history::History;
use crate::announce::text::coalesce::{
    self, Boundary, Chunk, Coalescer, Hint, Policy, PositionNote, SpokenPiece,
};
use crate::announce::text::content_type::code_language;
use crate::announce::text::normalise::{OutputDisplay, ProseReader};
use crate::announce::text::speakable::{self, Profile};
use crate::announce::words::naming::NameCache;
use crate::announce::words::phrase::{Arg, Args, Phrases};
use crate::announce::words::segment::{Mark, Segment};
use agent_version::AgentVersion;
use answerable::Explained;
use draft::Draft;
use duplicate_names::Namesakes;
use interned::SharedValues;
use last_announced::AnnouncedSessions;
use muting::Muting;
use open_outputs::{OutputState, Outputs};
use recent_words::RecentAnnouncements;
use unasked_changes::AgentsThatAsked;

/// The announcements that a change or a moment produces: hardly ever more than two.
pub type NewAnnouncements = SmallVec<[Arc<Announcement>; 2]>;

/// How many agents with untrusted hints are remembered; a forgotten one has to be detected again.
const MOST_UNBELIEVED: usize = 4096;

/// Turns changes into announcements.
#[derive(Debug)]
pub struct Announcer {
    phrases: Arc<Phrases>,
    looks: NameCache,
    /// The line labels in their visual form; no agent may be called by one.
    labels: Vec<String>,
    /// What each session's next announcement needs.
    last: RefCell<AnnouncedSessions>,
    namesakes: RefCell<Namesakes>,
    manner: AnswerMethod,
    settings: AnnounceConfig,
    /// The settings that differ from the general ones, by source.
    source_settings: BTreeMap<LinkId, SourceAnnounce>,
    history: History,
    next: u64,
    outputs: Outputs,
    recent: RecentAnnouncements,
    /// The tools and the facts of recent announcements, for sharing.
    tools: SharedValues<Tool>,
    facts: SharedValues<EventFacts>,
    /// The models and versions of recently started agents.
    agent_versions: RefCell<SharedValues<AgentVersion>>,
    last_speaker: Option<(LinkId, Arc<str>)>,
    /// Which names are proven.
    trust: Trust,
    /// The basis on which actions are judged.
    grounds: command_findings::JudgingBasis,
    muting: Muting,
    /// The agents whose hints that a sentence has ended are no longer believed.
    unbelieved: BTreeSet<(LinkId, AgentId)>,
    agents_that_asked: AgentsThatAsked,
    /// What was said about questions once and is not repeated.
    explained: Explained,
    /// How many announcements were left out because the person wants to hear less.
    left_out: u64,
    /// The current time, for times mentioned in an agent's text.
    wall: Option<Timestamp>,
}

impl Announcer {
    /// Creates an announcer that has not announced anything yet.
    pub fn new(settings: AnnounceConfig, phrases: Arc<Phrases>, manner: AnswerMethod) -> Self {
        Self {
            labels: agent_names::labels(&phrases),
            phrases,
            looks: NameCache::default(),
            last: RefCell::default(),
            namesakes: RefCell::default(),
            manner,
            settings,
            source_settings: BTreeMap::new(),
            history: History::default(),
            next: 0,
            outputs: Outputs::default(),
            recent: RecentAnnouncements::default(),
            tools: SharedValues::default(),
            facts: SharedValues::default(),
            agent_versions: RefCell::default(),
            last_speaker: None,
            muting: Muting::default(),
            trust: Trust::default(),
            grounds: command_findings::JudgingBasis::default(),
            unbelieved: BTreeSet::new(),
            agents_that_asked: AgentsThatAsked::default(),
            explained: Explained::default(),
            left_out: 0,
            wall: None,
        }
    }

    /// Limits the room for unfinished texts to what a test can fill.
    #[cfg(test)]
    pub(crate) fn narrow(&mut self, room: usize) {
        self.outputs.narrow(room);
    }

    /// Returns everything that was announced.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Returns the phrases.
    pub fn phrases(&self) -> &Arc<Phrases> {
        &self.phrases
    }

    /// Returns which names are proven.
    pub fn trust(&self) -> &Trust {
        &self.trust
    }

    /// Returns which names are proven, for changing them.
    pub fn trust_mut(&mut self) -> &mut Trust {
        self.last.get_mut().forget_names();
        &mut self.trust
    }

    /// Returns the general verbosity, which applies to every source without its own.
    pub fn verbosity(&self) -> Verbosity {
        self.settings.verbosity
    }

    /// Sets the general verbosity from now on.
    pub fn set_verbosity(&mut self, verbosity: Verbosity) {
        self.settings.verbosity = verbosity;
    }

    /// Returns the settings.
    pub fn settings(&self) -> &AnnounceConfig {
        &self.settings
    }

    /// Returns how the person answers.
    pub fn manner(&self) -> AnswerMethod {
        self.manner
    }

    /// Sets whether, from now on, only urgent announcements and responses to keys are spoken.
    pub fn set_quiet(&mut self, quiet: bool) {
        self.settings.quiet = quiet;
    }

    /// Fills in a phrase; times in an agent's prose are worded relative to now.
    pub(super) fn fill(&self, key: &str, level: Verbosity, args: &Args<'_>) -> Vec<Segment> {
        self.phrases.say_at(key, level, args, self.wall)
    }

    /// Turns one change into its announcements.
    pub fn announce(&mut self, change: &Change, sessions: &Sessions) -> NewAnnouncements {
        self.wall = Some(change.at.wall);
        let mut told = NewAnnouncements::new();
        match &change.kind {
            ChangeKind::Output {
                output,
                event,
                after,
            } => {
                if let Some(after) = after {
                    let args = [("action", Arg::Exact(after.action.clone(), None))];
                    let key = match after.fate {
                        DenialReason::Rejected => "output.after_rejection",
                        DenialReason::Declined => "output.after_declined",
                        DenialReason::TimedOut => "output.after_timeout",
                        DenialReason::Elsewhere => "output.after_elsewhere",
                    };
                    let level = self.verbosity_of(change.key.link);
                    let segments = self.phrases.say(key, level, &args);
                    told.push(self.publish(
                        change,
                        sessions,
                        Draft::new(Class::Outcome, AnnouncementKind::Output, segments),
                    ));
                }
                let text = self.stream(change, output.as_ref(), event, sessions);
                if told.is_empty() {
                    return text;
                }
                told.extend(text);
            }
            // The end of its lead agent is announced.
            ChangeKind::HelperEnded(_) => {
                told.extend(self.flush_session(&change.key, change.at, sessions));
                told.extend(self.at_the_end(change, sessions));
            }
            ChangeKind::SessionEnded(_) => {
                // The session's unspoken text comes first.
                told.extend(self.flush_session(&change.key, change.at, sessions));
                let waited = self.at_the_end(change, sessions);
                if let Some(draft) = self.worded(change, sessions) {
                    told.push(self.publish(change, sessions, draft));
                }
                told.extend(waited);
            }
            ChangeKind::SessionStarted(_)
            | ChangeKind::SessionJoined
            | ChangeKind::HelperJoined
            | ChangeKind::StateChanged(_)
            | ChangeKind::Progress(_)
            | ChangeKind::ToolInvoked(_)
            | ChangeKind::ToolCompleted { .. }
            | ChangeKind::QuestionOpened(_)
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
            | ChangeKind::Unknown { .. }
            | ChangeKind::Anomaly(_)
            | ChangeKind::Danger(_) => {
                if let Some(draft) = self.worded(change, sessions) {
                    told.push(self.publish(change, sessions, draft));
                }
                if self.agents_that_asked.is_first_unasked(change, sessions) {
                    let notice = self.unasked(change);
                    told.push(self.publish(change, sessions, notice));
                }
                if let ChangeKind::QuestionOpened(id) = &change.kind
                    && let Some(question) = sessions.question(*id)
                {
                    self.was_explained(question);
                }
            }
        }
        told
    }

    /// Announces something in the program's own name.
    pub fn say(
        &mut self,
        class: Class,
        kind: AnnouncementKind,
        key: &str,
        args: &Args<'_>,
        now: Now,
    ) -> Arc<Announcement> {
        let segments = self.phrases.say(key, self.settings.verbosity, args);
        // All news about sources has the same kind.
        let cue = match key {
            "link.lost" | "link.unreachable" | "link.failed" | "link.not_spoken" => Some(Cue::Lost),
            "link.back" => Some(Cue::Back),
            _ => None,
        };
        let draft = Draft {
            cue,
            ..Draft::new(class, kind, segments).naming(args)
        };
        self.own(draft, now)
    }

    /// Announces something about a question in the program's own name.
    pub fn say_about(
        &mut self,
        class: Class,
        kind: AnnouncementKind,
        about: QuestionRelation,
        (segments, aloud): (Vec<Segment>, Presentation),
        now: Now,
    ) -> Arc<Announcement> {
        let draft = Draft::new(class, kind, segments).about(about);
        self.own(draft.aloud(aloud), now)
    }

    /// Flushes the text that a pause in its stream makes due.
    pub fn tick(&mut self, now: Now, sessions: &Sessions) -> NewAnnouncements {
        let mut due = Vec::new();
        while let Some(place) = self.outputs.take_due(now.monotonic) {
            due.push(place);
        }
        // Flushed in the order of the speakers, whichever paused first.
        due.sort_unstable_by_key(|place| self.outputs.rank(*place));
        let mut told = NewAnnouncements::new();
        for place in due {
            if let Some(output) = self.outputs.at_mut(place) {
                let pieces = output.coalescer.flush_due(now.monotonic);
                told.extend(self.pieces(place, pieces, now, sessions));
            }
        }
        told
    }

    /// Returns the monotonic time at which [`Announcer::tick`] may next have work.
    pub fn deadline(&self) -> Option<Duration> {
        self.outputs.deadline()
    }

    fn stream(
        &mut self,
        change: &Change,
        output: Option<&OutputId>,
        event: &OutputStreaming,
        sessions: &Sessions,
    ) -> NewAnnouncements {
        let load = self.load_of(change.key.link);
        let number = sessions
            .get(&change.key)
            .map_or(0, |session| session.number);
        let place = match self.outputs.place(&(&change.key, output)) {
            Some(place) => {
                self.outputs.belongs_to(place, number);
                place
            }
            None => {
                let state = self.begun(change, Policy::from(load));
                let key = (change.key.clone(), output.cloned());
                self.outputs.put(key, number, state)
            }
        };
        let Some(state) = self.outputs.at_mut(place) else {
            return NewAnnouncements::new();
        };
        let urgent = change.urgency == Urgency::Critical;
        // The end of an urgent sentence is urgent, whatever the chunk that contains it claims.
        if urgent || state.said || state.urgency != Urgency::Critical {
            state.urgency = change.urgency;
            state.said = !urgent;
        }
        state.direction = change.direction;
        state.replayed = change.replayed;
        if let Some(kind) = &event.content_type
            && !event.chunk.is_empty()
            && let Some(language) = code_language(kind)
        {
            state.coalescer.begin_code(&language);
        }
        let chunk = Chunk {
            text: &event.chunk,
            position: event.position,
            hint: Hint::of(event.coalesce_hint.as_deref()),
            complete: event.complete,
            language: event.language.as_ref().or(change.language.as_ref()),
        };
        // Urgent text does not wait for the end of its output; the text that precedes it there is spoken first.
        let before = match load {
            Load::Low if urgent => state.coalescer.set_policy(Policy::Sentences),
            Load::Low | Load::Medium | Load::High => Vec::new(),
        };
        let mut pieces = state.coalescer.push(chunk, change.at.monotonic);
        pieces.splice(..0, before);
        let mut told = self.pieces(place, pieces, change.at, sessions);
        self.outputs.note(place);
        while let Some(oldest) = self.outputs.crowded_out() {
            told.extend(self.flush(oldest, change.at, sessions));
        }
        told
    }

    /// Returns the initial state of a new output.
    fn begun(&self, change: &Change, policy: Policy) -> OutputState {
        let agent = (change.key.link, change.key.agent.clone());
        OutputState {
            coalescer: Coalescer::new(coalesce::CoalesceSettings {
                policy,
                pause: Duration::from_millis(self.settings.pause_ms),
                relax_none: self.settings.relax_none,
                believe: !self.unbelieved.contains(&agent),
            }),
            reader: ProseReader::default(),
            readable: OutputDisplay::default(),
            blank: String::new(),
            opens: Opening::Output,
            agent: change.agent.clone(),
            urgency: change.urgency,
            said: true,
            direction: change.direction,
            replayed: change.replayed,
        }
    }

    /// Flushes the unspoken text of a source that will send nothing more.
    pub fn flush_link(&mut self, link: LinkId, now: Now, sessions: &Sessions) -> NewAnnouncements {
        let of_it = self.outputs.all().filter(|(of, _)| *of == link);
        let places: Vec<_> = of_it.map(|(_, place)| place).collect();
        (places.into_iter())
            .flat_map(|place| self.flush(place, now, sessions))
            .collect()
    }

    fn flush_session(
        &mut self,
        session: &SessionKey,
        now: Now,
        sessions: &Sessions,
    ) -> NewAnnouncements {
        let places = self.outputs.of_session(session, sessions.get(session));
        (places.into_iter())
            .flat_map(|place| self.flush(place, now, sessions))
            .collect()
    }

    fn flush(&mut self, place: usize, now: Now, sessions: &Sessions) -> NewAnnouncements {
        let Some(state) = self.outputs.at_mut(place) else {
            return NewAnnouncements::new();
        };
        let pieces = state.coalescer.close();
        let told = self.pieces(place, pieces, now, sessions);
        self.outputs.remove(place);
        told
    }

    pub(super) fn pieces(
        &mut self,
        place: usize,
        pieces: Vec<SpokenPiece>,
        now: Now,
        sessions: &Sessions,
    ) -> NewAnnouncements {
        let Some(state) = self.outputs.at_mut(place) else {
            return NewAnnouncements::new();
        };
        state.said |= !pieces.is_empty();
        let notes = state.coalescer.take_notes();
        // Nearly every chunk continues a sentence and ends none.
        if pieces.is_empty() && notes.is_empty() {
            return NewAnnouncements::new();
        }
        let (agent, urgency) = (state.agent.clone(), state.urgency);
        let (direction, replayed) = (state.direction, state.replayed);
        let Some((key, output)) = self.outputs.key_at(place).cloned() else {
            return NewAnnouncements::new();
        };
        let change = Change {
            key,
            agent,
            at: now,
            urgency,
            language: None,
            fallbacks: Vec::new(),
            direction,
            replayed,
            attached: Attachments::none(),
            correlation: None,
            kind: ChangeKind::SessionJoined,
        };
        let mut told = NewAnnouncements::new();
        for note in notes {
            if note == PositionNote::Unbelieved && !self.disbelieve(&change.key) {
                continue;
            }
            let (phrase, count) = match note {
                PositionNote::Overlap => ("output.overlap", 0),
                PositionNote::Gap { missing } => ("output.gap", missing),
                PositionNote::Late => ("output.late", 0),
                PositionNote::Unbelieved => ("output.unbelieved", 0),
                PositionNote::Unended => ("output.unended", 0),
                PositionNote::Held => ("output.held", 0),
            };
            let level = self.verbosity_of(change.key.link);
            let segments = self.phrases.say(phrase, level, &[("n", Arg::own(count))]);
            let draft = Draft::new(Class::Activity, AnnouncementKind::Anomaly, segments)
                .aloud(Presentation::Shown);
            told.push(self.publish(&change, sessions, draft));
        }
        let (phrases, wall) = (Arc::clone(&self.phrases), Some(now.wall));
        let lexicon = phrases.lexicon();
        for piece in pieces {
            let text = speakable::one_line(&piece.text);
            let state = self.outputs.at_mut(place);
            let opens = state.map_or(Opening::Nothing, |it| it.opening(&text, piece.ends));
            if !text.is_empty() {
                let (spoken, shown) = match self.outputs.at_mut(place) {
                    Some(state) => (
                        lexicon.read_on(&mut state.reader, &piece, wall),
                        lexicon.show_on(&mut state.readable, &piece),
                    ),
                    None => (
                        lexicon.speak(&piece.text, Profile::Prose, wall),
                        text.clone(),
                    ),
                };
                let state = self.outputs.at_mut(place);
                let before = state.map(|state| std::mem::take(&mut state.blank));
                let written = white_space::written(&before.unwrap_or_default(), &piece.text, &text);
                let segment = Segment::new(Mark::Agent, text, &spoken)
                    .shown_as(&shown)
                    .language(piece.language.clone());
                let mut draft = Draft::new(Class::Stream, AnnouncementKind::Output, vec![segment])
                    .topic(Topic::Output(output.clone()));
                draft.facts.written = written;
                draft.opens = opens;
                told.push(self.publish(&change, sessions, draft));
            } else if let Some(state) = self.outputs.at_mut(place) {
                white_space::keep_blank(&mut state.blank, &piece.text);
            }
            if let Boundary::LeftOut(count) = piece.ends {
                if let Some(state) = self.outputs.at_mut(place) {
                    state.reader = ProseReader::default();
                    state.readable = OutputDisplay::default();
                }
                told.push(self.tell_left_out(&change, output.clone(), count, sessions));
            }
        }
        told
    }

    /// Announces, at the place of the gap, that the middle of a chunk was left out.
    fn tell_left_out(
        &mut self,
        change: &Change,
        output: Option<OutputId>,
        count: usize,
        sessions: &Sessions,
    ) -> Arc<Announcement> {
        let level = self.verbosity_of(change.key.link);
        let args = [("n", Arg::own(count))];
        let segments = self.phrases.say("output.left_out", level, &args);
        let draft = Draft::new(Class::Stream, AnnouncementKind::Anomaly, segments)
            .topic(Topic::Output(output));
        self.publish(change, sessions, draft)
    }

    /// Records that an agent's hints are not believed; returns whether that is new.
    fn disbelieve(&mut self, key: &SessionKey) -> bool {
        if self.unbelieved.len() >= MOST_UNBELIEVED {
            self.unbelieved.pop_first();
        }
        self.unbelieved.insert((key.link, key.agent.clone()))
    }
}
