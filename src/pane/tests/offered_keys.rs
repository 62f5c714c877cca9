//! No key is offered that currently does nothing.

use ratatui::style::Modifier;

use super::*;

fn asked(more: serde_json::Value) -> (App, Now) {
    let (mut app, now) = app();
    let mut fields = json!({
        "type": "aaep:agent.awaiting.confirmation", "action": "Move a file.", "consequence": "It can be moved back.",
        "reply_token": "rpl_1", "timeout_seconds": 60, "default_decision": "reject", "risk_level": "low",
        "reversibility": "reversible", "urgency": "critical",
    });
    for (key, value) in more.as_object().unwrap() {
        fields[key] = value.clone();
    }
    event(&mut app, now, fields);
    (app, now)
}

fn offered(app: &App) -> String {
    crate::pane::key_hints::of_question(app, crate::app::QuestionVisibility::SideQuestion)
        .join("; ")
}

#[test]
fn a_question_offers_the_answers_that_it_takes() {
    let told = |more| offered(&asked(more).0);
    assert_eq!(told(json!({})), "y accept; n reject; d details");
    assert_eq!(
        told(json!({"risk_level": "high"})),
        "y then c accept; n reject; d details"
    );
    assert_eq!(
        told(json!({"allowed_replies": ["reject"]})),
        "n reject; d details"
    );
    assert_eq!(
        told(json!({"allowed_replies": ["reject", "later"]})),
        "n reject; o choose; d details"
    );
}

#[test]
fn a_question_that_takes_no_answer_now_offers_none() {
    let (app, _) = asked(json!({"reply_token": null}));
    assert_eq!(offered(&app), "", "nobody can answer it");
    let (mut app, now) = asked(json!({}));
    step(&mut app, now, 'y');
    assert_eq!(offered(&app), "", "its answer is under way");
}

/// Reads the question, waits until it can be answered, and presses a key.
fn step(app: &mut App, mut now: Now, key: char) {
    for _ in 0..4 {
        let mut terminal = Terminal::new(TestBackend::new(100, 30)).unwrap();
        let mut showing = crate::app::QuestionVisibility::SideQuestion;
        terminal
            .draw(|frame| showing = draw(frame, app, now, &TimeZone::UTC, LOOK))
            .unwrap();
        let at = now.monotonic;
        app.update(Input::Drawn { showing, at }, now);
        now.monotonic += Duration::from_secs(1);
        app.update(Input::Deadline, now);
    }
    press(app, KeyCode::Char(key), now);
}

#[test]
fn a_second_step_offers_rejecting_only_where_it_is_taken() {
    let offers = |more| {
        let (mut app, now) = asked(more);
        step(&mut app, now, 'y');
        assert!(matches!(app.mode(), Mode::Confirming(_)));
        crate::pane::key_hints::of_mode(&app).join("; ")
    };
    assert_eq!(
        offers(json!({"risk_level": "high"})),
        "c confirm accept; n reject; any other key: leave it open"
    );
    assert_eq!(
        offers(json!({"risk_level": "high", "allowed_replies": ["accept"]})),
        "c confirm accept; any other key: leave it open"
    );
}

#[test]
fn the_item_that_a_switch_would_select_is_reversed_and_has_a_sign() {
    let mut config = Config::default();
    config.scanning.step = "F7".into();
    config.scanning.select = "F8".into();
    let (mut app, mut now) = app_under(config);
    ask(&mut app, now, "Send it.");
    for _ in 0..2 {
        now.monotonic += Duration::from_secs(1);
        press(&mut app, KeyCode::F(7), now);
    }
    for (width, height) in [(80, 24), (40, 12), (24, 30)] {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal
            .draw(|frame| {
                draw(frame, &app, now, &TimeZone::UTC, PLAIN);
            })
            .unwrap();
        let buffer = terminal.backend().buffer();
        let row = |y| {
            let cells = (0..width).map(|x| buffer[(x, y)].symbol());
            cells.collect::<String>().trim_end().to_owned()
        };
        let item: Vec<u16> = (0..height)
            .filter(|y| row(*y).contains("hearken: "))
            .collect();
        // The item before it is gone.
        assert_eq!(item.len(), 1, "{width}");
        assert_eq!(row(item[0]), "» hearken: Reject it", "{width}");
        assert!(buffer[(2, item[0])].modifier.contains(Modifier::REVERSED));
    }
}

