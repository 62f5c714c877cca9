//! An address that an agent wants opened: its host, and what is odd about it.
//!
//! Responsibilities: finding the host, and whatever may mislead about it. Not here: asking (`forms`). Nothing here
//! opens anything.

use crate::SharedWording;

use super::call::first;
use super::standalone_question::QuestionContent;
use super::turn_end::closed;

/// The longest address that is shown, in bytes: nobody could judge the end of a longer one.
const LONGEST: usize = 2048;

/// A web address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The whole address, as the agent wrote it.
    pub text: String,
    /// Its host.
    pub host: String,
    /// What the agent says about it.
    message: String,
    /// What is odd about it, as phrase keys.
    odd: Vec<&'static str>,
}

impl Address {
    /// Parses an address; `None` if it is not of the web, or contains characters that can disguise it.
    pub fn read(whole: &str, message: &str) -> Option<Self> {
        let plain =
            |c: char| c.is_ascii_graphic() && !"\\\u{22}<>`{}|^".contains(c) || c.is_alphanumeric();
        if whole.len() > LONGEST || !whole.chars().all(plain) {
            return None;
        }
        let (scheme, rest) = whole.split_once("://")?;
        let secure = match scheme.to_ascii_lowercase().as_str() {
            "https" => true,
            "http" => false,
            _ => return None,
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let authority = rest.get(..end)?;
        let (user, place) = match authority.rsplit_once('@') {
            Some((_, place)) => (true, place),
            None => (false, authority),
        };
        // The colons in a bracketed address do not begin a port.
        let host = match place.strip_prefix('[') {
            Some(inner) => inner.split_once(']')?.0,
            None => place.split(':').next()?,
        };
        if host.is_empty() {
            return None;
        }
        let foreign = !host.is_ascii()
            || host
                .to_ascii_lowercase()
                .split('.')
                .any(|it| it.starts_with("xn--"));
        let mut odd = Vec::new();
        if !secure {
            odd.push("acp.url.odd.plain");
        }
        if user {
            odd.push("acp.url.odd.user");
        }
        if foreign {
            odd.push("acp.url.odd.letters");
        }
        Some(Self {
            text: whole.to_owned(),
            host: host.to_owned(),
            message: message.to_owned(),
            odd,
        })
    }

    /// Describes what is odd about it; empty if nothing is.
    pub fn odd(&self, words: &SharedWording) -> String {
        let odd: Vec<String> = self.odd.iter().map(|key| first(words, key, &[])).collect();
        odd.join(" ")
    }

    /// Returns the question of whether to open it.
    pub fn asks(&self, words: &SharedWording) -> QuestionContent {
        let odd = self.odd(words);
        let args = [
            ("host", self.host.as_str()),
            ("message", &closed(&self.message)),
            ("odd", &odd),
            ("address", &self.text),
        ];
        QuestionContent::whether(first(words, "acp.url.whether", &args))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_found_behind_whatever_stands_before_it_and_what_is_odd_is_known() {
        let read = |whole: &str| Address::read(whole, "").map(|it| (it.host, it.odd));
        let is = |whole: &str, host: &str, odd: &[&'static str]| {
            assert_eq!(
                read(whole),
                Some((host.to_owned(), odd.to_vec())),
                "{whole}"
            );
        };
        is("https://a.example/x?y=https://b.example", "a.example", &[]);
        is("HTTPS://a.example:8443", "a.example", &[]);
        is("http://127.0.0.1:80/", "127.0.0.1", &["acp.url.odd.plain"]);
        is("https://[::1]:80/", "::1", &[]);
        is(
            "https://bank.example@evil.example/",
            "evil.example",
            &["acp.url.odd.user"],
        );
        is("https://a?@bank.example", "a", &[]);
        is(
            "https://xn--80ak6aa92e.com",
            "xn--80ak6aa92e.com",
            &["acp.url.odd.letters"],
        );
        is(
            "https://bänk.example",
            "bänk.example",
            &["acp.url.odd.letters"],
        );
        for none in [
            "",
            "https://",
            "https:///x",
            "file:///etc/passwd",
            "javascript://x",
            "https://a b",
            "https://a\\@b",
            "https://a\u{202e}b",
            "https://[::1",
        ] {
            assert_eq!(read(none), None, "{none}");
        }
        assert_eq!(read(&format!("https://a/{}", "x".repeat(LONGEST))), None);
    }
}
