//! What hearken itself finds of an action: that it can destroy, reaches out of the working directory, leaves the machine,
//! or can't be read.
//!
//! Responsibilities: reading a command and paths by hearken's own rules, and by nothing that the agent says of them. Not
//! here: the words (`announcer`), what follows from a finding (`app`).
//!
//! # Mental model
//! A command is cleared word by word: every program in it must be one that is known here, and every sign one whose meaning
//! is plain. Whatever is not known is not cleared. So nothing is found only where all of it was read; a program that runs
//! other programs, a variable, a script or an encoded text is never read.
//!
//! Paths are judged by their letters. A link in the working directory that leads out of it is not seen.
//!
//! # Worked example
//! `cargo --version && rm -r target` holds `cargo`, which builds and runs what stands in files: it can't be read; and `rm`,
//! which destroys. `cat src/main.rs | head` is read whole, and nothing is found.

use crate::protocol::Deed;

/// Says what is found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Finding {
    /// It can delete or overwrite, by this program or sign.
    Destroys(&'static str),
    /// It touches these paths, which lie outside of the working directory.
    Outside(Vec<String>),
    /// It speaks with other machines, by this program.
    Leaves(&'static str),
    /// What it does can't be read.
    Unread,
}

/// Says what a program that is known does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    /// It reads, or makes what was not there.
    Plain,
    Destroys,
    Leaves,
}

const PLAIN: &[&str] = &[
    "basename",
    "cat",
    "cd",
    "cmp",
    "comm",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "false",
    "file",
    "fold",
    "grep",
    "head",
    "id",
    "ls",
    "md5sum",
    "mkdir",
    "nl",
    "paste",
    "printf",
    "ps",
    "pwd",
    "readlink",
    "realpath",
    "rg",
    "seq",
    "sha256sum",
    "sleep",
    "stat",
    "tac",
    "tail",
    "test",
    "touch",
    "tr",
    "tree",
    "true",
    "uname",
    "uptime",
    "wc",
    "which",
    "whoami",
];
const DESTROYS: &[&str] = &[
    "chgrp", "chmod", "chown", "cp", "dd", "fdisk", "halt", "install", "kill", "killall", "ln",
    "mkfs", "mv", "parted", "pkill", "poweroff", "reboot", "rm", "rmdir", "shred", "shutdown",
    "tee", "truncate", "umount", "unlink", "wipefs",
];
const LEAVES: &[&str] = &[
    "apt", "apt-get", "aws", "az", "brew", "curl", "dig", "dnf", "ftp", "gcloud", "gh", "host",
    "kubectl", "mail", "nc", "ncat", "netcat", "nslookup", "pacman", "ping", "pip", "pip3",
    "rsync", "scp", "sendmail", "sftp", "ssh", "telnet", "wget", "yum",
];
/// What of `git` only looks.
const GIT_PLAIN: &[&str] = &[
    "blame",
    "diff",
    "log",
    "ls-files",
    "rev-parse",
    "shortlog",
    "show",
    "status",
];
/// What of it speaks with other machines.
const GIT_LEAVES: &[&str] = &[
    "clone",
    "fetch",
    "ls-remote",
    "pull",
    "push",
    "remote",
    "submodule",
];
/// What of it throws work away, or rewrites it.
const GIT_DESTROYS: &[&str] = &[
    "branch",
    "checkout",
    "clean",
    "filter-branch",
    "gc",
    "merge",
    "mv",
    "rebase",
    "reset",
    "restore",
    "revert",
    "rm",
    "stash",
    "switch",
    "tag",
    "worktree",
];

/// Looks at what is done, in a working directory.
pub fn findings(deed: &Deed, folder: &str) -> Vec<Finding> {
    let mut found = Found::default();
    match &deed.command {
        Some(command) => found.command(command, folder),
        // Without a command only edits say what is done.
        None if !deed.edits => found.add(Finding::Unread),
        None => {}
    }
    for path in &deed.paths {
        found.path(path, folder);
        // What begins with a dot may be run by other programs: hooks, settings, start files.
        let hidden = |part: &str| part.starts_with('.') && part != "." && part != "..";
        if deed.edits && path.split('/').any(hidden) {
            found.add(Finding::Unread);
        }
    }
    found.all()
}

/// Collects what is found.
#[derive(Default)]
struct Found {
    found: Vec<Finding>,
    outside: Vec<String>,
}

