//! Modes, models and other settings: what is announced about them, and how one is changed.

use super::*;

fn modes() -> Value {
    json!({"currentModeId": "ask", "availableModes": [
        {"id": "ask", "name": "Ask"}, {"id": "yolo", "name": "Yolo", "description": "Approves everything"}, {"id": "odd"}]})
}

fn options(model: &str) -> Value {
    json!([
        {"id": "model", "name": "Model", "type": "select", "currentValue": model,
            "options": [{"value": "a", "name": "Small"}, {"value": "b", "name": "Large"}]},
        {"id": "brave", "name": "Brave", "type": "boolean", "currentValue": false},
    ])
}

/// Creates a run whose agent offers these settings.
fn offering(mut offers: Value) -> AcpRig {
    let mut run = AcpRig::new(TransportKind::Lines);
    run.news(&LinkEvent::Connected);
    run.frame(json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1}}));
    offers["sessionId"] = json!("s");
    run.frame(json!({"jsonrpc": "2.0", "id": 2, "result": offers}));
    run.sent.clear();
    run
}

fn set(what: Option<&str>) -> PersonRequest {
    PersonRequest::Set(what.map(str::to_owned))
}

fn question(run: &AcpRig) -> String {
    let asked = run.last("awaiting.clarification");
    asked["question"].as_str().unwrap().to_owned()
}

fn labels(run: &AcpRig) -> Vec<String> {
    let asked = run.last("awaiting.clarification");
    let choices = asked["choices"].as_array().unwrap().iter();
    choices
        .map(|it| it["label"].as_str().unwrap().to_owned())
        .collect()
}

/// opencode offers "Model" before "Session Mode".
#[test]
fn a_setting_is_found_by_its_best_name_and_where_two_are_called_alike_it_is_asked() {
    let select = |id: &str, name: &str, category: &str| {
        json!({"id": id, "name": name, "category": category, "type": "select", "currentValue": "a",
            "options": [{"value": "a", "name": "A"}, {"value": "b", "name": "B"}]})
    };
    let all = json!({"configOptions": [select("model", "Model", "model"), select("m", "Session Mode", "mode"),
        select("e", "Session Effort", "other")]});
    for (what, asked) in [
        ("mode", "Session Mode is A. Change it to what?"),
        ("Model", "Model is A. Change it to what?"),
        ("model", "Model is A. Change it to what?"),
        ("eff", "Session Effort is A. Change it to what?"),
        ("session", "What do you want to change?"),
    ] {
        let mut run = offering(all.clone());
        run.person_request(&set(Some(what)));
        assert_eq!(question(&run), asked, "{what}");
    }
}

#[test]
fn the_mode_at_the_start_and_every_other_mode_are_announced_once() {
    let run = offering(json!({"modes": modes()}));
    assert_eq!(run.phrase_keys, ["oversight.starts", "acp.ready"]);
    let one = json!({"currentModeId": "ask", "availableModes": [{"id": "ask"}]});
    let mut run = offering(json!({"modes": one, "configOptions": options("a")}));
    assert_eq!(run.phrase_keys, ["oversight.starts", "acp.ready"]);
    for (update, told) in [
        (
            json!({"sessionUpdate": "config_option_update", "configOptions": options("a")}),
            2,
        ),
        (
            json!({"sessionUpdate": "config_option_update", "configOptions": options("b")}),
            3,
        ),
        (
            json!({"sessionUpdate": "current_mode_update", "currentModeId": "ask"}),
            3,
        ),
        (
            json!({"sessionUpdate": "current_mode_update", "currentModeId": "plan"}),
            4,
        ),
        (
            json!({"sessionUpdate": "current_mode_update", "modeId": "ask"}),
            5,
        ),
    ] {
        run.update(update.clone());
        assert_eq!(run.phrase_keys.len(), told, "{update}");
    }
    assert_eq!(
        run.phrase_keys[2..],
        ["acp.set.is", "oversight.starts", "oversight.starts"]
    );
    assert!(run.events.is_empty());
}

