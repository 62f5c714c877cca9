use super::*;

use proptest::prelude::*;

fn met(channel: bool) -> McpServer {
    let mut server = McpServer::new(channel);
    say(
        &mut server,
        json!({"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
            "clientInfo": {"name": "claude-code", "title": "Claude Code"}}}),
    );
    server
}

fn say(server: &mut McpServer, mut message: Value) -> Vec<McpStep> {
    message["jsonrpc"] = "2.0".into();
    server.line(&message.to_string())
}

fn call(
    server: &mut McpServer,
    id: impl Into<Value>,
    name: &str,
    arguments: Value,
) -> Vec<McpStep> {
    let id: Value = id.into();
    say(
        server,
        json!({"id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments,
            "_meta": {"progressToken": "p"}}}),
    )
}

fn written(steps: &[McpStep]) -> Value {
    match steps {
        [McpStep::Write(message)] => message.clone(),
        other => panic!("{other:?}"),
    }
}

fn sent(steps: &[McpStep]) -> (u64, &'static str, Value) {
    match steps {
        [McpStep::Send { key, to, body }] | [McpStep::Listen, McpStep::Send { key, to, body }] => {
            (*key, *to, body.clone())
        }
        other => panic!("{other:?}"),
    }
}

fn answered(said: Value) -> ListenerCallOutcome {
    ListenerCallOutcome::Answered(said)
}

fn text(steps: &[McpStep]) -> (String, bool) {
    let result = &written(steps)["result"];
    let text = result["content"][0]["text"].as_str().unwrap().to_owned();
    (text, result["isError"] == true)
}

#[test]
fn it_speaks_the_agents_version_or_its_newest_and_keeps_the_agents_name() {
    for (wanted, spoken) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-11-25", "2025-11-25"),
        ("2030-01-01", "2025-11-25"),
    ] {
        let mut server = McpServer::new(false);
        let steps = say(
            &mut server,
            json!({"id": "a", "method": "initialize", "params": {"protocolVersion": wanted,
                "clientInfo": {"name": "opencode"}}}),
        );
        let result = &written(&steps)["result"];
        assert_eq!(result["protocolVersion"], spoken);
        assert_eq!(result["capabilities"], json!({"tools": {}}), "no channel");
        assert_eq!(server.about().name, "opencode");
    }
    let mut server = McpServer::new(true);
    let steps = say(&mut server, json!({"id": 1, "method": "initialize"}));
    let result = &written(&steps)["result"];
    assert_eq!(
        result["capabilities"]["experimental"],
        json!({"claude/channel": {}, "claude/channel/permission": {}})
    );
    let ready = json!({"method": "notifications/initialized"});
    assert_eq!(say(&mut server, ready.clone()), [McpStep::Listen]);
    assert_eq!(say(&mut server, ready), [], "it listens once");
    let pong = say(&mut server, json!({"id": 2, "method": "ping"}));
    assert_eq!(written(&pong)["result"], json!({}));
}

#[test]
fn it_lists_its_tools_and_says_that_an_answer_permits_nothing() {
    let mut server = met(false);
    let steps = say(&mut server, json!({"id": 1, "method": "tools/list"}));
    let tools = written(&steps)["result"]["tools"].clone();
    let names: Vec<&str> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["announce", "ask"]);
    assert!(
        tools[1]["description"]
            .as_str()
            .unwrap()
            .contains("permits nothing")
    );
}

#[test]
fn an_announcement_reaches_hearken_or_nobody() {
    let mut server = met(false);
    let steps = call(&mut server, 5, "announce", json!({"text": "hello"}));
    assert_eq!(steps[0], McpStep::Listen, "its end is noticed from now on");
    let (key, to, body) = sent(&steps);
    assert_eq!((to, body), ("mcp/announce", json!({"text": "hello"})));
    let steps = server.done(key, answered(json!({"announced": true})));
    assert_eq!(written(&steps)["id"], 5);
    assert_eq!(text(&steps), ("Announced.".to_owned(), false));
    let steps = call(&mut server, 6, "announce", json!({"text": "hello"}));
    assert_eq!(steps.len(), 1, "it listens once");
    let (key, ..) = sent(&steps);
    let (words, is_error) = text(&server.done(key, ListenerCallOutcome::Nobody));
    assert!(
        is_error && words.contains("hearken is not running here; nobody listens"),
        "{words}"
    );
    assert_eq!(
        server.done(key, ListenerCallOutcome::Nobody),
        [],
        "it is answered once"
    );
}

