//! Real agents from npm, below the real hearken, with a scripted model on loopback (`model.py`): prompted, heard,
//! answered and stopped.

use std::time::Duration;

use hearken_wording::phrase;

use super::agent_home::{
    AgentHome, AgentProgram, CLAUDE, CLAUDE_BEFORE, CODEX, CODEX_BEFORE, COPILOT, COPILOT_BEFORE,
    GEMINI, GEMINI_BEFORE, OPENCODE, OPENCODE_BEFORE, OPENCODE_BY_MESSAGES, PI, PI_BEFORE, QWEN,
    QWEN_BEFORE, VIBE, VIBE_BEFORE, asked, children, count, kill, number, wants, write,
};
use super::child::Hearken;
use super::kinds;
use super::peer_screen::pty_terminal::Terminal;
use super::tried_agents::{ALL_SHOWN, ShownAbility, shows_all};

/// The time without a key after which a question can be answered.
const ARMED: Duration = Duration::from_millis(1200);
/// How long a key that means nothing, such as the space bar, may begin a word.
const WORD_OVER: Duration = Duration::from_millis(5200);

/// Makes an agent do everything that is expected of one, in one conversation.
fn story(agent: &AgentProgram) {
    let scene = AgentHome::new(agent);
    let mut hearken = scene.start(agent, &["--prompt", "say hello"]);
    hearken.announced("session_started", "started");
    hearken.announced("output", "Hello from the mock model.");
    hearken.announced("output", "It has two sentences.");
    hearken.announced("session_completed", "Finished");

    // Allowed once: before that nothing happens.
    hearken.say("> touch a.txt");
    let n = asked(&mut hearken, &wants("touch a.txt"));
    assert!(!scene.has("a.txt"));
    hearken.say(&format!("y {n}"));
    hearken.announced("reply", phrase!("reply.second_step.*"));
    assert!(!scene.has("a.txt"));
    hearken.say(&format!("c {n}"));
    hearken.announced("tool_completed", "touch a.txt");
    hearken.announced("output", "The file stands there.");
    hearken.announced("session_completed", "Finished");
    assert!(scene.has("a.txt"));

    hearken.say("> touch b.txt");
    let n = asked(&mut hearken, &wants("touch b.txt"));
    hearken.say(&format!("n {n}"));
    hearken.announced("reply", "Rejecting");
    // The agents react differently to this: one ends its turn, one makes the model continue, one cancels.
    hearken.wait("the end of the turn", |line| {
        line.contains(r#""kind":"session_completed""#)
            || line.contains(r#""kind":"session_cancelled""#)
    });
    assert!(!scene.has("b.txt"));

    // Allowed from now on: the same again is not asked.
    hearken.say("> touch c.txt");
    let n = asked(&mut hearken, &wants("touch c.txt"));
    hearken.say(&format!("o {n} 1"));
    let step = hearken.announced("reply", phrase!("reply.second_step.other.lines", n = n));
    let text = step["text"].as_str().unwrap();
    let lasts = ["allow from now on", "always allow"];
    assert!(lasts.iter().any(|words| text.contains(words)), "{text}");
    hearken.say(&format!("c {n}"));
    hearken.announced("session_completed", "Finished");
    assert!(scene.has("c.txt"));
    let questions = count(&hearken, "confirmation");
    hearken.say("> touch c.txt");
    hearken.announced("tool_completed", "touch c.txt");
    hearken.announced("session_completed", "Finished");
    assert_eq!(count(&hearken, "confirmation"), questions);

    // Stopped while it asks: that cancels the question, by the person's own stop.
    let file = scene.work().join("e.txt");
    hearken.say(&format!("> {} {}", agent.other, file.display()));
    let n = asked(&mut hearken, "e.txt");
    hearken.say("stop");
    hearken.announced("reply", phrase!("stop_turn.first.*"));
    hearken.say("stop");
    hearken.announced(
        "confirmation",
        &format!("Question {n} is cancelled by your stop."),
    );
    hearken.announced(
        "session_cancelled",
        phrase!("session.cancelled.*", by = "user"),
    );
    assert!(!scene.has("e.txt"));

    // Stopped while it writes: what was typed meanwhile is then sent.
    hearken.say("> wait now");
    hearken.announced("output", "Sentence 2 stands here.");
    hearken.say("> say hello");
    hearken.announced("reply", "It waits");
    hearken.say("stop");
    hearken.announced("reply", phrase!("stop_turn.first.*"));
    hearken.say("stop");
    hearken.announced(
        "session_cancelled",
        phrase!("session.cancelled.*", by = "user"),
    );
    hearken.announced("output", "It has two sentences.");
    hearken.announced("session_completed", "Finished");
    hearken.leave();
    let seen = kinds(&hearken);
    for never in ["danger", "anomaly", "session_errored"] {
        assert!(!seen.iter().any(|kind| kind == never), "{never}: {seen:?}");
    }
    let (code, _, seen) = hearken.exit();
    assert_eq!(code, 0, "{}", seen.join("\n"));
    assert!(!seen.iter().any(|line| line.contains("without you")));

    // Another day: it continues where it was, and reads nothing of it aloud again.
    let mut hearken = scene.start(agent, &["--continue", "--prompt", "say hello"]);
    hearken.announced("connection", phrase!("acp.earlier.open"));
    hearken.announced("session_started", "started");
    assert_eq!(
        (count(&hearken, "output"), count(&hearken, "tool_invoked")),
        (0, 0)
    );
    hearken.announced("output", "It has two sentences.");
    hearken.announced("session_completed", "Finished");
    hearken.leave();
    assert_eq!(hearken.exit().0, 0);
}

/// The settings that choose the mode that asks most.
pub(super) const ALWAYS: &str = "[run]\nask = \"always\"\n";

/// Makes an agent do once what is expected of every agent: it is prompted and heard, allowed and rejected with a
/// reason, its command fails, and it is stopped while it runs one and while it writes.
fn in_short(agent: &AgentProgram) {
    let scene = AgentHome::new(agent);
    let settings = agent.always.then(|| scene.configured(ALWAYS));
    let mut more: Vec<&str> = settings.iter().flatten().map(String::as_str).collect();
    more.extend(["--prompt", "say hello"]);
    let mut hearken = scene.start(agent, &more);
    hearken.announced("session_started", "started");
    hearken.announced("output", "Hello from the mock model.");
    hearken.announced("output", "It has two sentences.");
    hearken.announced("session_completed", "Finished");

    let urge = agent.urge;
    hearken.say(&format!("> {urge}touch a.txt"));
    let n = asked(&mut hearken, &wants("touch a.txt"));
    assert!(!scene.has("a.txt"));
    hearken.say(&format!("y {n}"));
    hearken.announced("reply", phrase!("reply.second_step.*"));
    hearken.say(&format!("c {n}"));
    hearken.announced("tool_completed", "touch a.txt");
    hearken.announced("session_completed", "Finished");
    assert!(scene.has("a.txt"));

    hearken.say(&format!("> {urge}touch b.txt"));
    let n = asked(&mut hearken, &wants("touch b.txt"));
    hearken.say(&format!("n {n} rather not there"));
    hearken.announced(
        "reply",
        phrase!("reply.rejecting.*", reason = "rather not there"),
    );
    hearken.announced("connection", phrase!("acp.reason_follows"));
    hearken.announced("output", "It has two sentences.");
    hearken.announced("session_completed", "Finished");
    assert!(scene.asked().contains("rather not there"));
    assert!(!scene.has("b.txt"));

    hearken.say(&format!("> {urge}fail"));
    accept(&mut hearken, "exit 3");
    fails(&mut hearken, agent);

    hearken.say(&format!("> {urge}sleep"));
    accept(&mut hearken, "sleep 20");
    hearken.announced("tool_invoked", "env sleep 20");
    hearken.say("t");
    hearken.announced("reply", ": env sleep 20.");
    stop(&mut hearken);
    let stopped = hearken.announced("tool_completed", "");
    assert_eq!(stopped["text"], "Stopped: env sleep 20");
    hearken.announced(
        "session_cancelled",
        phrase!("session.cancelled.*", by = "user"),
    );

    hearken.say("> wait now");
    hearken.announced("output", "Sentence 2 stands here.");
    stop(&mut hearken);
    hearken.announced(
        "session_cancelled",
        phrase!("session.cancelled.*", by = "user"),
    );
    hearken.leave();
    assert_eq!(hearken.exit().0, 0);
    shows_all(agent.title, &agent.version(), &ALL_SHOWN);
}

/// Accepts a question. An agent may add to what it asks just after it asked, and so ask again.
fn accept(hearken: &mut Hearken, words: &str) {
    let mut n = asked(hearken, words);
    loop {
        hearken.say(&format!("y {n}"));
        let reply = hearken.announced("reply", "");
        if reply["text"].as_str().unwrap().contains("to confirm") {
            return hearken.say(&format!("c {n}"));
        }
        let asked_again = |line: &&String| phrase!("question.changed").is_in(line);
        let again = hearken.seen().iter().rfind(asked_again).unwrap();
        let again = number(&serde_json::from_str(again).unwrap());
        assert_ne!(again, n, "{reply}");
        n = again;
    }
}

/// Hears that a command failed, or that its agent does not say so.
fn fails(hearken: &mut Hearken, agent: &AgentProgram) {
    let (call, turn) = agent.failed;
    let failed = hearken.announced("tool_completed", "exit 3");
    let failed = failed["text"].as_str().unwrap();
    assert!(failed.starts_with(call), "{failed}");
    hearken.announced("session_completed", turn);
}

fn stop(hearken: &mut Hearken) {
    hearken.say("stop");
    hearken.announced("reply", phrase!("stop_turn.first.*"));
    hearken.say("stop");
}

/// Kills an agent in the middle of a turn.
fn killed(agent: &AgentProgram) {
    let scene = AgentHome::new(agent);
    let mut hearken = scene.start(agent, &["--prompt", "wait now"]);
    hearken.announced("output", "Sentence 1 stands here.");
    hearken.say("> say hello");
    hearken.announced("reply", "It waits");
    for child in children(hearken.id()) {
        kill(child);
    }
    hearken.announced("session_errored", phrase!("acp.end.gone"));
    hearken.announced("connection", phrase!("prompt.unsent", n = 1));
    let (code, _, seen) = hearken.exit();
    assert_eq!(code, 1, "{}", seen.join("\n"));
}

/// Runs an agent on a screen by keys alone, from the first prompt to the last.
fn on_a_screen(columns: u16, rows: u16) {
    let scene = AgentHome::new(&OPENCODE);
    let arguments = scene.arguments(&OPENCODE, "full");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut environment: Vec<(&str, &str)> = vec![("TERM", "xterm-256color")];
    environment.extend(
        scene
            .environment
            .iter()
            .map(|(name, value)| (*name, value.as_str())),
    );
    let mut terminal = Terminal::start_with(columns, rows, &arguments, &environment);
    terminal.wait("The agent is ready.");
    terminal.press(">");
    terminal.wait("Prompt:");
    terminal.press("touch a.txt\r");
    terminal.wait("Question 1");
    terminal.wait("touch a.txt");
    // Enter and the space bar answer nothing.
    terminal.press("\r \r");
    terminal.let_pass(WORD_OVER);
    assert!(!scene.has("a.txt"));
    if terminal.screen().contains("page 1 of 2") {
        terminal.press("y");
        terminal.wait("Not yet.");
        terminal.press("d");
        terminal.wait("page 2 of 2");
        terminal.let_pass(ARMED);
    }
    terminal.press("y");
    terminal.wait("c to confirm");
    // The second step must not be a bounce of the first.
    terminal.let_pass(Duration::from_millis(300));
    assert!(!scene.has("a.txt"));
    terminal.press("c");
    terminal.wait("The file stands there.");
    assert!(scene.has("a.txt"));
    terminal.press(">");
    terminal.wait("Prompt:");
    terminal.press("wait now\r");
    terminal.wait("Sentence 2");
    terminal.press("\x18");
    terminal.wait("once more");
    terminal.let_pass(Duration::from_millis(900));
    terminal.press("\x18");
    terminal.wait("Cancelled by user");
    terminal.press("q");
    assert_eq!(terminal.exit(), 0);
}

#[test]
fn opencode_is_prompted_answered_and_stopped() {
    story(&OPENCODE);
}

#[test]
fn an_agent_before_a_model_that_speaks_in_messages_is_prompted_and_answered() {
    let agent = &OPENCODE_BY_MESSAGES;
    let scene = AgentHome::new(agent);
    let mut hearken = scene.start(agent, &["--prompt", "say hello"]);
    hearken.announced("output", "Hello from the mock model.");
    hearken.announced("output", "It has two sentences.");
    hearken.announced("session_completed", "Finished");
    for (file, answers, made) in [("a.txt", ["y", "c"], true), ("b.txt", ["n", ""], false)] {
        hearken.say(&format!("> touch {file}"));
        let n = asked(&mut hearken, &wants(&format!("touch {file}")));
        for answer in answers.iter().filter(|answer| !answer.is_empty()) {
            hearken.say(&format!("{answer} {n}"));
        }
        hearken.wait("the end of the turn", |line| {
            line.contains(r#""kind":"session_completed""#)
                || line.contains(r#""kind":"session_cancelled""#)
        });
        assert_eq!(scene.has(file), made, "{file}");
    }
    hearken.leave();
    assert_eq!(hearken.exit().0, 0);
    let asked = scene.asked();
    assert!(
        asked.contains("/v1/messages") && !asked.contains("/chat/"),
        "{asked}"
    );
}

/// Its to-do list is announced as its plan, not as a tool call.
#[test]
fn opencode_plans() {
    let scene = AgentHome::new(&OPENCODE);
    let mut hearken = scene.start(&OPENCODE, &["--prompt", "plan it"]);
    hearken.wait("the plan", |line| {
        line.contains(r#""kind":"progress""#) && line.contains("Look around")
    });
    hearken.wait("the end of the turn", |line| {
        assert!(!line.contains(r#""kind":"tool_"#), "{line}");
        line.contains(r#""kind":"session_completed""#)
    });
    hearken.leave();
    assert_eq!(hearken.exit().0, 0);
}

#[test]
fn opencode_is_killed() {
    killed(&OPENCODE);
}

#[test]
fn opencode_is_used_by_keys_on_a_large_screen() {
    on_a_screen(100, 30);
}

#[test]
fn opencode_is_used_by_keys_on_a_small_screen() {
    on_a_screen(40, 10);
}

#[test]
fn qwen_code_is_prompted_answered_and_stopped() {
    story(&QWEN);
}

#[test]
fn the_former_codex_adapter_is_prompted_answered_and_stopped() {
    story(&CODEX_BEFORE);
}

/// Not signed in; one of the two keys that it could read is present.
const CODEX_WITHOUT_ACCOUNT: AgentProgram = AgentProgram {
    settle: |home, _| {
        write(home, ".codex/config.toml", "");
        vec![("OPENAI_API_KEY", "x".to_owned())]
    },
    ..CODEX_BEFORE
};

#[test]
fn codex_is_signed_in_to_by_a_way_that_works_after_one_that_does_not() {
    let scene = AgentHome::new(&CODEX_WITHOUT_ACCOUNT);
    let mut hearken = scene.start(&CODEX_WITHOUT_ACCOUNT, &[]);
    hearken.announced("clarification", phrase!("acp.sign_in.how"));
    hearken.say("o 1 2");
    hearken.announced(
        "connection",
        phrase!("acp.sign_in.failed", name = "Use CODEX_API_KEY"),
    );
    hearken.announced("clarification", phrase!("acp.sign_in.how"));
    hearken.say("o 2 3");
    hearken.announced("connection", phrase!("acp.sign_in.done"));
    hearken.announced(
        "connection",
        "Mode Read Only: Codex asks before it changes anything.",
    );
    hearken.announced("connection", phrase!("acp.ready"));
    hearken.leave();
    assert_eq!(hearken.exit().0, 0);
}

#[test]
fn the_mode_of_qwen_code_is_changed_in_two_steps_and_its_commands_are_read() {
    let scene = AgentHome::new(&QWEN);
    let mut hearken = scene.start(&QWEN, &[]);
    hearken.announced("connection", QWEN.starts);
    hearken.announced("connection", phrase!("acp.ready"));
    hearken.say("set mode");
    hearken.announced(
        "clarification",
        phrase!("acp.set.what", name = "Mode", value = "Default"),
    );
    hearken.say("o 1 4");
    hearken.announced(
        "clarification",
        phrase!(
            "acp.set.sure.loosened",
            value = "Auto",
            who = "Qwen Code decides most things itself."
        ),
    );
    hearken.say("y 2");
    hearken.announced("connection", "Mode: Auto.");
    // It publishes its commands at a time of its own choosing.
    let read = (0..40).any(|_| {
        hearken.say("commands ini");
        let told = hearken.announced("reply", "");
        let read = told["text"].as_str().unwrap().contains("/init: ");
        if !read {
            std::thread::sleep(Duration::from_millis(250));
        }
        read
    });
    assert!(read, "its commands never came");
    hearken.leave();
    assert_eq!(hearken.exit().0, 0);
}

#[test]
fn codex_is_killed() {
    killed(&CODEX);
}

#[test]
fn opencode_does_in_short_what_every_agent_does() {
    in_short(&OPENCODE);
}

#[test]
fn opencode_did_so_in_the_version_before() {
    in_short(&OPENCODE_BEFORE);
}

#[test]
fn qwen_code_does_in_short_what_every_agent_does() {
    in_short(&QWEN);
}

#[test]
fn qwen_code_did_so_in_the_version_before() {
    in_short(&QWEN_BEFORE);
}

#[test]
fn codex_does_in_short_what_every_agent_does() {
    in_short(&CODEX);
}

#[test]
fn codex_did_so_in_the_version_before() {
    in_short(&CODEX_BEFORE);
}

#[test]
fn claude_code_does_in_short_what_every_agent_does() {
    in_short(&CLAUDE);
}

#[test]
fn claude_code_did_so_in_the_version_before() {
    in_short(&CLAUDE_BEFORE);
}

#[test]
fn copilot_does_in_short_what_every_agent_does() {
    in_short(&COPILOT);
}

#[test]
fn copilot_did_so_in_the_version_before() {
    in_short(&COPILOT_BEFORE);
}

#[test]
fn gemini_does_in_short_what_every_agent_does() {
    in_short(&GEMINI);
}

#[test]
fn gemini_did_so_in_the_version_before() {
    in_short(&GEMINI_BEFORE);
}

#[test]
fn vibe_does_in_short_what_every_agent_does() {
    in_short(&VIBE);
}

#[test]
fn vibe_did_so_in_the_version_before() {
    in_short(&VIBE_BEFORE);
}

#[test]
fn pi_asks_nothing_and_that_is_said() {
    without_asking(&PI);
}

#[test]
fn pi_did_so_in_the_version_before() {
    without_asking(&PI_BEFORE);
}

/// Makes an agent that never asks do what is expected of it.
fn without_asking(agent: &AgentProgram) {
    let scene = AgentHome::new(agent);
    let mut hearken = scene.start(agent, &["--prompt", "say hello"]);
    hearken.announced("output", "It has two sentences.");
    hearken.announced("session_completed", "Finished");

    hearken.say("> touch a.txt");
    hearken.announced("tool_completed", "touch a.txt");
    hearken.wait("that it does not ask", |line| {
        phrase!("oversight.unasked.*", agent = "pi ACP adapter").is_in(line)
    });
    hearken.announced("session_completed", "Finished");
    assert!(scene.has("a.txt"));

    hearken.say("> fail");
    fails(&mut hearken, agent);

    hearken.say("> sleep");
    hearken.announced("tool_invoked", "env sleep 20");
    stop(&mut hearken);
    let stopped = hearken.announced("tool_completed", "");
    assert_eq!(stopped["text"], "Stopped: env sleep 20");
    hearken.announced(
        "session_cancelled",
        phrase!("session.cancelled.*", by = "user"),
    );

    hearken.say("> wait now");
    hearken.announced("output", "Sentence 2 stands here.");
    stop(&mut hearken);
    hearken.announced(
        "session_cancelled",
        phrase!("session.cancelled.*", by = "user"),
    );
    hearken.leave();
    assert_eq!(count(&hearken, "confirmation"), 0);
    assert_eq!(hearken.exit().0, 0);
    let what = [
        ShownAbility::Heard,
        ShownAbility::Prompted,
        ShownAbility::Stopped,
    ];
    shows_all(agent.title, &agent.version(), &what);
}
