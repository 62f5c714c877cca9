//! A process that somebody else started: here nobody writes its number down, so there is none.

/// Has no values.
#[derive(Debug, Clone, Copy)]
pub enum Numbered {}

impl Numbered {
    /// Takes no number.
    pub fn new(_number: i32) -> Option<Self> {
        None
    }

    /// Returns the words that it was called with.
    pub fn call(self) -> Option<Vec<Vec<u8>>> {
        match self {}
    }

    /// Asks it to end.
    pub fn ask_to_end(self) {
        match self {}
    }

    /// Ends it.
    pub fn kill(self) {
        match self {}
    }
}
