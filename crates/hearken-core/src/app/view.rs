//! What the faces may read, without changing anything.

use std::sync::Arc;
use std::time::Duration;

use crate::announce::{
    Announcement, AnnouncementId, AnnouncementKind, Announcer, Arg, Class, History, Phrases,
    Presentation, Quote, QuoteKind, takes_two_steps,
};
use crate::config::{Config, Load, Verbosity};
use crate::keys::{Keymap, Mode};
use crate::session::{LinkId, Question, QuestionBody, QuestionId, Session, Sessions};

use super::App;
use super::questions::shown_question::{QuestionVisibility, ShownQuestion};
use super::review::Hit;
use super::review::part_reading::{ChangeRead, has_call_results};
use super::signals::VoiceState;
use super::{Activity, LinkView, NearbyCommands};

impl App {
    /// Returns the sources.
    pub fn links(&self) -> &[LinkView] {
        self.links.all()
    }

    /// Returns the sessions and questions.
    pub fn sessions(&self) -> &Sessions {
        &self.cx.sessions
    }

    /// Returns everything that was announced.
    pub fn history(&self) -> &History {
        self.cx.announcer.history()
    }

    /// Returns the announcer, for its words.
    pub fn announcer(&self) -> &Announcer {
        &self.cx.announcer
    }

    /// Returns the phrases.
    pub fn phrases(&self) -> &Arc<Phrases> {
        self.cx.announcer.phrases()
    }

    /// Returns the key assignments.
    pub fn keymap(&self) -> &Keymap {
        self.key_input.keymap()
    }

    /// Returns the settings.
    pub fn config(&self) -> &Config {
        &self.cx.config
    }

    /// Returns the verbosity.
    pub fn verbosity(&self) -> Verbosity {
        self.cx.announcer.verbosity()
    }

    /// Returns the mode that keys are interpreted in.
    pub fn mode(&self) -> Mode {
        self.cx.doing.mode()
    }

    /// Returns how many rows the help is scrolled down; the pane stops at its last row.
    pub fn help_scroll(&self) -> usize {
        match self.cx.doing {
            Activity::Helping { scroll, .. } => scroll,
            Activity::Watching
            | Activity::Confirming(_)
            | Activity::Answering { .. }
            | Activity::Choosing(_)
            | Activity::Searching(_)
            | Activity::Prompting { .. }
            | Activity::Quitting
            | Activity::Leaving(_) => 0,
        }
    }

    /// Returns the answers to the last key, oldest first: the pane shows them in a separate area.
    pub fn answers(&self) -> &[Arc<Announcement>] {
        self.cx.answers.announcements()
    }

    /// Returns whether an older announcement is under review, so that the newest may be out of sight.
    pub fn is_looking_back(&self) -> bool {
        self.review.at().is_some()
    }

    /// Returns how many announcements came after the one under review, not counting answers to keys.
    pub fn newer(&self) -> usize {
        let Some(review) = self.review.at() else {
            return 0;
        };
        let history = self.cx.announcer.history();
        history
            .iter()
            .rev()
            .take_while(|told| told.id > review)
            .filter(|told| told.class != Class::Response && told.aloud != Presentation::Kept)
            .count()
    }

    /// Returns the text that is being typed, and the position of its cursor in characters.
    pub fn editor(&self) -> (&str, usize) {
        self.cx.editor()
    }

