//! A network that cuts every connection to the server after some bytes.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::dying_bridges::{assert_each_arrived_once, recorded};
use super::nats_server::{NatsServer, with_bridge};
use crate::PATIENCE;

/// A way to the server that cuts each connection after a number of bytes, which differs from one to the next.
struct CuttingProxy {
    port: u16,
    cuts: Arc<AtomicU64>,
    /// Once it is set, connections last.
    is_over: Arc<AtomicBool>,
}

impl CuttingProxy {
    fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let cutting = Self {
            port: listener.local_addr().unwrap().port(),
            cuts: Arc::default(),
            is_over: Arc::default(),
        };
        let (cuts, is_over) = (Arc::clone(&cutting.cuts), Arc::clone(&cutting.is_over));
        std::thread::spawn(move || {
            let mut dice = 0x9e37_79b9_7f4a_7c15_u64;
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else {
                    continue;
                };
                dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                // A handshake takes about a thousand; some connections don't even get that far.
                let left = Arc::new(AtomicU64::new(200 + (dice >> 33) % 200_000));
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let ends = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let (left, cuts) = (Arc::clone(&left), Arc::clone(&cuts));
                    let is_over = Arc::clone(&is_over);
                    std::thread::spawn(move || carry(ends, &left, &cuts, &is_over));
                }
            }
        });
        cutting
    }
}

/// Carries bytes until as many have passed, in both directions together, as the connection has.
fn carry(
    (mut from, mut to): (TcpStream, TcpStream),
    left: &AtomicU64,
    cuts: &AtomicU64,
    is_over: &AtomicBool,
) {
    let mut bytes = [0; 512];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        let before = left.fetch_sub(count as u64, Ordering::Relaxed);
        let is_cut = before <= count as u64 && !is_over.load(Ordering::Relaxed);
        let passing = if is_cut { before as usize } else { count };
        if to.write_all(&bytes[..passing.min(count)]).is_err() || is_cut {
            cuts.fetch_add(u64::from(is_cut), Ordering::Relaxed);
            break;
        }
    }
    // The other direction ends with it.
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

#[test]
fn every_event_arrives_once_wherever_connections_are_cut() {
    let (runs, wanted_cuts) = match std::env::var_os("HEARKEN_ALL_RUNS") {
        Some(_) => (10, 100),
        None => (3, 10),
    };
    let mut server = NatsServer::start();
    let cutting = CuttingProxy::to(server.port());
    server.reach_through(cutting.port);
    with_bridge(server, &[], |space| {
        let recording = space.server.folder().join("anna.jsonl");
        let mut anna = space.watch_with("anna", &["--record", recording.to_str().unwrap()]);
        for _ in 0..runs {
            let run = space.start("answer");
            space.finish(run);
        }
        let cuts = || cutting.cuts.load(Ordering::Relaxed);
        let until = Instant::now() + 20 * PATIENCE;
        while cuts() < wanted_cuts && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(
            cuts() >= wanted_cuts,
            "only {} connections were cut",
            cuts()
        );
        let during = recorded(&recording).len();
        assert!(during > 0, "nothing came while connections were cut");
        cutting.is_over.store(true, Ordering::Relaxed);
        assert_each_arrived_once(space, &recording);
        anna.leave();
    });
}
