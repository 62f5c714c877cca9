//! Hints, pauses, positions, and the property that no text is lost or duplicated.

use super::*;
use proptest::prelude::*;

const T0: Duration = Duration::ZERO;

fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

fn say(text: &str, hint: Hint) -> Chunk<'_> {
    Chunk {
        text,
        hint,
        ..Chunk::default()
    }
}

fn texts(pieces: &[SpokenPiece]) -> Vec<&str> {
    pieces.iter().map(|p| p.text.as_str()).collect()
}

fn fresh() -> Coalescer {
    Coalescer::new(CoalesceSettings::default())
}

#[test]
fn absent_hints_are_cut_at_real_ends() {
    let mut c = fresh();
    assert_eq!(texts(&c.push(say("Hello Dr. ", Hint::Absent), T0)), [""; 0]);
    let pieces = c.push(say("Smith. How are", Hint::Absent), T0);
    assert_eq!(texts(&pieces), ["Hello Dr. Smith. "]);
    assert_eq!(pieces[0].ends, Boundary::Sentence);
    let pieces = c.push(end_chunk(), T0);
    assert_eq!(texts(&pieces), ["How are"]);
    assert_eq!(pieces[0].ends, Boundary::Completion);
    assert!(c.is_complete());
}

#[test]
fn hints_end_where_they_say() {
    let mut c = fresh();
    let pieces = c.push(say("One. Two. And three, ", Hint::Sentence), T0);
    assert_eq!(texts(&pieces), ["One. ", "Two. ", "And three, "]);
    let pieces = c.push(say("Four.", Hint::Paragraph), T0);
    assert_eq!(texts(&pieces), ["Four."]);
    assert_eq!(pieces[0].ends, Boundary::Paragraph);
    let pieces = c.push(say(" Five!", Hint::Completion), T0);
    assert_eq!(texts(&pieces), [" Five!"]);
    assert_eq!(pieces[0].ends, Boundary::Completion);
    assert!(!c.is_complete());
}

#[test]
fn a_hint_in_the_middle_of_a_word_lies() {
    let mut c = fresh();
    assert!(c.push(say("Hel", Hint::Sentence), T0).is_empty());
    assert!(c.push(say("lo wor", Hint::Sentence), T0).is_empty());
    assert_eq!(
        texts(&c.push(say("ld. Next", Hint::Absent), T0)),
        ["Hello world. "]
    );
    // The word was complete after all.
    assert!(c.push(say(" step", Hint::Sentence), T0).is_empty());
    assert_eq!(texts(&c.push(say(" go", Hint::Absent), T0)), ["Next step"]);
    // A number, an abbreviation.
    let mut c = fresh();
    assert!(c.push(say("Version 3.", Hint::Sentence), T0).is_empty());
    assert!(c.push(say("5 is here", Hint::Absent), T0).is_empty());
    let mut c = fresh();
    assert!(c.push(say("Ask Dr.", Hint::Sentence), T0).is_empty());
    assert_eq!(
        texts(&c.push(say(" Smith.", Hint::Sentence), T0)),
        ["Ask Dr. Smith."]
    );
}

#[test]
fn who_marks_every_token_as_a_sentence_is_not_believed_after_the_third_time() {
    let mut c = fresh();
    let mut heard = Vec::new();
    for token in [
        "I", " looked", " at", " the", " file", ".", " It", " is", " fine", ".", " Really", ".",
    ] {
        heard.extend(c.push(say(token, Hint::Sentence), T0));
    }
    heard.extend(c.push(end_chunk(), T0));
    assert_eq!(
        texts(&heard),
        [
            "I",
            " looked",
            " at",
            " the file. ",
            "It is fine. ",
            "Really."
        ]
    );
    assert_eq!(c.take_notes(), [PositionNote::Unbelieved]);
    assert_eq!(c.take_notes(), []);

    // Correct hints are always believed, even if nothing else ends the sentence.
    let mut c = fresh();
    for text in [
        "All tests passed ",
        "Next: deploy. ",
        "## Result\n",
        "Done ",
    ] {
        assert_eq!(texts(&c.push(say(text, Hint::Sentence), T0)), [text]);
    }
    assert_eq!(c.take_notes(), []);

    // An agent known for false hints is not believed from the start.
    let mut c = Coalescer::new(CoalesceSettings {
        believe: false,
        ..CoalesceSettings::default()
    });
    assert!(c.push(say("I ", Hint::Sentence), T0).is_empty());
    assert_eq!(c.take_notes(), []);
}

