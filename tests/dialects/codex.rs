//! Codex's app-server through every face: frames of the real one (0.169.0, shortened), a command that the person allows
//! and one that another client rejects.

use hearken::config::{Config, Dialect, Verbosity};

use super::start;
use crate::support::stage::Stage;

const FRAMES: &str = include_str!("../fixtures/codex/two_turns.jsonl");

/// Plays the turns; the first question is heard to its end and allowed.
fn turns(verbosity: Verbosity) -> (Stage, Vec<String>) {
    let mut config = Config::default();
    config.announce.verbosity = verbosity;
    let mut stage = Stage::speaking(config, start(), Dialect::Codex, None);
    let mut screens = Vec::new();
    for frame in FRAMES.lines() {
        let asks = frame.contains("requestApproval");
        stage.frame(frame);
        if asks && screens.is_empty() {
            stage.wait_for_silence();
            screens.push(stage.screen(100, 30));
            screens.push(stage.screen(40, 10));
            stage.press('y');
            stage.wait(std::time::Duration::from_secs(8));
            assert!(!answered(&stage), "it takes two steps");
            stage.press('c');
            assert!(answered(&stage));
        }
        stage.wait(std::time::Duration::from_millis(300));
    }
    stage.wait_for_silence();
    (stage, screens)
}

fn answered(stage: &Stage) -> bool {
    let answer = r#"{"jsonrpc":"2.0","id":0,"result":{"decision":"accept"}}"#;
    stage.sent.iter().any(|(_, frame)| frame == answer)
}

fn check(name: &str, verbosity: Verbosity) {
    let (stage, screens) = turns(verbosity);
    let answers = stage
        .sent
        .iter()
        .filter(|(_, frame)| !frame.contains("method"));
    assert_eq!(
        answers.count(),
        1,
        "the second one is answered by another client"
    );
    insta::assert_snapshot!(format!("codex_{name}_script"), stage.script.join("\n"));
    insta::assert_snapshot!(format!("codex_{name}_lines"), stage.lines.concat());
    insta::assert_snapshot!(format!("codex_{name}_question_100x30"), screens[0]);
    insta::assert_snapshot!(format!("codex_{name}_question_40x10"), screens[1]);
}

#[test]
fn codex_tersely() {
    check("terse", Verbosity::Terse);
}

#[test]
fn codex_normally() {
    check("normal", Verbosity::Normal);
}

#[test]
fn codex_in_detail() {
    check("detailed", Verbosity::Detailed);
}
