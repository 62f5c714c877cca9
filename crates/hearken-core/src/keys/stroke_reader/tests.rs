use crossterm::event::KeyEventKind;
use proptest::prelude::*;

use super::*;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Feeds parts at their times, lets everything unfinished time out, and returns the strokes with their times.
fn read(parts: &[(u64, &[u8])]) -> Vec<(u64, TerminalInput)> {
    let mut reader = KeyReader::new(LineFeed::ControlJ);
    let mut strokes = Vec::new();
    let pass = |reader: &mut KeyReader, until: Duration, strokes: &mut Vec<Stroke>| {
        while let Some(at) = reader.deadline().filter(|at| *at <= until) {
            strokes.extend(reader.expire(at));
        }
    };
    for (at, bytes) in parts {
        pass(&mut reader, ms(*at), &mut strokes);
        strokes.extend(reader.bytes(bytes, ms(*at)));
    }
    pass(&mut reader, ms(1_000_000), &mut strokes);
    strokes
        .into_iter()
        .map(|stroke| (stroke.read.as_millis() as u64, stroke.input))
        .collect()
}

/// Feeds bytes in one read, and returns the strokes.
fn whole(bytes: &[u8]) -> Vec<TerminalInput> {
    read(&[(0, bytes)])
        .into_iter()
        .map(|(_, what)| what)
        .collect()
}

fn code(code: KeyCode) -> TerminalInput {
    TerminalInput::Key(code.into())
}

fn letter(c: char) -> TerminalInput {
    TerminalInput::Key(character_key(c, false))
}

fn with(code: KeyCode, modifiers: KeyModifiers) -> TerminalInput {
    TerminalInput::Key(KeyEvent::new(code, modifiers))
}

const CONTROL_C: fn() -> TerminalInput = || with(KeyCode::Char('c'), KeyModifiers::CONTROL);

#[test]
fn the_keys_of_the_usual_terminals_are_read() {
    let none = KeyModifiers::NONE;
    let control = KeyModifiers::CONTROL;
    let alt = KeyModifiers::ALT;
    for (bytes, key, held) in [
        (&b"y"[..], KeyCode::Char('y'), none),
        (b"Y", KeyCode::Char('Y'), KeyModifiers::SHIFT),
        ("ä".as_bytes(), KeyCode::Char('ä'), none),
        ("語".as_bytes(), KeyCode::Char('語'), none),
        (b"\r", KeyCode::Enter, none),
        (b"\n", KeyCode::Char('j'), control),
        (b"\t", KeyCode::Tab, none),
        (b"\x7f", KeyCode::Backspace, none),
        (b"\x08", KeyCode::Char('h'), control),
        (b"\x00", KeyCode::Char(' '), control),
        (b"\x1f", KeyCode::Char('7'), control),
        (b"\x1b", KeyCode::Esc, none),
        (b"\x1by", KeyCode::Char('y'), alt),
        (b"\x1b\x7f", KeyCode::Backspace, alt),
        (b"\x1b\x03", KeyCode::Char('c'), control | alt),
        ("\x1bé".as_bytes(), KeyCode::Char('é'), alt),
        (b"\x1b[", KeyCode::Char('['), alt),
        (b"\x1bO", KeyCode::Char('O'), alt | KeyModifiers::SHIFT),
        (b"\x1b]", KeyCode::Char(']'), alt),
        (b"\x1b[A", KeyCode::Up, none),
        (b"\x1bOB", KeyCode::Down, none),
        (b"\x1b[1;5C", KeyCode::Right, control),
        (b"\x1b[H", KeyCode::Home, none),
        (b"\x1b[4~", KeyCode::End, none),
        (b"\x1b[5~", KeyCode::PageUp, none),
        (b"\x1bOP", KeyCode::F(1), none),
        (b"\x1bOR", KeyCode::F(3), none),
        (b"\x1b[1;2R", KeyCode::F(3), KeyModifiers::SHIFT),
        (b"\x1b[[E", KeyCode::F(5), none),
        (b"\x1b[15~", KeyCode::F(5), none),
        (b"\x1b[24;3~", KeyCode::F(12), alt),
        (b"\x1b[Z", KeyCode::BackTab, KeyModifiers::SHIFT),
        (b"\x1b[99;5u", KeyCode::Char('c'), control),
        (b"\x1b[27;5;99~", KeyCode::Char('c'), control),
        (b"\x1b[97:65;2u", KeyCode::Char('A'), none),
        (b"\x1b[13u", KeyCode::Enter, none),
    ] {
        assert_eq!(whole(bytes), [with(key, held)], "{bytes:?}");
    }
    let released = KeyEvent::new_with_kind(KeyCode::Char('y'), none, KeyEventKind::Release);
    assert_eq!(whole(b"\x1b[121;1:3u"), [TerminalInput::Key(released)]);
    assert_eq!(
        whole(b"\x1b[I\x1b[O"),
        [TerminalInput::Focus(true), TerminalInput::Focus(false)]
    );
    let enter = KeyReader::new(LineFeed::Enter).bytes(b"\n", ms(0));
    assert_eq!(enter[0].input, code(KeyCode::Enter));
}

