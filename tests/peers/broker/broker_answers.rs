//! Answers, prompts and stops over a broker.

use hearken_wording::phrase;

use crate::agent_home::{AgentHome, OPENCODE};
use crate::bridged_agents::story;
use crate::child::{Hearken, command};

use super::nats_server::{NatsServer, with};

#[test]
fn a_question_is_accepted_in_two_steps_over_a_broker() {
    with(|space| {
        let mut anna = space.watch("anna");
        space.start("email");
        anna.announced("confirmation", phrase!("question.head", n = 1));
        anna.say("y 1");
        anna.announced("reply", phrase!("reply.second_step.*"));
        assert_eq!(space.producer.replies().len(), 0);
        anna.say("c 1");
        anna.announced("reply", "Accepting");
        anna.announced("tool_completed", "is sent");
        anna.announced("session_completed", "Finished");
        let replies = space.producer.replies();
        assert_eq!(replies.len(), 1);
        assert_eq!(replies[0].message["decision"], "accept");
    });
}

#[test]
fn a_rejection_and_its_reason_reach_the_agent_over_a_broker() {
    with(|space| {
        let mut anna = space.watch("anna");
        space.start("email");
        anna.announced("confirmation", phrase!("question.head", n = 1));
        anna.say("r 1 not now");
        anna.announced("reply", "Rejecting");
        anna.announced("output", phrase!("output.after_rejection"));
        let replies = space.producer.replies();
        assert_eq!(replies.len(), 1);
        assert_eq!(replies[0].message["decision"], "reject");
        assert_eq!(replies[0].message["decision_rationale"], "not now");
        assert_eq!(replies[0].message["decided_by"], "user:anna");
    });
}

#[test]
fn whoever_joins_late_is_asked_and_whoever_goes_decides_nothing() {
    with(|space| {
        let mut anna = space.watch("anna");
        space.start("email");
        anna.announced("confirmation", phrase!("question.head", n = 1));
        drop(anna);
        let mut ben = space.watch("ben");
        ben.announced("confirmation", phrase!("question.head", n = 1));
        assert_eq!(space.producer.replies().len(), 0);
        assert_eq!(space.producer.open_questions(), 1);
        ben.say("n 1");
        ben.announced("reply", "Rejecting");
        ben.announced("output", phrase!("output.after_rejection"));
        assert_eq!(space.producer.replies().len(), 1);
    });
}

#[test]
fn opencode_is_prompted_answered_and_stopped_over_a_broker() {
    let server = NatsServer::start();
    let scene = AgentHome::new(&OPENCODE);
    let url = server.url();
    let mut call = scene.command(&["bridge", "--to", &url, "--name", "build-3", "--cwd"]);
    call.arg(scene.work()).args(["--", "opencode", "acp"]);
    let mut bridge = Hearken::spawn(&mut call);
    bridge.wait("server", |line| phrase!("bridge.broker.up").is_in(line));
    let watch = ["watch", &url, "--face", "json", "--voice", "none"];
    let mut hearken = Hearken::spawn(&mut command(&watch));
    hearken.announced("connection", phrase!("oversight.settings"));
    story(&mut hearken, &scene);
    hearken.leave();
    assert_eq!(hearken.exit().0, 0);
}
