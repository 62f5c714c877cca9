//! The command inside the shell call in which an agent wraps it.
//!
//! Responsibilities: unwrapping it if the call contains nothing else. Not here: what the command does (`announce`).

/// The double quote around a word of a shell command.
const QUOTE: char = '\u{22}';

/// Returns the command that a shell is started for, if it is started for nothing else; otherwise the text unchanged.
///
/// Codex runs every command as `/bin/bash -lc '…'`; a person who hears that fifty times a day hears nothing else.
pub fn unwrapped(command: &str) -> String {
    inner(command).unwrap_or_else(|| command.to_owned())
}

/// Does the same for a command given word by word, which leaves nothing to guess.
pub fn script<'a>(words: &[&'a str]) -> Option<&'a str> {
    match words {
        [shell, flag, script] if runs_next(shell, flag) => Some(script),
        _ => None,
    }
}

fn inner(command: &str) -> Option<String> {
    let (shell, rest) = command.split_once(' ')?;
    let (flag, word) = rest.split_once(' ')?;
    if !runs_next(shell, flag) {
        return None;
    }
    if let Some(quoted) = word.strip_prefix('\'') {
        // Everything inside single quotes is literal.
        let quoted = quoted.strip_suffix('\'')?;
        return (!quoted.is_empty() && !quoted.contains('\'')).then(|| quoted.to_owned());
    }
    if let Some(quoted) = word.strip_prefix(QUOTE) {
        let mut plain = String::new();
        let mut chars = quoted.chars();
        loop {
            match chars.next()? {
                QUOTE => break,
                '\\' => match chars.next()? {
                    c @ (QUOTE | '\\' | '$' | '`') => plain.push(c),
                    _ => return None,
                },
                // The values of these are known only at run time.
                '$' | '`' | '!' => return None,
                c => plain.push(c),
            }
        }
        return (chars.next().is_none() && !plain.is_empty()).then_some(plain);
    }
    let simple = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    (!word.is_empty() && word.chars().all(simple)).then(|| word.to_owned())
}

/// Returns whether this is a known shell that runs the word after the flag, and nothing else.
fn runs_next(shell: &str, flag: &str) -> bool {
    let (folder, name) = shell.rsplit_once('/').unwrap_or(("/bin", shell));
    let known = matches!(folder, "/bin" | "/usr/bin") && matches!(name, "bash" | "sh" | "zsh");
    known && matches!(flag, "-c" | "-lc")
}

#[cfg(test)]
mod tests {
    use super::{script, unwrapped};

    #[test]
    fn a_command_is_taken_out_of_its_shell_only_where_nothing_else_is_in_it() {
        for (given, wanted) in [
            ("/bin/bash -lc 'touch a.txt'", "touch a.txt"),
            ("bash -c ls", "ls"),
            ("/usr/bin/zsh -lc \"echo it's \\$5\"", "echo it's $5"),
            ("/bin/bash -lc 'a' 'b'", "/bin/bash -lc 'a' 'b'"),
            ("/bin/bash -lc 'it'\\''s'", "/bin/bash -lc 'it'\\''s'"),
            ("/bin/bash -lc \"$(x)\"", "/bin/bash -lc \"$(x)\""),
            ("/bin/bash -lc \"a\" b", "/bin/bash -lc \"a\" b"),
            ("/tmp/bash -lc 'a'", "/tmp/bash -lc 'a'"),
            ("/bin/bash -xc 'a'", "/bin/bash -xc 'a'"),
            ("/bin/bash -lc a b", "/bin/bash -lc a b"),
            ("/bin/bash -lc ''", "/bin/bash -lc ''"),
            ("rm -r x", "rm -r x"),
            ("", ""),
        ] {
            assert_eq!(unwrapped(given), wanted, "{given}");
        }
    }
    #[test]
    fn the_words_of_a_call_leave_nothing_to_be_guessed() {
        let quoted = "echo 'a b' \"$(x)\"";
        assert_eq!(script(&["/bin/bash", "-lc", quoted]), Some(quoted));
        assert_eq!(script(&["sh", "-c", "ls"]), Some("ls"));
        for other in [
            &["/tmp/bash", "-c", "ls"][..],
            &["bash", "-xc", "ls"],
            &["bash", "-c", "ls", "more"],
            &["bash", "-c"],
        ] {
            assert_eq!(script(other), None, "{other:?}");
        }
    }
}
