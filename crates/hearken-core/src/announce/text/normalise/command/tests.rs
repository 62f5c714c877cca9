use std::collections::HashMap;

use proptest::prelude::*;

use super::*;
use crate::announce::words::phrase::{BUILT_IN, Phrases};

fn said(text: &str) -> String {
    command(text, &Words::default())
}

#[test]
fn a_command_sounds_like_what_it_is() {
    for (text, wanted) in [
        ("rm -rf src/", "rm dash rf src slash"),
        ("rm -rf src /", "rm dash rf src root"),
        ("/w/notes.txt", "slash w slash notes dot txt"),
        ("cat /w/notes.txt", "cat space slash w slash notes dot txt"),
        ("rm -rf ./*", "rm dash rf space dot slash star"),
        ("rm -rf . /*", "rm dash rf space dot root star"),
        ("rm old_src", "rm old underscore src"),
        ("rm old src", "rm old src"),
        ("x --y", "x dash dash y"),
        ("x -- y", "x dash dash space y"),
        ("npm run dry-run", "npm run dry hyphen run"),
        ("npm run dry -run", "npm run dry dash run"),
        ("cat README.md", "cat capitals README dot md"),
        ("cat Cargo.toml", "cat capital Cargo dot toml"),
        ("ls -R", "ls dash capital R"),
        ("cat useState.ts", "cat use cap State dot ts"),
        ("cat use State.ts", "cat use capital State dot ts"),
        ("echo HTTPServer", "echo capitals HTTP cap Server"),
        ("rm dash rf", "rm word dash rf"),
        ("echo and then", "echo word and then"),
        ("echo and thin", "echo and thin"),
        ("a & then", "a ampersand space then"),
        ("a && b", "a and then b"),
        ("a&&b", "a joined and then joined b"),
        ("a | b", "a pipe b"),
        ("a | all", "a pipe word all"),
        ("x 2>&1 | tail -5", "x with errors pipe tail dash 5"),
        ("x 2>/dev/null; y", "x without errors semicolon y"),
        ("# list\nterraform destroy", "hash joined space"),
        ("git commit -m \"a b\"", "git commit dash m quote a b quote"),
        ("echo ----", "echo 4 dashes"),
        ("echo 4 dashes", "echo word 4 dashes"),
        ("head -4 | x", "head dash 4 pipe x"),
        ("v1.2.3", "v1 dot 2 dot 3"),
        ("a  b", "a 2 spaces b"),
        ("a\tb", "a tab b"),
        ("word", "word word"),
        ("s\u{443}do", "s lookalike of y U+0443 do"),
        (
            "cat <<'EOF'",
            "cat here document apostrophe capitals EOF apostrophe",
        ),
        ("grep 'a|b' x", "grep apostrophe a pipe b apostrophe x"),
    ] {
        if text.starts_with('#') {
            assert_eq!(said(text), "hash space list, new line, terraform destroy");
            continue;
        }
        assert_eq!(said(text), wanted, "{text:?}");
    }
}

