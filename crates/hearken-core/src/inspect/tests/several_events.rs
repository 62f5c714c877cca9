//! Lines with several events, or with JSON that is not strictly valid.

use super::*;

#[test]
fn every_event_of_a_line_is_checked_and_traced() {
    let mut stream = StreamBuilder::default();
    stream.on("session.started", json!({}));
    stream.on("session.completed", json!({}));
    let (one, two) = (stream.lines[0].clone(), stream.lines[1].clone());
    for text in [
        format!("{one}{two}"),
        format!("[{one},{two}]"),
        format!("[\n{one},\n{two}\n]"),
        format!("\u{feff}{one}\0{two}\0"),
    ] {
        let (items, summary) = check(&text);
        assert_eq!(names(&items), [(1, "several")], "{text}");
        assert_eq!(summary.events, 2, "{text}");
        let mut tracer = Tracer::new();
        for line in text.split('\n') {
            tracer.line(line);
        }
        let trace = tracer.finish(Format::Text, &super::english()).unwrap();
        assert!(trace.contains("to completed"), "{trace}");
    }
    let (items, _) = check(&one.replacen('{', "{\"x\":NaN,", 1));
    assert!(
        items
            .iter()
            .any(|item| item.rule == "no_number" && item.field == "x")
    );
}
