//! An agent's Markdown on the screen: laid out, with no word lost at any width, and never at the edge.

use ratatui::style::Modifier;

use super::offered_keys::{command, drawn};
use super::*;

const ANSWER: &str = "The sum was **wrong**, see [the rules](https://shop.example/rules).\n\n# Changes\n\n\
| File | Lines | Why |\n|---|---:|---|\n| src/prices.py | 12 | discounts never make prices negative |\n\
| tests/test_prices.py | 140 | fails without the change |\n\n- Prices are rounded.\n  - Only once.\n- [x] Tests pass\n\n\
> Never below zero.\n\n```python\ndef total(prices):\n    return max(0, sum(prices))\n```\n\nRun `make check` now.\n";

fn say(app: &mut App, now: Now, text: &str) {
    let told = json!({"type": "aaep:agent.output.streaming", "output_id": "o", "chunk": text, "position": 0,
        "complete": true});
    event(app, now, told);
}

fn buffer(app: &App, now: Now, width: u16, height: u16, look: Look) -> ratatui::buffer::Buffer {
    load_grammars();
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal
        .draw(|frame| {
            draw(frame, app, now, &TimeZone::UTC, look);
        })
        .unwrap();
    terminal.backend().buffer().clone()
}

#[test]
fn an_answer_is_laid_out_as_the_markdown_that_it_is() {
    let (mut app, now) = app();
    say(&mut app, now, ANSWER);
    let (rows, _) = screen(&app, now, 100, 40);
    let first = rows.iter().position(|row| row.starts_with("Mailer says: "));
    let rows: Vec<&str> = rows[first.unwrap()..].iter().map(String::as_str).collect();
    assert_eq!(
        rows[..20],
        [
            "Mailer says: The sum was wrong, see the rules (https://shop.example/rules).",
            "",
            "  # Changes",
            "",
            "  File                 │ Lines │ Why",
            "  ─────────────────────┼───────┼─────────────────────────────────────",
            "  src/prices.py        │    12 │ discounts never make prices negative",
            "  tests/test_prices.py │   140 │ fails without the change",
            "",
            "  • Prices are rounded.",
            "    • Only once.",
            "  [x] Tests pass",
            "",
            "  │ Never below zero.",
            "",
            "  Code, Python:",
            "    def total(prices):",
            "        return max(0, sum(prices))",
            "",
            "  Run make check now.",
        ]
    );
}

/// At 24 columns a person with low vision sees as much as at 120: narrower rows, the same words.
#[test]
fn no_width_loses_a_word() {
    let (mut app, now) = app();
    say(&mut app, now, ANSWER);
    let words = [
        "wrong,",
        "rules",
        "https",
        "Changes",
        "File",
        "Lines",
        "Why",
        "12",
        "discounts",
        "negative",
        "140",
        "fails",
        "Prices",
        "once.",
        "pass",
        "zero.",
        "def",
        "return",
        "max(0,",
        "make",
        "check",
        "now.",
    ];
    for width in [24, 30, 40, 60, 80, 120] {
        let (rows, _) = screen(&app, now, width, 90);
        let all = rows.join(" ");
        for word in words {
            assert!(all.contains(word), "{word} at {width}: {rows:#?}");
        }
        let from = rows.iter().position(|row| row.starts_with("Mailer says: "));
        let end = rows.iter().position(|row| row.contains("check")).unwrap();
        for row in &rows[from.unwrap() + 1..=end] {
            assert!(row.is_empty() || row.starts_with("  "), "{width}: {row:?}");
        }
    }
}

#[test]
fn only_the_terminals_own_theme_colours_code_and_never_in_red() {
    let (mut app, now) = app();
    say(&mut app, now, ANSWER);
    let high = Look {
        theme: ThemeChoice::HighContrast,
        stacked: false,
    };
    for look in [LOOK, PLAIN, high] {
        let buffer = buffer(&app, now, 100, 40, look);
        let row = |wanted: &str| {
            let text = |y: u16| {
                (0..100)
                    .map(|x| buffer[(x, y)].symbol())
                    .collect::<String>()
            };
            (0..40).find(|y| text(*y).contains(wanted)).unwrap()
        };
        let code = row("def total");
        let colours = (0..100).filter(|x| !matches!(buffer[(*x, code)].fg, Color::Reset));
        assert_eq!(colours.count() > 0, look == LOOK, "{look:?}");
        let red = buffer.content().iter().any(|cell| cell.fg == Color::Red);
        assert!(!red);
        // The words of a link are underlined, whatever the theme.
        let link = row("the rules");
        let marked =
            (0..100).filter(|x| buffer[(*x, link)].modifier.contains(Modifier::UNDERLINED));
        let marked: String = marked.map(|x| buffer[(x, link)].symbol()).collect();
        assert!(marked.ends_with("the rules"), "{look:?}: {marked}");
    }
}

