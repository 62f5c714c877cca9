//! NVDA's controller client: it is a library of Windows, so the type has no values.

use std::io;
use std::path::Path;

/// Whether this system can have it.
pub const THERE: bool = false;

/// Has no values.
#[derive(Debug, Clone, Copy)]
#[allow(
    dead_code,
    reason = "builds without the system's own speech have nobody who would ask for it"
)]
pub enum Client {}

#[allow(dead_code, reason = "as above")]
impl Client {
    /// Loads nothing.
    ///
    /// # Errors
    /// Always.
    pub fn load(_library: &Path) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Asks nobody.
    pub fn is_running(&self) -> Result<(), u32> {
        match *self {}
    }

    /// Asks nobody.
    pub fn takes_ssml(&self) -> Result<(), u32> {
        match *self {}
    }

    /// Says nothing.
    pub fn speak(&self, _ssml: &str) -> Result<(), u32> {
        match *self {}
    }

    /// Silences nobody.
    pub fn cancel(&self) -> Result<(), u32> {
        match *self {}
    }

    /// Shows nothing.
    pub fn braille(&self, _text: &str) -> Result<(), u32> {
        match *self {}
    }
}
