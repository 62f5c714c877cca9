//! NVDA's controller client, a library that comes with NVDA and not with hearken.

use std::io;
use std::path::Path;

use super::native::Library;

/// Whether this system can have it.
pub const THERE: bool = true;

/// The library's functions. Each asks the NVDA that runs, and gives the code of what went wrong.
#[derive(Debug, Clone, Copy)]
pub struct Client {
    library: Library,
}

fn outcome(code: u32) -> Result<(), u32> {
    if code == 0 { Ok(()) } else { Err(code) }
}

impl Client {
    /// Loads the library.
    ///
    /// # Errors
    /// What the system says; `NotFound` without a text for a library that is older than its second version.
    pub fn load(library: &Path) -> io::Result<Self> {
        Library::load(library).map(|library| Self { library })
    }

    /// Asks whether NVDA runs.
    pub fn is_running(&self) -> Result<(), u32> {
        outcome(self.library.test_if_running())
    }

    /// Asks whether it takes SSML and tells the end of it.
    pub fn takes_ssml(&self) -> Result<(), u32> {
        outcome(self.library.process_id())
    }

    /// Has it say SSML, and waits until that is over.
    pub fn speak(&self, ssml: &str) -> Result<(), u32> {
        outcome(self.library.speak_ssml(ssml))
    }

    /// Has it fall silent.
    pub fn cancel(&self) -> Result<(), u32> {
        outcome(self.library.cancel_speech())
    }

    /// Has it show a text in braille for a while.
    pub fn braille(&self, text: &str) -> Result<(), u32> {
        outcome(self.library.braille_message(text))
    }
}
