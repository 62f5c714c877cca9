//! Windows.

pub mod files;
pub mod keyboard;
mod native;
pub mod nvda_client;
pub mod pipes;
pub mod process_number;
pub mod processes;
pub mod reader_signs;
pub mod resource_use;
pub mod sockets;
pub mod stdout;
pub mod system_signals;
pub mod terminal;
pub mod zone;
