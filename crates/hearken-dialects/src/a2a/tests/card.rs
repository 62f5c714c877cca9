//! Cards of both versions, and where they lead.

use serde_json::json;

use super::*;

const HERE: &str = "http://127.0.0.1:9999";

fn new(interfaces: Value) -> String {
    json!({"name": "Fox", "capabilities": {"streaming": true}, "supportedInterfaces": interfaces})
        .to_string()
}

fn interface(url: &str, binding: &str, version: &str) -> Value {
    json!({"url": url, "protocolBinding": binding, "protocolVersion": version})
}

fn here(card: &str) -> Result<AgentCard, &'static str> {
    read(card, Some(HERE)).map_err(|phrase| phrase.key)
}

#[test]
fn a_card_says_who_where_and_how() {
    let card = here(&new(json!([
        interface("https://127.0.0.1:9999/grpc", "GRPC", "1.0"),
        interface("http://localhost:9999/old", "JSONRPC", "0.3.0"),
        interface("http://localhost:9999/rpc?x=1#y", "jsonrpc", "1.0.2"),
    ])))
    .unwrap();
    assert_eq!(
        (card.name.as_str(), card.path.as_str()),
        ("Fox", "/rpc?x=1")
    );
    assert_eq!((card.version, card.streams), (Version::V1, true));
    let old = json!({"name": " ", "url": "http://0.0.0.0:9999", "protocolVersion": "0.3.0", "capabilities": {},
        "preferredTransport": "JSONRPC"});
    let card = here(&old.to_string()).unwrap();
    assert_eq!((card.name.as_str(), card.path.as_str()), ("A2A", "/"));
    assert_eq!((card.version, card.streams), (Version::V0_3, false));
    let mut second = old;
    second["preferredTransport"] = "HTTP+JSON".into();
    second["additionalInterfaces"] =
        json!([{"url": "http://127.0.0.1:9999/a", "transport": "JSONRPC"}]);
    assert_eq!(here(&second.to_string()).unwrap().path, "/a");
}

#[test]
fn nothing_is_sent_to_another_server_than_the_one_that_was_named() {
    for elsewhere in [
        "http://127.0.0.1:9998/rpc",
        "https://127.0.0.1:9999/rpc",
        "http://other.example:9999/rpc",
        "http://127.0.0.1:9999@other.example/rpc",
        "http://localhost:9999.other.example/",
        "//other.example/rpc",
        "ftp://localhost:9999/",
        "rpc",
        "",
    ] {
        let card = new(json!([interface(elsewhere, "JSONRPC", "1.0")]));
        assert_eq!(here(&card), Err("a2a.elsewhere"), "{elsewhere}");
    }
    let both = new(json!([
        interface("http://other.example/rpc", "JSONRPC", "1.0"),
        interface("/own", "JSONRPC", "0.3"),
    ]));
    assert_eq!(here(&both).unwrap().path, "/own");
    let usual = new(json!([interface(
        "https://Agents.example/rpc",
        "JSONRPC",
        "1.0"
    )]));
    for origin in ["https://agents.example", "https://agents.example:443"] {
        assert_eq!(read(&usual, Some(origin)).unwrap().path, "/rpc");
    }
}

#[test]
fn what_is_no_card_or_none_that_can_be_used_is_said() {
    assert_eq!(here("{}"), Err("a2a.no_card"));
    assert_eq!(here("<html>"), Err("a2a.no_card"));
    let version = |version: &str| new(json!([interface("/rpc", "JSONRPC", version)]));
    assert_eq!(here(&version("2.0")), Err("a2a.no_interface"));
    let grpc = new(json!([interface("/rpc", "GRPC", "1.0")]));
    assert_eq!(here(&grpc), Err("a2a.no_interface"));
    assert!(is_card(&grpc));
    assert!(!is_card(r#"{"capabilities":{},"name":"another protocol"}"#));
}

#[test]
fn the_document_is_where_cards_are_unless_it_is_named_itself() {
    let at = |path: &str| document(path).at;
    let wanted = |path: &str| Address::GivenAt(path.to_owned());
    assert_eq!(at("/"), wanted("/.well-known/agent-card.json"));
    assert_eq!(at("/fox/"), wanted("/fox/.well-known/agent-card.json"));
    assert_eq!(at("/own/card.json"), wanted("/own/card.json"));
}
