//! Messages in a stream, however it is cut into chunks.

use proptest::prelude::*;

use super::{Framer, Framing, StreamElement};

fn read(mut framer: Framer, bytes: &[u8], chunk: usize) -> Vec<StreamElement> {
    let mut pieces = Vec::new();
    for chunk in bytes.chunks(chunk.max(1)) {
        framer.room().extend_from_slice(chunk);
        while let Some(piece) = framer.piece() {
            pieces.push(piece);
        }
    }
    pieces
}

fn message(text: &str) -> StreamElement {
    StreamElement::Message(text.to_owned())
}

#[test]
fn the_first_byte_tells_the_framing() {
    for (bytes, wanted, framing) in [
        (
            &b"\0\0\0\x02{}\0\0\0\x03[1]"[..],
            vec![message("{}"), message("[1]")],
            Some(Framing::Lengths),
        ),
        (
            b"{}\r\n\n[1]\n{\"cut\":",
            vec![message("{}"), message("[1]")],
            Some(Framing::Lines),
        ),
        (
            b"\xEF\xBB\xBF{}\n",
            vec![message("{}")],
            Some(Framing::Lines),
        ),
        (
            b"HTTP/1.1 400 Bad\r\n\r\n{}\n",
            vec![StreamElement::Neither],
            None,
        ),
        (b"", vec![], None),
    ] {
        for chunk in [1, 2, 3, 7, 100] {
            let mut framer = Framer::either(100);
            let mut pieces = Vec::new();
            for chunk in bytes.chunks(chunk) {
                framer.room().extend_from_slice(chunk);
                while let Some(piece) = framer.piece() {
                    pieces.push(piece);
                }
            }
            assert_eq!(pieces, wanted, "{bytes:?} in chunks of {chunk}");
            assert_eq!(framer.framing(), framing, "{bytes:?}");
        }
    }
}

#[test]
fn what_is_too_large_is_passed_over_and_told_and_never_kept() {
    let long = "x".repeat(5000);
    let lines = format!("{{}}\n{long}\n[1]\n");
    let mut lengths = b"\0\0\0\x02{}".to_vec();
    lengths.extend_from_slice(&5000_u32.to_be_bytes());
    lengths.extend_from_slice(long.as_bytes());
    lengths.extend_from_slice(b"\0\0\0\x03[1]");
    let wanted = [message("{}"), StreamElement::TooLarge, message("[1]")];
    for chunk in [1, 3, 64, 10_000] {
        assert_eq!(read(Framer::either(10), lines.as_bytes(), chunk), wanted);
        assert_eq!(read(Framer::either(10), &lengths, chunk), wanted);
    }
    // An endless line, and a length of 4 GiB.
    let mut endless = Framer::either(1000);
    for start in [&b"{"[..], b"\0"] {
        let mut framer = Framer::either(1000);
        framer.room().extend_from_slice(start);
        framer.room().extend_from_slice(&[0xFF; 3]);
        for _ in 0..10_000 {
            framer.room().extend_from_slice(&[b'x'; 1024]);
            while framer.piece().is_some() {}
            assert!(framer.room().len() <= 4096);
        }
        endless = framer;
    }
    assert!(endless.framing().is_some());
}

#[test]
fn a_read_takes_many_messages_whatever_came_before() {
    let line = format!("{{\"a\":\"{}\"}}\n", "x".repeat(300));
    let large = format!("{{\"a\":\"{}\"}}\n", "x".repeat(900_000));
    let endless = "x".repeat(3_000_000) + "\n";
    for before in [&line, &large, &endless] {
        let mut framer = Framer::lines(1_000_000);
        let whole = [before.as_str(), &line.repeat(1000)].concat();
        let (mut messages, mut rest, mut most) = (0, whole.as_bytes(), 0);
        while !rest.is_empty() {
            let room = framer.room();
            let free = room.capacity() - room.len();
            assert!(free >= 2048, "room for {free} bytes");
            let (now, later) = rest.split_at(free.min(rest.len()));
            room.extend_from_slice(now);
            rest = later;
            while framer.piece().is_some() {
                messages += 1;
            }
            most = framer.room().capacity();
        }
        assert_eq!(messages, 1001, "none is lost");
        assert!(most <= 2 * 8192, "{most} bytes for small messages");
    }
}

