//! The fate of every announcement, whatever happens.

use proptest::strategy::Strategy;
use proptest::test_runner::Config;

use super::*;

/// What happens, to which lane, and how much time passes.
type LaneStep = (usize, usize, u64);

fn steps() -> impl Strategy<Value = Vec<LaneStep>> {
    proptest::collection::vec((0..14_usize, 0..6_usize, 0..9_000_u64), 1..300)
}

/// Creates one of the arriving announcements.
fn comes(at: usize, (step, which, _): LaneStep) -> Announcement {
    let lane = Lane::ALL[which];
    let long = "A sentence of some length, to be said. ".repeat(6);
    let words = match step {
        4 => " ",
        3 => &long,
        _ => "A sentence of some length, to be said.",
    };
    let mut announcement = told(lane, words);
    announcement.topic = (!at.is_multiple_of(3)).then(|| Topic::Tool((at % 4).to_string().into()));
    let about = QuestionRelation::Asks(QuestionId(which as u64));
    announcement.about = (lane == Lane::Alert && at.is_multiple_of(2)).then_some(about);
    if lane == Lane::Outcome && at.is_multiple_of(5) {
        announcement.kind = AnnouncementKind::SessionCompleted;
    }
    announcement.opens = match at % 7 {
        0 => Opening::Output,
        1 | 2 => Opening::Paragraph,
        _ => Opening::Nothing,
    };
    announcement.segments = vec![announcement.segments[0].clone(); 1 + at % 3];
    announcement
}

impl Rig {
    /// Performs one step.
    fn step(&mut self, at: usize, (step, which, passed): LaneStep) {
        match step {
            0..=4 => self.push(comes(at, (step, which, passed))),
            5..=6 if self.playing.is_some() => self.end(),
            5..=6 => self.tick(),
            7 => self.wait(passed),
            8 => {
                let wishes = self.queue.stop(self.now);
                self.take(wishes);
            }
            9 => {
                let wishes = self.queue.withdraw(QuestionId(which as u64), self.now);
                self.take(wishes);
            }
            10 => {
                let unwanted = |it: &Announcement| it.kind == AnnouncementKind::State;
                let wishes = self.queue.drop_unwanted(unwanted, self.now);
                self.take(wishes);
            }
            12 | 13 => {
                let urgent = (self.queue.playing.as_ref())
                    .filter(|playing| playing.lane == Lane::Alert)
                    .map(|playing| playing.utterance);
                let by = match which % 2 {
                    0 => RewindUnit::Sentence,
                    _ => RewindUnit::Paragraph,
                };
                let wishes = match step {
                    12 => self.queue.resume(self.now).1,
                    _ => self.queue.go_back(by, self.now).unwrap_or_default(),
                };
                self.take(wishes);
                let playing = self.queue.playing.as_ref().map(|it| it.utterance);
                assert!(
                    urgent.is_none() || playing == urgent,
                    "what is urgent is not cut"
                );
            }
            _ if which == 0 => {
                self.queue.disable();
                self.playing = None;
                if at.is_multiple_of(2) {
                    self.queue.enable();
                }
            }
            _ => {
                if let Some(id) = self.playing.take() {
                    let wishes = self.queue.cut_short(id, self.now);
                    self.take(wishes);
                }
                self.queue.enable();
            }
        }
    }
}

proptest::proptest! {
    // Each case is 150 steps, and the ledger is checked after each.
    #![proptest_config(Config { cases: 64, failure_persistence: None, ..Config::default() })]

    /// Whatever arrives, and whatever the voice and the person do: each announcement has one fate or waits, and
    /// nothing urgent is folded or expires.
    #[test]
    fn every_announcement_is_accounted_for(steps in steps()) {
        let mut rig = Rig::folding(Some(6));
        for (at, step) in steps.into_iter().enumerate() {
            rig.step(at, step);
            rig.add_up();
            let ledger = rig.queue.ledger();
            for fate in [UtteranceFate::Folded, UtteranceFate::Expired, UtteranceFate::Cut] {
                proptest::prop_assert_eq!(ledger.of(Lane::Alert, fate), 0);
            }
            proptest::prop_assert_eq!(ledger.of(Lane::Response, UtteranceFate::Folded), 0);
        }
    }

    /// Entries are checked only when one may have expired, yet leave as if they were checked every time.
    #[test]
    fn what_is_too_old_leaves_in_time(steps in steps()) {
        let mut rigs = [Rig::folding(Some(6)), Rig::folding(Some(6))];
        for (at, step) in steps.into_iter().enumerate() {
            rigs[1].queue.looked_at = Default::default();
            for rig in &mut rigs {
                rig.step(at, step);
            }
            let [due, always] = &rigs;
            proptest::prop_assert_eq!(&due.log, &always.log);
            proptest::prop_assert_eq!(due.queue.ledger(), always.queue.ledger());
        }
    }
}

#[test]
fn an_outcome_that_keys_cut_is_said_again_once() {
    let mut rig = Rig::new();
    rig.say(Lane::Outcome, "result");
    for _ in 0..3 {
        rig.say(Lane::Response, "entry");
        rig.end();
    }
    rig.drain();
    let times = rig.log.iter().filter(|text| *text == "result").count();
    assert_eq!(times, 2, "{:?}", rig.log);
}

#[test]
fn that_an_answer_was_sent_is_not_said_after_the_next_question() {
    for playing in [false, true] {
        let mut rig = Rig::new();
        if !playing {
            rig.say(Lane::Alert, "danger");
        }
        let mut sent = told(Lane::Outcome, "Sent.");
        sent.kind = AnnouncementKind::Reply;
        sent.about = Some(QuestionRelation::Concerns(QuestionId(1)));
        rig.push(sent);
        let mut question = told(Lane::Alert, "question 2");
        question.kind = AnnouncementKind::Confirmation;
        question.about = Some(QuestionRelation::Asks(QuestionId(2)));
        rig.push(question);
        rig.drain();
        let asked = rig
            .log
            .iter()
            .position(|text| text == "question 2")
            .unwrap();
        assert!(
            !rig.log[asked..].contains(&"Sent.".to_owned()),
            "{:?}",
            rig.log
        );
    }
}
