//! The plain `codex` in a terminal, with hearken beside it: each hears who answered, and the reviewer can be overruled.

use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use hearken_wording::phrase;

use super::PATIENCE;
use super::child::{Hearken, command};
use super::codex_server::{accept, asked, leave, number_of, prepared, program};
use super::peer_screen::pty_terminal::Terminal;

/// How long Codex treats typed keys as part of a paste, in which Enter only breaks the line.
const NO_PASTE: Duration = Duration::from_millis(700);

/// A home for Codex and its model. The first terminal in it starts a daemon, which outlives the
/// terminal.
struct TerminalHome {
    folder: tempfile::TempDir,
    model: Child,
}

impl TerminalHome {
    fn new(more: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (home, model) = prepared(
            &folder,
            &format!("check_for_update_on_startup = false\n{more}"),
        );
        let file = home.join("codex/config.toml");
        let mut settings = std::fs::read_to_string(&file).unwrap();
        let work = home.join("work");
        settings += &format!(
            "[projects.{:?}]\ntrust_level = \"trusted\"\n",
            work.to_str().unwrap()
        );
        std::fs::write(file, settings).unwrap();
        Self { folder, model }
    }

    fn home(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn has(&self, file: &str) -> bool {
        self.home().join("work").join(file).exists()
    }

    /// Starts Codex as a person does, and waits until its daemon listens. If that can't start, as on a full disk, Codex
    /// goes on without it.
    fn codex(&self) -> Terminal {
        let home = self.home();
        let (codex, work) = (home.join("codex"), home.join("work"));
        let mut terminal = Terminal::start_program(
            program().to_str().unwrap(),
            110,
            40,
            &["-C", work.to_str().unwrap()],
            &[
                ("TERM", "xterm-256color"),
                ("HOME", home.to_str().unwrap()),
                ("CODEX_HOME", codex.to_str().unwrap()),
            ],
        );
        terminal.wait("Ask Codex to do anything");
        let since = Instant::now();
        while !self.socket().exists() {
            assert!(since.elapsed() < PATIENCE, "Codex starts no daemon");
            terminal.let_pass(Duration::from_millis(200));
        }
        terminal
    }

    fn hearken(&self, source: &str) -> Hearken {
        let arguments = ["watch", source, "--voice", "none", "--face", "json"];
        Hearken::spawn(command(&arguments).env("CODEX_HOME", self.home().join("codex")))
    }

    fn socket(&self) -> PathBuf {
        let folder = self.home().join("codex/app-server-control");
        folder.join("app-server-control.sock")
    }
}

impl Drop for TerminalHome {
    fn drop(&mut self) {
        for name in ["daemon-updater.pid", "daemon.pid"] {
            let file = self.home().join("codex/app-server-daemon").join(name);
            let text = std::fs::read_to_string(file).unwrap_or_default();
            let about: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
            if let Some(id) = about["pid"].as_u64() {
                let _ = Command::new("kill").args(["-9", &id.to_string()]).status();
            }
        }
        let _ = self.model.kill();
        let _ = self.model.wait();
    }
}

/// Types a prompt in Codex's own terminal, and sends it.
fn tell(codex: &mut Terminal, words: &str) {
    codex.press(words);
    codex.wait(words);
    codex.let_pass(NO_PASTE);
    codex.press("\r");
}

#[test]
fn the_codex_of_a_terminal_is_answered_here_and_there() {
    let scene = TerminalHome::new("");
    let mut hearken = scene.hearken("codex");
    hearken.announced(
        "connection",
        phrase!("cause.socket.program", program = "codex"),
    );
    let mut codex = scene.codex();
    // It may come before the terminal's own conversation.
    hearken.announced("connection", "open there.");

    // Answered here: Codex's own dialog closes.
    tell(&mut codex, "ask: touch a.txt");
    codex.wait("Would you like to run the following command?");
    let n = asked(&mut hearken, "\ntouch a.txt\n");
    assert!(!scene.has("a.txt"));
    accept(&mut hearken, &n);
    hearken.announced("tool_completed", "touch a.txt");
    hearken.announced("session_completed", "Finished");
    codex.wait_until("the end of the dialog", |screen| {
        screen.contains("The file stands there.") && !screen.contains("Would you like to run")
    });
    assert!(scene.has("a.txt"));

    // Answered there.
    tell(&mut codex, "ask: touch b.txt");
    let n = asked(&mut hearken, "\ntouch b.txt\n");
    codex.wait("Would you like to run the following command?");
    codex.press("y");
    hearken.announced(
        "confirmation",
        &format!("Question {n} was settled without you."),
    );
    hearken.announced("session_completed", "Finished");
    assert!(scene.has("b.txt"));

    // Who comes while it asks is asked, too.
    tell(&mut codex, "ask: touch c.txt");
    let n = asked(&mut hearken, "\ntouch c.txt\n");
    let source = format!("codex:unix:{}", scene.socket().display());
    let mut late = scene.hearken(&source);
    let m = number_of(&late.announced("confirmation", "\ntouch c.txt\n"));
    late.announced("connection", phrase!("codex.attached", n = 1));
    late.say(&format!("n {m}"));
    late.announced("reply", "Rejecting");
    hearken.announced(
        "confirmation",
        &format!("Question {n} was settled without you."),
    );
    late.announced("session_completed", "Finished");
    hearken.announced("session_completed", "Finished");
    codex.wait("Then not.");
    assert!(!scene.has("c.txt"));
    leave(late);
    leave(hearken);
}

#[test]
fn what_codexs_reviewer_refuses_is_said_and_the_person_can_overrule_it() {
    let scene = TerminalHome::new("approvals_reviewer = \"auto_review\"\n");
    let mut codex = scene.codex();
    let mut hearken = scene.hearken("codex");
    hearken.announced("connection", "open there.");
    tell(&mut codex, "ask: touch danger.txt");
    let refused = hearken.announced(
        "connection",
        phrase!(
            "oversight.reviewer.refused",
            agent = "Codex",
            title = "touch danger.txt"
        ),
    );
    let words = refused["text"].as_str().unwrap();
    assert!(
        words.ends_with("Its reason: Nobody asked for danger."),
        "{words}"
    );
    let question = hearken.announced("confirmation", "touch danger.txt. If accepted");
    let text = question["text"].as_str().unwrap();
    assert!(phrase!("question.risk.high").is_in(text), "{text}");
    let n = text.split("uestion ").nth(1).unwrap();
    let n = n.split([' ', '.']).next().unwrap().to_owned();
    hearken.announced("session_completed", "Finished");
    assert!(!scene.has("danger.txt"));
    accept(&mut hearken, &n);
    hearken.announced("connection", phrase!("codex.overrule.waits"));
    hearken.say("> ask: touch danger.txt");
    hearken.announced("tool_completed", "touch danger.txt");
    hearken.announced("session_completed", "Finished");
    assert!(scene.has("danger.txt"));
    // What it finds harmless, it lets run without a word.
    tell(&mut codex, "ask: touch d.txt");
    hearken.announced("tool_completed", "touch d.txt");
    hearken.announced("session_completed", "Finished");
    leave(hearken);
}
