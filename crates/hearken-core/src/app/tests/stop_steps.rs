//! Stopping speech, continuing it, going back in it, skipping code.

use super::*;

const HEARD_LINES: Options = Options {
    voice: SpeechMode::Speak,
    ..PIPE
};

fn stage(options: Options) -> Stage {
    let mut config = Config::default();
    config.announce.heartbeat = false;
    let mut stage = Stage::with(options, config);
    stage.voiced();
    stage.event("session.started", json!({}));
    stage.speak_all();
    stage.spoken.clear();
    stage.lines.clear();
    stage
}

impl Stage {
    /// Makes the engine finish its utterance.
    fn heard_out(&mut self) {
        let id = self.spoken.last().unwrap().0;
        self.input(Input::Voice(VoiceEvent::Ended(id)));
    }

    /// Makes the engine confirm the stop.
    fn hushed(&mut self) {
        let id = self.spoken.last().unwrap().0;
        self.input(Input::Voice(VoiceEvent::Cut(id)));
    }

    fn last_said(&self) -> &str {
        &self.spoken.last().unwrap().1
    }
}

#[test]
fn a_key_stops_speech_and_another_goes_on_at_the_same_sentence() {
    let mut stage = stage(VOICE);
    for text in ["One thing. ", "Another thing. ", "A third thing. "] {
        stage.chunk(text);
    }
    stage.heard_out();
    assert_eq!(stage.last_said(), "Another thing.");
    stage.press('s');
    stage.hushed();
    stage.chunk("A fourth thing. ");
    stage.wait(5000);
    assert_eq!(stage.last_said(), "Another thing.", "{:?}", stage.said());
    let answer = stage.app.answers().last().map(|told| told.text());
    assert_eq!(answer.as_deref(), Some("Stopped. ' goes on."));
    stage.press('t');
    stage.assert_heard(phrase!("status.stopped.keys", n = 3));
    stage.speak_all();
    stage.spoken.clear();
    stage.press('\'');
    stage.speak_all();
    assert_eq!(
        stage.said(),
        ["Another thing.", "A third thing.", "A fourth thing."]
    );
    stage.press('\'');
    assert_eq!(stage.last_said(), "Nothing was stopped.");
}

#[test]
fn lines_stop_go_on_and_go_back() {
    let mut stage = stage(HEARD_LINES);
    stage.chunk("One thing. ");
    stage.chunk("Another thing. ");
    stage.heard_out();
    stage.type_line("s");
    stage.hushed();
    stage.assert_heard(phrase!("stop.kept.lines"));
    stage.type_line("on");
    assert_eq!(stage.last_said(), "Another thing.");
    stage.assert_heard(phrase!("go_on.done"));
    stage.type_line("<");
    stage.hushed();
    assert_eq!(stage.last_said(), "One thing.");
    stage.type_line("<");
    stage.hushed();
    assert_eq!(stage.last_said(), "Nothing before that was said.");
    stage.speak_all();
    stage.type_line("<<");
    assert_eq!(stage.last_said(), "One thing.", "where the output began");
}

#[test]
fn a_question_is_asked_while_speech_is_stopped_and_can_be_answered() {
    let mut stage = stage(VOICE);
    stage.chunk("One thing. ");
    stage.press('s');
    stage.hushed();
    stage.wait(1000);
    stage.ask("rpl_1");
    stage.wait(1000);
    assert_eq!(stage.last_said(), "Question 1.");
    let asked = stage.spoken.len();
    stage.press('\'');
    assert_eq!(stage.spoken.len(), asked, "the question is not cut");
    stage.speak_all();
    assert_eq!(stage.last_said(), "One thing.");
    stage.wait(1000);
    stage.press('y');
    assert_eq!(stage.decision(), Some("accept"));
}

#[test]
fn what_two_stops_skip_is_shown_at_once_and_said_when_the_person_goes_on() {
    let mut stage = stage(VOICE);
    for text in ["One thing. ", "Another thing. ", "A third thing. "] {
        stage.chunk(text);
    }
    stage.press('s');
    stage.press('s');
    stage.hushed();
    let answer = stage.app.answers().last().map(|told| told.text());
    assert_eq!(answer.as_deref(), Some("3 skipped."));
    assert_eq!(stage.last_said(), "One thing.", "it stays silent");
    stage.press('\'');
    assert_eq!(stage.last_said(), "3 skipped; the history has them.");
    stage.speak_all();
    stage.press('\'');
    assert_eq!(stage.last_said(), "Nothing was stopped.");
}

#[test]
fn a_long_answer_goes_on_when_the_voice_is_made_faster() {
    let mut stage = stage(VOICE);
    stage.chunk(
        "The first sentence of this answer is long enough to be a sentence that takes a while. ",
    );
    stage.chunk(
        "The second sentence of this answer is long enough, too, and it takes a while as well. ",
    );
    stage.speak_all();
    stage.spoken.clear();
    stage.press('w');
    stage.heard_out();
    stage.heard_out();
    let sentence = stage.last_said().to_owned();
    assert!(sentence.starts_with("The second"), "{:?}", stage.said());
    stage.press('+');
    stage.hushed();
    assert_eq!(stage.last_said(), "Rate: 10.");
    stage.heard_out();
    assert_eq!(stage.last_said(), sentence);
    assert_eq!(stage.sounds.last().unwrap().delivery.rate, Some(10));
}

#[test]
fn code_that_is_being_read_is_skipped_and_counted() {
    let mut stage = stage(VOICE);
    stage.chunk("Run this:\n\n```sh\none\ntwo\n\nfour\n```\n\nThat is all.\n");
    stage.speak_all();
    stage.press(';');
    assert_eq!(stage.last_said(), "No code is being read.");
    stage.press('w');
    stage.press('.');
    stage.press('.');
    stage.press('.');
    stage.speak_all();
    assert_eq!(stage.last_said(), "one", "{:?}", stage.said());
    stage.press(';');
    stage.speak_all();
    let said = stage.said();
    assert_eq!(
        said[said.len() - 2..],
        ["3 lines of code skipped.", "That is all."]
    );
    stage.press(';');
    assert_eq!(stage.last_said(), "No code is being read.");
}

#[test]
fn a_run_that_ends_by_itself_waits_for_text_that_the_person_stopped() {
    let options = Options {
        until: EndCondition::Ended,
        ..VOICE
    };
    let mut stage = stage(options);
    stage.chunk("One thing. ");
    stage.chunk("Another thing. ");
    stage.press('s');
    stage.hushed();
    stage.event("session.completed", json!({"summary_normal": "Done."}));
    stage.wait(1000);
    stage.speak_all();
    stage.wait(5000);
    assert_eq!(stage.quit, None);
    stage.press('\'');
    stage.speak_all();
    stage.wait(5000);
    assert_eq!(stage.quit, Some(Exit::Clean), "{:?}", stage.said());
}
