//! NVDA's controller client: the library exists only on Windows, so this type has no values.

use std::io;
use std::path::Path;

/// A type without values.
#[derive(Debug, Clone, Copy)]
#[allow(
    dead_code,
    reason = "builds without the system's own speech have nobody who would ask for it"
)]
pub enum Client {}

#[allow(dead_code, reason = "as above")]
impl Client {
    /// Always fails.
    ///
    /// # Errors
    /// Always.
    pub fn load(_library: &Path) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Never called: the type has no values.
    pub fn is_running(&self) -> Result<(), u32> {
        match *self {}
    }

    /// Never called: the type has no values.
    pub fn takes_ssml(&self) -> Result<(), u32> {
        match *self {}
    }

    /// Never called: the type has no values.
    pub fn speak(&self, _ssml: &str) -> Result<(), u32> {
        match *self {}
    }

    /// Never called: the type has no values.
    pub fn cancel(&self) -> Result<(), u32> {
        match *self {}
    }

    /// Never called: the type has no values.
    pub fn braille(&self, _text: &str) -> Result<(), u32> {
        match *self {}
    }
}
