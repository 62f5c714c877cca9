//! What somebody missed while they were away.

use super::nats_server::with;

#[test]
fn who_was_away_hears_the_counts_first_and_the_open_question_in_full() {
    with(|space| {
        let mut anna = space.watch("anna");
        anna.leave();
        assert_eq!(anna.exit().0, 0);
        space.start("email");
        let mut ben = space.watch("ben");
        ben.announced("confirmation", "Question 1");
        let mut anna = space.watch("anna");
        anna.announced("connection", "While you were away");
        anna.announced("confirmation", "Question 1");
    });
}