#[test]
fn a_question_brings_the_answer_or_why_there_is_none() {
    let mut server = met(false);
    for (outcome, wanted, error) in [
        (answered(json!({"answer": "8080"})), "8080", false),
        (
            answered(json!({"declined": true})),
            "The person gives no answer.",
            false,
        ),
        (
            answered(json!({"left": true})),
            "The person leaves this to you. That permits nothing that needs a permission.",
            false,
        ),
        (
            answered(json!({"error": "too many questions are open"})),
            "hearken did not take it: too many questions are open.",
            true,
        ),
        (answered(json!({})), "Nobody answered.", true),
        (
            ListenerCallOutcome::Lost,
            "hearken ended before anybody answered.",
            true,
        ),
        (
            ListenerCallOutcome::Unanswered,
            "Nobody answered in time.",
            true,
        ),
        (
            ListenerCallOutcome::Refused,
            "hearken did not take it.",
            true,
        ),
    ] {
        let arguments = json!({"question": "Which port?", "choices": ["80", "8080"]});
        let (key, to, body) = sent(&call(&mut server, "q", "ask", arguments.clone()));
        assert_eq!((to, body), ("mcp/ask", arguments));
        assert_eq!(text(&server.done(key, outcome)), (wanted.to_owned(), error));
    }
}

#[test]
fn while_the_person_thinks_the_agent_hears_of_it_if_it_wants_to() {
    let mut server = met(false);
    let (key, ..) = sent(&call(&mut server, 1, "ask", json!({"question": "?"})));
    for count in 1..3 {
        let said = written(&server.waits(key));
        assert_eq!(said["method"], "notifications/progress");
        assert_eq!(said["params"]["progressToken"], "p");
        assert_eq!(said["params"]["progress"], count);
    }
    let steps = say(
        &mut server,
        json!({"id": 2, "method": "tools/call", "params": {"name": "ask", "arguments": {"question": "?"}}}),
    );
    let (key, ..) = sent(&steps);
    assert_eq!(server.waits(key), [], "it gave no token");
}

#[test]
fn a_cancelled_call_is_given_up_and_not_answered() {
    let mut server = met(false);
    let (key, ..) = sent(&call(&mut server, 1, "ask", json!({"question": "?"})));
    let cancel =
        |id: u64| json!({"method": "notifications/cancelled", "params": {"requestId": id}});
    assert_eq!(say(&mut server, cancel(2)), []);
    assert_eq!(say(&mut server, cancel(1)), [McpStep::Cancel(key)]);
    assert_eq!(server.done(key, ListenerCallOutcome::Cancelled), []);
    assert_eq!(say(&mut server, cancel(1)), []);
}

#[test]
fn arguments_that_can_not_be_used_are_a_result_in_words_and_send_nothing() {
    let mut server = met(false);
    let long = "x".repeat(4001);
    let many: Vec<String> = (0..31).map(|n| n.to_string()).collect();
    for (tool, arguments, wanted) in [
        ("announce", json!({}), "text is missing."),
        ("announce", json!(7), "text is missing."),
        ("announce", json!({"text": 7}), "text must be a text."),
        ("announce", json!({"text": " \n"}), "text is empty."),
        (
            "announce",
            json!({"text": long}),
            "text is longer than 4000 characters; shorten it.",
        ),
        (
            "ask",
            json!({"question": "?", "choices": "a"}),
            "choices must be a list of at most 30 texts.",
        ),
        (
            "ask",
            json!({"question": "?", "choices": many}),
            "choices must be a list of at most 30 texts.",
        ),
        (
            "ask",
            json!({"question": "?", "choices": [1]}),
            "each choice must be a text.",
        ),
    ] {
        let steps = call(&mut server, 1, tool, arguments);
        assert_eq!(text(&steps), (wanted.to_owned(), true));
    }
    let steps = call(&mut server, 1, "rm", json!({}));
    assert_eq!(written(&steps)["error"]["code"], BAD_PARAMS);
}

