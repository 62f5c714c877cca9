//! The flags of `hearken mcp`.

use clap::Args;

/// How to serve tools to an agent.
#[derive(Debug, Clone, Copy, Args)]
pub struct ToolServing {
    /// Offer Claude Code a channel, too; Claude Code needs a flag of its own for that
    #[arg(long)]
    pub channel: bool,
}
