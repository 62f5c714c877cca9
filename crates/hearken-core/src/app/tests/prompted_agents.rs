//! An agent that takes prompts from here, over its own protocol.

mod short_help;
mod unasked_edits;
mod word_limits;

use super::*;

impl Stage {
    /// Returns a stage with an agent whose conversation is open and that was prompted.
    pub(super) fn prompted(options: Options) -> Self {
        let mut stage = Self::agent(options, Config::default());
        stage.type_prompt("do it");
        stage
    }

    /// Returns a stage with an agent whose conversation is open.
    pub(super) fn agent(options: Options, config: Config) -> Self {
        Self::agents(1, options, config)
    }

    /// Returns a stage with `count` such agents.
    pub(super) fn agents(count: usize, options: Options, config: Config) -> Self {
        let source = |at: usize| SourceSetup {
            name: format!("agent {at}"),
            answerable: true,
            carrier: crate::dialect::TransportKind::Lines,
            dialect: crate::config::Dialect::Acp,
            folder: "/work/a".to_owned(),
            program: true,
            ..SourceSetup::default()
        };
        let mut stage = Self::under(config, options, (0..count).map(source).collect());
        for at in 0..count {
            stage.link(at, LinkEvent::Connected);
            let frame = |it: Value| LinkEvent::Frame(Frame::of(it.to_string()));
            stage.link(at, frame(json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1,
                "agentCapabilities": {}, "agentInfo": {"name": format!("fox{at}"), "title": format!("Fox {at}")}}})));
            stage.link(
                at,
                frame(json!({"jsonrpc": "2.0", "id": 2, "result": {"sessionId": "s"}})),
            );
        }
        stage.wait(2000);
        stage.lines.clear();
        stage.sent.clear();
        stage
    }

    pub(super) fn type_prompt(&mut self, text: &str) {
        let (app, text) = (&mut self.app, Some(text.to_owned()));
        app.cx.now = self.now;
        let facts = (app.prompts).tell_agent(text, &app.links, &mut app.cx);
        app.pass(facts);
        self.wait(10);
        self.input(Input::Deadline);
    }

    pub(super) fn update(&mut self, link: usize, update: Value) {
        let text = json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}});
        self.link(link, LinkEvent::Frame(Frame::of(text.to_string())));
    }

    pub(super) fn says(&mut self, text: &str) {
        self.says_on(0, text);
    }

    pub(super) fn says_on(&mut self, link: usize, text: &str) {
        let content = json!({"type": "text", "text": text});
        self.update(
            link,
            json!({"sessionUpdate": "agent_message_chunk", "content": content}),
        );
    }

    /// Ends the turn of the last prompt that was sent.
    pub(super) fn turn_ends(&mut self) {
        let id = self.prompts(0).last().map(|(id, _)| *id).unwrap();
        let text = json!({"jsonrpc": "2.0", "id": id, "result": {"stopReason": "end_turn"}});
        self.link(0, LinkEvent::Frame(Frame::of(text.to_string())));
    }

    /// Returns the prompts that were sent to a source, with their ids.
    pub(super) fn prompts(&self, link: usize) -> Vec<(u64, String)> {
        let to = self.frames.iter().filter(|(to, _)| *to == LinkId(link));
        let to = to.map(|(_, body)| body);
        let prompts = to.filter(|body| body["method"] == "session/prompt");
        let text = |body: &Value| {
            body["params"]["prompt"][0]["text"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        prompts
            .map(|body| (body["id"].as_u64().unwrap(), text(body)))
            .collect()
    }

    /// Has the agent ask for permission, which can be given once or refused.
    pub(super) fn asks(&mut self, id: u64, call: Value) {
        self.asks_on(0, id, call);
    }

    pub(super) fn asks_on(&mut self, link: usize, id: u64, call: Value) {
        let options = json!([
            {"optionId": "once", "name": "Yes", "kind": "allow_once"},
            {"optionId": "no", "name": "No", "kind": "reject_once"},
        ]);
        let text = json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission",
            "params": {"sessionId": "s", "toolCall": call, "options": options}});
        self.link(link, LinkEvent::Frame(Frame::of(text.to_string())));
    }

    /// Returns the answers that were sent to a request of the agent.
    pub(super) fn answers_to(&self, id: u64) -> Vec<&Value> {
        let bodies = self.frames.iter().map(|(_, body)| body);
        bodies
            .filter(|body| body["id"] == id && body.get("result").is_some())
            .collect()
    }
}

/// Asks for a call and presses `y` once; returns whether that allowed the call, and what was announced.
fn allowed_by_one_key(one_step: bool, call: Value) -> (bool, String) {
    let mut config = Config::default();
    config.run.one_step = one_step;
    let mut stage = Stage::agent(KEYS, config);
    stage.type_prompt("do it");
    stage.asks(9, call);
    let said = stage.app.history().iter().map(|told| told.text());
    let said = said.collect::<Vec<_>>().join("\n");
    stage.wait(800);
    stage.press('y');
    let one = !stage.answers_to(9).is_empty();
    if !one {
        stage.wait(800);
        stage.press('c');
        assert_eq!(stage.answers_to(9).len(), 1, "the second step allows it");
    }
    (one, said)
}

