//! The steps of 3.9 and the rules between fields, each with an event that breaks it.

use super::*;

fn rules(event: &Value) -> Vec<Rule> {
    decode(&event.to_string())
        .unwrap()
        .findings
        .into_iter()
        .map(|finding| finding.rule)
        .collect()
}

#[test]
fn the_nine_steps_come_in_order() {
    let broken = json!({
        "@context": "https://x.example/",
        "type": "aaep:agent.tool.invoked",
        "session_id": "x",
        "timestamp": "now",
        "producer": {},
        "tool": 7,
        "extensions": {"medai": 1},
        "deep": [[[[[[[[[]]]]]]]]],
    });
    let steps: Vec<u8> = decode(&broken.to_string())
        .unwrap()
        .findings
        .iter()
        .map(|finding| finding.step)
        .collect();
    assert!(steps.is_sorted(), "{steps:?}");
    for step in [2, 3, 4, 6, 7, 8, 9] {
        assert!(
            steps.contains(&step),
            "no finding of step {step}: {steps:?}"
        );
    }
    let unknown = with(json!({"type": "aaep:agent.purple.flamingo"}));
    let found = decode(&unknown.to_string()).unwrap().findings;
    assert_eq!((found[0].step, found[0].rule), (5, Rule::UnknownCoreType));
    assert!(matches!(decode("[]"), Err(DecodeError::NotAnObject(_))));
}

/// The examples of 3.11 that chapter 3 calls invalid.
#[test]
fn the_invalid_envelopes_of_the_chapter_are_found() {
    let base = json!({
        "@context": CORE_CONTEXT, "type": "aaep:agent.session.started", "event_id": "evt_abc123",
        "session_id": "sess_def456", "timestamp": "2026-05-24T14:22:11.342Z",
        "producer": {"agent_id": "test"}, "summary_normal": "s",
        "localization_hints": {"primary_language": "en"},
    });
    assert_eq!(rules(&base), []);
    let mut event = base.clone();
    event.as_object_mut().unwrap().remove("event_id");
    assert_eq!(rules(&event), [Rule::Missing]);
    let change = |field: &str, value: Value| {
        let mut event = base.clone();
        event[field] = value;
        rules(&event)
    };
    assert_eq!(
        change("timestamp", "May 24, 2026 14:22:11".into()),
        [Rule::BadForm]
    );
    assert_eq!(
        change("type", "aaep:agent.purple.flamingo".into()),
        [Rule::UnknownCoreType]
    );
    assert_eq!(
        change("extensions", json!({"medai": {"x": true}})),
        [Rule::UndeclaredPrefix]
    );
    assert_eq!(
        change("custom_field", "value".into()),
        [Rule::ForbiddenField]
    );
}

#[test]
fn both_forms_of_a_context_are_read() {
    for context in [
        json!(CORE_CONTEXT),
        json!([CORE_CONTEXT]),
        json!([CORE_CONTEXT, "https://example.org/medai/v1"]),
    ] {
        assert_eq!(rules(&with(json!({"@context": context}))), []);
    }
    for context in [
        json!(""),
        json!([]),
        json!(["https://x.example/", CORE_CONTEXT]),
        json!([CORE_CONTEXT, 1]),
    ] {
        assert_eq!(
            rules(&with(json!({"@context": context}))),
            [Rule::BadContext]
        );
    }
    for context in [json!(1), json!({}), json!(true)] {
        assert_eq!(
            rules(&with(json!({"@context": context}))),
            [Rule::WrongType]
        );
    }
}