impl Found {
    fn add(&mut self, finding: Finding) {
        if !self.found.contains(&finding) {
            self.found.push(finding);
        }
    }

    fn path(&mut self, path: &str, folder: &str) {
        if leaves(path, folder) && !self.outside.iter().any(|known| known == path) {
            self.outside.push(path.to_owned());
        }
    }

    fn all(mut self) -> Vec<Finding> {
        if !self.outside.is_empty() {
            self.found.push(Finding::Outside(self.outside));
        }
        self.found.sort();
        self.found
    }

    fn command(&mut self, command: &str, folder: &str) {
        let (tokens, whole) = tokens(command);
        if !whole {
            self.add(Finding::Unread);
        }
        let mut simple: Vec<&str> = Vec::new();
        let mut tokens = tokens.iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                Token::Word(word) => simple.push(word),
                Token::Next => {
                    self.simple(&simple, folder);
                    simple.clear();
                }
                Token::Into { appends } => match tokens.next() {
                    Some(Token::Word(to)) if to == "/dev/null" => {}
                    Some(Token::Word(to)) => {
                        self.path(to, folder);
                        if !appends {
                            self.add(Finding::Destroys(">"));
                        }
                    }
                    Some(Token::Next | Token::Into { .. } | Token::From) | None => {
                        self.add(Finding::Unread)
                    }
                },
                Token::From => match tokens.next() {
                    Some(Token::Word(from)) => self.path(from, folder),
                    Some(Token::Next | Token::Into { .. } | Token::From) | None => {
                        self.add(Finding::Unread)
                    }
                },
            }
        }
        self.simple(&simple, folder);
    }

    /// Looks at one program with what it is called with.
    fn simple(&mut self, words: &[&str], folder: &str) {
        let Some((program, arguments)) = words.split_first() else {
            return;
        };
        match program_of(program, arguments) {
            Some((_, Does::Plain)) => {}
            Some((name, Does::Destroys)) => self.add(Finding::Destroys(name)),
            Some((name, Does::Leaves)) => self.add(Finding::Leaves(name)),
            None => self.add(Finding::Unread),
        }
        for word in arguments {
            let value = match (word.strip_prefix('-'), word.split_once('=')) {
                (Some(_), Some((_, value))) => value,
                // A path may stand right behind a letter: where it begins can't be told.
                (Some(flag), None) if flag.contains('/') => {
                    self.add(Finding::Unread);
                    continue;
                }
                (Some(_), None) => continue,
                (None, _) => word,
            };
            if value.contains("://") {
                continue;
            }
            self.path(value, folder);
        }
    }
}

/// Gives what a program does, where it is known and all of what it is called with, too.
fn program_of(program: &str, arguments: &[&str]) -> Option<(&'static str, Does)> {
    let known = |list: &'static [&'static str], does| {
        let name = list.iter().find(|name| **name == program)?;
        Some((*name, does))
    };
    let any = |flags: &[&str]| {
        arguments
            .iter()
            .any(|it| flags.iter().any(|flag| it.starts_with(flag)))
    };
    match program {
        "find" if any(&["-exec", "-ok", "-files0-from"]) => None,
        "find" if any(&["-delete", "-fprint", "-fls"]) => Some(("find", Does::Destroys)),
        "find" => Some(("find", Does::Plain)),
        // They can write, run a filter, or call a program.
        "sort" if any(&["-o", "--output", "--compress-program"]) => Some(("sort", Does::Destroys)),
        "sort" => Some(("sort", Does::Plain)),
        "rg" if any(&["--pre", "--hostname-bin"]) => None,
        "cd" if arguments.len() != 1 || any(&["-"]) => None,
        "git" => git(arguments),
        _ => known(PLAIN, Does::Plain)
            .or_else(|| known(DESTROYS, Does::Destroys))
            .or_else(|| known(LEAVES, Does::Leaves)),
    }
}

fn git(arguments: &[&str]) -> Option<(&'static str, Does)> {
    // A flag before the command may name another folder or set what is run.
    let (first, rest) = arguments.split_first()?;
    let is = |list: &[&str]| list.contains(first);
    if is(GIT_LEAVES) {
        return Some(("git", Does::Leaves));
    }
    if is(GIT_DESTROYS) {
        return Some(("git", Does::Destroys));
    }
    let runs = [
        "--ext-diff",
        "--textconv",
        "--output",
        "-O",
        "--open-files-in-pager",
    ];
    let plain = is(GIT_PLAIN)
        && !rest
            .iter()
            .any(|it| runs.iter().any(|flag| it.starts_with(flag)));
    plain.then_some(("git", Does::Plain))
}