    /// Returns the phrase that describes what is being typed.
    pub fn editor_label(&self) -> &'static str {
        match self.mode() {
            Mode::Searching => "editor.search",
            Mode::Prompting(_) => "editor.prompt",
            Mode::Editing(id) => match self.cx.sessions.question(QuestionId(id)) {
                Some(question) if matches!(question.body, QuestionBody::Confirmation(_)) => {
                    "editor.reason"
                }
                Some(_) | None => "editor.label",
            },
            Mode::Watching
            | Mode::Confirming(_)
            | Mode::Choosing(..)
            | Mode::Quitting
            | Mode::Leaving(_)
            | Mode::Help => "editor.label",
        }
    }

    /// Returns the question that keys are meant for.
    pub fn shown(&self) -> Option<(&ShownQuestion, &Question)> {
        let shown = self.questions.shown()?;
        Some((shown, self.cx.sessions.question(shown.question)?))
    }

    /// Returns the questions that a key can be meant for, in a stable order: answerable ones first.
    pub fn questions(&self) -> Vec<&Question> {
        self.questions.questions(&self.cx)
    }

    /// Returns how many questions wait for the person.
    pub fn waiting(&self) -> usize {
        self.questions.waiting(&self.cx)
    }

    /// Returns the questions that wait for the person: those that can be answered and that no rule leaves alone.
    pub fn waiting_questions(&self) -> Vec<&Question> {
        self.questions.waiting_questions(&self.cx)
    }

    /// Returns the choice in focus, from 0.
    pub fn choice_in_focus(&self) -> Option<usize> {
        self.questions.choice_in_focus(&self.cx)
    }

    /// Returns whether a choice is picked; `None` if only one can be chosen.
    pub fn is_picked(&self, at: usize) -> Option<bool> {
        self.questions.is_picked(at, &self.cx)
    }

    /// Returns the label of each choice of a question, as the person knows it.
    pub fn choice_labels(&self, question: &Question) -> Vec<String> {
        self.questions.choice_labels(question, &self.cx)
    }

    /// Returns whether no face has reported yet that the shown question is in sight.
    pub fn wants_sight(&self) -> bool {
        self.questions.wants_sight()
    }

    /// Returns whether accepting a question takes a second step, including because of changes out of sight.
    pub fn accepts_in_two_steps(&self, question: &Question) -> bool {
        takes_two_steps(question) || self.questions.unseen_lines(question, &self.cx) > 0
    }

    /// Returns whether all of the shown question was spoken or shown, counting what a frame is about to show.
    pub fn shows_whole(&self, showing: QuestionVisibility) -> bool {
        let shown = self.shown();
        shown.is_some_and(|(_, question)| self.questions.shows_whole(question, showing, &self.cx))
    }

    /// Returns whether some changed lines of the shown question were not shown.
    pub fn hides_changes(&self) -> bool {
        let shown = self.shown();
        shown.is_some_and(|(_, question)| self.questions.unseen_lines(question, &self.cx) > 0)
    }

    /// Returns which part of the shown question's changes was read last; `None` before the first.
    pub fn change_read(&self) -> Option<ChangeRead> {
        self.review.change_read(self.questions.shown_id()?)
    }

    /// Returns one question.
    pub fn question(&self, id: QuestionId) -> Option<&Question> {
        self.cx.sessions.question(id)
    }

    /// Returns the name that distinguishes the asking agent from all others.
    pub fn agent_of(&self, question: &Question) -> String {
        let (key, agent) = (&question.key, &question.agent);
        (self.cx.announcer.agent_name(key, agent, &self.cx.sessions)).to_string()
    }

    /// Returns how much time a question has left; `None` if it has no limit, or nobody knows how old it is.
    pub fn time_left(&self, question: &Question, now: Duration) -> Option<Duration> {
        let sessions = &self.cx.sessions;
        let expires = sessions.expires(question);
        let expires = expires.filter(|_| sessions.is_age_known(question));
        expires.map(|at| at.saturating_sub(now))
    }

    /// Returns the session that the person is concerned with: that of the shown question, else of the chosen
    /// conversation, else the running one that was heard last.
    pub fn conversation(&self) -> Option<&Session> {
        let asks = self.shown().map(|(_, question)| question.key.clone());
        let chosen = asks.or_else(|| self.prompts.chosen_session(&self.cx));
        let chosen = chosen.and_then(|key| self.cx.sessions.get(&key));
        let running = self
            .cx
            .sessions
            .iter()
            .filter(|session| !session.is_ended());
        chosen
            .filter(|session| !session.is_ended())
            .or_else(|| running.max_by_key(|session| session.last_event))
    }

    /// Returns the folder in which the agent of a link works, if it was started here.
    pub fn folder_of(&self, link: LinkId) -> Option<&str> {
        self.cx.announcer.grounds().folder(link)
    }

    /// Returns the mode in which the agent of a link works, as the agent names it.
    pub fn mode_of(&self, link: LinkId) -> Option<String> {
        let mut links = self.links().iter();
        links.find(|it| it.id == link)?.mode()
    }

    /// Returns the text of the last search.
    pub fn searched(&self) -> Option<String> {
        self.review.searched()
    }

    /// Returns how many announcements came before the one under review, not counting answers to keys.
    pub fn older(&self) -> usize {
        let Some(review) = self.review.at() else {
            return 0;
        };
        let history = self.cx.announcer.history().iter();
        history
            .take_while(|told| told.id < review)
            .filter(|told| told.class != Class::Response && told.aloud != Presentation::Kept)
            .count()
    }

    /// Returns the announcement under review.
    pub fn review(&self) -> Option<AnnouncementId> {
        self.review.at()
    }

    /// Returns whether an announcement has a call's output or changes that can be read.
    pub fn has_call_results(&self, told: &Announcement) -> bool {
        has_call_results(told, &self.cx.sessions)
    }

    /// Returns the hit under review; `None` if something else is.
    pub fn hit(&self) -> Option<Hit> {
        self.review.hit()
    }

    /// Returns the part on display of a long announcement; after the last, the pane starts again.
    pub fn review_page(&self) -> isize {
        self.review.page()
    }

    /// Returns whether only urgent speech is spoken.
    pub fn is_quiet(&self) -> bool {
        self.cx.announcer.settings().quiet
    }

    /// Returns how many pieces of texts wait for the person to continue speech.
    pub fn stopped(&self) -> u64 {
        self.cx.queue.silenced()
    }

    /// Returns whether all speech may finish.
    pub fn is_polite(&self) -> bool {
        self.cx.queue.is_polite()
    }

    /// Returns whether there is a voice that can be stopped.
    pub fn speaks(&self) -> bool {
        self.cx.has_voice()
    }

    /// Returns everything that a person's switches can select at the moment; `None` if they use none.
    pub fn scanned_items(&self) -> Option<Vec<String>> {
        let scans = self.key_input.scans();
        scans.then(|| self.key_input.scanned_items(self.scan_scene(), &self.cx))
    }

    /// Returns whether any agent takes prompts.
    pub fn takes_prompts(&self) -> bool {
        self.prompts.takes_prompts(&self.links)
    }

    /// Returns whether a frame is being read in steps: [`super::Input::Deadline`] triggers the next one.
    pub fn is_reading(&self) -> bool {
        self.links.is_reading()
    }

    /// Returns how much is announced.
    pub fn load(&self) -> Load {
        self.cx.announcer.settings().load
    }

    /// Returns the names of the muted agents at work.
    pub fn muted(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .cx
            .sessions
            .iter()
            .filter(|session| !session.is_ended())
            .filter(|session| self.cx.announcer.is_muted(&session.key, &session.agent))
            .map(|session| {
                let name = self.cx.announcer.name_of_agent(
                    &session.key,
                    &session.agent,
                    &self.cx.sessions,
                );
                self.phrases().name_of(&name).into_owned()
            })
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// Returns the answer that waits for its second step, in words.
    pub fn waits_to_be_confirmed(&self) -> Option<String> {
        let Activity::Confirming(step) = &self.cx.doing else {
            return None;
        };
        let question = self.cx.sessions.question(step.question())?;
        Some(self.cx.announcer.answer_words(question, step.answer()))
    }

    /// Returns the label of an announcement in words: its kind, and its agent if there are several.
    pub fn label(&self, told: &Announcement) -> String {
        let (key, agent) = self.label_of(told);
        self.label_words(key, agent.map(|agent| &**agent))
    }

    /// Returns the parts of such a label: a phrase, and the name in it.
    pub fn label_of<'a>(&self, told: &'a Announcement) -> (&'static str, Option<&'a Arc<str>>) {
        let several = self.cx.sessions.several();
        let agent = told.agent.as_ref();
        let is_named = several
            || told.kind == AnnouncementKind::Prompt
            || (told.kind == AnnouncementKind::Output && told.is_agents_text());
        let agent = agent.filter(|_| is_named);
        (label_key(told), agent)
    }

    /// Returns the label made of these parts.
    pub fn label_words(&self, key: &str, agent: Option<&str>) -> String {
        let phrases = self.phrases();
        let agent = agent.map(|agent| phrases.name_of(agent).into_owned());
        phrases.text(key, &[("agent", Arg::Own(agent.unwrap_or_default()))])
    }

    /// Returns the label of an announcement without a name, for continuation lines.
    pub fn label_without_name(&self, told: &Announcement) -> String {
        self.label_words(label_key(told), None)
    }

    /// Returns the announcement of the item that a switch would select.
    pub fn scanned(&self) -> Option<AnnouncementId> {
        let shown = self.questions.shown().map(|shown| shown.question);
        self.key_input.scanned(self.mode(), shown)
    }

    /// Returns the label of quoted words, with the agent's name or without.
    pub fn label_of_quote(&self, quote: &Quote, is_named: bool) -> String {
        let key = match quote.kind {
            QuoteKind::Text => "label.output",
            QuoteKind::Matter => "label.shows",
            QuoteKind::Call => "label.runs",
        };
        self.label_words(key, is_named.then_some(&*quote.agent))
    }

    /// Returns the state of the voice in words.
    pub fn voice_words(&self) -> String {
        let phrases = self.phrases();
        match self.cx.signals.voice() {
            VoiceState::Off => phrases.text("headline.voice.off", &[]),
            VoiceState::LeftToReader => phrases.text("headline.voice.reader", &[]),
            VoiceState::Checking => phrases.text("headline.voice.checking", &[]),
            VoiceState::Ready { engine } => phrases.text(
                "headline.voice.ready",
                &[("engine", Arg::Own(phrases.because(engine)))],
            ),
            VoiceState::Lost => phrases.text("headline.voice.lost", &[]),
            VoiceState::None => phrases.text("headline.voice.none", &[]),
        }
    }

    /// Returns one session without what changes every second: agent, phase and state.
    pub fn session_head(&self, session: &Session) -> String {
        self.cx.session_head(session)
    }

    /// Returns whether no agent has been heard yet, and none takes a prompt: a person may want to know what runs here.
    pub fn hears_nobody(&self) -> bool {
        self.cx.sessions.iter().next().is_none() && !self.takes_prompts()
    }

    /// Returns what else was found on this machine, as long as nobody is heard.
    pub fn nearby(&self) -> Option<&NearbyCommands> {
        self.run.nearby().filter(|_| self.hears_nobody())
    }

    /// Returns the number by which the person goes to the conversation of a session.
    pub fn conversation_number(&self, session: &Session) -> Option<usize> {
        self.prompts.number_of(&session.key, &self.links)
    }
}

