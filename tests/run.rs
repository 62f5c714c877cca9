//! Agents that are started here, as whole programs: an agent of the test's own below the real hearken.

use std::sync::{Arc, Mutex};
#[cfg(unix)]
use std::time::Duration;

use hearken_wording::phrase;
use serde_json::json;

use crate::support::child::{Hearken, command};
#[cfg(unix)]
use crate::support::pty_terminal::Terminal;
use crate::support::stand_in::{ProgramPipes, StandIn};
use scripted_agents::{AskingAgent, DraftAgent, ScriptedAgent, SignInAgent};

#[cfg(unix)]
mod executed_calls;
pub(crate) mod scripted_agents;

/// An agent, and a folder of its own to work in.
pub(crate) struct AgentFolder {
    folder: tempfile::TempDir,
    pub(crate) call: Vec<String>,
    heard: Arc<Mutex<Vec<String>>>,
    // Kept for as long as it may be started.
    _stand_in: StandIn,
}

impl AgentFolder {
    pub(crate) fn new<A: ScriptedAgent>() -> Self {
        let stand_in = StandIn::new("warming up", 0);
        let heard = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&heard);
        stand_in.plays(move |mut talk| {
            let mut agent = A::default();
            while let Some(line) = talk.hear() {
                let message = serde_json::from_str(&line).unwrap();
                told.lock().unwrap().push(line);
                for answer in agent.answer(&message) {
                    talk.say(&answer.to_string());
                }
            }
            talk.end();
        });
        Self {
            folder: tempfile::tempdir().unwrap(),
            call: stand_in.call(),
            heard,
            _stand_in: stand_in,
        }
    }

    pub(crate) fn path(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }

    /// Returns what the agent read, without the greeting.
    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().iter().skip(1).cloned().collect()
    }

    /// Returns the request for a conversation in the folder.
    fn new_session(&self, id: u64) -> String {
        let folder = json!(self.path());
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"session/new","params":{{"cwd":{folder},"mcpServers":[]}}}}"#
        )
    }
}

fn run<'a>(agent: &'a AgentFolder, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["run", "--voice", "none", "--cwd", agent.path()];
    arguments.extend(more);
    arguments.push("--");
    arguments.extend(agent.call.iter().map(String::as_str));
    arguments
}

