//! What the person is told at the start, and the state of everything on request.

use std::sync::Arc;

use crate::announce::{
    AnnouncementKind, AnswerMethod, Arg, Class, Mark, Quote, QuoteKind, Segment,
};
use crate::config::Verbosity;
use crate::protocol::fit;

use super::signals::VoiceState;
use super::{AppCx, LinkPhase, LinkView, Links};

/// Announces the face, and settings that the person would otherwise wonder about.
pub(super) fn tell_start(cx: &mut AppCx) {
    let phrases = Arc::clone(cx.phrases());
    let text = |key: &str| Arg::Own(phrases.text(key, &[]));
    let voice = match cx.signals.voice() {
        VoiceState::Off => text("start.voice.off"),
        VoiceState::LeftToReader => text("start.voice.reader"),
        // The voice is announced once it is ready.
        VoiceState::Checking | VoiceState::Ready { .. } | VoiceState::Lost | VoiceState::None => {
            Arg::own("")
        }
    };
    let args = [
        ("face", text(cx.face.name())),
        ("why", text(cx.face.why())),
        ("voice", voice),
        (
            "ways",
            Arg::Own(phrases.text(
                cx.face.pick("start.ways.keys", "start.ways.lines"),
                &[
                    ("step", Arg::own(&cx.config.scanning.step)),
                    ("select", Arg::own(&cx.config.scanning.select)),
                ],
            )),
        ),
    ];
    let (class, kind, key) = (Class::Outcome, AnnouncementKind::Hint, "start.face");
    match cx.face.manner() {
        AnswerMethod::Keys | AnswerMethod::Lines => cx.say(class, kind, key, &args),
        // A program chose this face itself.
        AnswerMethod::Program => cx.say_in_detail(class, kind, key, &args),
    }
    let known = cx.phrases().language().to_owned();
    let wanted = &cx.config.announce.languages;
    if !wanted.iter().any(|tag| fit(tag, &known).is_some()) {
        // Otherwise the person would wonder whether the setting was understood.
        let wanted = Arg::Own(wanted.join(", "));
        let args = [("wanted", wanted)];
        cx.say(
            Class::Outcome,
            AnnouncementKind::Hint,
            "start.language",
            &args,
        );
    }
}

/// Announces the state of everything.
pub(super) fn tell_status(waiting: usize, links: &Links, cx: &mut AppCx) {
    let phrases = Arc::clone(cx.phrases());
    let (mut words, mut quotes) = (Vec::new(), Vec::new());
    let open = waiting;
    if open > 0 {
        let open = phrases.text("status.questions", &[("n", Arg::own(open))]);
        words.push(Segment::own(open));
    }
    for session in cx.sessions.iter().filter(|session| !session.is_ended()) {
        let (told, calls, of_agent) = cx.session_told(session);
        words.push(Segment::own(told));
        words.extend(calls);
        quotes.extend(of_agent);
        let facts = cx.announcer.session_facts(session);
        words.extend((!facts.is_empty()).then(|| Segment::own(facts)));
    }
    for view in links
        .iter()
        .filter(|view| !matches!(view.phase, LinkPhase::Connected | LinkPhase::Streaming))
    {
        let key = match view.phase {
            LinkPhase::Disconnected | LinkPhase::Connecting { .. } if view.connection().rests => {
                "status.link.rests"
            }
            LinkPhase::Disconnected => "status.link.disconnected",
            LinkPhase::Connecting { .. } => "status.link.connecting",
            LinkPhase::Connected => "status.link.connected",
            LinkPhase::Streaming => "status.link.streaming",
            LinkPhase::Completed => "status.link.completed",
            LinkPhase::Failed => "status.link.failed",
        };
        let args = [
            ("source", Arg::Own(view.name.clone())),
            ("state", Arg::Own(phrases.text(key, &[]))),
        ];
        words.push(Segment::own(phrases.text("status.link", &args)));
    }
    if words.is_empty() {
        words.push(Segment::own(phrases.text("status.nothing", &[])));
    }
    if cx.queue.silenced() > 0 {
        let key = cx.face.pick("status.stopped.keys", "status.stopped.lines");
        let n = Arg::own(cx.queue.silenced());
        words.extend(cx.words(key, &[("n", n)]));
    }
    if let skipped @ 1.. = cx.queue.take_skipped() {
        words.extend(cx.words("go_on.skipped", &[("n", Arg::own(skipped))]));
    }
    words.extend(cx.forgotten_words().map(Segment::own));
    if cx.announcer.settings().verbosity == Verbosity::Detailed {
        words.extend(cx.account_words().into_iter().map(Segment::own));
    }
    let there =
        |view: &&LinkView| matches!(view.phase, LinkPhase::Connected | LinkPhase::Streaming);
    for view in links.iter().filter(there) {
        let told = links.connection_words(view, cx).unwrap_or_default();
        let of_agent = told.iter().filter(|words| words.mark == Mark::Agent);
        quotes.extend(of_agent.map(|_| Quote {
            agent: view.name.as_str().into(),
            kind: QuoteKind::Text,
        }));
        words.extend(told);
    }
    let face = [
        ("face", Arg::Own(phrases.text(cx.face.name(), &[]))),
        ("why", Arg::Own(phrases.text(cx.face.why(), &[]))),
    ];
    words.push(Segment::own(phrases.text("status.face", &face)));
    cx.quote(words, quotes);
}