/// Returns the phrase that labels an announcement.
fn label_key(told: &Announcement) -> &'static str {
    match told.kind {
        AnnouncementKind::SessionStarted
        | AnnouncementKind::SessionCompleted
        | AnnouncementKind::SessionErrored
        | AnnouncementKind::SessionCancelled => "label.session",
        AnnouncementKind::State => "label.state",
        AnnouncementKind::Progress => "label.progress",
        AnnouncementKind::ToolInvoked | AnnouncementKind::ToolCompleted => "label.tool",
        // Hearken's words about an agent's text are not the agent's.
        AnnouncementKind::Output if !told.is_agents_text() => "label.hint",
        AnnouncementKind::Output => "label.output",
        AnnouncementKind::Confirmation | AnnouncementKind::Clarification => "label.question",
        AnnouncementKind::Prompt => "label.prompt",
        AnnouncementKind::Handoff => "label.handoff",
        AnnouncementKind::Unknown => "label.unknown",
        AnnouncementKind::Connection => "label.connection",
        AnnouncementKind::Reply => "label.reply",
        AnnouncementKind::Danger => "label.danger",
        AnnouncementKind::Anomaly => "label.anomaly",
        AnnouncementKind::Hint | AnnouncementKind::Heartbeat => "label.hint",
    }
}