/// A whole answer that is asked for again is laid out like the one that came.
#[test]
fn an_answer_repeated_by_a_key_is_laid_out_too() {
    let (mut app, now) = app();
    say(&mut app, now, ANSWER);
    press(&mut app, KeyCode::Char('w'), now);
    let (rows, _) = screen(&app, now, 100, 60);
    let count = |wanted: &str| rows.iter().filter(|row| *row == wanted).count();
    assert_eq!(count("  # Changes"), 2, "{rows:#?}");
    assert_eq!(count("    def total(prices):"), 2, "{rows:#?}");
    assert_eq!(count("  [x] Tests pass"), 2, "{rows:#?}");
}

/// A table with text from right to left has no columns: each of its texts is isolated on rows of its own.
#[test]
fn a_table_from_right_to_left_becomes_a_list() {
    let (mut app, now) = app();
    say(
        &mut app,
        now,
        "| Word | Means |\n|---|---|\n| שלום | peace |\n",
    );
    let (rows, _) = screen(&app, now, 80, 24);
    assert!(
        rows.iter()
            .any(|row| row.contains("Word: \u{2067}שלום\u{2069}")),
        "{rows:?}"
    );
    assert!(rows.iter().any(|row| row == "    Means: peace"), "{rows:?}");
}

/// A state that the next one replaces has a row only while it is the newest entry.
#[test]
fn passing_states_share_one_row() {
    let (mut app, now) = app();
    let state = |from: &str, to: &str| json!({"type": "aaep:agent.state.changed", "from_state": from, "to_state": to});
    event(
        &mut app,
        now,
        json!({"type": "aaep:agent.session.started", "summary_normal": "It begins."}),
    );
    let count = |app: &App| {
        let (rows, _) = screen(app, now, 80, 24);
        rows.iter().filter(|row| row.starts_with("State: ")).count()
    };
    event(&mut app, now, state("idle", "thinking"));
    assert_eq!(count(&app), 1);
    event(&mut app, now, state("thinking", "deciding"));
    event(&mut app, now, state("deciding", "thinking"));
    assert_eq!(count(&app), 1);
    say(&mut app, now, "Words.");
    assert_eq!(count(&app), 0);
}

#[test]
fn the_words_searched_for_are_marked_in_the_match() {
    let (mut app, now) = app();
    say(&mut app, now, "One thing and another Thing.");
    press(&mut app, KeyCode::Char('/'), now);
    for c in "thing".chars() {
        press(&mut app, KeyCode::Char(c), now);
    }
    press(&mut app, KeyCode::Enter, now);
    let buffer = buffer(&app, now, 80, 24, PLAIN);
    let (rows, _) = screen(&app, now, 80, 24);
    let y = rows
        .iter()
        .position(|row| row.starts_with("» Mailer says: "));
    let y = u16::try_from(y.unwrap()).unwrap();
    let marked = (0..80).filter(|x| buffer[(*x, y)].modifier.contains(Modifier::UNDERLINED));
    let marked: String = marked.map(|x| buffer[(x, y)].symbol()).collect();
    assert_eq!(marked, "thingThing", "{rows:?}");
}

/// On a wide screen the agents and the plan are beside the work; not for a screen reader, which reads rows.
#[test]
fn a_wide_screen_has_the_plan_beside_the_work() {
    let (mut app, now) = app();
    event(
        &mut app,
        now,
        json!({"type": "aaep:agent.session.started", "summary_normal": "It begins."}),
    );
    let steps = json!([{"step": "Read it", "stage": "done"}, {"step": "Mend it", "stage": "now"}]);
    let plan = json!({"type": "aaep:agent.progress.updated", "summary_normal": "Half.",
        "extensions": {"hearken": {"plan": steps}}});
    event(&mut app, now, plan);
    let text = |width: u16, stacked: bool| {
        let look = Look {
            theme: ThemeChoice::Plain,
            stacked,
        };
        let buffer = buffer(&app, now, width, 24, look);
        let row = |y: u16| {
            (0..width)
                .map(|x| buffer[(x, y)].symbol())
                .collect::<String>()
        };
        (0..24).map(row).collect::<Vec<_>>()
    };
    let wide = text(120, false);
    assert!(
        wide.iter().any(|row| row.contains("Plan, 1 of 2 done")),
        "{wide:?}"
    );
    assert!(
        wide.iter().any(|row| row.contains("  [x] Read it")),
        "{wide:?}"
    );
    assert!(
        wide.iter().any(|row| row.contains("  [>] Mend it")),
        "{wide:?}"
    );
    // One agent alone is in the first row.
    assert!(!wide.concat().contains("Agents"), "{wide:?}");
    for other in [text(109, false), text(120, true)] {
        assert!(!other.concat().contains("[x]"), "{other:?}");
    }
}

