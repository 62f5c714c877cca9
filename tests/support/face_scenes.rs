//! What a person may see in the full face: one stage each.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use hearken::app::{Input, NearbyCommands};
use hearken::config::Config;
use hearken::link::{Fault, LinkEvent};
use serde_json::{Value, json};

use super::stage::Stage;

/// A scene's name, and the function that sets it up.
pub type Scene = (&'static str, fn() -> Stage);

/// Every scene, with its name.
pub const SCENES: &[Scene] = &[
    ("idle", idle),
    ("nobody heard, and what runs here", nearby),
    ("three agents", three_agents),
    ("a question", question),
    ("its second step", second_step),
    ("an edit's question", edit),
    ("the rest of the edit", rest_of_edit),
    ("a command's question", command),
    ("a long answer", answer),
    ("plans beside the work", plans),
    ("search", search),
    ("help", help),
    ("looking back", looking_back),
    ("two questions", two_questions),
    ("choosing", choosing),
    ("a lost source", lost_source),
    ("quiet and muted", quiet),
];

/// Nobody is heard yet, and a search has found what runs here.
fn nearby() -> Stage {
    let mut stage = stage();
    let commands = ["hearken watch unix:planner", "hearken watch codex"];
    stage.input(Input::Found(NearbyCommands::Running(
        commands.map(str::to_owned).to_vec(),
    )));
    stage
}

pub fn stage() -> Stage {
    Stage::new(Config::default(), "2026-01-01T10:00:00Z".parse().unwrap())
}

/// Sends an event of an agent, which has the same name everywhere.
pub fn event(stage: &mut Stage, agent: &str, kind: &str, fields: Value) {
    let letters = agent.to_lowercase();
    let id: String = letters
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    let mut event = json!({
        "@context": "https://aaep-protocol.org/context/v1", "type": format!("aaep:agent.{kind}"),
        "aaep_version": "1.0.0", "event_id": format!("evt_{}", stage.told.len()),
        "session_id": format!("sess_{id}"), "timestamp": format!("{:.3}", stage.now.wall),
        "producer": {"agent_id": id, "agent_name": agent},
    });
    for (key, value) in fields.as_object().unwrap() {
        event[key] = value.clone();
    }
    stage.frame(&event.to_string());
    stage.wait(Duration::from_millis(100));
}

/// Sends an agent's change of state.
fn state(stage: &mut Stage, agent: &str, from: &str, to: &str) {
    let fields = json!({"from_state": from, "to_state": to});
    event(stage, agent, "state.changed", fields);
}

/// Sends a text of the agent's own.
pub fn say(stage: &mut Stage, agent: &str, text: &str) {
    let output = format!("out_{}", stage.told.len());
    event(
        stage,
        agent,
        "output.streaming",
        json!({"output_id": output, "position": 0, "chunk": text, "complete": true, "coalesce_hint": "sentence"}),
    );
}

pub fn press(stage: &mut Stage, code: KeyCode) {
    stage.key(KeyEvent::new(code, KeyModifiers::NONE));
    stage.wait(Duration::from_millis(500));
}

fn typed(stage: &mut Stage, text: &str) {
    for c in text.chars() {
        press(stage, KeyCode::Char(c));
    }
}

fn idle() -> Stage {
    stage()
}

pub fn three_agents() -> Stage {
    let mut stage = stage();
    let stage = &mut stage;
    for (agent, summary) in [
        ("Test Runner", "Test Runner is running the tests."),
        ("Release Writer", "Release Writer is writing the notes."),
        (
            "Deploy Assistant",
            "Deploy Assistant is preparing version 2.4.",
        ),
    ] {
        event(
            stage,
            agent,
            "session.started",
            json!({"summary_normal": summary}),
        );
        state(stage, agent, "idle", "thinking");
    }
    state(stage, "Test Runner", "thinking", "calling_tool");
    state(stage, "Release Writer", "thinking", "writing_output");
    event(
        stage,
        "Test Runner",
        "tool.invoked",
        json!({"tool": "run_tests", "tool_call_id": "call_1", "expected_duration_ms": 90_000, "summary_normal": "Running all 240 tests."}),
    );
    say(
        stage,
        "Release Writer",
        "Version 2.4 starts twice as fast. Search finds words with typing errors. Two problems with printing are solved. ",
    );
    event(
        stage,
        "Test Runner",
        "progress.updated",
        json!({"progress": {"percent": 50}, "summary_normal": "120 of 240 tests passed."}),
    );
    stage.wait(Duration::from_secs(95));
    say(stage, "Release Writer", "Thank you for your reports. ");
    stage.wait_for_silence();
    std::mem::replace(stage, self::stage())
}

fn asks(stage: &mut Stage) {
    state(stage, "Deploy Assistant", "thinking", "awaiting_input");
    event(
        stage,
        "Deploy Assistant",
        "awaiting.confirmation",
        json!({
            "action": "Deploy version 2.4 to the shop that customers use.", "urgency": "critical",
            "consequence": "The shop is away for about a minute. Orders of that minute are lost.",
            "reply_token": "rpl_1", "timeout_seconds": 300, "default_decision": "reject",
            "risk_level": "high", "irreversible": true,
            "summary_detailed": "The tests have passed and the notes are written.",
        }),
    );
    stage.wait_for_silence();
}

pub fn question() -> Stage {
    let mut stage = three_agents();
    asks(&mut stage);
    stage
}

fn second_step() -> Stage {
    let mut stage = question();
    press(&mut stage, KeyCode::Char('y'));
    stage
}

pub fn edit() -> Stage {
    let mut stage = stage();
    let kept = |text: &str| format!(" {text}");
    let first: Vec<String> = vec![
        kept("def total(prices, discount=0):"),
        kept("    \"\"\"Return what is to be paid.\"\"\""),
        "-    return sum(prices) - discount".to_owned(),
        "+    return max(0, sum(prices) - discount)".to_owned(),
        kept(""),
        "+def rounded(price):".to_owned(),
        "+    return round(price, 2)".to_owned(),
        "+".to_owned(),
    ];
    let second = [
        kept("class Basket:"),
        "-    limit = 80".to_owned(),
        "+    limit = 8080".to_owned(),
    ];
    let change = json!({
        "path": "src/shop/prices.py", "added": 5, "removed": 2, "places": 2,
        "hunks": [{"line": 12, "lines": first, "left_out": 0}, {"line": 41, "lines": second, "left_out": 0}],
    });
    event(
        &mut stage,
        "opencode",
        "session.started",
        json!({"summary_normal": "opencode is mending the prices."}),
    );
    event(
        &mut stage,
        "opencode",
        "awaiting.confirmation",
        json!({
            "action": "Edit src/shop/prices.py, 5 lines added, 2 removed, in 2 places.", "reply_token": "rpl_1",
            "consequence": "The file is changed.", "timeout_seconds": 300,
            "default_decision": "reject", "urgency": "critical",
            "extensions": {"hearken": {"changes": [change], "deed": {"paths": ["src/shop/prices.py"], "edits": true}}},
        }),
    );
    stage.wait_for_silence();
    stage
}

fn rest_of_edit() -> Stage {
    let mut stage = edit();
    press(&mut stage, KeyCode::Char('.'));
    press(&mut stage, KeyCode::Char('.'));
    stage
}

fn command() -> Stage {
    let mut stage = stage();
    event(
        &mut stage,
        "opencode",
        "session.started",
        json!({"summary_normal": "opencode is mending the prices."}),
    );
    let line = "git add -A && git commit -m 'Mend the prices' && git push --force origin main";
    event(
        &mut stage,
        "opencode",
        "awaiting.confirmation",
        json!({
            "action": line, "reply_token": "rpl_1", "consequence": "The command runs.", "timeout_seconds": 300,
            "default_decision": "reject", "urgency": "critical",
            "extensions": {"hearken": {"deed": {"commands": [line]}}},
        }),
    );
    stage.wait_for_silence();
    stage
}

const ANSWER: &str = "The sum was wrong: `discount` was taken off **twice**.

# What changed

| File | Lines | Why |
|---|---:|---|
| src/shop/prices.py | 12 | a discount never makes a price negative |
| tests/test_prices.py | 140 | fails without the change, and passes with it |

- Prices are *rounded* once, at the end.
  - See [the rules](https://shop.example/rules).
- [x] Tests pass
- [ ] The old basket is still there

> A price is never below zero.

```python
def total(prices, discount=0):
    # What is to be paid.
    return max(0, sum(prices) - discount)
```

Run `make check` before you merge.
";

pub fn answer() -> Stage {
    let mut stage = stage();
    event(
        &mut stage,
        "opencode",
        "session.started",
        json!({"summary_normal": "opencode is mending the prices."}),
    );
    say(&mut stage, "opencode", ANSWER);
    stage.wait_for_silence();
    stage
}

pub fn plans() -> Stage {
    let mut stage = three_agents();
    let steps = [
        ("Build version 2.4", "done"),
        ("Run its tests on the small shop", "done"),
        ("Write what the support has to know", "now"),
        ("Ask before it goes to the shop that customers use", "open"),
        ("Deploy it", "open"),
    ];
    let steps = steps.map(|(step, stage)| json!({"step": step, "stage": stage}));
    event(
        &mut stage,
        "Deploy Assistant",
        "progress.updated",
        json!({"summary_normal": "Two of five steps are done.", "progress": {"percent": 40},
            "extensions": {"hearken": {"plan": steps}}}),
    );
    stage.wait_for_silence();
    stage
}

fn search() -> Stage {
    let mut stage = three_agents();
    press(&mut stage, KeyCode::Char('/'));
    typed(&mut stage, "tests");
    press(&mut stage, KeyCode::Enter);
    stage
}

fn help() -> Stage {
    let mut stage = three_agents();
    press(&mut stage, KeyCode::Char('?'));
    stage
}

fn looking_back() -> Stage {
    let mut stage = three_agents();
    for _ in 0..4 {
        press(&mut stage, KeyCode::Up);
    }
    stage
}

fn two_questions() -> Stage {
    let mut stage = question();
    state(
        &mut stage,
        "Release Writer",
        "writing_output",
        "awaiting_input",
    );
    event(
        &mut stage,
        "Release Writer",
        "awaiting.clarification",
        json!({
            "question": "Who should get the notes?", "reply_token": "rpl_2", "timeout_seconds": 240, "urgency": "critical",
            "accepted_response_kinds": ["multiple_choice"],
            "choices": [{"value": "all", "label": "All customers"}, {"value": "team", "label": "Only the team"}],
        }),
    );
    stage.wait_for_silence();
    stage
}

fn choosing() -> Stage {
    let mut stage = two_questions();
    press(&mut stage, KeyCode::Tab);
    stage.wait_for_silence();
    press(&mut stage, KeyCode::Char('o'));
    press(&mut stage, KeyCode::Down);
    stage
}

fn lost_source() -> Stage {
    let mut stage = question();
    stage.link(LinkEvent::Lost {
        fault: Fault::Closed,
        retry_in: Duration::from_secs(2),
    });
    stage.wait_for_silence();
    stage
}

fn quiet() -> Stage {
    let mut stage = three_agents();
    for key in ['m', 'k', 'i'] {
        press(&mut stage, KeyCode::Char(key));
    }
    stage
}