#[test]
fn an_agent_is_prompted_answered_and_stopped_in_lines() {
    let agent = AgentFolder::new::<AskingAgent>();
    let mut hearken = Hearken::start(&run(&agent, &["--face", "linear", "--prompt", "touch it"]));
    let mut wait = |words: &'static str, say: &str| {
        hearken.wait(words, |line| line.contains(words));
        if !say.is_empty() {
            hearken.say(say);
        }
    };
    wait("Mock asks: touch notes.txt", "");
    wait("o 1 1 for choice 1: allow from now on: Every touch", "y 1");
    wait("c 1 to confirm", "c 1");
    wait("It is done.", "");
    wait("Finished", "> and\tmore");
    // The question is open, and so is the turn: the next prompt waits, and the turn is stopped.
    wait("c 2", "> later");
    wait("It waits, and is sent when the agent is done.", "stop");
    wait("Type stop once more", "stop");
    wait("The agent was asked to stop.", "");
    wait("Question 2 is cancelled by your stop.", "");
    wait("Cancelled by user.", "");
    wait("n 3", "n 3");
    wait("Then not.", "");
    wait("Finished", "g");
    wait("warming up", "q");
    wait("this conversation can't be resumed", "q");
    let (code, errors, seen) = hearken.exit();
    assert_eq!((code, errors.as_str()), (0, ""));
    assert!(!seen.iter().any(|line| line.contains("without you")));
    let prompt = |id: u64, text: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"session/prompt","params":{{"sessionId":"s1","prompt":[{{"type":"text","text":"{text}"}}]}}}}"#
        )
    };
    let outcome = |outcome: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":"p-1","result":{{"outcome":{outcome}}}}}"#)
    };
    assert_eq!(
        agent.heard(),
        [
            agent.new_session(2),
            prompt(3, "touch it"),
            outcome(r#"{"outcome":"selected","optionId":"once"}"#),
            prompt(4, "and\\tmore"),
            r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}"#.to_owned(),
            outcome(r#"{"outcome":"cancelled"}"#),
            prompt(5, "later"),
            outcome(r#"{"outcome":"selected","optionId":"no"}"#),
        ]
    );
}

#[test]
fn an_agent_is_signed_in_to_set_and_told_what_its_form_wants_in_lines() {
    let agent = AgentFolder::new::<SignInAgent>();
    let mut hearken = Hearken::start(&run(&agent, &["--face", "linear", "--prompt", "go"]));
    let mut wait = |words: &'static str, say: &str| {
        hearken.wait(words, |line| line.contains(words));
        if !say.is_empty() {
            hearken.say(say);
        }
    };
    // One way fails, another one works.
    wait("The agent wants you to sign in. How?", "o 1 2");
    wait("MOCK_KEY is not set", "");
    wait("The agent wants you to sign in. How?", "o 2 1");
    wait("You are signed in.", "");
    wait("Mode Ask: what it asks is not known.", "");
    // The prompt that waited requests a form.
    wait("How shall I do it? Part 1 of 2: How many.", "a #3 7");
    wait("This is not accepted. A number from 1 up to 5.", "");
    wait("Part 1 of 2: How many", "a #4 2");
    wait("Part 2 of 2: how", "o 5 2");
    wait("Is this right? How many: 2; how: fast", "o 6 1");
    wait("At mock.example: Allow it there.", "y 7");
    wait("Open it in your browser: https://mock.example/connect", "");
    wait("Then I do it so.", "");
    wait("Finished", "commands");
    wait("/review: Reviews what changed.", "set");
    wait("Mode is Ask. Change it to what?", "o 8 2");
    wait("The agent says: Approves everything by itself.", "y 9");
    wait("Mode: Yolo.", "q");
    wait("this conversation can't be resumed", "q");
    let (code, errors, _) = hearken.exit();
    assert_eq!((code, errors.as_str()), (0, ""));
    let heard = agent.heard();
    let heard: Vec<&str> = heard.iter().map(String::as_str).collect();
    let new = |id| agent.new_session(id);
    assert_eq!(
        heard,
        [
            &new(2),
            r#"{"jsonrpc":"2.0","id":3,"method":"authenticate","params":{"methodId":"key"}}"#,
            r#"{"jsonrpc":"2.0","id":4,"method":"authenticate","params":{"methodId":"page"}}"#,
            &new(5),
            r#"{"jsonrpc":"2.0","id":6,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"go"}]}}"#,
            r#"{"jsonrpc":"2.0","id":"f-1","result":{"action":"accept","content":{"count":2,"how":"fast"}}}"#,
            r#"{"jsonrpc":"2.0","id":"u-1","result":{"action":"accept"}}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"session/set_mode","params":{"sessionId":"s1","modeId":"yolo"}}"#,
        ]
    );
}

