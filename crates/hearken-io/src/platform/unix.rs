//! Linux, macOS and their relatives.

pub mod files;
pub mod keyboard;
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
