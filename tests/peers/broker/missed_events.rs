//! What somebody missed while they were away.

use hearken_wording::phrase;

use super::nats_server::with;

#[test]
fn who_was_away_hears_the_counts_first_and_the_open_question_in_full() {
    with(|space| {
        let mut anna = space.watch("anna");
        anna.leave();
        assert_eq!(anna.exit().0, 0);
        space.start("email");
        let mut ben = space.watch("ben");
        ben.announced("confirmation", phrase!("question.head", n = 1));
        let mut anna = space.watch("anna");
        anna.announced("connection", phrase!("away.missed"));
        anna.announced("confirmation", phrase!("question.head", n = 1));
    });
}
