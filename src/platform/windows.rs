//! Windows.

pub(crate) mod files;
pub(crate) mod keyboard;
pub(crate) mod numbered;
pub(crate) mod processes;
pub(crate) mod signals;
pub(crate) mod sockets;
pub(crate) mod terminal;
