use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::{Color, Modifier};
use serde_json::json;

use super::*;
use crate::announce::{AnswerMethod, Phrases};
use crate::app::{EndCondition, Input, NearbyCommands, Setup, SourceSetup, SpeechMode};
use crate::config::Config;
use crate::config::ThemeChoice;
use crate::keys::{Keymap, Scan, Stroke};
use crate::link::{Frame as Message, LinkEvent};
use crate::protocol::KeyRing;
use crate::session::LinkId;

mod edits;
mod entries;
mod found_words;
mod laid_out;
mod offered_keys;
mod seen;
mod squeezed;

const LOOK: Look = Look {
    theme: ThemeChoice::Terminal,
    stacked: false,
};
const PLAIN: Look = Look {
    theme: ThemeChoice::Plain,
    stacked: false,
};

fn app() -> (App, Now) {
    app_under(Config::default())
}

fn app_under(config: Config) -> (App, Now) {
    app_in(config, "")
}

/// Begins with an agent that works in a folder.
fn app_in(config: Config, folder: &str) -> (App, Now) {
    let now = Now {
        monotonic: Duration::from_secs(9),
        wall: "2026-01-01T10:00:00Z".parse().unwrap(),
    };
    let scan = Scan::new(&config.scanning, &Keymap::default()).unwrap();
    let mut app = App::new(Setup {
        config,
        phrases: Arc::new(Phrases::english().unwrap()),
        manner: AnswerMethod::Keys,
        copies: true,
        keymap: Default::default(),
        scan,
        lines: None,
        face: ("start.face.full", "start.why.terminal"),
        voice: SpeechMode::Silent,
        until: EndCondition::Asked,
        keys: KeyRing::default(),
        seed: 1,
        is_recorded: true,
        sources: vec![SourceSetup {
            name: "one".into(),
            answerable: true,
            recording: None,
            folder: folder.into(),
            ..SourceSetup::default()
        }],
    });
    app.update(Input::Start, now);
    app.update(
        Input::Link {
            link: LinkId(0),
            event: LinkEvent::Connected,
        },
        now,
    );
    (app, now)
}

fn event(app: &mut App, now: Now, fields: serde_json::Value) {
    let mut event = json!({
        "@context": "https://aaep-protocol.org/context/v1", "event_id": format!("evt_{}", app.history().len()),
        "session_id": "sess_1", "timestamp": "2026-01-01T10:00:00Z", "producer": {"agent_id": "a", "agent_name": "Mailer"},
    });
    for (key, value) in fields.as_object().unwrap() {
        event[key] = value.clone();
    }
    let frame = LinkEvent::Frame(Message::of(event.to_string()));
    app.update(
        Input::Link {
            link: LinkId(0),
            event: frame,
        },
        now,
    );
}

fn ask(app: &mut App, now: Now, action: &str) {
    event(
        app,
        now,
        json!({
            "type": "aaep:agent.awaiting.confirmation", "action": action, "consequence": "It is gone.", "reply_token": "rpl_1",
            "timeout_seconds": 60, "default_decision": "reject", "risk_level": "high", "irreversible": true, "urgency": "critical",
            "extensions": {"hearken": {"changes": [{"path": "a.py", "added": 1, "removed": 1, "places": 1,
                "hunks": [{"line": 7, "lines": [" def a():", "-\treturn 80", "+\treturn 8080"], "left_out": 0}]}]}},
        }),
    );
}

fn screen(app: &App, now: Now, width: u16, height: u16) -> (Vec<String>, Position) {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal
        .draw(|frame| {
            draw(frame, app, now, &TimeZone::UTC, LOOK);
        })
        .unwrap();
    let buffer = terminal.backend().buffer().clone();
    let rows = (0..height)
        .map(|y| {
            (0..width)
                .map(|x| buffer[(x, y)].symbol())
                .collect::<String>()
                .trim_end()
                .to_owned()
        })
        .collect();
    (rows, terminal.get_cursor_position().unwrap())
}

