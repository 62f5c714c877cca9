//! A real agent under `hearken acp-proxy`, and a scripted editor above it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use hearken_wording::phrase;
use serde_json::{Value, json};

use super::agent_home::{AgentHome, OPENCODE, asked};
use super::child::{Hearken, command};

/// An editor that has opened a conversation.
struct Editor {
    scene: AgentHome,
    proxy: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    conversation: String,
    last: u64,
}

impl Editor {
    fn new() -> Self {
        let scene = AgentHome::new(&OPENCODE);
        let mut call = command(&["acp-proxy", "--voice", "none", "--", "opencode", "acp"]);
        call.envs(scene.environment.iter().map(|(name, value)| (name, value)))
            .env("XDG_RUNTIME_DIR", scene.work())
            .current_dir(scene.work())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut proxy = call.spawn().unwrap();
        let input = proxy.stdin.take();
        let output = BufReader::new(proxy.stdout.take().unwrap());
        let mut editor = Self {
            scene,
            proxy,
            input,
            output,
            conversation: String::new(),
            last: 0,
        };
        let id = editor.wants(
            "initialize",
            &json!({"protocolVersion": 1, "clientCapabilities": {}}),
        );
        editor.until(|it| it["id"] == id && it.get("method").is_none());
        let folder = editor.scene.work();
        let id = editor.wants("session/new", &json!({"cwd": folder, "mcpServers": []}));
        let opened = editor.until(|it| it["id"] == id && it.get("method").is_none());
        editor.conversation = opened["result"]["sessionId"].as_str().unwrap().to_owned();
        editor
    }

    fn says(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    fn wants(&mut self, method: &str, params: &Value) -> u64 {
        self.last += 1;
        let id = self.last;
        self.says(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    fn prompt(&mut self, words: &str) -> u64 {
        let params =
            json!({"sessionId": self.conversation, "prompt": [{"type": "text", "text": words}]});
        self.wants("session/prompt", &params)
    }

    /// Reads until a message matches.
    fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let mut line = String::new();
            assert!(
                self.output.read_line(&mut line).unwrap() > 0,
                "the agent ended"
            );
            let message: Value = serde_json::from_str(&line).unwrap();
            if fits(&message) {
                return message;
            }
        }
    }

    /// Waits for a permission request of the agent; returns it.
    fn asked(&mut self) -> Value {
        self.until(|it| it["method"] == "session/request_permission")
    }

    fn watch(&self) -> Hearken {
        let mut call = command(&[
            "watch",
            "unix:opencode",
            "--voice",
            "none",
            "--face",
            "json",
        ]);
        Hearken::spawn(call.env("XDG_RUNTIME_DIR", self.scene.work()))
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.proxy.kill();
        let _ = self.proxy.wait();
    }
}

#[test]
fn opencode_below_an_editor_is_allowed_from_a_terminal_and_in_the_editor() {
    let mut editor = Editor::new();
    let mut hearken = editor.watch();
    hearken.announced("connection", "onnected");

    // In the terminal: the editor is told to withdraw its question, and its late answer goes
    // nowhere.
    let turn = editor.prompt("touch a.txt");
    let request = editor.asked();
    let n = asked(&mut hearken, "\ntouch a.txt\n");
    assert!(!editor.scene.has("a.txt"));
    std::thread::sleep(Duration::from_millis(1200));
    hearken.say(&format!("y {n}"));
    hearken.announced("reply", phrase!("reply.second_step.*"));
    hearken.say(&format!("c {n}"));
    let withdrawn = editor.until(|it| it["method"] == "$/cancel_request");
    assert_eq!(withdrawn["params"]["requestId"], request["id"]);
    editor.says(&json!({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32800, "message": "Request cancelled"}}));
    editor.until(|it| it["id"] == turn && it.get("result").is_some());
    hearken.announced("tool_completed", "touch a.txt");
    hearken.announced("output", "The file stands there.");
    hearken.announced("session_completed", "Finished");
    assert!(editor.scene.has("a.txt"));

    // In the editor: the question in the terminal is closed.
    let turn = editor.prompt("touch b.txt");
    let request = editor.asked();
    asked(&mut hearken, "\ntouch b.txt\n");
    let options = request["params"]["options"].as_array().unwrap();
    let once = options
        .iter()
        .find(|it| it["kind"] == "allow_once")
        .unwrap();
    editor.says(&json!({"jsonrpc": "2.0", "id": request["id"],
        "result": {"outcome": {"outcome": "selected", "optionId": once["optionId"]}}}));
    hearken.announced("confirmation", "settled without you");
    editor.until(|it| it["id"] == turn && it.get("result").is_some());
    hearken.announced("session_completed", "Finished");
    assert!(editor.scene.has("b.txt"));
    hearken.leave();
    assert_eq!(hearken.exit().0, 0);

    // The editor leaves: so does the agent.
    editor.input = None;
    assert!(editor.proxy.wait().unwrap().code().is_some());
}