#[test]
fn what_is_no_key_is_noise_and_never_silence() {
    for bytes in [
        &b"\x1b[1;"[..],
        b"\x1b[99z",
        b"\xff",
        b"\xc3",
        b"\xf0\x9f\x98",
        b"\x1b[M   ",
        b"\x1b[M",
        b"\x1b[?64;1c",
        b"\x1b[201~",
        b"\x1b[57358u",
        b"\x1bP1$r\x1b\\",
        b"\x1b]11;rgb:0/0/0\x07",
        b"\x1b]11;rgb",
        b"\x1b[1;2:9A",
        b"\x80\x81\x82",
    ] {
        assert_eq!(whole(bytes), [TerminalInput::Noise], "{bytes:?}");
    }
}

/// The terminal's reply does not show a hand at work, even in pieces; a reply in the form of a key counts as
/// the key.
#[test]
fn a_reply_of_the_terminal_is_no_key_and_no_hand() {
    assert_eq!(whole(b"\x1b[24;80R"), [TerminalInput::Place(24, 80)]);
    assert_eq!(whole(b"\x1b[1;1R"), [TerminalInput::Place(1, 1)]);
    assert_eq!(
        read(&[(0, b"\x1b[2"), (20, b";3R")]),
        [(20, TerminalInput::Place(2, 3))]
    );
    assert_eq!(
        whole(b"\x1b[1;2R"),
        [with(KeyCode::F(3), KeyModifiers::SHIFT)]
    );
    assert_eq!(whole(b"\x1b[0;0R"), [TerminalInput::Noise]);
}

#[test]
fn a_sequence_ends_by_time_and_what_comes_after_it_are_keys() {
    assert_eq!(
        read(&[(0, b"\x1b[1;"), (100, b"5A")]),
        [
            (0, TerminalInput::Noise),
            (100, letter('5')),
            (100, letter('A'))
        ]
    );
    // Feeding it endlessly does not keep it open longer.
    let slow: Vec<(u64, &[u8])> = [&b"\x1b["[..], b"1", b"1", b"1", b"1", b"1", b"y"]
        .into_iter()
        .enumerate()
        .map(|(at, bytes)| (at as u64 * 30, bytes))
        .collect();
    let strokes = read(&slow);
    assert_eq!(strokes.last(), Some(&(180, letter('y'))));
    assert_eq!(
        read(&[(0, b"\x1b"), (25, b"[A")])[0],
        (0, code(KeyCode::Esc))
    );
}

#[test]
fn a_key_in_two_reads_tells_of_the_hand_at_both() {
    assert_eq!(
        read(&[(0, b"\x1b"), (20, b"[A")]),
        [(0, TerminalInput::Noise), (20, code(KeyCode::Up))]
    );
    assert_eq!(
        read(&[(7, b"\xc3"), (9, b"\xa4y")]),
        [
            (7, TerminalInput::Noise),
            (9, letter('ä')),
            (9, letter('y'))
        ]
    );
}

#[test]
fn control_c_gets_through_in_the_middle_of_anything() {
    for bytes in [
        &b"\x1b["[..],
        b"\x1b[1;",
        b"\x1b[M",
        b"\x1b[M  ",
        b"\x1b[<0;1;",
        b"\x1bO",
        b"\x1b]0;x",
        b"\x1bPq",
        b"\xe2\x82",
        b"\x1b[200~y",
        b"\x1b[200~y\x1b[20",
    ] {
        let mut all = bytes.to_vec();
        all.push(3);
        assert!(whole(&all).contains(&CONTROL_C()), "{bytes:?}");
        // The same holds in a paste that was given up.
        let parts: [(u64, &[u8]); 2] = [(0, bytes), (5000, b"\x03")];
        assert!(read(&parts).contains(&(5000, CONTROL_C())), "{bytes:?}");
    }
}

