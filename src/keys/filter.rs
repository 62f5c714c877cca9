//! Keys that hands struck without meaning them: bounces and touches.
//!
//! # Mental model
//! A bounce is the same key again within a time. A touch is a key that is not held: with slow keys a
//! key counts only once it has been held for a time. A terminal does not tell of holding, only of the
//! keyboard's own repeating; so a key is held as long as its repeats come, and counts once. Where the
//! keyboard does not repeat, slow keys never count: that is told by `docs/keys.md`.
//!
//! # Worked example
//! With slow keys of 600 ms, `y` held for a second comes at 0, 500, 530, 560, 590 and 620 ms: the one
//! at 620 ms counts, and none after it until the key was let go.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};

/// Repeats of a held key come closer than this, the first one too: keyboards wait 250 to 660 ms.
const REPEAT: Duration = Duration::from_millis(700);

/// Says what is to be done with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// It counts; the last key before it, of any kind, came then.
    Counts(Option<Duration>),
    /// It does not.
    Ignored,
}

/// Filters keys.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    bounce: Duration,
    slow: Duration,
    last: Option<(KeyCode, Duration)>,
    held: Option<Held>,
}

#[derive(Debug, Clone, Copy)]
struct Held {
    code: KeyCode,
    since: Duration,
    latest: Duration,
    /// The last key before this one.
    before: Option<Duration>,
    counted: bool,
}

impl Filter {
    /// Makes one; zero turns a filter off.
    pub fn new(bounce: Duration, slow: Duration) -> Self {
        Self {
            bounce,
            slow,
            ..Self::default()
        }
    }

    /// Takes a key. `typing` is while text is typed, where slow keys would make every letter a wait.
    pub fn take(&mut self, key: KeyEvent, typing: bool, now: Duration) -> Pass {
        let last = self.last.replace((key.code, now));
        let before = last.map(|(_, at)| at);
        if !self.slow.is_zero() && !typing {
            return self.slowly(key, before, now);
        }
        let bounced = last.is_some_and(|(code, at)| {
            !self.bounce.is_zero() && code == key.code && now < at + self.bounce
        });
        if bounced {
            Pass::Ignored
        } else {
            Pass::Counts(before)
        }
    }

    fn slowly(&mut self, key: KeyEvent, before: Option<Duration>, now: Duration) -> Pass {
        if key.kind == KeyEventKind::Release {
            self.held = None;
            return Pass::Ignored;
        }
        let held = self
            .held
            .filter(|held| held.code == key.code && now < held.latest + REPEAT);
        let mut held = held.unwrap_or(Held {
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
            Pass::Counts(held.before)
        } else {
            Pass::Ignored
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::KeyModifiers;

    fn take(filter: &mut Filter, c: char, ms: u64) -> Pass {
        let key = KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE);
        filter.take(key, false, Duration::from_millis(ms))
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn the_same_key_again_within_the_time_is_a_bounce() {
        let mut filter = Filter::new(ms(300), Duration::ZERO);
        assert_eq!(take(&mut filter, 'y', 0), Pass::Counts(None));
        assert_eq!(take(&mut filter, 'y', 299), Pass::Ignored);
        assert_eq!(take(&mut filter, 'n', 350), Pass::Counts(Some(ms(299))));
        assert_eq!(take(&mut filter, 'n', 650), Pass::Counts(Some(ms(350))));
    }

    #[test]
    fn a_slow_key_counts_once_when_it_was_held() {
        let mut filter = Filter::new(Duration::ZERO, ms(600));
        assert_eq!(take(&mut filter, 'x', 0), Pass::Ignored);
        assert_eq!(take(&mut filter, 'y', 1000), Pass::Ignored, "a touch");
        assert_eq!(take(&mut filter, 'y', 1500), Pass::Ignored);
        assert_eq!(
            take(&mut filter, 'y', 1610),
            Pass::Counts(Some(Duration::ZERO))
        );
        assert_eq!(
            take(&mut filter, 'y', 1640),
            Pass::Ignored,
            "it counts once"
        );
        assert_eq!(
            take(&mut filter, 'y', 2400),
            Pass::Ignored,
            "let go, and touched again"
        );
    }

    #[test]
    fn two_touches_are_no_holding_and_another_key_ends_it() {
        let mut filter = Filter::new(Duration::ZERO, ms(600));
        take(&mut filter, 'y', 0);
        assert_eq!(take(&mut filter, 'y', 800), Pass::Ignored);
        take(&mut filter, 'n', 900);
        assert_eq!(take(&mut filter, 'y', 1450), Pass::Ignored);
    }
}