#[test]
fn a_message_of_exactly_the_bound_passes() {
    for (bytes, wanted) in [
        (&b"0123456789\n"[..], message("0123456789")),
        (b"0123456789\r\n", message("0123456789")),
        (b"0123456789a\n", StreamElement::TooLarge),
    ] {
        for chunk in [1, 5, 20] {
            assert_eq!(
                read(Framer::lines(10), bytes, chunk),
                std::slice::from_ref(&wanted)
            );
        }
    }
}

#[test]
fn the_last_line_needs_no_end_where_the_source_is_over() {
    let mut framer = Framer::lines(10);
    framer.room().extend_from_slice(b"{}\n[1]");
    assert_eq!(framer.piece(), Some(message("{}")));
    assert_eq!(framer.piece(), None);
    assert_eq!(framer.rest(), Some(message("[1]")));
    assert_eq!(framer.rest(), None);
}

#[test]
fn what_is_wrapped_is_read_back_by_either() {
    for (framing, wanted) in [
        (Framing::Lengths, message("{\"a\":\n1}")),
        (Framing::Lines, message("{\"a\": 1}")),
    ] {
        let bytes = framing.wrap("{\"a\":\n1}");
        assert_eq!(read(Framer::either(100), &bytes, 1), [wanted]);
        assert_ne!(framing, framing.other());
    }
}

#[test]
fn documents_stand_one_behind_the_other_and_end_by_themselves() {
    let bytes = b"{\"a\":\"}\\\"{\"} \r\n[{},[]]{}";
    for chunk in [1, 2, 7, 100] {
        assert_eq!(
            read(Framer::documents(100), bytes, chunk),
            [
                message("{\"a\":\"}\\\"{\"}"),
                message("[{},[]]"),
                message("{}")
            ]
        );
    }
    let wrapped = Framing::Documents.wrap("{\"a\":\n1}");
    assert_eq!(
        read(Framer::documents(100), &wrapped, 3),
        [message("{\"a\":\n1}")]
    );
}

#[test]
fn a_document_beyond_the_bound_is_passed_over_and_the_next_is_read() {
    let bytes = b"{\"a\":\"0123456789}\"}{\"b\":1}";
    for chunk in [1, 4, 100] {
        assert_eq!(
            read(Framer::documents(10), bytes, chunk),
            [StreamElement::TooLarge, message("{\"b\":1}")]
        );
    }
}

#[test]
fn what_is_no_document_is_told_once() {
    assert_eq!(
        read(Framer::documents(10), b"{} HTTP/1.1 400", 3),
        [message("{}"), StreamElement::Neither]
    );
}

proptest! {
    #[test]
    fn any_split_gives_the_same_documents(
        bytes in prop::collection::vec(prop_oneof![
            Just(b'{'), Just(b'}'), Just(b'"'), Just(b'\\'), Just(b'['), Just(b']'), Just(b' '), any::<u8>()
        ], 0..300),
        limit in 0_usize..40,
        chunk in 1_usize..9,
    ) {
        prop_assert_eq!(
            read(Framer::documents(limit), &bytes, chunk),
            read(Framer::documents(limit), &bytes, 1000)
        );
    }

    #[test]
    fn any_split_gives_the_same_messages(
        bytes in prop::collection::vec(prop_oneof![
            Just(b'\n'), Just(b'{'), Just(0_u8), Just(b'\r'), Just(0xEF), any::<u8>()
        ], 0..300),
        limit in 0_usize..40,
        chunk in 1_usize..9,
    ) {
        prop_assert_eq!(
            read(Framer::either(limit), &bytes, chunk),
            read(Framer::either(limit), &bytes, 1000)
        );
    }
}
