//! Values on the command line that are chosen by a word.

use clap::ValueEnum;

/// What to do with hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HookAction {
    /// Write them
    Install,
    /// Remove them again, and leave all others
    Uninstall,
    /// Pass one message of a hook from standard input to the listening hearken; the hooks call this
    Relay,
}

/// The format of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TraceFormat {
    /// Plain lines
    Text,
    /// Markdown with one Mermaid diagram per session
    Mermaid,
    /// One JSON object per line
    Json,
}