/// What a person who only hears the words can tell apart: no capitals and no punctuation.
fn heard(said: &str) -> String {
    said.to_lowercase()
        .split(|c: char| !c.is_alphanumeric() && c != '+')
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

const MUTATIONS: &[&str] = &[
    " ", "  ", "\t", "\n", "\"", "'", "`", "/", "\\", "-", "--", "_", ".", "..", ",", ":", ";",
    "|", "||", "&", "&&", ">", ">>", "<", "2>&1", "$", "${", "}", "{", "(", ")", "[", "]", "*",
    "?", "!", "#", "%", "^", "+", "=", "~", "@", "a", "A", "b", "1", "12", "é", "\u{430}",
    "\u{43e}", "\u{a0}", "\u{200b}", "\u{301}", "dash", "dot", "space", "word", "new", "line",
    "and", "then", "cap", "capital", "joined", "root", "with", "errors", "hyphen", "2", "spaces",
    "dashes", "pipe", "all",
];

fn mutated(text: &str, random: &mut impl FnMut(usize) -> usize) -> String {
    let places: Vec<usize> = text
        .char_indices()
        .map(|(at, _)| at)
        .chain([text.len()])
        .collect();
    let at = places[random(places.len())];
    let (before, behind) = text.split_at(at);
    let piece = MUTATIONS[random(MUTATIONS.len())];
    match random(4) {
        0 => format!("{before}{piece}{behind}"),
        1 => {
            let next = behind.chars().next().map_or(0, char::len_utf8);
            format!("{before}{}", &behind[next..])
        }
        2 => {
            let next = behind.chars().next().map_or(0, char::len_utf8);
            let c = &behind[..next];
            let other = if c.to_uppercase() == c {
                c.to_lowercase()
            } else {
                c.to_uppercase()
            };
            format!("{before}{other}{}", &behind[next..])
        }
        _ => {
            let next = behind.chars().next().map_or(0, char::len_utf8);
            format!("{before}{piece}{}", &behind[next..])
        }
    }
}

/// White space around a command means nothing to a shell.
fn to_the_shell(text: &str) -> String {
    let mut text = trimmed(text).to_owned();
    for (composite, plain) in [
        ("2> /dev/null", "2>/dev/null"),
        ("&> /dev/null", "&>/dev/null"),
        ("> /dev/null", ">/dev/null"),
    ] {
        text = text.replace(composite, plain);
    }
    text
}

/// No two different commands have the same words, in any language, whatever is changed in them: spaces, quotes, signs,
/// capitals, digits, look-alikes. `HEARKEN_RUNS` sets the number of mutations.
#[test]
fn commands_that_differ_never_sound_the_same() {
    let runs: usize = std::env::var("HEARKEN_RUNS").map_or(30_000, |runs| runs.parse().unwrap());
    let commands: Vec<&str> = ORDINARY
        .lines()
        .map(|line| line.split_once('\t').unwrap().1)
        .collect();
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move |most: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % u64::try_from(most).unwrap()).unwrap()
    };
    for file in &BUILT_IN {
        let tag = file.tag;
        let phrases = Phrases::built_in(file).unwrap();
        let words = phrases.lexicon().words();
        let mut by_words: HashMap<String, String> = HashMap::new();
        for at in 0..runs / 3 {
            let mut text = unescaped(commands[at % commands.len()]);
            for _ in 0..=random(3) {
                text = mutated(&text, &mut random);
            }
            let heard = heard(&command(&text, words));
            let meant = to_the_shell(&text);
            if let Some(other) = by_words.insert(heard.clone(), meant.clone()) {
                assert_eq!(other, meant, "{tag}: both are {heard:?}");
            }
        }
    }
}

const ORDINARY: &str = include_str!("../../../../../../../tests/fixtures/commands.tsv");

fn unescaped(text: &str) -> String {
    text.replace("\\\\", "\u{1}")
        .replace("\\n", "\n")
        .replace("\\t", "\t")
        .replace('\u{1}', "\\")
}

/// Ordinary commands take at most a tenth more words than in an ambiguous wording.
#[test]
fn ordinary_commands_take_few_more_words() {
    let (mut before, mut now, mut count) = (0, 0, 0);
    for line in ORDINARY.lines() {
        let (words, text) = line.split_once('\t').unwrap();
        before += words.parse::<usize>().unwrap();
        now += said(&unescaped(text)).split_whitespace().count();
        count += 1;
    }
    assert!(count >= 500, "{count} commands");
    assert!(now * 10 <= before * 11, "{now} words, before {before}");
}

proptest! {
    #[test]
    fn any_text_is_said_and_no_word_is_empty(text in "\\PC{0,40}") {
        let said = said(&text);
        prop_assert!(!said.contains("  ") && !said.starts_with(' ') && !said.ends_with(' '), "{said:?}");
    }
}
