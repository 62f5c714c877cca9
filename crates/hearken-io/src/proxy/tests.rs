//! Bytes in any pieces, questions and answers in any order.

use proptest::prelude::*;

use super::arbiter::{Arbiter, Treatment};
use super::passage::{EditorReader, EditorWriter};
use super::pipe_messages::{ListenerNote, Side};

fn ask(arbiter: &mut Arbiter, id: &str) -> u64 {
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"session/request_permission\",\"params\":{{}},\"id\":{id}}}\n"
    );
    let taken = EditorWriter::default().take(line.as_bytes(), arbiter);
    match taken.notes.as_slice() {
        [ListenerNote::Asked { ticket, .. }] => *ticket,
        other => panic!("{other:?}"),
    }
}

fn all(lines: &str, size: usize, arbiter: &mut Arbiter) -> (String, Vec<ListenerNote>) {
    let mut inward = EditorReader::default();
    let (mut passed, mut notes) = (Vec::new(), Vec::new());
    for piece in lines.as_bytes().chunks(size) {
        let taken = inward.take(piece, arbiter);
        passed.extend(taken.passes);
        notes.extend(taken.notes);
    }
    let taken = inward.end(arbiter);
    passed.extend(taken.passes);
    notes.extend(taken.notes);
    (String::from_utf8(passed).unwrap(), notes)
}

/// Returns how much of a line goes on before its end, after a question with the id 1 was decided here.
fn at_once(line: &str) -> usize {
    let mut arbiter = Arbiter::default();
    let ticket = ask(&mut arbiter, "1");
    arbiter.decides(ticket);
    EditorReader::default()
        .take(line.as_bytes(), &mut arbiter)
        .passes
        .len()
}

#[test]
fn what_shows_that_it_is_no_answer_goes_on_at_once() {
    for line in [
        r#"{"jsonrpc":"2.0","method":"x","params":{"long"#,
        r#"{"id":2,"result":{"long"#,
        r#"{"id":"1","result":{"long"#,
        r#"{"id":1,"method":"x","params":["long"#,
        "no json",
    ] {
        assert_eq!(at_once(line), line.len(), "{line}");
    }
    for line in [
        r#"{"jsonrpc":"2.0","result":{"long"#,
        r#"{"id":1,"resu"#,
        r#"{"id":1,"result":{}"#,
    ] {
        assert_eq!(at_once(line), 0, "{line}");
    }
    // Without a question nothing is held, not even a single byte.
    let taken = EditorReader::default().take(b"{\"id\":1,\"res", &mut Arbiter::default());
    assert_eq!(taken.passes, b"{\"id\":1,\"res");
}

#[test]
fn only_the_late_answer_to_that_id_is_withheld() {
    let lines = concat!(
        "{\"id\":1,\"method\":\"session/prompt\",\"params\":{\"id\":1,\"result\":1}}\n",
        "{\"id\":\"1\",\"result\":{\"other\":1}}\r\n",
        "\n",
        "{\"result\":{\"outcome\":{}},\"id\":1}\n",
        "{\"id\":1,\"error\":{\"code\":-32800}}\n",
        "{\"id\":1,\"result\":3}",
    );
    for size in 1..lines.len() {
        let mut arbiter = Arbiter::default();
        let first = ask(&mut arbiter, "1");
        assert!(matches!(arbiter.decides(first), Treatment::Decides(_)));
        let second = ask(&mut arbiter, "1.0");
        let (passed, notes) = all(lines, size, &mut arbiter);
        let wanted = lines.replace("{\"result\":{\"outcome\":{}},\"id\":1}\n", "");
        assert_eq!(passed, wanted, "pieces of {size}");
        assert!(notes.contains(&ListenerNote::Withheld(first, false)));
        let line = b"{\"id\":1,\"error\":{\"code\":-32800}}".to_vec();
        assert!(notes.contains(&ListenerNote::Answered {
            ticket: second,
            line
        }));
    }
}

