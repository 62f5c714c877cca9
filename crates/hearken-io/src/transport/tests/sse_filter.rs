//! What the filter makes of a stream's bytes, compared with the standard.

use std::time::Duration;

use bytes::Bytes;
use eventsource_client::{Client, ClientBuilder, Error as StreamError, ReconnectOptions, SSE};
use futures_util::{FutureExt as _, StreamExt as _};
use http::Response;
use launchdarkly_sdk_transport::ByteStream;
use proptest::prelude::*;
use sync_wrapper::SyncStream;

use super::super::answer_stream::SingleResponse;
use super::{DROPPED, Filter, SharedResume, StreamItem, written};

/// Returns what the crate is given.
fn text(arrived: &[StreamItem]) -> String {
    String::from_utf8(written(arrived).to_vec()).unwrap()
}

/// Feeds the pieces to a filter and returns its output.
fn filtered(limit: usize, pieces: &[&[u8]]) -> (String, SharedResume) {
    let resume = SharedResume::default();
    let mut filter = Filter::new(limit, resume.clone());
    let mut out = Vec::new();
    for piece in pieces {
        out.extend(filter.feed(piece));
    }
    (text(&out), resume)
}

fn last_id(resume: &SharedResume) -> Option<String> {
    resume.with(|resume| {
        let id = resume.last_event_id.as_ref()?;
        Some(String::from_utf8(id.as_bytes().to_vec()).unwrap())
    })
}

fn retry(resume: &SharedResume) -> Option<Duration> {
    resume.with(|resume| resume.retry)
}

/// Returns what the crate makes of a body in these pieces, and the error that ends it.
fn read_by_the_crate(pieces: Vec<Bytes>) -> (Vec<StreamItem>, Option<StreamError>) {
    let body = futures_util::stream::iter(pieces.into_iter().map(Ok));
    let answer: Response<ByteStream> = Response::new(Box::pin(SyncStream::new(body)));
    let mut events = ClientBuilder::for_url("http://127.0.0.1/")
        .unwrap()
        .reconnect(ReconnectOptions::reconnect(false).build())
        .build_with_transport(SingleResponse::of(answer))
        .stream();
    let mut read = Vec::new();
    while let Some(event) = events.next().now_or_never().expect("nothing to wait for") {
        read.extend(match event {
            Ok(SSE::Connected(_)) => None,
            Ok(SSE::Event(event)) => Some(StreamItem::Event(super::frame(event))),
            Ok(SSE::Comment(words)) if words == DROPPED => Some(StreamItem::Dropped),
            Ok(SSE::Comment(_)) => Some(StreamItem::Comment),
            Err(error) => return (read, Some(error)),
        });
    }
    (read, None)
}

/// Returns the data of the events that have any, and how many events were dropped.
fn events(chunks: Vec<Vec<u8>>, limit: usize) -> (Vec<String>, usize) {
    let mut filter = Filter::new(limit, SharedResume::default());
    let (mut found, mut dropped) = (Vec::new(), 0);
    for arrived in chunks.iter().flat_map(|chunk| filter.feed(chunk)) {
        match arrived {
            StreamItem::Event(frame) => found.push(frame.text),
            StreamItem::Dropped => dropped += 1,
            StreamItem::Comment => {}
        }
    }
    (found, dropped)
}

