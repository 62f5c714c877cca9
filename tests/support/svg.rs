//! A screen as a picture: an SVG file in the colours of a dark terminal.

use std::fmt::Write;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

/// The size of a cell, in pixels.
const CELL: (u16, u16) = (9, 20);
/// The margin around the screen, in pixels.
const EDGE: u16 = 12;
const PAPER: &str = "#1b1b1f";
const INK: &str = "#e6e6e6";

fn colour(colour: Color, usual: &'static str) -> &'static str {
    match colour {
        Color::Black => "#000000",
        Color::White => "#ffffff",
        Color::Red => "#ff7b72",
        Color::Yellow => "#f2cc60",
        Color::Cyan => "#76e3ea",
        Color::Green => "#7ee787",
        Color::Magenta => "#d2a8ff",
        Color::Blue => "#79c0ff",
        _ => usual,
    }
}

fn colours(cell: &Cell) -> (&'static str, &'static str) {
    let (ink, paper) = (colour(cell.fg, INK), colour(cell.bg, PAPER));
    if cell.modifier.contains(Modifier::REVERSED) {
        (paper, ink)
    } else {
        (ink, paper)
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Returns a screen as a picture, with a title that describes it.
pub fn picture(buffer: &Buffer, title: &str) -> String {
    let area = buffer.area;
    let (width, height) = (
        area.width * CELL.0 + 2 * EDGE,
        area.height * CELL.1 + 2 * EDGE,
    );
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"15\">\n\
         <title>{}</title>\n<rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"{PAPER}\"/>\n",
        escaped(title)
    );
    for y in 0..area.height {
        let mut x = 0;
        while x < area.width {
            let first = &buffer[(x, y)];
            let same =
                |cell: &Cell| colours(cell) == colours(first) && cell.modifier == first.modifier;
            let end = (x..area.width)
                .find(|at| !same(&buffer[(*at, y)]))
                .unwrap_or(area.width);
            let text: String = (x..end).map(|at| buffer[(at, y)].symbol()).collect();
            let (ink, paper) = colours(first);
            let (left, top) = (EDGE + x * CELL.0, EDGE + y * CELL.1);
            let wide = (end - x) * CELL.0;
            if paper != PAPER {
                let _ = writeln!(
                    out,
                    "<rect x=\"{left}\" y=\"{top}\" width=\"{wide}\" height=\"{}\" fill=\"{paper}\"/>",
                    CELL.1
                );
            }
            if first.modifier.contains(Modifier::UNDERLINED) {
                let _ = writeln!(
                    out,
                    "<rect x=\"{left}\" y=\"{}\" width=\"{wide}\" height=\"1\" fill=\"{ink}\"/>",
                    top + CELL.1 - 2
                );
            }
            if !text.trim().is_empty() {
                let bold = if first.modifier.contains(Modifier::BOLD) {
                    " font-weight=\"bold\""
                } else {
                    ""
                };
                let spaces = text.chars().take_while(|c| *c == ' ').count();
                let shift = u16::try_from(spaces).unwrap_or(0) * CELL.0;
                let text = text.trim();
                let length =
                    u16::try_from(unicode_width::UnicodeWidthStr::width(text)).unwrap_or(0);
                let _ = writeln!(
                    out,
                    "<text x=\"{}\" y=\"{}\" fill=\"{ink}\"{bold} textLength=\"{}\" xml:space=\"preserve\">{}</text>",
                    left + shift,
                    top + 15,
                    length * CELL.0,
                    escaped(text)
                );
            }
            x = end;
        }
    }
    out.push_str("</svg>\n");
    out
}
