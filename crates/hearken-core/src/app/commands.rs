//! Gives each command of a key or a line to the part that carries it out.

use std::time::Duration;

use crate::announce::{AnswerMethod, Arg, RewindUnit};
use crate::config::{Knob, Load, MouseChoice};
use crate::keys::{self, Command, Edit, KeyPress, Mode, VoiceChange};

use super::key_help::{self, HelpScene};
use super::review::history_navigation::{Direction, Leap};
use super::review::spelling::WordStep;
use super::status::tell_status;
use super::typing::change_line;
use super::{Activity, AnswerOrigin, AppFacts, PointerTarget};
use super::{App, Exit};

impl App {
    /// Runs the command of a line.
    pub(super) fn line(&mut self, text: &str, read: Duration) {
        let command = keys::line(text);
        self.review.note_hand(self.cx.now.monotonic);
        if command.is_some() {
            self.run(command, AnswerOrigin::Line { read });
        }
    }

    /// Runs a command that does not come from the keyboard.
    pub(super) fn command(&mut self, command: Command) {
        let press = KeyPress {
            read: self.cx.now.monotonic,
            before: None,
            again: false,
            in_word: false,
        };
        self.run(Some(command), AnswerOrigin::Key(press));
    }

    /// Handles the mouse. Like all input, it shows that hands are active, but it only looks at things: never
    /// while the person types or decides, and not where a question has just appeared.
    pub(super) fn point(&mut self, at: Option<PointerTarget>, read: Duration) {
        let read = read.min(self.cx.now.monotonic);
        let may = self.may_point(read);
        self.review.note_hand(self.cx.now.monotonic);
        self.cx.end_second_step(read);
        self.key_input.hand(read, &mut self.cx);
        match at.filter(|_| may) {
            Some(PointerTarget::Conversation(number)) => self.command(Command::GoTo(Some(number))),
            Some(PointerTarget::Entry(id)) => {
                self.cx.answers.clear();
                self.prompts.forget_stop();
                self.review.go_to(id, &mut self.cx);
            }
            Some(PointerTarget::Older) => self.command(Command::Previous),
            Some(PointerTarget::Newer) => self.command(Command::Next),
            None => {}
        }
    }

    fn may_point(&self, read: Duration) -> bool {
        let is_wanted = self.cx.config.screen.mouse == MouseChoice::Click;
        let is_free = matches!(self.mode(), Mode::Watching | Mode::Help);
        let arm = Duration::from_millis(self.cx.config.questions.arm_ms);
        let is_pane = self.cx.face.manner() == AnswerMethod::Keys;
        is_wanted && is_pane && is_free && !self.questions.has_just_come(read, arm)
    }

