//! The daemon's settings in force on a connection, and the person's own ones.
//!
//! Responsibilities: determining what must be set for the next message, and nothing more. Not here: the commands
//! (`daemon_commands`), what their replies mean (`incoming_replies`).
//!
//! A person's own settings are never changed: everything is set for this connection only, only if it differs from what
//! is in force, and set back to the original when no other value is wanted.

/// One of the daemon's numeric settings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level {
    /// The person's own value, found at the start.
    pub base: i32,
    /// The value in force.
    pub now: i32,
    /// Whether the daemon accepts it at all.
    pub works: bool,
}

impl Default for Level {
    fn default() -> Self {
        Self {
            base: 0,
            now: 0,
            works: true,
        }
    }
}

impl Level {
    /// Records the person's own value from the daemon's reply; an unreadable one counts as 0.
    pub(super) fn found(&mut self, reply: Option<&String>) {
        let number: Option<i32> = reply.and_then(|text| text.trim().parse().ok());
        self.base = number.unwrap_or(0).clamp(-100, 100);
        self.now = self.base;
    }

    /// Returns the number to set, if another one is in force.
    pub(super) fn needs(&self, wanted: Option<i32>) -> Option<i32> {
        let wanted = wanted.unwrap_or(self.base);
        (self.works && self.now != wanted).then_some(wanted)
    }

    /// Handles the reply to a setting.
    pub(super) fn set(&mut self, number: i32, ok: bool) {
        if ok {
            self.now = number;
        } else {
            self.works = false;
        }
    }
}

/// What must be done before a word is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SettingStep {
    /// Ask for the person's own value, to be able to return to it.
    Base,
    /// Set the value.
    Set(String),
}

/// One of the daemon's settings that is a word: the voice, the level of punctuation.
#[derive(Debug, Default)]
pub(super) struct WordSetting {
    /// The person's own value: `None` before it was requested, `Some(None)` if it could not be determined.
    base: Option<Option<String>>,
    /// The value in force, if it is not the person's own.
    now: Option<String>,
    broken: bool,
}

impl WordSetting {
    /// Records the person's own value from the daemon's reply.
    pub(super) fn found(&mut self, reply: Option<&String>) {
        let word = reply.map(|text| text.trim().to_owned());
        self.base = Some(word.filter(|word| !word.is_empty()));
    }

    /// Returns what must be done, if another value is in force.
    pub(super) fn needs(&self, wanted: Option<&str>) -> Option<SettingStep> {
        match (wanted, &self.now, &self.base) {
            _ if self.broken => None,
            (None, None, _) => None,
            (Some(wanted), Some(now), _) if wanted == now => None,
            (Some(_), _, None) => Some(SettingStep::Base),
            (Some(wanted), _, Some(_)) => Some(SettingStep::Set(wanted.to_owned())),
            (None, Some(_), base) => base.clone().flatten().map(SettingStep::Set),
        }
    }

    /// Handles the reply to a setting. A refused setting is not tried again, unless `again` says that only this word
    /// was wrong.
    pub(super) fn set(&mut self, word: String, ok: bool, again: bool) {
        if ok {
            let own = self.base.as_ref().and_then(Option::as_deref) == Some(word.as_str());
            self.now = (!own).then_some(word);
        } else if !again {
            self.broken = true;
        }
    }

    /// Records that another setting may have changed this one.
    pub(super) fn doubt(&mut self) {
        if self.now.is_some() {
            self.now = Some(String::new());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_set_when_it_differs_and_set_back_to_the_persons_own() {
        let mut level = Level::default();
        level.found(Some(&" 30 ".to_owned()));
        assert_eq!(level.needs(None), None);
        assert_eq!(level.needs(Some(30)), None);
        assert_eq!(level.needs(Some(-5)), Some(-5));
        level.set(-5, true);
        assert_eq!(level.needs(Some(-5)), None);
        assert_eq!(level.needs(None), Some(30));
        level.set(30, false);
        assert_eq!(level.needs(None), None, "what does not work is left alone");
    }

    #[test]
    fn the_way_back_is_asked_for_before_a_word_is_set() {
        let mut word = WordSetting::default();
        assert_eq!(word.needs(None), None);
        assert_eq!(word.needs(Some("some")), Some(SettingStep::Base));
        word.found(Some(&"none".to_owned()));
        assert_eq!(
            word.needs(Some("some")),
            Some(SettingStep::Set("some".into()))
        );
        word.set("some".into(), true, false);
        assert_eq!(word.needs(Some("some")), None);
        assert_eq!(word.needs(None), Some(SettingStep::Set("none".into())));
        word.set("none".into(), true, false);
        assert_eq!(word.needs(None), None);
        word.set("all".into(), false, false);
        assert_eq!(word.needs(Some("all")), None, "refused once is enough");
    }
}
