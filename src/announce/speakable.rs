//! The one door through which an agent's text passes before it is shown or spoken.

/// Says how an agent's text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// As running text: structure in words, long things short.
    Prose,
    /// As part of a question: nothing is left out, every sign is said.
    Exact,
}

/// Cleans a text for the screen, a notification or a log: one line, no control or hidden characters.
pub fn one_line(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .filter(|c| !c.is_control())
        .collect()
}

/// Turns a text into the words that are spoken.
pub fn speak(text: &str, profile: Profile) -> String {
    let _ = profile;
    one_line(text)
}

/// Tells whether a text holds characters that are removed because nobody could see or hear them.
pub fn hides(text: &str) -> bool {
    text.chars()
        .any(|c| c.is_control() && c != '\n' && c != '\t')
}
