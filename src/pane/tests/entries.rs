//! The entries of the transcript: one for each call, with what it changed; prompts; the plan and the agents around it.

use super::*;

fn begins(app: &mut App, now: Now) {
    event(
        app,
        now,
        json!({"type": "aaep:agent.session.started", "summary_normal": "It begins."}),
    );
}

fn invoked(app: &mut App, now: Now, summary: &str) {
    event(
        app,
        now,
        json!({"type": "aaep:agent.tool.invoked", "tool": "edit", "tool_call_id": "c1", "summary_normal": summary}),
    );
}

fn completed(app: &mut App, now: Now, summary: &str, lines: u64) {
    let changed = (0..lines).map(|n| format!("+line {n}"));
    let changed: Vec<String> = std::iter::once(" kept".to_owned()).chain(changed).collect();
    event(
        app,
        now,
        json!({"type": "aaep:agent.tool.completed", "tool": "edit", "tool_call_id": "c1", "status": "success",
            "summary_normal": summary,
            "extensions": {"hearken": {"changes": [{"path": "a.py", "added": lines, "removed": 0, "places": 1,
                "hunks": [{"line": 7, "lines": changed, "left_out": 0}]}]}}}),
    );
}

#[test]
fn a_call_has_one_row_once_its_end_says_the_same() {
    let (mut app, now) = app();
    begins(&mut app, now);
    invoked(&mut app, now, "Editing server.py");
    let tools = |app: &App, height: u16| {
        let (rows, _) = screen(app, now, 80, height);
        let tools = rows.into_iter().filter(|row| row.starts_with("Tool: "));
        tools.collect::<Vec<_>>()
    };
    assert_eq!(tools(&app, 24).len(), 1);
    completed(&mut app, now, "Edited server.py, 1 line added", 1);
    assert_eq!(tools(&app, 24), ["Tool: Edited server.py, 1 line added"]);
    assert_eq!(tools(&app, 10).len(), 1);
    // Both are still found by looking back, behind hearken's note that nobody was asked.
    press(&mut app, KeyCode::Up, now);
    press(&mut app, KeyCode::Up, now);
    assert_eq!(tools(&app, 24).len(), 1, "{:?}", tools(&app, 24));
    press(&mut app, KeyCode::Up, now);
    assert!(
        tools(&app, 24)[0].contains("Editing"),
        "{:?}",
        tools(&app, 24)
    );
}

#[test]
fn a_call_whose_end_says_something_else_keeps_both_rows() {
    let (mut app, now) = app();
    begins(&mut app, now);
    invoked(&mut app, now, "Running all 240 tests with the slow ones");
    completed(&mut app, now, "240 tests passed", 0);
    let (rows, _) = screen(&app, now, 80, 24);
    let tools = rows.iter().filter(|row| row.starts_with("Tool: ")).count();
    assert_eq!(tools, 2, "{rows:#?}");
}

#[test]
fn what_a_call_changed_stays_below_it_and_looking_back_shows_all_of_it() {
    let (mut app, now) = app();
    begins(&mut app, now);
    completed(&mut app, now, "Edited a.py", 30);
    for ((width, height), shown) in [((40, 10), 2), ((80, 24), 6), ((140, 40), 6)] {
        let (rows, _) = screen(&app, now, width, height);
        let lines = rows.iter().filter(|row| row.contains("+ line ")).count();
        assert_eq!(lines, shown, "{width}x{height}: {rows:#?}");
        let more = format!("{} more lines", 30 - shown);
        let flat = rows
            .join(" ")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(flat.contains(&more), "{width}x{height}: {rows:#?}");
        assert!(!rows.concat().contains("kept"), "{rows:#?}");
    }
    // The newest entry is hearken's note that nobody was asked.
    press(&mut app, KeyCode::Up, now);
    press(&mut app, KeyCode::Up, now);
    let mut seen = String::new();
    for _ in 0..20 {
        seen.push_str(&screen(&app, now, 40, 10).0.join("\n"));
        press(&mut app, KeyCode::Char('.'), now);
    }
    for n in 0..30 {
        assert!(seen.contains(&format!("+ line {n}\n")), "{n}: {seen}");
    }
    assert!(seen.contains("7   kept"), "{seen}");
}

