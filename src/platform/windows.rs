//! Windows.

pub(crate) mod files;
pub(crate) mod keyboard;
mod native;
pub(crate) mod numbered;
pub(crate) mod nvda;
pub(crate) mod pipes;
pub(crate) mod processes;
pub(crate) mod readers;
pub(crate) mod signals;
pub(crate) mod sockets;
pub(crate) mod spending;
pub(crate) mod stdout;
pub(crate) mod terminal;
pub(crate) mod zone;
