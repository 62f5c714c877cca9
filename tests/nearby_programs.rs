//! What runs and what is installed on this machine, as reported by `hearken doctor` and `hearken watch`.

use std::path::Path;
use std::process::Command;

use crate::support::child::{Hearken, command};
#[cfg(unix)]
use crate::support::pty_terminal::Terminal;
#[cfg(unix)]
use crate::support::scripted_ssip::{FakeSsip, WordsFate, address};

/// A private folder for programs, settings and sockets.
struct NearbyFolder(tempfile::TempDir);

impl NearbyFolder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn text(&self) -> &str {
        self.path().to_str().unwrap()
    }

    /// Creates a program there that says a version, and must not be started for anything else.
    fn program(&self, name: &str) {
        self.program_of(name, "9.8.7");
    }

    /// Creates a program there with this version.
    fn program_of(&self, name: &str, version: &str) {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let file = self.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            let script = format!(
                "#!/bin/sh\nif [ \"$*\" = --version ]; then echo \"{name} {version}\"; else : > \"$0.was-started\"; fi\n"
            );
            std::fs::write(&file, script).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        #[cfg(windows)]
        {
            let file = self.path().join(format!("{name}.cmd"));
            let script = format!(
                "@if \"%*\"==\"--version\" (echo {name} {version}) else (echo yes> \"%~f0.was-started\")\r\n"
            );
            std::fs::write(&file, script).unwrap();
        }
    }

    /// Returns a command that finds its programs, settings and sockets here.
    fn call(&self, arguments: &[&str]) -> Command {
        let mut command = command(arguments);
        command
            .env("PATH", self.path())
            .env("CLAUDE_CONFIG_DIR", self.path())
            .env("CODEX_HOME", self.path().join("codex-home"))
            .env("HOME", self.path().join("home"))
            .env("USERPROFILE", self.path().join("home"))
            .env_remove("COPILOT_HOME")
            .env_remove("QWEN_HOME")
            .env("XDG_STATE_HOME", self.path())
            .env("LOCALAPPDATA", self.path())
            .env("XDG_RUNTIME_DIR", self.path())
            .env("TMPDIR", self.path())
            .env_remove("OPENCODE_SERVER_PASSWORD")
            .current_dir(self.path());
        command
    }

    /// Returns the lines of `doctor` about the agents.
    fn doctor(&self) -> String {
        let arguments = ["doctor", "--voice", "none", "--silent"];
        let output = self.call(&arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let lines = text.lines().filter(|line| line.starts_with("Agents"));
        lines.map(|line| format!("{line}\n")).collect()
    }

    /// Starts an agent behind a socket with this name.
    #[cfg(unix)]
    fn agent(&self, name: &str) -> Hearken {
        let place = format!("unix:{name}");
        let mut agent = Hearken::spawn(&mut self.call(&["demo", "--serve", &place]));
        agent.wait("its place", |line| line.contains(name));
        agent
    }

    /// Runs `watch` without a source, in a terminal.
    #[cfg(unix)]
    fn watch(&self, voice: &str, daemon: &FakeSsip) -> Terminal {
        Terminal::start_with(
            80,
            24,
            &["watch", "--face", "linear", "--voice", voice],
            &[
                ("TERM", "xterm"),
                ("PATH", self.text()),
                ("CLAUDE_CONFIG_DIR", self.text()),
                ("XDG_RUNTIME_DIR", self.text()),
                ("TMPDIR", self.text()),
                ("SPEECHD_ADDRESS", &address(daemon)),
            ],
        )
    }
}

fn has(text: &str, words: &str) {
    assert!(text.contains(words), "no {words:?} in:\n{text}");
}

#[test]
fn doctor_names_the_agents_that_are_here_and_starts_none() {
    let place = NearbyFolder::new();
    let none = place.doctor();
    has(
        &none,
        "43 other agents can be started once installed; hearken run --list says how",
    );
    for name in ["codex", "claude", "opencode"] {
        place.program(name);
    }
    place.program_of("gemini", "0.61.0");
    let text = place.doctor();
    let codex = match cfg!(unix) {
        true => {
            "hearken watch codex follows one that you start in a terminal; hearken was tried with codex 0.171.0.\n"
        }
        false => "then hearken watch codex:ws://127.0.0.1:8765; ",
    };
    for words in [
        "Agents: Gemini CLI is here, gemini 0.61.0: hearken run gemini starts it; hearken hooks install gemini, then \
         hearken watch gemini hears one that you start in a terminal.\n",
        "Codex is here, codex 9.8.7: ",
        codex,
        "Opencode is here, opencode 9.8.7: hearken run opencode starts it",
        "Agents, could be better: Claude Code is here and can't be heard yet, because its hooks are not installed. \
         Remedy: hearken hooks install claude, then hearken watch claude.\n",
        "other agents can be started once installed",
    ] {
        has(&text, words);
    }
    let files = std::fs::read_dir(place.path()).unwrap();
    let started = files.filter(|file| {
        let name = file.as_ref().unwrap().file_name();
        name.to_string_lossy().ends_with("was-started")
    });
    assert_eq!(started.count(), 0);
}

