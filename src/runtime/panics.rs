//! How a fault of hearken's own ends it.
//!
//! Responsibilities: what happens between a panic and the end of the program. Not here: faults of others, which are
//! told and lived with.

use super::{Face, desk, leave_nothing, screen};

/// The exit code after a panic, as Rust has it.
const PANICKED: i32 = 101;

/// Makes any panic, on whatever thread, end the program visibly. Going on without a link, a voice or a screen would be
/// worse: the person would wait for something that can't come.
///
/// It is an exit, because what a release build does of itself (`panic = "abort"`) may leave the memory in a file, an
/// agent's words among it.
pub fn end_on_panic() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        before(info);
        leave_nothing();
        std::process::exit(PANICKED);
    }));
}

/// Makes a panic give the terminal back before its message is written, so that it can be read.
pub(super) fn give_back_first(face: Face) {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if face == Face::Full {
            screen::restore();
        }
        desk::restore();
        before(info);
    }));
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::process::Command;

    use super::*;

    /// Says to a run of this very test that it is the program that panics.
    const FAULTY: &str = "HEARKEN_TEST_PANICS";

    #[test]
    fn a_panic_beside_the_main_thread_is_told_and_ends_the_program() {
        if std::env::var_os(FAULTY).is_some() {
            end_on_panic();
            give_back_first(Face::Linear);
            let _ = std::thread::spawn(|| panic!("a fault of ours")).join();
            // Who comes here went on.
            std::process::exit(0);
        }
        let name = "a_panic_beside_the_main_thread_is_told_and_ends_the_program";
        let program = std::env::current_exe().unwrap();
        let mut call = Command::new(program);
        let ended = call.args([name, "--nocapture"]).env(FAULTY, "1").output();
        let ended = ended.unwrap();
        let told = String::from_utf8_lossy(&ended.stderr);
        assert!(told.contains("a fault of ours"), "{told}");
        assert_eq!(ended.status.code(), Some(PANICKED));
    }
}