#[test]
fn what_is_no_message_gets_an_error_and_an_unknown_notice_nothing() {
    let mut server = met(false);
    for (line, code) in [
        ("{", UNREADABLE),
        ("7", INVALID),
        ("[]", INVALID),
        (r#"{"id":1}"#, INVALID),
        (r#"{"id":null,"method":"ping"}"#, INVALID),
        (r#"{"id":1,"method":"prompts/list"}"#, UNKNOWN),
    ] {
        assert_eq!(written(&server.line(line))["error"]["code"], code, "{line}");
    }
    for line in [
        "",
        r#"{"method":"notifications/other"}"#,
        r#"{"id":1,"result":{}}"#,
        r#"{"method":"notifications/claude/channel/permission_request","params":{"request_id":"abcde","tool_name":"Bash"}}"#,
    ] {
        assert_eq!(server.line(line), [], "{line}");
    }
    let both = r#"[{"id":1,"method":"ping"},{"id":2,"method":"ping"}]"#;
    assert_eq!(server.line(both).len(), 2);
}

#[test]
fn too_many_calls_and_an_id_in_use_are_refused() {
    let mut server = met(false);
    for id in 0..MOST_CALLS {
        sent(&call(&mut server, id, "ask", json!({"question": "?"})));
    }
    let steps = call(&mut server, "more", "ask", json!({"question": "?"}));
    assert_eq!(
        text(&steps),
        ("Too many calls are under way.".to_owned(), true)
    );
    let steps = call(&mut server, 0, "announce", json!({"text": "x"}));
    assert_eq!(written(&steps)["error"]["code"], INVALID);
}

#[test]
fn the_channel_relays_permissions_and_prompts() {
    let mut server = met(true);
    let asks = json!({"method": ASKS, "params": {"request_id": "abcde", "tool_name": "Bash",
        "description": "d", "input_preview": "{}"}});
    let (key, to, body) = sent(&say(&mut server, asks.clone()));
    let wanted = json!({"tool_name": "Bash", "description": "d", "input_preview": "{}"});
    assert_eq!((to, body), ("mcp/permission", wanted));
    let said = written(&server.done(key, answered(json!({"behavior": "allow"}))));
    assert_eq!(said["method"], DECIDES);
    assert_eq!(
        said["params"],
        json!({"request_id": "abcde", "behavior": "allow"})
    );
    for nothing in [
        answered(json!({})),
        answered(json!({"behavior": "perhaps"})),
        ListenerCallOutcome::Nobody,
        ListenerCallOutcome::Lost,
    ] {
        let (key, ..) = sent(&say(&mut server, asks.clone()));
        assert_eq!(server.done(key, nothing), [], "nothing is decided");
    }
    let said = written(&server.prompts(vec!["run the tests".to_owned()]));
    assert_eq!(said["method"], PROMPT);
    assert_eq!(said["params"], json!({"content": "run the tests"}));
}

proptest! {
    #[test]
    fn any_lines_and_outcomes_answer_each_request_at_most_once(
        lines in prop::collection::vec((0..6_u8, 0..5_u8, "\\PC{0,12}"), 0..60)
    ) {
        let mut server = met(true);
        let mut under_way: BTreeMap<u64, u8> = BTreeMap::new();
        let mut open: BTreeMap<u8, usize> = BTreeMap::new();
        for (kind, id, words) in lines {
            let steps = match kind {
                0 => call(&mut server, id, "announce", json!({"text": words})),
                1 => call(&mut server, id, "ask", json!({"question": words, "choices": [words]})),
                2 => say(&mut server, json!({"method": "notifications/cancelled", "params": {"requestId": id}})),
                3 => server.done(id.into(), answered(json!({words: true}))),
                4 => server.line(&words),
                _ => say(&mut server, json!({"method": ASKS, "params": {"request_id": words}})),
            };
            for step in steps {
                match step {
                    McpStep::Send { key, to, .. } => {
                        if to != "mcp/permission" {
                            under_way.insert(key, id);
                            *open.entry(id).or_default() += 1;
                        }
                    }
                    McpStep::Cancel(key) => {
                        let id = under_way.remove(&key).unwrap();
                        *open.get_mut(&id).unwrap() -= 1;
                    }
                    McpStep::Write(message) if kind == 3 && message.get("result").is_some() => {
                        let id = u8::try_from(message["id"].as_u64().unwrap()).unwrap();
                        let left = open.get_mut(&id).unwrap();
                        prop_assert!(*left == 1, "{id} is answered again");
                        *left = 0;
                        under_way.retain(|_, of| *of != id);
                    }
                    McpStep::Write(_) | McpStep::Listen => {}
                }
            }
            prop_assert!(server.under_way.len() <= MOST_CALLS);
        }
    }
}
