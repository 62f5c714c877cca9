//! Mouse reports in the form that hearken asks for: SGR, mode 1006.
//!
//! Not here: what a click does (`app`), reports in other forms, which are noise (`stroke_reader`).

/// A mouse report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MouseReport {
    /// The left button was pressed, alone: the column and the row, from 1.
    Click(u16, u16),
    /// The wheel was turned; `true` for up.
    Wheel(bool),
    /// Any other report.
    Other,
}

/// The number of the left button, and those of the wheel.
const LEFT: u16 = 0;
const UP: u16 = 64;
const DOWN: u16 = 65;

/// Reads a report from the bytes between `ESC [` and its last byte, and that byte; `None` if it is not a
/// report.
pub(super) fn read(parameters: &[u8], last: u8) -> Option<MouseReport> {
    let numbers = std::str::from_utf8(parameters).ok()?.strip_prefix('<')?;
    let mut numbers = numbers.split(';').map(|number| {
        let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
        number.parse::<u16>().ok().filter(|_| is_number)
    });
    let (button, column, row) = (numbers.next()??, numbers.next()??, numbers.next()??);
    if numbers.next().is_some() || column == 0 || row == 0 {
        return None;
    }
    match (last, button) {
        (b'M', LEFT) => Some(MouseReport::Click(column, row)),
        (b'M', UP | DOWN) => Some(MouseReport::Wheel(button == UP)),
        (b'M' | b'm', _) => Some(MouseReport::Other),
        (_, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_report_of_the_left_button_is_a_click() {
        let click = |column, row| Some(MouseReport::Click(column, row));
        assert_eq!(read(b"<0;12;3", b'M'), click(12, 3));
        assert_eq!(read(b"<64;12;3", b'M'), Some(MouseReport::Wheel(true)));
        assert_eq!(read(b"<65;12;3", b'M'), Some(MouseReport::Wheel(false)));
        for other in [
            (&b"<0;12;3"[..], b'm'),
            (b"<2;12;3", b'M'),
            (b"<4;12;3", b'M'),
        ] {
            assert_eq!(read(other.0, other.1), Some(MouseReport::Other));
        }
        let broken: [&[u8]; 9] = [
            b"0;12;3",
            b"<0;12",
            b"<0;12;",
            b"<0;12;3;4",
            b"<0;0;3",
            b"<0;+1;3",
            b"<0;99999;3",
            b"<",
            b"<0;1\xff;3",
        ];
        for broken in broken {
            assert_eq!(read(broken, b'M'), None, "{broken:?}");
        }
        assert_eq!(read(b"<0;12;3", b'y'), None);
    }
}
