//! Signs of screen readers: the system's own flag, the windows of NVDA and JAWS, and Narrator's registry entry.
//!
//! Narrator sets no flag and guarantees no window name; it records in the person's part of the registry whether it is
//! running.

use std::io;

use super::native;
use crate::platform::{ReaderSign, SignCheck};

/// The folder that shows processes, on systems that have one.
pub const PROCESSES: Option<&str> = None;

/// The class and title of a window that exists for as long as the reader runs.
const NVDA: [&str; 2] = ["wxWindowClassNR", "NVDA"];
const JAWS: [&str; 2] = ["JFWUI2", "JAWS"];

/// The registry key and value in which Narrator records that it is running.
const NARRATOR: [&str; 2] = [r"Software\Microsoft\Narrator\NoRoam", "RunningState"];

/// Returns the signs that the system reports.
pub fn marks() -> Vec<SignCheck> {
    let window = |[class, title]: [&str; 2]| Ok(native::has_window(class, title));
    let narrator = native::number_of_person(NARRATOR[0], NARRATOR[1]);
    let looks: [(ReaderSign, io::Result<bool>); 4] = [
        (ReaderSign::Nvda, window(NVDA)),
        (ReaderSign::Jaws, window(JAWS)),
        (
            ReaderSign::Narrator,
            narrator.map(|number| number == Some(1)),
        ),
        (ReaderSign::Flag, native::screen_reader()),
    ];
    looks
        .into_iter()
        .map(|(sign, seen)| SignCheck {
            sign,
            seen: seen.map_err(|error| error.kind()),
        })
        .collect()
}