#[test]
fn types_are_told_apart() {
    let declared = [CORE_CONTEXT, "https://example.org/medai/v1"];
    for (name, context, wanted) in [
        (
            "https://aaep-protocol.org/types/agent.tool.invoked",
            json!(CORE_CONTEXT),
            Rule::FullType,
        ),
        (
            "https://aaep-protocol.org/types/agent.nothing",
            json!(CORE_CONTEXT),
            Rule::UnknownCoreType,
        ),
        ("agent.tool.invoked", json!(CORE_CONTEXT), Rule::BadForm),
        ("medai:", json!(CORE_CONTEXT), Rule::BadForm),
        (
            "medai:patient.consulted",
            json!(CORE_CONTEXT),
            Rule::UndeclaredType,
        ),
        (
            "medai:patient.consulted",
            json!(declared),
            Rule::UnknownType,
        ),
    ] {
        let found = rules(&with(json!({"type": name, "@context": context})));
        assert_eq!(found, [wanted], "{name}");
    }
}

#[test]
fn extensions_are_judged_by_what_can_be_known() {
    let declared = json!([CORE_CONTEXT, "https://example.org/medai/context/v1"]);
    for (extensions, context, wanted) in [
        (json!({"medai": {}}), declared.clone(), vec![]),
        (
            json!({"azlearn": {}}),
            declared.clone(),
            vec![Rule::UnsurePrefix],
        ),
        (
            json!({"medai": {}}),
            json!(CORE_CONTEXT),
            vec![Rule::UndeclaredPrefix],
        ),
        (json!({"medai": 1}), declared.clone(), vec![Rule::WrongType]),
        (
            json!({"aaep": {}}),
            declared.clone(),
            vec![Rule::ReservedPrefix],
        ),
        (json!({"@x": {}}), declared, vec![Rule::ReservedPrefix]),
        (
            json!({"parent_session_id": "sess_0"}),
            json!(CORE_CONTEXT),
            vec![Rule::OtherSpelling],
        ),
    ] {
        let found = rules(&with(
            json!({"extensions": extensions, "@context": context}),
        ));
        assert_eq!(found, wanted, "{extensions}");
    }
}

#[test]
fn fields_at_the_top_are_judged() {
    for (field, wanted) in [
        ("custom_field", Rule::ForbiddenField),
        ("aaep_mood", Rule::ReservedField),
        ("@id", Rule::ReservedField),
        ("@vocab", Rule::ReservedField),
        ("reversibility", Rule::OtherSpelling),
        ("language", Rule::OtherSpelling),
        ("summary_", Rule::ForbiddenField),
        ("chunk", Rule::ForbiddenField),
    ] {
        assert_eq!(rules(&with(json!({field: "x"}))), [wanted], "{field}");
    }
    assert_eq!(rules(&with(json!({"summary_normal_yo": "x"}))), []);
    assert_eq!(
        rules(&with(json!({"summary_normal_yo": 1}))),
        [Rule::WrongType]
    );
    // An unknown type may have any fields at the top level (7.4.1).
    let unknown = with(json!({
        "@context": [CORE_CONTEXT, "https://example.org/fedlearn/v1"],
        "type": "fedlearn:model.updated", "round_number": 47,
    }));
    assert_eq!(rules(&unknown), [Rule::UnknownType]);
}

#[test]
fn text_for_a_person_names_its_language() {
    let bare = |fields: Value| {
        let mut event = with(fields);
        event.as_object_mut().unwrap().remove("localization_hints");
        event
    };
    assert_eq!(rules(&bare(json!({}))), [Rule::NoLanguage]);
    let hints = with(json!({"localization_hints": {"text_direction": "rtl"}}));
    let found = decode(&hints.to_string()).unwrap().findings;
    assert_eq!(
        (found[0].rule, found[0].section),
        (Rule::NoLanguage, "11.1.1")
    );
    let silent = json!({
        "@context": CORE_CONTEXT, "type": "aaep:agent.state.changed", "event_id": "evt_1",
        "session_id": "sess_1", "timestamp": "2026-05-24T14:22:11Z", "producer": {"agent_id": "a"},
        "from_state": "idle", "to_state": "thinking",
    });
    assert_eq!(rules(&silent), [], "nothing in it is for a person");
}

