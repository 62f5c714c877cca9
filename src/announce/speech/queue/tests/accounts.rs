//! What became of everything, whatever happens.

use super::*;

proptest::proptest! {
    /// Whatever comes, whatever the voice and the person do: each announcement has one fate or waits, and nothing that is
    /// urgent is folded or grows too old.
    #[test]
    fn every_announcement_is_accounted_for(
        steps in proptest::collection::vec((0..12_usize, 0..6_usize, 0..9_000_u64), 1..300)
    ) {
        let mut rig = Rig::folding(Some(6));
        for (at, (step, which, passed)) in steps.into_iter().enumerate() {
            let lane = Lane::ALL[which];
            match step {
                0..=4 => {
                    let about = About::Asks(PromptId(which as u64));
                    let words = if step == 4 { " " } else { "A sentence of some length, to be said." };
                    let mut announcement = told(lane, words);
                    announcement.topic = (at % 3 > 0).then(|| Topic::Tool((at % 4).to_string().into()));
                    announcement.about = (lane == Lane::Alert && at % 2 == 0).then_some(about);
                    announcement.segments = vec![announcement.segments[0].clone(); 1 + at % 3];
                    rig.push(announcement);
                }
                5..=6 if rig.playing.is_some() => rig.end(),
                5..=6 => rig.tick(),
                7 => rig.wait(passed),
                8 => {
                    let wishes = rig.queue.stop(rig.now);
                    rig.take(wishes);
                }
                9 => {
                    let wishes = rig.queue.withdraw(PromptId(which as u64), rig.now);
                    rig.take(wishes);
                }
                10 => {
                    let unwanted = |it: &Announcement| it.kind == Kind::State;
                    let wishes = rig.queue.drop_unwanted(unwanted, rig.now);
                    rig.take(wishes);
                }
                _ if which == 0 => {
                    rig.queue.disable();
                    rig.playing = None;
                    if at % 2 == 0 {
                        rig.queue.enable();
                    }
                }
                _ => {
                    if let Some(id) = rig.playing.take() {
                        let wishes = rig.queue.cut_short(id, rig.now);
                        rig.take(wishes);
                    }
                    rig.queue.enable();
                }
            }
            rig.add_up();
            let ledger = rig.queue.ledger();
            for fate in [Fate::Folded, Fate::Expired, Fate::Cut] {
                proptest::prop_assert_eq!(ledger.of(Lane::Alert, fate), 0);
            }
            proptest::prop_assert_eq!(ledger.of(Lane::Response, Fate::Folded), 0);
        }
    }
}
