//! Where a path leads, and what kind of file it is, judged by its text alone: links are not followed.

use crate::program_lists::lists;

/// The stand-in for a working directory that is not known.
const NOWHERE: &str = "/\u{1}";

/// Where a path leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Inside the working directory.
    Inside,
    /// Outside it.
    Outside,
    /// Not known, because the working directory is not.
    Unknown,
}

/// The working directory by which paths are judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Base {
    folder: String,
    is_known: bool,
}

impl Base {
    /// Creates it from the working directory, if that is known.
    pub(crate) fn new(folder: Option<&str>) -> Self {
        let folder = folder.filter(|folder| folder.starts_with('/') || is_drive(folder));
        Self {
            folder: folder.map_or_else(|| NOWHERE.to_owned(), |folder| normal(folder, "")),
            is_known: folder.is_some(),
        }
    }

    /// Returns the working directory, or its stand-in.
    pub(crate) fn folder(&self) -> &str {
        &self.folder
    }

    /// Returns where a path leads from a folder.
    pub(crate) fn reach(&self, path: &str, folder: &str) -> Reach {
        let path = path
            .strip_prefix("file://")
            .map_or(path, |rest| rest.strip_prefix("localhost").unwrap_or(rest));
        if path.starts_with('~') || path.contains("://") {
            return Reach::Outside;
        }
        if path.split('/').any(may_be_parent) {
            return Reach::Outside;
        }
        let absolute = path.starts_with('/') || is_drive(path);
        let whole = normal(path, folder);
        if is_in(&whole, &self.folder) {
            return Reach::Inside;
        }
        match absolute && !self.is_known {
            true if lists()
                .files
                .system
                .iter()
                .any(|system| is_in(&whole, system)) =>
            {
                Reach::Outside
            }
            true => Reach::Unknown,
            false => Reach::Outside,
        }
    }
}

