//! Hostile text: any command is read in bounded time and without a panic.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::{Duration, Instant};

use hearken_shell::{FileAccess, Folders, read, touches};
use proptest::prelude::*;

/// Far more than these commands need on a busy machine; without bounds in the reader they would take hours.
const MOST: Duration = Duration::from_secs(20);

#[test]
fn a_huge_command_is_read_in_time() {
    let begin = Instant::now();
    for piece in [
        "a",
        "(",
        "{",
        "[",
        "$(",
        "`",
        "\"",
        "'",
        "$'",
        "<<a\n",
        "$((",
        "((",
        "[[",
        "{a,b}",
        "a;",
        "a|",
        "a&&",
        "sh -c '",
        "if a; then ",
        "for a in b; do ",
        "case a in a) ",
        "f() { f; }; f;",
        "a=b ",
        "x=$x$x; ",
        "sudo ",
        "xargs ",
        "env ",
        "eval ",
        "$(rm ",
        "> a ",
        "\\",
        "\\\n",
        "\u{301}",
        "é",
        "\u{202e}",
        "Remove-Item (",
        "cmd /c \"",
        "for %a in (b) do ",
        "git -c a=b ",
        "find -exec ",
        "sed s/a/b/;",
        "awk '{",
        "-",
        "--a=",
        "*",
        "~/",
        "../",
        "@",
    ] {
        for count in [10, 1000, 30_000] {
            let _ = read(&piece.repeat(count), &Folders::default());
            let _ = read(
                &format!("echo {}", piece.repeat(count)),
                &Folders::default(),
            );
        }
    }
    // Loops can't multiply without bounds.
    let _ = read(
        "for a in 1 2 3 4; do for b in 1 2 3 4; do for c in 1 2 3 4; do for d in 1 2 3 4; do rm $a$b$c$d; done; done; done; done",
        &Folders::default(),
    );
    let _ = read(&"f() { f; f; f; f; }; ".repeat(200), &Folders::default());
    let _ = read(
        &format!(
            "{} f",
            "f() { g; g; g; g; }; g() { h; h; h; h; }; h() { f; f; f; }; ".repeat(20)
        ),
        &Folders::default(),
    );
    assert!(begin.elapsed() < MOST, "{:?}", begin.elapsed());
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(text in "\\PC{0,60}", folder in proptest::option::of("\\PC{0,20}")) {
        let place = Folders { folder, start: None };
        let reading = read(&text, &place);
        prop_assert!(reading.findings.len() < 100);
        for touch in [FileAccess::Read, FileAccess::Edit, FileAccess::Delete] {
            touches(&text, touch, &place);
        }
    }

    #[test]
    fn shell_syntax_is_read_without_a_panic(text in "[a-c $(){}\\[\\]<>|&;'\"`\\\\\n=*?!~#0-9.,/-]{0,80}") {
        let place = Folders::default();
        // The same text always gives the same report.
        prop_assert_eq!(read(&text, &place), read(&text, &place));
    }
}
