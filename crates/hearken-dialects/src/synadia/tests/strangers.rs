//! Strangers on the server, and agents that send more than is kept.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::link::PhraseArg;

#[test]
fn strangers_can_neither_fill_the_memory_nor_take_a_name() {
    let mut bench = bench();
    let discovery = bench.latest().0;
    bench.part(discovery, &info("pi", "build", "real").to_string());
    // An address of another kind may say that it is anybody.
    let mut twin = info("pi", "build", "twin");
    twin["endpoints"][1]["subject"] = "team.twin".into();
    bench.part(discovery, &twin.to_string());
    for bad in ["aaep-do.v1.main.x", "agents.prompt.>", "$JS.API.x"] {
        let mut info = info("evil", "x", "evil");
        info["endpoints"][1]["subject"] = bad.into();
        bench.part(discovery, &info.to_string());
    }
    for at in 0..300 {
        let session = format!("s{at}");
        bench.part(discovery, &info("many", &session, &session).to_string());
    }
    bench.ends(discovery);
    let names = bench.names();
    assert_eq!(names.len(), 256);
    assert!(names.contains(&"pi build") && names.contains(&"pi build anna"));
    let different: BTreeSet<&&str> = names.iter().collect();
    assert_eq!(different.len(), 256);
    assert_eq!(
        bench.phrase_keys,
        ["synadia.unfit", "synadia.too_many", "synadia.there"]
    );
    // Unknown heartbeats lead to one search, however many come.
    let before = bench.calls.len();
    for at in 0..1000 {
        bench.beats("agents.hb.x.y.z", &format!("unknown-{at}"), 30);
    }
    bench.wait(5);
    bench.wait(5);
    assert_eq!(bench.calls.len(), before + 1);
}

#[test]
fn questions_beyond_the_bound_are_counted_and_reported() {
    let mut bench = with(&[("pi", "build")]);
    let request = bench.begins("ask");
    for at in 0..200 {
        bench.asks(request, &format!("_INBOX.agents.x{at}"), "Sure?");
    }
    bench.ends(request);
    let PhraseArg::Own(n) = &bench.phrase("synadia.unasked").args[1].1 else {
        panic!("no number");
    };
    assert_eq!(n, "135", "one was asked, and 64 waited");
    bench.is_sound();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::tests::runs(300)))]

    /// Whatever arrives, hearken publishes only where it may, and settles every answer of the person once.
    #[test]
    fn nothing_is_published_where_a_stranger_wants_it(
        parts in prop::collection::vec(
            (prop::sample::select(MESSAGES.to_vec()), "(\\PC{0,12}|_INBOX\\.[a-z]{1,3}|agents\\.prompt\\.[a-z.*>]{0,6})"),
            1..40,
        ),
    ) {
        let mut bench = with(&[("pi", "build")]);
        let mut number = 0;
        for (message, subject) in parts {
            let request = bench.latest().0;
            let mut message: Value = serde_json::from_str(message).unwrap();
            if message["data"].get("reply_subject").is_some() {
                message["data"]["reply_subject"] = subject.as_str().into();
            }
            if message["endpoints"].is_array() {
                message["endpoints"][0]["subject"] = subject.as_str().into();
            }
            bench.part(request, &message.to_string());
            number += 1;
            bench.respond(number, "yes");
            bench.prompt("go");
            bench.wait(7);
        }
        for (_, call) in &bench.calls {
            let subject = call.subject.as_str();
            prop_assert!(match call.answers {
                ServiceAnswers::Gathered(_) => subject == "$SRV.INFO.agents",
                ServiceAnswers::Streamed => super::super::subject::takes_prompts(subject),
                ServiceAnswers::Unanswered => super::super::subject::takes_answers(subject),
                ServiceAnswers::One => false,
            }, "{call:?}");
        }
        bench.is_sound();
    }
}
