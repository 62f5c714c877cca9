//! Properties in any order, with any duplicates: nothing is lost, and nothing continues after its end.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

/// One step of a script: an event of one of two agents on one of two links, time, a duplicate of an
/// earlier event, a lost connection, or an answer.
#[derive(Debug, Clone)]
enum ScriptStep {
    Event {
        kind: usize,
        n: u64,
        session: u8,
        agent: u8,
        link: usize,
        numbered: bool,
    },
    Again(prop::sample::Index),
    Wait(u64),
    Reconnect(usize),
    Answer {
        accept: bool,
        sent: bool,
    },
}

fn turn() -> impl Strategy<Value = ScriptStep> {
    prop_oneof![
        10 => (0usize..13, 0u64..4, 0u8..2, 0u8..2, 0usize..2, prop::bool::weighted(0.3)).prop_map(
            |(kind, n, session, agent, link, numbered)| ScriptStep::Event { kind, n, session, agent, link, numbered }
        ),
        2 => any::<prop::sample::Index>().prop_map(ScriptStep::Again),
        1 => (0u64..3000).prop_map(ScriptStep::Wait),
        1 => (0usize..2).prop_map(ScriptStep::Reconnect),
        1 => (any::<bool>(), any::<bool>()).prop_map(|(accept, sent)| ScriptStep::Answer { accept, sent }),
    ]
}

fn fields(kind: usize, n: u64, session: u8) -> (&'static str, Value) {
    match kind {
        0 => ("session.started", json!({})),
        1 => ("session.completed", json!({})),
        2 => ("session.errored", json!({"error_category": "unknown"})),
        3 => ("session.cancelled", json!({"cancelled_by": "user"})),
        4 => (
            "state.changed",
            json!({"from_state": "awaiting_input", "to_state": "thinking"}),
        ),
        5 => (
            "state.changed",
            json!({"from_state": "thinking", "to_state": "awaiting_input"}),
        ),
        6 => ("progress.updated", json!({"progress": {"percent": n}})),
        7 => (
            "tool.invoked",
            json!({"tool": "send", "tool_call_id": format!("call_{n}"), "irreversible": true}),
        ),
        8 => (
            "tool.completed",
            json!({"tool": "send", "tool_call_id": format!("call_{n}"), "status": "success"}),
        ),
        9 => (
            "output.streaming",
            json!({"chunk": "x", "position": n, "complete": n == 3}),
        ),
        10 => (
            "awaiting.confirmation",
            json!({"action": format!("send {n}"), "reply_token": format!("rpl_{n}{session}"), "timeout_seconds": 3}),
        ),
        11 => (
            "awaiting.clarification",
            json!({"question": format!("q {n}"), "reply_token": format!("rpl_c{n}{session}"), "timeout_seconds": 3}),
        ),
        _ => ("handoff.requested", json!({"reason": "r"})),
    }
}

/// A witness that follows the changes and checks the state against them.
#[derive(Default)]
struct Witness {
    asked: BTreeSet<QuestionId>,
    closed: BTreeSet<QuestionId>,
    ended: BTreeMap<SessionKey, bool>,
}