#[test]
fn a_doubted_hint_is_believed_after_a_long_silence() {
    let mut c = fresh();
    assert!(
        c.push(say("All tests passed", Hint::Sentence), T0)
            .is_empty()
    );
    assert_eq!(c.looked_at(), Some(ms(2700)));
    assert!(c.flush_due(ms(900)).is_empty());
    assert_eq!(texts(&c.flush_due(ms(2700))), ["All tests passed"]);
    assert_eq!(c.looked_at(), None);
}

#[test]
fn explicit_none_waits_for_a_hint_or_the_end() {
    let mut c = fresh();
    assert!(c.push(say("One. Two. Thr", Hint::None), T0).is_empty());
    assert_eq!(c.looked_at(), None);
    assert!(c.flush_due(ms(10_000)).is_empty());
    assert!(c.push(say("ee. Fo", Hint::None), T0).is_empty());
    let pieces = c.push(say("ur five ", Hint::Word), T0);
    assert_eq!(texts(&pieces), ["One. ", "Two. ", "Three. "]);

    // Text before it without a hint is not held, and a later boundary found in the text frees it.
    let mut c = fresh();
    assert!(c.push(say("One. ", Hint::Absent), T0).is_empty());
    assert_eq!(texts(&c.push(say("Two. ", Hint::None), T0)), ["One. "]);
    assert!(c.push(say("Three", Hint::Absent), T0).is_empty());
    assert_eq!(
        texts(&c.push(say(" it is. Yes", Hint::Absent), T0)),
        ["Two. ", "Three it is. "]
    );

    let mut c = Coalescer::new(CoalesceSettings {
        relax_none: true,
        ..CoalesceSettings::default()
    });
    assert_eq!(texts(&c.push(say("One. Two", Hint::None), T0)), ["One. "]);
}

#[test]
fn a_pause_says_the_clause_and_never_half_a_word() {
    let mut c = fresh();
    assert!(
        c.push(say("I looked at the file, and it se", Hint::Absent), T0)
            .is_empty()
    );
    assert_eq!(c.looked_at(), Some(ms(900)));
    assert!(c.flush_due(ms(899)).is_empty());
    let pieces = c.flush_due(ms(900));
    assert_eq!(texts(&pieces), ["I looked at the file, "]);
    assert_eq!(pieces[0].ends, Boundary::Clause);
    assert!(c.flush_due(ms(9000)).is_empty());
    let pieces = c.push(say("ems fine. OK", Hint::Absent), ms(9000));
    assert_eq!(texts(&pieces), ["and it seems fine. "]);

    let mut c = fresh();
    c.push(say("let me look at thi", Hint::Absent), T0);
    assert_eq!(texts(&c.flush_due(ms(900))), ["let me look at "]);
    let mut c = fresh();
    c.push(say("Done.", Hint::Absent), T0);
    assert_eq!(texts(&c.flush_due(ms(900))), ["Done."]);
    let mut c = fresh();
    c.push(say("- first item\n", Hint::Absent), T0);
    assert_eq!(texts(&c.flush_due(ms(900))), ["- first item\n"]);
    let mut c = fresh();
    c.push(say("so far,", Hint::Absent), T0);
    assert_eq!(texts(&c.flush_due(ms(900))), ["so far,"]);
    for unfinished in [
        "Wait",
        "let me",
        "It costs 1,",
        "I met Dr.",
        "in `a, b c d e",
        "```rust\nlet a, b;\n",
    ] {
        let mut c = fresh();
        c.push(say(unfinished, Hint::Absent), T0);
        assert_eq!(texts(&c.flush_due(ms(900))), [""; 0], "{unfinished:?}");
    }
}

#[test]
fn code_is_one_piece_whatever_is_hinted() {
    let mut c = fresh();
    assert!(
        c.push(say("```rust\nlet a = 1.", Hint::Sentence), T0)
            .is_empty()
    );
    assert!(c.push(say("\n\nlet b;\n", Hint::Paragraph), T0).is_empty());
    let pieces = c.push(say("```\nDone.", Hint::Sentence), T0);
    assert_eq!(
        texts(&pieces),
        ["```rust\nlet a = 1.\n\nlet b;\n```\n", "Done."]
    );
    assert_eq!(pieces[0].ends, Boundary::Block);
}