/// Is one piece of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    /// Another program begins.
    Next,
    /// What it writes goes into a file.
    Into {
        appends: bool,
    },
    /// It reads a file.
    From,
}

/// Cuts a command into pieces; the second value is false where a sign in it can't be read.
fn tokens(command: &str) -> (Vec<Token>, bool) {
    let mut tokens = Vec::new();
    let mut word: Option<String> = None;
    let mut whole = true;
    let mut signs = command.chars().peekable();
    while let Some(c) = signs.next() {
        match c {
            '\'' | '"' => {
                let text = word.get_or_insert_default();
                let mut closed = false;
                while let Some(inner) = signs.next() {
                    match inner {
                        inner if inner == c => {
                            closed = true;
                            break;
                        }
                        '\\' if c == '"' => text.extend(signs.next()),
                        '$' | '`' | '!' if c == '"' => whole = false,
                        inner => text.push(inner),
                    }
                }
                whole &= closed;
            }
            '\\' => match signs.next() {
                Some('\n') | None => whole = false,
                Some(next) => word.get_or_insert_default().push(next),
            },
            '$' | '`' | '!' | '(' | ')' | '{' | '}' | '#' => whole = false,
            '>' => {
                // The number of a stream belongs to the sign.
                let stream = word.take();
                match stream.as_deref() {
                    None | Some("1" | "2") => {}
                    Some(_) => tokens.extend(stream.map(Token::Word)),
                }
                let appends = signs.next_if_eq(&'>').is_some();
                if signs.next_if_eq(&'&').is_some() {
                    // Only one stream into the other.
                    whole &= signs.next().is_some_and(|it| it == '1' || it == '2');
                } else {
                    whole &= signs.next_if_eq(&'|').is_none();
                    tokens.push(Token::Into { appends });
                }
            }
            '<' => {
                tokens.extend(word.take().map(Token::Word));
                whole &= !matches!(signs.peek(), Some('<' | '(' | '>' | '&'));
                tokens.push(Token::From);
            }
            ';' | '|' | '&' | '\n' => {
                tokens.extend(word.take().map(Token::Word));
                whole &= !(c == '&' && signs.peek() == Some(&'>'));
                tokens.push(Token::Next);
            }
            c if c.is_whitespace() => tokens.extend(word.take().map(Token::Word)),
            c => word.get_or_insert_default().push(c),
        }
    }
    tokens.extend(word.take().map(Token::Word));
    // A setting before a program changes what it does.
    let sets = |token: &Token| matches!(token, Token::Word(word) if word.contains('=') && !word.starts_with('-'));
    let begins = std::iter::once(None)
        .chain(tokens.iter().map(Some))
        .zip(&tokens);
    let set = begins
        .filter(|(before, _)| matches!(before, None | Some(Token::Next)))
        .any(|(_, token)| sets(token));
    (tokens.clone(), whole && !set)
}

