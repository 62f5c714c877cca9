//! How the pane looks: three themes, in none of which a colour or a weight alone tells anything.

use ratatui::style::{Color, Modifier, Style};

use crate::config::ThemeChoice;

/// How the pane looks; meaning never hangs on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// The theme.
    pub theme: ThemeChoice,
}

impl Look {
    /// Is the usual text.
    pub(super) fn text(self) -> Style {
        match self.theme {
            ThemeChoice::Terminal | ThemeChoice::Plain => Style::new(),
            ThemeChoice::HighContrast => Style::new().add_modifier(Modifier::BOLD),
        }
    }

    /// Is the program's own headings and what is typed.
    pub(super) fn heading(self) -> Style {
        let bold = Style::new().add_modifier(Modifier::BOLD);
        match self.theme {
            ThemeChoice::Terminal | ThemeChoice::Plain => bold,
            ThemeChoice::HighContrast => bold.add_modifier(Modifier::UNDERLINED),
        }
    }

    /// Is the head of a region: the line under it goes on to the region's edge, and needs no sign.
    pub(super) fn region(self) -> Style {
        Style::new()
            .add_modifier(Modifier::BOLD)
            .add_modifier(Modifier::UNDERLINED)
    }

    /// Is what the program itself says beside an agent's words.
    pub(super) fn own(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Is the row that has the person's attention.
    pub(super) fn alert(self) -> Style {
        let bold = Style::new().add_modifier(Modifier::BOLD);
        match self.theme {
            ThemeChoice::Terminal => bold.add_modifier(Modifier::REVERSED).fg(Color::Yellow),
            ThemeChoice::HighContrast => bold.fg(Color::Black).bg(Color::White),
            ThemeChoice::Plain => bold.add_modifier(Modifier::REVERSED),
        }
    }

    /// Is what went wrong or is dangerous.
    pub(super) fn danger(self) -> Style {
        let bold = Style::new().add_modifier(Modifier::BOLD);
        match self.theme {
            ThemeChoice::Terminal => bold.fg(Color::Red),
            ThemeChoice::HighContrast => bold.fg(Color::Black).bg(Color::Yellow),
            ThemeChoice::Plain => bold.add_modifier(Modifier::UNDERLINED),
        }
    }

    /// Is what may be read last.
    pub(super) fn quiet(self) -> Style {
        match self.theme {
            ThemeChoice::Terminal => Style::new().fg(Color::Cyan),
            // Never dimmed: dimming takes from the contrast.
            ThemeChoice::HighContrast | ThemeChoice::Plain => self.text(),
        }
    }
}
