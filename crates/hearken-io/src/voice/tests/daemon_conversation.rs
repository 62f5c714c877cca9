//! The conversation without a socket, with simulated time.

use std::time::Instant;

use super::*;
use crate::config::Punctuation;
use crate::voice::dialogue::{DaemonFault, Dialogue, DialogueEvent, Greeting, ReportedProblems};

mod word_sounds;

/// A conversation with a clock that only the test moves.
struct TimedConversation {
    dialogue: Dialogue,
    now: Instant,
}

fn greeting() -> Greeting {
    Greeting {
        client_name: "ann:hearken:main".to_owned(),
        own_pitch: 20,
    }
}

impl TimedConversation {
    /// Feeds the replies of a daemon with a voice, up to the text of the first message.
    fn is_greeted(&mut self) {
        for reply in [
            "208 OK",
            "220 OK",
            "219 OK",
            "250-espeak-ng\r\n250 OK",
            "251-espeak-ng\r\n251 OK",
            "251-en\r\n251 OK",
            "251-0\r\n251 OK",
            "251-0\r\n251 OK",
            "251-100\r\n251 OK",
            "202 OK",
            "230 OK",
        ] {
            self.hears(reply);
        }
    }

    fn new(greeting: Greeting) -> Self {
        let now = Instant::now();
        Self {
            dialogue: Dialogue::new(
                greeting,
                ReportedProblems::default(),
                Limits::default(),
                now,
            ),
            now,
        }
    }

    /// Starts a conversation whose daemon has the given language and pitch, up to the end of the sound test.
    fn open(greeting: Greeting, language: &str, pitch: &str) -> Self {
        let mut talk = Self::new(greeting);
        for (command, reply) in [
            ("SET SELF CLIENT_NAME ann:hearken:main", "208 OK"),
            ("SET SELF NOTIFICATION ALL ON", "220 OK"),
            ("SET SELF SSML_MODE OFF", "219 OK"),
            ("LIST OUTPUT_MODULES", "250-espeak-ng\r\n250 OK"),
            ("GET OUTPUT_MODULE", "251-espeak-ng\r\n251 OK"),
            ("GET LANGUAGE", language),
            ("GET RATE", "251-30\r\n251 OK"),
            ("GET PITCH", pitch),
            ("GET VOLUME", "251-100\r\n251 OK"),
        ] {
            talk.sends(command);
            talk.hears(reply);
        }
        talk.sends("SET SELF PRIORITY NOTIFICATION");
        talk.hears("202 OK");
        talk.speaks(" ", 1);
        talk.hears("701-1\r\n701-1\r\n701 BEGIN\r\n702-1\r\n702-1\r\n702 END");
        assert_eq!(talk.news(), [DialogueEvent::Opened]);
        talk
    }

    fn usual() -> Self {
        Self::open(greeting(), "251-en-US\r\n251 OK", "251-0\r\n251 OK")
    }

    /// Starts a conversation that is about to send a first utterance.
    fn saying(text: &str) -> Self {
        let mut talk = Self::usual();
        talk.say(utterance(1, text));
        talk.sends("SET SELF PRIORITY MESSAGE");
        talk.hears("202 OK");
        talk
    }

    /// Starts a conversation whose first utterance has the number 2.
    fn speaking() -> Self {
        let mut talk = Self::saying("hello");
        talk.speaks("hello", 2);
        talk
    }

    fn sends(&mut self, lines: &str) {
        let expected = if lines.is_empty() {
            String::new()
        } else {
            format!("{lines}\r\n")
        };
        assert_eq!(String::from_utf8_lossy(self.dialogue.outgoing()), expected);
        self.dialogue.wrote(usize::MAX);
    }

    fn hears(&mut self, lines: &str) {
        self.dialogue
            .receive(format!("{lines}\r\n").as_bytes(), self.now);
    }

