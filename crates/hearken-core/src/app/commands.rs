//! Everything that a key or a line can ask for.

use std::sync::Arc;
use std::time::Duration;

use crate::announce::{Arg, Class, Kind, Manner};
use crate::config::{Knob, Load, Verbosity};
use crate::keys::{self, Command, Edit, Mode, Press, VoiceChange};
use crate::protocol::Now;
use crate::session::{Question, QuestionId};

use super::activity::Doing;
use super::by::By;
use super::hands;
use super::helping;
use super::review::looking::{Direction, Leap};
use super::review::spelling::WordStep;
use super::{App, Exit, LinkPhase, LinkView};

impl App {
    /// Runs the command of a line.
    pub(super) fn line(&mut self, text: &str, read: Duration, now: Now) {
        let command = keys::line(text);
        self.review.note_hand(now.monotonic);
        if command.is_some() {
            self.run(command, By::Line { read }, now);
        }
    }

    /// Runs a command that does not come from the keyboard.
    pub(super) fn command(&mut self, command: Command, now: Now) {
        let press = Press {
            read: now.monotonic,
            before: None,
            again: false,
        };
        self.run(Some(command), By::Key(press), now);
    }

    pub(super) fn run(&mut self, command: Option<Command>, by: By, now: Now) {
        if !self.goes_on(command.as_ref(), by, now) {
            return;
        }
        let Some(command) = command else { return };
        self.cx.answers.clear();
        if !matches!(command, Command::StopTurn | Command::StopConversation(_)) {
            self.prompts.forget_stop();
        }
        if command.leaves_reading() {
            self.review.close_reading();
        }
        match command {
            Command::Accept(number) => {
                let facts = self.questions.accept(number, by, &mut self.cx, now);
                self.pass(facts, now);
            }
            Command::Confirm(number) => {
                let facts = self.questions.confirm(number, by, &mut self.cx, now);
                self.pass(facts, now);
            }
            Command::Reject(number, reason) => {
                let facts = self.questions.reject(number, reason, by, &mut self.cx, now);
                self.pass(facts, now);
            }
            Command::RejectBecause(number) => {
                self.questions
                    .explain_rejection(number, by, &mut self.cx, now)
            }
            Command::Answer(number, text) => {
                let facts = self.questions.answer(number, text, by, &mut self.cx, now);
                self.pass(facts, now);
            }
            Command::Choose(number, choice) => {
                let facts = self.questions.choose(number, choice, by, &mut self.cx, now);
                self.pass(facts, now);
            }
            Command::Digit(digit) => {
                let facts = self.questions.digit(digit, &mut self.cx, now);
                self.pass(facts, now);
            }
            Command::Edit(edit) => self.edit(edit, now),
            Command::Choice(to) => self.questions.move_choice(to, &mut self.cx, now),
            Command::Details(number) => self.details(number, now),
            Command::NextQuestion => self.questions.next_question(&mut self.cx, now),
            Command::Prompt(text) => {
                let facts = self
                    .prompts
                    .tell_agent(text, &self.links, &mut self.cx, now);
                self.pass(facts, now);
            }
            Command::StopTurn => {
                let facts = self
                    .prompts
                    .stop_turn(None, by, &self.links, &mut self.cx, now);
                self.pass(facts, now);
            }
            Command::StopConversation(number) => {
                let facts =
                    self.prompts
                        .stop_turn(Some(number), by, &self.links, &mut self.cx, now);
                self.pass(facts, now);
            }
            Command::Conversations => {
                self.prompts
                    .read_conversations(&self.links, &mut self.cx, now)
            }
            Command::GoTo(number) => {
                let facts = self
                    .prompts
                    .go_to_conversation(number, &self.links, &mut self.cx, now);
                self.pass(facts, now);
            }
            Command::NextConversation => {
                let facts = self
                    .prompts
                    .next_conversation(&self.links, &mut self.cx, now);
                self.pass(facts, now);
            }
            Command::Set(what) => {
                let facts = self
                    .prompts
                    .change_setting(what, &self.links, &mut self.cx, now);
                self.pass(facts, now);
            }
            Command::Commands(text) => {
                self.prompts
                    .read_commands(text.as_deref(), &self.links, &mut self.cx, now)
            }
            Command::Leave => self.leave_source(now),
            Command::Stop => self.stop(now),
            Command::Escape => self.escape(now),
            Command::Status => self.status(now),
            Command::Copy => self
                .review
                .copy(self.questions.shown_id(), &mut self.cx, now),
            Command::CopyAnswer => self.review.copy_answer(&mut self.cx, now),
            Command::CopyCode => self.review.copy_code(&mut self.cx, now),
            Command::Repeat => self.review.repeat(&mut self.cx, now),
            Command::Previous => self.review.step(Direction::Back, &mut self.cx, now),
            Command::Next => self.review.step(Direction::Forward, &mut self.cx, now),
            Command::Latest => self.review.step(Direction::End, &mut self.cx, now),
            Command::PageBack => self.review.leap(Leap::Back, &mut self.cx, now),
            Command::PageForward => self.review.leap(Leap::Forward, &mut self.cx, now),
            Command::First => self.review.leap(Leap::First, &mut self.cx, now),
            Command::ReadOn => {
                self.review
                    .turn_page(1, self.questions.shown_id(), &mut self.cx, now)
            }
            Command::ReadBack => {
                self.review
                    .turn_page(-1, self.questions.shown_id(), &mut self.cx, now)
            }
            Command::Leap(on) => self.review.leap_line(on, &mut self.cx, now),
            Command::History => self.review.history_lines(&mut self.cx, now),
            Command::WholeTurn => self.review.whole_turn(&mut self.cx, now),
            Command::Search(text) => self.review.search(text, &mut self.cx, now),
            Command::Spell(choice) => self.review.spell(choice.as_deref(), &mut self.cx, now),
            Command::PreviousWord => self.review.step_word(WordStep::Back, &mut self.cx, now),
            Command::NextWord => self.review.step_word(WordStep::Forward, &mut self.cx, now),
            Command::Away => self
                .review
                .away(self.questions.waiting(&self.cx), &mut self.cx, now),
            Command::Mute(name) => {
                let (looked_at, chosen) = (self.review.at(), self.prompts.chosen_session(&self.cx));
                self.tuning
                    .mute(name.as_deref(), looked_at, chosen, &mut self.cx, now)
            }
            Command::Quiet => self.tuning.keep_quiet(&mut self.cx, now),
            Command::DoNotInterrupt => self.tuning.do_not_interrupt(&mut self.cx, now),
            Command::Hold => self.cx.hold(now),
            Command::Verbosity => self.change_verbosity(now),
            Command::Load(load) => self.change_load(load, now),
            Command::Language(tag) => self.change_language(tag.as_deref(), now),
            Command::Remarks => self.links.read_remarks(&mut self.cx, now),
            Command::Output => self.review.read_output(&mut self.cx, now),
            Command::Plan => {
                self.review
                    .read_plan(self.prompts.chosen_session(&self.cx), &mut self.cx, now)
            }
            Command::NextKnob => {
                self.tuning.next_knob();
                self.tune(None, VoiceChange::Say, now);
            }
            Command::Tune(knob, turn) => self.tune(knob, turn, now),
            Command::Remember => self.tuning.remember(&mut self.cx, now),
            Command::Help => helping::help(self.hands.keymap(), &mut self.cx, now),
            Command::Quit => self.quit_if_decided(Exit::Clean, now),
            Command::Interrupt => self.quit_if_decided(Exit::Interrupted, now),
            Command::Back => self.back(now),
            Command::NotUnderstood(input) => {
                let no = matches!(input.split_whitespace().next(), Some("n" | "no"));
                self.cx.respond(
                    match no {
                        true => "help.unknown.reason",
                        false => "help.unknown",
                    },
                    &[(
                        "input",
                        Arg::Own(crate::announce::speakable::one_line(&input)),
                    )],
                    now,
                );
            }
        }
    }

