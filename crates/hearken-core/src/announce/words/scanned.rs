//! The items that one or two switches step through, in two words each.
//!
//! Responsibilities: which phrase names which command. Not here: what can be scanned when (`app`).

/// The commands that can be scanned, by their names in the table of keys, and the phrases that name them.
pub const SCANNED: &[(&str, &str)] = &[
    ("accept", "scan.accept"),
    ("reject", "scan.reject"),
    ("confirm", "scan.confirm"),
    ("explain", "scan.explain"),
    ("choose", "scan.choose"),
    ("answer", "scan.answer"),
    ("details", "scan.details"),
    ("read_on", "scan.read_on"),
    ("read_back", "scan.read_back"),
    ("next_question", "scan.next_question"),
    ("prompt", "scan.prompt"),
    ("stop_turn", "scan.stop_turn"),
    ("stop", "scan.stop"),
    ("go_on", "scan.go_on"),
    ("repeat", "scan.repeat"),
    ("status", "scan.status"),
    ("previous", "scan.previous"),
    ("next", "scan.next"),
    ("away", "scan.away"),
    ("leave", "scan.leave"),
    ("quit", "scan.quit"),
];

/// Returns the phrase that names a command.
pub fn scanned(command: &str) -> Option<&'static str> {
    let mut named = SCANNED.iter().filter(|(name, _)| *name == command);
    named.next().map(|(_, phrase)| *phrase)
}
