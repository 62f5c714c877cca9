//! Hooks on the real programs: each in its own terminal, with a listening hearken beside it.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use hearken_wording::phrase;

use super::agent_home::{
    AgentHome, AgentProgram, CODEX, COPILOT, GEMINI, NEWEST, QWEN, codex_settings, installed, kill,
    write,
};
use super::child::{Hearken, command};
use super::codex_server::{accept, asked};
use super::peer_screen::pty_terminal::Terminal;
use super::tried_agents::{ShownAbility, shows, shows_all};

/// How long a program treats typed keys as part of a paste, in which Enter only breaks the line.
const NO_PASTE: Duration = Duration::from_millis(700);

/// A program in its terminal.
struct HookedProgram {
    /// Its name for `hearken hooks`, and its command.
    name: &'static str,
    /// Its name for people.
    title: &'static str,
    /// Its package.
    package: &'static str,
    /// The agent whose settings and model are its own, too.
    agent: AgentProgram,
    /// What it shows before it takes a prompt, each with the keys that answer it.
    before: &'static [(&'static str, &'static str)],
    /// What it shows when it takes a prompt.
    ready: &'static str,
    /// What precedes a prompt so that the program has to ask about its command.
    urge: &'static str,
    /// A part of its own dialog.
    dialog: &'static str,
    /// The key that allows the command in its own dialog.
    allow: &'static str,
    /// What is said at the end of a command that fails, and of its turn.
    failed: (&'static str, &'static str),
}

const CODEX_TERMINAL: HookedProgram = HookedProgram {
    name: "codex",
    title: "Codex, by its hooks",
    package: "@openai/codex",
    agent: AgentProgram {
        settle: |home, port| {
            let work = home.join("work");
            let more = "check_for_update_on_startup = false\napproval_policy = \"on-request\"\n\
                        sandbox_mode = \"workspace-write\"\n";
            let mut settings = codex_settings(port, more);
            settings += &format!(
                "[projects.{:?}]\ntrust_level = \"trusted\"\n",
                work.to_str().unwrap()
            );
            write(home, ".codex/config.toml", &settings);
            Vec::new()
        },
        ..CODEX
    },
    before: &[
        ("Hooks need review", "2"),
        ("› 2. Trust all and continue", "\r"),
    ],
    ready: "Ask Codex to do anything",
    urge: "ask: ",
    dialog: "Would you like to run the following command?",
    allow: "y",
    // Its hooks report no exit code.
    failed: ("Ended, unknown how: echo one; echo two; exit 3", "Finished"),
};

const COPILOT_TERMINAL: HookedProgram = HookedProgram {
    name: "copilot",
    title: "Copilot CLI, by its hooks",
    package: "@github/copilot",
    agent: COPILOT,
    before: &[("Do you trust the files in this folder?", "\r")],
    ready: "/ commands",
    urge: "",
    dialog: "Do you want to run this command?",
    allow: "\r",
    failed: (
        "Failed, exit 3: echo one; echo two; exit 3",
        "1 call of a tool failed",
    ),
};

const QWEN_TERMINAL: HookedProgram = HookedProgram {
    name: "qwen",
    title: "Qwen Code, by its hooks",
    package: "@qwen-code/qwen-code",
    agent: QWEN,
    before: &[],
    ready: "Type your message",
    urge: "",
    dialog: "Allow execution of",
    allow: "\r",
    failed: (
        "Failed, exit 3: echo one; echo two; exit 3",
        "1 call of a tool failed",
    ),
};