    /// Leaves a mode that waits for one particular key when any other command comes, announces that, and returns
    /// whether the command still runs. A key is used up by leaving the mode, unless it stops speech; a line is a
    /// command of its own and still runs.
    fn goes_on(&mut self, command: Option<&Command>, by: By, now: Now) -> bool {
        let is_line = matches!(by, By::Line { .. });
        match self.cx.doing.mode() {
            Mode::Quitting if !matches!(command, Some(Command::Quit | Command::Interrupt)) => {
                self.cx.doing = Doing::Watching;
                self.cx.respond("quit.stay", &[], now);
                is_line
            }
            Mode::Leaving(_) if !matches!(command, Some(Command::Leave)) => {
                self.cx.doing = Doing::Watching;
                self.cx.respond("quit.stay", &[], now);
                is_line
            }
            Mode::Confirming(id)
                if !matches!(
                    command,
                    Some(Command::Confirm(_) | Command::Reject(..) | Command::Interrupt)
                ) =>
            {
                let same = matches!(command, Some(Command::Accept(number)) if number.is_none_or(|number| number == id));
                if is_line && same {
                    // Repeating the first step is not a change of mind.
                    self.cx.doing = Doing::Watching;
                } else {
                    self.cx.stay_open(now);
                }
                is_line
                    || matches!(
                        command,
                        Some(Command::Stop | Command::Escape | Command::StopTurn)
                    )
            }
            Mode::Watching
            | Mode::Confirming(_)
            | Mode::Editing(_)
            | Mode::Choosing(..)
            | Mode::Quitting
            | Mode::Leaving(_)
            | Mode::Searching
            | Mode::Prompting(_)
            | Mode::Help => true,
        }
    }

