//! Both directions over one connection, played by the test itself.

use std::time::Duration;

use tokio::sync::mpsc;

use super::{Delivered, Dial, Inward, Outward};
use crate::config::LinkConfig;
use crate::link::{DeliveryFailure, Fault, LastWords, LinkEvent, Reason, Receipt};
use crate::transport::link_sink::LinkSink;
use crate::transport::tests::{Listener, connecting, frame, quick, replied, soon};
use crate::transport::transport_settings::LinkSettings;

/// Returns the fault of a connection closed with a code that makes asking again useless.
fn closed_with(code: u16) -> Fault {
    Fault::ClosedWith {
        code,
        reason: Reason::default(),
        turned_away: true,
    }
}

/// A dialer that returns the connections that the test puts in.
struct ScriptedDialer {
    connections: mpsc::UnboundedReceiver<Result<(In, Out), Fault>>,
    heartbeat: Option<Duration>,
}

struct In(mpsc::UnboundedReceiver<Delivered>);

/// The writing half; a stuck one never finishes a write.
struct Out {
    written: mpsc::UnboundedSender<String>,
    stuck: bool,
}

impl Dial for ScriptedDialer {
    type Inward = In;
    type Outward = Out;

    async fn dial(&mut self) -> Result<(In, Out), Fault> {
        match self.connections.recv().await {
            Some(connection) => connection,
            None => std::future::pending().await,
        }
    }

    fn heartbeat(&self) -> Option<Duration> {
        self.heartbeat
    }
}

impl Inward for In {
    async fn next(&mut self) -> Delivered {
        match self.0.recv().await {
            Some(arrival) => arrival,
            None => std::future::pending().await,
        }
    }
}

impl Outward for Out {
    async fn send(&mut self, message: String) -> Result<(), DeliveryFailure> {
        let _ = self.written.send(message);
        if self.stuck {
            std::future::pending::<()>().await;
        }
        Ok(())
    }

    async fn ping(&mut self) -> Result<(), Fault> {
        let sent = self.send("ping".to_owned()).await;
        sent.map_err(|kept| kept.fault().clone())
    }

    async fn leave(&mut self) {
        let _ = self.written.send("bye".to_owned());
    }
}

struct DuplexPeer {
    says: mpsc::UnboundedSender<Delivered>,
    hears: mpsc::UnboundedReceiver<String>,
}

struct DuplexBench {
    link: Listener,
    connections: mpsc::UnboundedSender<Result<(In, Out), Fault>>,
}

impl DuplexBench {
    fn open(config: LinkConfig, heartbeat: Option<Duration>, room: usize) -> Self {
        let (connections, taken) = mpsc::unbounded_channel();
        let script = ScriptedDialer {
            connections: taken,
            heartbeat,
        };
        let link = super::link(
            script,
            LinkSettings::new(config, None, crate::transport::Tls::default(), 1),
        );
        let (sink, news) = LinkSink::channel(3, room);
        Self {
            link: Listener::over(link, sink, news),
            connections,
        }
    }

    fn connect(&self, stuck: bool) -> DuplexPeer {
        let (says, said) = mpsc::unbounded_channel();
        let (written, hears) = mpsc::unbounded_channel();
        let _ = self
            .connections
            .send(Ok((In(said), Out { written, stuck })));
        DuplexPeer { says, hears }
    }
}

#[tokio::test]
async fn without_a_connection_an_answer_fails_at_once_and_is_never_sent_later() {
    let mut bench = DuplexBench::open(quick(), None, 64);
    bench.link.expect(&[connecting(1)]).await;
    bench.link.handle.send(1, "early".to_owned());
    bench
        .link
        .expect(&[replied(1, Err(DeliveryFailure::Kept(Fault::Closed)))])
        .await;
    let mut peer = bench.connect(false);
    bench.link.expect(&[LinkEvent::Connected]).await;
    bench.link.handle.send(2, "now".to_owned());
    bench.link.expect(&[replied(2, Ok(Receipt::Written))]).await;
    assert_eq!(soon(peer.hears.recv()).await.unwrap(), "now");
}

