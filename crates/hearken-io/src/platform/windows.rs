//! Windows.

pub mod files;
pub mod keyboard;
mod native;
pub mod numbered;
pub mod nvda;
pub mod pipes;
pub mod processes;
pub mod readers;
pub mod signals;
pub mod sockets;
pub mod spending;
pub mod stdout;
pub mod terminal;
pub mod zone;
