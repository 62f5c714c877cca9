//! The keys of scanning, for people with one or two switches.

use std::time::Duration;

use crossterm::event::KeyEvent;

use crate::config::ScanConfig;

use super::{Chord, KeyError, Keymap};

/// The keys of scanning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scan {
    step: Option<Chord>,
    select: Chord,
    /// The delay after which it steps on its own; absent means never.
    pub auto: Option<Duration>,
}

/// The meaning of a key for scanning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScanKey {
    /// Step on.
    Step,
    /// Select.
    Select,
}

impl Scan {
    /// Reads the settings; returns `None` if scanning is off. Enter and Space are allowed here, because
    /// switches send them; they still never answer by themselves.
    ///
    /// # Errors
    /// For names that no key has, keys that mean something else, and half a pair.
    pub fn new(settings: &ScanConfig, map: &Keymap) -> Result<Option<Self>, KeyError> {
        let read = |command: &str, name: &String| {
            let chord = Chord::parse(name).ok_or_else(|| KeyError::UnknownKey {
                command: command.to_owned(),
                name: name.clone(),
            })?;
            match map.owner(chord) {
                Some(owner) => Err(KeyError::Conflict {
                    name: name.clone(),
                    first: owner.to_owned(),
                    second: command.to_owned(),
                }),
                None => Ok(chord),
            }
        };
        let steps = !settings.step.is_empty() || settings.auto_ms > 0;
        match (settings.select.is_empty(), steps) {
            (true, false) => return Ok(None),
            (true, true) | (false, false) => return Err(KeyError::HalfAScan),
            (false, true) => {}
        }
        let select = read("scanning.select", &settings.select)?;
        let step = if settings.step.is_empty() {
            None
        } else {
            Some(read("scanning.step", &settings.step)?)
        };
        if step == Some(select) {
            return Err(KeyError::Conflict {
                name: settings.step.clone(),
                first: "scanning.step".to_owned(),
                second: "scanning.select".to_owned(),
            });
        }
        Ok(Some(Self {
            step,
            select,
            auto: (settings.auto_ms > 0).then(|| Duration::from_millis(settings.auto_ms)),
        }))
    }

    /// Returns what a key press means for scanning, if anything.
    pub fn key(&self, key: KeyEvent) -> Option<ScanKey> {
        if self.select.is(key) {
            Some(ScanKey::Select)
        } else if self.step.is_some_and(|step| step.is(key)) {
            Some(ScanKey::Step)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_pair_and_keys_with_another_meaning_are_refused() {
        let of = |step: &str, select: &str, auto_ms| {
            let settings = ScanConfig {
                step: step.into(),
                select: select.into(),
                auto_ms,
                ..ScanConfig::default()
            };
            Scan::new(&settings, &Keymap::default())
        };
        assert_eq!(of("", "", 0), Ok(None));
        assert_eq!(of("F7", "", 0), Err(KeyError::HalfAScan));
        assert_eq!(of("", "F8", 0), Err(KeyError::HalfAScan));
        assert!(of("", "F8", 1000).unwrap().is_some());
        assert!(of("Space", "Enter", 0).unwrap().is_some());
        for (step, select) in [("y", "F8"), ("F7", "n"), ("F7", "F7"), ("F77", "F8")] {
            assert!(of(step, select, 0).is_err(), "{step} {select}");
        }
    }
}
