//! The corpus of spoken words, and hostile text.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

use super::*;
use proptest::prelude::*;

fn now() -> Option<Timestamp> {
    "2026-05-24T15:00:00Z".parse().ok()
}

/// Reads the escapes of the corpus: \n \t \\ \0 \e and \u{...}.
fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('0') => out.push('\0'),
            Some('e') => out.push('\u{1B}'),
            Some('u') => {
                let code: String = chars.by_ref().skip(1).take_while(|c| *c != '}').collect();
                out.push(char::from_u32(u32::from_str_radix(&code, 16).unwrap()).unwrap());
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}

#[test]
fn the_corpus_is_said_as_written() {
    let corpus = include_str!("../../../tests/fixtures/normalise.tsv");
    let normaliser = Normaliser::default();
    let mut cases = 0;
    let mut wrong = 0;
    for line in corpus
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
    {
        let [profile, input, wanted] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("not three columns: {line}");
        };
        let input = unescape(input);
        let wanted = unescape(wanted);
        let spoken = match profile {
            "prose" => normaliser.prose(&input, &Context::Prose, None),
            "now" => normaliser.prose(&input, &Context::Prose, now()),
            "command" => normaliser.command(&input),
            "exact" => normaliser.exact(&input),
            "clean" => {
                let cleaned = clean(&input, Lines::Keep);
                Spoken {
                    text: cleaned.text.into_owned().into(),
                    hidden: cleaned.hidden,
                }
            }
            other => panic!("no such profile: {other}"),
        };
        cases += 1;
        if spoken.text != wanted {
            wrong += 1;
            eprintln!(
                "{profile} {input:?}\n   said {:?}\n wanted {wanted:?}",
                spoken.text
            );
        }
    }
    assert_eq!(wrong, 0, "of {cases}");
    assert!(cases >= 150, "{cases}");
}

#[test]
fn every_sign_of_a_command_is_heard() {
    let normaliser = Normaliser::default();
    for sign in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~".chars() {
        for command in [
            format!("a {sign} b"),
            format!("a{sign}b"),
            format!("{sign}a"),
            format!("a{sign}"),
        ] {
            let bare = normaliser.command(&command.replace(sign, " "));
            let said = normaliser.command(&command);
            assert!(
                said.text.split_whitespace().count() > bare.text.split_whitespace().count(),
                "{command:?} is said {:?}",
                said.text
            );
            assert!(
                said.text.chars().all(|c| c.is_alphanumeric() || c == ' '),
                "{command:?} is said {:?}",
                said.text
            );
        }
    }
}

#[test]
fn another_language_replaces_every_word() {
    let words: Words = toml::from_str(
        "heading = \"Überschrift {text}\"\nlink = \"{text}, Verweis\"\n[lines]\none = \"1 Zeile\"\nmany = \"{count} Zeilen\"\n",
    )
    .unwrap();
    let normaliser = Normaliser::new(words, Pronunciation::default());
    let said = |text| {
        normaliser
            .prose(text, &Context::Prose, None)
            .text
            .into_owned()
    };
    assert_eq!(said("# Plan"), "Überschrift Plan");
    assert_eq!(said("```\na\nb\n```"), "code block, 2 Zeilen.");
    assert_eq!(said("siehe [hier](http://x.de)"), "siehe hier, Verweis");
}

#[test]
fn a_persons_own_words_win() {
    let pairs = [
        ("PostgreSQL", "post gres"),
        ("kubectl", "kube control"),
        ("db", "database"),
    ];
    let dictionary = Pronunciation::new(pairs.map(|(a, b)| (a.to_owned(), b.to_owned())));
    let normaliser = Normaliser::new(Words::default(), dictionary);
    let said = |text| {
        normaliser
            .prose(text, &Context::Prose, None)
            .text
            .into_owned()
    };
    assert_eq!(said("PostgreSQL is up."), "post gres is up.");
    assert_eq!(said("The my_db table."), "The my database table.");
    assert_eq!(
        normaliser.command("kubectl -n x").text,
        "kube control dash n x"
    );
}

#[test]
fn a_piece_from_the_middle_of_a_block_is_known_as_such() {
    let normaliser = Normaliser::default();
    let code = Context::Code("rust".to_owned());
    assert_eq!(
        normaliser
            .prose("let a = 1;\nlet b;\n```\n", &code, None)
            .text,
        "the code goes on, 2 lines."
    );
    let table = Context::Table("| Name | Size |".to_owned());
    assert_eq!(
        normaliser
            .prose("| foo | 3 |\n| bar | 4 |\n", &table, None)
            .text,
        "Name: foo, Size: 3. Name: bar, Size: 4."
    );
}

#[test]
fn plain_prose_is_borrowed() {
    let normaliser = Normaliser::default();
    for text in [
        "The tests pass, and the file is well-known.",
        "It's 3.5 times faster (I think): \"good\"!",
        "Größe – “quoted” 你好。",
    ] {
        let spoken = normaliser.prose(text, &Context::Prose, None);
        assert!(matches!(spoken.text, Cow::Borrowed(_)), "{text:?}");
        assert_eq!(spoken.text, text);
    }
}

