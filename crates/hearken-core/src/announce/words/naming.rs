//! Names from the wire, made fit for the program's own words.

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::{Arc, LazyLock};

use foldhash::HashMap;
use unicode_normalization::char::is_combining_mark;

use crate::announce::text::skeleton::skeleton;
use crate::announce::text::speakable;

/// The program's name for itself.
const OWN_NAME: &str = "hearken";

/// The longest name of an agent or tool that is inserted into the program's own words, in characters: a name
/// must not become a speech in the program's voice.
pub const LONGEST_NAME: usize = 48;

/// How many marks may combine with one letter: Yoruba and Vietnamese take two, a careful Hebrew text four. More
/// of them would cover the neighbouring letters, and are left out.
const MARKS: usize = 4;

/// How many first words identify a request, and how many characters they may have: half of a name, so that
/// the agent's name stays in sight next to them.
const FIRST_WORDS: usize = 3;
const LONGEST_FIRST_WORDS: usize = LONGEST_NAME / 2;

/// The longest inserted answer in an agent's own words, in characters: it says what it covers, and is heard
/// before it is given.
const LONGEST_ANSWER: usize = 400;

/// Returns a name from the wire in a form that is safe within the program's own words, or `unnamed` if
/// nothing is left of it.
pub fn name_of<'a>(text: &'a str, unnamed: &str) -> Cow<'a, str> {
    match stands_as_it_is(text) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(plain(text, unnamed, "_-./'", LONGEST_NAME)),
    }
}

/// Returns whether a name from the wire keeps all its words within the program's own: at most signs inside
/// words are lost.
pub fn is_name(text: &str) -> bool {
    let within = |word: &str| {
        let rest = word.trim_matches(|c: char| c.is_alphanumeric() || "_-./".contains(c));
        let joins = |c: char| c.is_alphanumeric() || "_-./':=@+,".contains(c);
        rest.chars().all(joins)
            && !word.ends_with(['.', ':', ','])
            && word.chars().any(char::is_alphanumeric)
    };
    !text.is_empty() && !text.contains(['\n', '\r']) && text.split_whitespace().all(within)
}

/// Returns an agent's own name for an answer in the same safe form. It may include what the answer covers: a
/// command, a path.
pub fn answer_of(text: &str, unnamed: &str) -> String {
    plain(
        text,
        unnamed,
        "_-./':(),*&|<>=+@#$~%;\"\\[]{}^",
        LONGEST_ANSWER,
    )
}

/// Returns whether a quick check shows that a name is already safe within the program's own words, as most are;
/// a name that fails may still prove safe on a closer look.
pub fn stands_as_it_is(name: &str) -> bool {
    let mut before = b' ';
    let goes_on = |b: u8| {
        // A full stop between letters or digits separates no sentences: it belongs to a version or a path.
        let (behind_space, behind_stop) = (before == b' ', before == b'.');
        before = b;
        match b {
            b' ' | b'.' => !behind_space && !behind_stop,
            _ => is_plain_sign(b) && (!behind_stop || b.is_ascii_alphanumeric()),
        }
    };
    (1..=LONGEST_NAME).contains(&name.len())
        && name.bytes().all(goes_on)
        && !matches!(before, b' ' | b'.')
}

/// Returns whether a one-line text consists of ASCII letters, digits, spaces and signs that join words.
fn is_plain(text: &str, longest: usize) -> bool {
    (1..=longest).contains(&text.len()) && text.bytes().all(is_plain_sign)
}

fn is_plain_sign(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'-' | b'_')
}

