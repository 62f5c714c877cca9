//! The other programs with hooks: what each sends, and what it gets back.

use super::*;

impl ClaudeRig {
    /// Sends a message of a harness, as its relay does; returns our number for the request.
    fn post_for(&mut self, path: &str, body: Value) -> u64 {
        self.post(&format!("/hook/{path}"), body)
    }

    fn answer(&self, id: u64) -> Option<&(Option<u64>, Value)> {
        self.answers.get(&id)
    }
}

fn codex(event: &str, mut more: Value) -> Value {
    let own = json!({"session_id": "s", "turn_id": "t", "cwd": "/work/a", "hook_event_name": event, "model": "m",
        "permission_mode": "default"});
    for (key, value) in own.as_object().unwrap() {
        more[key] = value.clone();
    }
    more
}

/// Has Codex ask for a command; returns our number for the request.
fn codex_asks(run: &mut ClaudeRig) -> u64 {
    run.post_for(
        "codex",
        codex("UserPromptSubmit", json!({"prompt": "make it"})),
    );
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "touch a.txt"}, "tool_use_id": "call_4"});
    run.post_for("codex", codex("PreToolUse", call));
    let asks = json!({"tool_name": "Bash", "tool_input": {"command": "touch a.txt", "description": "Needed"}});
    run.post_for("codex", codex("PermissionRequest", asks))
}

#[test]
fn codex_is_answered_in_its_form_and_the_question_is_open_only_here() {
    let mut run = ClaudeRig::new();
    let id = codex_asks(&mut run);
    assert!(run.announced().contains(
        &"Codex shows no question in its own terminal while one is open here. It asks there after 5 minutes without an answer."
            .to_owned()
    ));
    let question = run.last("awaiting.confirmation").clone();
    assert_eq!(question["action"], "touch a.txt");
    assert_eq!(question["producer"]["agent_name"], "Codex");
    assert_eq!(
        question["allowed_replies"],
        json!(["accept", "reject", "ask in Codex's own terminal"])
    );
    assert_eq!(run.answer(id), None, "it waits");
    run.decide(1, "reject", Some("not there"));
    assert_eq!(
        run.answer(id).unwrap().1,
        json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest",
            "decision": {"behavior": "deny", "message": "not there"}}})
    );
    run.written(1, true);
    // The same sentence is not said for the next question.
    let told = run.phrase_keys.len();
    codex_asks(&mut run);
    assert!(!run.phrase_keys[told..].contains(&"hooks.only_here"));
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn the_permission_and_the_call_are_one_though_only_one_is_described() {
    let mut run = ClaudeRig::new();
    codex_asks(&mut run);
    run.decide(1, "accept", None);
    run.written(1, true);
    let done = json!({"tool_name": "Bash", "tool_input": {"command": "touch a.txt"}, "tool_response": "",
        "tool_use_id": "call_4"});
    run.post_for("codex", codex("PostToolUse", done));
    let stop = json!({"last_assistant_message": "Done."});
    run.post_for("codex", codex("Stop", stop));
    assert_eq!(run.count("tool.invoked"), 1);
    assert_eq!(run.count("tool.completed"), 1);
    // Codex reports no exit code, so nobody can say that it worked.
    assert_eq!(run.last("tool.completed")["status"], "not_stated");
    assert_eq!(run.said(), "Done.");
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn a_question_that_nobody_answers_goes_back_to_the_terminal() {
    let mut run = ClaudeRig::new();
    let id = codex_asks(&mut run);
    run.after(Duration::from_secs(299));
    assert_eq!(run.answer(id), None);
    run.after(Duration::from_secs(1));
    assert_eq!(run.answer(id), Some(&(None, json!({}))));
    assert_eq!(
        run.announced().last().unwrap(),
        "Unanswered too long: Codex asks in its own terminal now."
    );
    assert_eq!(run.over, [QuestionEnd::TakenBack]);
    run.decide(1, "accept", None);
    assert_eq!(run.settled, [(1, false)], "it is answered there now");
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn the_person_can_hand_a_question_back_at_once() {
    let mut run = ClaudeRig::new();
    let id = codex_asks(&mut run);
    run.decide(1, "ask in Codex's own terminal", None);
    assert_eq!(run.answer(id), Some(&(None, json!({}))));
    assert_eq!(run.settled, [(1, true)]);
    assert_eq!(
        run.announced().last().unwrap(),
        "Codex asks in its own terminal now."
    );
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn claudes_question_stays_open_beside_its_own_dialog() {
    let mut run = ClaudeRig::busy();
    let ask = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}});
    let id = run.hook("PermissionRequest", ask);
    run.after(Duration::from_secs(600));
    assert_eq!(run.answer(id), None);
    assert!(!run.phrase_keys.contains(&"hooks.only_here"));
    let replies = run.last("awaiting.confirmation")["allowed_replies"].clone();
    assert_eq!(replies, json!(["accept", "reject"]));
}

