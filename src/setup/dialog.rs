//! The dialog: from a typed line to words, a trial, and at the end the changes.
//!
//! Responsibilities: which question is open, what a line means, what is tried. Not here: the choices
//! (`setup_questions`), how anything is shown, spoken or written (`runtime`).

use std::sync::Arc;

use crate::announce::{Arg, Args, Phrases};
use crate::config::{Config, ThemeChoice, Verbosity};
use crate::keys::{Keymap, Scan};

use super::changes::Change;
use super::setup_questions::{ONE_SWITCH, READER, SPEAKS, SetupQuestion, TWO_SWITCHES, changes};

/// How often the second of two switches is asked for again: the first one bounces or is held, or what came fits none.
const REFUSALS: u8 = 3;
/// The words that leave; as everywhere, a key or the word it stands for.
const LEAVE: [&str; 2] = ["q", "quit"];
/// The words that go back to the question before.
const BACK: [&str; 2] = ["b", "back"];

/// A fact for the dialog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetupInput {
    /// A line was typed.
    Line(String),
    /// There is no further input.
    End,
    /// A key was pressed, by its name; `None` if none came in time, or one without a name.
    Key(Option<String>),
    /// The voice is there; its engine in words.
    Voice(String),
    /// The voice is not there; why, in words.
    NoVoice(String),
}

/// A request of the dialog.
#[derive(Debug, Clone, PartialEq)]
pub enum SetupEffect {
    /// Show a line, and say it if hearken speaks.
    Tell(String),
    /// Speak by these settings from now on.
    Speak(Box<Config>),
    /// Report whether the voice is there, as soon as that is known.
    Await,
    /// Show how the full face is coloured.
    Show(ThemeChoice),
    /// Read one key, whatever it is.
    Listen,
    /// Make these changes in the person's settings, report them, and leave.
    Write(Vec<Change>),
    /// Leave, with the settings as they were.
    Leave,
}

/// The key that a switch is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SwitchKey {
    /// The one that steps to the next item.
    Step,
    /// The one that selects.
    Select,
}

/// The questions and answers so far.
#[derive(Debug)]
pub struct Dialog {
    phrases: Arc<Phrases>,
    /// The settings as they were.
    before: Config,
    /// The settings with the answers so far.
    answered: Config,
    /// The settings with what is being tried.
    tried: Config,
    /// Whether a screen reader was found.
    reader: bool,
    asked: SetupQuestion,
    /// The questions before it.
    earlier: Vec<SetupQuestion>,
    /// The choice that Enter takes, from 0; `None` if the settings stand for none, or no switch was pressed in time.
    chosen: Option<usize>,
    /// The key of a switch that is awaited.
    wanted: Option<SwitchKey>,
    /// How often something else came instead of the second of two switches.
    refused: u8,
    /// Whether a voice was tried and is not there.
    is_voiceless: bool,
}

impl Dialog {
    /// Begins with the settings as they are, and with whether a screen reader was found.
    pub fn new(phrases: Arc<Phrases>, config: &Config, reader: bool) -> Self {
        Self {
            phrases,
            before: config.clone(),
            answered: config.clone(),
            tried: config.clone(),
            reader,
            asked: SetupQuestion::Speech,
            earlier: Vec::new(),
            chosen: None,
            wanted: None,
            refused: 0,
            is_voiceless: false,
        }
    }

    /// Returns the greeting and the first question.
    pub fn begin(&mut self) -> Vec<SetupEffect> {
        let mut effects = vec![self.tell("setup.begin", &[])];
        self.ask(SetupQuestion::Speech, &mut effects);
        effects
    }

    /// Handles a fact.
    pub fn take(&mut self, input: SetupInput) -> Vec<SetupEffect> {
        let mut effects = Vec::new();
        match input {
            SetupInput::End => self.leave(&mut effects),
            SetupInput::Key(key) => self.key(key, &mut effects),
            SetupInput::Voice(engine) => {
                self.is_voiceless = false;
                self.tried(
                    ("setup.try.voice", &[("engine", Arg::Own(engine))]),
                    &mut effects,
                );
            }
            SetupInput::NoVoice(why) => {
                self.is_voiceless = true;
                self.tried(("setup.no_voice", &[("why", Arg::Own(why))]), &mut effects);
            }
            SetupInput::Line(line) => self.line(line.trim(), &mut effects),
        }
        effects
    }