#[test]
fn what_a_rejected_question_would_have_changed_stays_below_it() {
    let (mut app, now) = app();
    begins(&mut app, now);
    ask(&mut app, now, "Edit a.py");
    let at = |seconds: u64| Now {
        monotonic: now.monotonic + Duration::from_secs(seconds),
        ..now
    };
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
    let mut showing = crate::app::QuestionVisibility::SideQuestion;
    terminal
        .draw(|frame| showing = draw(frame, &app, now, &TimeZone::UTC, LOOK))
        .unwrap();
    app.update(
        Input::Drawn {
            showing,
            at: now.monotonic,
        },
        now,
    );
    press(&mut app, KeyCode::Char('n'), at(30));
    event(
        &mut app,
        at(31),
        json!({"type": "aaep:agent.state.changed", "from_state": "awaiting_input", "to_state": "thinking"}),
    );
    let (rows, _) = screen(&app, at(32), 80, 24);
    let has = |words: &str| rows.iter().any(|row| row.contains(words));
    assert!(has("8 -     return 80"), "{rows:#?}");
    assert!(has("8 +     return 8080"), "{rows:#?}");
}

#[test]
fn the_step_under_way_has_a_row_where_no_column_has_the_plan() {
    let (mut app, now) = app();
    begins(&mut app, now);
    let steps = json!([{"step": "Read it", "stage": "done"}, {"step": "Mend it", "stage": "now"},
        {"step": "Check it", "stage": "open"}]);
    let plan = json!({"type": "aaep:agent.progress.updated", "summary_normal": "Half.",
        "extensions": {"hearken": {"plan": steps}}});
    event(&mut app, now, plan);
    let has = |app: &App, width: u16, height: u16, words: &str| {
        let (rows, _) = screen(app, now, width, height);
        rows.iter().any(|row| row.starts_with(words))
    };
    let words = "Plan, step 2 of 3: Mend it";
    assert!(has(&app, 80, 24, words));
    assert!(has(&app, 109, 24, words));
    assert!(!has(&app, 40, 10, "Plan"));
    assert!(!has(&app, 140, 40, words));
    let (rows, _) = screen(&app, now, 140, 40);
    assert!(rows.concat().contains("Plan, 1 of 3 done"), "{rows:#?}");
    assert!(!rows.iter().any(|row| row.contains("Agents")), "{rows:#?}");
}

#[test]
fn one_agent_alone_has_no_column_and_two_have_one() {
    let (mut app, now) = app();
    begins(&mut app, now);
    let column = |app: &App| {
        let (rows, _) = screen(app, now, 140, 40);
        rows.iter().any(|row| row.ends_with("  Agents"))
    };
    assert!(!column(&app));
    // Its call is below the first row, which names it.
    invoked(&mut app, now, "Editing server.py");
    for (width, height) in [(80, 24), (140, 40)] {
        let (rows, _) = screen(&app, now, width, height);
        assert_eq!(rows[1], "  edit", "{rows:#?}");
        assert!(!rows.iter().any(|row| row == "Agents"), "{rows:#?}");
    }
    let other = json!({"type": "aaep:agent.session.started", "summary_normal": "It too.", "session_id": "sess_2",
        "producer": {"agent_id": "b", "agent_name": "Baker"}});
    event(&mut app, now, other);
    assert!(column(&app));
}

#[test]
fn the_time_of_the_first_turn_runs_from_its_first_seconds() {
    let (mut app, now) = app();
    begins(&mut app, now);
    for (seconds, words) in [
        (4, ""),
        (12, "  for 10 seconds"),
        (75, "  for 1 minute and 10 seconds"),
    ] {
        let later = Now {
            monotonic: now.monotonic + Duration::from_secs(seconds),
            ..now
        };
        let (rows, _) = screen(&app, later, 100, 24);
        assert_eq!(rows[0], format!("hearken  Mailer: working{words}"));
        let change = stale_at(&app, later).unwrap();
        assert!(
            change <= later.monotonic + Duration::from_secs(10),
            "{change:?}"
        );
    }
}