#[test]
fn the_language_splits_a_piece() {
    let mut c = fresh();
    let chunk = |text, language| Chunk {
        text,
        language,
        ..Chunk::default()
    };
    let (en, de) = (Arc::from("en"), Arc::from("de"));
    assert!(c.push(chunk("The word is ", Some(&en)), T0).is_empty());
    let pieces = c.push(chunk("Zeit, z. B. ", Some(&de)), T0);
    assert_eq!(texts(&pieces), ["The word is "]);
    assert_eq!(pieces[0].ends, Boundary::Language);
    assert_eq!(pieces[0].language.as_deref(), Some("en"));
    assert!(c.push(chunk("am 12. Juni", None), T0).is_empty());
    let pieces = c.push(chunk("\u{301}. Yes. N", Some(&Arc::from("en"))), T0);
    assert_eq!(
        texts(&pieces),
        ["Zeit, z. B. am 12. Juni\u{301}", ". Yes. "]
    );
    assert_eq!(pieces[0].language.as_deref(), Some("de"));
}

#[test]
fn low_load_waits_for_the_whole_and_high_takes_clauses() {
    let mut c = Coalescer::new(CoalesceSettings {
        policy: Policy::WholeOutput,
        ..CoalesceSettings::default()
    });
    assert!(c.push(say("One. Two.", Hint::Sentence), T0).is_empty());
    assert_eq!(c.looked_at(), None);
    assert!(c.flush_due(ms(60_000)).is_empty());
    let end = Chunk {
        complete: true,
        ..say(" Three.", Hint::Completion)
    };
    assert_eq!(texts(&c.push(end, T0)), ["One. ", "Two.", " Three."]);

    let mut c = Coalescer::new(CoalesceSettings {
        policy: Policy::EveryBoundary,
        ..CoalesceSettings::default()
    });
    let pieces = c.push(say("If the file is there, we read", Hint::Absent), T0);
    assert_eq!(texts(&pieces), ["If the file is there, "]);
    assert_eq!(pieces[0].ends, Boundary::Clause);
    assert_eq!(
        texts(&c.push(say(" it. OK", Hint::Absent), T0)),
        ["we read it. "]
    );
}

#[test]
fn late_text_still_comes_out_and_is_noted_once() {
    let mut c = fresh();
    let end = Chunk {
        complete: true,
        ..say("Done.", Hint::Absent)
    };
    assert_eq!(texts(&c.push(end, T0)), ["Done."]);
    assert_eq!(texts(&c.push(say("More", Hint::None), T0)), ["More"]);
    assert_eq!(texts(&c.push(say(" text", Hint::Absent), T0)), [" text"]);
    assert_eq!(c.take_notes(), [PositionNote::Late]);
    assert_eq!(c.take_notes(), []);
    assert!(c.push(end_chunk(), T0).is_empty());
}

fn end_chunk() -> Chunk<'static> {
    Chunk {
        complete: true,
        ..Chunk::default()
    }
}

#[test]
fn text_without_an_end_is_bounded() {
    let mut c = fresh();
    let text = "word ".repeat(10_000);
    let mut said = Vec::new();
    for chunk in text.as_bytes().chunks(25) {
        let chunk = std::str::from_utf8(chunk).unwrap();
        said.extend(c.push(say(chunk, Hint::Absent), T0));
    }
    assert_eq!(said.len(), 3);
    assert!(
        said.iter()
            .all(|p| p.ends == Boundary::Bound && p.text.len() <= UNENDED)
    );
    assert!(said.iter().all(|p| p.text.ends_with(' ')));
    assert_eq!(c.take_notes(), [PositionNote::Unended]);

    let mut c = fresh();
    let mut bytes = 0;
    for _ in 0..HELD / 8 {
        bytes += c
            .push(say("Held. It ", Hint::None), T0)
            .iter()
            .map(|p| p.text.len())
            .sum::<usize>();
    }
    assert!(bytes > HELD);
    assert_eq!(c.take_notes(), [PositionNote::Held]);
}

#[test]
fn a_long_code_block_goes_on_in_the_next_piece() {
    let mut c = fresh();
    let code = "```rust\n".to_owned() + &"let a = 1.0; // Yes. No.\n".repeat(1000) + "```\nEnd. ";
    let mut pieces = Vec::new();
    for chunk in code.as_bytes().chunks(25) {
        pieces.extend(c.push(say(std::str::from_utf8(chunk).unwrap(), Hint::Absent), T0));
    }
    assert_eq!(pieces.len(), 2);
    assert!(pieces[0].text.ends_with('\n'));
    assert_eq!(pieces[1].context, Context::Code("rust".to_owned()));
    assert!(pieces[1].text.ends_with("```\n"));
}

