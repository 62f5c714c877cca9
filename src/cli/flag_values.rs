//! Flag values that are more than a word: ends of a run, widths, numbers.

use std::time::Duration;

use crate::app::EndCondition;

/// Why a value can't be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadValue {
    /// Not an end of a run.
    #[error("ended, or idle: and seconds")]
    Until,
    /// Idle seconds out of range.
    #[error("1 to 86400 seconds")]
    Idle,
    /// Not a width.
    #[error("a whole number from 20 to 65535")]
    Width,
    /// Not a number of attempts.
    #[error("a whole number from 0 to 4294967295")]
    Retries,
    /// Not a speed.
    #[error("a number from 0.01 to 1000")]
    Speed,
    /// Not a whole number from 1 to this one.
    #[error("a whole number from 1 to {0}")]
    Count(u32),
}

pub(super) fn until(text: &str) -> Result<EndCondition, BadValue> {
    match text.strip_prefix("idle:") {
        None if text == "ended" => Ok(EndCondition::Ended),
        None => Err(BadValue::Until),
        Some(seconds) => match seconds.parse::<u64>() {
            Ok(seconds) if (1..=86_400).contains(&seconds) => {
                Ok(EndCondition::Idle(Duration::from_secs(seconds)))
            }
            Ok(_) | Err(_) => Err(BadValue::Idle),
        },
    }
}

pub(super) fn width(text: &str) -> Result<u16, BadValue> {
    match text.parse::<u16>() {
        Ok(width @ (0 | 20..)) => Ok(width),
        Ok(_) | Err(_) => Err(BadValue::Width),
    }
}

pub(super) fn retries(text: &str) -> Result<u32, BadValue> {
    text.parse::<u32>().map_err(|_| BadValue::Retries)
}

pub(super) fn speed(text: &str) -> Result<f64, BadValue> {
    match text.parse::<f64>() {
        Ok(speed) if (0.01..=1000.0).contains(&speed) => Ok(speed),
        Ok(_) | Err(_) => Err(BadValue::Speed),
    }
}

/// Parses a whole number from 1 to `MOST`.
pub(super) fn count<const MOST: u32>(text: &str) -> Result<u32, BadValue> {
    match text.parse::<u32>() {
        Ok(count) if (1..=MOST).contains(&count) => Ok(count),
        Ok(_) | Err(_) => Err(BadValue::Count(MOST)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_read() {
        assert_eq!(until("ended"), Ok(EndCondition::Ended));
        assert_eq!(
            until("idle:5"),
            Ok(EndCondition::Idle(Duration::from_secs(5)))
        );
        assert!(until("idle:").is_err() && until("idle:0").is_err() && until("never").is_err());
        assert!(speed("0").is_err() && speed("nan").is_err() && speed("2").is_ok());
        assert!(width("19").is_err() && width("x").is_err());
        assert!(width("0") == Ok(0) && width("20") == Ok(20));
        assert!(retries("-1").is_err() && retries("0").is_ok());
        assert_eq!(count::<9>("9"), Ok(9));
        assert_eq!(count::<9>("10"), Err(BadValue::Count(9)));
        assert!(count::<9>("0").is_err() && count::<9>("x").is_err());
    }
}
