//! The form of a timestamp (3.2.5).

use jiff::Timestamp;

/// How well a text conforms to 3.2.5.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StampVerdict {
    /// It conforms.
    Good,
    /// It is not a time in that form.
    NoTime,
    /// Its fraction does not have 0, 3 or 6 digits.
    Fraction,
    /// It is a time that no producer can mean.
    Placeholder,
}

/// Reads a time leniently, in more forms than 3.2.5 allows.
pub(super) fn read(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

/// Judges whether a text conforms to 3.2.5.
pub(super) fn judge(text: &str) -> StampVerdict {
    match examine(text) {
        Ok(_) => StampVerdict::Good,
        Err(verdict) => verdict,
    }
}

/// Returns the time of a text that conforms to 3.2.5, or else the verdict on the text.
pub(super) fn examine(text: &str) -> Result<Timestamp, StampVerdict> {
    let digits = fraction(text).ok_or(StampVerdict::NoTime)?;
    let time = read(text).ok_or(StampVerdict::NoTime)?;
    if !matches!(digits, 0 | 3 | 6) {
        return Err(StampVerdict::Fraction);
    }
    // No producer means the Unix epoch, the first years or the last one.
    let year = &text[..4];
    if time == Timestamp::UNIX_EPOCH || year == "0001" || year == "0000" || year == "9999" {
        return Err(StampVerdict::Placeholder);
    }
    Ok(time)
}

/// Returns the number of fraction digits of a text in the form `YYYY-MM-DDTHH:MM:SS.sssZ` or with an offset
/// `±HH:MM`; `None` for any other form.
fn fraction(text: &str) -> Option<usize> {
    let (date, rest) = text.split_at_checked(19)?;
    let fits = date.bytes().zip(*b"0000-00-00T00:00:00").all(|(b, form)| {
        if form == b'0' {
            b.is_ascii_digit()
        } else {
            b == form
        }
    });
    let (fraction, zone) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(rest.bytes().take_while(u8::is_ascii_digit).count()),
        None => ("", rest),
    };
    let zone_fits = zone == "Z"
        || (zone.len() == 6
            && zone.bytes().zip(*b"+00:00").all(|(b, form)| match form {
                b'0' => b.is_ascii_digit(),
                b'+' => b == b'+' || b == b'-',
                _ => b == form,
            }));
    let empty_fraction = rest.starts_with('.') && fraction.is_empty();
    (fits && zone_fits && !empty_fraction).then_some(fraction.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_forms_of_the_chapter_are_good() {
        for text in [
            "2026-05-24T14:22:11Z",
            "2026-05-24T14:22:11.342Z",
            "2026-05-24T14:22:11.342567Z",
            "2026-05-24T15:22:11.342+01:00",
            "2026-05-24T15:22:11-05:30",
        ] {
            assert_eq!(judge(text), StampVerdict::Good, "{text}");
        }
        for text in [
            "",
            "now",
            "May 24, 2026 14:22:11",
            "2026-05-24",
            "2026-05-24T14:22:11",
            "2026-05-24 14:22:11Z",
            "2026-05-24t14:22:11z",
            "2026-05-24T14:22:11+0100",
            "2026-05-24T14:22:11+01",
            "2026-05-24T14:22:11,342Z",
            "2026-05-24T14:22:11.Z",
            "2026-13-24T14:22:11Z",
            "2026-05-24T14:22:11Z[UTC]",
            "2026-05-24T14:22:1é",
            "1779632531",
        ] {
            assert_eq!(judge(text), StampVerdict::NoTime, "{text}");
        }
        for text in [
            "2026-05-24T14:22:11.3Z",
            "2026-05-24T14:22:11.34Z",
            "2026-05-24T14:22:11.123456789Z",
        ] {
            assert_eq!(judge(text), StampVerdict::Fraction, "{text}");
        }
        for text in ["1970-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"] {
            assert_eq!(judge(text), StampVerdict::Placeholder, "{text}");
        }
    }
}
