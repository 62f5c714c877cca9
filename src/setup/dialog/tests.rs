//! What a person answers, and what is asked, tried and written then.

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
        let [.., SetupEffect::Write(changes), SetupEffect::Tell(_)] = self.effects.as_slice()
        else {
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
        "Five questions at most, one at a time. Type a number to choose and try, b to go back, q to leave and \
         change nothing, each with Enter. Enter alone goes on.\n\
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
    assert_eq!(
        person.types(""),
        "To try it, run hearken demo. hearken run --list names the agents that you can start."
    );
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
        "This is hearken's voice, by espeak-ng.\n2 is chosen. Enter goes on, another number and Enter changes it."
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
    for _ in 0..2 {
        person.types("");
    }
    // Nobody looks at colours there.
    assert!(person.told().starts_with("Question 3: How long"));
    person.types("");
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
            .ends_with("2 is chosen. Enter goes on, another number and Enter changes it.")
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
    assert_eq!(
        person.types("3"),
        "Press the switch that steps on, within a minute."
    );
    assert_eq!(person.effects.last(), Some(&SetupEffect::Listen));
    // What accepts a question can't step.
    assert!(person.presses("y").contains("y means something else"));
    assert!(
        person
            .told()
            .ends_with("1 is chosen. Enter goes on, another number and Enter changes it.")
    );
    person.types("3");
    assert!(
        person
            .presses("Space")
            .starts_with("Space steps on.\nPress the switch that selects, within a minute.")
    );
    // The same switch again, which may bounce: the other one is still awaited.
    for _ in 0..2 {
        assert_eq!(
            person.presses("Space"),
            "Space already steps on.\nPress the switch that selects, within a minute."
        );
        assert_eq!(person.effects.last(), Some(&SetupEffect::Listen));
    }
    // One that means something else, too: the first one is not lost.
    let refused = person.presses("n");
    assert!(refused.starts_with("n means something else"), "{refused}");
    assert!(
        refused.ends_with("Press the switch that selects, within a minute."),
        "{refused}"
    );
    assert!(
        person
            .presses("Enter")
            .starts_with("Enter selects.\n3 is chosen.")
    );
    assert_eq!(person.dialog.tried.scanning.step, "Space");
    // One that is held down does not go on forever.
    person.types("3");
    for _ in 0..5 {
        person.presses("Space");
    }
    assert!(
        person
            .told()
            .ends_with("1 is chosen. Enter goes on, another number and Enter changes it.")
    );
    // One switch is enough.
    assert_eq!(person.types("2"), "Press your switch within a minute.");
    person.takes(SetupInput::Key(None));
    assert_eq!(
        person.told(),
        "No key came. Nothing has changed.\nType 2 and Enter to try again, or another number."
    );
    // A switch that sends Enter and comes late goes on to nothing.
    for _ in 0..2 {
        assert_eq!(
            person.types(""),
            "Type a number from 1 to 4 and Enter, or b to go back."
        );
    }
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
    // Keys in place of switches.
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
            "Type a number from 1 to 3, b or q, and Enter. Enter alone goes on."
        );
    }
}

#[test]
fn going_back_asks_the_question_before_with_the_answer_given() {
    let mut person = Person::new(&Config::default(), false);
    assert!(
        person
            .types("b")
            .starts_with("Question 1: Who reads to you?")
    );
    person.types("3");
    person.types("");
    person.types("4");
    assert!(
        person
            .types("")
            .starts_with("Question 3: How long should announcements be?")
    );
    // What was only tried goes.
    person.types("1");
    assert!(
        person
            .types("b")
            .starts_with("Question 2: How do you answer?")
    );
    assert!(person.told().ends_with("Enter takes 4."));
    person.types("back");
    assert!(person.told().ends_with("Enter takes 3."));
    // Another way takes other questions.
    person.types("2");
    person.takes(SetupInput::Voice("espeak-ng".into()));
    assert!(person.types("").starts_with("Question 2: How fast"));
    for _ in 0..4 {
        person.types("");
    }
    assert_eq!(
        person.written(),
        [("questions.bounce_ms".to_owned(), Some(Value::Number(300)))]
    );
}

#[test]
fn whoever_has_the_full_face_beside_a_screen_reader_is_asked_for_its_colours() {
    let mut config = Config::default();
    config.screen.reader = ReaderChoice::Yes;
    config.screen.face = FaceChoice::Full;
    let mut person = Person::new(&config, false);
    for _ in 0..3 {
        person.types("");
    }
    assert!(person.told().starts_with("Question 4: Which colours?"));
}