#[test]
fn rules_between_two_fields_are_held() {
    let asked = |fields: Value| {
        let mut event = with(json!({
            "type": "aaep:agent.awaiting.confirmation", "urgency": "critical", "action": "a", "consequence": "c",
            "reply_token": "rpl_1", "timeout_seconds": 60, "default_decision": "accept",
        }));
        event.as_object_mut().unwrap().remove("tool");
        for (key, value) in fields.as_object().unwrap() {
            event[key] = value.clone();
        }
        rules(&event)
    };
    for risk in ["high", "medium"] {
        assert_eq!(
            asked(json!({"irreversible": true, "risk_level": risk})),
            [Rule::UnsafeDefault]
        );
        assert_eq!(
            asked(json!({"reversibility": "irreversible", "risk_level": risk})),
            [Rule::UnsafeDefault]
        );
    }
    for fields in [
        json!({"irreversible": true, "risk_level": "low"}),
        json!({"irreversible": true}),
        json!({"irreversible": false, "risk_level": "high"}),
        json!({"risk_level": "high"}),
    ] {
        assert_eq!(asked(fields.clone()), [Rule::RiskyDefault], "{fields}");
    }
    for fields in [
        json!({"irreversible": false, "risk_level": "medium"}),
        json!({"risk_level": "low"}),
        json!({}),
        json!({"irreversible": true, "risk_level": "high", "default_decision": "reject"}),
    ] {
        assert_eq!(asked(fields.clone()), [], "{fields}");
    }
    assert_eq!(
        asked(json!({"allowed_replies": ["accept"]})),
        [Rule::NoReject]
    );
    assert_eq!(
        asked(json!({"allowed_replies": ["reject", "later"]})),
        [Rule::CustomReply]
    );

    let clarify = |fields: Value| {
        let mut event = with(fields);
        event.as_object_mut().unwrap().remove("tool");
        for (key, value) in [
            ("type", "aaep:agent.awaiting.clarification"),
            ("urgency", "critical"),
            ("question", "q"),
            ("reply_token", "rpl_1"),
        ] {
            event[key] = value.into();
        }
        event["timeout_seconds"] = 60.into();
        rules(&event)
    };
    assert_eq!(
        clarify(json!({"accepted_response_kinds": ["multiple_choice"]})),
        [Rule::NoChoices]
    );
    assert_eq!(
        clarify(json!({"accepted_response_kinds": ["freetext"]})),
        []
    );

    let steps = |progress: Value| {
        let mut event = with(json!({"type": "aaep:agent.progress.updated", "progress": progress}));
        event.as_object_mut().unwrap().remove("tool");
        rules(&event)
    };
    assert_eq!(
        steps(json!({"step": 3, "total_steps": 2})),
        [Rule::StepBeyondTotal]
    );
    assert_eq!(steps(json!({"step": 2, "total_steps": 2})), []);

    assert_eq!(
        rules(&with(json!({"args_summary": "to: bob, Password=hunter2"}))),
        [Rule::PossibleSecret]
    );
    for (args, told) in [
        ("password=[redacted]", false),
        ("Password: [REDACTED], to: bob", false),
        ("Authorization: Bearer <redacted>", false),
        ("api_key=***", false),
        ("api_key=\"••••\"", false),
        ("password=[redacted], api_key=k1", true),
        ("password=redactedly1", true),
        ("password=", true),
    ] {
        let found = rules(&with(json!({"args_summary": args})));
        assert_eq!(found == [Rule::PossibleSecret], told, "{args}");
    }
    let failed = with(json!({"type": "aaep:agent.tool.completed", "status": "error"}));
    assert_eq!(rules(&failed), [Rule::NoReason]);
}