#[test]
fn a_paste_is_one_stroke_however_it_comes() {
    let paste = |text: &str| TerminalInput::Paste(text.to_owned());
    assert_eq!(
        whole(b"\x1b[200~y\nc\x1b[A\x1b[201~n"),
        [paste("y\nc\x1b[A"), letter('n')]
    );
    assert_eq!(
        read(&[(0, b"\x1b[200~ab"), (900, b"c\x1b[20"), (1800, b"1~")]),
        [(900, TerminalInput::Noise), (1800, paste("abc"))]
    );
}

#[test]
fn a_paste_that_stalls_is_told_and_swallowed_until_its_end_or_escape() {
    let paste = || TerminalInput::Paste("y".to_owned());
    let told = [(0, paste()), (0, TerminalInput::Stalled)];
    let stalled = |rest: &[(u64, &[u8])]| {
        let mut parts: Vec<(u64, &[u8])> = vec![(0, b"\x1b[200~y")];
        parts.extend(rest);
        let strokes = read(&parts);
        assert_eq!(strokes[..2], told, "{rest:?}");
        strokes[2..].to_vec()
    };
    assert_eq!(
        stalled(&[(2000, b"y"), (3000, b"y\x1b[201~n")]),
        [
            (2000, TerminalInput::Noise),
            (3000, TerminalInput::Noise),
            (3000, letter('n'))
        ]
    );
    // Its end mark may come in two reads, and a key of several bytes is not Escape.
    assert_eq!(
        stalled(&[(2000, b"\x1b[A\x1b"), (2010, b"[201~n")]),
        [
            (2000, TerminalInput::Noise),
            (2010, TerminalInput::Noise),
            (2010, letter('n'))
        ]
    );
    assert_eq!(
        stalled(&[(2000, b"\x1b"), (3000, b"n")]),
        [(2000, TerminalInput::Noise), (3000, letter('n'))]
    );
}

#[test]
fn nothing_grows_without_bound() {
    let mut reader = KeyReader::new(LineFeed::ControlJ);
    reader.bytes(b"\x1b[200~", ms(0));
    for _ in 0..1000 {
        reader.bytes(&[b'x'; 1000], ms(0));
    }
    let strokes = reader.bytes(b"\x1b[201~", ms(0));
    let Some(TerminalInput::Paste(text)) = strokes.last().map(|stroke| &stroke.input) else {
        panic!("{strokes:?}")
    };
    assert_eq!(text.len(), LONGEST_PASTE);
    reader.bytes(b"\x1b[", ms(0));
    for _ in 0..1000 {
        reader.bytes(&[b'1'; 1000], ms(0));
    }
    let State::Control { parameters, .. } = &reader.state else {
        panic!("{reader:?}")
    };
    assert_eq!(parameters.len(), LONGEST_SEQUENCE);
    assert_eq!(reader.bytes(b"~", ms(0))[0].input, TerminalInput::Noise);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    /// Each read is reported by a stroke with its time, whatever was read; times never decrease, and nothing
    /// stays unfinished for longer than a paste may pause.
    #[test]
    fn every_read_is_told_and_nothing_waits_for_ever(
        reads in proptest::collection::vec((0u64..300, proptest::collection::vec(prop_oneof![
            any::<u8>(), Just(ESC), Just(b'['), Just(b'2'), Just(b'0'), Just(b'~'), Just(b'y'), Just(b'M'),
        ], 1..8)), 1..20),
    ) {
        let mut reader = KeyReader::new(LineFeed::ControlJ);
        let mut now = Duration::ZERO;
        let mut strokes = Vec::new();
        let mut times = Vec::new();
        for (gap, bytes) in &reads {
            now += ms(*gap);
            while let Some(at) = reader.deadline().filter(|at| *at <= now) {
                strokes.extend(reader.expire(at));
            }
            strokes.extend(reader.bytes(bytes, now));
            times.push(now);
        }
        now += STALLED;
        while let Some(at) = reader.deadline() {
            prop_assert!(at <= now);
            strokes.extend(reader.expire(at));
        }
        prop_assert!(strokes.windows(2).all(|two| two[0].read <= two[1].read), "{strokes:?}");
        // A paste reports its last read and the one before, and is not an answer.
        let pastes = strokes.iter().any(|stroke| matches!(stroke.input, TerminalInput::Paste(_)));
        // A sequence in more than two reads reports the last two of them: all lie within its time.
        for time in times {
            let near = |stroke: &Stroke| {
                let apart = stroke.read.max(time) - stroke.read.min(time);
                apart <= UNFINISHED
            };
            prop_assert!(pastes || strokes.iter().any(near), "{time:?}: {strokes:?}");
        }
    }
}

