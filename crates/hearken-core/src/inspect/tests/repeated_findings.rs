//! A finding that occurs many times.

use super::*;

#[test]
fn the_same_departure_is_written_once_with_its_number() {
    let mut checker = Checker::new();
    let mut repeats = RepeatedFindings::default();
    let mut written = 0;
    let mut stream = StreamBuilder::default();
    stream.on("session.started", json!({}));
    for _ in 0..100 {
        stream.on(
            "progress.updated",
            json!({"mood": 1, "progress": {"percent": 1}}),
        );
    }
    for line in &stream.lines {
        for item in checker.line(line) {
            written += u32::from(repeats.take(item).unwrap());
        }
    }
    let (_, summary) = checker.finish();
    assert_eq!(written, 1);
    let counted = repeats.into_list();
    assert_eq!(
        counted[0].to_text(&english()),
        "Line 2: warning: progress.updated: mood is not allowed at the top of an event; it belongs in extensions \
         (section 3.5), 100 times, the last in line 101"
    );
    assert!(
        summary
            .rules
            .iter()
            .any(|rule| rule.rule == "forbidden_field" && rule.times == 100)
    );
}