    fn back(&mut self, now: Now) {
        match self.cx.doing.mode() {
            Mode::Editing(id) => {
                self.cx.doing = Doing::Watching;
                let open = self
                    .cx
                    .sessions
                    .question(QuestionId(id))
                    .is_some_and(Question::is_open);
                let key = if open {
                    "reply.editing.left"
                } else {
                    "reply.editing.closed"
                };
                self.cx.respond(key, &[], now);
            }
            Mode::Choosing(..) | Mode::Confirming(_) => self.cx.stay_open(now),
            Mode::Searching => {
                self.cx.doing = Doing::Watching;
                self.cx.respond("search.left", &[], now);
            }
            Mode::Prompting(_) => {
                // The person can take up the typed text again.
                let typed = self.editor().0.to_owned();
                self.prompts.keep(&typed);
                self.cx.doing = Doing::Watching;
                self.cx.respond("prompt.left", &[], now);
            }
            Mode::Help | Mode::Watching | Mode::Quitting | Mode::Leaving(_) => {
                self.cx.doing = Doing::Watching
            }
        }
    }

    pub(super) fn stop(&mut self, now: Now) {
        // What was spoken to its end by now counts as heard; what the key cuts off does not.
        self.questions.note_said(&mut self.cx, now);
        let spoke = !self.cx.queue.is_idle();
        let wishes = self.cx.queue.stop(now.monotonic);
        self.cx.wish(wishes);
        self.questions.note_stopped(&mut self.cx);
        // Without an answer, the key or line would seem to be lost. The answer is not spoken: the person asked for
        // silence.
        let key = if spoke { "stop.done" } else { "stop.nothing" };
        self.answer_unsaid(key, now);
    }

    /// Stops speech, and leaves a search or the history.
    fn escape(&mut self, now: Now) {
        let looked_back = self.review.leave();
        self.review.leave_search();
        self.stop(now);
        if looked_back {
            self.cx.answers.clear();
            self.answer_unsaid("review.left", now);
        }
    }

    /// Answers a key or a line on the screen only.
    fn answer_unsaid(&mut self, key: &str, now: Now) {
        match self.cx.face.manner() {
            Manner::Keys => {
                let words = self
                    .cx
                    .phrases()
                    .say(key, self.cx.announcer.verbosity(), &[]);
                let told = self
                    .cx
                    .announcer
                    .aside(Class::Response, Kind::Reply, words, now);
                self.cx.answers.take(&told);
            }
            Manner::Lines | Manner::Program => {
                let told = self
                    .cx
                    .announcer
                    .say(Class::Response, Kind::Reply, key, &[], now);
                self.cx.put(told);
            }
        }
    }

    fn details(&mut self, number: Option<u64>, now: Now) {
        let shown = self.questions.shown_id();
        let first = self
            .questions
            .questions(&self.cx)
            .first()
            .map(|question| question.id);
        let wanted = number.map(QuestionId).or(shown).or(first);
        let question = wanted
            .and_then(|id| self.cx.sessions.raised(id))
            .filter(|question| question.is_open())
            .cloned();
        match (question, number) {
            (Some(question), _) => {
                self.questions.turn_page(question.id);
                let segments = self.questions.next_part(&question, &mut self.cx, now);
                self.questions
                    .tell_part(question.id, segments, &mut self.cx, now);
                self.review.offer_changes(&question, &mut self.cx, now);
            }
            (None, Some(number)) => {
                self.cx
                    .respond("reply.no_such", &[("n", Arg::own(number))], now)
            }
            (None, None) => self.review.tell_facts(&mut self.cx, now),
        }
    }

