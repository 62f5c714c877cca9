//! The handle and its thread, with an engine that a test plays.

use std::sync::mpsc as blocking;

use super::*;

/// A call that the engine received.
#[derive(Debug, PartialEq, Eq)]
enum EngineCall {
    Speak(u64),
    Stop,
    Close,
}

/// An engine whose news comes from the test.
struct Puppet {
    orders: blocking::Sender<EngineCall>,
    news: mpsc::Receiver<VoiceEvent>,
}

impl Voice for Puppet {
    fn speak(&mut self, utterance: Utterance) {
        self.orders.send(EngineCall::Speak(utterance.id.0)).unwrap();
    }
    fn stop(&mut self) {
        self.orders.send(EngineCall::Stop).unwrap();
    }
    async fn news(&mut self) -> VoiceEvent {
        match self.news.recv().await {
            Some(event) => event,
            None => std::future::pending().await,
        }
    }
    async fn close(&mut self) {
        self.orders.send(EngineCall::Close).unwrap();
    }
}

struct HandleStage {
    handle: VoiceHandle,
    ear: Ear,
    orders: blocking::Receiver<EngineCall>,
    news: mpsc::Sender<VoiceEvent>,
}

impl HandleStage {
    async fn new() -> Self {
        let (sink, mut ear) = Ear::new();
        let (orders, ordered) = blocking::channel();
        let (news, told) = mpsc::channel(64);
        let handle = open_with("puppet", sink, move || Puppet { orders, news: told });
        assert_eq!(ear.ready().await, "puppet");
        Self {
            handle,
            ear,
            orders: ordered,
            news,
        }
    }

    fn ordered(&self) -> EngineCall {
        self.orders.recv_timeout(PATIENCE).expect("an order")
    }

    async fn says(&self, event: VoiceEvent) {
        self.news.send(event).await.unwrap();
    }
}

const fn id(number: u64) -> UtteranceId {
    UtteranceId(number)
}

#[tokio::test]
async fn a_newer_utterance_cuts_the_older_one() {
    let mut stage = HandleStage::new().await;
    stage.handle.speak(utterance(1, "one"));
    assert_eq!(stage.ordered(), EngineCall::Speak(1));
    stage.says(VoiceEvent::Begun(id(1))).await;
    stage.ear.expect(VoiceEvent::Begun(id(1))).await;
    stage.handle.speak(utterance(2, "two"));
    assert_eq!(stage.ordered(), EngineCall::Stop);
    assert_eq!(stage.ordered(), EngineCall::Speak(2));
    stage.ear.expect(VoiceEvent::Cut(id(1))).await;
    // Late news about the first one, and repeated news, change nothing.
    for event in [
        VoiceEvent::Ended(id(1)),
        VoiceEvent::Begun(id(2)),
        VoiceEvent::Ended(id(2)),
        VoiceEvent::Ended(id(2)),
        VoiceEvent::Cut(id(2)),
        VoiceEvent::Begun(id(2)),
    ] {
        stage.says(event).await;
    }
    stage.ear.expect(VoiceEvent::Begun(id(2))).await;
    stage.ear.expect(VoiceEvent::Ended(id(2))).await;
    stage.handle.close(Duration::ZERO).await;
    assert_eq!(stage.ear.rest().await, []);
}

#[tokio::test]
async fn a_stop_cuts_and_is_ordered_only_while_something_is_said() {
    let mut stage = HandleStage::new().await;
    stage.handle.stop();
    stage.handle.speak(utterance(1, "one"));
    assert_eq!(stage.ordered(), EngineCall::Speak(1));
    stage.handle.stop();
    assert_eq!(stage.ordered(), EngineCall::Stop);
    stage.ear.expect(VoiceEvent::Cut(id(1))).await;
}

#[tokio::test]
async fn a_loss_cuts_what_is_being_said_first() {
    let mut stage = HandleStage::new().await;
    stage.handle.speak(utterance(1, "one"));
    assert_eq!(stage.ordered(), EngineCall::Speak(1));
    let lost = VoiceEvent::Lost {
        reason: Reason::said("gone"),
    };
    stage.says(lost.clone()).await;
    stage.ear.expect(VoiceEvent::Cut(id(1))).await;
    stage.ear.expect(lost).await;
}

#[tokio::test]
async fn each_utterance_of_a_burst_is_settled_once() {
    let stage = HandleStage::new().await;
    let count = 500;
    for number in 0..count {
        stage.handle.speak(utterance(number, "burst"));
    }
    stage.handle.close(Duration::ZERO).await;
    let mut settled: Vec<u64> = stage
        .ear
        .rest()
        .await
        .into_iter()
        .map(|event| match event {
            VoiceEvent::Cut(id) => id.0,
            other => panic!("{other:?}"),
        })
        .collect();
    settled.sort_unstable();
    // News that does not fit into the channel is dropped when the thread ends; here it fits.
    assert!(settled.windows(2).all(|pair| pair[0] < pair[1]));
    assert!(settled.len() >= 256, "{}", settled.len());
}