#[test]
fn variants_of_a_questions_texts_are_known_where_the_field_is() {
    let event = |kind: &str, fields: Value| {
        let mut event = with(json!({"type": format!("aaep:agent.awaiting.{kind}"),
            "reply_token": "rpl_12345678", "timeout_seconds": 60, "urgency": "critical"}));
        event.as_object_mut().unwrap().remove("tool");
        for (name, value) in fields.as_object().unwrap() {
            event[name] = value.clone();
        }
        let found = rules(&event);
        let about = [Rule::ForbiddenField, Rule::WrongType];
        found
            .into_iter()
            .filter(|rule| about.contains(rule))
            .collect::<Vec<_>>()
    };
    let fine = json!({"action_de": "Senden", "consequence_zh_Hant": "x"});
    assert_eq!(event("confirmation", fine), []);
    let fine = json!({"question_de": "Wie?", "context_de": "Darum", "choices_de": ["a"], "options_de": ["a"]});
    assert_eq!(event("clarification", fine), []);
    for (kind, fields, rule) in [
        ("confirmation", json!({"action_de": 1}), Rule::WrongType),
        ("clarification", json!({"choices_de": "a"}), Rule::WrongType),
        (
            "confirmation",
            json!({"question_de": "Wie?"}),
            Rule::ForbiddenField,
        ),
        (
            "confirmation",
            json!({"action_kind": "x"}),
            Rule::ForbiddenField,
        ),
    ] {
        assert_eq!(event(kind, fields.clone()), [rule], "{fields}");
    }
}

#[test]
fn a_text_too_long_for_its_schema_is_one_error_and_is_read() {
    let event = with(json!({"args_summary": "x".repeat(16 * 1024 + 1)}));
    assert_eq!(rules(&event), [Rule::TooLong]);
    let decoded = decode(&event.to_string()).unwrap();
    assert!(matches!(decoded.event, Event::ToolInvoked(_)));
}

#[test]
fn limits_are_told_and_cost_nothing() {
    for (fields, times) in [
        // Within its schema's limit in characters, but longer in bytes.
        (json!({"args_summary": "ó".repeat(8 * 1024 + 1)}), 1),
        (json!({"correlation_id": "x".repeat(64 * 1024)}), 2),
        (
            json!({"localization_hints": {"primary_language": "en",
            "available_languages": (0..33).map(|n| format!("en-{n}")).collect::<Vec<_>>()}}),
            1,
        ),
    ] {
        let event = with(fields);
        let decoded = decode(&event.to_string()).unwrap();
        assert_eq!(rules(&event), vec![Rule::BeyondLimit; times]);
        assert!(matches!(decoded.event, Event::ToolInvoked(_)));
    }
    let mut many = with(json!({}));
    for n in 0..40 {
        many[format!("summary_normal_x{n}")] = "x".into();
    }
    assert_eq!(rules(&many), [Rule::BeyondLimit]);
    let deep = |levels: usize| {
        let mut inner = json!({});
        for _ in 0..levels {
            inner = json!({"a": inner});
        }
        with(
            json!({"@context": [CORE_CONTEXT, "https://e.org/medai"], "extensions": {"medai": inner}}),
        )
    };
    // The event, extensions and medai are three levels.
    assert_eq!(rules(&deep(5)), []);
    assert_eq!(rules(&deep(6)), [Rule::BeyondLimit]);
    assert_eq!(decode(&deep(200).to_string()), Err(DecodeError::TooDeep));
}

#[test]
fn oddities_of_the_text_are_told() {
    let text = with(json!({"summary_terse": "HALF"})).to_string();
    let decoded = decode(&text.replace("HALF", "a\\ud83d")).unwrap();
    assert_eq!(decoded.findings[0].rule, Rule::LoneSurrogate);
    let Event::ToolInvoked(tool) = decoded.event else {
        panic!()
    };
    assert_eq!(tool.summary.terse.as_deref(), Some("a\u{fffd}"));

    let twice = text.replacen(
        "\"tool\":",
        "\"risk_level\":\"low\",\"risk_level\":\"high\",\"tool\":",
        1,
    );
    let decoded = decode(&twice).unwrap();
    assert_eq!(
        (decoded.findings[0].rule, decoded.findings[0].field.as_str()),
        (Rule::RepeatedName, "risk_level")
    );
    let Event::ToolInvoked(tool) = decoded.event else {
        panic!()
    };
    assert_eq!(tool.risk_level, Some(RiskLevel::High));
}