#[test]
fn a_mode_is_changed_in_two_steps_with_what_the_agent_says_of_it_between() {
    let mut run = offering(json!({"modes": modes()}));
    run.person_request(&set(None));
    assert_eq!(question(&run), "Mode is Ask. Change it to what?");
    assert_eq!(
        labels(&run),
        ["Ask, as it is", "Yolo", "odd", "leave it as it is"]
    );
    run.respond(5, "2");
    assert_eq!(run.settled, [(5, true)]);
    assert_eq!(
        question(&run),
        "Mode Yolo: what it asks is not known. The agent says: Approves everything. Change it?"
    );
    assert!(run.sent.is_empty(), "nothing by one step");
    // A choice is not a yes.
    run.respond(6, "1");
    assert_eq!(run.settled.last(), Some(&(6, false)));
    run.yes(7, true);
    assert_eq!(
        run.sent,
        [(
            7,
            r#"{"jsonrpc":"2.0","id":3,"method":"session/set_mode","params":{"sessionId":"s","modeId":"yolo"}}"#.to_owned()
        )]
    );
    run.person_request(&set(None));
    assert_eq!(run.phrase_keys.last(), Some(&"acp.set.waits"));
    run.written(7, true);
    assert_eq!(
        run.phrase_keys.last(),
        Some(&"acp.set.waits"),
        "not before the agent says so"
    );
    run.frame(json!({"jsonrpc": "2.0", "id": 3, "result": {}}));
    assert_eq!(run.phrase_keys.last(), Some(&"acp.mode"));
    let told = run.phrase_keys.len();
    run.update(json!({"sessionUpdate": "current_mode_update", "currentModeId": "yolo"}));
    assert_eq!(run.phrase_keys.len(), told, "it was told");
    // If the agent says nothing about it, the warning stands alone.
    run.person_request(&set(Some("mo")));
    run.respond(8, "3");
    assert_eq!(
        question(&run),
        "Mode odd: what it asks is not known. Change it?"
    );
    run.yes(9, false);
    assert_eq!(
        run.last("session.completed")["summary_normal"],
        "Nothing was changed."
    );
    assert_eq!((run.sent.len(), run.settled.last()), (1, Some(&(9, true))));
    assert_eq!(run.kinds().last().unwrap(), "session.completed");
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn options_and_switches_are_chosen_among_and_what_is_set_is_what_the_agent_says() {
    let mut run = offering(json!({"modes": modes(), "configOptions": options("a")}));
    run.person_request(&set(None));
    assert_eq!(
        labels(&run),
        ["Mode: Ask", "Model: Small", "Brave: off", "nothing"]
    );
    run.respond(5, "2");
    run.respond(6, "2");
    run.yes(7, true);
    run.written(7, true);
    assert_eq!(
        run.frames(),
        [
            r#"{"jsonrpc":"2.0","id":3,"method":"session/set_config_option","params":{"sessionId":"s","configId":"model","value":"b"}}"#
        ]
    );
    run.frame(json!({"jsonrpc": "2.0", "id": 3, "result": {"configOptions": options("b")}}));
    assert_eq!(run.phrase_keys.last(), Some(&"acp.set.is"));
    run.person_request(&set(Some("3")));
    run.respond(8, "1");
    run.yes(9, true);
    run.written(9, true);
    assert_eq!(
        run.frames()[1],
        r#"{"jsonrpc":"2.0","id":4,"method":"session/set_config_option","params":{"sessionId":"s","configId":"brave","type":"boolean","value":true}}"#
    );
    // The agent did not set it after all.
    run.frame(json!({"jsonrpc": "2.0", "id": 4, "result": {"configOptions": options("b")}}));
    assert_eq!(run.phrase_keys.last(), Some(&"acp.set.other"));
    run.person_request(&set(Some("brave")));
    run.respond(10, "1");
    run.yes(11, true);
    run.written(11, true);
    run.frame(json!({"jsonrpc": "2.0", "id": 5, "error": {"code": -32603, "message": "no"}}));
    assert_eq!(run.phrase_keys.last(), Some(&"acp.set.refused"));
    run.person_request(&set(Some("nothing like it")));
    assert_eq!(run.phrase_keys.last(), Some(&"acp.set.no_such"));
    for (what, answer) in [(None, "4"), (Some("1"), "4"), (Some("1"), "1")] {
        run.person_request(&set(what));
        run.respond(12, answer);
        assert_eq!(
            run.last("session.completed")["summary_normal"],
            "Nothing was changed."
        );
    }
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn asking_anew_leaves_what_was_asked_and_many_values_are_offered_in_parts() {
    let values: Vec<Value> = (0..70)
        .map(|n| json!({"value": n.to_string(), "name": format!("m{n}")}))
        .collect();
    let option = json!([{"id": "model", "name": "Model", "type": "select", "currentValue": "0", "options": values}]);
    let mut run = offering(json!({"configOptions": option}));
    run.person_request(&set(None));
    let first = run.token();
    run.person_request(&set(None));
    run.respond_under(4, &first, "2");
    assert_eq!(run.settled, [(4, false)]);
    assert_eq!(labels(&run).len(), 32);
    run.respond(5, "31");
    run.respond(6, "31");
    assert_eq!(labels(&run)[0], "m60");
    run.respond(7, "10");
    run.yes(8, true);
    assert!(run.frames()[0].contains(r#""value":"69""#));
    run.written(8, false);
    run.yes(9, true);
    assert!(
        run.frames()[1].contains(r#""value":"69""#),
        "it can be given again"
    );
    run.news(&LinkEvent::Ended);
    assert_eq!(run.faults, [""; 0]);
}

#[test]
fn what_can_not_be_set_is_said() {
    let mut run = AcpRig::new(TransportKind::Lines);
    run.person_request(&set(None));
    run.news(&LinkEvent::Connected);
    run.frame(json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1}}));
    run.frame(json!({"jsonrpc": "2.0", "id": 2, "result": {"sessionId": "s"}}));
    run.person_request(&set(None));
    run.news(&LinkEvent::Ended);
    run.person_request(&set(None));
    assert_eq!(
        run.phrase_keys,
        [
            "acp.set.early",
            "oversight.no_modes",
            "acp.ready",
            "settings.none",
            "prompt.nobody"
        ]
    );
}

#[test]
fn commands_are_known_as_the_agent_last_said() {
    let mut run = AcpRig::open();
    run.update(
        json!({"sessionUpdate": "available_commands_update", "availableCommands": [
        {"name": "web", "description": "Search the web", "input": {"hint": "what for"}},
        {"name": "/test", "description": "Run tests"}, {"name": "two words"}, {"name": ""}, 7]}),
    );
    let names: Vec<(&str, &str)> = run
        .machine
        .offers()
        .iter()
        .map(|it| (it.name.as_str(), it.argument.as_str()))
        .collect();
    assert_eq!(names, [("web", "what for"), ("test", "")]);
    let many: Vec<Value> = (0..600).map(|n| json!({"name": format!("c{n}")})).collect();
    run.update(json!({"sessionUpdate": "available_commands_update", "availableCommands": many}));
    assert_eq!(run.machine.offers().len(), 512);
    assert_eq!(run.phrase_keys, ["acp.commands_left_out"]);
}