    /// Expects SPEAK and a text.
    fn hands_over(&mut self, text: &str) {
        self.sends("SPEAK");
        self.hears("230 OK RECEIVING DATA");
        self.sends(&format!("{text}\r\n."));
    }

    /// Expects SPEAK and a text, and gives it a number.
    fn speaks(&mut self, text: &str, number: u64) {
        self.hands_over(text);
        self.hears(&format!("225-{number}\r\n225 OK MESSAGE QUEUED"));
    }

    fn event(&mut self, code: u16, number: u64) {
        self.hears(&format!("{code}-{number}\r\n{code}-1\r\n{code} X"));
    }

    fn passes(&mut self, time: Duration) {
        self.now += time;
        self.dialogue.expire(self.now);
    }

    fn news(&mut self) -> Vec<DialogueEvent> {
        std::iter::from_fn(|| self.dialogue.news()).collect()
    }

    fn say(&mut self, utterance: Utterance) {
        self.dialogue.speak(utterance, self.now);
    }
}

fn own(id: u64, text: &str) -> Utterance {
    Utterance {
        mark: Mark::Own,
        ..utterance(id, text)
    }
}

fn foreign(id: u64, text: &str, tag: &str) -> Utterance {
    Utterance {
        language: Some(tag.to_owned()),
        ..utterance(id, text)
    }
}

const ID: UtteranceId = UtteranceId(1);
const BEGUN_AND_ENDED: [DialogueEvent; 2] = [DialogueEvent::Begun(ID), DialogueEvent::Ended(ID)];

#[test]
fn an_utterance_is_begun_and_ended() {
    let mut talk = TimedConversation::speaking();
    assert_eq!(talk.news(), []);
    talk.event(701, 2);
    assert_eq!(talk.news(), [DialogueEvent::Begun(ID)]);
    talk.event(702, 2);
    assert_eq!(talk.news(), [DialogueEvent::Ended(ID)]);
    assert!(talk.dialogue.is_quiet());
}

#[test]
fn events_before_the_number_count_once_it_is_known() {
    let mut talk = TimedConversation::saying("hello");
    talk.hands_over("hello");
    talk.event(701, 9);
    talk.event(702, 77);
    talk.hears("225-9");
    talk.event(702, 9);
    assert_eq!(talk.news(), [], "whose they are is not known yet");
    talk.hears("225 OK");
    assert_eq!(talk.news(), BEGUN_AND_ENDED);
}

#[test]
fn a_daemon_without_numbers_is_followed_by_the_first_beginning() {
    let mut talk = TimedConversation::saying("hello");
    talk.hands_over("hello");
    talk.hears("225 OK MESSAGE QUEUED");
    talk.event(703, 1);
    talk.event(701, 5);
    talk.event(702, 4);
    talk.event(702, 5);
    assert_eq!(talk.news(), BEGUN_AND_ENDED);
}

#[test]
fn events_about_other_messages_are_not_ours() {
    let mut talk = TimedConversation::speaking();
    for code in [701, 702, 703, 704] {
        talk.event(code, 1);
    }
    assert_eq!(talk.news(), []);
    talk.event(701, 2);
    assert_eq!(talk.news(), [DialogueEvent::Begun(ID)]);
    for code in [702, 703, 704] {
        talk.event(code, 3);
    }
    assert_eq!(talk.news(), []);
    talk.event(702, 2);
    assert_eq!(talk.news(), [DialogueEvent::Ended(ID)]);
}

#[test]
fn a_stop_goes_out_at_once_and_is_the_last_of_its_message() {
    let mut talk = TimedConversation::speaking();
    talk.event(701, 2);
    talk.dialogue.stop(talk.now);
    talk.sends("CANCEL SELF");
    talk.dialogue.stop(talk.now);
    talk.sends("");
    talk.hears("213 OK CANCELED");
    assert!(!talk.dialogue.is_quiet(), "it was not yet said to be over");
    talk.event(703, 2);
    assert!(talk.dialogue.is_quiet());
    assert_eq!(talk.news(), [DialogueEvent::Begun(ID)]);
}

