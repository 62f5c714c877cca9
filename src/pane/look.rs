//! How the pane looks: three themes, none of which conveys anything by colour or weight alone.

use ratatui::style::{Color, Modifier, Style};

use crate::announce::normalise::TextLook;
use crate::config::ThemeChoice;

use super::highlight::Ink;

/// How the pane looks; meaning never depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// The theme.
    pub theme: ThemeChoice,
    /// Whether everything is stacked at any width, because a screen reader reads rows.
    pub stacked: bool,
}

impl Look {
    /// Returns the style of normal text.
    pub(super) fn text(self) -> Style {
        Style::new()
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
            (ThemeChoice::HighContrast, '+' | '-') => Style::new().add_modifier(Modifier::BOLD),
            _ => self.text(),
        }
    }

    /// Returns the style of the words that change within a line.
    pub(super) fn changed_words(self) -> Style {
        Style::new()
            .add_modifier(Modifier::BOLD)
            .add_modifier(Modifier::UNDERLINED)
    }

    /// Returns the style of the searched words in the row that has the person's attention.
    pub(super) fn hit(self) -> Style {
        let style = Style::new().add_modifier(Modifier::UNDERLINED);
        match self.theme {
            ThemeChoice::Terminal | ThemeChoice::Plain => style.remove_modifier(Modifier::REVERSED),
            ThemeChoice::HighContrast => style.fg(Color::White).bg(Color::Black),
        }
    }

    /// Returns whether code has colours.
    pub(super) fn has_colours(self) -> bool {
        match self.theme {
            ThemeChoice::Terminal => true,
            ThemeChoice::HighContrast | ThemeChoice::Plain => false,
        }
    }

    /// Returns the style of a word of code, in the terminal's own colours; red is for dangers alone.
    pub(super) fn ink(self, ink: Ink) -> Style {
        let style = Style::new();
        match ink {
            _ if !self.has_colours() => style,
            Ink::Comment => style.add_modifier(Modifier::ITALIC),
            Ink::Text => style.fg(Color::Green),
            Ink::Constant => style.fg(Color::Yellow),
            Ink::Keyword => style.fg(Color::Magenta),
            Ink::Function => style.fg(Color::Blue),
            Ink::Type => style.fg(Color::Cyan),
        }
    }

    /// Returns the style of marked words in an agent's text.
    pub(super) fn words(self, look: TextLook) -> Style {
        let style = Style::new();
        match (look, self.theme) {
            (TextLook::Strong, _) => style.add_modifier(Modifier::BOLD),
            (TextLook::Emphasis, _) => style.add_modifier(Modifier::ITALIC),
            (TextLook::Struck, _) => style.add_modifier(Modifier::CROSSED_OUT),
            (TextLook::Code, ThemeChoice::Terminal) => style.fg(Color::Cyan),
            (TextLook::Code, ThemeChoice::HighContrast | ThemeChoice::Plain)
            | (TextLook::Link, _) => style.add_modifier(Modifier::UNDERLINED),
        }
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
