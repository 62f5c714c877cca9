//! Who decides, on real agents: what is said at the start, the mode that asks most, and a change of mode.

use hearken_wording::phrase;
use serde_json::Value;

use super::agent_home::{
    AgentHome, AgentProgram, BEFORE, CLAUDE, CLAUDE_BEFORE, CODEX, CODEX_BEFORE, COPILOT,
    COPILOT_BEFORE, GEMINI, GEMINI_BEFORE, OPENCODE, OPENCODE_BEFORE, PI, PI_BEFORE, QWEN,
    QWEN_AS_IT_IS, QWEN_BEFORE, VIBE, VIBE_BEFORE, asked, count, wants,
};
use super::child::Hearken;
use super::npm_agents::ALWAYS;
use super::tried_agents::{ShownAbility, rows, shows};

/// The hint after what is said about a mode that asks little.
const HINT: &str = " Type set mode to be asked.";

/// Checks what is said about an agent's mode when it starts.
fn starts(agent: &AgentProgram) -> (AgentHome, Hearken) {
    let scene = AgentHome::new(agent);
    let mut hearken = scene.start(agent, &[]);
    let said = hearken.announced("connection", agent.starts);
    let said = said["text"].as_str().unwrap();
    assert_eq!(said, agent.starts);
    let words = said.strip_suffix(HINT).unwrap_or(said);
    shows(
        agent.title,
        &agent.version(),
        &[(ShownAbility::Start, words)],
    );
    hearken.announced("connection", phrase!("acp.ready"));
    (scene, hearken)
}

fn leaves(mut hearken: Hearken) {
    hearken.leave();
    assert_eq!(hearken.exit().0, 0);
}