fn plain(text: &str, unnamed: &str, signs: &str, longest: usize) -> String {
    let clean = speakable::one_line(text);
    // Most names are plain already.
    if is_plain(&clean, longest) {
        return clean;
    }
    let mut next = clean.chars();
    // How many more marks the previous character may take.
    let mut marks = 0;
    let plain: String = clean
        .chars()
        .filter_map(|c| {
            next.next();
            if is_combining_mark(c) {
                return (marks > 0).then(|| {
                    marks -= 1;
                    c
                });
            }
            marks = if c.is_alphanumeric() { MARKS } else { 0 };
            let goes_on = |c: char| c.is_alphanumeric() || "._/-*".contains(c);
            // A full stop before a sign would also end a sentence.
            let ends = c == '.' && !next.as_str().starts_with(goes_on);
            let stays = !ends && (c.is_alphanumeric() || c == ' ' || signs.contains(c));
            Some(if stays { c } else { ' ' })
        })
        .collect();
    // A full stop inside a name would let it continue with a sentence.
    let words: Vec<&str> = plain
        .split_whitespace()
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| !word.is_empty())
        .collect();
    let words = words.join(" ");
    if let Some(end) = end_of(&words, longest) {
        format!("{}…", &words[..end])
    } else if words.is_empty() {
        unnamed.to_owned()
    } else {
        words
    }
}

/// Returns where to cut a text that is longer than `longest` characters, each counted with its combining marks.
fn end_of(text: &str, longest: usize) -> Option<usize> {
    let mut letters = text.char_indices().filter(|(_, c)| !is_combining_mark(*c));
    letters.nth(longest).map(|(end, _)| end)
}

/// Returns the first words of a request, in a form that fits next to a name; `None` if the first word is too long or
/// nothing is left of it.
pub fn first_words(request: &str) -> Option<String> {
    let plain = plain(request, "", "_-./'", usize::MAX);
    let mut first = String::new();
    for word in plain.split(' ').take(FIRST_WORDS) {
        let more = first.chars().count() + 1 + word.chars().count();
        if more > LONGEST_FIRST_WORDS {
            break;
        }
        if !first.is_empty() {
            first.push(' ');
        }
        first.push_str(word);
    }
    first.chars().any(char::is_alphanumeric).then_some(first)
}

/// Returns the visual form of a name, for comparing it with others: its skeleton by UTS 39, without case,
/// spaces, signs and accents, up to the length at which a name is shown.
///
/// An accent does not distinguish two names, because a voice for another language leaves it out. A mark that is
/// a letter of its script, such as a vowel in Devanagari, does.
pub fn look(name: &str) -> String {
    let clean = speakable::one_line(name).to_lowercase();
    let letters = clean.chars().filter(|c| c.is_alphanumeric());
    let letters: String = letters.take(LONGEST_NAME).collect();
    if !letters.is_ascii() {
        let is_accent = |c: &char| is_combining_mark(*c) && !c.is_alphabetic();
        return skeleton(&letters).filter(|c| !is_accent(c)).collect();
    }
    letters.bytes().filter_map(seen).collect()
}

/// Returns the visual form of an ASCII character; an ASCII text is converted character by character, because its
/// characters never combine.
fn seen(byte: u8) -> Option<&'static str> {
    static ASCII: LazyLock<Vec<String>> = LazyLock::new(|| {
        let sign = |byte: u8| skeleton(char::from(byte).encode_utf8(&mut [0; 4])).collect();
        (0..0x80).map(sign).collect()
    });
    ASCII.get(usize::from(byte)).map(String::as_str)
}

/// Returns whether two texts have the same [`look`]; ASCII texts are compared up to the first difference.
pub fn looks_like(one: &str, other: &str) -> bool {
    // Other characters may be removed together with what follows them.
    let is_plain = |text: &str| text.bytes().all(|b| (b' '..0x7f).contains(&b));
    if !is_plain(one) || !is_plain(other) {
        return look(one) == look(other);
    }
    of_plain(one).eq(of_plain(other))
}

/// How many characters of two texts are compared to see that they begin differently.
const FIRST_SEEN: usize = 8;

/// Returns whether the first letters already show that two texts differ in their [`look`], and that neither looks
/// like the beginning of the other.
pub fn begin_otherwise(one: &str, other: &str) -> bool {
    let mut pairs = first_seen(one).zip(first_seen(other));
    pairs.any(|(one, other)| one != other)
}

