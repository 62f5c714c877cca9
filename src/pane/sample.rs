//! How a theme looks, on a few rows outside the pane: for a person who chooses one.

use ratatui::style::{Color, Modifier, Style};

use crate::config::ThemeChoice;

use super::look::Look;

/// Returns a row for each of these: what has the person's attention, a danger, hearken's own words, what may be read
/// last. A terminal shows them in the theme; for anything else they are plain text.
pub fn sample(theme: ThemeChoice, is_terminal: bool, words: [String; 4]) -> String {
    let look = Look {
        theme,
        stacked: false,
    };
    let styles = [look.alert(), look.danger(), look.own(), look.quiet()];
    let rows = words.into_iter().zip(styles);
    let rows = rows.map(|(words, style)| match is_terminal {
        true => format!("\x1b[{}m{words}\x1b[0m", codes(style)),
        false => words,
    });
    rows.collect::<Vec<_>>().join("\n")
}

/// Returns the numbers of a style for the terminal.
fn codes(style: Style) -> String {
    let modifiers = [
        (Modifier::BOLD, "1"),
        (Modifier::UNDERLINED, "4"),
        (Modifier::REVERSED, "7"),
    ];
    let modifiers = modifiers
        .into_iter()
        .filter(|(modifier, _)| style.add_modifier.contains(*modifier))
        .map(|(_, code)| code.to_owned());
    let colour = |colour: Option<Color>, base: u8| Some((number(colour?)? + base).to_string());
    let colours = [colour(style.fg, 30), colour(style.bg, 40)];
    let all = std::iter::once("0".to_owned()).chain(modifiers);
    let all: Vec<String> = all.chain(colours.into_iter().flatten()).collect();
    all.join(";")
}

/// Returns the number of one of the terminal's own colours; `None` for any other, which no theme has.
fn number(colour: Color) -> Option<u8> {
    const DIM: [Color; 8] = [
        Color::Black,
        Color::Red,
        Color::Green,
        Color::Yellow,
        Color::Blue,
        Color::Magenta,
        Color::Cyan,
        Color::Gray,
    ];
    const BRIGHT: [Color; 8] = [
        Color::DarkGray,
        Color::LightRed,
        Color::LightGreen,
        Color::LightYellow,
        Color::LightBlue,
        Color::LightMagenta,
        Color::LightCyan,
        Color::White,
    ];
    let among = |colours: [Color; 8], from: u8| {
        let at = colours.iter().position(|it| *it == colour)?;
        Some(u8::try_from(at).ok()? + from)
    };
    // The bright ones begin sixty after the others.
    among(DIM, 0).or_else(|| among(BRIGHT, 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_theme_has_its_own_look_and_a_pipe_has_none() {
        let words = || ["one", "two", "three", "four"].map(str::to_owned);
        let shown = |theme, is_terminal| sample(theme, is_terminal, words());
        assert_eq!(
            shown(ThemeChoice::Terminal, true),
            "\x1b[0;1;7;33mone\x1b[0m\n\x1b[0;1;31mtwo\x1b[0m\n\x1b[0;1mthree\x1b[0m\n\x1b[0;36mfour\x1b[0m"
        );
        assert_eq!(
            shown(ThemeChoice::HighContrast, true),
            "\x1b[0;1;30;107mone\x1b[0m\n\x1b[0;1;30;43mtwo\x1b[0m\n\x1b[0;1mthree\x1b[0m\n\x1b[0mfour\x1b[0m"
        );
        assert_eq!(
            shown(ThemeChoice::Plain, true),
            "\x1b[0;1;7mone\x1b[0m\n\x1b[0;1;4mtwo\x1b[0m\n\x1b[0;1mthree\x1b[0m\n\x1b[0mfour\x1b[0m"
        );
        assert_eq!(shown(ThemeChoice::Terminal, false), "one\ntwo\nthree\nfour");
    }
}
