mod bookkeeping;
mod going_on;

use super::*;
use crate::announce::AnnouncementId;
use crate::announce::announcement::{AnnouncementKind, Opening, Presentation, Topic, Weight};
use crate::announce::words::segment::Segment;
use crate::protocol::{AgentId, SessionId};
use crate::session::LinkId;

fn key(agent: &str) -> SessionKey {
    SessionKey {
        link: LinkId(0),
        agent: AgentId::from(agent),
        session: SessionId::from("sess_1"),
    }
}

fn told(lane: Lane, text: &str) -> Announcement {
    let (class, kind) = match lane {
        Lane::Alert => (Class::Alert, AnnouncementKind::Danger),
        Lane::Response => (Class::Response, AnnouncementKind::Reply),
        Lane::Outcome => (Class::Outcome, AnnouncementKind::ToolCompleted),
        Lane::Activity => (Class::Activity, AnnouncementKind::State),
        Lane::Text => (Class::Stream, AnnouncementKind::Output),
        Lane::Progress => (Class::Stream, AnnouncementKind::Progress),
    };
    Announcement {
        id: AnnouncementId(1),
        at: crate::protocol::Now {
            monotonic: Duration::ZERO,
            wall: jiff::Timestamp::UNIX_EPOCH,
        },
        class,
        kind,
        aloud: Presentation::Spoken,
        key: Some(key("a")),
        agent: Some("a".into()),
        source: None,
        tool: None,
        about: None,
        topic: None,
        weight: Weight::Plain,
        cue: None,
        tongue: Arc::default(),
        direction: None,
        segments: vec![Segment::own(text)],
        facts: None,
        quotes: Vec::new(),
        opens: Opening::Nothing,
    }
}

/// Drives a queue and logs what the voice is asked to do.
struct Rig {
    queue: SpeechQueue,
    now: Duration,
    log: Vec<String>,
    playing: Option<UtteranceId>,
}

impl Rig {
    fn new() -> Self {
        Self::folding(None)
    }

    fn folding(fold: Option<u64>) -> Self {
        let phrases = Arc::new(Phrases::english().unwrap());
        let mut queue = SpeechQueue::new(fold.map(Duration::from_secs), phrases);
        queue.enable();
        Self {
            queue,
            now: Duration::from_secs(100),
            log: vec![],
            playing: None,
        }
    }

    fn take(&mut self, wishes: Vec<VoiceCommand>) {
        for wish in wishes {
            match wish {
                VoiceCommand::Speak(utterance) => {
                    assert_eq!(self.playing, None, "two utterances in the engine");
                    self.playing = Some(utterance.id);
                    self.log.push(utterance.text);
                }
                VoiceCommand::Hush => {
                    self.log.push("hush".into());
                    let id = self.playing.take().unwrap();
                    let wishes = self.queue.cut_short(id, self.now);
                    self.take(wishes);
                }
            }
        }
    }

    fn push(&mut self, announcement: Announcement) {
        let wishes = self.queue.push(Arc::new(announcement), self.now);
        self.take(wishes);
        self.tick();
    }

    fn tick(&mut self) {
        let wishes = self.queue.tick(self.now);
        self.take(wishes);
        self.add_up();
    }

    /// Checks that every announcement that was taken has one fate, or waits.
    fn add_up(&self) {
        let ledger = self.queue.ledger();
        for lane in Lane::ALL {
            let fates = UtteranceFate::ALL.map(|fate| ledger.of(lane, fate));
            let known = fates.iter().sum::<u64>() + self.queue.waiting(lane);
            assert_eq!(known, ledger.taken(lane), "{lane:?}: {fates:?}");
        }
    }

    fn say(&mut self, lane: Lane, text: &str) {
        self.push(told(lane, text));
    }

    fn end(&mut self) {
        let id = self.playing.take().unwrap();
        let wishes = self.queue.ended(id, self.now);
        self.take(wishes);
    }