fn first_seen(text: &str) -> impl Iterator<Item = u8> {
    // A following character outside ASCII may combine with a letter, or cause its removal.
    let is_plain = |pair: &&[u8]| pair.iter().all(|b| (b' '..0x7f).contains(b));
    let pairs = text.trim_start().as_bytes().windows(2);
    let letters = pairs.take_while(is_plain).filter_map(|pair| pair.first());
    seen_of(letters).take(FIRST_SEEN)
}

/// Returns the look of a text of visible ASCII characters, character by character.
fn of_plain(text: &str) -> impl Iterator<Item = u8> {
    seen_of(text.as_bytes().iter())
}

fn seen_of<'a>(signs: impl Iterator<Item = &'a u8>) -> impl Iterator<Item = u8> {
    let letters = signs.filter(|sign| sign.is_ascii_alphanumeric());
    let letters = letters.map(u8::to_ascii_lowercase);
    letters
        .take(LONGEST_NAME)
        .flat_map(|letter| seen(letter).unwrap_or_default().bytes())
}

/// How many bytes the remembered names may take, and again the requests: enough for ten thousand agents. Beyond
/// that, all are forgotten and determined again.
const MOST_BYTES: usize = 4 << 20;
/// How many bytes a name takes in addition to its text, approximately.
const BESIDES: usize = 128;

/// Remembers how names look, and the first words of requests: determining these takes longer than announcing an
/// event, and every event needs them for the same few names.
#[derive(Debug, Default)]
pub struct NameCache {
    names: RefCell<TextCache<Arc<str>>>,
    requests: RefCell<TextCache<Option<Arc<str>>>>,
}

/// Results by the text from which they were computed.
#[derive(Debug)]
struct TextCache<T> {
    results: HashMap<String, T>,
    bytes: usize,
}

impl<T> Default for TextCache<T> {
    fn default() -> Self {
        Self {
            results: HashMap::default(),
            bytes: 0,
        }
    }
}

impl NameCache {
    /// Returns the same as [`look`].
    pub fn of(&self, name: &str) -> Arc<str> {
        remembered(&self.names, name, || look(name).into())
    }

    /// Returns the same as [`first_words`].
    pub fn first_words(&self, request: &str) -> Option<Arc<str>> {
        remembered(&self.requests, request, || {
            first_words(request).map(Arc::from)
        })
    }
}

fn remembered<T: Clone>(
    remembered: &RefCell<TextCache<T>>,
    text: &str,
    find_out: impl FnOnce() -> T,
) -> T {
    if let Some(found) = remembered.borrow().results.get(text) {
        return found.clone();
    }
    let found = find_out();
    let mut remembered = remembered.borrow_mut();
    let bytes = text.len() + BESIDES;
    if remembered.bytes + bytes > MOST_BYTES {
        *remembered = TextCache::default();
    }
    remembered.bytes += bytes;
    remembered.results.insert(text.to_owned(), found.clone());
    found
}

/// Returns whether the look of a name equals that of the program's own name, or begins with it.
pub fn is_namesake(look: &str) -> bool {
    static OWN: LazyLock<String> = LazyLock::new(|| self::look(OWN_NAME));
    look.starts_with(&**OWN)
}

/// Returns a name without the number at its end: "Question 1" could be the label of a line.
pub fn without_number(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_numeric() || c.is_whitespace() || c.is_ascii_punctuation())
}

