//! Everything that a key or a line can ask for.

use std::time::Duration;

use crate::announce::Arg;
use crate::config::{Knob, Load};
use crate::keys::{self, Command, Edit, Press, VoiceChange};
use crate::protocol::Now;

use super::activity::Doing;
use super::by::By;
use super::fact::AppFact;
use super::hands::typing::change_line;
use super::helping;
use super::review::looking::{Direction, Leap};
use super::review::spelling::WordStep;
use super::status::tell_status;
use super::{App, Exit};

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
        if !self.cx.goes_on(command.as_ref(), by, now) {
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
        let cx = &mut self.cx;
        let mut facts = Vec::new();
        match command {
            Command::Accept(number) => facts = self.questions.accept(number, by, cx, now),
            Command::Confirm(number) => facts = self.questions.confirm(number, by, cx, now),
            Command::Reject(number, reason) => {
                facts = self.questions.reject(number, reason, by, cx, now)
            }
            Command::RejectBecause(number) => self.questions.explain_rejection(number, by, cx, now),
            Command::Answer(number, text) => {
                facts = self.questions.answer(number, text, by, cx, now)
            }
            Command::Choose(number, choice) => {
                facts = self.questions.choose(number, choice, by, cx, now)
            }
            Command::Digit(digit) => facts = self.questions.digit(digit, cx, now),
            Command::Edit(edit) => facts = self.edit(edit, now),
            Command::Choice(to) => self.questions.move_choice(to, cx, now),
            Command::Details(number) => facts = self.questions.details(number, cx, now),
            Command::NextQuestion => self.questions.next_question(cx, now),
            Command::Prompt(text) => facts = self.prompts.tell_agent(text, &self.links, cx, now),
            Command::StopTurn => facts = self.prompts.stop_turn(None, by, &self.links, cx, now),
            Command::StopConversation(number) => {
                facts = self
                    .prompts
                    .stop_turn(Some(number), by, &self.links, cx, now)
            }
            Command::Conversations => self.prompts.read_conversations(&self.links, cx, now),
            Command::GoTo(number) => {
                facts = self
                    .prompts
                    .go_to_conversation(number, &self.links, cx, now)
            }
            Command::NextConversation => {
                facts = self.prompts.next_conversation(&self.links, cx, now)
            }
            Command::Set(what) => facts = self.prompts.change_setting(what, &self.links, cx, now),
            Command::Commands(text) => {
                self.prompts
                    .read_commands(text.as_deref(), &self.links, cx, now)
            }
            Command::Leave => {
                let shown = self.questions.shown_id();
                let of_shown = shown.and_then(|id| Some(cx.sessions.question(id)?.key.link));
                let chosen = self.prompts.chosen_link();
                facts = self.run.leave(of_shown, chosen, &self.links, cx, now);
            }
            Command::Stop => self.questions.stop_speech(cx, now),
            Command::Escape => self.escape(now),
            Command::Status => {
                let waiting = self.questions.waiting(cx);
                tell_status(waiting, &self.links, cx, now);
            }
            Command::Copy => self.review.copy(self.questions.shown_id(), cx, now),
            Command::CopyAnswer => self.review.copy_answer(cx, now),
            Command::CopyCode => self.review.copy_code(cx, now),
            Command::Repeat => self.review.repeat(cx, now),
            Command::Previous => self.review.step(Direction::Back, cx, now),
            Command::Next => self.review.step(Direction::Forward, cx, now),
            Command::Latest => self.review.step(Direction::End, cx, now),
            Command::PageBack => self.review.leap(Leap::Back, cx, now),
            Command::PageForward => self.review.leap(Leap::Forward, cx, now),
            Command::First => self.review.leap(Leap::First, cx, now),
            Command::ReadOn => self.review.turn_page(1, self.questions.shown_id(), cx, now),
            Command::ReadBack => self
                .review
                .turn_page(-1, self.questions.shown_id(), cx, now),
            Command::Leap(on) => self.review.leap_line(on, cx, now),
            Command::History => self.review.history_lines(cx, now),
            Command::WholeTurn => self.review.whole_turn(cx, now),
            Command::Search(text) => self.review.search(text, cx, now),
            Command::Spell(choice) => self.review.spell(choice.as_deref(), cx, now),
            Command::PreviousWord => self.review.step_word(WordStep::Back, cx, now),
            Command::NextWord => self.review.step_word(WordStep::Forward, cx, now),
            Command::Away => self.review.away(self.questions.waiting(cx), cx, now),
            Command::Mute(name) => {
                let (looked_at, chosen) = (self.review.at(), self.prompts.chosen_session(cx));
                self.tuning
                    .mute(name.as_deref(), looked_at, chosen, cx, now)
            }
            Command::Quiet => self.tuning.keep_quiet(cx, now),
            Command::DoNotInterrupt => self.tuning.do_not_interrupt(cx, now),
            Command::Hold => cx.hold(now),
            Command::Verbosity => self.change_verbosity(now),
            Command::Load(load) => self.change_load(load, now),
            Command::Language(tag) => self.change_language(tag.as_deref(), now),
            Command::Remarks => self.links.read_remarks(cx, now),
            Command::Output => self.review.read_output(cx, now),
            Command::Plan => self
                .review
                .read_plan(self.prompts.chosen_session(cx), cx, now),
            Command::NextKnob => {
                self.tuning.next_knob();
                self.tune(None, VoiceChange::Say, now);
            }
            Command::Tune(knob, turn) => self.tune(knob, turn, now),
            Command::Remember => self.tuning.remember(cx, now),
            Command::Help => helping::help(self.hands.keymap(), cx, now),
            Command::Quit => {
                let all_sent = self.questions.is_all_sent();
                facts = (self.run).ask_to_quit(Exit::Clean, all_sent, &self.links, cx, now);
            }
            Command::Interrupt => {
                let all_sent = self.questions.is_all_sent();
                facts = (self.run).ask_to_quit(Exit::Interrupted, all_sent, &self.links, cx, now);
            }
            Command::Back => {
                // The person can take up the typed text again.
                if let Some(typed) = cx.back(now) {
                    self.prompts.keep(&typed);
                }
            }
            Command::NotUnderstood(input) => {
                let no = matches!(input.split_whitespace().next(), Some("n" | "no"));
                cx.respond(
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
        self.pass(facts, now);
    }

    /// Stops speech, and leaves a search or the history.
    fn escape(&mut self, now: Now) {
        let looked_back = self.review.leave();
        self.review.leave_search();
        self.questions.stop_speech(&mut self.cx, now);
        if looked_back {
            self.cx.answers.clear();
            self.cx.answer_unsaid("review.left", now);
        }
    }

    /// Changes or sends what is being typed.
    fn edit(&mut self, edit: Edit, now: Now) -> Vec<AppFact> {
        let cx = &mut self.cx;
        match edit {
            Edit::Submit => return self.send_typed(now),
            Edit::Older | Edit::Newer => self.prompts.take_up(edit == Edit::Older, cx, now),
            Edit::Complete => self.prompts.complete(&self.links, cx, now),
            edit => change_line(edit, cx, now),
        }
        Vec::new()
    }

    /// Sends what is being typed or chosen.
    fn send_typed(&mut self, now: Now) -> Vec<AppFact> {
        let cx = &mut self.cx;
        match &mut cx.doing {
            Doing::Choosing(choices) => {
                let (id, taken) = (choices.question(), choices.taken());
                return self.questions.take_choice(id, taken, cx, now);
            }
            Doing::Searching(line) => {
                let typed = line.value().trim().to_owned();
                self.review.submit_search(typed, cx, now);
            }
            Doing::Prompting { whom, line } => {
                let (whom, typed) = (whom.clone(), line.value().trim().to_owned());
                return self
                    .prompts
                    .submit_prompt(&whom, &typed, &self.links, cx, now);
            }
            Doing::Answering { question, line } => {
                let (id, text) = (*question, line.value().trim().to_owned());
                return self.questions.submit(id, text, cx, now);
            }
            Doing::Watching
            | Doing::Confirming(_)
            | Doing::Helping { .. }
            | Doing::Quitting
            | Doing::Leaving(_) => {}
        }
        Vec::new()
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
}