fn runs(command: &str) -> Value {
    json!({"toolCallId": "c", "title": "x", "kind": "execute", "rawInput": {"command": command}})
}

#[test]
fn one_step_allows_what_was_read_and_nothing_that_hearken_finds_dangerous() {
    let edit = |path: &str| {
        json!({"toolCallId": "c", "title": "x", "kind": "edit",
            "content": [{"type": "diff", "path": path, "oldText": "a", "newText": "b"}]})
    };
    for (call, one, words) in [
        (runs("touch notes.txt"), true, ""),
        (runs("git status && ls"), true, ""),
        (edit("/work/a/src/main.rs"), true, ""),
        (runs("rm -r build"), false, "Deletes build and all in it."),
        (runs("ls > x"), false, "Writes to x, over anything there."),
        (runs("curl x.example"), false, "Downloads from x.example."),
        (runs("npm test"), false, "Runs this project's own code."),
        (
            edit("/work/b/x"),
            false,
            "Outside the working directory: /work/b/x.",
        ),
        (
            json!({"toolCallId": "c", "title": "ls", "kind": "read"}),
            false,
            "Not known.",
        ),
    ] {
        let (allowed, said) = allowed_by_one_key(true, call.clone());
        assert_eq!(allowed, one, "{call}");
        assert!(said.contains(words), "{call}: {said}");
        let (allowed, said) = allowed_by_one_key(false, call.clone());
        assert!(!allowed, "{call}");
        // An unreadable call needs no announcement if two steps are usual.
        let told = !words.is_empty() && !words.contains("Not known") && !words.contains("project");
        assert_eq!(
            told,
            !words.is_empty() && said.contains(words),
            "{call}: {said}"
        );
    }
}

#[test]
fn a_rejection_with_a_reason_goes_out_as_the_next_prompt_and_that_is_said() {
    let mut stage = Stage::agent(PIPE, Config::default());
    stage.type_prompt("do it");
    stage.asks(9, runs("rm x"));
    stage.wait(2500);
    stage.type_line("n 1 keep it");
    let (request, _) = *stage
        .sent
        .last()
        .map(|(request, body)| (request, body))
        .as_ref()
        .unwrap();
    let outcome = Ok(Receipt::Written);
    stage.link(
        0,
        LinkEvent::Replied {
            request: *request,
            outcome,
        },
    );
    stage.assert_heard(phrase!("acp.reason_follows"));
    stage.turn_ends();
    assert_eq!(stage.prompts(0).last().unwrap().1, "keep it");
}

#[test]
fn a_prompt_has_several_lines_and_earlier_ones_are_taken_up_again() {
    let mut stage = Stage::agent(KEYS, Config::default());
    let alt = KeyEvent::new(KeyCode::Enter, KeyModifiers::ALT);
    stage.press('>');
    for c in "fix it".chars() {
        stage.press(c);
    }
    stage.lines.clear();
    stage.key(alt);
    assert_eq!(stage.lines, ["it, new line"]);
    stage.strike(TerminalInput::Paste("then\rtest".to_owned()));
    stage.code(KeyCode::Enter);
    assert_eq!(stage.prompts(0).last().unwrap().1, "fix it\nthen\ntest");
    stage.turn_ends();
    // The abandoned text comes back, and the sent one precedes it.
    stage.press('>');
    stage.press('x');
    stage.code(KeyCode::Esc);
    stage.press('>');
    stage.lines.clear();
    for _ in 0..3 {
        stage.code(KeyCode::Up);
    }
    assert_eq!(stage.lines.len(), 3, "{:?}", stage.lines);
    assert!(stage.lines[1].starts_with("fix it"));
    assert_eq!(stage.lines[2], "There is no earlier prompt.");
    assert_eq!(stage.app.editor().0, "fix it\nthen\ntest");
    stage.code(KeyCode::Down);
    stage.code(KeyCode::Down);
    assert_eq!(stage.app.editor().0, "");
    assert_eq!(stage.prompts(0).len(), 1, "nothing was sent by any of it");
}

#[test]
fn an_agent_that_starts_slowly_is_not_called_idle() {
    let mut stage = Stage::of(
        KEYS,
        vec![SourceSetup {
            name: "Fox".to_owned(),
            answerable: true,
            carrier: crate::dialect::TransportKind::Lines,
            dialect: crate::config::Dialect::Acp,
            program: true,
            ..SourceSetup::default()
        }],
    );
    stage.link(0, LinkEvent::Connecting { attempt: 1 });
    stage.link(0, LinkEvent::Connected);
    stage.lines.clear();
    stage.wait(120_000);
    assert_eq!(
        stage.lines,
        ["Fox has started and says nothing yet. It may still be getting ready."]
    );
    // An agent that is ready waits for a prompt, which was announced.
    let mut stage = Stage::agent(KEYS, Config::default());
    stage.lines.clear();
    stage.wait(120_000);
    assert_eq!(stage.lines, [""; 0]);
}

