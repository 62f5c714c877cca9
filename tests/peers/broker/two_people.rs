//! Two people who answer at the same time.

use hearken_wording::phrase;

use crate::child::Hearken;
use crate::program;

use super::nats_client::NatsClient;
use super::nats_server::with;

#[test]
fn the_first_answer_wins_and_the_others_hear_who_gave_it() {
    with(|space| {
        let (mut anna, mut ben) = (space.watch("anna"), space.watch("ben"));
        space.start("email");
        anna.announced("confirmation", phrase!("question.head", n = 1));
        ben.announced("confirmation", phrase!("question.head", n = 1));
        anna.say("r 1 not now");
        anna.announced("reply", "Rejecting");
        ben.announced(
            "confirmation",
            phrase!("question.closed.by.rejected", by = "anna", n = 1),
        );
        ben.announced("session_completed", "Nothing was sent");
        assert_eq!(space.producer.replies().len(), 1);
    });
}

#[test]
fn of_two_answers_at_once_exactly_one_decides_and_both_are_told_the_truth() {
    // Each round is a session of the demo's agent; the whole number is for .ci/deep.
    let rounds = match std::env::var_os("HEARKEN_ALL_RUNS") {
        Some(_) => 1000,
        None => 25,
    };
    with(|space| {
        let url = space.server.url();
        let runtime = &space.runtime;
        let mut anna = NatsClient::connect(runtime, &url, "anna");
        let mut ben = NatsClient::connect(runtime, &url, "ben");
        for round in 0..rounds {
            space.start("email");
            let (results, closed) = runtime.block_on(async {
                let asked = "aaep:agent.awaiting.confirmation";
                let (subject, question) = anna.until(asked).await;
                let (_, again) = ben.until(asked).await;
                assert_eq!(question["reply_token"], again["reply_token"]);
                // Who is first changes; both are on their way before either is answered.
                let accept = anna.answer(&subject, &question, "accept");
                let reject = ben.answer(&subject, &question, "reject");
                let (accept, reject) = match round % 2 {
                    0 => tokio::join!(accept, reject),
                    _ => {
                        let (reject, accept) = tokio::join!(reject, accept);
                        (accept, reject)
                    }
                };
                let closed = anna.until("hearken:closed").await.1;
                ben.until("hearken:closed").await;
                anna.until("aaep:agent.session.completed").await;
                ben.until("aaep:agent.session.completed").await;
                ([accept, reject], closed)
            });
            let of = |result: &str| results.iter().filter(|one| one["result"] == result).count();
            assert_eq!((of("taken"), of("decided")), (1, 1), "{round}: {results:?}");
            let winner = usize::from(results[0]["result"] != "taken");
            let loser = &results[1 - winner];
            assert_eq!(loser["by"], ["anna", "ben"][winner], "{results:?}");
            let wanted = ["accept", "reject"][winner];
            assert_eq!(loser["decision"], wanted, "{results:?}");
            let answered = &closed["extensions"]["hearken"]["answered"];
            assert_eq!(answered["by"], loser["by"]);
            let replies = space.producer.replies();
            let last = &replies.last().unwrap().message;
            assert_eq!(last["decision"], wanted, "what the agent got");
        }
        assert!(space.producer.replies().len() >= rounds.min(128));
    });
}

/// What docs/fleet.md describes is enough for a client of another author.
#[test]
fn a_client_of_another_author_follows_and_answers() {
    with(|space| {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/broker/follow.py");
        let mut call = program("python");
        let url = space.server.url();
        let mut carla = Hearken::spawn(call.args([script, &url, "reject"]));
        carla.wait("start", |line| line == "listening");
        let mut anna = space.watch("anna");
        space.start("email");
        for line in [
            "life session.started",
            "ask awaiting.confirmation",
            "result taken",
            "ask hearken:closed",
            "life session.completed",
        ] {
            carla.wait(line, |one| one == line);
        }
        anna.announced(
            "confirmation",
            phrase!("question.closed.by.rejected", by = "carla", n = 1),
        );
        let replies = space.producer.replies();
        assert_eq!(replies[0].message["decided_by"], "user:carla");
    });
}
