//! Filters for keys that were struck unintentionally: bounces and touches.
//!
//! # Mental model
//! A bounce is the same key again within a set time. A touch is a key that is not held: with slow keys, a key counts
//! only once it has been held for a set time. A terminal does not report holding, only the keyboard's own repeats; so a
//! key counts as held as long as its repeats arrive, and counts once. On a keyboard that does not repeat, slow keys
//! never count: `docs/keys.md` explains that.
//!
//! For the same reason a key that comes again within [`REPEAT`] is marked as repeated: it may only be held, and a key
//! that is only held neither answers nor takes anything back.
//!
//! # Worked example
//! With slow keys of 600 ms, `y` held for a second arrives at 0, 500, 530, 560, 590 and 620 ms: the press at 620 ms
//! counts, and none after it until the key is released.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// Repeats of a held key come closer together than this, even the first one: keyboards wait 250 to 660 ms.
const REPEAT: Duration = Duration::from_millis(700);

/// The filter's verdict on a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyVerdict {
    /// It counts.
    Counts(KeyPress),
    /// It does not count.
    Ignored,
}

/// How a key that counts was pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyPress {
    /// When it was read.
    pub read: Duration,
    /// When the previous key arrived, of whatever kind.
    pub before: Option<Duration>,
    /// Whether it repeats the previous key so soon that the key may only be held.
    pub again: bool,
    /// Whether it may be a letter of a word that is typed where none can be: the filter does not say so of any.
    pub in_word: bool,
}

/// The filter of keys.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    bounce: Duration,
    slow: Duration,
    last: Option<(KeyCode, Duration)>,
    /// The last key pressed, until a sign that it was released.
    down: Option<(KeyCode, KeyModifiers, Duration)>,
    held: Option<HeldKey>,
}

#[derive(Debug, Clone, Copy)]
struct HeldKey {
    code: KeyCode,
    since: Duration,
    latest: Duration,
    /// When the previous key arrived.
    before: Option<Duration>,
    counted: bool,
}

impl Filter {
    /// Creates a filter; zero turns a filter off.
    pub fn new(bounce: Duration, slow: Duration) -> Self {
        Self {
            bounce,
            slow,
            ..Self::default()
        }
    }

    /// Filters a key. `typing` is true while text is typed, where slow keys would delay every letter.
    pub fn take(&mut self, key: KeyEvent, typing: bool, now: Duration) -> KeyVerdict {
        let code = letter(key.code);
        // Shift may come and go while a key is held; any other modifier makes it another key.
        let chord = key.modifiers - KeyModifiers::SHIFT;
        let last = self.last.replace((code, now));
        let before = last.map(|(_, at)| at);
        let down = match key.kind {
            KeyEventKind::Release => std::mem::take(&mut self.down),
            KeyEventKind::Press | KeyEventKind::Repeat => self.down.replace((code, chord, now)),
        };
        if !self.slow.is_zero() && !typing {
            return self.slowly(KeyEvent { code, ..key }, before, now);
        }
        if key.kind == KeyEventKind::Release {
            return KeyVerdict::Ignored;
        }
        let down =
            down.is_some_and(|(last, held, at)| last == code && held == chord && now < at + REPEAT);
        let bounced = last.is_some_and(|(last, at)| {
            !self.bounce.is_zero() && last == code && now < at + self.bounce
        });
        if bounced {
            KeyVerdict::Ignored
        } else {
            KeyVerdict::Counts(KeyPress {
                read: now,
                before,
                in_word: false,
                again: down || key.kind == KeyEventKind::Repeat,
            })
        }
    }

    fn slowly(&mut self, key: KeyEvent, before: Option<Duration>, now: Duration) -> KeyVerdict {
        if key.kind == KeyEventKind::Release {
            self.held = None;
            return KeyVerdict::Ignored;
        }
        let held = self
            .held
            .filter(|held| held.code == key.code && now < held.latest + REPEAT);
        let mut held = held.unwrap_or(HeldKey {
            code: key.code,
            since: now,
            latest: now,
            before,
            counted: false,
        });
        held.latest = now;
        let counts = !held.counted && now >= held.since + self.slow;
        held.counted |= counts;
        self.held = Some(held);
        if counts {
            KeyVerdict::Counts(KeyPress {
                read: now,
                before: held.before,
                // With slow keys, a key counts because it is held.
                again: false,
                in_word: false,
            })
        } else {
            KeyVerdict::Ignored
        }
    }
}

