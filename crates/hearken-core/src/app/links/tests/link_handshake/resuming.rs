//! A subscription after its stream was lost.

use super::*;

#[test]
fn a_lost_stream_is_resumed_and_a_forgotten_one_asked_for_anew() {
    let mut rig = Rig::new(TransportKind::EventStream);
    rig.agreed();
    let lost = |fault| LinkEvent::Lost {
        fault,
        retry_in: Duration::from_millis(1),
    };
    rig.link(lost(Fault::Closed));
    rig.connect();
    assert!(matches!(
        rig.course(),
        Ok(Stream {
            every: None,
            may_be_forgotten: true,
            ..
        })
    ));
    rig.link(lost(Fault::Status {
        status: 404,
        retry_after: None,
    }));
    rig.take();
    rig.connect();
    assert_eq!(rig.asked().1.path, MANIFEST);
}

/// Asks a question, loses the link and comes back; returns a rig that keeps the announcements from then on.
fn back_with_a_question(forgotten: bool) -> Rig {
    let mut rig = Rig::new(TransportKind::EventStream);
    rig.agreed();
    rig.link(LinkEvent::Connected);
    rig.event("session.started", json!({}));
    rig.event(
        "awaiting.confirmation",
        json!({"reply_token": "rpl_1", "action": "Send it", "consequence": "It is sent",
            "timeout_seconds": 600, "default_decision": "reject", "risk_level": "low",
            "reversibility": "reversible", "allowed_replies": ["accept", "reject"]}),
    );
    rig.now = rig.now.after(Duration::from_secs(30));
    rig.input(Input::Deadline);
    let lost = |fault| LinkEvent::Lost {
        fault,
        retry_in: Duration::from_millis(1),
    };
    rig.link(lost(Fault::Closed));
    rig.take();
    rig.connect();
    if forgotten {
        rig.link(lost(Fault::Status {
            status: 404,
            retry_after: None,
        }));
        rig.take();
        rig.connect();
        let (request, _) = rig.asked();
        rig.answer_text(request, 404, String::new());
        let (request, _) = rig.subscription();
        rig.answer(request, 201, &consent(json!({})));
    }
    rig.take();
    rig.link(LinkEvent::Connected);
    assert!(
        !rig.lines
            .iter()
            .any(|line| phrase!("question.again.*").is_in(line))
    );
    rig.now = rig.now.after(Duration::from_secs(2));
    rig.input(Input::Deadline);
    rig
}

#[test]
fn a_server_that_takes_up_its_subscription_again_can_be_answered_without_another_word() {
    let mut rig = back_with_a_question(false);
    assert!(
        rig.lines
            .iter()
            .any(|line| phrase!("question.again").is_in(line))
    );
    rig.now = rig.now.after(Duration::from_secs(30));
    rig.input(Input::Deadline);
    line(&mut rig, "n 1");
    let sent = rig.take();
    assert!(sent.iter().any(|wish| matches!(
        wish,
        Effect::Link {
            order: LinkOrder::Send { .. },
            ..
        }
    )));
}

#[test]
fn a_server_that_forgot_its_subscription_gets_no_answer_to_what_it_never_asked() {
    let mut rig = back_with_a_question(true);
    assert!(
        !rig.lines
            .iter()
            .any(|line| phrase!("question.again.*").is_in(line))
    );
    rig.now = rig.now.after(Duration::from_secs(30));
    rig.input(Input::Deadline);
    line(&mut rig, "n 1");
    let sent = rig.take();
    assert!(!sent.iter().any(|wish| matches!(
        wish,
        Effect::Link {
            order: LinkOrder::Send { .. },
            ..
        }
    )));
}