    fn wait(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
        self.tick();
    }

    /// Speaks everything to its end.
    fn drain(&mut self) {
        for _ in 0..10_000 {
            if self.playing.is_some() {
                self.end();
            } else if let Some(at) = self.queue.deadline() {
                self.now = self.now.max(at);
                self.tick();
            } else {
                return;
            }
        }
        panic!("it never ends");
    }
}

const ALL: [Lane; 6] = Lane::ALL;

/// The table of the project's announcing rules: playing by row, arriving by column; `w` waits, `x`
/// interrupts and drops, `a` interrupts and is repeated.
const TABLE: [&str; 6] = ["wawwww", "pxwwww", "aawwww", "xxxwww", "aawwww", "xxxxxl"];

#[test]
fn every_pair_of_playing_and_arriving_follows_the_table() {
    for (row, playing) in ALL.into_iter().enumerate() {
        for (column, arriving) in ALL.into_iter().enumerate() {
            let mut rig = Rig::new();
            rig.say(playing, "first");
            rig.say(arriving, "second");
            let interrupted = rig.log.len() > 1;
            if interrupted {
                assert_eq!(rig.log[1], "hush");
            }
            rig.drain();
            let again = rig.log.iter().filter(|text| *text == "first").count() == 2;
            let outcome = match (interrupted, again) {
                (false, false) => 'w',
                (true, false) => 'x',
                (true, true) => 'a',
                (false, true) => '?',
            };
            let wanted = match TABLE[row].as_bytes()[column] {
                b'p' | b'l' => 'w',
                letter => char::from(letter),
            };
            assert_eq!(
                outcome, wanted,
                "{playing:?} playing, {arriving:?} arriving: {:?}",
                rig.log
            );
            assert!(rig.log.contains(&"second".to_owned()), "{:?}", rig.log);
        }
    }
}

#[test]
fn an_alert_waits_two_seconds_for_the_answer_to_a_key() {
    let mut rig = Rig::new();
    rig.say(Lane::Response, "answer");
    rig.say(Lane::Alert, "alert");
    rig.wait(1999);
    assert_eq!(rig.log, ["answer"]);
    rig.wait(1);
    assert_eq!(rig.log, ["answer", "hush", "alert"]);
}

#[test]
fn unequal_lanes_leave_in_class_order() {
    let mut rig = Rig::new();
    rig.say(Lane::Alert, "playing");
    for lane in ALL.into_iter().rev().filter(|lane| *lane != Lane::Response) {
        rig.say(lane, &format!("{lane:?}"));
    }
    rig.drain();
    assert_eq!(
        rig.log,
        [
            "playing", "Alert", "Outcome", "Activity", "Text", "Progress"
        ]
    );
}

#[test]
fn alerts_leave_by_rank_and_failures_before_successes() {
    let mut rig = Rig::new();
    rig.say(Lane::Response, "busy");
    let of_kind = |kind, text: &str| Announcement {
        kind,
        ..told(Lane::Alert, text)
    };
    for (kind, text) in [
        (AnnouncementKind::Unknown, "urgent"),
        (AnnouncementKind::Handoff, "handoff"),
        (AnnouncementKind::SessionErrored, "error"),
        (AnnouncementKind::Danger, "danger"),
        (AnnouncementKind::Confirmation, "question"),
        (AnnouncementKind::Danger, "second danger"),
    ] {
        rig.push(of_kind(kind, text));
    }
    rig.say(Lane::Outcome, "success");
    rig.push(Announcement {
        weight: Weight::Failure,
        ..told(Lane::Outcome, "failure")
    });
    rig.drain();
    assert_eq!(
        rig.log,
        [
            "busy",
            "question",
            "danger",
            "second danger",
            "error",
            "handoff",
            "urgent",
            "failure",
            "success"
        ]
    );
}