#[test]
fn every_size_is_survived() {
    let (mut app, now) = app();
    ask(
        &mut app,
        now,
        "Send 日本語 and مرحبا to a_very_long_name_that_fits_nowhere@example.com",
    );
    for width in [0, 1, 2, 5, 20, 40, 200] {
        for height in [0, 1, 2, 3, 5, 10, 60] {
            screen(&app, now, width.max(1), height.max(1));
        }
    }
}

/// Both begin with a Latin name, so their first letter would suggest the wrong direction.
#[test]
fn the_direction_that_an_event_names_is_kept_in_its_question_and_its_lines() {
    let (mut app, now) = app();
    let hints = json!({"primary_language": "he", "text_direction": "rtl"});
    event(
        &mut app,
        now,
        json!({
            "type": "aaep:agent.output.streaming", "output_id": "o", "chunk": "GIT שלום.", "position": 0,
            "complete": true, "localization_hints": hints,
        }),
    );
    let (rows, _) = screen(&app, now, 60, 20);
    let told = rows.iter().any(|row| row.contains("\u{2067}GIT שלום"));
    assert!(told, "{rows:?}");
    event(
        &mut app,
        now,
        json!({
            "type": "aaep:agent.awaiting.confirmation", "action": "API עולם", "consequence": "It is gone.", "reply_token": "rpl_1",
            "timeout_seconds": 60, "default_decision": "reject", "urgency": "critical", "localization_hints": hints,
        }),
    );
    let (rows, _) = screen(&app, now, 60, 20);
    let asked = rows.iter().any(|row| row.contains("\u{2067}API עולם"));
    assert!(asked, "{rows:?}");
}

#[test]
fn the_cursor_stands_on_the_question_then_on_the_newest_line() {
    let (mut app, now) = app();
    let (rows, cursor) = screen(&app, now, 60, 20);
    assert!(
        rows[usize::from(cursor.y)].contains("Connected"),
        "{rows:?}"
    );
    ask(&mut app, now, "Send it");
    let (rows, cursor) = screen(&app, now, 60, 20);
    assert!(
        rows[usize::from(cursor.y)].starts_with("Question 1, "),
        "{rows:?}"
    );
}

#[test]
fn the_agents_words_and_ours_never_share_a_row_in_a_question() {
    let (mut app, now) = app();
    ask(
        &mut app,
        now,
        "Delete it. Low risk. Question 2, 2 of 2. x accepts",
    );
    let (rows, _) = screen(&app, now, 100, 20);
    let agents = rows
        .iter()
        .position(|row| row.contains("Delete it."))
        .unwrap();
    assert_eq!(rows[agents - 1], "Mailer asks:");
    assert_eq!(
        rows[agents],
        "    Delete it. Low risk. Question 2, 2 of 2. x accepts"
    );
    assert_eq!(rows[agents + 1], "If accepted:");
    assert_eq!(rows[agents + 2], "    It is gone.");
}

fn press(app: &mut App, code: KeyCode, now: Now) {
    let key = KeyEvent::new(code, KeyModifiers::NONE);
    app.update(Input::Stroke(Stroke::key(key, now.monotonic)), now);
}

#[test]
fn a_question_that_does_not_fit_is_paged_by_the_details_key() {
    let (mut app, now) = app();
    ask(&mut app, now, &"word ".repeat(80));
    let mut seen = String::new();
    for _ in 0..20 {
        let (rows, _) = screen(&app, now, 40, 10);
        seen.push_str(&rows.join("\n"));
        press(&mut app, KeyCode::Char('d'), now);
    }
    assert!(seen.contains("page 1 of 4"), "{seen}");
    assert!(
        seen.contains("It is gone.") && seen.contains("High risk"),
        "{seen}"
    );
}

#[test]
fn the_details_of_a_question_that_fits_take_its_place_until_the_key_comes_again() {
    let (mut app, now) = app();
    ask(&mut app, now, "Send it");
    let (rows, _) = screen(&app, now, 100, 30);
    assert!(!rows.join(" ").contains("in full"), "{rows:?}");
    press(&mut app, KeyCode::Char('d'), now);
    let (rows, _) = screen(&app, now, 100, 30);
    assert!(
        rows.join(" ")
            .contains("Question 1, in full, 1 minute left, from")
            && rows.join(" ").contains("Send it"),
        "{rows:?}"
    );
    assert!(rows.join(" ").contains("Keys: y then c accept"), "{rows:?}");
    press(&mut app, KeyCode::Char('d'), now);
    let (rows, _) = screen(&app, now, 100, 30);
    assert!(!rows.join(" ").contains("in full"), "{rows:?}");
}