    fn status(&mut self, now: Now) {
        let phrases = Arc::clone(self.cx.phrases());
        let mut words = Vec::new();
        let open = self.questions.waiting(&self.cx);
        if open > 0 {
            words.push(phrases.text("status.questions", &[("n", Arg::own(open))]));
        }
        for session in self
            .cx
            .sessions
            .iter()
            .filter(|session| !session.is_ended())
        {
            words.push(self.cx.session_words(session, now.monotonic));
            words.push(self.cx.announcer.session_facts(session));
        }
        for view in self
            .links
            .iter()
            .filter(|view| !matches!(view.phase, LinkPhase::Connected | LinkPhase::Streaming))
        {
            let key = match view.phase {
                LinkPhase::Disconnected | LinkPhase::Connecting { .. }
                    if view.connection().rests =>
                {
                    "status.link.rests"
                }
                LinkPhase::Disconnected => "status.link.disconnected",
                LinkPhase::Connecting { .. } => "status.link.connecting",
                LinkPhase::Connected => "status.link.connected",
                LinkPhase::Streaming => "status.link.streaming",
                LinkPhase::Completed => "status.link.completed",
                LinkPhase::Failed => "status.link.failed",
            };
            let args = [
                ("source", Arg::Own(view.name.clone())),
                ("state", Arg::Own(phrases.text(key, &[]))),
            ];
            words.push(phrases.text("status.link", &args));
        }
        words.retain(|words| !words.is_empty());
        if words.is_empty() {
            words.push(phrases.text("status.nothing", &[]));
        }
        words.extend(self.cx.forgotten_words());
        if self.cx.announcer.settings().verbosity == Verbosity::Detailed {
            words.extend(self.cx.account_words());
        }
        let there =
            |view: &&LinkView| matches!(view.phase, LinkPhase::Connected | LinkPhase::Streaming);
        words.extend(
            self.links
                .iter()
                .filter(there)
                .filter_map(|view| self.links.connection_words(view, &self.cx)),
        );
        let face = [
            ("face", Arg::Own(phrases.text(self.cx.face.name(), &[]))),
            ("why", Arg::Own(phrases.text(self.cx.face.why(), &[]))),
        ];
        words.push(phrases.text("status.face", &face));
        self.cx
            .respond("fault.other", &[("reason", Arg::Own(words.join(" ")))], now);
    }

    fn change_verbosity(&mut self, now: Now) {
        self.tuning.next_verbosity(&mut self.cx);
        self.change_terms(now);
        self.tuning.tell_verbosity(&self.links, &mut self.cx, now);
    }

    fn change_load(&mut self, to: Option<Load>, now: Now) {
        let freed = self.tuning.set_load(to, &mut self.cx, now);
        self.change_terms(now);
        self.tuning.tell_load(freed, &self.links, &mut self.cx, now);
    }

    fn change_language(&mut self, to: Option<&str>, now: Now) {
        if self
            .tuning
            .set_language(to, self.hands.keymap(), &mut self.cx, now)
        {
            // The title contains words.
            self.questions.retitle();
            self.change_terms(now);
            self.tuning.tell_language(&self.links, &mut self.cx, now);
        }
    }

    fn tune(&mut self, knob: Option<Knob>, turn: VoiceChange, now: Now) {
        if let Some(knob) = self.tuning.turn_knob(knob, turn, &mut self.cx, now) {
            // Producers fit their text to the pace, unless the person fixed it.
            if knob == Knob::Rate {
                self.change_terms(now);
            }
            self.tuning.tell_knob(knob, None, &mut self.cx, now);
        }
    }

    /// Changes or sends what is being typed.
    fn edit(&mut self, edit: Edit, now: Now) {
        match edit {
            Edit::Submit => {}
            Edit::Older | Edit::Newer => {
                return self.prompts.take_up(edit == Edit::Older, &mut self.cx, now);
            }
            Edit::Complete => return self.prompts.complete(&self.links, &mut self.cx, now),
            edit => return hands::typing::change_line(edit, &mut self.cx, now),
        }
        match &mut self.cx.doing {
            Doing::Choosing(choices) => {
                let (id, taken) = (choices.question(), choices.taken());
                let facts = self.questions.take_choice(id, taken, &mut self.cx, now);
                self.pass(facts, now);
            }
            Doing::Searching(line) => {
                let typed = line.value().trim().to_owned();
                self.review.submit_search(typed, &mut self.cx, now);
            }
            Doing::Prompting { whom, line } => {
                let (whom, typed) = (whom.clone(), line.value().trim().to_owned());
                let facts =
                    self.prompts
                        .submit_prompt(&whom, &typed, &self.links, &mut self.cx, now);
                self.pass(facts, now);
            }
            Doing::Answering { question, line } => {
                let (id, text) = (*question, line.value().trim().to_owned());
                let facts = self.questions.submit(id, text, &mut self.cx, now);
                self.pass(facts, now);
            }
            Doing::Watching
            | Doing::Confirming(_)
            | Doing::Helping { .. }
            | Doing::Quitting
            | Doing::Leaving(_) => {}
        }
    }

    fn leave_source(&mut self, now: Now) {
        let of_shown = self.shown().map(|(_, question)| question.key.link);
        let facts = self.run.leave(
            of_shown,
            self.prompts.chosen_link(),
            &self.links,
            &mut self.cx,
            now,
        );
        self.pass(facts, now);
    }

    fn quit_if_decided(&mut self, exit: Exit, now: Now) {
        let facts = self.run.ask_to_quit(
            exit,
            self.questions.is_all_sent(),
            &self.links,
            &mut self.cx,
            now,
        );
        self.pass(facts, now);
    }
}
