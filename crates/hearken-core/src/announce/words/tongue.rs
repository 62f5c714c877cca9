//! In which language the program's own words are written and spoken.

/// Says in which language the program's own words are.
///
/// Every announcement carries its own: after a change of language, what was made before keeps the voice
/// that can speak it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tongue {
    /// The language of the words (BCP 47).
    pub language: String,
    /// The tag for a voice that speaks them; absent leaves it to the engine's own default.
    pub voice: Option<String>,
}