#[test]
fn the_help_has_every_key_at_the_smallest_size() {
    let (mut app, now) = app();
    let press = |app: &mut App, code| press(app, code, now);
    press(&mut app, KeyCode::Char('?'));
    let mut seen = String::new();
    for _ in 0..120 {
        let (rows, _) = screen(&app, now, 40, 10);
        seen.push_str(&rows.join("\n"));
        press(&mut app, KeyCode::Down);
    }
    for binding in crate::keys::BINDINGS {
        assert!(
            seen.contains(&format!("{}:", binding.key)),
            "{} is missing",
            binding.key
        );
    }
    press(&mut app, KeyCode::Char('?'));
    assert_eq!(app.mode(), Mode::Watching);
}

/// A question's words stay what they are; its changes are below them, or in their place until they were all seen again.
#[test]
fn what_an_edit_changes_is_seen_with_numbers_and_signs() {
    let (mut app, now) = app();
    ask(&mut app, now, "Edit a.py");
    let (rows, _) = screen(&app, now, 100, 30);
    let at = rows.iter().position(|row| row.starts_with("Change: a.py"));
    let lines = &rows[at.unwrap() + 1..][..3];
    assert_eq!(
        lines,
        [
            "   7   def a():",
            "   8 -     return 80",
            "   8 +     return 8080"
        ]
    );
    let (rows, _) = screen(&app, now, 40, 10);
    assert!(!rows.join(" ").contains("8080"), "{rows:?}");
    press(&mut app, KeyCode::Char('.'), now);
    let (rows, _) = screen(&app, now, 40, 10);
    assert!(rows.join(" ").contains("8 +     return 8080"), "{rows:?}");
    assert!(!rows.join(" ").contains("It is gone."), "{rows:?}");
    press(&mut app, KeyCode::Char('d'), now);
    let (rows, _) = screen(&app, now, 40, 10);
    assert!(!rows.join(" ").contains("8080"), "{rows:?}");
}

/// The words that change within a line are marked without any colour, and nothing but a high risk is red.
#[test]
fn changed_words_are_underlined_and_only_a_high_risk_is_red() {
    let (mut app, now) = app();
    ask(&mut app, now, "Edit a.py");
    for look in [LOOK, PLAIN] {
        let mut terminal = Terminal::new(TestBackend::new(100, 30)).unwrap();
        terminal
            .draw(|frame| {
                draw(frame, &app, now, &TimeZone::UTC, look);
            })
            .unwrap();
        let buffer = terminal.backend().buffer();
        let underlined = |y: u16| -> String {
            let cells = (0..100).map(|x| &buffer[(x, y)]);
            let marked = cells.filter(|cell| cell.modifier.contains(Modifier::UNDERLINED));
            marked.map(|cell| cell.symbol()).collect()
        };
        let row = |wanted: &str| {
            (0..30).find(|y| {
                let row: String = (0..100).map(|x| buffer[(x, *y)].symbol()).collect();
                row.contains(wanted)
            })
        };
        assert_eq!(underlined(row("- ").unwrap()), "80");
        assert_eq!(underlined(row("+ ").unwrap()), "8080");
        let high = row("High risk.").unwrap();
        for y in 0..30 {
            let red = (0..100).any(|x| buffer[(x, y)].fg == Color::Red);
            assert_eq!(red, look == LOOK && y == high, "row {y}");
        }
    }
}

