//! What an agent offers: commands in a prompt, and settings that are changed in two steps.

use super::*;

fn commands(stage: &mut Stage, all: &[(&str, &str, &str)]) {
    let all: Vec<Value> = all
        .iter()
        .map(|(name, says, takes)| {
            let input = (!takes.is_empty()).then(|| json!({"hint": takes}));
            json!({"name": name, "description": says, "input": input})
        })
        .collect();
    stage.update(
        0,
        json!({"sessionUpdate": "available_commands_update", "availableCommands": all}),
    );
    stage.lines.clear();
}

const FEW: &[(&str, &str, &str)] = &[
    ("review", "Review the changes", ""),
    ("research", "Search the web", "what for"),
    ("init", "Make a file of rules", ""),
];

fn typed(stage: &mut Stage, text: &str) {
    for c in text.chars() {
        stage.press(c);
    }
    stage.lines.clear();
}

#[test]
fn a_command_is_completed_in_a_prompt_and_said_with_what_it_does() {
    let mut stage = Stage::agent(KEYS, Config::default());
    stage.press('>');
    stage.code(KeyCode::Tab);
    assert_eq!(
        stage.lines.last().unwrap(),
        "Tab completes a command of the agent. It begins with a slash."
    );
    typed(&mut stage, "/");
    stage.code(KeyCode::Tab);
    assert_eq!(stage.lines, ["The agent offers no commands."]);
    commands(&mut stage, FEW);
    typed(&mut stage, "r");
    stage.code(KeyCode::Tab);
    assert_eq!(stage.lines, ["2 commands. /review, /research"]);
    assert_eq!(stage.app.editor().0, "/re");
    typed(&mut stage, "s");
    stage.code(KeyCode::Tab);
    assert_eq!(
        stage.lines,
        ["/research: Search the web. It takes: what for."]
    );
    assert_eq!(stage.app.editor(), ("/research ", 10));
    typed(&mut stage, "x");
    stage.code(KeyCode::Tab);
    assert_eq!(
        stage.app.editor().0,
        "/research x",
        "what stands behind it is not completed"
    );
    assert!(stage.prompts(0).is_empty());
    stage.code(KeyCode::Enter);
    assert_eq!(stage.prompts(0)[0].1, "/research x");
    stage.assert_not_heard(phrase!("commands.unknown"));
    // In a search or an answer, Tab completes nothing.
    stage.press('/');
    typed(&mut stage, "/re");
    stage.code(KeyCode::Tab);
    assert_eq!(stage.app.editor().0, "/re");
}

#[test]
fn commands_are_read_in_lines_and_one_that_is_not_offered_is_sent_and_said() {
    let mut stage = Stage::agent(PIPE, Config::default());
    stage.type_line("commands");
    stage.assert_heard(phrase!("commands.none"));
    commands(&mut stage, FEW);
    stage.type_line("commands re");
    stage.assert_heard(phrase!(
        "commands.all",
        n = 2,
        all = "/review: Review the changes. /research: Search the web. It takes: what for"
    ));
    stage.type_line("commands zz");
    stage.assert_heard(phrase!("commands.no_such", text = "/zz"));
    let many: Vec<String> = (0..12).map(|n| format!("c{n}")).collect();
    let many: Vec<(&str, &str, &str)> = many
        .iter()
        .map(|name| (name.as_str(), "Does it", ""))
        .collect();
    commands(&mut stage, &many);
    stage.type_line("commands");
    assert!(
        stage.heard(phrase!("commands.names", n = 12)) && !stage.heard("Does it"),
        "{:?}",
        stage.lines
    );
    stage.type_line("> /he me");
    stage.assert_heard(phrase!("commands.unknown", name = "he"));
    assert_eq!(stage.prompts(0)[0].1, "/he me");
    stage.turn_ends();
    stage.lines.clear();
    stage.type_line("> /etc/hosts is odd");
    assert!(!stage.heard(phrase!("commands.unknown")), "a path is none");
}

#[test]
fn a_mode_is_changed_by_keys_in_two_steps_and_by_nothing_less() {
    let mut stage = Stage::agent(KEYS, Config::default());
    stage.code(KeyCode::F(9));
    stage.assert_heard(phrase!("settings.none"));
    stage.update(0, json!({"sessionUpdate": "config_option_update", "configOptions": [
        {"id": "mode", "name": "Mode", "category": "mode", "type": "select", "currentValue": "ask",
            "options": [{"value": "ask", "name": "Ask"}, {"value": "yolo", "name": "Yolo", "description": "Never asks."}]}]}));
    let sets = |stage: &Stage| {
        let set = |(_, body): &&(LinkId, Value)| body["method"] == "session/set_config_option";
        stage.frames.iter().filter(set).count()
    };
    stage.code(KeyCode::F(9));
    stage.wait(2000);
    stage.assert_heard(phrase!("acp.set.what", name = "Mode", value = "Ask"));
    stage.press('y');
    stage.wait(2000);
    stage.press('o');
    stage.press('2');
    stage.assert_heard(phrase!("acp.set.sure.mode", says = "Never asks"));
    assert_eq!(sets(&stage), 0);
    stage.press('y');
    assert_eq!(sets(&stage), 0, "so soon it was not meant for this");
    stage.wait(2000);
    stage.press('y');
    assert_eq!(sets(&stage), 1, "{:?}", stage.lines);
    stage.assert_not_heard("Mode of the agent: Yolo.");
}

#[test]
fn what_is_written_in_the_persons_own_editor_comes_back_into_the_line_and_is_not_sent() {
    let mut stage = Stage::agent(KEYS, Config::default());
    let open = KeyEvent::new(KeyCode::Char('g'), KeyModifiers::CONTROL);
    stage.press('>');
    for c in "do".chars() {
        stage.press(c);
    }
    stage.key(open);
    assert_eq!(stage.edits, ["do"]);
    stage.input(Input::Edited(Ok("do it\r\nwell\u{1b}\n".to_owned())));
    assert_eq!(stage.app.editor().0, "do it\nwell");
    assert_eq!(stage.sent, []);
    // Without an editor, nothing changes.
    stage.key(open);
    stage.input(Input::Edited(Err(crate::announce::Reason::new(
        "prompt.editor.none",
    ))));
    assert_eq!(stage.app.editor().0, "do it\nwell");
    let words = "Nothing came from your editor: no editor is named; the variable VISUAL or EDITOR names one. What you typed is still here.";
    stage.assert_heard(words);
    // Text that arrives when no prompt is being typed any more is kept among the earlier prompts.
    stage.key(KeyEvent::from(KeyCode::Esc));
    stage.input(Input::Edited(Ok("late".to_owned())));
    stage.press('>');
    stage.key(KeyEvent::from(KeyCode::Up));
    assert_eq!(stage.app.editor().0, "late");
    assert_eq!(stage.sent, []);
}