/// Text with everything that is hard to cut.
fn prose() -> impl Strategy<Value = String> {
    let atoms = prop::sample::select(vec![
        "Hello",
        "world",
        ". ",
        "! ",
        "?",
        " ",
        " ",
        ", ",
        "\n",
        "\n\n",
        "\r\n",
        "e.g.",
        "U.S. ",
        "Mr. ",
        "3.5",
        "1. ",
        "- ",
        "| a |\n",
        "```\n",
        "`",
        "\"",
        "(",
        ")",
        "…",
        "。",
        "你好",
        "，",
        "👨‍👩‍👧",
        "e\u{301}",
        "🇩🇪",
        "नमस्ते",
        "।",
        "ก็ำ",
        "한글",
        "\u{1100}\u{1161}",
        "I",
        "The",
        "[x](y)",
        "🙂🏽",
    ]);
    prop::collection::vec(atoms, 0..40).prop_map(|parts| parts.concat())
}

fn hints() -> impl Strategy<Value = Hint> {
    prop::sample::select(vec![
        Hint::Absent,
        Hint::None,
        Hint::Word,
        Hint::Sentence,
        Hint::Paragraph,
        Hint::Completion,
    ])
}

#[derive(Debug, Clone, Copy)]
enum Counting {
    Nothing,
    Characters,
    Units,
    Bytes,
}

