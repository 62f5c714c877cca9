//! The known fate of an answer: nothing untrue is announced about one that may have arrived, and no single key
//! sends another that contradicts it.

use super::*;

mod late;
mod lost;

fn status(status: u16) -> Fault {
    Fault::Status {
        status,
        retry_after: None,
    }
}

impl Stage {
    /// Supplies the outcome of the last attempt to send.
    fn outcome(&mut self, outcome: Result<Receipt, DeliveryFailure>) {
        let request = self.sent.last().unwrap().0;
        self.link(0, LinkEvent::Replied { request, outcome });
    }

    fn unknown(&mut self) {
        self.outcome(Err(DeliveryFailure::Unknown(Fault::Closed)));
    }

    fn goes_on(&mut self) {
        self.event(
            "state.changed",
            json!({"from_state": "awaiting_input", "to_state": "thinking"}),
        );
    }

    /// Clears the announcements, and returns those that an input leads to.
    fn hears(&mut self, run: impl FnOnce(&mut Self)) -> String {
        self.lines.clear();
        run(self);
        self.lines.join("\n")
    }
}

/// Returns a stage with a question that was accepted in a line; the answer is on its way.
fn accepted() -> Stage {
    let mut stage = Stage::new(PIPE);
    stage.ask("rpl_1");
    stage.wait(3000);
    stage.type_line("y 1");
    assert_eq!(stage.decision(), Some("accept"));
    stage
}

#[test]
fn what_closes_after_an_unconfirmed_answer_is_perhaps_by_it() {
    let mut stage = accepted();
    let told = stage.hears(Stage::unknown);
    assert!(
        phrase!(
            "reply.unconfirmed",
            n = 1,
            reason = "the connection was closed"
        )
        .is_in(&told),
        "{told}"
    );
    let told = stage.hears(|stage| {
        stage.goes_on();
        stage.wait(20_000);
    });
    assert!(
        phrase!("question.closed.perhaps", n = 1, answer = "accept").is_in(&told),
        "{told}"
    );
    for untrue in ["without", "not sent", "not delivered", "could not"] {
        assert!(!told.contains(untrue), "{untrue}: {told}");
    }
    assert_eq!(stage.sent.len(), 1, "nothing goes out to what is over");
}

#[test]
fn an_answer_on_its_way_while_the_question_closes_is_told_by_what_became_of_it() {
    for (outcome, words) in [
        (Ok(Receipt::Taken), ""),
        (Ok(Receipt::Written), ""),
        (
            Err(DeliveryFailure::Unknown(Fault::TimedOut)),
            "Nobody confirmed your answer to question 1: there was no answer in time. The question was settled perhaps by it, perhaps without it.",
        ),
        (
            Err(DeliveryFailure::Kept(Fault::Refused)),
            "Your answer to question 1 was not delivered: accept. The question was settled without it.",
        ),
        (
            Err(DeliveryFailure::Refused(status(410))),
            "Your answer to question 1 was not delivered: accept. The question was settled without it.",
        ),
    ] {
        let mut stage = accepted();
        let told = stage.hears(Stage::goes_on);
        assert!(phrase!("question.closed.answered", n = 1, answer = "accept").is_in(&told));
        let told = stage.hears(|stage| {
            stage.outcome(outcome.clone());
            stage.wait(20_000);
        });
        assert_eq!(told, words, "{outcome:?}");
        assert_eq!(stage.sent.len(), 1);
    }
}

