//! What is said about an answer whose connection is lost: each fact once, and nothing that is untrue a moment later.

use super::*;

fn lose(stage: &mut Stage) {
    let lost = LinkEvent::Lost {
        fault: Fault::Closed,
        retry_in: Duration::from_secs(1),
    };
    stage.link(0, lost);
}

/// Returns what is said about the answer, without the connection's own news.
fn of_the_answer(told: &str) -> Vec<&str> {
    told.lines()
        .filter(|line| line.contains("answer"))
        .collect()
}

#[test]
fn a_loss_with_an_answer_on_its_way_is_told_once() {
    let mut stage = accepted();
    let told = stage.hears(|stage| {
        lose(stage);
        stage.unknown();
        stage.wait(20_000);
    });
    assert_eq!(
        of_the_answer(&told),
        [
            "The connection was lost while your answer to question 1 was on its way: accept. Whether it arrived is not known.",
            "Your answer to question 1 is not resent automatically.",
        ]
    );
    assert_eq!(stage.sent.len(), 1);
}

#[test]
fn an_unconfirmed_answer_is_not_promised_to_be_sent_again() {
    let mut stage = accepted();
    let told = stage.hears(|stage| {
        stage.unknown();
        lose(stage);
        stage.wait(20_000);
    });
    let told = of_the_answer(&told);
    assert_eq!(
        told.first().copied(),
        Some(
            "Nobody confirmed the answer to question 1: the connection was closed. It may have arrived, and is sent again if the connection holds."
        )
    );
    assert_eq!(
        told.last().copied(),
        Some("Your answer to question 1 is not resent automatically.")
    );
    // At the loss of the connection, "perhaps arrived" is not repeated.
    let arrived = |line: &&&str| line.contains("may have arrived");
    assert_eq!(told.iter().filter(arrived).count(), 1, "{told:#?}");
    let confirmed = |line: &&&str| phrase!("reply.unconfirmed").is_in(line);
    assert_eq!(told.iter().filter(confirmed).count(), 1, "{told:#?}");
    assert_eq!(stage.sent.len(), 1);
}
