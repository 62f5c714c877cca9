//! Our subscriber against a small Python producer that implements appendix B.1 as printed.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use hearken_wording::phrase;
use serde_json::Value;

use super::child::Hearken;

/// Ends the producer with the test.
struct PythonProducer(Child);

impl Drop for PythonProducer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn every_message_is_as_the_chapters_print_it() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/sse.py");
    let mut child = Command::new("python3")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 is there");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let _producer = PythonProducer(child);
    let port = lines.next().unwrap().unwrap();
    let url = format!("http://127.0.0.1:{port}");
    let mut hearken = Hearken::start(&["watch", &url, "--face", "json", "--voice", "none"]);
    hearken.announced("connection", phrase!("terms.rate", honored = 3, asked = 50));
    hearken.announced("connection", phrase!("link.handshake"));
    hearken.announced("confirmation", "Transfer");
    hearken.say("y 1");
    super::answered(&mut hearken);
    hearken.say("v");
    let mut kinds = Vec::new();
    for line in lines.map(Result::unwrap) {
        let got: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(got["faults"], serde_json::json!([]), "{got}");
        let kind = got["message"]["type"].as_str().unwrap().to_owned();
        kinds.push(kind.clone());
        match kind.as_str() {
            // Not earlier: on a busy machine, leaving could overtake the change.
            "subscription.renegotiate" => hearken.say("q"),
            "subscription.close" => break,
            _ => {}
        }
    }
    let (code, ..) = hearken.exit();
    assert_eq!(code, 0);
    assert_eq!(
        kinds,
        [
            "subscription.request",
            "confirmation.reply",
            "subscription.renegotiate",
            "subscription.close"
        ]
    );
}
