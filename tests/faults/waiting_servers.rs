//! Servers that wait for an answer when the stream is back: they say nothing more by themselves, and the
//! person is neither locked out of the question nor led to believe that it is certainly open.

use hearken_wording::phrase;

use super::fault_server::{
    BEFORE_ANSWER, FaultServer, LineStyle, ReplayedPast, STREAM, StreamScript,
};
use super::watch;
use crate::support::child::Hearken;

/// Follows a server until the question is asked and its connection is lost.
fn lost_with_a_question(server: &FaultServer, folder: &tempfile::TempDir) -> Hearken {
    let mut child = watch(server, folder);
    child.announced("confirmation", "Send the letter");
    server.open_gate();
    child.announced("connection", phrase!("link.lost"));
    child.announced("confirmation", phrase!("question.unsure", n = 1));
    child
}

#[test]
fn a_server_that_resumes_and_waits_can_be_answered_with_a_warning() {
    let turns: [StreamScript; 1] = [|at| {
        at.open(BEFORE_ANSWER + 1).gate();
    }];
    let server = FaultServer::start(&turns, ReplayedPast::Resumed, LineStyle::Lf);
    let folder = tempfile::tempdir().unwrap();
    let mut child = lost_with_a_question(&server, &folder);
    child.announced("confirmation", phrase!("question.again.perhaps", n = 1));
    child.say("n 1");
    child.announced("reply", phrase!("reply.perhaps", n = 1));
    child.announced("reply", phrase!("reply.rejecting.*"));
    child.announced("session_completed", "Planner is done.");
    child.say("q");
    let (code, _, lines) = child.exit();
    assert_eq!(code, 0);
    let told: Vec<_> = lines
        .iter()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .collect();
    let asked = |line: &&serde_json::Value| {
        line["text"]
            .as_str()
            .unwrap()
            .contains("If accepted: It leaves.")
    };
    assert_eq!(told.iter().filter(asked).count(), 1);
    let replies = server.seen(|seen| seen.replies.clone());
    assert_eq!(replies.len(), 1, "{replies:?}");
    assert_eq!(replies[0]["reply_token"], "rpl_1");
    let resumed = server.seen(|seen| seen.streams[1].1.clone());
    assert!(
        resumed
            .to_ascii_lowercase()
            .contains("last-event-id: evt_7"),
        "{resumed}"
    );
}

#[test]
fn a_server_that_resumes_and_tells_the_end_closes_the_question() {
    let turns: [StreamScript; 2] = [
        |at| {
            at.open(BEFORE_ANSWER + 1).gate();
        },
        |at| {
            let rest = at.log.range(BEFORE_ANSWER + 1, BEFORE_ANSWER + 3);
            at.bytes(STREAM.as_bytes()).text(&rest).left();
        },
    ];
    let server = FaultServer::start(&turns, ReplayedPast::Resumed, LineStyle::Lf);
    let folder = tempfile::tempdir().unwrap();
    let mut child = lost_with_a_question(&server, &folder);
    child.announced("session_completed", "Planner is done.");
    child.say("n 1");
    child.announced(
        "reply",
        phrase!("reply.over", fate = "Question 1 was settled without you"),
    );
    child.say("q");
    let (_, _, lines) = child.exit();
    assert!(!lines.join("\n").contains("can be answered again"));
    assert_eq!(server.seen(|seen| seen.replies.len()), 0);
    let settled = |line: &&String| {
        phrase!("question.closed.elsewhere", n = 1).is_in(line)
            && !line.contains("Nothing was sent")
    };
    assert_eq!(lines.iter().filter(settled).count(), 1);
}

#[test]
fn a_server_without_ids_that_is_back_in_silence_can_be_answered_with_a_warning() {
    // It shows nothing of what is open, and is probably the one that asked.
    let turns: [StreamScript; 2] = [
        |at| {
            let text: String = at
                .log
                .range(1, BEFORE_ANSWER + 1)
                .lines()
                .filter(|line| !line.starts_with("id:"))
                .map(|line| format!("{line}\n"))
                .collect();
            at.bytes(STREAM.as_bytes()).text(&text).gate();
        },
        |at| at.bytes(STREAM.as_bytes()).left(),
    ];
    let server = FaultServer::start(&turns, ReplayedPast::Resumed, LineStyle::Lf);
    let folder = tempfile::tempdir().unwrap();
    let mut child = lost_with_a_question(&server, &folder);
    child.announced("confirmation", phrase!("question.again.perhaps", n = 1));
    child.say("y 1");
    child.announced("reply", phrase!("reply.perhaps", n = 1));
    assert_eq!(
        server.seen(|seen| seen.replies.len()),
        0,
        "one step is not enough"
    );
    child.say("n 1");
    child.announced("reply", phrase!("reply.rejecting.*"));
}
