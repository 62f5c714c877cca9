//! Keyboard modes that another program may have left turned on: they change what keys send.
//!
//! Responsibilities: the sequences that set these modes aside and put them back. Not here: reading keys that come in
//! such a mode all the same (`keys`), hearken's own modes (`face_screen`, `line_terminal`).
//!
//! A terminal that can't save a mode keeps it turned off, which is how every program expects it.

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

/// Has the wheel of a mouse sent as the arrow keys, which only look back; everything else of the mouse stays the terminal's
/// own, so that text can be selected.
pub(super) const WHEEL_ON: &str = "\x1b[?1007s\x1b[?1007h";
/// Has the wheel ignored: beside a screen reader nothing but a key moves anything.
pub(super) const WHEEL_OFF: &str = "\x1b[?1007s\x1b[?1007l";
/// Restores what the wheel did before.
pub(super) const WHEEL_BACK: &str = "\x1b[?1007r";