/// Returns a letter in lower case: it is the same key with Shift or caps lock, which may come and go while it is held.
fn letter(code: KeyCode) -> KeyCode {
    match code {
        KeyCode::Char(c) => KeyCode::Char(c.to_lowercase().next().unwrap_or(c)),
        code => code,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(filter: &mut Filter, c: char, ms: u64) -> KeyVerdict {
        let key = KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE);
        filter.take(key, false, Duration::from_millis(ms))
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn counts(read: u64, before: Option<u64>, again: bool) -> KeyVerdict {
        KeyVerdict::Counts(KeyPress {
            read: ms(read),
            before: before.map(ms),
            again,
            in_word: false,
        })
    }

    #[test]
    fn a_key_that_may_only_be_held_is_told_apart_from_one_that_was_let_go() {
        let mut filter = Filter::default();
        take(&mut filter, 'y', 0);
        assert_eq!(take(&mut filter, 'y', 660), counts(660, Some(0), true));
        assert_eq!(take(&mut filter, 'y', 690), counts(690, Some(660), true));
        assert_eq!(take(&mut filter, 'y', 1390), counts(1390, Some(690), false));
        assert_eq!(take(&mut filter, 'Y', 1400), counts(1400, Some(1390), true));
        let mut filter = Filter::default();
        take(&mut filter, 'y', 0);
        let release = KeyEvent {
            kind: KeyEventKind::Release,
            ..KeyEvent::new(KeyCode::Char('y'), KeyModifiers::NONE)
        };
        assert_eq!(filter.take(release, false, ms(80)), KeyVerdict::Ignored);
        assert_eq!(take(&mut filter, 'y', 500), counts(500, Some(80), false));
    }

    #[test]
    fn a_key_with_another_modifier_is_another_key() {
        let mut filter = Filter::default();
        take(&mut filter, 'y', 0);
        let alt = KeyEvent::new(KeyCode::Char('y'), KeyModifiers::ALT);
        assert_eq!(
            filter.take(alt, false, ms(100)),
            counts(100, Some(0), false)
        );
    }

    #[test]
    fn the_same_key_again_within_the_time_is_a_bounce() {
        let mut filter = Filter::new(ms(300), Duration::ZERO);
        assert_eq!(take(&mut filter, 'y', 0), counts(0, None, false));
        assert_eq!(take(&mut filter, 'y', 299), KeyVerdict::Ignored);
        assert_eq!(take(&mut filter, 'n', 350), counts(350, Some(299), false));
        assert_eq!(take(&mut filter, 'n', 650), counts(650, Some(350), true));
    }

    #[test]
    fn a_slow_key_counts_once_when_it_was_held() {
        let mut filter = Filter::new(Duration::ZERO, ms(600));
        assert_eq!(take(&mut filter, 'x', 0), KeyVerdict::Ignored);
        assert_eq!(take(&mut filter, 'y', 1000), KeyVerdict::Ignored, "a touch");
        assert_eq!(take(&mut filter, 'y', 1500), KeyVerdict::Ignored);
        assert_eq!(take(&mut filter, 'y', 1610), counts(1610, Some(0), false));
        assert_eq!(
            take(&mut filter, 'y', 1640),
            KeyVerdict::Ignored,
            "it counts once"
        );
        assert_eq!(
            take(&mut filter, 'y', 2400),
            KeyVerdict::Ignored,
            "let go, and touched again"
        );
    }

    #[test]
    fn two_touches_are_no_holding_and_another_key_ends_it() {
        let mut filter = Filter::new(Duration::ZERO, ms(600));
        take(&mut filter, 'y', 0);
        assert_eq!(take(&mut filter, 'y', 800), KeyVerdict::Ignored);
        take(&mut filter, 'n', 900);
        assert_eq!(take(&mut filter, 'y', 1450), KeyVerdict::Ignored);
    }
}