#[tokio::test]
async fn words_of_nothing_never_reach_the_engine() {
    let mut stage = HandleStage::new().await;
    stage.handle.speak(utterance(1, " \0\n"));
    stage.ear.expect(VoiceEvent::Ended(id(1))).await;
    stage.handle.speak(utterance(2, "words"));
    assert_eq!(stage.ordered(), EngineCall::Speak(2));
}

#[tokio::test]
async fn a_monstrous_text_is_cut_and_the_person_is_told() {
    let mut stage = HandleStage::new().await;
    stage.handle.speak(utterance(1, &"word ".repeat(100_000)));
    assert_eq!(stage.ordered(), EngineCall::Speak(1));
    assert!(matches!(stage.ear.next().await, VoiceEvent::Notice { .. }));
}

#[tokio::test]
async fn closing_lets_the_last_words_end() {
    let mut stage = HandleStage::new().await;
    stage.handle.speak(utterance(1, "one"));
    assert_eq!(stage.ordered(), EngineCall::Speak(1));
    let closed = tokio::spawn(stage.handle.close(Duration::from_secs(600)));
    stage
        .news
        .send(VoiceEvent::Ended(id(1)))
        .await
        .expect("the engine is still there");
    stage.ear.expect(VoiceEvent::Ended(id(1))).await;
    closed.await.unwrap();
    assert_eq!(stage.orders.recv_timeout(PATIENCE), Ok(EngineCall::Close));
    assert_eq!(stage.ear.rest().await, []);
}

#[tokio::test]
async fn closing_cuts_words_that_last_too_long() {
    let stage = HandleStage::new().await;
    stage.handle.speak(utterance(1, "one"));
    assert_eq!(stage.ordered(), EngineCall::Speak(1));
    stage.handle.close(Duration::from_millis(20)).await;
    assert_eq!(stage.orders.recv_timeout(PATIENCE), Ok(EngineCall::Stop));
    assert_eq!(stage.orders.recv_timeout(PATIENCE), Ok(EngineCall::Close));
    assert_eq!(stage.ear.rest().await, [VoiceEvent::Cut(id(1))]);
}

#[tokio::test]
async fn a_dropped_handle_leaves_nothing_speaking() {
    let stage = HandleStage::new().await;
    stage.handle.speak(utterance(1, "one"));
    assert_eq!(stage.ordered(), EngineCall::Speak(1));
    drop(stage.handle);
    assert_eq!(stage.orders.recv_timeout(PATIENCE), Ok(EngineCall::Stop));
    assert_eq!(stage.orders.recv_timeout(PATIENCE), Ok(EngineCall::Close));
    assert_eq!(stage.ear.rest().await, [VoiceEvent::Cut(id(1))]);
}

#[tokio::test]
async fn a_listener_that_goes_away_ends_the_voice() {
    let HandleStage {
        handle: _handle,
        ear,
        orders,
        news: _news,
    } = HandleStage::new().await;
    drop(ear);
    assert_eq!(orders.recv_timeout(PATIENCE), Ok(EngineCall::Close));
}

#[tokio::test]
async fn a_listener_that_sleeps_loses_news_only_past_the_bound_and_hears_how_many() {
    let stage = HandleStage::new().await;
    let notice = |number: u64| VoiceEvent::Notice {
        text: Reason::said(number),
    };
    for number in 0..256 + 1024 + 50 {
        stage.says(notice(number)).await;
    }
    // All of the engine's news has been received when its whole channel is free again.
    let free = stage.news.reserve_many(64).await.unwrap();
    drop(free);
    let mut ear = stage.ear;
    for number in 0..256 + 1024 {
        ear.expect(notice(number)).await;
    }
    match ear.next().await {
        VoiceEvent::Notice { text } => assert!(in_words(&text).contains("were lost")),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn chosen_voices_that_are_not_there_say_so_in_words() {
    let config = VoiceConfig::default();
    for (choice, reader, word) in [
        (VoiceChoice::None, false, "switched off"),
        (VoiceChoice::System, false, "own file"),
        #[cfg(target_os = "linux")]
        (VoiceChoice::System, true, "gives way"),
        (VoiceChoice::Auto, true, "screen reader"),
        #[cfg(target_os = "linux")]
        (VoiceChoice::Auto, false, "XDG_RUNTIME_DIR"),
        #[cfg(unix)]
        (VoiceChoice::SpeechDispatcher, true, "XDG_RUNTIME_DIR"),
        #[cfg(windows)]
        (VoiceChoice::Auto, false, "own file"),
        (VoiceChoice::Command("nowhere -x".into()), true, "nowhere"),
        (VoiceChoice::Command("say 'x".into()), false, "quote"),
    ] {
        let (sink, mut ear) = Ear::new();
        let handle = open_in(VoiceEnvironment::default(), &choice, &config, reader, sink);
        handle.speak(utterance(1, "one"));
        let reason = ear.none().await;
        assert!(reason.contains(word), "{choice:?}: {reason}");
        assert!(!reason.ends_with('.'), "{reason}");
        ear.expect(VoiceEvent::Cut(id(1))).await;
        handle.speak(utterance(2, "two"));
        ear.expect(VoiceEvent::Cut(id(2))).await;
        handle.close(Duration::from_secs(600)).await;
        assert_eq!(ear.rest().await, []);
    }
}
