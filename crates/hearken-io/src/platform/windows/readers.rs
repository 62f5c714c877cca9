//! Signs of screen readers: the system's own flag, the windows of NVDA and JAWS, and what Narrator writes down.
//!
//! Narrator sets no flag and has no window of a name that is promised; it says in the person's part of the registry whether
//! it runs.

use std::io;

use super::native;
use crate::platform::{Mark, Sign};

/// The folder of processes, where the system shows them as one.
pub const PROCESSES: Option<&str> = None;

/// The class and the title of a window that is there as long as the reader is.
const NVDA: [&str; 2] = ["wxWindowClassNR", "NVDA"];
const JAWS: [&str; 2] = ["JFWUI2", "JAWS"];

/// The key and the value in which Narrator says that it runs.
const NARRATOR: [&str; 2] = [r"Software\Microsoft\Narrator\NoRoam", "RunningState"];

/// Asks the system.
pub fn marks() -> Vec<Mark> {
    let window = |[class, title]: [&str; 2]| Ok(native::has_window(class, title));
    let narrator = native::number_of_person(NARRATOR[0], NARRATOR[1]);
    let looks: [(Sign, io::Result<bool>); 4] = [
        (Sign::Nvda, window(NVDA)),
        (Sign::Jaws, window(JAWS)),
        (Sign::Narrator, narrator.map(|number| number == Some(1))),
        (Sign::Flag, native::screen_reader()),
    ];
    looks
        .into_iter()
        .map(|(sign, seen)| Mark {
            sign,
            seen: seen.map_err(|error| error.kind()),
        })
        .collect()
}
