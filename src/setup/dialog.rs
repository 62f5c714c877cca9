//! The dialog: from a typed line to words, a trial, and at the end the changes.
//!
//! Responsibilities: which question is open, what a line means, what is tried. Not here: the choices (`setup_questions`), how
//! anything is shown, spoken or written (`runtime`).

use std::sync::Arc;

use crate::announce::{Arg, Args, Phrases};
use crate::config::{Config, ThemeChoice, Verbosity};
use crate::keys::{Keymap, Scan};

use super::changes::Change;
use super::setup_questions::{ONE_SWITCH, READER, SPEAKS, SetupQuestion, TWO_SWITCHES, changes};

/// The words that leave; as everywhere, a key or the word it stands for.
const LEAVE: [&str; 2] = ["q", "quit"];

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
    /// Make these changes in the person's settings, and leave.
    Write(Vec<Change>),
    /// Leave, with the settings as they were.
    Leave,
}

/// The key that a switch is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SwitchKey {
    /// The one that steps on.
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
    /// The number of the question, from 1.
    number: usize,
    /// The choice that Enter takes, from 0; `None` if the settings stand for none.
    chosen: Option<usize>,
    /// The key of a switch that is being waited for.
    wanted: Option<SwitchKey>,
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
            number: 0,
            chosen: None,
            wanted: None,
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
            ("", _) if self.chosen.is_some() || self.asked == SetupQuestion::Rate => {
                self.go_on(effects)
            }
            (_, Ok(number)) if (1..=choices.len()).contains(&number) => {
                self.choose(number - 1, effects);
            }
            _ => {
                let n = Arg::own(choices.len());
                effects.push(self.tell("setup.again", &[("n", n)]));
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
        self.number += 1;
        self.tried = self.answered.clone();
        self.chosen = asked.chosen(&self.answered, self.reader);
        let (question, choices) = asked.phrases();
        let words = [
            ("n", Arg::own(self.number)),
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
        let Some(key) = key else {
            self.unchoose("setup.switch.nothing", &[], effects);
            return;
        };
        let name = ("key", Arg::own(&key));
        let scan = &mut self.tried.scanning;
        match wanted {
            SwitchKey::Step => scan.step = key,
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
            self.unchoose("setup.switch.taken", &[name], effects);
            return;
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

    /// Undoes a choice that could not be tried.
    fn unchoose(&mut self, key: &str, args: &Args<'_>, effects: &mut Vec<SetupEffect>) {
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
            Some(next) => self.ask(next, effects),
            None => effects.push(SetupEffect::Write(changes(&self.before, &self.answered))),
        }
    }

    fn tell(&self, key: &str, args: &Args<'_>) -> SetupEffect {
        SetupEffect::Tell(self.phrases.text(key, args))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::config::{FaceChoice, ReaderChoice, VoiceChoice};
    use crate::setup::Value;

    /// A person at the dialog.
    struct Person {
        dialog: Dialog,
        effects: Vec<SetupEffect>,
    }

    impl Person {
        fn new(config: &Config, reader: bool) -> Self {
            let phrases = Arc::new(Phrases::english().unwrap());
            let mut dialog = Dialog::new(phrases, config, reader);
            let effects = dialog.begin();
            Self { dialog, effects }
        }

        fn takes(&mut self, input: SetupInput) -> &[SetupEffect] {
            self.effects = self.dialog.take(input);
            &self.effects
        }

        fn types(&mut self, line: &str) -> String {
            self.takes(SetupInput::Line(format!("{line}\n")));
            self.told()
        }

        fn presses(&mut self, key: &str) -> String {
            self.takes(SetupInput::Key(Some(key.to_owned())));
            self.told()
        }

        /// What was told by the last effects.
        fn told(&self) -> String {
            let lines = self.effects.iter().filter_map(|effect| match effect {
                SetupEffect::Tell(text) => Some(text.as_str()),
                _ => None,
            });
            lines.collect::<Vec<_>>().join("\n")
        }

        fn written(&self) -> Vec<(String, Option<Value>)> {
            let [.., SetupEffect::Write(changes)] = self.effects.as_slice() else {
                panic!("{:?}", self.effects);
            };
            let changes = changes.iter();
            changes
                .map(|it| (format!("{}.{}", it.table, it.name), it.value.clone()))
                .collect()
        }
    }

    fn text(value: &str) -> Option<Value> {
        Some(Value::Text(value.to_owned()))
    }

    #[test]
    fn enter_alone_changes_nothing() {
        let mut person = Person::new(&Config::default(), false);
        assert_eq!(
            person.told(),
            "Five questions at most, one at a time. A number chooses and tries, Enter goes on, q leaves and changes \
             nothing.\n\
             Question 1: Who reads to you?\n\
             1: A screen reader or a braille display. hearken writes plain lines.\n\
             2: hearken's own voice.\n\
             3: Nobody. I read the screen.\n\
             Enter takes 2."
        );
        assert!(person.types("").starts_with("Question 2: How fast"));
        assert!(
            person
                .types("")
                .starts_with("Question 3: How do you answer?")
        );
        assert!(person.types("").starts_with("Question 4: How long"));
        assert!(person.types("").starts_with("Question 5: Which colours?"));
        person.types("");
        assert_eq!(person.written(), []);
    }

    #[test]
    fn each_answer_is_tried_at_once_and_only_the_last_trial_counts() {
        let mut person = Person::new(&Config::default(), true);
        assert!(person.told().ends_with("Enter takes 1."));
        // A voice beside a screen reader is tried, and heard to be there.
        person.types("2");
        let [SetupEffect::Speak(tried), ..] = person.effects.as_slice() else {
            panic!("{:?}", person.effects);
        };
        assert_eq!(tried.screen.reader, ReaderChoice::No);
        assert_eq!(person.effects.last(), Some(&SetupEffect::Await));
        person.takes(SetupInput::Voice("espeak-ng".into()));
        assert_eq!(
            person.told(),
            "This is hearken's voice, by espeak-ng.\n2 is chosen. Enter goes on, another number changes it."
        );
        assert!(person.types("").starts_with("Question 2: How fast"));
        for (number, rate) in [("1", Some(-40)), ("4", Some(80)), ("3", Some(40))] {
            person.types(number);
            let [SetupEffect::Speak(tried), ..] = person.effects.as_slice() else {
                panic!("{:?}", person.effects);
            };
            assert_eq!(tried.voice.rate, rate);
        }
        person.types("");
        assert!(person.types("4").starts_with("4 is chosen."));
        person.types("");
        assert!(person.types("1").starts_with("Tests done."));
        assert!(person.types("3").contains("240"));
        person.types("1");
        person.types("");
        person.types("2");
        assert_eq!(
            person.effects[0],
            SetupEffect::Show(ThemeChoice::HighContrast)
        );
        person.types("");
        assert_eq!(
            person.written(),
            [
                ("screen.reader".to_owned(), text("no")),
                ("voice.rate".to_owned(), Some(Value::Number(40))),
                ("questions.bounce_ms".to_owned(), Some(Value::Number(300))),
                ("announce.verbosity".to_owned(), text("terse")),
                ("screen.theme".to_owned(), text("high-contrast")),
            ]
        );
    }

    #[test]
    fn a_screen_reader_gets_plain_lines_and_no_second_voice() {
        let mut config = Config::default();
        config.screen.face = FaceChoice::Full;
        config.voice.engine = VoiceChoice::SpeechDispatcher;
        let mut person = Person::new(&config, false);
        assert!(
            person
                .types("1")
                .starts_with("Your screen reader reads this.")
        );
        for _ in 0..4 {
            person.types("");
        }
        assert_eq!(
            person.written(),
            [
                ("screen.reader".to_owned(), text("yes")),
                ("voice.engine".to_owned(), text("auto")),
                ("screen.face".to_owned(), text("auto")),
            ]
        );
    }

    #[test]
    fn a_voice_that_is_not_there_has_no_speed() {
        let mut person = Person::new(&Config::default(), false);
        person.types("2");
        person.takes(SetupInput::NoVoice("no sound".into()));
        assert!(person.told().starts_with("There is no voice: no sound."));
        assert!(
            person
                .told()
                .ends_with("2 is chosen. Enter goes on, another number changes it.")
        );
        assert!(
            person
                .types("")
                .starts_with("Question 2: How do you answer?")
        );
    }

    #[test]
    fn switches_are_learned_by_pressing_them() {
        let mut person = Person::new(&Config::default(), false);
        person.types("3");
        assert!(
            person
                .types("")
                .starts_with("Question 2: How do you answer?"),
            "who hears no voice is not asked for its speed"
        );
        assert_eq!(person.types("3"), "Press the switch that steps on.");
        assert_eq!(person.effects.last(), Some(&SetupEffect::Listen));
        // What accepts a question can't step.
        assert!(person.presses("y").contains("y means something else"));
        assert!(
            person
                .told()
                .ends_with("1 is chosen. Enter goes on, another number changes it.")
        );
        person.types("3");
        assert!(
            person
                .presses("Space")
                .starts_with("Space steps on.\nPress the switch that selects.")
        );
        assert!(
            person
                .presses("Space")
                .contains("Space means something else")
        );
        person.types("3");
        person.presses("Space");
        assert!(
            person
                .presses("Enter")
                .starts_with("Enter selects.\n3 is chosen.")
        );
        // One switch is enough.
        assert_eq!(person.types("2"), "Press your switch.");
        person.takes(SetupInput::Key(None));
        assert!(person.told().starts_with("No key came."));
        person.types("2");
        assert!(person.presses("F7").starts_with("F7 selects."));
        for _ in 0..3 {
            person.types("");
        }
        assert_eq!(
            person.written(),
            [
                ("voice.engine".to_owned(), text("none")),
                ("scanning.select".to_owned(), text("F7")),
                ("scanning.auto_ms".to_owned(), Some(Value::Number(2000))),
            ]
        );
    }

    #[test]
    fn what_a_person_set_is_what_enter_takes() {
        let mut config = Config::default();
        config.voice.engine = VoiceChoice::Command("espeak-ng".into());
        config.voice.rate = Some(13);
        config.scanning.select = "F8".into();
        config.scanning.step = "F7".into();
        config.announce.verbosity = Verbosity::Detailed;
        config.screen.theme = ThemeChoice::Plain;
        let mut person = Person::new(&config, false);
        for taken in [
            "Enter takes 2.",
            "Enter leaves it as it is.",
            "Enter takes 3.",
            "Enter takes 3.",
        ] {
            assert!(person.told().ends_with(taken), "{}", person.told());
            person.types("");
        }
        assert!(person.told().ends_with("Enter takes 3."));
        // Keys in the place of switches.
        person.types("");
        assert_eq!(person.written(), []);
        let mut person = Person::new(&config, false);
        for line in ["", "2", "", "1", "", "", ""] {
            person.types(line);
        }
        assert_eq!(
            person.written(),
            [
                ("voice.rate".to_owned(), None),
                ("scanning.step".to_owned(), text("")),
                ("scanning.select".to_owned(), text("")),
            ]
        );
    }

    #[test]
    fn leaving_changes_nothing_and_says_so() {
        for input in [
            SetupInput::Line("q\n".into()),
            SetupInput::Line("quit".into()),
            SetupInput::End,
        ] {
            let mut person = Person::new(&Config::default(), false);
            person.types("3");
            person.types("");
            person.takes(input);
            assert_eq!(person.told(), "Left. Your settings are as they were.");
            assert_eq!(person.effects.last(), Some(&SetupEffect::Leave));
        }
        let mut person = Person::new(&Config::default(), false);
        for line in ["4", "0", "x", "1 2", "yes"] {
            assert_eq!(
                person.types(line),
                "The numbers are 1 to 3. Enter goes on, q leaves."
            );
        }
    }
}