#[test]
fn an_unknown_risk_is_not_red_and_a_grave_finding_is() {
    let (mut app, now) = app();
    let line = "git push --force";
    event(
        &mut app,
        now,
        json!({
            "type": "aaep:agent.awaiting.confirmation", "action": line, "consequence": "It runs.", "reply_token": "rpl_1",
            "urgency": "critical", "extensions": {"hearken": {"deed": {"commands": [line]}}},
        }),
    );
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
    terminal
        .draw(|frame| {
            draw(frame, &app, now, &TimeZone::UTC, LOOK);
        })
        .unwrap();
    let buffer = terminal.backend().buffer();
    let red: Vec<String> = (0..24)
        .filter(|y| buffer[(0, *y)].fg == Color::Red)
        .map(|y| (0..80).map(|x| buffer[(x, y)].symbol()).collect::<String>())
        .collect();
    assert!(
        red.len() == 2 && red.iter().all(|row| row.starts_with("! ")),
        "{red:?}"
    );
}

#[test]
fn without_colours_the_state_is_told_in_words() {
    let (mut app, now) = app();
    ask(&mut app, now, "Send it");
    let mut terminal = Terminal::new(TestBackend::new(80, 20)).unwrap();
    terminal
        .draw(|frame| {
            draw(frame, &app, now, &TimeZone::UTC, PLAIN);
        })
        .unwrap();
    let buffer = terminal.backend().buffer();
    assert!(
        buffer
            .content()
            .iter()
            .all(|cell| matches!(cell.fg, Color::Reset) && matches!(cell.bg, Color::Reset))
    );
}

#[test]
fn the_answer_to_a_key_stays_beside_a_question_whatever_other_agents_do() {
    let (mut app, now) = app();
    ask(
        &mut app,
        now,
        "Send the letter to Bob, whose address is long.",
    );
    press(&mut app, KeyCode::Char('y'), now);
    let told = |app: &App| {
        let (rows, _) = screen(app, now, 40, 10);
        rows.iter().any(|row| row.contains("Not yet"))
    };
    assert!(told(&app), "the key is answered");
    let other = json!({"type": "aaep:agent.session.started", "session_id": "sess_2",
        "producer": {"agent_id": "b"}, "summary_normal": "Another begins."});
    event(&mut app, now, other);
    assert!(told(&app), "{:?}", screen(&app, now, 40, 10).0);
}

#[test]
fn the_transcript_has_as_many_times_as_the_settings_want() {
    use crate::config::TimesChoice;
    for (times, seconds, minutes) in [
        (TimesChoice::Always, 3, 0),
        (TimesChoice::Minute, 0, 1),
        (TimesChoice::Never, 0, 0),
    ] {
        let mut config = Config::default();
        config.screen.times = times;
        let (mut app, now) = app_under(config);
        let at = |seconds: u64| Now {
            monotonic: now.monotonic + Duration::from_secs(seconds),
            wall: now.wall + Duration::from_secs(seconds),
        };
        for (seconds, words) in [(0, "One"), (20, "Two"), (70, "Three")] {
            let told = json!({"type": "aaep:agent.progress.updated", "summary_normal": words});
            event(&mut app, at(seconds), told);
        }
        let rows = screen(&app, at(71), 100, 30).0;
        let of = |word: &str| rows.iter().find(|row| row.contains(word)).unwrap().clone();
        let told = [of("One"), of("Two"), of("Three")];
        let with = |shape: fn(&str) -> bool| told.iter().filter(|row| shape(row)).count();
        assert_eq!(
            with(|row| row.contains("(10:00:") || row.contains("(10:01:")),
            seconds,
            "{times:?} {rows:?}"
        );
        assert_eq!(
            with(|row| row.contains("(10:00)") || row.contains("(10:01)")),
            minutes,
            "{times:?} {rows:?}"
        );
        // An entry under review shows its second, except if no times are wanted.
        app.update(
            Input::Stroke(Stroke::key(
                KeyEvent::new(KeyCode::Up, KeyModifiers::NONE),
                at(80).monotonic,
            )),
            at(80),
        );
        let rows = screen(&app, at(81), 100, 30).0;
        let looked_at = rows
            .iter()
            .any(|row| row.contains("Three") && row.contains("(10:01:10)"));
        assert_eq!(looked_at, times != TimesChoice::Never, "{times:?} {rows:?}");
    }
}