/// Returns a stage with an AAEP source whose server takes prompts, and that says something.
fn served(options: Options) -> Stage {
    let source = SourceSetup {
        name: "served".into(),
        answerable: true,
        prompts_at: Some("/sessions".to_owned()),
        ..SourceSetup::default()
    };
    let mut stage = Stage::of(options, vec![source]);
    stage.link(0, LinkEvent::Connected);
    stage.wait(2000);
    stage.lines.clear();
    stage
}

fn answers(stage: &mut Stage, status: u16) {
    let (request, call) = stage.calls.last().cloned().unwrap();
    assert_eq!(call.path, "/sessions");
    let answer = crate::link::HttpAnswer {
        status,
        location: None,
        retry_after: None,
        body: "a secret".to_owned(),
    };
    let outcome = Ok(answer);
    stage.link(0, LinkEvent::Answered { request, outcome });
}

#[test]
fn a_source_whose_server_takes_prompts_is_told_what_to_do_and_what_it_answers_is_told() {
    for (status, told) in [
        (202, "Your prompt was taken."),
        (
            404,
            "Your prompt was not taken: nothing is at that address (status 404).",
        ),
        (500, "It is unknown whether your prompt was taken:"),
    ] {
        let mut stage = served(PIPE);
        stage.type_line("> run \"it\"");
        let body = stage.calls.last().unwrap().1.body.clone().unwrap();
        let body: Value = serde_json::from_str(&body.text).unwrap();
        assert_eq!(body, json!({"user_message": "run \"it\""}));
        answers(&mut stage, status);
        assert!(stage.heard(told), "{told}: {:?}", stage.lines);
        stage.assert_not_heard("secret");
        // It runs on and can't be stopped from here: that is announced, and no first step is made.
        stage.event("session.started", json!({"summary_normal": "Off we go"}));
        stage.type_line("stop");
        stage.assert_heard(phrase!("stop_turn.never"));
        assert!(stage.frames.is_empty());
    }
    let mut stage = served(KEYS);
    stage.press('>');
    for c in "do it".chars() {
        stage.press(c);
    }
    stage.code(KeyCode::Enter);
    answers(&mut stage, 200);
    stage.assert_heard(phrase!("prompt.taken"));
}

#[test]
fn a_stop_says_what_becomes_of_the_prompt_that_waits() {
    let mut stage = Stage::prompted(PIPE);
    stage.type_line("> second");
    stage.assert_heard(phrase!("prompt.held"));
    stage.type_line("stop");
    stage.type_line("stop");
    stage.assert_heard(phrase!("stop_turn.asked_to_stop.then"));
    assert_eq!(stage.prompts(0).len(), 1);
    stage.turn_ends();
    assert_eq!(stage.prompts(0).last().unwrap().1, "second");
}

/// With keys it is a key, with lines it is a line.
#[test]
fn how_to_be_asked_is_said_for_the_persons_way_of_giving_commands() {
    for (options, hint) in [
        (KEYS, "Press F9 to be asked."),
        (PIPE, "Type set mode to be asked."),
    ] {
        let frame = |it: Value| LinkEvent::Frame(Frame::of(it.to_string()));
        let mut stage = Stage::under(
            Config::default(),
            options,
            vec![SourceSetup {
                name: "agent".to_owned(),
                answerable: true,
                carrier: crate::dialect::TransportKind::Lines,
                dialect: crate::config::Dialect::Acp,
                program: true,
                ..SourceSetup::default()
            }],
        );
        stage.link(0, LinkEvent::Connected);
        stage.link(
            0,
            frame(
                json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1,
            "agentInfo": {"name": "qwen-code", "title": "Qwen Code"}}}),
            ),
        );
        let modes = json!({"currentModeId": "auto", "availableModes": [{"id": "auto", "name": "Auto"}, {"id": "default"}]});
        stage.link(
            0,
            frame(json!({"jsonrpc": "2.0", "id": 2, "result": {"sessionId": "s", "modes": modes}})),
        );
        stage.assert_heard(hint);
    }
}

#[test]
fn whoever_listens_hears_that_a_prompt_is_sent_and_none_that_is_refused_is_kept() {
    let mut stage = Stage::agent(PIPE, Config::default());
    stage.type_line("> do it");
    stage.assert_heard("Sent.");
    stage.lines.clear();
    for n in 0..100 {
        stage.type_line(&format!("> and {n}"));
    }
    assert!(!stage.heard("Sent."), "it waits");
    stage.assert_heard("This was not sent.");
    let kept = |text: &str| {
        let mut history = stage.app.history().iter();
        history.any(|told| told.text() == text)
    };
    assert!(kept("and 0"));
    assert!(!kept("and 99"));
    let mut seen = Stage::agent(KEYS, Config::default());
    seen.type_prompt("do it");
    seen.assert_not_heard("Sent.");
}