#[test]
fn a_stop_does_not_wait_for_the_reply_to_the_text() {
    let mut talk = TimedConversation::saying("hello");
    talk.hands_over("hello");
    talk.dialogue.stop(talk.now);
    talk.sends("CANCEL SELF");
    talk.say(utterance(2, "next"));
    talk.sends("");
    talk.event(701, 2);
    talk.hears("225-2\r\n225 OK");
    talk.sends("");
    talk.hears("213 OK CANCELED");
    talk.event(703, 2);
    talk.speaks("next", 3);
    talk.event(701, 3);
    assert_eq!(talk.news(), [DialogueEvent::Begun(UtteranceId(2))]);
}

#[test]
fn a_stop_between_speak_and_its_permission_sends_the_message_empty() {
    let mut talk = TimedConversation::saying("hello");
    talk.sends("SPEAK");
    talk.dialogue.stop(talk.now);
    talk.sends("");
    talk.hears("230 OK");
    talk.sends(".");
    talk.hears("227 OK MESSAGE CANCELED");
    assert_eq!(talk.news(), []);
    assert!(talk.dialogue.is_quiet());
}

#[test]
fn a_stop_before_speak_sends_nothing() {
    let mut talk = TimedConversation::usual();
    talk.say(utterance(1, "hello"));
    talk.sends("SET SELF PRIORITY MESSAGE");
    talk.dialogue.stop(talk.now);
    talk.hears("202 OK");
    talk.sends("");
    assert!(talk.dialogue.is_quiet());
}

#[test]
fn a_daemon_without_a_real_module_is_no_voice() {
    for modules in ["250-dummy\r\n250 OK", "250 OK"] {
        let mut talk = TimedConversation::new(greeting());
        for reply in ["208 OK", "220 OK", "219 OK", modules] {
            talk.hears(reply);
        }
        assert_eq!(talk.news(), [DialogueEvent::Failed(DaemonFault::OnlyDummy)]);
    }
    let mut talk = TimedConversation::new(greeting());
    for reply in [
        "208 OK",
        "220 OK",
        "219 OK",
        "250-espeak-ng\r\n250-dummy\r\n250 OK",
        "251-dummy\r\n251 OK",
    ] {
        talk.hears(reply);
    }
    assert_eq!(talk.news(), [DialogueEvent::Failed(DaemonFault::OnlyDummy)]);
}

#[test]
fn events_are_asked_for_one_by_one_where_all_is_not_known() {
    let mut talk = TimedConversation::new(greeting());
    talk.hears("208 OK");
    talk.dialogue.wrote(usize::MAX);
    talk.hears("514 ERR PARAMETER INVALID");
    for kind in ["BEGIN", "END", "CANCEL"] {
        talk.sends(&format!("SET SELF NOTIFICATION {kind} ON"));
        talk.hears("220 OK");
    }
    talk.sends("SET SELF SSML_MODE OFF");

    let mut talk = TimedConversation::new(greeting());
    for reply in ["208 OK", "514 ERR", "514 ERR"] {
        talk.hears(reply);
    }
    assert_eq!(talk.news(), [DialogueEvent::Failed(DaemonFault::NoEvents)]);
}

#[test]
fn a_daemon_that_has_no_sound_is_found_out_before_the_first_word() {
    // Without an audio device the real one begins the first message and never ends it; the messages
    // after it never begin.
    for begins in [true, false] {
        let mut talk = TimedConversation::new(greeting());
        talk.is_greeted();
        talk.hears("225-1\r\n225 OK");
        if begins {
            talk.event(701, 1);
        }
        talk.dialogue.wrote(usize::MAX);
        talk.passes(Limits::default().probe);
        talk.sends("CANCEL SELF");
        assert_eq!(talk.news(), [DialogueEvent::Failed(DaemonFault::NoSound)]);
    }
}