#[cfg(unix)]
#[test]
fn an_agent_is_prompted_and_stopped_by_keys_on_a_small_screen_and_enter_answers_nothing() {
    let agent = AgentFolder::new::<AskingAgent>();
    let mut terminal = Terminal::start(40, 10, &run(&agent, &["--face", "full"]));
    terminal.wait("The agent is ready.");
    terminal.press(">");
    terminal.wait("Prompt:");
    terminal.press("touch it");
    terminal.wait("touch it");
    terminal.press("\r");
    terminal.wait("touch notes.txt");
    terminal.let_pass(Duration::from_millis(500));
    terminal.press("\r \r");
    terminal.let_pass(Duration::from_millis(450));
    terminal.press("y");
    terminal.wait("c");
    // The turn is stopped in the middle of an answer, which answers nothing.
    terminal.press("\x18");
    terminal.wait("once more");
    // So soon after the last press it might be a held key, which would not count.
    terminal.let_pass(Duration::from_millis(900));
    terminal.press("\x18");
    terminal.wait("Cancelled by user.");
    terminal.press("q");
    terminal.wait("again to leave");
    terminal.press("q");
    assert_eq!(terminal.exit(), 0);
    let answers: Vec<String> = agent
        .heard()
        .into_iter()
        .filter(|line| line.contains("p-1"))
        .collect();
    assert_eq!(
        answers,
        [r#"{"jsonrpc":"2.0","id":"p-1","result":{"outcome":{"outcome":"cancelled"}}}"#]
    );
}

#[test]
fn leaving_with_a_question_open_says_what_becomes_of_it_and_gives_nothing() {
    let agent = AgentFolder::new::<AskingAgent>();
    let mut hearken = Hearken::start(&run(&agent, &["--face", "linear", "--prompt", "touch it"]));
    hearken.wait("its question", |line| line.contains("touch notes.txt"));
    hearken.say("q");
    hearken.wait("what becomes of it", |line| {
        phrase!("quit.default.cancelled", n = 1).is_in(line)
    });
    hearken.say("q");
    let (code, _, _) = hearken.exit();
    assert_eq!(code, 0);
    let heard = agent.heard().join("\n");
    assert!(heard.contains("session/cancel"), "{heard}");
    assert!(!heard.contains("selected"), "{heard}");
}

#[test]
fn the_end_of_an_agent_is_told_and_what_it_left_undone() {
    let stand_in = StandIn::new("", 3);
    stand_in.plays(ProgramPipes::end);
    let call = stand_in.call();
    let mut arguments = vec![
        "run", "--voice", "none", "--face", "linear", "--prompt", "go", "--",
    ];
    arguments.extend(call.iter().map(String::as_str));
    let mut hearken = Hearken::start(&arguments);
    hearken.wait("its end", |line| {
        phrase!("fault.exit", number = 3).is_in(line)
    });
    let (code, _, seen) = hearken.exit();
    assert_eq!(code, 1);
    assert!(
        seen.iter()
            .any(|line| phrase!("prompt.unsent", n = 1).is_in(line)),
        "{seen:?}"
    );
}

/// A program started from a desktop has a short `PATH`: an agent in the person's own folder is found all the same, and
/// finds others there.
#[test]
fn an_agent_of_version_2_of_the_protocol_is_left_with_one_sentence() {
    let agent = AgentFolder::new::<DraftAgent>();
    let hearken = Hearken::start(&run(&agent, &["--face", "json", "--prompt", "touch it"]));
    let (code, errors, seen) = hearken.exit();
    assert_eq!((code, errors.as_str()), (1, ""));
    let words = "it speaks version 2 of ACP, and hearken speaks version 1";
    let told = seen.iter().filter(|line| line.contains(words)).count();
    assert_eq!(told, 1, "{seen:?}");
    for noise in [r#""kind":"anomaly""#, "does not know", "could not be read"] {
        assert!(!seen.iter().any(|line| line.contains(noise)), "{seen:?}");
    }
    assert_eq!(agent.heard(), [""; 0], "nothing but the greeting was sent");
}

#[test]
fn an_agent_that_path_does_not_name_is_found_where_it_was_installed() {
    let home = tempfile::tempdir().unwrap();
    let places = [".local", ".npm-global"].map(|place| home.path().join(place).join("bin"));
    let [programs, others] = &places;
    for folder in &places {
        std::fs::create_dir_all(folder).unwrap();
    }
    // Its script starts another one by its name, as scripts do.
    let (first, second) = match cfg!(windows) {
        true => ("@inner-agent %*\r\n", "@echo from there>&2\r\n@exit 6\r\n"),
        false => (
            "#!/bin/sh\nexec inner-agent\n",
            "#!/bin/sh\necho from there >&2\nexit 6\n",
        ),
    };
    put_program(programs, "outer-agent", first);
    put_program(others, "inner-agent", second);
    let start = |path: &std::path::Path| {
        let arguments = "run --voice none --face linear --prompt go -- outer-agent";
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let home_is = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
        let mut call = command(&arguments);
        let short = std::env::join_paths([path, system_programs()]).unwrap();
        Hearken::spawn(call.env(home_is, home.path()).env("PATH", short))
    };
    start(home.path()).wait("its end", |line| {
        phrase!("fault.exit", number = 6).is_in(line)
    });
    // A program that PATH finds takes precedence.
    let own = home.path().join("own");
    std::fs::create_dir(&own).unwrap();
    put_program(&own, "outer-agent", &first.replace("inner", "no-such"));
    let mut other = start(&own);
    let end = other.wait("its end", |line| line.contains("exit code"));
    assert!(!phrase!("fault.exit", number = 6).is_in(&end), "{end}");
}

/// Returns where a system keeps its own programs.
fn system_programs() -> &'static std::path::Path {
    std::path::Path::new(match cfg!(windows) {
        true => r"C:\windows\system32",
        false => "/usr/bin",
    })
}

