//! Questions of a link that is back: how sure it is that they are still open.

use super::*;

fn lost_with_a_question() -> (Stage, PromptId) {
    let mut stage = Stage::new();
    stage.start();
    let id = stage.ask_with("rpl_1", json!({"timeout_seconds": 60}));
    stage.sessions.link_lost(LINK, stage.now);
    stage.sessions.link_connected(LINK, stage.now);
    (stage, id)
}

fn what(changes: Vec<Change>) -> Vec<What> {
    changes.into_iter().map(|change| change.what).collect()
}

#[test]
fn a_server_that_resumes_is_believed_with_a_doubt_until_its_session_speaks() {
    let (mut stage, id) = lost_with_a_question();
    let standing = |stage: &Stage| stage.sessions.prompt(id).unwrap().standing;
    let changes = stage
        .sessions
        .link_resumed(LINK, Standing::Resumed, stage.now);
    assert_eq!(what(changes), [What::PromptAnswerable(id)]);
    assert_eq!(standing(&stage), Standing::Resumed);
    assert!(stage.sessions.prompt(id).unwrap().is_answerable());
    // Its own session takes the doubt away, and that is no news any more.
    let progress = stage.event("progress.updated", json!({"progress": {"percent": 1}}));
    let told = stage.put(LINK, &progress);
    assert!(!told.contains(&What::PromptAnswerable(id)), "{told:?}");
    assert_eq!(standing(&stage), Standing::Live);
}

#[test]
fn a_doubtful_question_runs_out_and_is_lost_like_any_other() {
    let (mut stage, id) = lost_with_a_question();
    stage
        .sessions
        .link_resumed(LINK, Standing::Resumed, stage.now);
    assert_eq!(stage.sessions.link_lost(LINK, stage.now), [id], "told anew");
    let now = stage.now.after(Duration::from_secs(1));
    stage.sessions.link_resumed(LINK, Standing::Resumed, now);
    let told = stage
        .sessions
        .tick(stage.now.after(Duration::from_secs(61)));
    assert!(what(told).contains(&What::PromptTimedOut(id)));
    assert!(stage.sessions.prompt(id).unwrap().is_answerable());
}