    fn line(&mut self, line: &str, effects: &mut Vec<SetupEffect>) {
        let (_, choices) = self.asked.phrases();
        match (line, line.parse::<usize>()) {
            (leave, _) if LEAVE.contains(&leave) => self.leave(effects),
            (back, _) if BACK.contains(&back) => self.go_back(effects),
            ("", _) if self.chosen.is_some() || self.asked == SetupQuestion::Rate => {
                self.go_on(effects)
            }
            (_, Ok(number)) if (1..=choices.len()).contains(&number) => {
                self.choose(number - 1, effects);
            }
            _ => {
                let n = Arg::own(choices.len());
                let key = match self.chosen {
                    None if self.asked == SetupQuestion::Hands => "setup.again.number",
                    _ => "setup.again",
                };
                effects.push(self.tell(key, &[("n", n)]));
            }
        }
    }

    fn leave(&self, effects: &mut Vec<SetupEffect>) {
        effects.push(self.tell("setup.left", &[]));
        effects.push(SetupEffect::Leave);
    }

    /// Asks a question.
    fn ask(&mut self, asked: SetupQuestion, effects: &mut Vec<SetupEffect>) {
        self.asked = asked;
        self.tried = self.answered.clone();
        self.chosen = asked.chosen(&self.answered, self.reader);
        let (question, choices) = asked.phrases();
        let words = [
            ("n", Arg::own(self.earlier.len() + 1)),
            ("question", Arg::Own(self.phrases.text(question, &[]))),
        ];
        effects.push(self.tell("setup.question", &words));
        for (at, choice) in choices.iter().enumerate() {
            let args = [
                ("n", Arg::own(at + 1)),
                ("choice", Arg::Own(self.phrases.text(choice, &[]))),
            ];
            effects.push(self.tell("setup.choice", &args));
        }
        let chosen = match self.chosen {
            Some(at) => self.tell("setup.enter", &[("n", Arg::own(at + 1))]),
            None => self.tell("setup.enter.as_it_is", &[]),
        };
        effects.push(chosen);
    }

    /// Makes a choice, and tries it.
    fn choose(&mut self, at: usize, effects: &mut Vec<SetupEffect>) {
        self.tried = self.answered.clone();
        self.asked.choose(at, &mut self.tried, self.reader);
        self.chosen = Some(at);
        match self.asked {
            SetupQuestion::Speech => {
                effects.push(SetupEffect::Speak(Box::new(self.tried.clone())));
                let key = match at {
                    SPEAKS => return effects.push(SetupEffect::Await),
                    READER => "setup.try.reader",
                    _ => "setup.try.none",
                };
                effects.push(self.tell(key, &[]));
            }
            SetupQuestion::Rate => {
                effects.push(SetupEffect::Speak(Box::new(self.tried.clone())));
                effects.push(self.tell("setup.try.rate", &[]));
            }
            SetupQuestion::Hands if at == ONE_SWITCH => {
                return self.want(SwitchKey::Select, effects);
            }
            SetupQuestion::Hands if at == TWO_SWITCHES => {
                return self.want(SwitchKey::Step, effects);
            }
            SetupQuestion::Hands => {}
            SetupQuestion::Verbosity => effects.push(self.sample()),
            SetupQuestion::Colours => effects.push(SetupEffect::Show(self.tried.screen.theme)),
        }
        self.keep(at, effects);
    }

    /// Returns an announcement as long as it would be.
    fn sample(&self) -> SetupEffect {
        let words = |level: Verbosity| {
            let said = self.phrases.say("setup.try.verbosity", level, &[]);
            crate::announce::join_shown(&said)
        };
        SetupEffect::Tell(words(self.tried.announce.verbosity))
    }