/// Checks that the mode that asks most is taken before the first prompt, so that its command is asked about.
fn always_asks(agent: &AgentProgram, chosen: &str) {
    let scene = AgentHome::new(agent);
    let settings = scene.configured(ALWAYS);
    let prompt = format!("{}touch a.txt", agent.urge);
    let mut hearken = scene.start(agent, &[&settings[0], &settings[1], "--prompt", &prompt]);
    hearken.announced("connection", chosen);
    assert_eq!(count(&hearken, "session_started"), 0);
    let n = asked(&mut hearken, &wants("touch a.txt"));
    hearken.say(&format!("n {n}"));
    hearken.announced("reply", "Rejecting");
    hearken.wait("the end of the turn", |line| {
        line.contains(r#""kind":"session_completed""#)
            || line.contains(r#""kind":"session_cancelled""#)
    });
    assert!(!scene.has("a.txt"));
    leaves(hearken);
}

/// Changes the mode by `set mode`, in its two steps: choosing one of the modes, and hearing what it means.
fn changes(hearken: &mut Hearken, now: &str, choice: &str, means: &str) {
    hearken.say("set mode");
    let n = numbered(&hearken.announced("clarification", now));
    hearken.say(&format!("o {n} {choice}"));
    let m = numbered(&hearken.announced("clarification", means));
    let (_, mode) = means.split_once("Mode ").unwrap();
    hearken.say(&format!("y {m}"));
    let name = mode.split(':').next().unwrap();
    let said = hearken.announced("connection", "Mode");
    assert_eq!(said["text"], format!("Mode: {name}."));
}

fn numbered(question: &Value) -> u64 {
    question["question"].as_u64().unwrap()
}

#[test]
fn the_modes_of_codex() {
    let (_scene, mut hearken) = starts(&CODEX);
    changes(
        &mut hearken,
        "Mode is Auto review. Change it to what?",
        "1",
        "You will then be asked more. Mode Read-only: Codex asks before it changes anything.",
    );
    leaves(hearken);
    let chosen = "Your settings chose mode Read-only: Codex asks before it changes anything.";
    always_asks(&CODEX, chosen);
}

#[test]
fn the_modes_of_claude_code() {
    let (_scene, mut hearken) = starts(&CLAUDE);
    changes(
        &mut hearken,
        "Mode is Auto. Change it to what?",
        "1",
        "You will then be asked more. Mode Manual: Claude Agent asks before it changes anything.",
    );
    leaves(hearken);
    let chosen = "Your settings chose mode Manual: Claude Agent asks before it changes anything.";
    always_asks(&CLAUDE, chosen);
}

#[test]
fn the_modes_of_qwen_code() {
    let (_scene, mut hearken) = starts(&QWEN_AS_IT_IS);
    changes(
        &mut hearken,
        "Mode is Auto. Change it to what?",
        "2",
        "You will then be asked more. Mode Default: Qwen Code asks before it changes anything.",
    );
    leaves(hearken);
    let chosen = "Your settings chose mode Default: Qwen Code asks before it changes anything.";
    always_asks(&QWEN_AS_IT_IS, chosen);
}

#[test]
fn the_modes_of_opencode() {
    let (_scene, mut hearken) = starts(&OPENCODE);
    changes(
        &mut hearken,
        "Session Mode is build. Change it to what?",
        "2",
        "You will then be asked more. Mode plan: OpenCode changes nothing.",
    );
    leaves(hearken);
}

#[test]
fn the_modes_of_copilot() {
    let (_scene, mut hearken) = starts(&COPILOT);
    changes(
        &mut hearken,
        "Mode is Agent. Change it to what?",
        "2",
        "Mode Plan: what it asks is not known.",
    );
    leaves(hearken);
}

#[test]
fn the_modes_of_gemini() {
    let (_scene, mut hearken) = starts(&GEMINI);
    changes(
        &mut hearken,
        "Mode is Default. Change it to what?",
        "4",
        "Mode Plan: Gemini CLI changes nothing.",
    );
    leaves(hearken);
}

#[test]
fn the_modes_of_vibe() {
    let (_scene, mut hearken) = starts(&VIBE);
    changes(
        &mut hearken,
        "Session Mode is Accept Edits. Change it to what?",
        "1",
        "You will then be asked more. Mode Ask: Mistral Vibe asks before it changes anything.",
    );
    leaves(hearken);
    let chosen = "Your settings chose mode Ask: Mistral Vibe asks before it changes anything. It is set back when you leave.";
    always_asks(&VIBE, chosen);
    set_back(&VIBE, chosen);
}

/// Checks that the mode that the settings chose is gone when the conversation is continued without them.
fn set_back(agent: &AgentProgram, chosen: &str) {
    let scene = AgentHome::new(agent);
    let settings = scene.configured(ALWAYS);
    let mut hearken = scene.start(
        agent,
        &[&settings[0], &settings[1], "--prompt", "say hello"],
    );
    hearken.announced("connection", chosen);
    hearken.announced("session_completed", "Finished");
    leaves(hearken);
    let mut hearken = scene.start(agent, &["--continue"]);
    hearken.announced("connection", phrase!("acp.earlier.open"));
    hearken.announced("connection", agent.starts);
    leaves(hearken);
}

#[test]
fn pi_has_no_mode_that_asks() {
    let (_scene, hearken) = starts(&PI);
    leaves(hearken);
}

#[test]
fn the_modes_in_which_the_versions_before_begin() {
    let before = [
        OPENCODE_BEFORE,
        AgentProgram {
            folder: BEFORE,
            ..QWEN_AS_IT_IS
        },
        CODEX_BEFORE,
        CLAUDE_BEFORE,
        COPILOT_BEFORE,
        GEMINI_BEFORE,
        VIBE_BEFORE,
        PI_BEFORE,
    ];
    for agent in &before {
        let (_scene, hearken) = starts(agent);
        leaves(hearken);
    }
}

#[test]
fn each_row_of_the_table_is_of_an_agent_that_is_tried() {
    let agents = [
        OPENCODE,
        OPENCODE_BEFORE,
        QWEN,
        QWEN_BEFORE,
        CODEX,
        CODEX_BEFORE,
        CLAUDE,
        CLAUDE_BEFORE,
        COPILOT,
        COPILOT_BEFORE,
        GEMINI,
        GEMINI_BEFORE,
        VIBE,
        VIBE_BEFORE,
        PI,
        PI_BEFORE,
    ];
    let agents = agents.iter().map(|it| (it.title, it.version()));
    let mut tried: Vec<(String, String)> = agents
        .chain(super::real_hooks::tried())
        .map(|(title, version)| (title.to_owned(), version))
        .collect();
    let mut told: Vec<(String, String)> = rows()
        .into_iter()
        .map(|row| (row[0].clone(), row[1].clone()))
        .collect();
    tried.sort();
    told.sort();
    assert_eq!(told, tried);
}
