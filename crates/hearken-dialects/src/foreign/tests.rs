//! What is named, and what passes.

use serde_json::json;

use super::*;

fn judged(value: Value) -> Option<Foreign> {
    match value {
        Value::Object(map) => Foreign::of_object(&map),
        _ => None,
    }
}

#[test]
fn what_is_not_aaep_is_named_and_what_is_passes() {
    for (value, wanted) in [
        (
            json!({"@context": "https://aaep-protocol.org/context/v1", "type": "x:y"}),
            None,
        ),
        (
            json!({"@context": ["https://a.example", "https://aaep-protocol.org/context/v1"]}),
            None,
        ),
        (json!({"type": "aaep:agent.purple.flamingo"}), None),
        (
            json!({"type": "agent.session.started", "session_id": "s"}),
            None,
        ),
        (
            json!({"type": "medai:thing", "event_id": "e", "session_id": "s", "producer": {"agent_id": "a"}}),
            None,
        ),
        (json!({"type": "subscription.accepted"}), None),
        (json!({"a": 1}), Some(Foreign::Untyped)),
        (
            json!({"type": "result", "session_id": "s"}),
            Some(Foreign::Typed),
        ),
        (
            json!({"jsonrpc": "2.0", "method": "session/update"}),
            Some(Foreign::Acp),
        ),
        (
            json!({"jsonrpc": "2.0", "method": "tools/call"}),
            Some(Foreign::Mcp),
        ),
        (
            json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
            Some(Foreign::JsonRpc),
        ),
        (
            json!({"type": "message.part.updated", "properties": {}}),
            Some(Foreign::OpenCode),
        ),
        (
            json!({"type": "TEXT_MESSAGE_CONTENT", "delta": "a"}),
            Some(Foreign::AgUi),
        ),
        (
            json!({"specversion": "1.0", "type": "a.b", "source": "/x"}),
            Some(Foreign::CloudEvents),
        ),
        (
            json!({"object": "chat.completion.chunk"}),
            Some(Foreign::Model),
        ),
        (json!({"type": "content_block_delta"}), Some(Foreign::Model)),
        (
            json!({"timestamp": "t", "type": "session_meta", "payload": {"id": "x"}}),
            Some(Foreign::CodexRollout),
        ),
        (
            json!({"type": "event_msg", "payload": {}}),
            Some(Foreign::Typed),
        ),
        (
            json!({"type": "thread.started", "thread_id": "x"}),
            Some(Foreign::CodexStream),
        ),
        (
            json!({"type": "item.completed", "item": {"id": "i", "type": "agent_message"}}),
            Some(Foreign::CodexStream),
        ),
        (
            json!({"type": "system", "subtype": "init", "session_id": "s"}),
            Some(Foreign::ClaudeStream),
        ),
        (
            json!({"type": "assistant", "session_id": "s", "message": {"role": "assistant"}}),
            Some(Foreign::ClaudeStream),
        ),
        (
            json!({"type": "user", "uuid": "u", "parentUuid": null, "sessionId": "s", "message": {"role": "user"}}),
            Some(Foreign::ClaudeTranscript),
        ),
        (
            json!({"type": "summary", "summary": "x", "leafUuid": "u"}),
            Some(Foreign::ClaudeTranscript),
        ),
        (
            json!({"type": "system", "message": "x", "timestamp": "t"}),
            Some(Foreign::Typed),
        ),
        (
            json!({"hook_event_name": "Stop", "session_id": "s"}),
            Some(Foreign::Untyped),
        ),
        (
            json!({"info": {"id": "ses_1", "title": "x"}, "messages": []}),
            Some(Foreign::OpencodeExport),
        ),
        (
            json!({"type": "text", "timestamp": 1, "sessionID": "ses_1", "part": {"id": "p"}}),
            Some(Foreign::OpencodeStream),
        ),
        (
            json!({"sessionId": "s", "projectHash": "h", "startTime": "t", "messages": [{"type": "gemini"}]}),
            Some(Foreign::GeminiChat),
        ),
        (
            json!({"sessionId": "s", "projectHash": "h", "messages": [{"type": "qwen"}]}),
            Some(Foreign::QwenChat),
        ),
        (
            json!({"id": "i", "timestamp": "t", "type": "gemini", "content": "x"}),
            Some(Foreign::GeminiChat),
        ),
        (
            json!({"history": [{"role": "user", "parts": [{"text": "x"}]}], "authType": "x"}),
            Some(Foreign::GeminiCheckpoint),
        ),
        (json!({"history": []}), Some(Foreign::Untyped)),
        (
            json!({"type": "assistant", "uuid": "u", "parentUuid": "p", "sessionId": "s", "message": {"role": "model", "parts": []}}),
            Some(Foreign::QwenChat),
        ),
        (
            json!({"type": "user", "uuid": "u", "parentUuid": null, "sessionId": "s", "message": {"role": "user", "parts": []}}),
            Some(Foreign::QwenChat),
        ),
        (
            json!({"type": "user.message", "data": {"content": "x"}, "id": "i", "timestamp": "t", "parentId": null}),
            Some(Foreign::CopilotSession),
        ),
        (
            json!({"type": "user.message", "data": {}, "id": "i"}),
            Some(Foreign::Typed),
        ),
        (
            json!({"working_dir": "/x", "description": "d", "message_count": 2}),
            Some(Foreign::GooseSession),
        ),
        (
            json!({"id": "m", "role": "user", "created": 1, "content": [{"type": "text"}]}),
            Some(Foreign::GooseSession),
        ),
        (
            json!({"type": "aaep:system", "subtype": "init", "session_id": "s"}),
            None,
        ),
    ] {
        assert_eq!(judged(value.clone()), wanted, "{value}");
    }
    for (text, wanted) in [
        ("<!DOCTYPE html><html>", Some(Foreign::Html)),
        ("  <html lang=en>", Some(Foreign::Html)),
        ("Compiling x", Some(Foreign::Text)),
        (
            "# aider chat started at 2026-01-02 10:00:00",
            Some(Foreign::AiderChat),
        ),
        ("# aider", Some(Foreign::Text)),
        (
            "{\n  \"info\": {\n    \"id\": \"ses_1\",",
            Some(Foreign::OpencodeExport),
        ),
        (
            "{\n  \"sessionId\": \"s\",\n  \"projectHash\": \"h\",",
            Some(Foreign::GeminiChat),
        ),
        ("", Some(Foreign::Text)),
        ("{\"type\": \"aaep:", None),
        (
            "\u{1b}[1mGr\u{fffd}\u{fffd}e\u{1b}[0m\r",
            Some(Foreign::Text),
        ),
        ("\u{1}/", Some(Foreign::Binary)),
        ("\u{fffd}\u{fffd}", Some(Foreign::Binary)),
    ] {
        assert_eq!(of_text(text), wanted, "{text}");
    }
}
