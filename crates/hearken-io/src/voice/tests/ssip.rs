//! The codec: any bytes in, and no text that becomes a command.

use proptest::prelude::*;

use super::*;
use crate::voice::ssip::{self, Decoder, Garbage, LINE_LIMIT, MessageEvent, Priority, ServerUnit};

fn decode(chunks: impl IntoIterator<Item = Vec<u8>>) -> Result<Vec<ServerUnit>, Garbage> {
    let mut decoder = Decoder::default();
    let mut said = Vec::new();
    for chunk in chunks {
        decoder.feed(&chunk);
        while let Some(next) = decoder.next()? {
            said.push(next);
        }
    }
    Ok(said)
}

const REAL: &[u8] = b"230 OK RECEIVING DATA\r\n701-6\r\n225-6\r\n701-1\r\n701 BEGIN\r\n225 OK MESSAGE QUEUED\r\n700-6\r\n700-1\r\n700-mark\r\n700 INDEX MARK\r\n251-\r\n251 OK GET RETURNED\r\n703-6\r\n703-1\r\n703 CANCELED\r\n";

fn real() -> Vec<ServerUnit> {
    let event = |happening| ServerUnit::Event {
        happening,
        message: 6,
    };
    vec![
        ServerUnit::Reply { code: 230 },
        ServerUnit::Part {
            text: "6".to_owned(),
        },
        event(MessageEvent::Begin),
        ServerUnit::Reply { code: 225 },
        ServerUnit::Part {
            text: String::new(),
        },
        ServerUnit::Reply { code: 251 },
        event(MessageEvent::Cancel),
    ]
}

#[test]
fn replies_and_events_come_apart_even_inside_each_other() {
    assert_eq!(decode([REAL.to_vec()]), Ok(real()));
}

#[test]
fn what_is_not_ssip_is_garbage() {
    for bytes in [
        &b"HTTP/1.1 400 Bad Request\r\n"[..],
        b"\r\n",
        b"2\r\n",
        b"2x0 OK\r\n",
        b"225:OK\r\n",
        b"600 WHAT\r\n",
        b"000 WHAT\r\n",
        b"\xff\xfe\xfd\xfc\r\n",
    ] {
        assert_eq!(decode([bytes.to_vec()]), Err(Garbage), "{bytes:?}");
    }
}

#[test]
fn endless_lines_and_endless_events_are_garbage_and_not_memory() {
    assert_eq!(decode([vec![b'2'; LINE_LIMIT + 1]]), Err(Garbage));
    let mut long = b"225-".to_vec();
    long.resize(LINE_LIMIT * 2, b'x');
    long.extend(b"\r\n");
    assert_eq!(decode([long]), Err(Garbage));
    assert_eq!(decode([b"701-1\r\n".repeat(100)]), Err(Garbage));
}

#[test]
fn an_event_without_a_number_is_nobodys() {
    assert_eq!(
        decode([b"701-x\r\n701-1\r\n701 BEGIN\r\n".to_vec()]),
        Ok(vec![])
    );
    assert_eq!(decode([b"702 END\r\n".to_vec()]), Ok(vec![]));
}

#[test]
fn dots_controls_and_line_ends_are_put_right() {
    for (text, body) in [
        ("hello", "hello\r\n.\r\n"),
        (".", "..\r\n.\r\n"),
        ("a\n.\nb", "a\r\n..\r\nb\r\n.\r\n"),
        ("..x\n.CANCEL ALL", "...x\r\n..CANCEL ALL\r\n.\r\n"),
        (
            "a\r\n.\r\nSET ALL RATE 1",
            "a\r\n..\r\nSET ALL RATE 1\r\n.\r\n",
        ),
        ("a\r.\rb", "a\r\n..\r\nb\r\n.\r\n"),
        ("nul\0l\u{1b}[2J\u{9b}x", "null[2Jx\r\n.\r\n"),
        ("a\tb\u{b}c\u{85}d\u{2028}e", "a b c d e\r\n.\r\n"),
        ("\u{0}.\u{0}", "..\r\n.\r\n"),
    ] {
        assert_eq!(ssip::body(text), body, "{text:?}");
    }
}

#[test]
fn only_language_tags_go_over() {
    for tag in ["en", "en-US", "zh-Hant-TW", "sl-rozaj-biske", "de-1996"] {
        assert_eq!(ssip::language(tag), Some(tag));
    }
    for tag in [
        "",
        "-",
        "en-",
        "-en",
        "en_US",
        "en US",
        "en\r\nCANCEL ALL",
        "toolongapart",
        "1en",
        "é",
        "a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a",
    ] {
        assert_eq!(ssip::language(tag), None, "{tag:?}");
    }
}

#[test]
fn the_client_name_has_three_parts_whatever_the_user_is_called() {
    for (user, name) in [
        ("ann", "ann:hearken:main"),
        ("", "user:hearken:main"),
        ("a b:c\r\nQUIT", "abcQUIT:hearken:main"),
        ("Ünal_1-x", "nal_1-x:hearken:main"),
    ] {
        assert_eq!(ssip::client_name(user), name);
    }
}

#[test]
fn what_must_be_heard_is_a_message_and_the_rest_gives_way() {
    let words = Class::ALL.map(|class| Priority::of(class).word());
    assert_eq!(words, ["MESSAGE", "MESSAGE", "MESSAGE", "TEXT", "TEXT"]);
}

proptest! {
    #[test]
    fn any_split_gives_the_same(cuts in proptest::collection::vec(0..REAL.len(), 0..12)) {
        let mut cuts = cuts;
        cuts.extend([0, REAL.len()]);
        cuts.sort_unstable();
        let chunks = cuts.windows(2).map(|pair| REAL[pair[0]..pair[1]].to_vec());
        prop_assert_eq!(decode(chunks), Ok(real()));
    }

    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let _ = decode([bytes]);
    }

    #[test]
    fn no_text_ends_its_message_early(text in r"[.\r\na\x00\x1b ü\u{85}\u{2028}]{0,40}") {
        let body = ssip::body(&text);
        prop_assert!(body.ends_with("\r\n.\r\n") || body == ".\r\n");
        let lines: Vec<&str> = body.split("\r\n").collect();
        let ends = lines.iter().filter(|line| **line == ".").count();
        prop_assert_eq!(ends, 1, "one dot line, at the end");
        for line in lines {
            prop_assert!(!line.contains(|sign: char| sign.is_control()));
        }
    }
}