#[test]
fn a_refused_retry_after_an_unconfirmed_answer_never_means_still_open() {
    for code in [400, 404, 409, 410] {
        let mut stage = accepted();
        stage.unknown();
        stage.wait(600);
        assert_eq!(stage.sent.len(), 2, "the same answer is sent again");
        let told = stage.hears(|stage| {
            stage.outcome(Err(DeliveryFailure::Refused(status(code))));
            stage.wait(60_000);
        });
        assert!(told.contains("may have arrived"), "{code}: {told}");
        assert!(!told.contains("still open"), "{code}: {told}");
        assert_eq!(stage.sent.len(), 2);
        // A single line can't contradict it, and the reason is announced.
        let told = stage.hears(|stage| stage.type_line("n 1"));
        assert!(
            phrase!(
                "reply.second_step.contrary.lines",
                earlier = "accept",
                n = 1,
                answer = "reject"
            )
            .is_in(&told),
            "{told}"
        );
        assert_eq!(stage.sent.len(), 2, "{code}");
        stage.wait(1000);
        stage.type_line("c 1");
        assert_eq!(stage.decision(), Some("reject"), "{code}");
        let told = stage.hears(|stage| {
            stage.outcome(Ok(Receipt::Taken));
            stage.goes_on();
        });
        assert!(
            phrase!(
                "question.closed.answered",
                n = 1,
                answer = "reject",
                earlier = "accept"
            )
            .is_in(&told),
            "{told}"
        );
    }
}

#[test]
fn the_same_answer_again_needs_no_second_step() {
    let mut stage = accepted();
    stage.unknown();
    stage.wait(600);
    stage.outcome(Err(DeliveryFailure::Refused(status(400))));
    stage.wait(3000);
    stage.type_line("y 1");
    assert_eq!(stage.sent.len(), 3);
    assert_eq!(stage.decision(), Some("accept"));
}

#[test]
fn a_first_answer_that_the_server_does_not_know_leaves_the_question_in_doubt() {
    for (code, open) in [
        (400, true),
        (403, true),
        (404, false),
        (409, false),
        (410, false),
    ] {
        let mut stage = accepted();
        let told = stage.hears(|stage| stage.outcome(Err(DeliveryFailure::Refused(status(code)))));
        assert_eq!(told.contains("The question is still open."), open, "{told}");
        assert_eq!(
            phrase!("reply.given_up.refused").is_in(&told),
            !open,
            "{told}"
        );
    }
}

#[test]
fn what_never_left_can_be_taken_back_and_nothing_is_sent_by_that() {
    let mut stage = accepted();
    let told = stage.hears(|stage| stage.outcome(Err(DeliveryFailure::Kept(Fault::Refused))));
    assert!(
        phrase!(
            "reply.failed.lines",
            n = 1,
            reason = "nobody answers at that address"
        )
        .is_in(&told),
        "{told}"
    );
    // Repeating the same answer is not a wish to take it back.
    let told = stage.hears(|stage| stage.type_line("y 1"));
    assert!(
        phrase!("reply.under_way", answer = "accept").is_in(&told),
        "{told}"
    );
    let told = stage.hears(|stage| stage.type_line("n 1"));
    assert!(
        phrase!("reply.taken_back", n = 1, answer = "accept").is_in(&told),
        "{told}"
    );
    assert!(told.contains("Send rpl_1"), "it is asked again: {told}");
    stage.wait(60_000);
    assert_eq!(stage.sent.len(), 1, "nothing is sent any more");
    stage.type_line("n 1");
    assert_eq!(stage.decision(), Some("reject"));
}

#[test]
fn keys_take_back_as_lines_do() {
    let mut stage = Stage::new(KEYS);
    stage.ask("rpl_1");
    stage.wait(3000);
    stage.press('n');
    stage.outcome(Err(DeliveryFailure::Kept(Fault::Refused)));
    stage.assert_heard(phrase!("reply.failed.rejected.keys"));
    stage.press('n');
    stage.assert_heard(phrase!("reply.under_way", answer = "reject"));
    stage.press('y');
    stage.assert_heard(phrase!("reply.taken_back", answer = "reject"));
    assert_eq!(stage.sent.len(), 1);
    stage.press('y');
    assert_eq!(stage.sent.len(), 1, "it is armed anew");
    stage.wait(700);
    stage.press('y');
    assert_eq!(stage.decision(), Some("accept"));
}

#[test]
fn what_perhaps_arrived_is_not_sent_again_when_it_is_taken_back() {
    let mut stage = accepted();
    stage.unknown();
    let told = stage.hears(|stage| stage.type_line("n 1"));
    assert!(
        phrase!("reply.taken_back.perhaps", n = 1, answer = "accept").is_in(&told),
        "{told}"
    );
    stage.wait(60_000);
    assert_eq!(stage.sent.len(), 1);
    stage.type_line("n 1");
    assert_eq!(stage.sent.len(), 1, "against it only in two steps");
    stage.wait(1000);
    stage.type_line("c 1");
    assert_eq!(stage.decision(), Some("reject"));
}