/// Tells whether a path leads out of a folder, by its letters alone.
pub fn leaves(path: &str, folder: &str) -> bool {
    if folder.is_empty() || path.trim().is_empty() {
        return false;
    }
    let url = path.starts_with("file://");
    let path = match path.strip_prefix("file://") {
        Some(rest) => rest.strip_prefix("localhost").unwrap_or(rest),
        None => path,
    };
    // A drive, a share, another machine: whatever is not known to be inside leads out.
    let elsewhere = url && !path.starts_with('/')
        || path.contains("://")
        || path.contains('\\')
        || path.get(1..2) == Some(":");
    if elsewhere {
        return true;
    }
    let whole = match path.starts_with('/') {
        true => path.to_owned(),
        false if path.starts_with('~') => return true,
        false => format!("{folder}/{path}"),
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
    let inside: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    !parts.starts_with(&inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(command: &str) -> Vec<Finding> {
        let deed = Deed {
            command: Some(command.to_owned()),
            ..Deed::default()
        };
        findings(&deed, "/work/a")
    }

    #[test]
    fn what_only_looks_is_read_whole_and_nothing_is_found() {
        for command in [
            "ls -la",
            "cat src/main.rs | head -n 20",
            "touch notes.txt",
            "grep -rn 'fn main' src && git status",
            "git log --oneline 2>&1 | wc -l",
            "find . -name '*.rs' 2>/dev/null; pwd",
            "echo done >> notes.txt",
            "cat /work/a/x",
        ] {
            assert_eq!(of(command), [], "{command}");
        }
    }

    #[test]
    fn what_destroys_leaves_or_reaches_out_is_found_by_its_name() {
        let outside = |path: &str| Finding::Outside(vec![path.to_owned()]);
        for (command, found) in [
            ("rm -rf build", vec![Finding::Destroys("rm")]),
            ("ls; rm x", vec![Finding::Destroys("rm")]),
            ("echo x > a", vec![Finding::Destroys(">")]),
            ("find . -delete", vec![Finding::Destroys("find")]),
            ("git reset --hard", vec![Finding::Destroys("git")]),
            ("git push", vec![Finding::Leaves("git")]),
            ("curl https://x.example", vec![Finding::Leaves("curl")]),
            ("cat /etc/passwd", vec![outside("/etc/passwd")]),
            ("cat ~/.ssh/id", vec![outside("~/.ssh/id")]),
            ("ls ../b", vec![outside("../b")]),
            ("cat <../b", vec![outside("../b")]),
            ("grep --file=/etc/x a", vec![outside("/etc/x")]),
            ("cat a | \"r\"m b", vec![Finding::Destroys("rm")]),
            (
                "cp /etc/hosts x && curl y",
                vec![
                    Finding::Destroys("cp"),
                    outside("/etc/hosts"),
                    Finding::Leaves("curl"),
                ],
            ),
        ] {
            assert_eq!(of(command), found, "{command}");
        }
    }

    #[test]
    fn what_runs_something_else_or_is_not_known_is_never_read() {
        for command in [
            "sh x.sh",
            "./x",
            "python3 -c 'print(1)'",
            "node x",
            "npm test",
            "make",
            "cargo test",
            "xargs cat",
            "env ls",
            "sudo ls",
            "eval ls",
            "base64 -d x",
            "ls $(pwd)",
            "ls `pwd`",
            "echo $HOME",
            "echo \"$HOME\"",
            "FOO=1 ls",
            "ls; A=b cat x",
            "cat <<X",
            "cat <(ls)",
            "ls (a)",
            "{ ls; }",
            "ls {a,b}",
            "ls # x",
            "a() ls",
            "find . -exec cat {} +",
            "git -C /x status",
            "git -c a=b log",
            "git grep -Ovim x",
            "sed -n p x",
            "awk 1",
            "cat 'x",
            "ls \\\n",
            "cd",
            "cd -",
            "ls &> x",
            "grep -f/etc/x a",
            "purple",
            "rg --pre sh x",
        ] {
            assert!(
                of(command).contains(&Finding::Unread),
                "{command}: {:?}",
                of(command)
            );
        }
    }

    #[test]
    fn edits_are_judged_by_their_paths_and_everything_else_is_not_read() {
        let edits = |paths: &[&str]| {
            let deed = Deed {
                command: None,
                paths: paths.iter().map(|path| (*path).to_owned()).collect(),
                edits: true,
            };
            findings(&deed, "/work/a")
        };
        assert_eq!(edits(&["src/main.rs", "/work/a/b"]), []);
        assert_eq!(edits(&[".git/hooks/pre-commit"]), [Finding::Unread]);
        assert_eq!(
            edits(&["/etc/hosts"]),
            [Finding::Outside(vec!["/etc/hosts".to_owned()])]
        );
        assert_eq!(findings(&Deed::default(), "/work/a"), [Finding::Unread]);
    }

    #[test]
    fn a_path_leaves_the_folder_by_whatever_way_it_is_written() {
        for (path, out) in [
            ("src/main.rs", false),
            ("/work/a/src", false),
            ("/work/a", false),
            ("file:///work/a/x", false),
            ("file://localhost/work/a/x", false),
            ("file://localhost/etc", true),
            ("file://elsewhere/work/a/x", true),
            ("https://example.org/x", true),
            ("C:\\x", true),
            ("C:/x", true),
            ("..\\x", true),
            ("localhost/x", false),
            ("/work/ab", true),
            ("../b", true),
            ("/work/a/../b", true),
            ("src/../../x", true),
            ("~/x", true),
            ("/etc/hosts", true),
            ("", false),
        ] {
            assert_eq!(leaves(path, "/work/a"), out, "{path}");
        }
    }
}