#[test]
fn keys_of_a_windows_console_are_keys_whole_or_in_pieces() {
    assert_eq!(
        whole(b"\x1b[89;21;121;1;0;1_"),
        [letter('y')],
        "the report of y"
    );
    let pieces: [(u64, &[u8]); 2] = [(0, b"\x1b[67;46;3"), (20, b";1;8;1_")];
    let last = read(&pieces).pop().map(|(_, what)| what);
    assert_eq!(last, Some(CONTROL_C()));
    assert_eq!(
        whole(b"\x1b[17;29;0;1;8;1_"),
        [TerminalInput::Noise],
        "Control alone"
    );
    let reply = b"\x1b[0;0;27;1;0;1_\x1b[0;0;91;1;0;1_\x1b[0;0;82;1;0;1_";
    assert_eq!(
        whole(reply),
        [TerminalInput::Noise],
        "what is passed on is no key"
    );
}

#[test]
fn clicks_and_the_wheel_are_read_and_nothing_else_of_a_mouse() {
    assert_eq!(whole(b"\x1b[<0;12;3M"), [TerminalInput::Click(12, 3)]);
    assert_eq!(whole(b"\x1b[<64;1;1M"), [TerminalInput::Wheel(true)]);
    assert_eq!(whole(b"\x1b[<65;1;1M"), [TerminalInput::Wheel(false)]);
    for other in [
        &b"\x1b[<0;12;3m"[..],
        b"\x1b[<2;12;3M",
        b"\x1b[<35;12;3M",
        b"\x1b[<0;12M",
        b"\x1b[<0;12;3y",
        b"\x1b[<0;12;999999M",
        b"\x1b[<M",
        b"\x1b[<m",
        b"\x1b[M yy",
    ] {
        assert_eq!(whole(other), [TerminalInput::Noise], "{other:?}");
    }
}

/// Whatever a slow line does to a report, its letters never become keys: `M`, `m` and, in the old form, `y`
/// would have an effect.
#[test]
fn a_torn_mouse_report_is_never_a_letter() {
    for report in [
        &b"\x1b[<0;12;3M\x1b[<0;12;3m"[..],
        b"\x1b[Myyy",
        b"\x1b[<64;120;33M",
    ] {
        for at in 1..report.len() {
            for behind in at..report.len() {
                for pause in [30, 110, 700, 2000] {
                    let parts = [
                        (0, &report[..at]),
                        (pause, &report[at..behind]),
                        (2 * pause, &report[behind..]),
                    ];
                    for (_, what) in read(&parts) {
                        let is_key = match what {
                            TerminalInput::Key(key) => !matches!(
                                (key.code, key.modifiers),
                                (KeyCode::Esc | KeyCode::Char('[' | '<'), _)
                            ),
                            _ => false,
                        };
                        assert!(!is_key, "{parts:?}: {what:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn keys_after_escape_or_a_lost_report_are_keys_again() {
    let lower = |c: char| letter(c);
    let after = |parts: &[(u64, &[u8])]| {
        let keys = read(parts).into_iter().map(|(_, what)| what);
        keys.filter(|what| *what != TerminalInput::Noise)
            .collect::<Vec<_>>()
    };
    let escape = code(KeyCode::Esc);
    assert_eq!(
        after(&[(0, b"\x1b"), (200, b"["), (500, b"m"), (900, b"y")]),
        [escape.clone(), lower('['), lower('m'), lower('y')]
    );
    assert_eq!(after(&[(0, b"\x1b"), (200, b"m")]), [escape, lower('m')]);
    // One key may be lost with the report.
    assert_eq!(
        after(&[(0, b"\x1b[<0;5"), (300, b"y"), (600, b"m")]),
        [lower('m')]
    );
    assert_eq!(after(&[(0, b"\x1b[<0;5"), (9000, b"m")]), [lower('m')]);
}