    /// Reports the outcome of a trial.
    fn tried(&self, (key, args): (&str, &Args<'_>), effects: &mut Vec<SetupEffect>) {
        effects.push(self.tell(key, args));
        if let Some(at) = self.chosen {
            self.keep(at, effects);
        }
    }

    /// Reports what is chosen now, and how to go on.
    fn keep(&self, at: usize, effects: &mut Vec<SetupEffect>) {
        effects.push(self.tell("setup.keep", &[("n", Arg::own(at + 1))]));
    }

    /// Waits for the key of a switch.
    fn want(&mut self, wanted: SwitchKey, effects: &mut Vec<SetupEffect>) {
        self.wanted = Some(wanted);
        let key = match (wanted, self.chosen) {
            (SwitchKey::Step, _) => "setup.switch.step",
            (SwitchKey::Select, Some(TWO_SWITCHES)) => "setup.switch.select",
            (SwitchKey::Select, _) => "setup.switch.only",
        };
        effects.push(self.tell(key, &[]));
        effects.push(SetupEffect::Listen);
    }

    /// Handles the key of a switch.
    fn key(&mut self, key: Option<String>, effects: &mut Vec<SetupEffect>) {
        let (Some(wanted), Some(at)) = (self.wanted.take(), self.chosen) else {
            return;
        };
        let is_second = wanted == SwitchKey::Select && at == TWO_SWITCHES;
        let Some(key) = key else {
            effects.push(self.tell("setup.switch.nothing", &[]));
            return self.wait_for_number(at, effects);
        };
        let name = ("key", Arg::own(&key));
        let scan = &mut self.tried.scanning;
        match wanted {
            SwitchKey::Step => {
                self.refused = 0;
                scan.step = key;
            }
            SwitchKey::Select if is_second && scan.step == key => {
                return self.refuse(true, ("setup.switch.same", &[name]), effects);
            }
            SwitchKey::Select => scan.select = key,
        }
        // While only one of two is known, it has to stand for both.
        let mut whole = scan.clone();
        if wanted == SwitchKey::Step {
            whole.select = std::mem::take(&mut whole.step);
            whole.auto_ms = u64::MAX;
        }
        let fits = Keymap::new(&self.tried.keys)
            .is_ok_and(|map| matches!(Scan::new(&whole, &map), Ok(Some(_))));
        if !fits {
            return self.refuse(is_second, ("setup.switch.taken", &[name]), effects);
        }
        match wanted {
            SwitchKey::Step => {
                effects.push(self.tell("setup.switch.steps", &[name]));
                self.want(SwitchKey::Select, effects);
            }
            SwitchKey::Select => {
                effects.push(self.tell("setup.switch.selects", &[name]));
                self.keep(at, effects);
            }
        }
    }

    /// Reports why a switch can't be had. The second of two is asked for again, so that the first is not lost.
    fn refuse(
        &mut self,
        is_second: bool,
        (key, args): (&str, &Args<'_>),
        effects: &mut Vec<SetupEffect>,
    ) {
        self.refused += 1;
        if !is_second || self.refused > REFUSALS {
            return self.unchoose(key, args, effects);
        }
        effects.push(self.tell(key, args));
        self.want(SwitchKey::Select, effects);
    }

    /// Waits for another number: a switch that sends Enter and is pressed too late must not go on to the next question.
    fn wait_for_number(&mut self, at: usize, effects: &mut Vec<SetupEffect>) {
        self.refused = 0;
        self.tried = self.answered.clone();
        self.chosen = None;
        effects.push(self.tell("setup.switch.again", &[("n", Arg::own(at + 1))]));
    }

    /// Undoes a choice that could not be tried.
    fn unchoose(&mut self, key: &str, args: &Args<'_>, effects: &mut Vec<SetupEffect>) {
        self.refused = 0;
        self.tried = self.answered.clone();
        self.chosen = self.asked.chosen(&self.answered, self.reader);
        self.tried((key, args), effects);
    }

    /// Goes on with what is chosen.
    fn go_on(&mut self, effects: &mut Vec<SetupEffect>) {
        self.answered = self.tried.clone();
        let mut next = self.asked.next(&self.answered, self.reader);
        if next == Some(SetupQuestion::Rate) && self.is_voiceless {
            // Nobody would hear it.
            next = SetupQuestion::Rate.next(&self.answered, self.reader);
        }
        match next {
            Some(next) => {
                self.earlier.push(self.asked);
                self.ask(next, effects);
            }
            None => {
                effects.push(SetupEffect::Write(changes(&self.before, &self.answered)));
                effects.push(self.tell("setup.next", &[]));
            }
        }
    }

    /// Asks the question before once more, or the first one.
    fn go_back(&mut self, effects: &mut Vec<SetupEffect>) {
        if self.tried != self.answered {
            effects.push(SetupEffect::Speak(Box::new(self.answered.clone())));
        }
        let before = self.earlier.pop().unwrap_or(self.asked);
        self.ask(before, effects);
    }

    fn tell(&self, key: &str, args: &Args<'_>) -> SetupEffect {
        SetupEffect::Tell(self.phrases.text(key, args))
    }
}

#[cfg(test)]
mod tests;
