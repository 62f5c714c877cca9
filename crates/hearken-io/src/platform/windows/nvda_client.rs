//! NVDA's controller client: a library that comes with NVDA, not with hearken.

use std::io;
use std::path::Path;

use super::native::Library;

/// The library's functions. Each asks the running NVDA and returns its error code on failure.
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
    /// The system's error; `NotFound` without a text for a library older than version 2.
    pub fn load(library: &Path) -> io::Result<Self> {
        Library::load(library).map(|library| Self { library })
    }

    /// Asks whether NVDA is running.
    pub fn is_running(&self) -> Result<(), u32> {
        outcome(self.library.test_if_running())
    }

    /// Asks whether NVDA accepts SSML and reports when it has finished speaking.
    pub fn takes_ssml(&self) -> Result<(), u32> {
        outcome(self.library.process_id())
    }

    /// Makes NVDA speak SSML, and waits until it has finished.
    pub fn speak(&self, ssml: &str) -> Result<(), u32> {
        outcome(self.library.speak_ssml(ssml))
    }

    /// Silences NVDA.
    pub fn cancel(&self) -> Result<(), u32> {
        outcome(self.library.cancel_speech())
    }

    /// Makes NVDA show a text in braille for a while.
    pub fn braille(&self, text: &str) -> Result<(), u32> {
        outcome(self.library.braille_message(text))
    }
}
