//! `hearken mcp` below real agents: each starts it, lists its tools and calls both, with a listening hearken beside it.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hearken_wording::phrase;
use serde_json::{Value, json};

use super::PATIENCE;
use super::agent_home::{AgentHome, AgentProgram, CODEX, COPILOT, OPENCODE, codex_settings, write};
use super::child::{Hearken, command};

/// An agent that does one prompt in its own terminal and ends.
struct ToolUser {
    agent: AgentProgram,
    /// Its command, before the prompt.
    command: &'static [&'static str],
    /// The name under which it is heard.
    heard_as: &'static str,
}

/// Returns the path of the program under test.
fn hearken() -> String {
    let command = command(&[]);
    command.get_program().to_str().unwrap().to_owned()
}

/// Adds a member to an agent's settings.
fn add(home: &Path, file: &str, member: &str, value: Value) {
    let text = std::fs::read_to_string(home.join(file)).unwrap_or_else(|_| "{}".to_owned());
    let mut settings: Value = serde_json::from_str(&text).unwrap();
    settings[member] = value;
    write(home, file, &settings.to_string());
}

const OPENCODE_WITH_TOOLS: ToolUser = ToolUser {
    agent: AgentProgram {
        settle: |home, port| {
            let environment = (OPENCODE.settle)(home, port);
            let server = json!({"type": "local", "command": [hearken(), "mcp"]});
            add(
                home,
                "work/opencode.json",
                "mcp",
                json!({"hearken": server}),
            );
            environment
        },
        ..OPENCODE
    },
    command: &["opencode", "run"],
    heard_as: "opencode",
};

const CODEX_WITH_TOOLS: ToolUser = ToolUser {
    agent: AgentProgram {
        settle: |home, port| {
            let more = "approval_policy = \"never\"\n";
            let mut settings = codex_settings(port, more);
            settings += &format!(
                "[mcp_servers.hearken]\ncommand = {:?}\nargs = [\"mcp\"]\ntool_timeout_sec = 3600\n",
                hearken()
            );
            write(home, ".codex/config.toml", &settings);
            Vec::new()
        },
        ..CODEX
    },
    command: &["codex", "exec", "--skip-git-repo-check"],
    heard_as: "Codex",
};

const COPILOT_WITH_TOOLS: ToolUser = ToolUser {
    agent: AgentProgram {
        settle: |home, port| {
            let server =
                json!({"type": "local", "command": hearken(), "args": ["mcp"], "tools": ["*"]});
            let servers = json!({"hearken": server});
            add(home, ".copilot/mcp-config.json", "mcpServers", servers);
            (COPILOT.settle)(home, port)
        },
        ..COPILOT
    },
    command: &["copilot", "--allow-all-tools", "-p"],
    heard_as: "Copilot CLI",
};

/// Starts the agent with a prompt.
fn start(user: &ToolUser, scene: &AgentHome, prompt: &str) -> Child {
    let environment = scene.environment.iter();
    Command::new("env")
        .args(environment.map(|(name, value)| format!("{name}={value}")))
        .args(user.command)
        .arg(prompt)
        .current_dir(scene.work())
        // opencode believes this more than the system.
        .env("PWD", scene.work())
        .env_remove("XDG_STATE_HOME")
        .env_remove("CODEX_HOME")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn ends(mut agent: Child) {
    let until = Instant::now() + PATIENCE;
    while agent.try_wait().unwrap().is_none() {
        if Instant::now() >= until {
            let _ = agent.kill();
            panic!("the agent does not end");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Makes an agent announce something and ask something, each by its tool.
fn story(user: &ToolUser) {
    let scene = AgentHome::new(&user.agent);
    let mut command = command(&["watch", "hooks", "--voice", "none", "--face", "json"]);
    let environment = scene.environment.iter();
    let mut hearken = Hearken::spawn(command.envs(environment.map(|(name, value)| (name, value))));
    hearken.announced("connection", "Connected");

    let agent = start(user, &scene, "announce: the build is green");
    let said = hearken.announced("output", "the build is green");
    assert_eq!(said["agent"], user.heard_as);
    ends(agent);
    assert!(scene.asked().contains("Announced."), "{}", scene.asked());
    hearken.announced("session_completed", phrase!("mcp.leaves"));

    let agent = start(user, &scene, "inquire: Which port?");
    let asked = hearken.announced("clarification", "Which port?");
    let number = asked["question"].as_u64().unwrap();
    hearken.say(&format!("a #{number} 8080"));
    ends(agent);
    assert!(scene.asked().contains("8080"), "{}", scene.asked());
    hearken.announced("session_completed", phrase!("mcp.leaves"));
    hearken.leave();
    let (code, _, seen) = hearken.exit();
    assert_eq!(code, 0, "{}", seen.join("\n"));
}

#[test]
fn opencode_speaks_and_asks_by_hearkens_tools() {
    story(&OPENCODE_WITH_TOOLS);
}

#[test]
fn codex_speaks_and_asks_by_hearkens_tools() {
    story(&CODEX_WITH_TOOLS);
}

#[test]
fn copilot_speaks_and_asks_by_hearkens_tools() {
    story(&COPILOT_WITH_TOOLS);
}