/// The first row names the only agent at work, what it does, its model and the time of its turn.
#[test]
fn the_first_row_has_the_agent_its_model_and_the_time_of_its_turn() {
    let (mut app, now) = app();
    let producer = json!({"agent_id": "a", "agent_name": "Mailer", "model": "large-3"});
    let begins = json!({"type": "aaep:agent.session.started", "summary_normal": "It begins.", "producer": producer});
    event(&mut app, now, begins);
    let state = json!({"type": "aaep:agent.state.changed", "from_state": "idle", "to_state": "thinking",
        "producer": producer});
    event(&mut app, now, state);
    let later = Now {
        monotonic: now.monotonic + Duration::from_secs(125),
        ..now
    };
    let (rows, _) = screen(&app, later, 100, 24);
    assert_eq!(
        rows[0],
        "hearken  Mailer: working, thinking  model large-3  for 2 minutes"
    );
    assert!(!rows.iter().any(|row| row == "Agents"), "{rows:?}");
}

#[test]
fn where_the_only_agent_works_stays_in_view_between_turns() {
    let (app, now) = app_in(Config::default(), "/home/ada/shop");
    assert_eq!(
        screen(&app, now, 80, 24).0[0],
        "hearken  no agent works  in shop"
    );
}

/// While nobody is heard, what else runs here has rows of its own; once an agent is heard, they go.
#[test]
fn a_screen_without_agents_says_how_to_follow_or_start_one() {
    let (mut app, now) = app();
    let before = screen(&app, now, 80, 24).0.concat();
    assert!(!before.contains("press q and type"), "{before}");
    let command = "hearken watch opencode:http://127.0.0.1:4096";
    let running = NearbyCommands::Running(vec!["hearken watch codex".into(), command.into()]);
    app.update(Input::Found(running), now);
    for (width, height) in [(24, 24), (40, 24), (80, 24), (120, 40)] {
        let (rows, _) = screen(&app, now, width, height);
        let flat = rows.join(" ");
        let folded = flat.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            folded.contains("To follow what is running here, press q and type:"),
            "{width}: {rows:#?}"
        );
        assert!(
            rows.iter().any(|row| row == "hearken watch codex"),
            "{rows:#?}"
        );
        assert!(
            rows.concat().contains("opencode:http://127.0.0.1:4096") || width < 40,
            "{rows:#?}"
        );
    }
    let startable = NearbyCommands::Startable(vec!["hearken run codex".into()]);
    app.update(Input::Found(startable), now);
    let (rows, _) = screen(&app, now, 80, 24);
    assert!(
        rows.iter().any(|row| row == "hearken run codex"),
        "{rows:#?}"
    );
    assert!(
        rows.concat()
            .contains("Nothing that hearken knows is running here.")
    );
    event(
        &mut app,
        now,
        json!({"type": "aaep:agent.session.started", "summary_normal": "It begins."}),
    );
    event(
        &mut app,
        now,
        json!({"type": "aaep:agent.session.completed", "summary_normal": "Done."}),
    );
    let rows = screen(&app, now, 80, 24).0.concat();
    assert!(!rows.contains("hearken run codex"), "{rows}");
}

#[test]
fn the_end_of_a_turn_stands_below_the_response_to_the_last_key() {
    let (mut app, now) = command("touch a.txt");
    drawn(&mut app, now, (80, 24));
    let later = Now {
        monotonic: now.monotonic + Duration::from_secs(30),
        ..now
    };
    press(&mut app, KeyCode::Char('n'), later);
    let rows = screen(&app, later, 80, 24).0;
    assert!(
        rows.iter().any(|row| row.contains("Rejecting")),
        "{rows:#?}"
    );
    event(
        &mut app,
        later,
        json!({"type": "aaep:agent.session.completed", "summary_normal": "It is over.", "session_id": "sess_1"}),
    );
    let rows = screen(&app, later, 80, 24).0;
    let last = rows.iter().rposition(|row| row.contains("Finished"));
    let response = rows.iter().rposition(|row| row.contains("Rejecting"));
    assert!(
        last.is_some() && response.is_some() && response < last,
        "{rows:#?}"
    );
}
