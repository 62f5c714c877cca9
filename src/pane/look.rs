//! How the pane looks: three themes, none of which conveys anything by colour or weight alone.

use ratatui::style::{Color, Modifier, Style};

use crate::config::ThemeChoice;

/// How the pane looks; meaning never depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// The theme.
    pub theme: ThemeChoice,
}

impl Look {
    /// Returns the style of normal text.
    pub(super) fn text(self) -> Style {
        match self.theme {
            ThemeChoice::Terminal | ThemeChoice::Plain => Style::new(),
            ThemeChoice::HighContrast => Style::new().add_modifier(Modifier::BOLD),
        }
    }

    /// Returns the style of the program's own headings and of typed text.
    pub(super) fn heading(self) -> Style {
        let bold = Style::new().add_modifier(Modifier::BOLD);
        match self.theme {
            ThemeChoice::Terminal | ThemeChoice::Plain => bold,
            ThemeChoice::HighContrast => bold.add_modifier(Modifier::UNDERLINED),
        }
    }

    /// Returns the style of a region's head: its underline continues to the region's edge, and
    /// needs no sign.
    pub(super) fn region(self) -> Style {
        Style::new()
            .add_modifier(Modifier::BOLD)
            .add_modifier(Modifier::UNDERLINED)
    }

    /// Returns the style of the program's own words next to an agent's.
    pub(super) fn own(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Returns the style of the row that has the person's attention.
    pub(super) fn alert(self) -> Style {
        let bold = Style::new().add_modifier(Modifier::BOLD);
        match self.theme {
            ThemeChoice::Terminal => bold.add_modifier(Modifier::REVERSED).fg(Color::Yellow),
            ThemeChoice::HighContrast => bold.fg(Color::Black).bg(Color::White),
            ThemeChoice::Plain => bold.add_modifier(Modifier::REVERSED),
        }
    }

    /// Returns the style of dangers and of a high risk, which nothing else has.
    pub(super) fn danger(self) -> Style {
        let bold = Style::new().add_modifier(Modifier::BOLD);
        match self.theme {
            ThemeChoice::Terminal => bold.fg(Color::Red),
            ThemeChoice::HighContrast => bold.fg(Color::Black).bg(Color::Yellow),
            ThemeChoice::Plain => bold.add_modifier(Modifier::UNDERLINED),
        }
    }

    /// Returns the style of a failure: only dangers and a high risk are red.
    pub(super) fn failure(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Returns the style of a line that is added or removed; its sign says which.
    pub(super) fn changed_line(self, sign: char) -> Style {
        match (self.theme, sign) {
            (ThemeChoice::Terminal, '+') => Style::new().fg(Color::Green),
            (ThemeChoice::Terminal, '-') => Style::new().fg(Color::Magenta),
            _ => self.text(),
        }
    }

    /// Returns the style of the words that change within a line.
    pub(super) fn changed_words(self) -> Style {
        Style::new()
            .add_modifier(Modifier::BOLD)
            .add_modifier(Modifier::UNDERLINED)
    }

    /// Returns the style of what may be read last.
    pub(super) fn quiet(self) -> Style {
        match self.theme {
            ThemeChoice::Terminal => Style::new().fg(Color::Cyan),
            // Never dimmed: dimming reduces the contrast.
            ThemeChoice::HighContrast | ThemeChoice::Plain => self.text(),
        }
    }
}