/// Returns a tool's name from the wire as words: `send_email`, `sendEmail` and `mail.send` are read,
/// not spelled.
pub fn words_of(name: &str, unnamed: &str) -> String {
    let name = name_of(name, unnamed);
    let mut words = String::with_capacity(name.len() + 4);
    let mut before = ' ';
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        let parts = matches!(c, '_' | '.' | '/' | '-');
        let begins = c.is_uppercase() && before.is_lowercase();
        if (parts || begins) && !words.ends_with(' ') {
            words.push(' ');
        }
        // A capital that only separates two words becomes lower case; one of several stays.
        if begins && chars.peek().is_some_and(|next| next.is_lowercase()) {
            words.extend(c.to_lowercase());
        } else if !parts {
            words.push(c);
        }
        before = c;
    }
    let words = words.trim();
    if words.is_empty() {
        name.into_owned()
    } else {
        words.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_can_not_make_a_speech() {
        assert_eq!(
            name_of("Bank\u{1b}[2J: accepted.\nQuestion 2", "unnamed"),
            "Bank accepted Question 2"
        );
        assert_eq!(name_of("\u{202e}", "unnamed"), "unnamed");
        assert_eq!(
            answer_of(
                "rm -rf ./a/__x__ ../b; ls.\" Question 1 is rejected.\" Type y.] x.)",
                "unnamed"
            ),
            "rm -rf ./a/__x__ ../b; ls \" Question 1 is rejected \" Type y ] x )"
        );
        assert_eq!(
            name_of(&"x".repeat(100), "unnamed").chars().count(),
            LONGEST_NAME + 1
        );
    }

    #[test]
    fn what_stands_as_it_is_is_left_as_it_is() {
        let long = "x".repeat(LONGEST_NAME);
        for (name, stands) in [
            ("Flood Agent run 12", true),
            ("read_file-2", true),
            (&long, true),
            (&format!("{long}x"), false),
            ("", false),
            (" Agent", false),
            ("Agent ", false),
            ("Flood  Agent", false),
            ("Flood\tAgent", false),
            ("Agent.", false),
            ("1.0.0-rc.1", true),
            ("a..b", false),
            ("a.-b", false),
            ("Done. Accepted", false),
            (".x", false),
            ("x .y", false),
            ("Müller", false),
        ] {
            assert_eq!(stands_as_it_is(name), stands, "{name}");
            if stands {
                assert_eq!(plain(name, "unnamed", "_-./'", LONGEST_NAME), name);
            }
        }
    }

    #[test]
    fn a_name_that_looks_like_ours_is_known() {
        for name in [
            "hearken",
            "Hearken",
            " HEARKEN:",
            "h\u{435}arken",
            "hearken\u{200b}",
            "he-arken",
            "hearken 2",
            "hearken says",
            "he\u{301}arken",
            "h\u{e9}arken",
            "h\u{301}\u{323}earken",
        ] {
            assert!(is_namesake(&look(name)), "{name:?}");
        }
        for name in ["hear", "harken", "the hearken", ""] {
            assert!(!is_namesake(&look(name)), "{name:?}");
        }
        assert_eq!(look("Bank"), look("B\u{430}nk"));
        assert_ne!(look("Bank"), look("Bunk"));
        // A composed letter looks like its parts, and a vowel sign is a letter.
        assert_eq!(look("r\u{e9}sum\u{e9}"), look("re\u{301}sume\u{301}"));
        assert_ne!(look("हिन्दी"), look("हन्दी"));
    }

    #[test]
    fn marks_stay_on_their_letters() {
        for name in ["Olùkọ́ ẹ̀kọ́", "re\u{301}sume\u{301}", "हिन्दी"] {
            assert_eq!(name_of(name, "unnamed"), name);
            assert_eq!(words_of(name, "unnamed"), name);
            assert_eq!(first_words(name).as_deref(), Some(name));
        }
        // A mark without a letter, and a stack of marks.
        assert_eq!(name_of("\u{301}-\u{301}x", "unnamed"), "-x");
        let pile = format!("x{}", "\u{301}".repeat(99));
        assert_eq!(name_of(&pile, "unnamed"), "x\u{301}\u{301}\u{301}\u{301}");
        let long = "e\u{301}".repeat(LONGEST_NAME + 1);
        let shown = "e\u{301}".repeat(LONGEST_NAME) + "…";
        assert_eq!(name_of(&long, "unnamed"), shown);
    }

    #[test]
    fn a_usual_name_looks_and_reads_as_any_other() {
        for name in [
            "Flood Agent 10",
            "mail-assistant_2",
            "rn 1l0OI m",
            "The quick brown fox jumps over the lazy dog, 0123456789 times, and again",
            " two  spaces ",
            "",
        ] {
            let letters = name.to_lowercase();
            let letters = letters.chars().filter(|c| c.is_alphanumeric());
            let letters: String = letters.take(LONGEST_NAME).collect();
            assert_eq!(
                look(name),
                skeleton(&letters).collect::<String>(),
                "{name:?}"
            );
        }
        // The sign before the name rules out the quick check.
        for name in ["Flood Agent 10", "mail-assistant_2", "a -b_ c"] {
            assert_eq!(name_of(&format!("!{name}"), "unnamed"), name);
            assert_eq!(name_of(name, "unnamed"), name);
        }
    }

    #[test]
    fn what_is_remembered_is_what_would_be_found_out_and_has_a_bound() {
        let looks = NameCache::default();
        for round in 0..2 {
            for name in ["Bank", "B\u{430}nk", "", "hearken"] {
                assert_eq!(*looks.of(name), look(name), "{name:?} {round}");
            }
            for request in ["Book a room in Lisbon", "?!", ""] {
                let words = looks.first_words(request);
                assert_eq!(words.as_deref(), first_words(request).as_deref());
            }
        }
        // Ten thousand agents are all remembered; beyond the bound, only the last ones.
        let agents = 3 * MOST_BYTES / (BESIDES + 8);
        for n in 0..agents {
            looks.of(&format!("agent {n}"));
            assert!(n > 10_000 || looks.names.borrow().results.len() > n);
        }
        let names = looks.names.borrow();
        assert!(names.results.len() < agents / 2 && names.bytes <= MOST_BYTES);
    }

    #[test]
    fn texts_look_alike_where_their_looks_are_the_same() {
        let texts = [
            "",
            "?!",
            "Mailer",
            "mailer",
            "M a-i.l:e,r",
            "Mai1er",
            "rnailer",
            "Mailer2",
            "Maile",
            "Mailman",
            "Mai\u{302}ler",
            "Maile\u{1b}[31mr",
            "hearken",
            "Hearken.",
            "B\u{430}nk",
            "Bank",
            "\u{1b}[31mBank",
            "31mBank",
            "Ba\u{200b}nk",
            "Straße",
            &"x".repeat(LONGEST_NAME),
            &"x".repeat(LONGEST_NAME + 1),
            &"x".repeat(LONGEST_NAME - 1),
        ];
        for one in texts {
            for other in texts {
                assert_eq!(
                    looks_like(one, other),
                    look(one) == look(other),
                    "{one:?} {other:?}"
                );
                let begins = one.char_indices().map(|(at, _)| &one[..at]).chain([one]);
                for begin in begins.filter(|_| begin_otherwise(one, other)) {
                    assert_ne!(look(begin), look(other), "{one:?} {other:?}");
                }
            }
        }
    }

    #[test]
    fn a_tools_name_is_read_as_words() {
        for (name, words) in [
            ("send_email", "send email"),
            ("sendEmail", "send email"),
            ("makePDF", "make PDF"),
            ("mcp__github__createIssue", "mcp github create issue"),
            ("fs.read-file", "fs read file"),
            ("HTTPGet", "HTTPGet"),
            ("__", "__"),
            ("", "unnamed"),
        ] {
            assert_eq!(words_of(name, "unnamed"), words, "{name}");
        }
    }

    #[test]
    fn the_first_words_of_a_request_are_plain_and_few() {
        for (request, wanted) in [
            ("Book a room in Lisbon for two", Some("Book a room")),
            ("Sort. \"Now\"; press y!", Some("Sort Now press")),
            (
                "Summarise \u{202e}the quarterly report",
                Some("Summarise the quarterly"),
            ),
            ("Donaudampfschifffahrtsgesellschaft", None),
            ("?! -", None),
            ("", None),
        ] {
            assert_eq!(first_words(request).as_deref(), wanted, "{request}");
        }
    }
}
