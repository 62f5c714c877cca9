//! Changing how the voice sounds: by key and by line, announced, limited, and remembered only on request.

use super::*;
use crate::announce::{Cue, MissingVoice};
use crate::config::{Knob, Punctuation};

const SPEAKING: Options = Options {
    voice: SpeechMode::Speak,
    ..KEYS
};

fn speaking(options: Options, config: Config) -> Stage {
    let mut stage = Stage::with(options, config);
    stage.input(Input::Voice(VoiceEvent::Ready {
        engine: "speech-dispatcher".into(),
    }));
    stage.input(Input::Voice(VoiceEvent::Adjustable {
        knobs: Knob::ALL.to_vec(),
        usual: Delivery {
            rate: Some(30),
            pitch: Some(-10),
            volume: Some(100),
            ..Delivery::default()
        },
    }));
    stage.speak_all();
    stage.lines.clear();
    stage
}

fn lines() -> Options {
    Options {
        voice: SpeechMode::Speak,
        ..PIPE
    }
}

impl Stage {
    /// Makes the engine finish one utterance after another, until there is nothing left to say.
    pub(super) fn speak_all(&mut self) {
        let mut at = 0;
        while at < self.spoken.len() {
            let id = self.spoken[at].0;
            self.input(Input::Voice(VoiceEvent::Ended(id)));
            at += 1;
        }
    }
}

#[test]
fn keys_go_through_the_settings_and_change_them_from_where_they_are() {
    let mut stage = speaking(SPEAKING, Config::default());
    for (key, said) in [
        (KeyCode::Char('+'), "Rate: 40."),
        (KeyCode::Char('+'), "Rate: 50."),
        (KeyCode::Char('-'), "Rate: 40."),
        (KeyCode::Char('p'), "Pitch: the voice's own, minus 10."),
        (KeyCode::Char('-'), "Pitch: minus 20."),
        (KeyCode::Char('p'), "Volume: the voice's own, 100."),
        (
            KeyCode::Char('+'),
            "Volume: the voice's own, 100. That is the limit.",
        ),
        (KeyCode::Char('p'), "Voice: the voice's own."),
        (KeyCode::Char('+'), "Voice: male 1."),
        (KeyCode::Char('-'), "Voice: girl."),
        (KeyCode::Char('u'), "Voice: the voice's own."),
        (KeyCode::Char('p'), "Punctuation: the voice's own."),
        (KeyCode::Char('+'), "Punctuation: none."),
        (KeyCode::Char('-'), "Punctuation: none. That is the limit."),
        (KeyCode::Char('+'), "Punctuation: some."),
        (KeyCode::Char('p'), "Rate: 40."),
        (KeyCode::Char('u'), "Rate: the voice's own, 30."),
    ] {
        stage.code(key);
        stage.speak_all();
        assert_eq!(stage.lines.last().map(String::as_str), Some(said));
    }
    let last = &stage.sounds.last().unwrap().delivery;
    assert_eq!((last.rate, last.pitch), (None, Some(-20)));
    assert_eq!(last.punctuation, Some(Punctuation::Some));
    assert!(stage.remembered.is_empty(), "nothing is kept unasked");
}

#[test]
fn what_is_said_back_already_sounds_so_and_no_number_leaves_its_scale() {
    let mut stage = speaking(SPEAKING, Config::default());
    for _ in 0..30 {
        stage.press('+');
        stage.speak_all();
        let rate = stage.sounds.last().unwrap().delivery.rate;
        assert!(rate.is_none_or(|rate| rate <= 100));
    }
    assert_eq!(stage.sounds.last().unwrap().delivery.rate, Some(100));
    stage.assert_heard("Rate: 100. That is the limit.");
    for _ in 0..30 {
        stage.press('-');
        stage.speak_all();
    }
    assert_eq!(stage.sounds.last().unwrap().delivery.rate, Some(-100));
}

#[test]
fn lines_name_the_setting_and_take_what_it_takes() {
    let mut stage = speaking(lines(), Config::default());
    for (line, said) in [
        ("rate", "Rate: the voice's own, 30."),
        ("rate 20", "Rate: 20."),
        ("rate -", "Rate: 10."),
        ("pitch -100", "Pitch: minus 100."),
        ("pitch -", "Pitch: minus 100. That is the limit."),
        (
            "volume 101",
            "Volume: this takes a number from -100 to 100.",
        ),
        (
            "volume loud",
            "Volume: this takes a number from -100 to 100.",
        ),
        ("voice female2", "Voice: female 2."),
        ("voice English (America)", "Voice: English (America)."),
        ("punctuation all", "Punctuation: all."),
        (
            "punctuation every",
            "Punctuation: this takes none, some, most or all.",
        ),
        ("rate usual", "Rate: the voice's own, 30."),
    ] {
        stage.type_line(line);
        stage.speak_all();
        assert_eq!(stage.lines.last().map(String::as_str), Some(said), "{line}");
    }
}