/// Draws a screen as the runtime does, twice: what the first frame shows counts for the second.
pub(super) fn drawn(app: &mut App, now: Now, size: (u16, u16)) -> Vec<String> {
    for _ in 0..2 {
        let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
        let mut showing = crate::app::QuestionVisibility::SideQuestion;
        terminal
            .draw(|frame| showing = draw(frame, app, now, &TimeZone::UTC, LOOK))
            .unwrap();
        let at = now.monotonic;
        app.update(Input::Drawn { showing, at }, now);
    }
    screen(app, now, size.0, size.1).0
}

pub(super) fn command(words: &str) -> (App, Now) {
    let (mut app, now) = app();
    event(
        &mut app,
        now,
        json!({
            "type": "aaep:agent.awaiting.confirmation", "action": words, "consequence": "It runs.",
            "reply_token": "rpl_1", "urgency": "critical", "allowed_replies": ["accept", "reject", "always"],
            "extensions": {"hearken": {"deed": {"commands": [words]}}},
        }),
    );
    (app, now)
}

#[test]
fn accepting_is_offered_once_every_page_was_shown() {
    let (mut app, mut now) = command("git push --force origin main && rm -rf /var/lib/data");
    let first = drawn(&mut app, now, (40, 10));
    let command = first.iter().position(|row| row.contains("git push"));
    assert!(
        command.is_some() && first[2].starts_with("! "),
        "{first:#?}"
    );
    let mut pages = 0;
    loop {
        let rows = drawn(&mut app, now, (40, 10));
        let keys = rows[8..].join("  ");
        if !keys.contains("d next page") {
            assert!(keys.starts_with("y then c accept  n reject"), "{rows:#?}");
            break;
        }
        assert!(
            keys.starts_with("d next page  n reject") && !keys.contains("accept"),
            "{keys}"
        );
        now.monotonic += Duration::from_secs(1);
        press(&mut app, KeyCode::Char('y'), now);
        assert_eq!(app.mode(), Mode::Watching);
        now.monotonic += Duration::from_secs(1);
        press(&mut app, KeyCode::Char('d'), now);
        pages += 1;
    }
    assert!(pages > 0);
    now.monotonic += Duration::from_secs(1);
    press(&mut app, KeyCode::Char('y'), now);
    assert!(matches!(app.mode(), Mode::Confirming(_)));
    let step = drawn(&mut app, now, (40, 10)).join(" ");
    assert!(
        step.contains("git push") && step.contains("Press c to confirm"),
        "{step}"
    );
    // The step lapses, and nothing asks for its key any more.
    now.monotonic += Duration::from_secs(90);
    now.wall += jiff::SignedDuration::from_secs(90);
    app.update(Input::Deadline, now);
    let over = drawn(&mut app, now, (40, 10)).join(" ");
    assert!(
        over.contains("did not come within") && !over.contains("Press c"),
        "{over}"
    );
}

#[test]
fn an_ordinary_command_fits_the_smallest_screen() {
    let (mut app, now) = command("cargo test --workspace");
    let rows = drawn(&mut app, now, (40, 10));
    let all = rows.join(" ");
    for word in [
        "Mailer asks:",
        "cargo test --workspace",
        "Choice 1: always.",
        "y then c accept",
    ] {
        assert!(all.contains(word), "{word}: {rows:#?}");
    }
    assert!(!all.contains("page"), "{rows:#?}");
}

#[test]
fn each_key_is_shown_once() {
    let (mut app, now) = command("cargo test --workspace");
    for size in [(40, 10), (80, 24), (140, 40)] {
        let all = drawn(&mut app, now, size).join(" ");
        for key in ["y then c accept", "n reject", "d details"] {
            assert_eq!(all.matches(key).count(), 1, "{key} {size:?}: {all}");
        }
    }
}

/// Accepting is refused until all of a question was shown, so the item that shows the rest comes first until then.
#[test]
fn switches_are_offered_the_rest_of_a_question_before_its_answers() {
    let mut config = Config::default();
    config.scanning.step = "F7".into();
    config.scanning.select = "F8".into();
    let (mut app, mut now) = app_under(config);
    ask(
        &mut app,
        now,
        &"Delete the folder of the old tests. ".repeat(12),
    );
    let mut pages = 0;
    loop {
        drawn(&mut app, now, (40, 10));
        let items = app.scanned_items().unwrap();
        let details = items.iter().filter(|item| *item == "Read details").count();
        assert_eq!(details, 1, "{items:?}");
        if items[0] == "Accept it" {
            break;
        }
        assert_eq!(items[..2], ["Read details", "Accept it"]);
        for switch in [KeyCode::F(7), KeyCode::F(8)] {
            now.monotonic += Duration::from_secs(2);
            press(&mut app, switch, now);
        }
        pages += 1;
        assert!(pages < 30);
    }
    assert!(pages > 1, "{pages}");
}
