//! Stopping, continuing at the same sentence, going back.

use hearken_wording::phrase;

use super::*;

/// Returns a sentence of an output.
fn text(output: &str, words: &str, opens: Opening) -> Announcement {
    Announcement {
        topic: Some(Topic::Output(Some(output.into()))),
        opens,
        ..told(Lane::Text, words)
    }
}

impl Rig {
    /// Pushes sentences of an output; those that begin with an asterisk begin a paragraph.
    fn stream(&mut self, output: &str, sentences: &[&str]) {
        for words in sentences {
            let opens = match words.strip_prefix('*') {
                Some(_) => Opening::Paragraph,
                None => Opening::Nothing,
            };
            self.push(text(output, words.trim_start_matches('*'), opens));
        }
    }

    fn stop(&mut self) {
        let wishes = self.queue.stop(self.now);
        self.take(wishes);
        self.add_up();
    }

    fn go_on(&mut self) -> bool {
        let (found, wishes) = self.queue.resume(self.now);
        self.take(wishes);
        self.add_up();
        found.is_some()
    }

    fn back(&mut self, by: RewindUnit) -> bool {
        let wishes = self.queue.go_back(by, self.now);
        let found = wishes.is_some();
        self.take(wishes.unwrap_or_default());
        self.add_up();
        found
    }

    /// Returns what was said since the last call.
    fn said(&mut self) -> Vec<String> {
        std::mem::take(&mut self.log)
    }
}

#[test]
fn speech_stopped_at_a_sentence_goes_on_at_that_sentence() {
    let mut rig = Rig::new();
    rig.stream("o", &["one", "two", "three", "four"]);
    rig.end();
    rig.end();
    assert_eq!(rig.said(), ["one", "two", "three"]);
    rig.stop();
    rig.stream("o", &["five"]);
    rig.wait(60_000);
    assert_eq!(rig.said(), ["hush"], "the rest of the output waits");
    assert_eq!(rig.queue.silenced(), 3);
    assert!(rig.queue.is_idle(), "nothing else waits");
    assert!(rig.go_on());
    rig.drain();
    assert_eq!(rig.said(), ["three", "four", "five"]);
    assert!(!rig.go_on(), "nothing more was silenced");
}

#[test]
fn a_stop_silences_one_output_and_not_the_news() {
    let mut rig = Rig::new();
    rig.stream("o", &["one", "two"]);
    rig.stop();
    rig.say(Lane::Outcome, "result");
    rig.push(Announcement {
        kind: AnnouncementKind::SessionCompleted,
        ..told(Lane::Outcome, "finished")
    });
    rig.wait(500);
    rig.drain();
    assert_eq!(rig.said(), ["one", "hush", "result", "finished"]);
    rig.stream("other", &["a", "b"]);
    rig.drain();
    assert_eq!(rig.said(), ["a", "b"]);
    assert!(rig.go_on());
    rig.drain();
    assert_eq!(rig.said(), ["one", "two"]);
}

#[test]
fn a_new_output_under_the_same_name_is_spoken() {
    let mut rig = Rig::new();
    rig.stream("o", &["one", "two"]);
    rig.stop();
    rig.push(text("o", "new", Opening::Output));
    rig.stream("o", &["newer"]);
    rig.wait(500);
    rig.drain();
    assert_eq!(rig.said(), ["one", "hush", "new", "newer"]);
    assert!(rig.go_on());
    rig.drain();
    assert_eq!(rig.said(), ["one", "two"]);
}

#[test]
fn a_question_that_comes_while_speech_is_stopped_is_asked_at_once() {
    let mut rig = Rig::new();
    rig.stream("o", &["one", "two"]);
    rig.stop();
    rig.say(Lane::Alert, "question");
    rig.wait(500);
    assert_eq!(rig.said(), ["one", "hush", "question"]);
    assert!(rig.go_on(), "going on does not cut it");
    assert_eq!(rig.said(), [""; 0]);
    rig.say(Lane::Alert, "another");
    rig.end();
    assert_eq!(rig.said(), ["another"], "nor comes before one that waits");
    rig.drain();
    assert_eq!(rig.said(), ["one", "two"]);
}

