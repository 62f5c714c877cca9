//! What the person told an agent stays in the history, and what a call changed can be read after it.

use super::*;
use crate::announce::{AnnouncementKind, Presentation};

fn prompts(stage: &Stage) -> Vec<String> {
    let told = stage.app.history().iter();
    let prompts = told.filter(|told| told.kind == AnnouncementKind::Prompt);
    prompts
        .map(|told| format!("{}: {}", stage.app.label(told), told.shown()))
        .collect()
}

#[test]
fn a_prompt_is_kept_where_it_was_sent_and_not_said_again() {
    let mut stage = Stage::agent(VOICE, Config::default());
    stage.spoken.clear();
    stage.type_prompt("Run the **tests**");
    stage.says("They pass.");
    stage.turn_ends();
    assert_eq!(prompts(&stage), ["You: Run the **tests**"]);
    assert!(
        !stage
            .spoken
            .iter()
            .any(|(_, text)| text.contains("Run the")),
        "{:?}",
        stage.spoken
    );
    let kinds = stage.app.history().iter();
    let kinds: Vec<AnnouncementKind> = kinds.map(|told| told.kind).collect();
    let at = |kind: AnnouncementKind| kinds.iter().rposition(|it| *it == kind).unwrap();
    assert!(
        at(AnnouncementKind::Prompt) < at(AnnouncementKind::Output),
        "{kinds:?}"
    );
}

#[test]
fn an_agent_that_echoes_the_prompt_does_not_give_it_twice() {
    let mut stage = Stage::prompted(PIPE);
    let content = json!({"type": "text", "text": "do it"});
    stage.update(
        0,
        json!({"sessionUpdate": "user_message_chunk", "content": content}),
    );
    stage.says("Done.");
    assert_eq!(prompts(&stage), ["You: do it"]);
    let said = stage.app.history().iter();
    let said = said.filter(|told| told.text().contains("do it")).count();
    assert_eq!(said, 1);
}

#[test]
fn looking_back_says_whose_words_a_prompt_is() {
    let mut stage = Stage::prompted(PIPE);
    stage.says("All done.");
    stage.turn_ends();
    stage.lines.clear();
    stage.type_line("h");
    stage.assert_heard("do it");
    let mut told = stage.app.history().iter();
    let prompt = told
        .find(|told| told.kind == AnnouncementKind::Prompt)
        .unwrap();
    assert_eq!(prompt.aloud, Presentation::Seen);
    let again = stage.app.announcer().repeat(prompt);
    assert_eq!(again.spoken(), "You: do it");
}

#[test]
fn a_prompt_names_its_agent_among_several() {
    let mut stage = Stage::agents(2, PIPE, Config::default());
    stage.type_prompt("#2 look around");
    let kept = prompts(&stage);
    assert!(kept[0].starts_with("You to "), "{kept:?}");
    assert!(kept[0].ends_with(": look around"), "{kept:?}");
}

#[test]
fn the_prompt_of_the_command_line_is_kept_too() {
    let source = SourceSetup {
        name: "agent".into(),
        prompt: Some("tidy up".into()),
        ..SourceSetup::default()
    };
    let stage = Stage::under(Config::default(), PIPE, vec![source]);
    assert_eq!(prompts(&stage), ["You: tidy up"]);
}

#[test]
fn what_a_call_changed_is_read_like_its_output() {
    let mut stage = Stage::new(PIPE);
    stage.event("session.started", json!({"summary_normal": "Working"}));
    stage.event(
        "tool.completed",
        json!({"tool": "edit", "tool_call_id": "c1", "status": "success", "summary_normal": "Edited a.py",
            "extensions": {"hearken": {
                "changes": [{"path": "a.py", "added": 1, "removed": 1, "places": 1,
                    "hunks": [{"line": 7, "lines": ["-old line", "+new line"], "left_out": 0}]}],
                "output": {"of": "edit", "lines": ["It was written."], "count": 1, "gap": 0}}}}),
    );
    stage.lines.clear();
    stage.type_line("output");
    for _ in 0..2 {
        stage.type_line(".");
    }
    for words in ["Changed: old. To: new.", "It was written."] {
        assert!(stage.heard(words), "{words}: {:?}", stage.lines);
    }
}
