//! How many words a person hears from an agent's question to the end of its call, fifty times a day.

use super::*;

/// The most words for an ordinary command, from the question to the end of its call.
const ORDINARY: usize = 45;
/// The most words if something was found about the command.
const FOUND: usize = 60;
/// The most words for the three questions of one turn.
const THREE: usize = 210;

/// A prompted agent, and a voice that has finished speaking.
fn heard(manner: AnswerMethod) -> Stage {
    let options = match manner {
        AnswerMethod::Keys => VOICE,
        AnswerMethod::Lines | AnswerMethod::Program => Options {
            voice: SpeechMode::Speak,
            ..PIPE
        },
    };
    let mut stage = Stage::agent(options, Config::default());
    stage.voiced();
    stage.type_prompt("do it");
    stage.speak_all();
    stage.spoken.clear();
    stage
}

/// Has the agent ask for a command, and accepts it in two steps; returns when the call has ended.
fn accept(stage: &mut Stage, id: u64, command: &str) {
    let call = format!("c{id}");
    stage.update(
        0,
        json!({"sessionUpdate": "tool_call", "toolCallId": call, "title": command, "kind": "execute",
            "status": "pending", "rawInput": {"command": command}}),
    );
    stage.speak_all();
    let asks = json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission",
        "params": {"sessionId": "s", "toolCall": {"toolCallId": call}, "options": [
            {"optionId": "once", "name": "Allow once", "kind": "allow_once"},
            {"optionId": "always", "name": "Always allow", "kind": "allow_always"},
            {"optionId": "no", "name": "Reject", "kind": "reject_once"}]}});
    stage.link(0, LinkEvent::Frame(Frame::of(asks.to_string())));
    stage.speak_all();
    stage.wait(3000);
    for key in ['y', 'c'] {
        stage.press(key);
        stage.speak_all();
        stage.wait(800);
    }
    assert_eq!(stage.answers_to(id).len(), 1, "{:?}", stage.said());
    let request = stage.sent.last().map_or(0, |(request, _)| *request);
    let outcome = Ok(Receipt::Written);
    stage.link(0, LinkEvent::Replied { request, outcome });
    stage.speak_all();
    let ended =
        json!({"sessionUpdate": "tool_call_update", "toolCallId": call, "status": "completed"});
    stage.update(0, ended);
    stage.wait(2000);
    stage.speak_all();
}

/// Checks how many words were said.
fn takes_at_most(most: usize, stage: &Stage) {
    let said = stage.said();
    let count = said.iter().flat_map(|text| text.split_whitespace()).count();
    assert!(count <= most, "{count} words: {said:#?}");
}

/// Returns how often something was said.
fn times(stage: &Stage, words: &str) -> usize {
    stage.said().iter().filter(|said| **said == words).count()
}

#[test]
fn an_ordinary_command_takes_few_words() {
    let mut stage = heard(AnswerMethod::Keys);
    accept(&mut stage, 9, "touch notes.txt");
    takes_at_most(ORDINARY, &stage);
}

#[test]
fn a_command_sounds_in_its_result_as_in_its_question() {
    let mut stage = heard(AnswerMethod::Keys);
    accept(&mut stage, 9, "echo hello > note.txt");
    for words in [
        "Writes to note dot txt, over anything there.",
        "echo hello redirect to note dot txt",
        "Done: echo hello redirect to note dot txt",
    ] {
        assert_eq!(times(&stage, words), 1, "{:#?}", stage.said());
    }
    stage.update(
        0,
        json!({"sessionUpdate": "tool_call", "toolCallId": "c10", "title": "cat a | wc", "kind": "execute",
            "status": "failed", "rawInput": {"command": "cat a | wc"}}),
    );
    stage.wait(2000);
    stage.speak_all();
    assert!(times(&stage, "cat a pipe wc") > 0, "{:#?}", stage.said());
}

#[test]
fn a_finding_takes_few_words_more() {
    let mut stage = heard(AnswerMethod::Keys);
    accept(&mut stage, 9, "git push --force");
    takes_at_most(FOUND, &stage);
    let said = stage.said();
    let at = |words: &str| said.iter().position(|said| *said == words).unwrap();
    let (found, action) = (
        at("Changes a remote repository or service."),
        at("git push dash dash force"),
    );
    assert!(
        found < at("Risk unknown.") && at("Risk unknown.") < action,
        "{said:#?}"
    );
}

#[test]
fn the_three_questions_of_a_turn_take_few_words() {
    let mut stage = heard(AnswerMethod::Keys);
    accept(&mut stage, 9, "touch notes.txt");
    accept(&mut stage, 10, "cargo test --workspace");
    accept(&mut stage, 11, "git push --force");
    takes_at_most(THREE, &stage);
    assert_eq!(times(&stage, "Risk unknown."), 1);
    for action in ["touch notes dot txt", "cargo test dash dash workspace"] {
        assert_eq!(times(&stage, action), 1, "{:#?}", stage.said());
    }
    // Words that are not repeated aloud are still shown with each question.
    let shown = stage.lines.iter();
    let shown =
        shown.filter(|line| phrase!("question.risk.unknown").is_in(line) && line.contains("y "));
    assert_eq!(shown.count(), 3, "{:#?}", stage.lines);
}

#[test]
fn the_action_is_named_again_where_it_is_not_obvious_what_is_confirmed() {
    let asked = |stage: &mut Stage, token: &str| {
        stage.ask_with(token, json!({"irreversible": true}));
        stage.speak_all();
        stage.wait(3000);
    };
    let press = |stage: &mut Stage, key: char| {
        stage.press(key);
        stage.speak_all();
        stage.wait(800);
    };
    // With two open questions.
    let mut stage = Stage::with(VOICE, Config::default());
    stage.voiced();
    asked(&mut stage, "a");
    asked(&mut stage, "b");
    press(&mut stage, 'y');
    stage.assert_heard("confirm: Send a");
    // It is the only one, but something is said between the two steps, so it is named when the answer is read
    // back.
    let mut stage = Stage::with(VOICE, Config::default());
    stage.voiced();
    asked(&mut stage, "a");
    press(&mut stage, 'y');
    stage.assert_heard(phrase!("reply.second_step.keys.short"));
    asked(&mut stage, "b");
    press(&mut stage, 'c');
    assert_eq!(stage.decision(), Some("accept"));
    let named = "Accepting question 1: Send a";
    stage.assert_heard(named);
}
