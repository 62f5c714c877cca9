//! Real agents from npm, below the real hearken, with a scripted model on loopback (`model.py`): prompted, heard,
//! answered and stopped.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::child::{Hearken, command};
use super::kinds;
use super::screen::terminal::Terminal;

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/model.py");

/// The time without a key after which a question can be answered.
const ARMED: Duration = Duration::from_millis(1200);

/// Returns the words of a question about a command: the command itself, whatever shell starts it.
fn wants(command: &str) -> String {
    format!("\n{command}\n")
}

/// An agent under test.
pub(super) struct Agent {
    /// Its name for `hearken run`.
    name: &'static str,
    /// A file operation that it still asks about, although `touch c.txt` was allowed from then on.
    other: &'static str,
    /// Writes its settings, and returns its environment.
    settle: fn(&Path, u16) -> Vec<(&'static str, String)>,
}

pub(super) const OPENCODE: Agent = Agent {
    name: "opencode",
    other: "write",
    settle: |home, port| {
        let settings = serde_json::json!({
            "model": "mock/m", "small_model": "mock/m", "share": "disabled", "autoupdate": false,
            "provider": {"mock": {"npm": "@ai-sdk/openai-compatible", "name": "Mock",
                "options": {"baseURL": base(port), "apiKey": "x"}, "models": {"m": {"name": "m", "tool_call": true}}}},
            "permission": {"bash": "ask", "edit": "ask"},
        });
        write(home, "work/opencode.json", &settings.to_string());
        let off = [
            "OPENCODE_DISABLE_MODELS_FETCH",
            "OPENCODE_DISABLE_AUTOUPDATE",
            "OPENCODE_DISABLE_LSP_DOWNLOAD",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS",
        ];
        off.map(|name| (name, "1".to_owned())).into()
    },
};

/// The same agent with a model that speaks Anthropic's messages.
const OPENCODE_BY_MESSAGES: Agent = Agent {
    settle: |home, port| {
        let environment = (OPENCODE.settle)(home, port);
        let path = home.join("work/opencode.json");
        let settings = std::fs::read_to_string(&path).unwrap();
        let by_messages = settings.replace("@ai-sdk/openai-compatible", "@ai-sdk/anthropic");
        assert_ne!(settings, by_messages);
        std::fs::write(&path, by_messages).unwrap();
        environment
    },
    ..OPENCODE
};

const QWEN: Agent = Agent {
    name: "qwen",
    other: "write",
    settle: |home, port| {
        let settings = r#"{"tools":{"approvalMode":"default"}}"#;
        write(home, ".qwen/settings.json", settings);
        vec![
            ("OPENAI_BASE_URL", base(port)),
            ("OPENAI_API_KEY", "x".to_owned()),
            ("OPENAI_MODEL", "m".to_owned()),
        ]
    },
};

const CODEX: Agent = Agent {
    name: "codex",
    other: "touch",
    settle: |home, port| {
        let settings = format!(
            "model = \"m\"\nmodel_provider = \"mock\"\napproval_policy = \"untrusted\"\n\
             sandbox_mode = \"danger-full-access\"\n[model_providers.mock]\nname = \"Mock\"\n\
             base_url = \"{}\"\nwire_api = \"responses\"\n",
            base(port)
        );
        write(home, ".codex/config.toml", &settings);
        Vec::new()
    },
};

fn base(port: u16) -> String {
    format!("http://127.0.0.1:{port}/v1")
}

fn write(home: &Path, path: &str, text: &str) {
    let path = home.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A private home for an agent, and its model.
pub(super) struct Scene {
    folder: tempfile::TempDir,
    model: Child,
    pub(super) environment: Vec<(&'static str, String)>,
}

impl Scene {
    pub(super) fn new(agent: &Agent) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        std::fs::create_dir(home.join("work")).unwrap();
        let mut model = Command::new("python3")
            .arg(MODEL)
            .arg(home.join("asked"))
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 is there");
        let mut lines = BufReader::new(model.stdout.take().unwrap()).lines();
        let port: u16 = lines.next().unwrap().unwrap().parse().unwrap();
        let mut environment = (agent.settle)(&home, port);
        let peers = std::env::var("HEARKEN_PEERS").expect(".ci/run names the folder of the peers");
        let modules = PathBuf::from(peers).join("agents/node_modules");
        let own = modules.join(".bin");
        assert!(
            own.is_dir(),
            "{} is missing; .ci/run makes it",
            own.display()
        );
        let found = std::env::var_os("PATH").unwrap();
        // The agents need a newer Node.js than many systems have: it is installed alongside them.
        let node = modules.join("node/bin");
        let all = [node, own].into_iter().chain(std::env::split_paths(&found));
        let path = std::env::join_paths(all).unwrap().into_string().unwrap();
        environment.push(("PATH", path));
        environment.push(("HOME", home.to_str().unwrap().to_owned()));
        Self {
            folder,
            model,
            environment,
        }
    }

    pub(super) fn work(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("work")
    }

    pub(super) fn has(&self, file: &str) -> bool {
        self.work().join(file).exists()
    }

    fn arguments(&self, agent: &Agent, face: &str) -> Vec<String> {
        let work = self.work();
        let all = ["run", agent.name, "--cwd", work.to_str().unwrap()];
        let all = all.into_iter().chain(["--voice", "none", "--face", face]);
        all.map(str::to_owned).collect()
    }

    fn start(&self, agent: &Agent, more: &[&str]) -> Hearken {
        let mut arguments = self.arguments(agent, "json");
        arguments.extend(more.iter().map(|argument| (*argument).to_owned()));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut command = command(&arguments);
        for foreign in [
            "XDG_DATA_HOME",
            "XDG_CACHE_HOME",
            "CODEX_HOME",
            "OPENAI_API_KEY",
        ] {
            command.env_remove(foreign);
        }
        Hearken::spawn(command.envs(self.environment.iter().map(|(name, value)| (name, value))))
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = self.model.kill();
        let _ = self.model.wait();
    }
}

/// Returns the number of announcements of a kind.
fn count(hearken: &Hearken, kind: &str) -> usize {
    kinds(hearken).iter().filter(|it| *it == kind).count()
}

/// Waits for a question, and returns its number.
pub(super) fn asked(hearken: &mut Hearken, words: &str) -> String {
    let question = hearken.announced("confirmation", words);
    let text = question["text"].as_str().unwrap();
    assert!(text.contains("Risk not stated."), "{text}");
    number(&question)
}

/// Returns the number of a question.
pub(super) fn number(question: &Value) -> String {
    let text = question["text"].as_str().unwrap();
    let (number, _) = text
        .strip_prefix("Question ")
        .unwrap()
        .split_once('.')
        .unwrap();
    number.to_owned()
}

/// Makes an agent do everything that is expected of one, in one conversation.
fn story(agent: &Agent) {
    let scene = Scene::new(agent);
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
    hearken.announced("reply", "to confirm");
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
    hearken.announced("reply", "to confirm the answer allow from now on");
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
    hearken.announced("reply", "once more");
    hearken.say("stop");
    hearken.announced(
        "confirmation",
        &format!("Question {n} is cancelled by your stop."),
    );
    hearken.announced("session_cancelled", "Cancelled by user");
    assert!(!scene.has("e.txt"));

    // Stopped while it writes: what was typed meanwhile is then sent.
    hearken.say("> wait now");
    hearken.announced("output", "Sentence 2 stands here.");
    hearken.say("> say hello");
    hearken.announced("reply", "It waits");
    hearken.say("stop");
    hearken.announced("reply", "once more");
    hearken.say("stop");
    hearken.announced("session_cancelled", "Cancelled by user");
    hearken.announced("output", "It has two sentences.");
    hearken.announced("session_completed", "Finished");
    hearken.say("q");
    let seen = kinds(&hearken);
    for never in ["danger", "anomaly", "session_errored"] {
        assert!(!seen.iter().any(|kind| kind == never), "{never}: {seen:?}");
    }
    let (code, _, seen) = hearken.exit();
    assert_eq!(code, 0, "{}", seen.join("\n"));
    assert!(!seen.iter().any(|line| line.contains("without you")));

    // Another day: it continues where it was, and reads nothing of it aloud again.
    let mut hearken = scene.start(agent, &["--continue", "--prompt", "say hello"]);
    hearken.announced("connection", "It goes on with an earlier conversation");
    hearken.announced("session_started", "started");
    assert_eq!(
        (count(&hearken, "output"), count(&hearken, "tool_invoked")),
        (0, 0)
    );
    hearken.announced("output", "It has two sentences.");
    hearken.announced("session_completed", "Finished");
    hearken.say("q");
    assert_eq!(hearken.exit().0, 0);
}

/// Has an agent run a command that fails, and one that is stopped.
fn fails_and_stops(agent: &Agent) {
    let scene = Scene::new(agent);
    let mut hearken = scene.start(agent, &[]);
    hearken.announced("connection", "The agent is ready.");
    hearken.say("> fail");
    let n = asked(&mut hearken, "exit 3");
    hearken.say(&format!("y {n}"));
    hearken.announced("reply", "to confirm");
    hearken.say(&format!("c {n}"));
    let failed = hearken.announced("tool_completed", "Failed, exit 3: ");
    let failed = failed["text"].as_str().unwrap();
    let command = "Failed, exit 3: echo one; echo two; exit 3. Last line: two";
    assert!(failed.starts_with(command), "{failed}");
    hearken.announced("session_completed", "1 call of a tool failed");

    hearken.say("> sleep");
    let n = asked(&mut hearken, "sleep 20");
    hearken.say(&format!("y {n}"));
    hearken.announced("reply", "to confirm");
    hearken.say(&format!("c {n}"));
    hearken.announced("tool_invoked", "env sleep 20");
    hearken.say("t");
    hearken.announced("reply", "running “env sleep 20” for");
    hearken.say("stop");
    hearken.announced("reply", "once more");
    hearken.say("stop");
    let stopped = hearken.announced("tool_completed", "");
    assert_eq!(stopped["text"], "Stopped: env sleep 20");
    hearken.announced("session_cancelled", "Cancelled by user");
    hearken.say("q");
    assert_eq!(hearken.exit().0, 0);
}

/// Kills an agent in the middle of a turn.
fn killed(agent: &Agent) {
    let scene = Scene::new(agent);
    let mut hearken = scene.start(agent, &["--prompt", "wait now"]);
    hearken.announced("output", "Sentence 1 stands here.");
    hearken.say("> say hello");
    hearken.announced("reply", "It waits");
    for child in children(hearken.id()) {
        kill(child);
    }
    hearken.announced("session_errored", "The agent ended before it was done.");
    hearken.announced("connection", "1 prompt was never sent");
    let (code, _, seen) = hearken.exit();
    assert_eq!(code, 1, "{}", seen.join("\n"));
}

fn children(of: u32) -> Vec<u32> {
    // Each thread has its own list of children.
    let Ok(threads) = std::fs::read_dir(format!("/proc/{of}/task")) else {
        return Vec::new();
    };
    let lists =
        threads.map(|thread| std::fs::read_to_string(thread.unwrap().path().join("children")));
    let lists: Vec<String> = lists.map_while(Result::ok).collect();
    let ids = lists.iter().flat_map(|list| list.split_whitespace());
    ids.map(|id| id.parse().unwrap()).collect()
}

/// Kills a program and everything it has started.
pub(super) fn kill(id: u32) {
    let below = children(id);
    let pid = rustix::process::Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    below.into_iter().for_each(kill);
}

/// Runs an agent on a screen by keys alone, from the first prompt to the last.
fn on_a_screen(columns: u16, rows: u16) {
    let scene = Scene::new(&OPENCODE);
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
    terminal.let_pass(ARMED);
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
    let scene = Scene::new(agent);
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
    hearken.say("q");
    assert_eq!(hearken.exit().0, 0);
    let asked = std::fs::read_to_string(scene.folder.path().join("asked")).unwrap();
    assert!(
        asked.contains("/v1/messages") && !asked.contains("/chat/"),
        "{asked}"
    );
}

/// Its to-do list is announced as its plan, not as a tool call.
#[test]
fn opencode_plans() {
    let scene = Scene::new(&OPENCODE);
    let mut hearken = scene.start(&OPENCODE, &["--prompt", "plan it"]);
    hearken.wait("the plan", |line| {
        line.contains(r#""kind":"progress""#) && line.contains("Look around")
    });
    hearken.wait("the end of the turn", |line| {
        assert!(!line.contains(r#""kind":"tool_"#), "{line}");
        line.contains(r#""kind":"session_completed""#)
    });
    hearken.say("q");
    assert_eq!(hearken.exit().0, 0);
}

#[test]
fn a_failure_and_a_stop_of_opencode_are_said_as_such() {
    fails_and_stops(&OPENCODE);
}

#[test]
fn a_failure_and_a_stop_of_qwen_code_are_said_as_such() {
    fails_and_stops(&QWEN);
}

#[test]
fn a_failure_and_a_stop_of_codex_are_said_as_such() {
    fails_and_stops(&CODEX);
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
fn codex_is_prompted_answered_and_stopped() {
    story(&CODEX);
}

/// Not signed in; one of the two keys that it could read is present.
const CODEX_WITHOUT_ACCOUNT: Agent = Agent {
    settle: |home, _| {
        write(home, ".codex/config.toml", "");
        vec![("OPENAI_API_KEY", "x".to_owned())]
    },
    ..CODEX
};

#[test]
fn codex_is_signed_in_to_by_a_way_that_works_after_one_that_does_not() {
    let scene = Scene::new(&CODEX_WITHOUT_ACCOUNT);
    let mut hearken = scene.start(&CODEX_WITHOUT_ACCOUNT, &[]);
    hearken.announced("clarification", "The agent wants you to sign in. How?");
    hearken.say("o 1 2");
    hearken.announced("connection", "Signing in by Use CODEX_API_KEY did not work");
    hearken.announced("clarification", "The agent wants you to sign in. How?");
    hearken.say("o 2 3");
    hearken.announced("connection", "You are signed in.");
    hearken.announced("connection", "Mode of the agent: Read Only.");
    hearken.announced("connection", "The agent is ready.");
    hearken.say("q");
    assert_eq!(hearken.exit().0, 0);
}

#[test]
fn the_mode_of_qwen_code_is_changed_in_two_steps_and_its_commands_are_read() {
    let scene = Scene::new(&QWEN);
    let mut hearken = scene.start(&QWEN, &[]);
    hearken.announced("connection", "Mode of the agent: Default.");
    hearken.announced("connection", "The agent is ready.");
    hearken.say("set mode");
    hearken.announced("clarification", "Mode is Default. Change it to what?");
    hearken.say("o 1 4");
    hearken.announced("clarification", "Mode: Auto. The agent says of it:");
    hearken.say("y 2");
    hearken.announced("connection", "Mode of the agent: Auto.");
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
    hearken.say("q");
    assert_eq!(hearken.exit().0, 0);
}

#[test]
fn codex_is_killed() {
    killed(&CODEX);
}
