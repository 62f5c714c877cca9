//! The help in lines: what can be typed now, in few words, and all of it on request.

use super::*;
use crate::keys;

/// The maximum number of words for what can be typed now.
const MOST: usize = 80;

/// Types a line, and returns what is read in response.
fn typed(stage: &mut Stage, line: &str) -> Vec<String> {
    stage.lines.clear();
    stage.type_line(line);
    std::mem::take(&mut stage.lines)
}

fn words(lines: &[String]) -> usize {
    lines.iter().map(|it| it.split_whitespace().count()).sum()
}

#[test]
fn it_says_what_can_be_typed_now_in_few_words_and_all_only_on_request() {
    let mut stage = Stage::new(PIPE);
    let idle = typed(&mut stage, "?");
    assert!(words(&idle) <= MOST, "{idle:#?}");
    assert!(
        idle.iter().any(|it| it.starts_with("> TEXT: ")),
        "{idle:#?}"
    );
    assert!(!idle.iter().any(|it| it.contains("accept")), "{idle:#?}");
    assert_eq!(idle.last().unwrap(), "? all reads the rest.");

    stage.ask_with("rpl_1", json!({"irreversible": true}));
    let one = typed(&mut stage, "?");
    assert!(words(&one) <= MOST, "{one:#?}");
    assert_eq!(
        one[0],
        "y 1 then c 1 accepts, n 1 rejects, d 1 for details."
    );
    stage.ask("rpl_2");
    let several = typed(&mut stage, "?");
    assert!(words(&several) <= MOST, "{several:#?}");
    assert!(several[0].starts_with("y, y 2: "), "{several:#?}");

    let all = typed(&mut stage, "? all");
    assert!(words(&all) > MOST, "{all:#?}");
    for line in keys::LINES {
        let head = format!("{}: ", line.line);
        assert!(all.iter().any(|it| it.starts_with(&head)), "{head}");
    }
}

/// The same, heard.
const EAR: Options = Options {
    voice: SpeechMode::Speak,
    ..KEYS
};

/// Presses a key, and returns everything that is then said.
fn said(stage: &mut Stage, key: char) -> String {
    stage.speak_all();
    stage.spoken.clear();
    stage.press(key);
    stage.speak_all();
    let said: Vec<String> = stage.spoken.drain(..).map(|(_, text)| text).collect();
    said.join(" ")
}

#[test]
fn by_ear_it_says_what_can_be_pressed_now_then_all_keys_and_stops_at_a_key() {
    let mut stage = Stage::agent(EAR, Config::default());
    stage.input(Input::Voice(VoiceEvent::Ready {
        engine: "a voice".into(),
    }));
    let count = |words: &str| words.split_whitespace().count();
    let idle = said(&mut stage, '?');
    assert!(count(&idle) <= MOST, "{}: {idle}", count(&idle));
    assert!(idle.starts_with("greater than: tell the agent"), "{idle}");
    assert!(!idle.contains("accept"), "{idle}");
    assert!(!idle.contains("stop what the agent does"), "{idle}");
    let all = said(&mut stage, '?');
    assert!(count(&all) > MOST, "{all}");
    for binding in keys::BINDINGS {
        assert!(all.contains(binding.does), "{}: {all}", binding.does);
    }
    said(&mut stage, '?');
    assert_eq!(stage.app.mode(), Mode::Watching, "a third press closes it");

    stage.type_prompt("do it");
    stage.asks(7, json!({"toolCallId": "t1", "title": "Delete it"}));
    stage.speak_all();
    let one = said(&mut stage, '?');
    assert!(count(&one) <= MOST, "{}: {one}", count(&one));
    assert!(one.starts_with("letter y then letter c accepts"), "{one}");
    assert!(one.contains("stop what the agent does"), "{one}");

    // Closing the help also ends its speech.
    stage.spoken.clear();
    stage.press('?');
    assert_eq!(stage.spoken.len(), 1);
    stage.press('s');
    assert_eq!(stage.app.mode(), Mode::Watching);
    stage.speak_all();
    assert_eq!(stage.spoken.len(), 1, "{:?}", stage.spoken);
}

#[test]
fn who_hears_nothing_closes_it_with_the_second_press() {
    let mut stage = Stage::new(KEYS);
    stage.press('?');
    assert_eq!(stage.app.mode(), Mode::Help);
    stage.assert_not_heard("again");
    stage.press('?');
    assert_eq!(stage.app.mode(), Mode::Watching);
}