    pub(super) fn run(&mut self, command: Option<Command>, by: AnswerOrigin) {
        if !self.cx.goes_on(command.as_ref(), by) {
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
            Command::Accept(number) => facts = self.questions.accept(number, by, cx),
            Command::Confirm(number) => facts = self.questions.confirm(number, by, cx),
            Command::Reject(number, reason) => {
                facts = self.questions.reject(number, reason, by, cx)
            }
            Command::RejectBecause(number) => self.questions.explain_rejection(number, by, cx),
            Command::Answer(number, text) => facts = self.questions.answer(number, text, by, cx),
            Command::Choose(number, choice) => {
                facts = self.questions.choose(number, choice, by, cx)
            }
            Command::Digit(digit) => facts = self.questions.digit(digit, cx),
            Command::Edit(edit) => facts = self.edit(edit),
            Command::Choice(to) => self.questions.move_choice(to, cx),
            Command::Details(number) => facts = self.questions.details(number, cx),
            Command::NextQuestion => self.questions.next_question(cx),
            Command::Prompt(text) => facts = self.prompts.tell_agent(text, &self.links, cx),
            Command::StopTurn => facts = self.prompts.stop_turn(None, by, &self.links, cx),
            Command::StopConversation(number) => {
                facts = self.prompts.stop_turn(Some(number), by, &self.links, cx)
            }
            Command::Conversations => self.prompts.read_conversations(&self.links, cx),
            Command::GoTo(number) => {
                facts = self.prompts.go_to_conversation(number, &self.links, cx)
            }
            Command::NextConversation => facts = self.prompts.next_conversation(&self.links, cx),
            Command::Set(what) => facts = self.prompts.change_setting(what, &self.links, cx),
            Command::Commands(text) => self.prompts.read_commands(text.as_deref(), &self.links, cx),
            Command::Leave => {
                let shown = self.questions.shown_id();
                let of_shown = shown.and_then(|id| Some(cx.sessions.question(id)?.key.link));
                let chosen = self.prompts.chosen_link();
                facts = self.run.leave(of_shown, chosen, &self.links, cx);
            }
            Command::Stop => {
                key_help::close(cx);
                self.questions.stop_speech(cx);
            }
            Command::GoOn => self.tuning.resume_speech(cx),
            Command::BackSentence => self.tuning.go_back(RewindUnit::Sentence, cx),
            Command::BackParagraph => self.tuning.go_back(RewindUnit::Paragraph, cx),
            Command::SkipCode => self.review.skip_code(cx),
            Command::Escape => self.escape(),
            Command::Status => {
                let waiting = self.questions.waiting(cx);
                tell_status(waiting, &self.links, cx);
            }
            Command::Fleet => {
                let stuck = self.prompts.not_stopping(&self.links, cx);
                self.fleet.read(stuck, &self.links, cx);
            }
            Command::Copy => self.review.copy(self.questions.shown_id(), cx),
            Command::CopyAnswer => self.review.copy_answer(cx),
            Command::CopyCode => self.review.copy_code(cx),
            Command::Repeat => self.review.repeat(cx),
            Command::Previous => self.review.step(Direction::Back, cx),
            Command::Next => self.review.step(Direction::Forward, cx),
            Command::Latest => self.review.step(Direction::End, cx),
            Command::PageBack => self.review.leap(Leap::Back, cx),
            Command::PageForward => self.review.leap(Leap::Forward, cx),
            Command::First => self.review.leap(Leap::First, cx),
            Command::ReadOn => {
                let (shown, sight) = self.questions.followed(cx);
                self.review.turn_page(1, shown, sight, cx);
            }
            Command::ReadBack => {
                let (shown, sight) = self.questions.followed(cx);
                self.review.turn_page(-1, shown, sight, cx);
            }
            Command::Leap(on) => self.review.leap_line(on, cx),
            Command::History => self.review.history_lines(cx),
            Command::WholeTurn => self.review.whole_turn(cx),
            Command::Search(text) => self.review.search(text, cx),
            Command::Spell(choice) => self.review.spell(choice.as_deref(), cx),
            Command::PreviousWord => self.review.step_word(WordStep::Back, cx),
            Command::NextWord => self.review.step_word(WordStep::Forward, cx),
            Command::Away => self.review.away(self.questions.waiting(cx), cx),
            Command::Mute(name) => {
                let (looked_at, chosen) = (self.review.at(), self.prompts.chosen_session(cx));
                self.tuning.mute(name.as_deref(), looked_at, chosen, cx)
            }
            Command::Quiet => self.tuning.keep_quiet(cx),
            Command::DoNotInterrupt => self.tuning.do_not_interrupt(cx),
            Command::Hold => cx.hold(),
            Command::Verbosity => self.change_verbosity(),
            Command::Load(load) => self.change_load(load),
            Command::Language(tag) => self.change_language(tag.as_deref()),
            Command::Remarks => self.links.read_remarks(cx),
            Command::Output => self.review.read_output(cx),
            Command::Plan => self.review.read_plan(self.prompts.chosen_session(cx), cx),
            Command::NextKnob => {
                self.tuning.next_knob();
                self.tune(None, VoiceChange::Say);
            }
            Command::Tune(knob, turn) => self.tune(knob, turn),
            Command::Remember => self.tuning.remember(cx),
            Command::Help => {
                let (shown, meant) = (self.questions.shown_id(), self.questions.meant(cx));
                let prompts = self.prompts.takes_prompts(&self.links);
                let works = self.prompts.stops_work(&self.links);
                let scene = HelpScene::new(shown, meant, prompts, works);
                key_help::help(self.key_input.keymap(), scene, cx);
            }
            Command::AllHelp => key_help::all_help(cx),
            Command::Quit => {
                let all_sent = self.questions.is_all_sent();
                facts = (self.run).ask_to_quit(Exit::Clean, all_sent, &self.links, cx);
            }
            Command::Interrupt => {
                let all_sent = self.questions.is_all_sent();
                facts = (self.run).ask_to_quit(Exit::Interrupted, all_sent, &self.links, cx);
            }
            Command::Back => {
                // The person can continue the typed text later.
                if let Some(typed) = cx.back() {
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
                );
            }
        }
        self.pass(facts);
    }