/// Parses a stream exactly as the standard says, all at once and slowly, as a reference.
fn by_the_book(stream: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(stream);
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut found = Vec::new();
    let mut data = String::new();
    // Leaves out the last piece, which has no line end.
    let mut lines: Vec<&str> = text.split('\n').collect();
    lines.pop();
    for line in lines {
        if line.is_empty() {
            if !data.is_empty() {
                data.pop();
                found.push(std::mem::take(&mut data));
            }
            continue;
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        if name == "data" {
            data.push_str(value.strip_prefix(' ').unwrap_or(value));
            data.push('\n');
        }
    }
    found
}

#[test]
fn the_documented_example_holds() {
    let (out, resume) = filtered(
        1000,
        &[
            b"\xEF\xBB\xBFdata: a\xFF\r",
            b"\nfoo: 1\nevent:\nretry: x\nid: 7\n\n: hello\nid: 8\n\n",
        ],
    );
    assert_eq!(out, "data: a\u{FFFD}\n\n:\n");
    assert_eq!(last_id(&resume).as_deref(), Some("8"));
    assert_eq!(retry(&resume), None);
}

#[test]
fn line_ends_of_all_kinds_are_one_line_end() {
    for end in ["\n", "\r", "\r\n"] {
        let stream = ["data: a", "data:b", "data", "", "data: c", "", ""].join(end);
        let (out, _) = filtered(1000, &[stream.as_bytes()]);
        assert_eq!(out, "data: a\ndata: b\ndata: \n\ndata: c\n\n", "{end:?}");
    }
    // A blank line from a lone carriage return is recognized without waiting for the next byte.
    let (out, _) = filtered(1000, &[b"data: a\r\r"]);
    assert_eq!(out, "data: a\n\n");
}

#[test]
fn only_the_first_mark_of_a_stream_is_skipped() {
    let (out, _) = filtered(1000, &["\u{FEFF}data: a\n\n\u{FEFF}data: b\n\n".as_bytes()]);
    assert_eq!(out, "data: a\n\n");
    let (out, _) = filtered(1000, &["\u{FEFF}\u{FEFF}data: a\n\n".as_bytes()]);
    assert_eq!(out, "");
    let (out, _) = filtered(1000, &[b"\xEF", b"\xBB", b"\xBFdata: a\n\n"]);
    assert_eq!(out, "data: a\n\n");
}

#[test]
fn what_is_no_event_is_left_out() {
    let (out, _) = filtered(
        1000,
        &[b"foo: bar\n\nevent:\n\nretry: never\n\nevent: x\n\ndata: ok\nzip\nevent:\n\n"],
    );
    assert_eq!(out, "data: ok\n\n");
}

#[test]
fn ids_are_kept_when_their_event_ends_and_only_good_ones() {
    let id = |stream: &str| last_id(&filtered(5000, &[stream.as_bytes()]).1);
    assert_eq!(id("id: 1\ndata: a\n\n").as_deref(), Some("1"));
    assert_eq!(id("id: 1\ndata: a\n\ndata: b\n\n").as_deref(), Some("1"));
    assert_eq!(id("id: 1\n\nid: 2\ndata: cut").as_deref(), Some("1"));
    assert_eq!(id("id: 1\n\nid: 2\ndata: cut\n").as_deref(), Some("1"));
    assert_eq!(id("id: 1\n\nid: a\u{1}b\n\n").as_deref(), Some("1"));
    assert_eq!(id("id: 1\n\nid: a\u{0}b\n\n").as_deref(), Some("1"));
    assert_eq!(id("id: 1\n\nid: a\tb\n\n").as_deref(), Some("1"));
    assert_eq!(id("id: 1\n\nid: a\u{85}b\n\n").as_deref(), Some("1"));
    let long = format!("id: 1\n\nid: {}\n\n", "9".repeat(1025));
    assert_eq!(id(&long).as_deref(), Some("1"));
    assert_eq!(id("id: größe\n\n").as_deref(), Some("größe"));
    // The standard's way to request a start from the beginning.
    assert_eq!(id("id: 1\n\nid\n\n"), None);
    assert_eq!(id("id: 1\n\nid:\nid: 3\n\n").as_deref(), Some("3"));
}

#[test]
fn retry_is_taken_from_digits_only() {
    let retry_of = |stream: &str| retry(&filtered(1000, &[stream.as_bytes()]).1);
    assert_eq!(
        retry_of("retry: 1500\n\n"),
        Some(Duration::from_millis(1500))
    );
    assert_eq!(retry_of("retry: 1500\n"), None);
    assert_eq!(
        retry_of("retry: 99999999999999999999999\n\n"),
        Some(Duration::from_millis(u64::MAX))
    );
    for bad in [
        "retry: -1\n\n",
        "retry: +1\n\n",
        "retry:\n\n",
        "retry: 1.5\n\n",
    ] {
        assert_eq!(retry_of(bad), None, "{bad:?}");
    }
}

#[test]
fn a_message_of_exactly_the_bound_passes_and_one_more_byte_does_not() {
    // The bound includes space for a field's name; beyond that, it is exact to the byte.
    let fits = format!("data: {}\n\n", "x".repeat(100));
    assert_eq!(filtered(100, &[fits.as_bytes()]).0, fits);
    let large = format!("id: 5\ndata: {}\nfoo\n\ndata: next\n\n", "x".repeat(200));
    let (out, resume) = filtered(100, &[large.as_bytes()]);
    assert_eq!(out, ":dropped\ndata: next\n\n");
    assert_eq!(last_id(&resume).as_deref(), Some("5"));
}

#[test]
fn many_small_lines_are_bounded_as_one_large_one() {
    let stream = format!("{}\ndata: next\n\n", "data: 12345\n".repeat(50));
    assert_eq!(
        filtered(100, &[stream.as_bytes()]).0,
        ":dropped\ndata: next\n\n"
    );
    // Lines that are not passed on take no space.
    let stream = format!("{}data: a\n\n", "foo: 12345\nid: 1\n".repeat(50));
    assert_eq!(filtered(100, &[stream.as_bytes()]).0, "data: a\n\n");
}

#[test]
fn replaced_bytes_count_with_their_new_size() {
    let mut stream = b"data: ".to_vec();
    stream.extend([0xFF; 90]);
    stream.extend(b"\n\n");
    assert_eq!(filtered(100, &[&stream]).0, ":dropped\n");
}

#[test]
fn an_endless_line_is_told_once_at_once_and_keeps_nothing() {
    let resume = SharedResume::default();
    let mut filter = Filter::new(1000, resume);
    assert_eq!(filter.feed(b"data: "), []);
    let mut told = Vec::new();
    for _ in 0..10_000 {
        told.extend(filter.feed(&[b'x'; 1000]));
        assert!(filter.line.capacity() <= 4096 && filter.data.is_none());
    }
    assert_eq!(told, [StreamItem::Dropped]);
    let back = filter.feed(b"\r\n\r\ndata: back\n\n");
    assert_eq!(text(&back), "data: back\n\n");
}

#[test]
fn a_long_comment_hurts_no_event() {
    let stream = format!("data: a\n:{}\ndata: b\n\n", "x".repeat(5000));
    assert_eq!(
        filtered(100, &[stream.as_bytes()]).0,
        "data: a\ndata: b\n\n"
    );
    let pieces: Vec<&[u8]> = stream.as_bytes().chunks(1).collect();
    assert_eq!(filtered(100, &pieces).0, "data: a\ndata: b\n\n");
}

#[test]
fn the_mark_can_not_be_forged() {
    let (out, _) = filtered(100, &[b":dropped\n: dropped\ncomment: dropped\n\n"]);
    assert_eq!(out, ":\n");
}

#[test]
fn a_stream_of_one_byte_chunks_is_read_as_the_book_says() {
    let stream = "\u{FEFF}: hi\r\nevent: aaep.event\rdata: {\"a\":\ndata:  \"ü€😀\"}\r\n\r\n\
                  data\n\ndata: tail"
        .as_bytes();
    let chunks = stream.iter().map(|byte| vec![*byte]).collect();
    let (found, _) = events(chunks, 1000);
    assert_eq!(found, ["{\"a\":\n \"ü€😀\"}", ""]);
    assert_eq!(found, by_the_book(stream));
}

/// Generates bytes that look like an event stream often enough to be interesting.
fn streams() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        Just(b"data: ".to_vec()),
        Just(b"data:".to_vec()),
        Just(b"data".to_vec()),
        Just(b"event: x".to_vec()),
        Just(b"event:".to_vec()),
        Just(b"id: 4".to_vec()),
        Just(b"id: \x01".to_vec()),
        Just(b"retry: 10".to_vec()),
        Just(b"retry: no".to_vec()),
        Just(b"unknown: field".to_vec()),
        Just(b": comment".to_vec()),
        Just(b":dropped".to_vec()),
        Just(b"comment".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\n\n".to_vec()),
        Just(b"\xEF\xBB\xBF".to_vec()),
        Just("ü€😀".as_bytes().to_vec()),
        Just(b"\xF0\x9F".to_vec()),
        Just(b"\x00\xFF".to_vec()),
        Just("y".repeat(70).into_bytes()),
        "[ -~]{0,12}".prop_map(String::into_bytes),
    ];
    prop::collection::vec(part, 0..60).prop_map(|parts| parts.concat())
}

