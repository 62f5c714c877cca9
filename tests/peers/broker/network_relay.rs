//! What lies between a program and the server: a slow line, or one that changes the server's clock.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::Duration;

/// What a relay does with what passes.
#[derive(Clone, Copy)]
pub(super) enum Line {
    /// Lets this many bytes pass at once, and then waits.
    Slow(usize, Duration),
    /// Changes the hours in the times that the server states.
    OtherHours,
}

/// Starts a relay to a port of this machine, and returns its own; it lasts as long as the test's process.
pub(super) fn relay(port: u16, line: Line) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for near in listener.incoming().map_while(Result::ok) {
            let Ok(far) = TcpStream::connect(("127.0.0.1", port)) else {
                continue;
            };
            let (from_near, to_near) = (near.try_clone().unwrap(), near);
            let (from_far, to_far) = (far.try_clone().unwrap(), far);
            std::thread::spawn(move || pass(from_near, to_far, line));
            std::thread::spawn(move || pass(from_far, to_near, line));
        }
    });
    own
}

fn pass(mut from: TcpStream, mut to: TcpStream, line: Line) {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let most = match line {
            Line::Slow(most, _) => most,
            Line::OtherHours => buffer.len(),
        };
        let Ok(read @ 1..) = from.read(&mut buffer[..most]) else {
            break;
        };
        match line {
            Line::Slow(_, wait) => std::thread::sleep(wait),
            Line::OtherHours => change_hours(&mut buffer[..read]),
        }
        if to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}

/// Sets every hour of a `"ts"` to another one of the same day, at least three away.
fn change_hours(text: &mut [u8]) {
    let mark = b"\"ts\":\"";
    let starts: Vec<usize> = text
        .windows(mark.len())
        .enumerate()
        .filter(|(_, window)| window == mark)
        .map(|(at, _)| at + mark.len() + "2026-01-01T".len())
        .collect();
    for at in starts {
        if let Some(hour) = text.get_mut(at..at + 2) {
            let is_late = &*hour >= b"12".as_slice();
            let other: &[u8; 2] = if is_late { b"03" } else { b"21" };
            hour.copy_from_slice(other);
        }
    }
}
