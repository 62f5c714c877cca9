//! The agents that are heard through hooks in their settings.

use clap::ValueEnum;

/// An agent that is heard through hooks in its settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ValueEnum)]
pub enum HookedAgent {
    /// The hooks of Claude Code
    Claude,
    /// The hooks of Codex
    Codex,
    /// The hooks of GitHub Copilot CLI
    Copilot,
    /// The hooks of Qwen Code
    Qwen,
    /// The hooks of Gemini CLI
    Gemini,
}

impl HookedAgent {
    /// Every agent with hooks. A message that names none is from the first.
    pub const ALL: [Self; 5] = [
        Self::Claude,
        Self::Codex,
        Self::Copilot,
        Self::Qwen,
        Self::Gemini,
    ];

    /// Returns its name on the command line, and in the path of its messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Copilot => "copilot",
            Self::Qwen => "qwen",
            Self::Gemini => "gemini",
        }
    }

    /// Returns its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Copilot => "Copilot CLI",
            Self::Qwen => "Qwen Code",
            Self::Gemini => "Gemini CLI",
        }
    }

    /// Returns whether its own terminal also asks while a hook waits for the person.
    pub fn asks_too(self) -> bool {
        match self {
            Self::Claude => true,
            Self::Codex | Self::Copilot | Self::Qwen | Self::Gemini => false,
        }
    }
}
