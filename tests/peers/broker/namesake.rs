//! Two bridges with one name.

use hearken_wording::phrase;

use crate::child::{Hearken, command};

use super::failing_servers::line;
use super::nats_server::{NatsServer, with};

#[test]
fn a_second_bridge_of_a_name_refuses_to_start_and_the_first_goes_on() {
    with(|space| {
        let url = space.server.url();
        let own = space.agent.url();
        let mut call = command(&["bridge", &own, "--name", "build-3", "--to", &url]);
        let (code, errors, lines) = Hearken::spawn(&mut call).exit();
        assert_eq!(code, 1, "{errors} {lines:?}");
        let words = "another bridge already publishes as build-3: give this one another --name";
        assert!(lines.iter().any(|line| line.contains(words)), "{lines:?}");
        let mut anna = space.watch("anna");
        space.start("email");
        anna.announced("confirmation", phrase!("question.head", n = 1));
        anna.say("n 1");
        anna.announced("output", phrase!("output.after_rejection"));
        assert_eq!(space.producer.replies().len(), 1);
    });
}

/// As machines that were copied do.
#[test]
fn of_two_bridges_of_a_name_that_start_at_the_same_time_one_stays() {
    let server = NatsServer::start();
    let url = server.url();
    for _ in 0..3 {
        let start = || {
            let call = ["bridge", "-", "--name", "build-3", "--to", &url];
            Hearken::spawn(&mut command(&call))
        };
        let mut both = [start(), start()];
        for bridge in &mut both {
            // A bridge that finds the other before it begins never comes up.
            bridge.wait("an outcome", |line| {
                phrase!("bridge.broker.up").is_in(line)
                    || phrase!("cause.broker.twin", host = "build-3").is_in(line)
            });
        }
        // By then the one has seen the other, and the other has looked again.
        std::thread::sleep(std::time::Duration::from_secs(4));
        let ids = both.each_ref().map(Hearken::id);
        let is_running = |id: &&u32| {
            let status = std::fs::read_to_string(format!("/proc/{id}/status"));
            status.is_ok_and(|status| !status.contains("State:\tZ"))
        };
        let running = ids.iter().filter(is_running).count();
        assert_eq!(running, 1, "{:?}", both.each_ref().map(Hearken::seen));
        for (bridge, id) in both.iter_mut().zip(ids) {
            if !is_running(&&id) && !bridge.seen().join("\n").contains("already publishes") {
                line(bridge, "already publishes as build-3");
            }
        }
    }
}