const GEMINI_TERMINAL: HookedProgram = HookedProgram {
    name: "gemini",
    title: "Gemini CLI, by its hooks",
    package: "@google/gemini-cli",
    agent: AgentProgram {
        settle: |home, port| {
            let settings = r#"{"security": {"auth": {"selectedType": "gemini-api-key"}}}"#;
            write(home, ".gemini/settings.json", settings);
            (GEMINI.settle)(home, port)
        },
        ..GEMINI
    },
    // It runs no hooks in a folder that it does not trust, and starts itself anew when it does.
    before: &[
        ("Do you trust the files in this folder?", "\r"),
        ("restarting", ""),
    ],
    ready: "Type your message",
    urge: "",
    dialog: "Allow execution of",
    allow: "\r",
    failed: (
        "Failed, exit 3: echo one; echo two; exit 3",
        "1 call of a tool failed",
    ),
};

/// Returns the programs that are tried, each with its name for people and its version.
pub(super) fn tried() -> Vec<(&'static str, String)> {
    let all = [
        &CODEX_TERMINAL,
        &COPILOT_TERMINAL,
        &QWEN_TERMINAL,
        &GEMINI_TERMINAL,
    ];
    let tried = all.map(|it| (it.title, installed(NEWEST, it.package)));
    tried.into()
}

/// A home in which a program's hooks are installed, and a hearken that listens to them.
struct HooksStage<'a> {
    program: &'a HookedProgram,
    scene: AgentHome,
}

impl HooksStage<'_> {
    fn home(&self) -> PathBuf {
        self.scene.work().parent().unwrap().to_path_buf()
    }

    fn settled<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        for moved in ["CODEX_HOME", "COPILOT_HOME", "QWEN_HOME", "XDG_STATE_HOME"] {
            command.env_remove(moved);
        }
        let environment = self.scene.environment.iter();
        command.envs(environment.map(|(name, value)| (name, value)))
    }

    /// Installs or uninstalls the hooks, and returns what is said about it.
    fn hooks(&self, what: &str) -> String {
        let mut command = command(&["hooks", what, self.program.name, "--yes"]);
        let output = self.settled(&mut command).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn hearken(&self, settings: &str) -> Hearken {
        let [option, file] = self.scene.configured(settings);
        let arguments = ["watch", "hooks", "--voice", "none", "--face", "json"];
        let mut command = command(&arguments);
        let mut hearken = Hearken::spawn(self.settled(command.args([option, file])));
        hearken.announced("connection", "Connected");
        hearken
    }

    /// Starts the program in its own terminal.
    fn terminal(&self, before: &[(&str, &str)]) -> Terminal {
        let mut environment = vec![("TERM", "xterm-256color")];
        let own = self.scene.environment.iter();
        environment.extend(own.map(|(name, value)| (*name, value.as_str())));
        let work = self.scene.work();
        let program = match self.program.name {
            // Its script would leave the program behind.
            "codex" => super::codex_server::program().to_str().unwrap().to_owned(),
            name => name.to_owned(),
        };
        let start = "cd \"$0\" && exec \"$1\"";
        let arguments = ["-c", start, work.to_str().unwrap(), &program];
        let mut terminal = Terminal::start_program("sh", 110, 40, &arguments, &environment);
        for (shown, keys) in before {
            terminal.wait(shown);
            terminal.let_pass(NO_PASTE);
            terminal.press(keys);
        }
        terminal.wait(self.program.ready);
        terminal.let_pass(NO_PASTE);
        terminal
    }

    fn tell(&self, terminal: &mut Terminal, words: &str) {
        let words = format!("{}{words}", self.program.urge);
        terminal.press(&words);
        terminal.wait(&words);
        terminal.let_pass(NO_PASTE);
        terminal.press("\r");
    }
}

impl Drop for HooksStage<'_> {
    fn drop(&mut self) {
        // Codex leaves a daemon behind.
        for name in ["daemon-updater.pid", "daemon.pid"] {
            let file = self.home().join(".codex/app-server-daemon").join(name);
            let text = std::fs::read_to_string(file).unwrap_or_default();
            let about: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
            if let Some(id) = about["pid"].as_u64() {
                kill(u32::try_from(id).unwrap());
            }
        }
    }
}