#[test]
fn politely_only_an_alert_cuts_and_only_after_two_seconds() {
    for playing in [Lane::Outcome, Lane::Activity, Lane::Text, Lane::Progress] {
        for arriving in [Lane::Outcome, Lane::Activity, Lane::Text, Lane::Progress] {
            let mut rig = Rig::new();
            rig.queue.set_polite(true);
            rig.say(playing, "first");
            rig.say(arriving, "second");
            assert_eq!(rig.log, ["first"], "{playing:?} {arriving:?}");
        }
        let mut rig = Rig::new();
        rig.queue.set_polite(true);
        rig.say(playing, "first");
        rig.say(Lane::Alert, "alert");
        rig.wait(1_999);
        assert_eq!(rig.log, ["first"], "{playing:?}");
        rig.wait(1);
        assert_eq!(rig.log, ["first", "hush", "alert"], "{playing:?}");
        rig.drain();
        let again = matches!(playing, Lane::Outcome | Lane::Text);
        let times = rig.log.iter().filter(|text| *text == "first").count();
        assert_eq!(times, 1 + usize::from(again), "{playing:?}");
    }
}

#[test]
fn what_waits_too_long_is_dropped_and_results_are_counted() {
    let mut rig = Rig::new();
    rig.say(Lane::Alert, "long");
    for n in 0..3 {
        rig.say(Lane::Outcome, &format!("result {n}"));
    }
    rig.say(Lane::Activity, "state");
    rig.wait(31_000);
    rig.end();
    rig.drain();
    assert_eq!(
        rig.log,
        [
            "long",
            "3 results were too old to be said. They are in the history."
        ]
    );
    let expired = |lane| rig.queue.ledger().of(lane, UtteranceFate::Expired);
    let expired = [Lane::Outcome, Lane::Activity].map(expired);
    assert_eq!(expired, [3, 1]);
}

#[test]
fn no_count_comes_between_the_two_words_of_an_answer() {
    let mut rig = Rig::new();
    rig.say(Lane::Alert, "question");
    rig.say(Lane::Outcome, "result");
    rig.wait(31_000);
    rig.say(Lane::Response, "accepting");
    rig.queue.note_answering(true);
    rig.drain();
    let sent = Announcement {
        kind: AnnouncementKind::Reply,
        ..told(Lane::Outcome, "sent")
    };
    // Another response keeps the engine busy when it arrives.
    rig.say(Lane::Alert, "next question");
    rig.push(sent);
    rig.queue.note_answering(false);
    rig.drain();
    assert_eq!(
        rig.log[rig.log.len() - 3..],
        [
            "next question",
            "sent",
            "1 result was too old to be said. It is in the history."
        ]
    );
    assert!(rig.log.contains(&"accepting".to_owned()), "{:?}", rig.log);
}

#[test]
fn only_the_last_progress_is_kept_however_many_come() {
    let mut rig = Rig::new();
    for n in 0..10_000 {
        rig.now += Duration::from_millis(1);
        rig.say(Lane::Progress, &format!("{n}"));
        if n % 1500 == 1499 {
            rig.end();
        }
    }
    rig.drain();
    assert!(rig.log.len() <= 10, "{:?}", rig.log);
    assert_eq!(rig.log.last().unwrap(), "9999");
}

#[test]
fn a_new_answer_replaces_the_old_one() {
    let mut rig = Rig::new();
    rig.say(Lane::Response, "one");
    rig.say(Lane::Response, "two");
    rig.drain();
    assert_eq!(rig.log, ["one", "hush", "two"]);
}

#[test]
fn a_tools_result_makes_its_unsaid_start_superfluous() {
    let mut rig = Rig::new();
    rig.say(Lane::Alert, "busy");
    let topic = |lane, text: &str| Announcement {
        topic: Some(Topic::Call("call_1".into())),
        ..told(lane, text)
    };
    rig.push(topic(Lane::Activity, "start"));
    rig.push(topic(Lane::Outcome, "done"));
    rig.drain();
    assert_eq!(rig.log, ["busy", "done"]);
}