/// Cuts a stream at the given places.
fn cut(stream: &[u8], cuts: &[prop::sample::Index]) -> Vec<Vec<u8>> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
    places.extend([0, stream.len()]);
    places.sort_unstable();
    places
        .windows(2)
        .map(|pair| stream[pair[0]..pair[1]].to_vec())
        .collect()
}

proptest! {
    #[test]
    fn any_split_gives_the_same_frames(
        stream in streams(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let wanted = by_the_book(&stream);
        let (whole, none) = events(vec![stream.clone()], 1_000_000);
        prop_assert_eq!(&whole, &wanted);
        prop_assert_eq!(none, 0);
        let (pieces, _) = events(cut(&stream, &cuts), 1_000_000);
        prop_assert_eq!(&pieces, &wanted);
    }

    #[test]
    fn the_crate_reads_exactly_the_events_that_it_is_given(
        stream in streams(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let mut filter = Filter::new(60, SharedResume::default());
        let arrived: Vec<Vec<StreamItem>> =
            cut(&stream, &cuts).iter().map(|chunk| filter.feed(chunk)).collect();
        let pieces = arrived.iter().map(|arrived| written(arrived));
        let pieces = pieces.filter(|piece| !piece.is_empty()).collect();
        let (read, end) = read_by_the_crate(pieces);
        let given: Vec<StreamItem> = arrived.into_iter().flatten().collect();
        prop_assert_eq!(read, given);
        prop_assert!(matches!(end, Some(StreamError::Eof)), "{:?}", end);
    }

    #[test]
    fn any_split_drops_the_same_under_a_small_bound(
        stream in streams(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let whole = events(vec![stream.clone()], 40);
        let bytewise = events(stream.iter().map(|byte| vec![*byte]).collect(), 40);
        prop_assert_eq!(&bytewise, &whole);
        prop_assert_eq!(&events(cut(&stream, &cuts), 40), &whole);
        for text in &whole.0 {
            prop_assert!(text.len() <= 40 + super::FIELD_BYTES);
        }
    }

    #[test]
    fn no_bytes_at_all_break_it(
        stream in prop::collection::vec(any::<u8>(), 0..2000),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        prop_assert_eq!(events(cut(&stream, &cuts), 1_000_000).0, by_the_book(&stream));
    }
}
