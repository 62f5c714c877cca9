//! The language in which the program's own words are written and spoken.

/// The language of the program's own words.
///
/// Every announcement carries its own: after a change of language, earlier announcements keep the voice
/// that can speak them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SpokenLanguage {
    /// The language of the words (BCP 47).
    pub language: String,
    /// The tag for a voice that speaks them; `None` leaves it to the engine's own default.
    pub voice: Option<String>,
}