#[test]
fn another_programs_speech_is_proof_of_sound() {
    let mut talk = TimedConversation::new(greeting());
    talk.is_greeted();
    talk.hears("703-1\r\n703-1\r\n703 CANCELED\r\n225-1\r\n225 OK");
    assert_eq!(talk.news(), [DialogueEvent::Opened]);
}

#[test]
fn queued_and_never_begun_is_no_voice_and_is_not_said_late() {
    let mut talk = TimedConversation::speaking();
    talk.passes(Limits::default().begin - Duration::from_millis(1));
    assert_eq!(talk.news(), []);
    talk.passes(Duration::from_millis(1));
    talk.sends("CANCEL SELF");
    assert_eq!(
        talk.news(),
        [DialogueEvent::Failed(DaemonFault::NeverBegan)]
    );
}

#[test]
fn begun_and_never_ended_is_no_voice() {
    let mut talk = TimedConversation::speaking();
    talk.event(701, 2);
    talk.passes(Limits::default().begin);
    assert_eq!(talk.news(), [DialogueEvent::Begun(ID)]);
    talk.passes(Limits::default().end_of("hello"));
    talk.sends("CANCEL SELF");
    assert_eq!(
        talk.news(),
        [DialogueEvent::Failed(DaemonFault::NeverEnded)]
    );
}

#[test]
fn a_paused_daemon_is_waited_for() {
    let mut talk = TimedConversation::speaking();
    talk.event(701, 2);
    talk.event(704, 2);
    talk.passes(Duration::from_secs(3600));
    talk.event(705, 2);
    talk.event(702, 2);
    assert_eq!(talk.news(), BEGUN_AND_ENDED);
}

#[test]
fn a_missing_reply_is_noticed_at_its_limit() {
    let mut talk = TimedConversation::new(greeting());
    assert_eq!(
        talk.dialogue.deadline(),
        Some(talk.now + Limits::default().call)
    );
    talk.passes(Limits::default().call);
    assert_eq!(talk.news(), [DialogueEvent::Failed(DaemonFault::Mute)]);
    talk.passes(Limits::default().call);
    assert_eq!(talk.news(), [], "it is told once");
}

#[test]
fn a_reply_that_nobody_asked_for_ends_the_conversation() {
    let mut talk = TimedConversation::usual();
    talk.hears("225 OK");
    assert_eq!(talk.news(), [DialogueEvent::Failed(DaemonFault::Garbage)]);
    talk.say(utterance(1, "hello"));
    talk.sends("");
}

#[test]
fn a_reply_without_end_is_not_kept() {
    let mut talk = TimedConversation::new(greeting());
    talk.hears(&"208-again\r\n".repeat(10_000));
    assert_eq!(talk.news(), [DialogueEvent::Failed(DaemonFault::Garbage)]);
}

#[test]
fn messages_that_are_refused_are_cut_and_three_are_too_many() {
    let mut talk = TimedConversation::saying("hello");
    for id in 1..=3 {
        if id > 1 {
            talk.say(utterance(id, "hello"));
        }
        talk.sends("SPEAK");
        talk.hears("300 ERR INTERNAL");
        assert_eq!(talk.news()[0], DialogueEvent::Cut(UtteranceId(id)));
    }
    talk.say(utterance(4, "hello"));
    talk.sends("");
}

#[test]
fn a_text_that_is_refused_in_part_is_silenced() {
    let mut talk = TimedConversation::saying("hello");
    talk.hands_over("hello");
    talk.hears("413 ERR TOO LONG");
    talk.sends("CANCEL SELF");
    assert_eq!(talk.news(), [DialogueEvent::Cut(ID)]);
}

#[test]
fn a_text_of_nothing_is_said_at_once() {
    let mut talk = TimedConversation::saying("\u{0}");
    talk.hands_over("");
    talk.hears("227 OK MESSAGE CANCELED");
    assert_eq!(talk.news(), [DialogueEvent::Ended(ID)]);
}