    /// Stops speech, and leaves a search or the history.
    fn escape(&mut self) {
        let looked_back = self.review.leave();
        self.review.leave_search();
        key_help::close(&mut self.cx);
        self.questions.stop_speech(&mut self.cx);
        if looked_back {
            self.cx.answers.clear();
            self.cx.answer_unsaid("review.left", &[]);
        }
    }

    /// Changes or sends what is being typed.
    fn edit(&mut self, edit: Edit) -> AppFacts {
        let cx = &mut self.cx;
        match edit {
            Edit::Submit => return self.send_typed(),
            Edit::Older | Edit::Newer => self.prompts.take_up(edit == Edit::Older, cx),
            Edit::Complete => self.prompts.complete(&self.links, cx),
            edit => change_line(edit, cx),
        }
        Vec::new()
    }

    /// Sends what is being typed or chosen.
    fn send_typed(&mut self) -> AppFacts {
        let cx = &mut self.cx;
        match &mut cx.doing {
            Activity::Choosing(choices) => {
                let (id, taken) = (choices.question(), choices.taken());
                return self.questions.take_choice(id, taken, cx);
            }
            Activity::Searching(line) => {
                let typed = line.value().trim().to_owned();
                self.review.submit_search(typed, cx);
            }
            Activity::Prompting {
                conversation: whom,
                line,
            } => {
                let (whom, typed) = (whom.clone(), line.value().trim().to_owned());
                return self.prompts.submit_prompt(&whom, &typed, &self.links, cx);
            }
            Activity::Answering { question, line } => {
                let (id, text) = (*question, line.value().trim().to_owned());
                return self.questions.submit(id, text, cx);
            }
            Activity::Watching
            | Activity::Confirming(_)
            | Activity::Helping { .. }
            | Activity::Quitting
            | Activity::Leaving(_) => {}
        }
        Vec::new()
    }

    fn change_verbosity(&mut self) {
        self.tuning.next_verbosity(&mut self.cx);
        self.change_terms();
        self.tuning.tell_verbosity(&self.links, &mut self.cx);
    }

    fn change_load(&mut self, to: Option<Load>) {
        let freed = self.tuning.set_load(to, &mut self.cx);
        self.change_terms();
        self.tuning.tell_load(freed, &self.links, &mut self.cx);
    }

    fn change_language(&mut self, to: Option<&str>) {
        if self
            .tuning
            .set_language(to, self.key_input.keymap(), &mut self.cx)
        {
            // The title also contains words.
            self.questions.retitle();
            self.change_terms();
            self.tuning.tell_language(&self.links, &mut self.cx);
        }
    }

    fn tune(&mut self, knob: Option<Knob>, turn: VoiceChange) {
        let reads = self.cx.queue.is_reading();
        if let Some(knob) = self.tuning.turn_knob(knob, turn, &mut self.cx) {
            // Producers fit their text to the pace, unless the person fixed it.
            if knob == Knob::Rate {
                self.change_terms();
            }
            self.tuning.tell_knob(knob, None, &mut self.cx);
            if reads {
                // Reading continues with the new setting.
                let (_, wishes) = self.cx.queue.resume(self.cx.now.monotonic);
                self.cx.command_voice(wishes);
            }
        }
    }
}
