//! What the tests share: the program as a child process, a virtual stage, a terminal.

pub mod child;
pub mod face_scenes;
pub mod hook_relays;
pub mod page;
#[cfg(unix)]
pub mod pty_terminal;
pub mod scripted_handshake;
#[cfg(unix)]
pub mod scripted_ssip;
pub mod stage;
pub mod stand_in;
pub mod svg;

use std::ffi::OsString;
use std::time::Duration;

use hearken::demo::{DemoSettings, ServedDemo, serve};

/// Where the sources of the rooms are: of the program and of each crate.
pub const PLACES: &[&str] = &[
    "src",
    "crates/hearken-core/src",
    "crates/hearken-dialects/src",
    "crates/hearken-io/src",
    "crates/hearken-link/src",
];

/// Nothing on loopback takes this long; a test that waits this long has failed.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Returns the program under test: this build's, or the one that `HEARKEN_BINARY` names.
pub fn program() -> OsString {
    std::env::var_os("HEARKEN_BINARY").unwrap_or_else(|| env!("CARGO_BIN_EXE_hearken").into())
}

/// Runs a future on a runtime of its own.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

/// Runs a test with a stepped demo on loopback, and stops the demo afterwards. The test may block.
pub fn with_demo<T>(test: impl AsyncFnOnce(&ServedDemo) -> T) -> T {
    block_on(async {
        let demo = serve("127.0.0.1:0", DemoSettings::stepped(1));
        let running = demo.await.unwrap();
        let outcome = test(&running).await;
        running.stop().await;
        outcome
    })
}

/// Waits for a future, with a time limit.
pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future)
        .await
        .unwrap_or_else(|_| panic!("no {what} in time"))
}
