//! Random orders of answers, outcomes and losses.

use proptest::prelude::*;

use super::*;

/// One thing that may happen to a question with several watchers.
#[derive(Debug, Clone)]
enum WatcherStep {
    Answer(usize, bool),
    Settle(u8),
    Lose,
    Return,
    AskAgain,
}

fn happening() -> impl Strategy<Value = WatcherStep> {
    prop_oneof![
        4 => (0..3_usize, any::<bool>()).prop_map(|(who, yes)| WatcherStep::Answer(who, yes)),
        3 => (0..4_u8).prop_map(WatcherStep::Settle),
        1 => Just(WatcherStep::Lose),
        1 => Just(WatcherStep::Return),
        1 => Just(WatcherStep::AskAgain),
    ]
}

proptest! {
    /// Whatever the order: each request has one outcome, a decision is made once, no answer is passed on while
    /// another one is under way or after a decision, and no watcher is told of a decision that was not made.
    #[test]
    fn exactly_one_answer_decides(happenings in prop::collection::vec(happening(), 1..40)) {
        let mut bench = BridgeBench::one();
        let mut shown = bench.asks(0, "rpl_1");
        let people = ["anna", "ben", "carl"];
        let mut all = Vec::new();
        let (mut settled, mut asked) = (0, 0);
        let mut decision: Option<AnsweredBy> = None;
        for happening in happenings {
            let effects = match happening {
                WatcherStep::Answer(who, yes) => {
                    let decision = if yes { Decision::Accept } else { Decision::Reject };
                    bench.answers(people[who], decision, &shown)
                }
                WatcherStep::Settle(how) if bench.replies(0) > settled => {
                    settled += 1;
                    bench.settles(0, match how {
                        0 => Ok(Receipt::Taken),
                        1 => Ok(Receipt::Written),
                        2 => Err(DeliveryFailure::Kept(Fault::Closed)),
                        _ => Err(DeliveryFailure::Unknown(Fault::Closed)),
                    })
                }
                WatcherStep::Settle(_) => Vec::new(),
                WatcherStep::Lose => bench.link(0, LinkEvent::Lost {
                    fault: Fault::Closed,
                    retry_in: Duration::ZERO,
                }),
                WatcherStep::Return => bench.link(0, LinkEvent::Connected),
                WatcherStep::AskAgain => {
                    asked += 1;
                    let mut again = question("rpl_1", "rm -rf build");
                    again["event_id"] = format!("evt_again{asked}").into();
                    // A question that is asked again after an answer counts as unanswered.
                    decision = None;
                    let effects = bench.event(0, &again);
                    shown = published(&effects);
                    effects
                }
            };
            let given = bench.replies(0);
            prop_assert!(given <= settled + 1, "one answer at a time");
            for how in closed(&effects) {
                let Closed::Answered(answered) = how else { continue };
                prop_assert_eq!(&decision, &None, "decided once");
                decision = Some(answered);
            }
            for (number, outcome) in outcomes(&effects) {
                if let RequestOutcome::Decided(answered) = &outcome {
                    prop_assert_eq!(decision.as_ref(), Some(answered));
                }
                all.push(number);
            }
        }
        let effects = bench.update(BridgeInput::End);
        all.extend(outcomes(&effects).into_iter().map(|(number, _)| number));
        all.sort_unstable();
        let wanted: Vec<u64> = (1..=bench.requests).collect();
        prop_assert_eq!(all, wanted, "each request has exactly one outcome");
    }
}