/// Puts a script into a folder, where it can be called by a name.
fn put_program(folder: &std::path::Path, name: &str, text: &str) {
    let file = folder.join(match cfg!(windows) {
        true => format!("{name}.cmd"),
        false => name.to_owned(),
    });
    std::fs::write(&file, text).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// An absolute path where nothing exists.
const NOWHERE: &str = if cfg!(windows) {
    r"C:\nowhere\x"
} else {
    "/nowhere/x"
};

#[test]
fn what_can_not_be_run_is_said_with_what_helps_before_anything_starts() {
    for (arguments, words) in [
        (vec!["run"], "there is nothing to run"),
        (
            vec!["run", "purple"],
            "hearken run --list names the known ones",
        ),
        (
            vec!["run", "https://127.0.0.1:1/acp"],
            "ws:// and wss://, not over HTTP",
        ),
        (vec!["run", "opencode"], "npm install -g opencode-ai"),
        (
            vec!["run", "--", NOWHERE],
            &format!("there is no program {NOWHERE}"),
        ),
    ] {
        let output = command(&arguments)
            .env("PATH", "/nonexistent")
            .output()
            .unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(
            errors.contains(words) && errors.lines().count() == 1,
            "{errors}"
        );
    }
    let output = command(&["run", "--list"])
        .env("PATH", "/nonexistent")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        phrase!(
            "run.list.missing",
            name = "opencode",
            title = "opencode",
            command = "opencode acp",
            install = "npm"
        )
        .is_in(&text)
    );
    // The one that is here comes first.
    let folder = tempfile::tempdir().unwrap();
    let name = if cfg!(windows) { "kimi.exe" } else { "kimi" };
    let file = folder.path().join(name);
    std::fs::write(&file, "").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let output = command(&["run", "--list"])
        .env("PATH", folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let kimi =
        "kimi: Kimi CLI. Runs kimi acp. It is installed. Not tried. Signs in with kimi login\n";
    assert!(text.starts_with(kimi), "{text}");
}

/// Starts the agent in the full face, with an editor.
#[cfg(unix)]
fn with_editor(agent: &AgentFolder, editor: &str) -> Terminal {
    let arguments = run(agent, &["--face", "full"]);
    let environment = [("TERM", "xterm-256color"), ("VISUAL", editor)];
    let mut terminal = Terminal::start_with(60, 14, &arguments, &environment);
    terminal.wait("The agent is ready.");
    terminal.press(">");
    terminal.wait("Prompt:");
    terminal.press("touch");
    terminal.wait("touch");
    terminal.press("\x07");
    terminal
}

#[cfg(unix)]
#[test]
fn a_prompt_is_written_on_in_the_persons_own_editor_and_sent_by_enter_alone() {
    let agent = AgentFolder::new::<AskingAgent>();
    let script = agent.folder.path().join("editor.sh");
    // It has the terminal alone: every key goes to it, and what is typed after it is closed goes nowhere.
    let written = "ls -l \"$1\" >\"${0%/*}/rights\"\nprintf 'editing\\n'\nread line\nread more\n\
        printf '%s\\n%s and %s\\n' \"$(cat \"$1\")\" \"$line\" \"$more\" >\"$1\"\n";
    std::fs::write(&script, written).unwrap();
    let editor = format!("sh '{}'", script.display());
    let mut terminal = with_editor(&agent, &editor);
    terminal.wait("editing");
    terminal.press("y\r");
    terminal.press("q\r");
    terminal.wait("y and q");
    let prompts = |agent: &AgentFolder| {
        let heard = agent.heard();
        let prompts = heard.into_iter().filter(|it| it.contains("session/prompt"));
        prompts.collect::<Vec<_>>()
    };
    assert_eq!(prompts(&agent), [""; 0], "closing it sends nothing");
    terminal.press("\r");
    terminal.wait("touch notes.txt");
    let sent = prompts(&agent);
    assert_eq!(sent.len(), 1);
    assert!(sent[0].contains(r"touch\ny and q"), "{sent:?}");
    // Only the person could access the file, and it is gone.
    let rights = std::fs::read_to_string(agent.folder.path().join("rights")).unwrap();
    assert!(rights.starts_with("-rw-------"), "{rights}");
    let name = rights.split_whitespace().last().unwrap().to_owned();
    assert!(!std::path::Path::new(&name).exists(), "{name}");
}

#[cfg(unix)]
#[test]
fn an_editor_that_fails_or_is_none_leaves_what_was_typed() {
    for (editor, words) in [
        ("false", "failed"),
        ("/nowhere/ed", "could not be"),
        ("", "no editor is named"),
    ] {
        let agent = AgentFolder::new::<AskingAgent>();
        let mut terminal = with_editor(&agent, editor);
        terminal.wait(words);
        // It continues where it was.
        terminal.press(" it");
        terminal.wait("touch it");
        terminal.press("\r");
        terminal.wait("touch notes.txt");
    }
}

/// An agent on another machine, behind a WebSocket: one message per frame.
#[test]
fn an_agent_elsewhere_is_prompted_and_answered_over_a_websocket() {
    use tokio_tungstenite::tungstenite::{Message, accept};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("ws://{}/acp", listener.local_addr().unwrap());
    let heard = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&heard);
    let server = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut socket = accept(stream).unwrap();
        let mut agent = AskingAgent::default();
        while let Ok(Message::Text(text)) = socket.read() {
            told.lock().unwrap().push(text.to_string());
            for answer in agent.answer(&serde_json::from_str(&text).unwrap()) {
                socket.send(answer.to_string().into()).unwrap();
            }
        }
    });
    let call = ["run", &address, "--voice", "none", "--face", "linear"];
    let (code, errors, _) = Hearken::start(&call).exit();
    assert_eq!(code, 2, "{errors}");
    assert!(phrase!("run.no_remote_folder").is_in(&errors), "{errors}");
    let mut hearken =
        Hearken::start(&[&call[..], &["--cwd", "/srv/work", "--prompt", "touch it"]].concat());
    let mut wait = |words: &'static str, say: &str| {
        hearken.wait(words, |line| line.contains(words));
        if !say.is_empty() {
            hearken.say(say);
        }
    };
    wait("Mock asks: touch notes.txt", "");
    wait("n 1 rejects", "n 1");
    wait("Then not.", "");
    wait("Finished", "q");
    assert_eq!(hearken.exit().0, 0);
    server.join().unwrap();
    let heard = heard.lock().unwrap().join("\n");
    assert!(heard.contains(r#""cwd":"/srv/work""#), "{heard}");
    assert!(heard.contains(r#""optionId":"no""#), "{heard}");
}