#[test]
fn what_was_only_written_has_perhaps_not_been_read_when_the_connection_is_lost() {
    let mut stage = accepted();
    stage.outcome(Ok(Receipt::Written));
    stage.assert_heard("Sent.");
    let told = stage.hears(|stage| {
        stage.link(
            0,
            LinkEvent::Lost {
                fault: Fault::Closed,
                retry_in: Duration::from_secs(1),
            },
        );
    });
    assert!(
        phrase!("reply.perhaps_arrived", answer = "accept").is_in(&told),
        "{told}"
    );
    stage.link(0, LinkEvent::Connected);
    let told = stage.hears(Stage::goes_on);
    assert!(
        phrase!("question.closed.perhaps", n = 1, answer = "accept").is_in(&told),
        "{told}"
    );
}

#[test]
fn a_closing_that_speaks_against_the_answer_is_not_told_as_its_effect() {
    let mut stage = Stage::new(PIPE);
    stage.ask("rpl_1");
    stage.wait(3000);
    stage.type_line("n 1");
    stage.unknown();
    let told = stage.hears(|stage| {
        stage.event(
            "state.changed",
            json!({"from_state": "awaiting_input", "to_state": "calling_tool"}),
        );
    });
    assert!(
        phrase!("question.closed.against", answer = "reject").is_in(&told),
        "{told}"
    );
}

#[test]
fn leaving_names_the_answer_that_did_not_arrive() {
    for (outcome, words) in [
        (
            DeliveryFailure::Kept(Fault::Refused),
            "The answer to question 1 was not delivered: accept.",
        ),
        (
            DeliveryFailure::Unknown(Fault::Closed),
            "Nobody confirmed the answer to question 1: accept. It may have arrived.",
        ),
    ] {
        let mut stage = accepted();
        stage.outcome(Err(outcome.clone()));
        stage.type_line("q");
        while stage.quit.is_none() {
            stage.wait(100);
            if stage.sent.len() > 1 && stage.quit.is_none() {
                stage.outcome(Err(outcome.clone()));
            }
        }
        stage.assert_heard(words);
    }
}

#[test]
fn a_connection_lost_after_the_answer_names_the_answer_and_no_default() {
    let mut stage = accepted();
    stage.outcome(Ok(Receipt::Taken));
    let told = stage.hears(|stage| {
        let fault = Fault::Closed;
        stage.link(
            0,
            LinkEvent::Lost {
                fault,
                retry_in: Duration::from_secs(1),
            },
        );
    });
    assert!(
        phrase!("question.unsure.answered", n = 1, answer = "accept").is_in(&told),
        "{told}"
    );
    assert!(!told.contains("rejected"), "{told}");
    let told = stage.hears(|stage| stage.type_line("t"));
    assert!(
        phrase!("status.session.lost", phase = "your answer is with it").is_in(&told),
        "{told}"
    );
}

#[test]
fn a_question_that_is_asked_under_another_token_is_asked_once() {
    let mut stage = Stage::new(PIPE);
    stage.ask_with("rpl_1", json!({"action": "Send it"}));
    let told = stage.hears(|stage| stage.ask_with("rpl_2", json!({"action": "Send it"})));
    assert!(
        phrase!("question.closed.asked_again", n = 1).is_in(&told),
        "{told}"
    );
    assert_eq!(told.matches("Question 2").count(), 1, "{told}");
}

#[test]
fn a_reason_that_ends_by_itself_gets_no_second_full_stop() {
    let mut stage = Stage::new(PIPE);
    let told = stage.hears(|stage| {
        stage.event(
            "session.errored",
            json!({"summary_normal": "Blocked by policy.", "error_message": "hate_speech"}),
        );
    });
    assert!(told.contains("Blocked by policy. hate_speech"), "{told}");
}