/// Returns the absolute form of a path, seen from a folder, without `.` and `..`.
pub(crate) fn normal(path: &str, folder: &str) -> String {
    let absolute = path.starts_with('/') || is_drive(path);
    let whole = if absolute {
        path.to_owned()
    } else {
        format!("{folder}/{path}")
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

fn is_in(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns whether a path begins with a Windows drive, as in `C:/x`.
fn is_drive(path: &str) -> bool {
    let mut chars = path.chars();
    let letter = chars.next().is_some_and(|c| c.is_ascii_alphabetic());
    letter && chars.next() == Some(':') && matches!(chars.next(), Some('/' | '\\'))
}

/// Returns whether a pattern for one part of a path may match `..`.
fn may_be_parent(part: &str) -> bool {
    // Only a dot or a bracket expression matches a leading dot.
    let may_begin = part.starts_with(['.', '[']);
    may_begin && part.contains(['*', '?', '[']) && matches(part, "..")
}

/// Returns whether a text matches a shell pattern.
fn matches(pattern: &str, text: &str) -> bool {
    let Some(sign) = pattern.chars().next() else {
        return text.is_empty();
    };
    let behind = &pattern[sign.len_utf8()..];
    let next = text.chars().next();
    let rest = next.map_or("", |c| &text[c.len_utf8()..]);
    match (sign, next) {
        ('*', _) => {
            let behind = behind.trim_start_matches('*');
            (0..=text.len()).any(|at| text.get(at..).is_some_and(|rest| matches(behind, rest)))
        }
        ('?', Some(_)) => matches(behind, rest),
        ('[', Some(c)) => match class(behind, c) {
            Some((is_in, behind)) => is_in && matches(behind, rest),
            None => c == '[' && matches(behind, rest),
        },
        (sign, Some(c)) => sign == c && matches(behind, rest),
        (_, None) => false,
    }
}

/// Reads a bracket expression after its `[`, and returns whether it contains a character, and the rest of the pattern.
fn class(pattern: &str, c: char) -> Option<(bool, &str)> {
    let inner = pattern.strip_prefix(['!', '^']);
    let from = inner.unwrap_or(pattern);
    // A `]` right at the beginning is literal.
    let end = from
        .char_indices()
        .skip(1)
        .find(|(_, c)| *c == ']')
        .map(|(at, _)| at)?;
    let members: Vec<char> = from[..end].chars().collect();
    let named = from.starts_with("[:") || from.starts_with("[.") || from.starts_with("[=");
    let in_range = members
        .windows(3)
        .any(|it| matches!(it, &[low, '-', high] if low <= c && c <= high));
    let is_in = named || in_range || members.contains(&c);
    Some((is_in != inner.is_some(), &from[end + 1..]))
}

/// Returns whether a path matches an entry of a list. An entry is a sequence of path parts in which `*` stands for any
/// characters; one that ends in `/` is a folder, and covers everything in it.
pub(crate) fn is_listed(path: &str, list: &[String]) -> bool {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty()) {
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    list.iter().any(|entry| {
        let is_folder = entry.ends_with('/');
        let from_root = entry.starts_with('/');
        let wanted: Vec<&str> = entry.split('/').filter(|part| !part.is_empty()).collect();
        let fits = |at: usize| {
            let Some(window) = parts.get(at..at + wanted.len()) else {
                return false;
            };
            let end = at + wanted.len();
            let whole = if is_folder {
                end <= parts.len()
            } else {
                end == parts.len()
            };
            whole
                && window
                    .iter()
                    .zip(&wanted)
                    .all(|(part, wanted)| is_like(part, wanted))
        };
        match from_root {
            true => path.starts_with('/') && fits(0),
            false => (0..parts.len()).any(fits),
        }
    })
}

/// Returns whether a text matches a pattern in which `*` stands for any characters.
pub(crate) fn is_like(text: &str, pattern: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let pieces: Vec<&str> = pieces.collect();
    let Some((last, middle)) = pieces.split_last() else {
        return rest.is_empty();
    };
    for piece in middle {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Returns the host of an address: a URL, `user@host:path`, or a bare name.
pub(crate) fn host(address: &str) -> String {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let rest = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let rest = rest.rsplit('@').next().unwrap_or_default();
    let host = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, _)) => host,
        None if rest.matches(':').count() > 1 => rest,
        None => rest.split(':').next().unwrap_or_default(),
    };
    host.to_owned()
}

/// Returns whether a host is this machine.
pub(crate) fn is_loopback(host: &str) -> bool {
    let address: Option<std::net::Ipv4Addr> = host.parse().ok();
    matches!(host, "localhost" | "::1" | "0.0.0.0")
        || address.is_some_and(|it| it.is_loopback())
        || host.ends_with(".localhost")
}

/// Returns the host of a path on another machine (`host:path` or a URL), or `None` if it is a local path.
pub(crate) fn remote(path: &str) -> Option<String> {
    if path.contains("://") {
        return Some(host(path));
    }
    let (before, _) = path.split_once(':')?;
    let is_host = !before.is_empty() && !before.contains('/') && before.len() > 1;
    is_host.then(|| host(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_inside_or_outside_the_folder() {
        let base = Base::new(Some("/work/a"));
        for (path, reach) in [
            ("src/main.rs", Reach::Inside),
            ("/work/a/src", Reach::Inside),
            ("/work/a", Reach::Inside),
            (".", Reach::Inside),
            ("file:///work/a/x", Reach::Inside),
            ("file://localhost/etc", Reach::Outside),
            ("https://example.org/x", Reach::Outside),
            ("/work/ab", Reach::Outside),
            ("../b", Reach::Outside),
            ("src/../../x", Reach::Outside),
            ("~/x", Reach::Outside),
            ("/etc/hosts", Reach::Outside),
            (".?/secret.txt", Reach::Outside),
            (".[!.]*/x", Reach::Inside),
            (".*/x", Reach::Outside),
            (".[a-z]*/x", Reach::Inside),
            ("[!a]?/x", Reach::Outside),
            ("[.][.]/secret.txt", Reach::Outside),
            ("*.rs", Reach::Inside),
            ("C:/x", Reach::Outside),
        ] {
            assert_eq!(base.reach(path, "/work/a"), reach, "{path}");
        }
        assert_eq!(base.reach("../x", "/work/a/b"), Reach::Inside);
        let nowhere = Base::new(None);
        assert_eq!(nowhere.reach("x", nowhere.folder()), Reach::Inside);
        assert_eq!(nowhere.reach("../x", nowhere.folder()), Reach::Outside);
        assert_eq!(nowhere.reach("/srv/x/y", nowhere.folder()), Reach::Unknown);
        assert_eq!(
            nowhere.reach("/etc/hosts", nowhere.folder()),
            Reach::Outside
        );
    }

    #[test]
    fn list_entries_match_files_folders_and_patterns() {
        let list: Vec<String> = [
            ".git/hooks/",
            "*.pem",
            "/etc/cron*/",
            "package.json",
            ".env*",
        ]
        .map(str::to_owned)
        .into();
        for (path, is) in [
            (".git/hooks/pre-commit", true),
            ("a/.git/hooks/x", true),
            ("hooks/x", false),
            ("key.pem", true),
            ("pem", false),
            ("/etc/cron.d/x", true),
            ("etc/cron.d/x", false),
            ("app/package.json", true),
            ("package.json/x", false),
            (".env.local", true),
        ] {
            assert_eq!(is_listed(path, &list), is, "{path}");
        }
    }

    #[test]
    fn the_host_of_any_address_is_found() {
        for (address, wanted) in [
            ("https://x.example/i.sh", "x.example"),
            ("http://user:pass@x.example:80/", "x.example"),
            ("git@github.com:o/r.git", "github.com"),
            ("localhost:3000/health", "localhost"),
            ("http://[::1]:80/x", "::1"),
            ("x.example", "x.example"),
        ] {
            assert_eq!(host(address), wanted);
        }
        assert_eq!(remote("host:path"), Some("host".to_owned()));
        assert_eq!(remote("./a:b"), None);
        assert_eq!(remote("C:/x"), None);
        assert_eq!(remote("plain"), None);
    }
}