fn position(text: &str, counting: Counting, base: u64) -> Option<u64> {
    Some(
        base + match counting {
            Counting::Nothing => return None,
            Counting::Characters => text.chars().count() as u64,
            Counting::Units => text.encode_utf16().count() as u64,
            Counting::Bytes => text.len() as u64,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]

    #[test]
    fn the_pieces_joined_are_the_text(
        one in prose(),
        two in prose(),
        steps in prop::collection::vec((1usize..7, hints(), 0u64..3000, any::<bool>()), 1..60),
        counting in prop::sample::select(vec![
            Counting::Nothing, Counting::Characters, Counting::Units, Counting::Bytes]),
        base in 0u64..500,
        policy in prop::sample::select(vec![
            Policy::Sentences, Policy::WholeOutput, Policy::EveryBoundary]),
        relax_none in any::<bool>(),
        repeat in any::<bool>(),
        tagged in any::<bool>(),
    ) {
        let settings = CoalesceSettings { policy, relax_none, ..CoalesceSettings::default() };
        // Until the unit of positions is known, a repeat looks like another unit; these two characters make it
        // known.
        let (one, two) = (format!("é👍{one}"), format!("é👍{two}"));
        let mut outputs = [
            (Coalescer::new(settings), one.as_str(), 0, Vec::new()),
            (Coalescer::new(settings), two.as_str(), 0, Vec::new()),
        ];
        let mut now = T0;
        if repeat {
            for (coalescer, _, at, said) in &mut outputs {
                *at = "é👍".len();
                let chunk = Chunk { text: "é👍", position: position("", counting, base), ..Chunk::default() };
                said.extend(coalescer.push(chunk, now));
            }
        }
        let (en, ja) = (Arc::from("en"), Arc::from("ja"));
        for (index, &(size, hint, wait, flip)) in steps.iter().cycle().take(400).enumerate() {
            now += ms(wait);
            let (coalescer, text, at, said) = &mut outputs[usize::from(flip ^ (index % 2 == 0))];
            said.extend(coalescer.flush_due(now));
            if *at == text.len() {
                continue;
            }
            // Sometimes the last characters are sent again.
            let mut from = *at;
            if repeat && *at > 6 && index % 5 == 4 && !matches!(counting, Counting::Nothing) {
                from = text[..*at].char_indices().rev().nth(2).map_or(from, |(place, _)| place);
            }
            let upto = text[*at..].char_indices().nth(size).map_or(text.len(), |(i, _)| *at + i);
            let chunk = Chunk {
                text: &text[from..upto],
                position: position(&text[..from], counting, base),
                hint,
                complete: upto == text.len() && index % 3 == 0,
                language: (tagged && index % 7 == 0).then_some(if flip { &en } else { &ja }),
            };
            *at = upto;
            said.extend(coalescer.push(chunk, now));
        }
        for (coalescer, text, at, said) in &mut outputs {
            let rest = Chunk {
                text: &text[*at..],
                position: position(&text[..*at], counting, base),
                complete: true,
                ..Chunk::default()
            };
            said.extend(coalescer.push(rest, now));
            let joined: String = said.iter().map(|p| p.text.as_str()).collect();
            prop_assert_eq!(&joined, text);
            let notes = coalescer.take_notes();
            prop_assert!(notes.iter().all(|note| matches!(note, PositionNote::Late | PositionNote::Unbelieved)), "{:?}", notes);
        }
    }

    #[test]
    fn no_piece_but_the_last_ends_inside_a_word_or_a_cluster(
        text in prose(),
        steps in prop::collection::vec((1usize..7, 0u64..1500), 1..30),
        lie in any::<bool>(),
    ) {
        use unicode_segmentation::UnicodeSegmentation;
        let mut c = fresh();
        let mut now = T0;
        let mut at = 0;
        let mut said = Vec::new();
        for &(size, wait) in steps.iter().cycle() {
            if at == text.len() {
                break;
            }
            now += ms(wait);
            said.extend(c.flush_due(now));
            let upto = text[at..].char_indices().nth(size).map_or(text.len(), |(i, _)| at + i);
            // A false hint is believed only after a longer silence than these.
            let hint = if lie { Hint::Sentence } else { Hint::Absent };
            said.extend(c.push(say(&text[at..upto], hint), now));
            at = upto;
        }
        let clusters: std::collections::BTreeSet<usize> =
            text.grapheme_indices(true).map(|(at, _)| at).collect();
        let mut end = 0;
        for piece in &said {
            end += piece.text.len();
            if end == text.len() {
                break;
            }
            prop_assert!(clusters.contains(&end), "{:?} in {:?}", piece, text);
            let before = text[..end].chars().next_back().unwrap();
            let after = text[end..].chars().next().unwrap();
            let word = |c: char| c.is_alphanumeric() && !crate::announce::text::sentence::is_spaceless(c);
            prop_assert!(!(word(before) && word(after)), "{:?} in {:?}", piece, text);
        }
    }

    #[test]
    fn nothing_makes_it_fail(
        chunks in prop::collection::vec(
            (any::<String>(), any::<Option<u64>>(), hints(), any::<bool>(), any::<Option<String>>()), 0..12),
        policy in prop::sample::select(vec![
            Policy::Sentences, Policy::WholeOutput, Policy::EveryBoundary]),
    ) {
        let mut c = Coalescer::new(CoalesceSettings { policy, ..CoalesceSettings::default() });
        let mut now = T0;
        for (text, position, hint, complete, language) in &chunks {
            now += ms(700);
            c.flush_due(now);
            c.looked_at();
            c.push(Chunk { text, position: *position, hint: *hint, complete: *complete, language: language.as_deref().map(Arc::from).as_ref() }, now);
        }
        c.close();
        c.take_notes();
    }
}

#[test]
fn the_middle_of_a_chunk_that_nobody_could_hear_is_left_out_and_told_in_its_place() {
    let mut c = fresh();
    let middle = "```\n".to_owned() + &"Some words of it. ".repeat(2 * LONGEST_CHUNK / 18);
    let text = format!("It begins. {middle}```\nThe end of it. ");
    let mut pieces = c.push(say(&text, Hint::Absent), T0);
    pieces.extend(c.close());
    let cut = pieces
        .iter()
        .position(|piece| matches!(piece.ends, Boundary::LeftOut(_)))
        .unwrap();
    let Boundary::LeftOut(count) = pieces[cut].ends else {
        panic!("no count");
    };
    let said: String = texts(&pieces).concat();
    assert_eq!(said.len() + count, text.len());
    assert!(said.len() <= LONGEST_CHUNK, "{}", said.len());
    assert!(said.starts_with("It begins. ") && said.ends_with("The end of it. "));
    // The block that was open at the cut was closed in the missing part: what follows is text again.
    assert!(pieces.len() > cut + 100, "{} of {cut}", pieces.len());
    // The next chunk is processed as usual, even if a hint held the long one back.
    let mut c = fresh();
    assert!(c.push(say(&text, Hint::None), T0).is_empty());
    let later = c.push(say("More of it. And", Hint::Word), T0);
    assert_eq!(texts(&later).last(), Some(&"More of it. "));
}

#[test]
fn a_long_chunk_is_cut_at_whole_characters() {
    for unit in ["é", "👩‍👩‍👧‍👦", "🇩🇪", "e\u{301}", "\u{301}"] {
        let mut c = fresh();
        let text = unit.repeat(2 * LONGEST_CHUNK / unit.len());
        let mut pieces = c.push(say(&text, Hint::Absent), T0);
        pieces.extend(c.close());
        let left_out: usize = pieces
            .iter()
            .map(|piece| match piece.ends {
                Boundary::LeftOut(count) => count,
                _ => 0,
            })
            .sum();
        let came: usize = pieces.iter().map(|piece| piece.text.chars().count()).sum();
        assert_eq!(came + left_out, text.chars().count(), "{unit}");
        assert!(left_out > 0, "{unit}");
    }
}