#[test]
fn a_question_interrupts_what_goes_on() {
    let mut rig = Rig::new();
    rig.say(Lane::Response, LONG);
    rig.stop();
    rig.wait(500);
    assert!(rig.go_on());
    rig.said();
    rig.say(Lane::Alert, "question");
    assert_eq!(rig.said(), ["hush", "question"], "not after two seconds");
    rig.drain();
    assert_eq!(rig.said(), SENTENCES);
}

/// A text of several sentences in one announcement.
const LONG: &str = "The first sentence of a long answer says that it is long. The second sentence says nothing more \
     than that. The third one is there so that there are three of them, and then the fourth is the last.";

const SENTENCES: [&str; 3] = [
    "The first sentence of a long answer says that it is long.",
    "The second sentence says nothing more than that.",
    "The third one is there so that there are three of them, and then the fourth is the last.",
];

#[test]
fn a_long_answer_goes_on_at_its_sentence_and_a_short_one_is_whole() {
    let mut rig = Rig::new();
    rig.say(Lane::Response, LONG);
    rig.end();
    rig.stop();
    assert_eq!(rig.said(), [SENTENCES[0], SENTENCES[1], "hush"]);
    assert!(rig.go_on());
    rig.drain();
    assert_eq!(rig.said(), SENTENCES[1..]);
    rig.say(Lane::Response, "Rate: 20. That is fast.");
    rig.drain();
    assert_eq!(rig.said(), ["Rate: 20. That is fast."]);
    rig.say(Lane::Alert, LONG);
    assert_eq!(rig.said(), [LONG], "what is urgent is said in one go");
}

#[test]
fn a_long_answer_that_gave_way_can_go_on_and_a_short_one_is_over() {
    let mut rig = Rig::new();
    rig.say(Lane::Response, LONG);
    rig.end();
    rig.say(Lane::Response, "Rate: 20.");
    rig.drain();
    assert_eq!(
        rig.said(),
        [SENTENCES[0], SENTENCES[1], "hush", "Rate: 20."]
    );
    assert!(rig.go_on());
    rig.say(Lane::Alert, "question");
    rig.drain();
    assert_eq!(
        rig.said(),
        [SENTENCES[1], "hush", "question", SENTENCES[1], SENTENCES[2]]
    );
    rig.say(Lane::Response, "Rate: 20.");
    rig.say(Lane::Response, "Rate: 30.");
    rig.say(Lane::Response, LONG);
    rig.say(Lane::Response, LONG);
    rig.drain();
    assert!(!rig.go_on());
}

#[test]
fn two_stops_skip_what_waits_and_count_it_but_nothing_urgent() {
    let mut rig = Rig::new();
    rig.stream("o", &["one", "two", "three"]);
    rig.say(Lane::Outcome, "result");
    rig.say(Lane::Alert, "danger");
    rig.stop();
    rig.stop();
    rig.wait(500);
    rig.drain();
    assert_eq!(rig.queue.take_skipped(), 4);
    assert_eq!(rig.queue.take_skipped(), 0);
    assert_eq!(rig.said(), ["one", "hush", "danger", "hush"]);
    assert!(rig.go_on(), "a danger can be heard again");
    rig.drain();
    assert_eq!(rig.said(), ["danger"]);
    rig.stream("o", &["four"]);
    assert_eq!(rig.said(), ["four"]);
}

#[test]
fn a_question_that_was_answered_does_not_go_on() {
    let mut rig = Rig::new();
    rig.push(Announcement {
        about: Some(QuestionRelation::Asks(QuestionId(1))),
        ..told(Lane::Alert, "question")
    });
    rig.stop();
    assert_eq!(
        rig.queue.take_said(),
        [QuestionRelation::Asks(QuestionId(1))]
    );
    let wishes = rig.queue.withdraw(QuestionId(1), rig.now);
    rig.take(wishes);
    assert!(!rig.go_on());
    rig.add_up();
}

