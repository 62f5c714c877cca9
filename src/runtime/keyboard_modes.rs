//! Keyboard modes that another program may have left turned on: they change what keys send.
//!
//! Responsibilities: the sequences that set these modes aside and put them back. Not here: reading keys that come in
//! such a mode all the same (`keys`), hearken's own modes (`face_screen`, `line_terminal`).
//!
//! A terminal that can't save a mode keeps it turned off, which is how every program expects it.

use crate::config::MouseChoice;

/// The private modes: application cursor keys, mouse reports, and the keys of a Windows console.
macro_rules! private {
    ($does:literal) => {
        concat!("\x1b[?1;9;1000;1002;1003;1005;1006;1015;9001", $does)
    };
}

/// Saves the modes and turns them off; with kitty's protocol, none of its forms from here on.
pub(super) const SET_ASIDE: &str = concat!(private!("s"), private!("l"), "\x1b[>4;0m\x1b[>0u");
/// Restores what was saved.
pub(super) const PUT_BACK: &str = concat!("\x1b[<u\x1b[>4m", private!("r"));

/// Returns what a mouse sends: its wheel as the arrow keys, so that everything else about it stays the terminal's own
/// and text can be selected; or presses and the wheel as reports with numbers; or nothing.
pub(super) fn mouse(choice: MouseChoice) -> &'static str {
    match choice {
        MouseChoice::Wheel => "\x1b[?1007s\x1b[?1007h",
        MouseChoice::Click => "\x1b[?1007s\x1b[?1007l\x1b[?1000h\x1b[?1006h",
        MouseChoice::Off => "\x1b[?1007s\x1b[?1007l",
    }
}

/// Ends reports, and restores what the wheel did before; what reports were before is among the private modes.
pub(super) const MOUSE_BACK: &str = "\x1b[?1006l\x1b[?1000l\x1b[?1007r";