#[tokio::test]
async fn a_peer_that_does_not_read_costs_the_connection_and_not_the_events() {
    let config = LinkConfig {
        reply_timeout_ms: 30,
        ..quick()
    };
    let mut bench = DuplexBench::open(config, None, 64);
    let peer = bench.connect(true);
    bench
        .link
        .expect(&[connecting(1), LinkEvent::Connected])
        .await;
    bench.link.handle.send(1, "stuck".to_owned());
    peer.says
        .send(Delivered::Frame("meanwhile".into()))
        .unwrap();
    let mut seen = Vec::new();
    while !matches!(seen.last(), Some(LinkEvent::Lost { .. })) {
        seen.push(bench.link.next().await);
    }
    assert!(seen.contains(&frame("meanwhile")));
    assert!(seen.contains(&replied(1, Err(DeliveryFailure::Unknown(Fault::TimedOut)))));
}

#[tokio::test]
async fn reading_that_waits_for_room_holds_no_answer_back() {
    let mut bench = DuplexBench::open(quick(), None, 1);
    let mut peer = bench.connect(false);
    for _ in 0..50 {
        peer.says.send(Delivered::Frame("x".into())).unwrap();
    }
    bench
        .link
        .expect(&[connecting(1), LinkEvent::Connected])
        .await;
    bench.link.handle.send(1, "answer".to_owned());
    assert_eq!(soon(peer.hears.recv()).await.unwrap(), "answer");
    let mut frames = 0;
    let mut answered = false;
    while frames < 50 || !answered {
        match bench.link.next().await {
            LinkEvent::Frame(_) => frames += 1,
            LinkEvent::Replied { .. } => answered = true,
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_silent_connection_is_asked_and_a_dead_one_is_lost() {
    let beat = Duration::from_millis(100);
    let mut bench = DuplexBench::open(quick(), Some(beat), 64);
    let mut peer = bench.connect(false);
    bench
        .link
        .expect(&[connecting(1), LinkEvent::Connected])
        .await;
    for _ in 0..3 {
        assert_eq!(soon(peer.hears.recv()).await.unwrap(), "ping");
        peer.says.send(Delivered::Alive).unwrap();
    }
    assert_eq!(soon(peer.hears.recv()).await.unwrap(), "ping");
    assert!(matches!(
        bench.link.next().await,
        LinkEvent::Lost {
            fault: Fault::TimedOut,
            ..
        }
    ));
}

#[tokio::test]
async fn a_person_who_reads_slowly_is_no_dead_connection() {
    let beat = Duration::from_millis(100);
    let mut bench = DuplexBench::open(quick(), Some(beat), 1);
    let peer = bench.connect(false);
    for _ in 0..5 {
        peer.says.send(Delivered::Frame("x".into())).unwrap();
    }
    tokio::time::sleep(beat * 5).await;
    bench
        .link
        .expect(&[connecting(1), LinkEvent::Connected])
        .await;
    for _ in 0..5 {
        bench.link.expect(&[frame("x")]).await;
    }
}

#[tokio::test]
async fn the_words_behind_a_broken_connection_are_waited_for() {
    let config = LinkConfig {
        reply_timeout_ms: 10,
        ..quick()
    };
    let mut bench = DuplexBench::open(config, None, 64);
    let mut peer = bench.connect(true);
    bench
        .link
        .expect(&[connecting(1), LinkEvent::Connected])
        .await;
    bench.link.handle.send(1, "x".to_owned());
    soon(peer.hears.recv()).await;
    bench
        .link
        .expect(&[replied(1, Err(DeliveryFailure::Unknown(Fault::TimedOut)))])
        .await;
    let fault = closed_with(4002);
    peer.says.send(Delivered::End(Err(fault.clone()))).unwrap();
    bench.link.expect(&[LinkEvent::Failed { fault }]).await;
}

#[tokio::test]
async fn leaving_says_goodbye_with_and_without_a_connection() {
    let bench = DuplexBench::open(quick(), None, 64);
    let mut peer = bench.connect(false);
    assert!(matches!(
        {
            let mut link = bench.link;
            link.next().await;
            link.next().await;
            soon(link.handle.close()).await
        },
        Ok(())
    ));
    assert_eq!(soon(peer.hears.recv()).await.unwrap(), "bye");
    let mut bench = DuplexBench::open(quick(), None, 64);
    bench.link.expect(&[connecting(1)]).await;
    soon(bench.link.handle.close()).await.unwrap();
}

#[tokio::test]
async fn faults_that_stay_are_final_and_others_are_tried_again_as_often_as_wished() {
    let config = LinkConfig {
        retries: Some(2),
        ..quick()
    };
    let mut bench = DuplexBench::open(config, None, 64);
    for attempt in 1..=3 {
        bench.connections.send(Err(Fault::Refused)).unwrap();
        bench.link.expect(&[connecting(attempt)]).await;
        match (attempt, bench.link.next().await) {
            (1 | 2, LinkEvent::Lost { .. }) | (3, LinkEvent::Failed { .. }) => {}
            (_, other) => panic!("{other:?}"),
        }
    }
    let mut bench = DuplexBench::open(quick(), None, 64);
    let fault = Fault::Exited { code: 1 };
    bench.connections.send(Err(fault.clone())).unwrap();
    bench
        .link
        .expect(&[connecting(1), LinkEvent::Failed { fault }])
        .await;
}

#[tokio::test]
async fn a_refusal_waits_as_it_says_even_when_the_server_hangs_up_first() {
    let refused = Fault::Rejected {
        reason: crate::link::Phrase::new("rejected.rate_limit"),
        retry_after: Some(0),
        again: true,
    };
    let mut bench = DuplexBench::open(quick(), None, 64);
    let peer = bench.connect(false);
    bench
        .link
        .expect(&[connecting(1), LinkEvent::Connected])
        .await;
    let _ = peer.says.send(Delivered::Frame("refused".to_owned()));
    // The code alone would end the link for good; the message before it allows another attempt.
    let hung_up = closed_with(4001);
    let _ = peer.says.send(Delivered::End(Err(hung_up)));
    bench.link.expect(&[frame("refused")]).await;
    bench.link.handle.refuse(refused.clone());
    match soon(bench.link.next()).await {
        LinkEvent::Lost { fault, .. } => assert_eq!(fault, refused),
        other => panic!("{other:?}"),
    }
    // A connection that is given up while open gets the last words and a goodbye.
    let mut peer = bench.connect(false);
    bench
        .link
        .expect(&[connecting(2), LinkEvent::Connected])
        .await;
    let words = LastWords::Message("so long".to_owned());
    bench.link.handle.last_words(Some(words));
    bench.link.handle.refuse(refused);
    assert_eq!(soon(peer.hears.recv()).await.as_deref(), Some("so long"));
    assert_eq!(soon(peer.hears.recv()).await.as_deref(), Some("bye"));
}

#[tokio::test]
async fn what_was_wished_before_a_link_is_left_is_what_it_says_then() {
    // Simultaneous events are handled in random order, so a single run proves nothing.
    for _ in 0..20 {
        let mut bench = DuplexBench::open(quick(), None, 64);
        let mut peer = bench.connect(false);
        bench
            .link
            .expect(&[connecting(1), LinkEvent::Connected])
            .await;
        let words = LastWords::Message("stop".to_owned());
        bench.link.handle.last_words(Some(words));
        bench.link.handle.send(1, "done".to_owned());
        assert_eq!(soon(peer.hears.recv()).await.unwrap(), "done");
        // This has not been received yet when the link is closed.
        bench.link.handle.last_words(None);
        let left = bench.link.handle.close();
        assert_eq!(soon(peer.hears.recv()).await.as_deref(), Some("bye"));
        soon(left).await.unwrap();
    }
}
