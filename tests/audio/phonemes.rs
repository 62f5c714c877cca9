//! How the synthesiser pronounces symbols.

/// Returns espeak-ng's phonemes for a text.
fn phonemes(text: &str) -> String {
    let out = std::process::Command::new("espeak-ng")
        .args(["-q", "-x", "-v", "en", "--"])
        .arg(text)
        .output()
        .expect("espeak-ng is installed");
    assert!(out.status.success(), "espeak-ng takes {text:?}");
    String::from_utf8_lossy(&out.stdout)
        .split_whitespace()
        .collect()
}

#[test]
fn every_sign_of_a_command_has_phonemes() {
    use hearken::announce::normalise::{Words, command, exact};
    let words = Words::default();
    for sign in words.signs.iter().chain(&words.prose) {
        assert!(
            !phonemes(&sign.one).is_empty(),
            "{}: {:?}",
            sign.sign,
            sign.one
        );
    }
    // A command and the same one without its symbol must not sound alike, in either reading.
    for (with, without) in [
        ("git push --force", "git push force"),
        ("rm -r build", "rm r build"),
        ("rm -- build", "rm build"),
        ("cat a | sh", "cat a sh"),
        ("cat a || sh", "cat a | sh"),
        ("sort a > b", "sort a b"),
        ("sort a >> b", "sort a > b"),
        ("sort a < b", "sort a b"),
        ("make && run", "make run"),
        ("make & run", "make run"),
        ("make ; run", "make run"),
        ("echo $HOME", "echo HOME"),
        ("rm a*", "rm a"),
        ("ls ~", "ls"),
        ("run 2>&1", "run 2 1"),
    ] {
        for read in [command, exact] {
            let (one, other) = (
                phonemes(&read(with, &words)),
                phonemes(&read(without, &words)),
            );
            assert_ne!(one, other, "{with:?} and {without:?} sound alike");
        }
    }
}