impl Witness {
    fn hear(&mut self, changes: &[Change]) -> Result<(), TestCaseError> {
        for change in changes {
            match &change.kind {
                ChangeKind::QuestionOpened(id) => {
                    prop_assert!(self.asked.insert(*id), "{id:?} is raised once");
                }
                ChangeKind::QuestionClosed { question, .. } => {
                    prop_assert!(
                        self.asked.contains(question),
                        "only what was raised is closed"
                    );
                    prop_assert!(self.closed.insert(*question), "{question:?} is closed once");
                }
                ChangeKind::SessionStarted(_) => {
                    self.ended.insert(change.key.clone(), false);
                }
                // A helper may join a session that is over.
                ChangeKind::HelperJoined => {
                    self.ended.remove(&change.key);
                }
                ChangeKind::SessionEnded(_) | ChangeKind::HelperEnded(_) => {
                    self.ended.insert(change.key.clone(), true);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn check(&self, sessions: &Sessions) -> Result<(), TestCaseError> {
        for id in &self.asked {
            let open = sessions.question(*id).is_some_and(Question::is_open);
            prop_assert!(
                open != self.closed.contains(id),
                "{id:?} is open or was told to be closed"
            );
        }
        for (key, ended) in &self.ended {
            if let Some(session) = sessions.get(key) {
                prop_assert_eq!(session.is_ended(), *ended, "{:?}", key);
            }
        }
        for session in sessions.iter() {
            let waits = sessions
                .open_questions()
                .any(|question| question.key == session.key);
            match session.phase {
                Phase::Waiting(id) => prop_assert!(sessions.question(id).unwrap().is_open()),
                Phase::Running => prop_assert!(!waits),
                Phase::Ended(_) => {}
            }
        }
        Ok(())
    }
}

proptest! {
    #[test]
    fn nothing_is_lost_and_nothing_that_ended_lives(script in prop::collection::vec(turn(), 1..80)) {
        let mut stage = SessionStage::new();
        stage.sessions.add_link(LinkId(1), true);
        let mut witness = Witness::default();
        let mut sent: Vec<(LinkId, Value)> = Vec::new();
        for turn in script {
            let mut changes = Vec::new();
            match turn {
                ScriptStep::Event { kind, n, session, agent, link, numbered } => {
                    let (name, mut more) = fields(kind, n, session);
                    more["session_id"] = json!(format!("sess_{session}"));
                    more["producer"] = json!({"agent_id": format!("agent-{agent}")});
                    if numbered {
                        more["sequence_number"] = json!(n);
                    }
                    let event = stage.event(name, more);
                    sent.push((LinkId(link), event.clone()));
                    let decoded = decode(&event.to_string()).unwrap();
                    changes.extend(stage.sessions.apply(LinkId(link), decoded, stage.now));
                }
                ScriptStep::Again(at) => {
                    if !sent.is_empty() {
                        let (link, event) = at.get(&sent).clone();
                        let decoded = decode(&event.to_string()).unwrap();
                        changes.extend(stage.sessions.apply(link, decoded, stage.now));
                    }
                }
                ScriptStep::Wait(ms) => {
                    stage.now = stage.now.after(Duration::from_millis(ms));
                    changes.extend(stage.sessions.tick(stage.now));
                }
                ScriptStep::Reconnect(link) => {
                    changes.extend(stage.sessions.release_link(LinkId(link), stage.now));
                    stage.sessions.link_lost(LinkId(link), stage.now);
                    stage.sessions.link_connected(LinkId(link), stage.now);
                }
                ScriptStep::Answer { accept, sent } => {
                    let open = stage.sessions.open_questions().find(|question| question.is_answerable());
                    if let Some(id) = open.map(|question| question.id) {
                        let decision = if accept { Decision::Accept } else { Decision::Reject };
                        let answer = Answer::Decision { decision, rationale: None };
                        stage.sessions.reply_sending(id, answer, stage.now.wall, stage.now);
                        if sent {
                            changes.extend(stage.sessions.reply_sent(id, stage.now));
                        } else {
                            stage.sessions.reply_not_delivered(id, stage.now);
                            stage.sessions.reply_given_up(id, stage.now);
                        }
                    }
                }
            }
            witness.hear(&changes)?;
            witness.check(&stage.sessions)?;
            prop_assert!(stage.sessions.counts_are_true());
            if let Some(deadline) = stage.sessions.deadline() && deadline <= stage.now.monotonic {
                let changes = stage.sessions.tick(stage.now);
                witness.hear(&changes)?;
                let next = stage.sessions.deadline();
                prop_assert!(next.is_none_or(|next| next > stage.now.monotonic), "a deadline passes");
            }
        }
    }

    /// The data of a question always fits a state of its table.
    #[test]
    fn a_question_is_only_ever_where_its_table_allows(steps in prop::collection::vec(0usize..8, 1..20)) {
        let mut stage = SessionStage::new();
        stage.start();
        let id = stage.ask("rpl_1");
        for step in steps {
            let before = stage.sessions.question(id).unwrap().reply.run();
            match step {
                0 => {
                    let answer = Answer::Decision { decision: Decision::Accept, rationale: None };
                    stage.sessions.reply_sending(id, answer, stage.now.wall, stage.now);
                }
                1 => { stage.sessions.reply_sent(id, stage.now); }
                2 => stage.sessions.reply_not_delivered(id, stage.now),
                3 => stage.sessions.reply_given_up(id, stage.now),
                4 => stage.sessions.reply_unknown(id, stage.now),
                5 => { stage.sessions.reply_written(id, stage.now); }
                6 => { stage.sessions.link_lost(LINK, stage.now); }
                _ => { stage.wait(400_000); }
            }
            let after = stage.sessions.question(id).unwrap().reply.run();
            let allowed = before == after
                || QuestionRun::valid_transitions().iter().any(|row| row.from == before && row.to == after);
            prop_assert!(allowed, "{before:?} to {after:?}");
        }
    }
}