#[test]
fn what_waits_for_the_person_is_not_said_to_begin() {
    let mut rig = Rig::new();
    rig.say(Lane::Alert, "busy");
    let topic = |lane, text: &str, call: &str| Announcement {
        topic: Some(Topic::Call(call.into())),
        kind: AnnouncementKind::ToolInvoked,
        ..told(lane, text)
    };
    rig.push(topic(Lane::Activity, "start", "call_1"));
    rig.push(topic(Lane::Activity, "start of another", "call_2"));
    rig.push(Announcement {
        about: Some(QuestionRelation::Asks(QuestionId(1))),
        ..topic(Lane::Alert, "question", "call_1")
    });
    rig.drain();
    assert_eq!(rig.log, ["busy", "question", "start of another"]);
}

#[test]
fn the_answer_to_a_key_goes_before_the_next_question_which_is_said_once() {
    let mut rig = Rig::new();
    let asks = |text: &str| Announcement {
        about: Some(QuestionRelation::Asks(QuestionId(2))),
        ..told(Lane::Alert, text)
    };
    rig.push(asks("question 2"));
    // The same key causes the response and the question.
    let response = Arc::new(told(Lane::Response, "accepting question 1"));
    let mut wishes = rig.queue.push(response, rig.now);
    wishes.extend(rig.queue.push(Arc::new(asks("question 2 anew")), rig.now));
    rig.take(wishes);
    rig.drain();
    let said = [
        "question 2",
        "hush",
        "accepting question 1",
        "question 2 anew",
    ];
    assert_eq!(rig.log, said);
    // A response that takes long yields to it.
    let mut rig = Rig::new();
    rig.say(Lane::Alert, "busy");
    rig.say(Lane::Response, "a long answer");
    rig.push(asks("question"));
    rig.wait(1999);
    assert_eq!(rig.log, ["busy", "hush", "a long answer"]);
    rig.wait(1);
    assert_eq!(rig.log[3..], ["hush", "busy"]);
    rig.drain();
    assert_eq!(rig.log[5..], ["question"]);
}

#[test]
fn the_stop_key_silences_and_twice_clears_all_but_alerts() {
    let mut rig = Rig::new();
    rig.say(Lane::Text, "text");
    rig.say(Lane::Text, "more text");
    rig.say(Lane::Outcome, "result");
    let wishes = rig.queue.stop(rig.now);
    rig.take(wishes);
    rig.tick();
    assert_eq!(rig.log, ["text", "hush"]);
    rig.wait(499);
    assert_eq!(rig.log.len(), 2, "silence for half a second");
    rig.wait(1);
    assert_eq!(rig.log[2], "result");

    let mut rig = Rig::new();
    rig.say(Lane::Text, "text");
    rig.say(Lane::Text, "more text");
    rig.say(Lane::Outcome, "result");
    for _ in 0..2 {
        let wishes = rig.queue.stop(rig.now);
        rig.take(wishes);
    }
    rig.say(Lane::Alert, "alert");
    rig.drain();
    assert_eq!(rig.log, ["text", "hush", "alert"]);
}

#[test]
fn a_question_cut_by_the_stop_key_is_heard_and_not_repeated() {
    let mut rig = Rig::new();
    let about = Some(QuestionRelation::Asks(QuestionId(1)));
    rig.push(Announcement {
        about,
        ..told(Lane::Alert, "question")
    });
    let wishes = rig.queue.stop(rig.now);
    rig.take(wishes);
    assert_eq!(
        rig.queue.take_said(),
        [QuestionRelation::Asks(QuestionId(1))]
    );
    rig.drain();
    assert_eq!(rig.log, ["question", "hush"]);
}