/// Installs a program's hooks, is asked by them, answers in every way, and uninstalls them.
fn story(program: &HookedProgram) {
    let scene = AgentHome::new(&program.agent);
    let stage = HooksStage { program, scene };
    let said = stage.hooks("install");
    assert!(
        said.contains("shows no question of its own") || phrase!("hooks.in.codex").is_in(&said),
        "{said}"
    );
    let mut hearken = stage.hearken("");
    let mut terminal = stage.terminal(program.before);

    // Allowed: its own terminal asks nothing meanwhile.
    stage.tell(&mut terminal, "touch a.txt");
    hearken.announced("session_started", "started");
    hearken.announced("connection", phrase!("hooks.only_here"));
    let n = asked(&mut hearken, "\ntouch a.txt\n");
    terminal.let_pass(Duration::from_secs(2));
    assert!(
        !terminal.screen().contains(program.dialog),
        "{}",
        terminal.screen()
    );
    assert!(!stage.scene.has("a.txt"));
    accept(&mut hearken, &n);
    hearken.announced("tool_completed", "touch a.txt");
    hearken.announced("session_completed", "Finished");
    terminal.wait("The file stands there.");
    assert!(stage.scene.has("a.txt"));

    // Rejected with a reason.
    stage.tell(&mut terminal, "touch b.txt");
    let n = asked(&mut hearken, "\ntouch b.txt\n");
    hearken.say(&format!("n {n} rather not there"));
    hearken.announced(
        "reply",
        phrase!("reply.rejecting.*", reason = "rather not there"),
    );
    hearken.wait("the end of the turn", |line| {
        line.contains(r#""kind":"session_completed""#)
            || line.contains(r#""kind":"session_cancelled""#)
    });
    assert!(!stage.scene.has("b.txt"));
    assert!(stage.scene.asked().contains("rather not there"));

    // A command that fails is said to have failed.
    stage.tell(&mut terminal, "fail");
    let n = asked(&mut hearken, "exit 3");
    accept(&mut hearken, &n);
    let (call, turn) = program.failed;
    hearken.announced("tool_completed", call);
    hearken.announced("session_completed", turn);

    // Handed back: now its own dialog appears, and is answered there.
    stage.tell(&mut terminal, "touch c.txt");
    let n = asked(&mut hearken, "\ntouch c.txt\n");
    hearken.say(&format!("o {n} 1"));
    hearken.announced("reply", phrase!("reply.second_step.*"));
    hearken.say(&format!("c {n}"));
    hearken.announced("connection", "asks in its own terminal now.");
    terminal.wait(program.dialog);
    assert!(!stage.scene.has("c.txt"));
    terminal.let_pass(NO_PASTE);
    terminal.press(program.allow);
    hearken.announced("tool_completed", "touch c.txt");
    hearken.announced("session_completed", "Finished");
    assert!(stage.scene.has("c.txt"));
    kill(terminal.id());

    // Without its hooks, it asks in its own terminal, and nothing is heard.
    stage.hooks("uninstall");
    let heard = hearken.seen().len();
    let again = program
        .before
        .iter()
        .filter(|(shown, _)| !shown.contains("Hooks") && !shown.contains("Trust all"));
    let again: Vec<(&str, &str)> = again.copied().collect();
    let mut terminal = stage.terminal(&again);
    stage.tell(&mut terminal, "touch d.txt");
    terminal.wait(program.dialog);
    kill(terminal.id());
    hearken.leave();
    let (code, _, seen) = hearken.exit();
    assert_eq!(code, 0, "{}", seen.join("\n"));
    assert!(
        !seen[heard..].iter().any(|line| line.contains("d.txt")),
        "{seen:?}"
    );
    let what = [
        ShownAbility::Heard,
        ShownAbility::Asked,
        ShownAbility::Answered,
    ];
    shows_all(program.title, &installed(NEWEST, program.package), &what);
}

#[test]
fn codex_is_answered_through_its_hooks() {
    story(&CODEX_TERMINAL);
}

#[test]
fn copilot_is_answered_through_its_hooks() {
    story(&COPILOT_TERMINAL);
}

#[test]
fn qwen_code_is_answered_through_its_hooks() {
    story(&QWEN_TERMINAL);
}

/// Its hooks can refuse a call before its own terminal asks, and allow none.
#[test]
fn gemini_is_heard_and_its_calls_are_rejected_or_left_to_its_terminal() {
    let program = &GEMINI_TERMINAL;
    let scene = AgentHome::new(&program.agent);
    let stage = HooksStage { program, scene };
    let said = stage.hooks("install");
    assert!(phrase!("hooks.in.gemini").is_in(&said), "{said}");

    // It asks in its own terminal alone, and hearken says so.
    let mut hearken = stage.hearken("");
    let mut terminal = stage.terminal(program.before);
    stage.tell(&mut terminal, "touch a.txt");
    hearken.announced("session_started", "started");
    hearken.announced(
        "clarification",
        phrase!("claude.question", words = "It wants to run `touch a.txt`."),
    );
    terminal.wait(program.dialog);
    assert!(!stage.scene.has("a.txt"));
    terminal.let_pass(NO_PASTE);
    terminal.press(program.allow);
    hearken.announced("tool_completed", "touch a.txt");
    hearken.announced("session_completed", "Finished");
    assert!(stage.scene.has("a.txt"));
    hearken.leave();
    assert_eq!(hearken.exit().0, 0);

    // Where it waits, a call is rejected with a reason before its terminal asks.
    let mut hearken = stage.hearken("[links]\ngemini_waits = true\n");
    stage.tell(&mut terminal, "touch b.txt");
    hearken.announced("connection", phrase!("hooks.waits"));
    let n = asked(&mut hearken, "\ntouch b.txt\n");
    terminal.let_pass(Duration::from_secs(2));
    assert!(
        !terminal.screen().contains(program.dialog),
        "{}",
        terminal.screen()
    );
    hearken.say(&format!("y {n}"));
    hearken.say(&format!("n {n} rather not there"));
    hearken.announced(
        "reply",
        phrase!("reply.rejecting.*", reason = "rather not there"),
    );
    hearken.announced("session_completed", "Finished");
    assert!(!stage.scene.has("b.txt"));
    assert!(stage.scene.asked().contains("rather not there"));

    // Left to its own terminal: its dialog appears there, and a command that fails has failed.
    stage.tell(&mut terminal, "fail");
    let n = asked(&mut hearken, "exit 3");
    hearken.say(&format!("o {n} 1"));
    hearken.announced("reply", phrase!("reply.second_step.*"));
    hearken.say(&format!("c {n}"));
    hearken.announced("connection", "Gemini CLI goes on");
    terminal.wait(program.dialog);
    terminal.let_pass(NO_PASTE);
    terminal.press(program.allow);
    let (call, turn) = program.failed;
    hearken.announced("tool_completed", call);
    hearken.announced("session_completed", turn);

    // A hearken that is killed hands its question back.
    stage.tell(&mut terminal, "touch c.txt");
    asked(&mut hearken, "\ntouch c.txt\n");
    hearken.kill();
    terminal.wait(program.dialog);
    assert!(!stage.scene.has("c.txt"));
    kill(terminal.id());

    stage.hooks("uninstall");
    let mut hearken = stage.hearken("");
    let mut terminal = stage.terminal(&[]);
    stage.tell(&mut terminal, "touch d.txt");
    terminal.wait(program.dialog);
    kill(terminal.id());
    hearken.leave();
    let (code, _, seen) = hearken.exit();
    assert_eq!(code, 0, "{}", seen.join("\n"));
    assert!(!seen.iter().any(|line| line.contains("d.txt")), "{seen:?}");
    let seen = [
        (ShownAbility::Heard, "yes"),
        (ShownAbility::Asked, "yes"),
        (ShownAbility::Answered, "only rejected"),
    ];
    shows(program.title, &installed(NEWEST, program.package), &seen);
}