fn hard() -> impl Strategy<Value = String> {
    let atoms = prop::sample::select(vec![
        "word",
        "Camel",
        "a_b",
        " ",
        " ",
        "\n",
        "# ",
        "- ",
        "1. ",
        "> ",
        "| a ",
        "|\n",
        "```",
        "`",
        "[",
        "](",
        ")",
        "!",
        "<",
        ">",
        "&amp;",
        "*",
        "**",
        "__",
        "~~",
        "--flag",
        "-x",
        "https://a.b/c",
        "/usr/x",
        "9f86d081884c",
        "2026-05-24T14:22:11Z",
        "=====",
        "🎉",
        "👨‍👩‍👧",
        "─",
        "⠋",
        "→",
        "\u{202E}",
        "\u{1B}[31m",
        "\0",
        "\\",
        "$",
        "(",
        "&",
        ";",
        "…",
        "é",
        "你",
        "\u{A0}",
        "\u{301}",
        "🇩🇪",
        "'",
        "\"",
        ".",
        "42",
    ]);
    prop::collection::vec(atoms, 0..30).prop_map(|parts| parts.concat())
}

#[test]
fn every_sign_of_a_command_in_a_question_is_heard() {
    let normaliser = Normaliser::default();
    for sign in "|&;<>$`*~\\\"(){}[]=?!#^+@/_".chars() {
        for command in [
            format!("Run rm -r a{sign}b now"),
            format!("Run rm -r {sign}b now"),
            format!("Run rm -r {sign} b"),
        ] {
            let said = normaliser.exact(&command);
            let bare = normaliser.exact(&command.replace(sign, " "));
            assert!(
                said.text.split_whitespace().count() > bare.text.split_whitespace().count(),
                "{command:?} is said {:?}",
                said.text
            );
            assert!(
                !said.text.contains(sign),
                "{command:?} is said {:?}",
                said.text
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn the_quick_look_agrees_with_the_work(text in hard(), words in "[a-zA-Z0-9 .,;:!?'()%-]{0,40}") {
        for text in [&text, &words] {
            let text = text.trim();
            if prose::is_plain(text) {
                let mut out = String::new();
                blocks::said(&Words::default(), text, &Context::Prose, now(), &mut out);
                prop_assert_eq!(out.trim(), text);
            }
        }
    }

    #[test]
    fn no_text_makes_it_fail_and_nothing_unsafe_is_said(text in hard(), other in any::<String>()) {
        let normaliser = Normaliser::default();
        for text in [&text, &other] {
            for context in [Context::Prose, Context::Code(text.clone()), Context::Table(text.clone())] {
                let spoken = normaliser.prose(text, &context, now());
                prop_assert!(!spoken.text.contains(|c: char| c.is_control()), "{:?}", spoken);
                prop_assert_eq!(spoken.text.trim(), &spoken.text);
            }
            for spoken in [normaliser.command(text), normaliser.exact(text)] {
                prop_assert!(!spoken.text.contains(|c: char| c.is_control()), "{:?}", spoken);
            }
        }
    }

    #[test]
    fn letters_of_a_command_and_of_a_question_are_all_said(text in hard()) {
        let normaliser = Normaliser::default();
        let text = clean(&text, Lines::Keep).text.into_owned();
        for spoken in [normaliser.command(&text), normaliser.exact(&text)] {
            let mut said = spoken.text.chars();
            for c in text.chars().filter(|c| c.is_alphanumeric()) {
                prop_assert!(said.any(|other| other == c), "{c:?} of {text:?} in {:?}", spoken.text);
            }
        }
    }

    #[test]
    fn words_of_prose_without_markup_are_all_said(words in prop::collection::vec("[a-zäöü]{1,7}", 1..20)) {
        let text = words.join(" ");
        let spoken = Normaliser::default().prose(&text, &Context::Prose, None).text.into_owned();
        prop_assert_eq!(spoken, text);
    }
}

#[test]
fn the_work_is_linear_in_the_length() {
    let normaliser = Normaliser::default();
    for unit in [
        "a", "a ", "`", "` ", "[", "[a](", "![", "<", "<a ", "*", "**a", "&", "|", "| a ", "\n",
        "# ", "=", "🎉", "─", "e\u{301}", "-", "- ", "--a ", "a/b/", "_a", "aB", "0a", "://", "&&",
        "$(", "```\n", "\u{1B}]", "\u{1B}[", "1. ", "(", "\\", "\u{200D}",
    ] {
        let text = unit.repeat(60_000 / unit.len());
        let start = std::time::Instant::now();
        normaliser.prose(&text, &Context::Prose, now());
        let prose = start.elapsed();
        normaliser.command(&text);
        normaliser.exact(&text);
        let took = start.elapsed();
        assert!(
            took.as_secs() < 10,
            "{unit:?} took {took:?}, prose {prose:?}"
        );
    }
}
