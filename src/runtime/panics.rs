//! How a bug in hearken itself ends the program.
//!
//! Responsibilities: what happens between a panic and the end of the program. Not here: faults of others, which are
//! reported and survived.

use super::{Face, face_screen, leave_nothing, line_terminal};

/// Rust's own exit code after a panic.
const PANICKED: i32 = 101;

/// Makes any panic, on any thread, end the program visibly. Continuing without a link, a voice or a screen would be
/// worse: the person would wait for something that can't come.
///
/// It exits because the default of a release build (`panic = "abort"`) may leave a memory dump in a file, with an
/// agent's words in it.
pub fn end_on_panic() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        before(info);
        leave_nothing();
        std::process::exit(PANICKED);
    }));
}

/// Makes a panic restore the terminal before its message is written, so that the message can be read.
pub(super) fn give_back_first(face: Face) {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if face == Face::Full {
            face_screen::restore();
        }
        line_terminal::restore();
        before(info);
    }));
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// The variable that tells a run of this very test to act as the program that panics.
    const FAULTY: &str = "HEARKEN_TEST_PANICS";

    #[test]
    fn a_panic_beside_the_main_thread_is_told_and_ends_the_program() {
        if std::env::var_os(FAULTY).is_some() {
            end_on_panic();
            give_back_first(Face::Linear);
            let _ = std::thread::spawn(|| panic!("a fault of ours")).join();
            // Reached only if the panic did not end the program.
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
