//! A server that accepts an answer and dies in the middle of saying so: what is said about the answer
//! stays true at each byte, whatever the next attempts bring.

use hearken_wording::phrase;

use super::fault_server::{
    BEFORE_ANSWER, FaultServer, LineStyle, ReplayedPast, StreamScript, TAKEN,
};
use super::watch;

const GONE: &str = "HTTP/1.1 410 Gone\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// Words that would be untrue of an answer that arrived.
const UNTRUE: [&str; 5] = [
    "without you",
    "was not sent",
    "not delivered",
    "could not be sent",
    "still open",
];

/// Answers the question of a server that dies at a given byte of its first reply, and reports the token
/// as gone from then on; it closes the question when told to, or immediately.
fn die_at(cut: usize, at_once: bool) -> Vec<String> {
    let waits: [StreamScript; 1] = [|at| at.open(BEFORE_ANSWER + 1).gate().finish()];
    let turns: &[StreamScript] = if at_once { &[] } else { &waits };
    let server = FaultServer::start(turns, ReplayedPast::Resumed, LineStyle::Lf);
    server.receipts(&[TAKEN[..cut].to_owned(), GONE.to_owned()]);
    let folder = tempfile::tempdir().unwrap();
    let mut child = watch(&server, &folder);
    child.announced("confirmation", "Send the letter");
    child.say("y 1");
    if !at_once {
        child.announced("reply", phrase!("reply.unconfirmed"));
        child.announced("reply", phrase!("reply.perhaps.refused"));
        assert_eq!(server.seen(|seen| seen.replies.len()), 2);
        child.say("n 1");
        child.announced(
            "reply",
            phrase!("reply.second_step.contrary.lines", earlier = "accept"),
        );
        server.open_gate();
        child.announced(
            "confirmation",
            phrase!("question.closed.perhaps", n = 1, answer = "accept"),
        );
    }
    child.announced("session_completed", "Planner is done.");
    child.say("q");
    let (_, _, lines) = child.exit();
    let replies = server.seen(|seen| seen.replies.clone());
    assert!(replies.iter().all(|reply| reply["decision"] == "accept"));
    lines
}

#[test]
fn a_server_that_dies_in_its_receipt_has_perhaps_taken_the_answer() {
    let cuts = [0, 1, 12, TAKEN.len() - 1];
    std::thread::scope(|scope| {
        for cut in cuts {
            for at_once in [true, false] {
                scope.spawn(move || {
                    let lines = die_at(cut, at_once);
                    for untrue in UNTRUE {
                        let told = lines.iter().find(|line| line.contains(untrue));
                        assert_eq!(told, None, "{cut} {at_once}: {untrue}");
                    }
                });
            }
        }
    });
}