#[test]
fn only_what_is_asked_for_is_remembered_and_its_place_is_said() {
    let mut stage = speaking(lines(), Config::default());
    stage.type_line("remember");
    stage.assert_heard(phrase!("tune.nothing_new"));
    stage.type_line("rate 50");
    assert!(stage.remembered.is_empty());
    stage.type_line("remember");
    let kept = Delivery {
        rate: Some(50),
        ..Delivery::default()
    };
    assert_eq!(stage.remembered, [kept]);
    stage.input(Input::Remembered(Ok("/home/ann/voice.toml".into())));
    stage.assert_heard(phrase!("tune.remembered", place = "/home/ann/voice.toml"));
    stage.input(Input::Remembered(Err("the disk is full".into())));
    stage.assert_heard(phrase!("tune.not_remembered", reason = "the disk is full"));
}

#[test]
fn what_can_t_be_changed_is_said_and_left() {
    let mut stage = Stage::new(KEYS);
    stage.press('+');
    stage.assert_heard(phrase!("tune.no_voice"));

    let mut stage = speaking(SPEAKING, Config::default());
    stage.input(Input::Voice(VoiceEvent::Adjustable {
        knobs: vec![Knob::Volume],
        usual: Delivery::default(),
    }));
    stage.press('+');
    stage.assert_heard(phrase!("tune.fixed", what = "Rate"));
    stage.code(KeyCode::Char('p'));
    stage.code(KeyCode::Char('p'));
    stage.press('-');
    stage.assert_heard("Volume: 90.");
}

#[test]
fn the_settings_of_an_agent_and_a_language_are_those_of_its_words_alone() {
    let config = Config::from_toml(
        "[voice]\nrate = 5\n[voice.agents]\nMailer = { voice = \"male2\", pitch = 20 }\n\
         [voice.languages]\nde = { rate = -50 }\n",
    )
    .unwrap();
    let mut stage = speaking(SPEAKING, config);
    stage.event("session.started", json!({}));
    stage.event(
        "output.streaming",
        json!({"output_id": "out_1", "chunk": "Guten Tag. ", "language": "de",
               "coalesce_hint": "sentence", "complete": true}),
    );
    stage.speak_all();
    let at = stage
        .spoken
        .iter()
        .position(|(_, text)| text.contains("Guten Tag"))
        .unwrap();
    let sound = &stage.sounds[at];
    assert_eq!(sound.delivery.voice.as_deref(), Some("male2"));
    assert_eq!(
        (sound.delivery.rate, sound.delivery.pitch),
        (Some(-50), Some(20))
    );
    let ours = &stage.sounds[0];
    assert_eq!(
        (ours.delivery.rate, ours.delivery.voice.as_deref()),
        (Some(5), None)
    );
    assert_eq!(ours.delivery.pitch, None);
}

#[test]
fn a_question_can_t_be_answered_by_changing_the_voice() {
    let mut stage = speaking(SPEAKING, Config::default());
    stage.ask("rpl_1");
    stage.speak_all();
    stage.wait(1000);
    for c in ['.', ',', 'u', 'p', 'f'] {
        stage.press(c);
    }
    assert!(stage.sent.is_empty());
    assert!(
        stage
            .app
            .questions()
            .iter()
            .any(|question| question.is_answerable())
    );
}

/// Returns the cue of the utterance that contains these words.
fn cue_of(stage: &Stage, words: &str) -> Option<Cue> {
    let at = stage
        .spoken
        .iter()
        .position(|(_, text)| text.contains(words));
    stage.sounds[at.unwrap_or_else(|| panic!("{words}: {:?}", stage.spoken))].cue
}