#[test]
fn a_line_that_shows_nothing_for_too_long_goes_on_and_the_questions_are_the_editors() {
    let mut arbiter = Arbiter::default();
    let ticket = ask(&mut arbiter, "1");
    let long = format!(
        "{{\"result\":\"{}\",\"id\":1}}\n",
        "x".repeat(2 * 1024 * 1024)
    );
    let (passed, notes) = all(&long, 65_536, &mut arbiter);
    assert!(passed == long);
    assert!(notes.contains(&ListenerNote::Left(ticket)));
    assert_eq!(arbiter.decides(ticket), Treatment::TooLate);
    // An array may answer any of them.
    let ticket = ask(&mut arbiter, "2");
    let (passed, notes) = all("[{\"id\":2,\"result\":1}]\n", 1, &mut arbiter);
    assert_eq!(passed, "[{\"id\":2,\"result\":1}]\n");
    assert!(notes.contains(&ListenerNote::Left(ticket)));
}

#[test]
fn what_the_agent_takes_back_is_the_editors() {
    let mut arbiter = Arbiter::default();
    let ticket = ask(&mut arbiter, "\"a\"");
    let line =
        b"{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":\"a\"}}\n";
    let taken = EditorWriter::default().take(line, &mut arbiter);
    assert_eq!(taken.notes[0], ListenerNote::TakenBack(ticket));
    assert_eq!(arbiter.decides(ticket), Treatment::TooLate);
    let (passed, notes) = all("{\"id\":\"a\",\"error\":{}}\n", 3, &mut arbiter);
    assert_eq!(passed, "{\"id\":\"a\",\"error\":{}}\n");
    assert!(matches!(
        notes.as_slice(),
        [ListenerNote::Line(Side::Editor, _)]
    ));
}

#[test]
fn a_line_too_long_for_the_listener_goes_on_and_is_counted() {
    let mut arbiter = Arbiter::default();
    let long = format!("{{\"method\":\"{}\"}}\n", "x".repeat(5 * 1024 * 1024));
    let taken = EditorReader::default().take(long.as_bytes(), &mut arbiter);
    assert!(taken.passes == long.as_bytes());
    assert_eq!((taken.unheard, taken.notes), (1, Vec::new()));
}

proptest! {
    /// Without a question, whatever the bytes: all of them go on, immediately and in order.
    #[test]
    fn bytes_go_on_unchanged(pieces in prop::collection::vec(prop::collection::vec(0_u8..=255, 0..40), 0..20)) {
        let mut inward = EditorReader::default();
        let mut arbiter = Arbiter::default();
        for piece in pieces {
            let taken = inward.take(&piece, &mut arbiter);
            prop_assert_eq!(taken.passes, piece);
        }
        prop_assert!(inward.end(&mut arbiter).passes.is_empty());
    }

    /// With open questions, whatever the bytes: all of them have gone on at the end, in order.
    #[test]
    fn what_is_held_goes_on_unchanged(
        pieces in prop::collection::vec("[{}\\[\\]\",:a-c1\\n ]{0,12}|\"id\":|\"result\":|\\{\"id\":1|\\{\"id\":2,\"result\":", 0..40),
    ) {
        let mut arbiter = Arbiter::default();
        ask(&mut arbiter, "1");
        let mut inward = EditorReader::default();
        let (mut sent, mut passed) = (Vec::new(), Vec::new());
        for piece in pieces {
            sent.extend_from_slice(piece.as_bytes());
            passed.extend(inward.take(piece.as_bytes(), &mut arbiter).passes);
            prop_assert!(sent.starts_with(&passed));
        }
        passed.extend(inward.end(&mut arbiter).passes);
        prop_assert_eq!(passed, sent);
    }
}

#[test]
fn a_late_answer_that_chose_something_is_told_from_one_that_took_note() {
    for (outcome, chose) in [
        (r#"{"outcome":"selected","optionId":"no"}"#, true),
        (r#"{"outcome":"cancelled"}"#, false),
    ] {
        let mut arbiter = Arbiter::default();
        let ticket = ask(&mut arbiter, "1");
        assert!(matches!(arbiter.decides(ticket), Treatment::Decides(_)));
        let line = format!("{{\"id\":1,\"result\":{{\"outcome\":{outcome}}}}}\n");
        let (passed, notes) = all(&line, 7, &mut arbiter);
        assert_eq!(
            (passed.as_str(), notes),
            ("", vec![ListenerNote::Withheld(ticket, chose)])
        );
    }
}
