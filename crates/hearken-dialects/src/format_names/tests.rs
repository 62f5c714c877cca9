//! Which formats are named, and which pass as AAEP.

use serde_json::json;

use super::*;

fn judged(value: Value) -> Option<ForeignFormat> {
    match value {
        Value::Object(map) => ForeignFormat::of_object(&map),
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
        (json!({"a": 1}), Some(ForeignFormat::Untyped)),
        (
            json!({"type": "result", "session_id": "s"}),
            Some(ForeignFormat::Typed),
        ),
        (
            json!({"jsonrpc": "2.0", "method": "session/update"}),
            Some(ForeignFormat::Acp),
        ),
        (
            json!({"jsonrpc": "2.0", "method": "tools/call"}),
            Some(ForeignFormat::Mcp),
        ),
        (
            json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
            Some(ForeignFormat::JsonRpc),
        ),
        (
            json!({"type": "message.part.updated", "properties": {}}),
            Some(ForeignFormat::OpenCode),
        ),
        (
            json!({"type": "TEXT_MESSAGE_CONTENT", "delta": "a"}),
            Some(ForeignFormat::AgUi),
        ),
        (
            json!({"specversion": "1.0", "type": "a.b", "source": "/x"}),
            Some(ForeignFormat::CloudEvents),
        ),
        (
            json!({"object": "chat.completion.chunk"}),
            Some(ForeignFormat::Model),
        ),
        (
            json!({"type": "content_block_delta"}),
            Some(ForeignFormat::Model),
        ),
        (
            json!({"timestamp": "t", "type": "session_meta", "payload": {"id": "x"}}),
            Some(ForeignFormat::CodexRollout),
        ),
        (
            json!({"type": "event_msg", "payload": {}}),
            Some(ForeignFormat::Typed),
        ),
        (
            json!({"type": "thread.started", "thread_id": "x"}),
            Some(ForeignFormat::CodexStream),
        ),
        (
            json!({"type": "item.completed", "item": {"id": "i", "type": "agent_message"}}),
            Some(ForeignFormat::CodexStream),
        ),
        (
            json!({"type": "system", "subtype": "init", "session_id": "s"}),
            Some(ForeignFormat::ClaudeStream),
        ),
        (
            json!({"type": "assistant", "session_id": "s", "message": {"role": "assistant"}}),
            Some(ForeignFormat::ClaudeStream),
        ),
        (
            json!({"type": "user", "uuid": "u", "parentUuid": null, "sessionId": "s", "message": {"role": "user"}}),
            Some(ForeignFormat::ClaudeTranscript),
        ),
        (
            json!({"type": "summary", "summary": "x", "leafUuid": "u"}),
            Some(ForeignFormat::ClaudeTranscript),
        ),
        (
            json!({"type": "system", "message": "x", "timestamp": "t"}),
            Some(ForeignFormat::Typed),
        ),
        (
            json!({"hook_event_name": "Stop", "session_id": "s"}),
            Some(ForeignFormat::Untyped),
        ),
        (
            json!({"info": {"id": "ses_1", "title": "x"}, "messages": []}),
            Some(ForeignFormat::OpencodeExport),
        ),
        (
            json!({"type": "text", "timestamp": 1, "sessionID": "ses_1", "part": {"id": "p"}}),
            Some(ForeignFormat::OpencodeStream),
        ),
        (
            json!({"sessionId": "s", "projectHash": "h", "startTime": "t", "messages": [{"type": "gemini"}]}),
            Some(ForeignFormat::GeminiChat),
        ),
        (
            json!({"sessionId": "s", "projectHash": "h", "messages": [{"type": "qwen"}]}),
            Some(ForeignFormat::QwenChat),
        ),
        (
            json!({"id": "i", "timestamp": "t", "type": "gemini", "content": "x"}),
            Some(ForeignFormat::GeminiChat),
        ),
        (
            json!({"history": [{"role": "user", "parts": [{"text": "x"}]}], "authType": "x"}),
            Some(ForeignFormat::GeminiCheckpoint),
        ),
        (json!({"history": []}), Some(ForeignFormat::Untyped)),
        (
            json!({"type": "assistant", "uuid": "u", "parentUuid": "p", "sessionId": "s", "message": {"role": "model", "parts": []}}),
            Some(ForeignFormat::QwenChat),
        ),
        (
            json!({"type": "user", "uuid": "u", "parentUuid": null, "sessionId": "s", "message": {"role": "user", "parts": []}}),
            Some(ForeignFormat::QwenChat),
        ),
        (
            json!({"type": "user.message", "data": {"content": "x"}, "id": "i", "timestamp": "t", "parentId": null}),
            Some(ForeignFormat::CopilotSession),
        ),
        (
            json!({"type": "user.message", "data": {}, "id": "i"}),
            Some(ForeignFormat::Typed),
        ),
        (
            json!({"working_dir": "/x", "description": "d", "message_count": 2}),
            Some(ForeignFormat::GooseSession),
        ),
        (
            json!({"id": "m", "role": "user", "created": 1, "content": [{"type": "text"}]}),
            Some(ForeignFormat::GooseSession),
        ),
        (
            json!({"type": "aaep:system", "subtype": "init", "session_id": "s"}),
            None,
        ),
    ] {
        assert_eq!(judged(value.clone()), wanted, "{value}");
    }
    for (text, wanted) in [
        ("<!DOCTYPE html><html>", Some(ForeignFormat::Html)),
        ("  <html lang=en>", Some(ForeignFormat::Html)),
        ("Compiling x", Some(ForeignFormat::Text)),
        (
            "# aider chat started at 2026-01-02 10:00:00",
            Some(ForeignFormat::AiderChat),
        ),
        ("# aider", Some(ForeignFormat::Text)),
        (
            "{\n  \"info\": {\n    \"id\": \"ses_1\",",
            Some(ForeignFormat::OpencodeExport),
        ),
        (
            "{\n  \"sessionId\": \"s\",\n  \"projectHash\": \"h\",",
            Some(ForeignFormat::GeminiChat),
        ),
        ("", Some(ForeignFormat::Text)),
        ("{\"type\": \"aaep:", None),
        (
            "\u{1b}[1mGr\u{fffd}\u{fffd}e\u{1b}[0m\r",
            Some(ForeignFormat::Text),
        ),
        ("\u{1}/", Some(ForeignFormat::Binary)),
        ("\u{fffd}\u{fffd}", Some(ForeignFormat::Binary)),
    ] {
        assert_eq!(of_text(text), wanted, "{text}");
    }
}