/// As the real one does: it reports an empty prompt after each call, and its own terminal asks nothing meanwhile.
#[test]
fn qwen_codes_turn_goes_on_after_a_call_and_its_question_is_open_only_here() {
    let mut run = ClaudeRig::new();
    let body = |event: &str, mut more: Value| {
        more["hook_event_name"] = event.into();
        more["session_id"] = "s".into();
        more["cwd"] = "/work/a".into();
        more["prompt_id"] = "s########0".into();
        more
    };
    run.post_for(
        "qwen",
        body("UserPromptSubmit", json!({"prompt": "make it"})),
    );
    let call = json!({"tool_name": "run_shell_command", "tool_input": {"command": "touch a.txt"}});
    run.post_for("qwen", body("PermissionRequest", call.clone()));
    assert!(run.phrase_keys.contains(&"hooks.only_here"));
    run.decide(1, "accept", None);
    run.written(1, true);
    let mut done = call;
    done["tool_response"] = json!({"llmContent": "Exit Code: 0"});
    run.post_for("qwen", body("PostToolUse", done));
    run.post_for("qwen", body("UserPromptSubmit", json!({"prompt": ""})));
    run.post_for(
        "qwen",
        body("Stop", json!({"last_assistant_message": "Done."})),
    );
    assert_eq!(run.count("session.started"), 1);
    assert_eq!(run.count("session.cancelled"), 0);
    assert_eq!(run.count("session.completed"), 1);
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn copilot_is_heard_by_its_own_names_and_gets_a_bare_decision() {
    let mut run = ClaudeRig::new();
    let body = |mut more: Value| {
        more["sessionId"] = "s".into();
        more["cwd"] = "/work/a".into();
        more
    };
    run.post_for(
        "copilot/userPromptSubmitted",
        body(json!({"prompt": "make it"})),
    );
    let call = json!({"toolName": "bash", "toolArgs": {"command": "touch a.txt", "description": "Make it"}});
    run.post_for("copilot/preToolUse", body(call.clone()));
    let asks = json!({"hookName": "permissionRequest", "toolName": "bash", "toolInput": {"command": "touch a.txt"}});
    let id = run.post_for("copilot/permissionRequest", body(asks));
    let question = run.last("awaiting.confirmation").clone();
    assert_eq!(
        (&question["action"], &question["producer"]["agent_name"]),
        (&json!("touch a.txt"), &json!("Copilot CLI"))
    );
    run.decide(1, "accept", None);
    assert_eq!(
        run.answer(id),
        Some(&(Some(1), json!({"behavior": "allow"})))
    );
    run.written(1, true);
    let mut done = call;
    done["toolResult"] = json!({"resultType": "success", "textResultForLlm": "made"});
    run.post_for("copilot/postToolUse", body(done));
    run.post_for("copilot/agentStop", body(json!({"stopReason": "end_turn"})));
    assert_eq!(run.count("tool.completed"), 1);
    assert_eq!(run.count("session.completed"), 1);
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn geminis_question_is_answered_in_its_own_terminal_and_over_when_it_goes_on() {
    let mut run = ClaudeRig::new();
    let body = |event: &str, mut more: Value| {
        more["session_id"] = "s".into();
        more["cwd"] = "/work/a".into();
        more["hook_event_name"] = event.into();
        more
    };
    run.post_for("gemini", body("BeforeAgent", json!({"prompt": "make it"})));
    let asks = json!({"notification_type": "ToolPermission", "message": "Tool Shell requires execution",
        "details": {"type": "exec", "title": "Shell", "command": "touch a.txt", "rootCommand": "touch"}});
    let id = run.post_for("gemini", body("Notification", asks));
    assert_eq!(
        run.answer(id),
        Some(&(None, json!({}))),
        "its hooks decide nothing"
    );
    let question = run.last("awaiting.clarification")["question"].clone();
    assert_eq!(
        question,
        "It wants to run `touch a.txt`. Answer it in its own terminal."
    );
    let call = json!({"tool_name": "run_shell_command", "tool_input": {"command": "touch a.txt"}});
    run.post_for("gemini", body("BeforeTool", call.clone()));
    let mut done = call;
    done["tool_response"] = json!({"llmContent": "made"});
    run.post_for("gemini", body("AfterTool", done));
    run.post_for(
        "gemini",
        body("AfterAgent", json!({"prompt_response": "All done."})),
    );
    assert_eq!(run.last("tool.completed")["status"], "success");
    assert_eq!(run.said(), "All done.");
    assert_eq!(run.faults, [""; 0]);
}

/// Creates a run in which Gemini CLI waits before each change, and has it call a tool; returns our number for that.
fn gemini_calls(tool: &str, input: &Value) -> (ClaudeRig, u64) {
    let start = DialectSetup {
        carrier: TransportKind::Requests,
        gemini_waits: true,
        ..rig::start()
    };
    let mut run = ClaudeRig::of(Claude::new(start));
    run.post_for("gemini", gemini("BeforeAgent", json!({"prompt": "do it"})));
    let call = json!({"tool_name": tool, "tool_input": input});
    let id = run.post_for("gemini", gemini("BeforeTool", call));
    (run, id)
}

fn gemini(event: &str, mut more: Value) -> Value {
    let own = json!({"session_id": "s", "cwd": "/work/a", "hook_event_name": event});
    let more_ = more.as_object_mut().unwrap();
    more_.extend(own.as_object().unwrap().clone());
    more
}

#[test]
fn gemini_waits_before_a_change_which_can_only_be_rejected() {
    let (mut run, id) = gemini_calls("run_shell_command", &json!({"command": "touch a.txt"}));
    assert_eq!(
        run.announced(),
        [
            "Gemini CLI waits here before each change. Here you can only reject it. Left alone, it goes on after 5 minutes, \
          and its own terminal asks where its mode does."
        ]
    );
    let question = run.last("awaiting.confirmation").clone();
    assert_eq!(question["action"], "touch a.txt");
    assert_eq!(
        question["allowed_replies"],
        json!(["reject", "leave it to Gemini CLI's own terminal"])
    );
    assert_eq!(run.answer(id), None, "it waits");
    run.decide(1, "accept", None);
    assert_eq!(
        (run.answer(id), run.settled.as_slice()),
        (None, &[(1, false)][..])
    );
    run.decide(2, "reject", Some("not there"));
    let refusal = json!({"decision": "deny", "reason": "not there"});
    assert_eq!(run.answer(id), Some(&(Some(2), refusal)));
    run.written(2, true);
    run.post_for(
        "gemini",
        gemini("AfterAgent", json!({"prompt_response": "Then not."})),
    );
    assert_eq!(run.said(), "Then not.");
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn geminis_call_goes_on_when_it_is_left_to_its_terminal_or_nobody_answers() {
    let touch = json!({"command": "touch a.txt"});
    let (mut run, id) = gemini_calls("run_shell_command", &touch);
    run.decide(1, "leave it to Gemini CLI's own terminal", None);
    assert_eq!(run.answer(id), Some(&(None, json!({}))));
    let words = "Gemini CLI goes on, and asks in its own terminal where its mode does.";
    assert_eq!(run.announced().last().unwrap(), words);
    let done = json!({"tool_name": "run_shell_command", "tool_input": touch,
        "tool_response": {"llmContent": "<untrusted_context>\nOutput: one\nExit Code: 3\n</untrusted_context>"}});
    run.post_for("gemini", gemini("AfterTool", done));
    assert_eq!(run.last("tool.completed")["status"], "error");
    assert_eq!(run.faults, [""; 0]);

    let (mut run, id) = gemini_calls("write_file", &json!({"file_path": "/a", "content": "x"}));
    run.after(Duration::from_secs(300));
    assert_eq!(run.answer(id), Some(&(None, json!({}))));
    assert!(
        run.announced()
            .last()
            .unwrap()
            .starts_with("Unanswered too long: Gemini CLI goes on")
    );
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn gemini_does_not_wait_before_what_changes_nothing() {
    for tool in ["read_file", "glob", "ask_user"] {
        let (run, id) = gemini_calls(tool, &json!({"path": "/a"}));
        assert_eq!(run.answer(id), Some(&(None, json!({}))), "{tool}");
    }
}

#[test]
fn what_is_shown_as_it_is_written_is_heard_once() {
    let mut run = ClaudeRig::busy();
    for (index, delta, last) in [(0, "One line.\n", false), (1, "Two lines.", true)] {
        run.hook("MessageDisplay", json!({"turn_id": "t", "message_id": "m", "index": index, "final": last, "delta": delta}));
    }
    run.hook(
        "Stop",
        json!({"last_assistant_message": "One line.\nTwo lines."}),
    );
    assert_eq!(run.said(), "One line.\nTwo lines.");
    // Qwen Code sends all of the message each time, and an older state may come late.
    let mut run = ClaudeRig::new();
    let shows = |text: &str, last: bool| {
        json!({"session_id": "s", "cwd": "/w", "hook_event_name": "MessageDisplay", "message_id": "m",
            "displayed_text": text, "is_final": last})
    };
    for (text, last) in [
        ("One", false),
        ("One. Two", false),
        ("One. Two.", true),
        ("One", false),
    ] {
        run.post_for("qwen", shows(text, last));
    }
    assert_eq!(run.said(), "One. Two.");
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn tasks_teammates_and_models_are_announced_and_what_is_of_no_interest_is_not() {
    let mut run = ClaudeRig::busy();
    run.hook(
        "TaskCreated",
        json!({"task_id": "1", "task_subject": "Tidy up"}),
    );
    run.hook(
        "TaskCompleted",
        json!({"task_id": "1", "task_subject": "Tidy up"}),
    );
    run.hook(
        "TeammateIdle",
        json!({"teammate_name": "Ann", "team_name": "x"}),
    );
    run.hook(
        "PostModelSwitch",
        json!({"from_model": "a", "to_model": "b", "source": "command"}),
    );
    run.hook("PostToolBatch", json!({"tool_calls": [{}, {}]}));
    assert_eq!(
        run.announced(),
        [
            "New task of Claude Code in a: Tidy up",
            "Task of Claude Code done in a: Tidy up",
            "A teammate of Claude Code in a is idle: Ann",
            "Claude Code in a works with b now.",
            "Claude Code in a: 2 calls are done."
        ]
    );
    for event in [
        "PreModelSwitch",
        "DirectoryAdded",
        "WorktreeCreate",
        "WorktreeRemove",
        "PreSkillShellCommand",
        "ElicitationResult",
        "CwdChanged",
        "ConfigChange",
        "InstructionsLoaded",
        "Setup",
        "PreCompact",
        "PostCompact",
    ] {
        run.hook(event, json!({"event": event}));
    }
    assert_eq!((run.phrase_keys.len(), run.unread), (5, 0));
}

#[test]
fn a_path_of_nobody_is_counted_and_decides_nothing() {
    let mut run = ClaudeRig::new();
    for path in ["nobody", "/"] {
        let id = run.post_for(
            path,
            codex(
                "PermissionRequest",
                json!({"tool_name": "Bash", "tool_input": {}}),
            ),
        );
        assert_eq!(run.answer(id), Some(&(None, json!({}))), "{path}");
    }
    assert_eq!(run.unread, 2);
}