#[test]
fn silenced_text_is_not_folded_and_what_is_too_much_is_counted() {
    let mut rig = Rig::folding(Some(1));
    let long = "x".repeat(30);
    rig.stream("o", &["first"]);
    rig.stop();
    rig.stream("o", &[long.as_str(); 20]);
    assert!(rig.go_on());
    rig.drain();
    let said = rig.said();
    assert_eq!(said.iter().filter(|words| **words == long).count(), 20);
    rig.stream("o", &["again"]);
    rig.stop();
    rig.stream("o", &["y"; 600]);
    assert_eq!(rig.queue.take_skipped(), 88);
    assert_eq!(rig.queue.silenced(), 513);
}

#[test]
fn a_count_is_stopped_as_the_sentences_that_it_stands_for() {
    let mut rig = Rig::folding(Some(1));
    let long = "x".repeat(30);
    rig.stream("o", &[long.as_str(); 20]);
    while !phrase!("output.folded").is_in(rig.log.last().unwrap()) {
        rig.end();
    }
    rig.said();
    rig.stop();
    rig.wait(500);
    assert_eq!(rig.said(), ["hush"], "its end waits, too");
    assert!(rig.go_on());
    rig.drain();
    let said = rig.said();
    assert!(phrase!("output.folded").is_in(&said[0]), "{said:?}");
    assert_eq!(said[1..], [long]);
}

#[test]
fn going_back_says_the_sentences_before_and_then_goes_on() {
    let mut rig = Rig::new();
    rig.stream("o", &["*A1", "A2", "*B1", "B2", "B3"]);
    rig.end();
    rig.end();
    rig.end();
    assert_eq!(rig.said(), ["A1", "A2", "B1", "B2"]);
    assert!(rig.back(RewindUnit::Sentence));
    assert!(rig.back(RewindUnit::Sentence));
    assert_eq!(rig.said(), ["hush", "B1", "hush", "A2"]);
    rig.end();
    rig.end();
    rig.end();
    assert_eq!(rig.said(), ["B1", "B2", "B3"]);
    assert!(rig.back(RewindUnit::Paragraph));
    assert_eq!(rig.said(), ["hush", "B1"]);
    assert!(rig.back(RewindUnit::Paragraph));
    assert_eq!(rig.said(), ["hush", "A1"]);
    assert!(!rig.back(RewindUnit::Paragraph), "nothing comes before");
    assert!(!rig.back(RewindUnit::Sentence));
    rig.drain();
    assert_eq!(rig.said(), ["A2", "B1", "B2", "B3"]);
    assert!(rig.back(RewindUnit::Sentence), "also after the end");
    rig.drain();
    assert_eq!(rig.said(), ["B3"]);
}

#[test]
fn going_back_goes_on_from_where_speech_was_stopped() {
    let mut rig = Rig::new();
    rig.stream("o", &["A1", "A2", "A3"]);
    rig.end();
    rig.stop();
    rig.wait(500);
    rig.said();
    assert!(rig.back(RewindUnit::Sentence));
    rig.drain();
    assert_eq!(rig.said(), ["A1", "A2", "A3"]);
    assert!(!rig.go_on());
}

#[test]
fn going_back_within_a_long_answer_stays_in_it() {
    let mut rig = Rig::new();
    rig.say(Lane::Response, LONG);
    rig.end();
    rig.said();
    assert!(rig.back(RewindUnit::Sentence));
    rig.drain();
    assert_eq!(rig.said()[1..], SENTENCES);
    assert!(rig.back(RewindUnit::Paragraph));
    rig.drain();
    assert_eq!(rig.said(), SENTENCES);
}

#[test]
fn going_back_neither_cuts_nor_overtakes_a_question() {
    let mut rig = Rig::new();
    rig.stream("o", &["A1", "A2", "A3"]);
    rig.end();
    rig.say(Lane::Alert, "question");
    rig.say(Lane::Alert, "danger");
    rig.said();
    assert!(rig.back(RewindUnit::Sentence));
    rig.drain();
    assert_eq!(rig.said(), ["danger", "A1", "A2", "A3"]);
}

#[test]
fn a_lost_voice_forgets_what_was_silenced() {
    let mut rig = Rig::new();
    rig.stream("o", &["A1", "A2"]);
    rig.stop();
    rig.queue.disable();
    rig.add_up();
    rig.queue.enable();
    assert!(!rig.go_on());
    assert!(!rig.back(RewindUnit::Sentence));
    assert_eq!(rig.queue.silenced(), 0);
}
