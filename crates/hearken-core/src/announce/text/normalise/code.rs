//! Inline code: what it is, and how it is read.
//!
//! Responsibilities: telling shell commands from other code. Not here: where inline code is (`span`), the names
//! of signs (`words`), reading sign by sign (`signs`).
//!
//! Mental model: the same sign redirects in a shell and compares everywhere else. Code is shell only if something shows
//! it: a known program at its start, an option, a redirection to a file, words joined as only a shell joins them.

/// How many bytes of code are examined; a command is known by its beginning.
const LOOK: usize = 400;

/// Words that begin code of other languages; some are also programs.
const BEGINS: [&str; 42] = [
    "ALTER", "CREATE", "DELETE", "DROP", "FROM", "INSERT", "JOIN", "SELECT", "UPDATE", "WHERE",
    "WITH", "and", "assert", "async", "await", "case", "class", "const", "def", "elif", "else",
    "enum", "fn", "for", "func", "function", "if", "impl", "import", "lambda", "let", "match",
    "not", "or", "pub", "return", "static", "struct", "type", "var", "when", "while",
];

/// The signs that may follow the name of a program.
const JOINS: [&str; 11] = [
    "<", ">", ">>", "<<", "<<<", "|", "&&", "||", "2>", "&>", "&",
];

/// Returns whether inline code is a shell command.
pub(super) fn is_shell(code: &str) -> bool {
    let mut end = code.len().min(LOOK);
    while !code.is_char_boundary(end) {
        end -= 1;
    }
    let code = &code[..end];
    let mut words = code.split_whitespace();
    let first = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default();
    if code.contains("; then")
        || code.contains("; do")
        || first == "["
        || first == "[["
        || first == "$"
    {
        return true;
    }
    if BEGINS.contains(&first) || code.starts_with('<') && !code.starts_with("<(") {
        return false;
    }
    // Text between quotes is for the program, not for the shell.
    if code.contains(['<', '>']) && !unquoted(code).contains(['<', '>', '|', '&', ';']) {
        return false;
    }
    if compares_numbers(code) {
        return false;
    }
    let is_operator = |word: &str| word.bytes().all(|b| b"=!<>-+*/%&|:?".contains(&b));
    if is_command(first) && (second.is_empty() || !is_operator(second) || JOINS.contains(&second)) {
        return true;
    }
    if redirects(code) {
        return true;
    }
    let has_mark = [
        "=>", "->", "==", "!=", "<=", ">=", ":=", "::", "<-", "<>", " = ", "();",
    ]
    .iter()
    .any(|mark| code.contains(mark));
    if has_mark || first.contains(['(', '<', '[', '{']) {
        return false;
    }
    let has_option = code.split_whitespace().skip(1).any(is_option);
    has_option || joins_commands(code)
}

/// Returns code without the text between quotes.
fn unquoted(code: &str) -> String {
    let mut quote = None;
    let outside = |c: &char| match quote {
        Some(open) => {
            if *c == open {
                quote = None;
            }
            false
        }
        None => {
            if matches!(c, '"' | '\'') {
                quote = Some(*c);
            }
            quote.is_none()
        }
    };
    code.chars().filter(outside).collect()
}

fn is_command(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    let is_path =
        word.starts_with("./") || word.starts_with('/') && word.len() > 1 || word.starts_with("~/");
    is_path || hearken_shell::is_program(name)
}

fn is_option(word: &str) -> bool {
    let name = word.trim_start_matches('-');
    let dashes = word.len() - name.len();
    (1..=2).contains(&dashes)
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && !name.contains(['(', ')', '>'])
}

/// Returns whether an angle bracket stands between two amounts, or before a number.
fn compares_numbers(code: &str) -> bool {
    code.match_indices(['<', '>']).any(|(at, _)| {
        let before = code[..at].trim_end_matches(['<', '>']).chars().next_back();
        let after = code[at + 1..].trim_start();
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let behind = after[digits..].chars().next();
        before == Some(' ')
            && digits > 0
            && behind.is_none_or(|c| matches!(c, ' ' | ')' | ';' | ':' | ',' | '.'))
    })
}

/// Returns whether code has an unmistakable redirection.
fn redirects(code: &str) -> bool {
    let is_file = |word: &str| {
        let known = [
            ".txt", ".log", ".json", ".csv", ".md", ".out", ".err", ".sql", ".html", ".xml",
            ".yml", ".yaml", ".toml", ".tsv", ".gz", ".conf", ".sh", ".py", ".diff", ".patch",
        ];
        word.starts_with("./")
            || word.starts_with("../")
            || word.starts_with("/") && word.len() > 1
            || word.starts_with("~/")
            || word.starts_with('&') && word[1..].starts_with(|c: char| c.is_ascii_digit())
            || known.iter().any(|ending| word.ends_with(ending))
    };
    let marks = code
        .match_indices(['<', '>'])
        .filter(|(at, _)| !code[..*at].ends_with(['=', '-', '<']));
    marks.into_iter().any(|(at, mark)| {
        let behind = code[at..].trim_start_matches(mark);
        if mark == "<"
            && code[at..].starts_with("<<")
            && behind.starts_with(|c: char| c.is_ascii_uppercase() || matches!(c, '\'' | '"' | '-'))
        {
            return true;
        }
        behind.split_whitespace().next().is_some_and(is_file)
    })
}

/// Returns whether code consists of plain words that `|`, `&&` or `||` join, as in "ls | wc".
fn joins_commands(code: &str) -> bool {
    let has_pipe = code.contains(" | ");
    if !(has_pipe || code.contains(" && ") || code.contains(" || ")) {
        return false;
    }
    const TYPES: [&str; 14] = [
        "None",
        "null",
        "undefined",
        "str",
        "int",
        "float",
        "bool",
        "string",
        "number",
        "boolean",
        "bytes",
        "nil",
        "true",
        "false",
    ];
    code.split_whitespace().all(|word| {
        let word = word.trim_end_matches([';', '&']);
        let is_sign = matches!(word, "" | "|" | "&&" | "||" | ">" | "<" | ">>")
            && (has_pipe || !word.contains(['<', '>']));
        let is_plain = word
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-./".contains(&b))
            && !word.starts_with(|c: char| c.is_ascii_digit());
        is_sign || is_plain && !TYPES.contains(&word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_is_told_from_other_code() {
        for code in [
            "cat a > b",
            "ls | wc",
            "echo $HOME",
            "git log --oneline",
            "make 2>&1 | tee log",
            "sort < names.txt",
            "a && b | c > d",
            "mytool --fast >out.log",
            "./run.sh > /dev/null",
            "cat <<EOF",
            "[ -f a ] && b",
            "for f in *; do rm $f; done",
            "frobnicate -v",
            "a | b",
            "x || y; z &",
            "cat << EOF",
        ] {
            assert!(is_shell(code), "{code}");
        }
        for code in [
            "x > 0",
            "length(x) > 0",
            "x != []",
            "SELECT * FROM t WHERE a > 5 AND b < 3",
            "if x > 0 and y < 2:",
            "->",
            "List<T>",
            "<div class=\"a\">",
            "i << 2",
            "x >> 1",
            "n >= 3",
            "(a) => b",
            "a -> b",
            "int | None",
            "a < b",
            "sort > 0",
            "x > y && a < b",
            "Result<(), Error>",
            "awk '$1 > 5' file",
            "grep \"=>\" a.js",
            "let x = a > b;",
            "a <- b",
            "",
        ] {
            assert!(!is_shell(code), "{code}");
        }
    }
}
