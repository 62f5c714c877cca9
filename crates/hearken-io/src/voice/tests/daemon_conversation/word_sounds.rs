//! How words sound: pitch, rate, voices and languages, and what the daemon refuses.

use super::*;

#[test]
fn own_words_are_higher_than_the_daemons_pitch_and_agents_are_at_it() {
    for (base, pitch) in [("0", 20), ("-30", -10), ("90", 70), ("-100", -80)] {
        let mut talk = TimedConversation::open(
            greeting(),
            "251-en-US\r\n251 OK",
            &format!("251-{base}\r\n251 OK"),
        );
        talk.say(own(1, "question"));
        talk.sends("SET SELF PRIORITY MESSAGE");
        talk.hears("202 OK");
        talk.sends(&format!("SET SELF PITCH {pitch}"));
        talk.hears("204 OK");
        talk.speaks("question", 2);
        talk.event(702, 2);
        talk.say(own(2, "another"));
        talk.speaks("another", 3);
        talk.event(702, 3);
        talk.say(utterance(3, "answer"));
        talk.sends(&format!("SET SELF PITCH {base}"));
        talk.hears("204 OK");
        talk.speaks("answer", 4);
    }
}

#[test]
fn a_refused_pitch_is_told_once_and_not_tried_again() {
    let mut talk = TimedConversation::usual();
    for (id, number) in [(1, 2), (2, 3)] {
        talk.say(own(id, "question"));
        if id == 1 {
            talk.sends("SET SELF PRIORITY MESSAGE");
            talk.hears("202 OK");
            talk.sends("SET SELF PITCH 20");
            talk.hears("304 ERR COULDNT SET PITCH");
        }
        talk.speaks("question", number);
        talk.event(702, number);
    }
    let news = talk.news();
    assert_eq!(news.len(), 3, "{news:?}");
    assert!(matches!(&news[0], DialogueEvent::Notice(text) if in_words(text).contains("pitch")));
}

fn sounding(id: u64, delivery: Delivery) -> Utterance {
    Utterance {
        sound: Sound {
            delivery,
            ..Sound::default()
        },
        ..utterance(id, "text")
    }
}

/// Speaks a text, expecting these commands before it, each answered with its reply.
fn says(talk: &mut TimedConversation, utterance: Utterance, commands: &[(&str, &str)]) {
    let number = 100 + utterance.id.0;
    talk.say(utterance);
    for (command, reply) in commands {
        talk.sends(command);
        talk.hears(reply);
    }
    talk.speaks("text", number);
    talk.event(702, number);
}

#[test]
fn only_what_differs_is_set_and_it_is_set_back_to_the_persons_own() {
    let mut talk = TimedConversation::usual();
    let first = [("SET SELF PRIORITY MESSAGE", "202 OK")];
    says(&mut talk, sounding(1, Delivery::default()), &first);
    let all = Delivery {
        rate: Some(-20),
        pitch: Some(5),
        volume: Some(50),
        voice: Some("Female1".to_owned()),
        punctuation: Some(Punctuation::Most),
    };
    let set = [
        ("GET VOICE_TYPE", "251-MALE1\r\n251 OK"),
        ("SET SELF VOICE_TYPE FEMALE1", "209 OK"),
        ("GET PUNCTUATION", "251-some\r\n251 OK"),
        ("SET SELF PUNCTUATION most", "205 OK"),
        ("SET SELF RATE -20", "203 OK"),
        ("SET SELF VOLUME 50", "218 OK"),
        ("SET SELF PITCH 5", "204 OK"),
    ];
    says(&mut talk, sounding(2, all.clone()), &set);
    says(&mut talk, sounding(3, all), &[]);
    // The daemon's own values were 30, 0 and 100.
    let back = [
        ("SET SELF VOICE_TYPE MALE1", "209 OK"),
        ("SET SELF PUNCTUATION some", "205 OK"),
        ("SET SELF RATE 30", "203 OK"),
        ("SET SELF VOLUME 100", "218 OK"),
        ("SET SELF PITCH 0", "204 OK"),
    ];
    says(&mut talk, sounding(4, Delivery::default()), &back);
    says(&mut talk, sounding(5, Delivery::default()), &[]);
    let usual = talk.dialogue.usual();
    assert_eq!((usual.rate, usual.volume), (Some(30), Some(100)));
}

#[test]
fn a_voice_that_is_not_there_is_told_once_and_the_usual_one_speaks() {
    let mut talk = TimedConversation::usual();
    let named = |id, name: &str| {
        let voice = Some(name.to_owned());
        let delivery = Delivery {
            voice,
            ..Delivery::default()
        };
        sounding(id, delivery)
    };
    let list = "249-English (America)\ten-US\tnone\r\n249 OK";
    let asked = [
        ("SET SELF PRIORITY MESSAGE", "202 OK"),
        ("LIST SYNTHESIS_VOICES", list),
    ];
    says(&mut talk, named(1, "Nobody"), &asked);
    says(&mut talk, named(2, "Nobody"), &[]);
    let there = [
        ("GET VOICE_TYPE", "251-MALE1\r\n251 OK"),
        ("SET SELF SYNTHESIS_VOICE English (America)", "209 OK"),
    ];
    says(&mut talk, named(3, "English (America)"), &there);
    let notices: Vec<_> = talk
        .news()
        .into_iter()
        .filter(|news| matches!(news, DialogueEvent::Notice(_)))
        .collect();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(format!("{notices:?}").contains("Nobody"));
}