#[test]
fn doctor_follows_the_hooks_of_claude_code_from_their_installing_to_their_loss() {
    let place = NearbyFolder::new();
    place.program("claude");
    let install = ["hooks", "install", "claude", "--yes"];
    assert!(place.call(&install).output().unwrap().status.success());
    has(
        &place.doctor(),
        "Agents: Claude Code is here, claude 9.8.7: hearken watch claude hears it by its hooks; hearken was tried with \
         claude 2.1.332.\n",
    );
    let watch = ["watch", "claude", "--face", "linear", "--voice", "none"];
    let mut listening = Hearken::spawn(&mut place.call(&watch));
    listening.wait("Connected", |line| line.contains("Connected"));
    has(&place.doctor(), "another hearken hears it by its hooks now");
    drop(listening);
    let file = place.path().join("settings.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let program = text.split(" hooks relay").next().unwrap();
    let program = program.rsplit('"').next().unwrap().to_owned();
    std::fs::write(&file, text.replace(&program, "/gone/hearken")).unwrap();
    has(
        &place.doctor(),
        "its hooks run /gone/hearken, which is not there any more. Remedy: hearken hooks install claude",
    );
    std::fs::write(&file, "{").unwrap();
    has(&place.doctor(), "its settings can't be read");
}

#[cfg(unix)]
#[test]
fn doctor_reports_an_old_package_and_an_old_node() {
    let place = NearbyFolder::new();
    place.program_of("node", "v20.1.0");
    let package = "lib/node_modules/@zed-industries/codex-acp/bin/codex-acp.js";
    place.program_of(package, "0.16.0");
    std::os::unix::fs::symlink(place.path().join(package), place.path().join("codex-acp")).unwrap();
    place.program("claude-code-acp");
    let text = place.doctor();
    for words in [
        "hearken was tried with codex-acp 2.6.0",
        "codex-acp is from the old package @zed-industries/codex-acp, which gets no new versions. Remedy: Run npm \
         uninstall -g @zed-industries/codex-acp, then npm install -g @agentclientprotocol/codex-acp.\n",
        "claude-code-acp is from the old package @zed-industries/claude-code-acp",
        "Node.js 20.1.0 is too old for Claude Code, Qwen Code, pi: npm installs old versions of them",
    ] {
        has(&text, words);
    }
    place.program_of("node", "v24.1.0");
    std::fs::remove_file(place.path().join("codex-acp")).unwrap();
    place.program_of("codex-acp", "2.6.0");
    std::fs::remove_file(place.path().join("claude-code-acp")).unwrap();
    let text = place.doctor();
    has(
        &text,
        "Codex is here, codex-acp 2.6.0: hearken run codex starts it.\n",
    );
    assert!(!text.contains("old"), "{text}");
}

#[test]
fn doctor_knows_the_hooks_of_every_agent() {
    let place = NearbyFolder::new();
    for name in ["codex", "copilot", "qwen", "gemini"] {
        let install = ["hooks", "install", name, "--yes"];
        assert!(place.call(&install).output().unwrap().status.success());
    }
    let text = place.doctor();
    for words in [
        "Codex is here: hearken watch hooks hears it by its hooks.\n",
        "Qwen Code is here: hearken watch qwen hears it by its hooks.\n",
        "Gemini CLI is here: hearken watch gemini hears it by its hooks.\n",
        "GitHub Copilot CLI is here: hearken watch copilot hears it by its hooks.\n",
    ] {
        has(&text, words);
    }
    let output = place
        .call(&["watch", "--face", "linear", "--voice", "none"])
        .output();
    let errors = String::from_utf8(output.unwrap().stderr).unwrap();
    has(&errors, "Running here: hearken watch hooks");
    // One of them loses its program, another a hook.
    let qwen = place.path().join("home/.qwen/settings.json");
    let text = std::fs::read_to_string(&qwen).unwrap();
    let program = text.split(" hooks relay").next().unwrap();
    let program = program.rsplit('"').next().unwrap().to_owned();
    std::fs::write(&qwen, text.replace(&program, "/gone/hearken")).unwrap();
    let gemini = place.path().join("home/.gemini/settings.json");
    let text = std::fs::read_to_string(&gemini).unwrap();
    std::fs::write(&gemini, text.replace("\"AfterTool\"", "\"Elsewhere\"")).unwrap();
    let text = place.doctor();
    for words in [
        "Qwen Code can't be heard, because its hooks run /gone/hearken, which is not there any more. Remedy: hearken \
         hooks install qwen, then hearken watch qwen.\n",
        "Gemini CLI can't be heard well, because not all of its hooks are in ",
        "Remedy: hearken hooks install gemini, then hearken watch gemini.\n",
    ] {
        has(&text, words);
    }
}

#[cfg(unix)]
#[test]
fn watch_without_a_terminal_names_what_runs_and_follows_nothing() {
    let place = NearbyFolder::new();
    let agent = place.agent("planner");
    for face in ["linear", "json"] {
        let arguments = ["watch", "--face", face, "--voice", "none"];
        let output = place.call(&arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let errors = String::from_utf8(output.stderr).unwrap();
        has(&errors, "hearken watch unix:planner");
        assert_eq!(errors.lines().count(), 1, "{errors}");
        assert!(output.stdout.is_empty());
    }
    has(
        &place.doctor(),
        "An AAEP agent is running, planner: hearken watch unix:planner follows it.",
    );
    drop(agent);
}

/// The socket of a Codex that runs in a terminal is enough; one that nobody listens on does not
/// count.
#[cfg(unix)]
#[test]
fn codex_in_its_terminal_is_found_by_its_socket() {
    let place = NearbyFolder::new();
    let folder = place.path().join("codex-home/app-server-control");
    std::fs::create_dir_all(&folder).unwrap();
    // As Codex does it: the socket is elsewhere, and a link leads there.
    let socket = place.path().join("daemon");
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    std::os::unix::fs::symlink(&socket, folder.join("app-server-control.sock")).unwrap();
    let serving = std::thread::spawn(move || {
        for _ in 0..2 {
            let (stream, _) = listener.accept().unwrap();
            if let Ok(mut socket) = tokio_tungstenite::tungstenite::accept(stream) {
                // Nothing is asked of it.
                let message = socket.read();
                assert!(!message.is_ok_and(|it| it.is_text()));
            }
        }
    });
    place.program("codex");
    let text = place.doctor();
    has(&text, "it is running, and hearken watch codex follows it");
    assert!(!text.contains("codex app-server"), "{text}");
    let arguments = ["watch", "--face", "linear", "--voice", "none"];
    let output = place.call(&arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let errors = String::from_utf8(output.stderr).unwrap();
    has(&errors, "hearken watch codex");
    serving.join().unwrap();
    // The listener is gone, its socket is not.
    has(
        &place.doctor(),
        "hearken watch codex follows one that you start in a terminal",
    );
}

#[cfg(unix)]
#[test]
fn watch_offers_what_runs_under_numbers_says_it_and_follows_what_is_chosen() {
    let place = NearbyFolder::new();
    let _agent = place.agent("planner");
    let daemon = FakeSsip::start();
    daemon.speech(WordsFate::Ends);
    let mut terminal = place.watch("speech-dispatcher", &daemon);
    terminal.wait("1: planner.");
    terminal.wait("q leaves.");
    daemon.wait("the offer", |_, messages| {
        let said = |words: &str| messages.iter().any(|it| it.text.contains(words));
        (said("1: planner.") && said("Type a number, or several, and press Enter.")).then_some(())
    });
    for none in ["\r", "y\r", "1 99\r"] {
        terminal.press(none);
        terminal.wait("The numbers are 1 to");
    }
    terminal.press("1\r");
    terminal.wait("hearken, plain lines");
    terminal.wait("Connected");
    terminal.press("q\r");
    assert_eq!(terminal.exit(), 0);
}

#[cfg(unix)]
#[test]
fn an_offer_is_left_by_q_by_the_end_of_the_input_and_by_an_interrupt() {
    let place = NearbyFolder::new();
    let _agent = place.agent("planner");
    let daemon = FakeSsip::absent();
    for (keys, code) in [("q\r", 0), ("\x04", 0), ("\x03", 130)] {
        let mut terminal = place.watch("none", &daemon);
        terminal.wait("q leaves.");
        terminal.press(keys);
        assert_eq!(terminal.exit(), code, "{keys:?}");
    }
}