#[test]
fn questions_errors_ends_and_sources_have_their_cues_and_agents_text_has_none() {
    let mut stage = speaking(SPEAKING, Config::default());
    stage.event("session.started", json!({}));
    stage.event(
        "output.streaming",
        json!({"output_id": "out_1", "chunk": "I am done. ", "coalesce_hint": "sentence", "complete": true}),
    );
    stage.speak_all();
    stage.ask("rpl_1");
    stage.speak_all();
    stage.event(
        "session.completed",
        json!({"summary_normal": "All went well."}),
    );
    stage.speak_all();
    stage.link(
        1,
        LinkEvent::Lost {
            fault: Fault::Refused,
            retry_in: Duration::from_secs(1),
        },
    );
    stage.speak_all();
    assert_eq!(cue_of(&stage, "I am done"), None);
    // Each cue sounds once, on the first words of its announcement.
    let cues: Vec<Cue> = stage.sounds.iter().filter_map(|sound| sound.cue).collect();
    assert_eq!(cues, [Cue::Question, Cue::Done, Cue::Lost]);
    assert_eq!(cue_of(&stage, "Question 1"), Some(Cue::Question));
    // A repeated announcement is not news.
    let before = stage.sounds.len();
    stage.press('r');
    stage.speak_all();
    assert!(
        stage.sounds[before..]
            .iter()
            .all(|sound| sound.cue.is_none())
    );
}

#[test]
fn each_cue_has_a_switch() {
    let config = Config::from_toml("[voice.cues]\nquestion = false\n").unwrap();
    let mut stage = speaking(SPEAKING, config);
    stage.ask("rpl_1");
    stage.speak_all();
    assert_eq!(cue_of(&stage, "Question 1"), None);
}

#[test]
fn without_a_voice_the_bell_rings_for_a_fault_and_never_without_end() {
    for (cues, rings) in [
        ("", 1),
        ("[voice.cues]\nerror = false\n", 0),
        ("[screen]\nbell = false\n", 0),
    ] {
        let mut stage = Stage::with(SPEAKING, Config::from_toml(cues).unwrap());
        stage.input(Input::Voice(VoiceEvent::None {
            reason: crate::announce::Reason::said("no device"),
            telling: MissingVoice::Why,
        }));
        stage.event("session.started", json!({}));
        let before = stage.bells;
        for number in 0..20 {
            let call = format!("call_{number}");
            stage.event(
                "tool.invoked",
                json!({"tool_name": "x", "tool_call_id": call, "irreversible": false}),
            );
            stage.event(
                "tool.completed",
                json!({"tool_name": "x", "tool_call_id": call, "status": "error", "error_message": format!("no {number}")}),
            );
        }
        assert_eq!(stage.bells - before, rings, "{cues}");
    }
    let mut stage = speaking(SPEAKING, Config::default());
    stage.event("session.started", json!({}));
    stage.event(
        "session.errored",
        json!({"error_category": "internal", "error_message": "it broke"}),
    );
    assert_eq!(stage.bells, 0, "who hears needs no bell");
}

#[test]
fn a_missing_voice_is_told_in_nine_words_and_only_once_on_a_machine() {
    let told = |telling| {
        let mut stage = Stage::with(SPEAKING, Config::default());
        stage.read.clear();
        let reason = crate::announce::Reason::said("no device");
        stage.input(Input::Voice(VoiceEvent::None { reason, telling }));
        stage.read
    };
    let once = told(MissingVoice::That).concat();
    assert_eq!(once, "No voice on this machine. hearken doctor says why.");
    assert_eq!(once.split_whitespace().count(), 9);
    assert_eq!(told(MissingVoice::Known), [""; 0]);
    assert_eq!(told(MissingVoice::Why), ["There is no voice: no device."]);
}

#[test]
fn the_start_of_an_answer_and_of_a_call_has_a_cue_if_the_person_wants_it() {
    for on in [false, true] {
        let mut config = Config::default();
        config.voice.cues.answer = on;
        config.voice.cues.call = on;
        let mut stage = speaking(SPEAKING, config);
        stage.event("session.started", json!({}));
        stage.event(
            "tool.invoked",
            json!({"tool_name": "search", "tool_call_id": "c1", "summary_normal": "Searching the notes."}),
        );
        stage.speak_all();
        for chunk in ["One thing. ", "Another thing. "] {
            stage.event(
                "output.streaming",
                json!({"output_id": "out_1", "chunk": chunk, "coalesce_hint": "sentence", "complete": false}),
            );
        }
        stage.speak_all();
        let cues: Vec<Cue> = stage.sounds.iter().filter_map(|sound| sound.cue).collect();
        let wanted: &[Cue] = if on { &[Cue::Call, Cue::Answer] } else { &[] };
        assert_eq!(cues, wanted, "{:?}", stage.said());
    }
}