#[test]
fn the_help_says_which_of_its_rows_are_in_sight() {
    let (mut app, now) = app();
    press(&mut app, KeyCode::Char('?'), now);
    let place = |app: &App, width: u16, height: u16| {
        let (rows, _) = screen(app, now, width, height);
        let (_, place) = rows[0].split_once("help, rows ")?;
        let place = place.split("  ").next()?;
        let (from, rest) = place.split_once(" to ")?;
        let (to, all) = rest.split_once(" of ")?;
        let number = |text: &str| text.parse::<usize>().unwrap();
        Some((number(from), number(to), number(all)))
    };
    for (width, height) in [(40, 10), (80, 24), (140, 40)] {
        let (from, to, all) = place(&app, width, height).unwrap();
        assert!(from == 1 && to < all, "{width}x{height}");
    }
    assert_eq!(place(&app, 140, 200), None);
    for _ in 0..3 {
        press(&mut app, KeyCode::Down, now);
    }
    assert_eq!(place(&app, 40, 10).unwrap().0, 4);
    press(&mut app, KeyCode::End, now);
    let (_, to, all) = place(&app, 40, 10).unwrap();
    assert_eq!(to, all);
}

#[test]
fn the_beginning_of_an_entry_is_found_without_colour() {
    let (mut app, now) = app();
    let long = "Some words that fill a row or two. ".repeat(12);
    event(
        &mut app,
        now,
        json!({"type": "aaep:agent.output.streaming", "output_id": "o", "chunk": long, "position": 0, "complete": true}),
    );
    completed(&mut app, now, "Edited a.py", 1);
    let before = |width: u16, height: u16| {
        let (rows, _) = screen(&app, now, width, height);
        let at = rows
            .iter()
            .position(|row| row.starts_with("Tool: "))
            .unwrap();
        rows[at - 1].clone()
    };
    assert_eq!(before(80, 24), "");
    assert_ne!(before(40, 10), "");
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
    terminal
        .draw(|frame| {
            draw(frame, &app, now, &TimeZone::UTC, PLAIN);
        })
        .unwrap();
    let (rows, _) = screen(&app, now, 80, 24);
    let y = rows
        .iter()
        .position(|row| row.starts_with("Tool: "))
        .unwrap();
    let cell = |x: u16| terminal.backend().buffer()[(x, u16::try_from(y).unwrap())].modifier;
    assert!(cell(0).contains(Modifier::BOLD) && !cell(8).contains(Modifier::BOLD));
}

#[test]
fn a_click_is_meant_for_the_agent_or_the_entry_on_its_row() {
    use crate::app::PointerTarget;
    let (mut app, now) = app();
    begins(&mut app, now);
    let other = json!({"type": "aaep:agent.session.started", "summary_normal": "It too.", "session_id": "sess_2",
        "producer": {"agent_id": "b", "agent_name": "Baker"}});
    event(&mut app, now, other);
    invoked(&mut app, now, "Editing server.py");
    let mut entries = app.history().iter().rev();
    let entry = entries.find(|told| told.text().contains("Editing"));
    let entry = entry.unwrap().id;
    for (width, height) in [(40, 10), (80, 24), (140, 40)] {
        let places = ClickPlaces::default();
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal
            .draw(|frame| {
                draw_with_places(frame, &app, now, &TimeZone::UTC, LOOK, &places);
            })
            .unwrap();
        let (rows, _) = screen(&app, now, width, height);
        let row = |words: &str| {
            let found = rows.iter().position(|row| row.contains(words));
            u16::try_from(found.unwrap()).unwrap()
        };
        let at = |x: u16, y: u16| places.at(Position::new(x, y));
        let tool = row("Tool Mailer: ");
        assert_eq!(at(3, tool), Some(PointerTarget::Entry(entry)), "{rows:#?}");
        assert_eq!(at(0, 0), None);
        assert_eq!(at(0, height - 1), None);
        if width == 140 {
            let baker = row("2: Baker");
            assert_eq!(at(100, baker), Some(PointerTarget::Conversation(2)));
        }
    }
}