#[test]
fn an_alert_cut_by_another_key_is_said_again_until_it_is_heard() {
    let mut rig = Rig::new();
    rig.push(Announcement {
        about: Some(QuestionRelation::Asks(QuestionId(1))),
        ..told(Lane::Alert, "question")
    });
    for _ in 0..3 {
        rig.say(Lane::Response, "key");
        rig.end();
    }
    rig.drain();
    assert_eq!(rig.log.last().unwrap(), "question", "until it is heard");
    let mut rig = Rig::new();
    rig.say(Lane::Alert, "danger");
    for _ in 0..3 {
        rig.say(Lane::Response, "key");
        rig.end();
    }
    rig.drain();
    assert_eq!(rig.log.last().unwrap(), "danger");
}

#[test]
fn an_answered_question_is_cut_and_its_waiting_words_leave() {
    let mut rig = Rig::new();
    let ask = |text: &str| Announcement {
        about: Some(QuestionRelation::Asks(QuestionId(1))),
        ..told(Lane::Alert, text)
    };
    rig.push(ask("question"));
    rig.push(ask("warning"));
    let wishes = rig.queue.withdraw(QuestionId(1), rig.now);
    rig.take(wishes);
    rig.drain();
    assert_eq!(rig.log, ["question", "hush"]);
}

#[test]
fn a_flood_of_text_folds_and_its_end_is_said() {
    let mut rig = Rig::folding(Some(6));
    for n in 0..60 {
        let text = format!("Sentence number {n} of a long answer.");
        rig.push(Announcement {
            topic: Some(Topic::Output(None)),
            ..told(Lane::Text, &text)
        });
        rig.now += Duration::from_millis(100);
    }
    rig.drain();
    assert_eq!(rig.log[0], "Sentence number 0 of a long answer.");
    assert_eq!(
        rig.log.last().unwrap(),
        "Sentence number 59 of a long answer."
    );
    let count: u64 = rig
        .log
        .iter()
        .find_map(|text| text.strip_suffix(" more sentences, in the history."))
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(
        count,
        rig.queue.ledger().of(Lane::Text, UtteranceFate::Folded)
    );
    let said = rig
        .log
        .iter()
        .filter(|text| text.starts_with("Sentence"))
        .count() as u64;
    assert_eq!(said + count, 60, "each is said or counted");
    assert!(rig.log.len() < 8, "{:?}", rig.log);
}

#[test]
fn without_the_setting_nothing_folds() {
    let mut rig = Rig::new();
    for n in 0..60 {
        rig.push(Announcement {
            topic: Some(Topic::Output(None)),
            ..told(Lane::Text, &format!("Sentence {n}."))
        });
    }
    rig.drain();
    assert_eq!(rig.log.len(), 60);
}

#[test]
fn a_sessions_end_comes_after_its_last_words() {
    let mut rig = Rig::new();
    rig.say(Lane::Text, "one");
    rig.say(Lane::Text, "two");
    rig.push(Announcement {
        kind: AnnouncementKind::SessionCompleted,
        ..told(Lane::Outcome, "finished")
    });
    for _ in 0..8 {
        rig.wait(5_000);
    }
    rig.drain();
    let at = |text: &str| rig.log.iter().position(|said| said == text);
    assert!(at("two") < at("finished"), "{:?}", rig.log);
    assert!(at("finished").is_some());
}

#[test]
fn a_voice_that_loses_an_alert_says_it_again() {
    let mut rig = Rig::new();
    rig.say(Lane::Alert, "alert");
    let id = rig.playing.take().unwrap();
    let wishes = rig.queue.cut_short(id, rig.now);
    rig.take(wishes);
    rig.wait(1999);
    assert_eq!(rig.log, ["alert"]);
    rig.wait(1);
    assert_eq!(rig.log, ["alert", "alert"]);
}

#[test]
fn a_long_answer_to_a_key_is_said_to_its_end() {
    let mut rig = Rig::new();
    let mut long = told(Lane::Response, "part");
    long.segments = vec![long.segments[0].clone(); 4];
    rig.push(long);
    for _ in 0..3 {
        rig.now += Duration::from_secs(8);
        rig.end();
    }
    assert_eq!(rig.log.len(), 4);
}