#[test]
fn what_the_daemon_refuses_is_told_once_and_not_tried_again() {
    let mut talk = TimedConversation::usual();
    let loud = Delivery {
        volume: Some(10),
        punctuation: Some(Punctuation::All),
        ..Delivery::default()
    };
    let refused = [
        ("SET SELF PRIORITY MESSAGE", "202 OK"),
        ("GET PUNCTUATION", "300 ERR"),
        ("SET SELF PUNCTUATION all", "400 ERR"),
        ("SET SELF VOLUME 10", "400 ERR"),
    ];
    says(&mut talk, sounding(1, loud.clone()), &refused);
    says(&mut talk, sounding(2, loud), &[]);
    let notices = talk
        .news()
        .into_iter()
        .filter(|news| matches!(news, DialogueEvent::Notice(_)));
    assert_eq!(notices.count(), 2);
}

#[test]
fn a_language_is_set_only_when_it_is_another_one() {
    let mut talk = TimedConversation::usual();
    let mut number = 1;
    let mut said = |talk: &mut TimedConversation| {
        number += 1;
        talk.speaks("text", number);
        talk.event(702, number);
    };
    talk.say(foreign(1, "text", "en"));
    talk.sends("SET SELF PRIORITY MESSAGE");
    talk.hears("202 OK");
    said(&mut talk);

    talk.say(foreign(2, "text", "de-AT"));
    talk.sends("LIST SYNTHESIS_VOICES");
    talk.hears("249-German\tde\tnone\r\n249-x\ten-GB\tnone\r\n249 OK");
    talk.sends("SET SELF LANGUAGE de-AT");
    talk.hears("201 OK");
    said(&mut talk);
    talk.say(foreign(3, "text", "de-AT"));
    said(&mut talk);
    talk.say(foreign(4, "text", "en-GB"));
    talk.sends("SET SELF LANGUAGE en-GB");
    talk.hears("201 OK");
    said(&mut talk);
    talk.say(utterance(5, "text"));
    talk.sends("SET SELF LANGUAGE en-US");
    talk.hears("201 OK");
    said(&mut talk);
}

#[test]
fn a_language_without_a_voice_is_told_once_and_said_by_the_default_voice() {
    let mut talk = TimedConversation::usual();
    talk.say(foreign(1, "text", "de"));
    talk.sends("SET SELF PRIORITY MESSAGE");
    talk.hears("202 OK");
    talk.sends("LIST SYNTHESIS_VOICES");
    talk.hears("249-German\tde\tnone\r\n249 OK");
    talk.sends("SET SELF LANGUAGE de");
    talk.hears("201 OK");
    talk.speaks("text", 2);
    talk.event(702, 2);
    talk.news();

    // The daemon would accept this tag and continue in German.
    talk.say(foreign(2, "text", "xx-YY"));
    talk.sends("SET SELF LANGUAGE en-US");
    talk.hears("201 OK");
    talk.speaks("text", 3);
    talk.event(702, 3);
    talk.say(foreign(3, "text", "xx-YY"));
    talk.speaks("text", 4);
    let news = talk.news();
    assert!(
        matches!(&news[..], [DialogueEvent::Notice(text), DialogueEvent::Ended(_)] if in_words(text).contains("xx-YY")),
        "{news:?}"
    );
}

#[test]
fn a_language_that_the_daemon_refuses_is_told_once_and_tried_again_later() {
    let mut talk = TimedConversation::usual();
    talk.say(foreign(1, "text", "de"));
    talk.sends("SET SELF PRIORITY MESSAGE");
    talk.hears("202 OK");
    talk.sends("LIST SYNTHESIS_VOICES");
    talk.hears("321 ERR MODULE CANT REPORT VOICES");
    for (id, number) in [(1, 2), (2, 3)] {
        if id == 2 {
            talk.say(foreign(2, "text", "de"));
        }
        talk.sends("SET SELF LANGUAGE de");
        talk.hears("302 ERR COULDNT SET LANGUAGE");
        talk.speaks("text", number);
        talk.event(702, number);
    }
    let news = talk.news();
    assert!(
        matches!(
            &news[..],
            [DialogueEvent::Notice(text), DialogueEvent::Ended(_), DialogueEvent::Ended(_)] if in_words(text).contains("de")
        ),
        "{news:?}"
    );
}

#[test]
fn invented_languages_do_not_fill_the_ear() {
    let mut talk = TimedConversation::usual();
    talk.say(foreign(0, "text", "q"));
    talk.sends("SET SELF PRIORITY MESSAGE");
    talk.hears("202 OK");
    talk.sends("LIST SYNTHESIS_VOICES");
    talk.hears("249-German\tde\tnone\r\n249 OK");
    for number in 2..60 {
        talk.speaks("text", number);
        talk.event(702, number);
        talk.say(foreign(number, "text", &format!("q-{number}")));
    }
    let notices = talk
        .news()
        .into_iter()
        .filter(|news| matches!(news, DialogueEvent::Notice(_)));
    assert_eq!(notices.count(), 17);
}

#[test]
fn a_hostile_language_never_reaches_the_wire() {
    let mut talk = TimedConversation::usual();
    talk.say(foreign(1, "text", "en\r\nCANCEL ALL"));
    talk.sends("SET SELF PRIORITY MESSAGE");
    talk.hears("202 OK");
    talk.speaks("text", 2);
    let news = talk.news();
    assert!(
        matches!(&news[..], [DialogueEvent::Notice(text)] if !in_words(text).contains("CANCEL")),
        "{news:?}"
    );
}
