//! On a small screen, what hearken found and what the agent asks stay in view whatever is said beside them.

use super::offered_keys::{command, drawn};
use super::*;

/// Screens without room for a question and anything beside it.
const SMALL: [(u16, u16); 6] = [(24, 8), (24, 10), (30, 8), (40, 9), (40, 10), (60, 12)];

fn at(rows: &[String], words: &str) -> Option<usize> {
    rows.iter().position(|row| row.contains(words))
}

/// A question after a long answer, which was in sight.
fn asked_after_an_answer(size: (u16, u16)) -> (App, Now) {
    let (mut app, mut now) = app();
    let text = format!("Foxes {}end here.", "jump over lazy dogs and ".repeat(12));
    event(
        &mut app,
        now,
        json!({"type": "aaep:agent.output.streaming", "output_id": "o", "chunk": text, "position": 0, "complete": true}),
    );
    let words = "git push --force origin main";
    event(
        &mut app,
        now,
        json!({
            "type": "aaep:agent.awaiting.confirmation", "action": words, "consequence": "It runs.",
            "reply_token": "rpl_1", "urgency": "critical",
            "extensions": {"hearken": {"deed": {"commands": [words]}}},
        }),
    );
    drawn(&mut app, now, size);
    now.monotonic += Duration::from_secs(30);
    (app, now)
}

#[test]
fn looking_back_and_searching_leave_the_action_above_the_entry() {
    for size in SMALL {
        for search in [false, true] {
            let (mut app, now) = asked_after_an_answer(size);
            match search {
                true => {
                    press(&mut app, KeyCode::Char('/'), now);
                    "lazy"
                        .chars()
                        .for_each(|c| press(&mut app, KeyCode::Char(c), now));
                    press(&mut app, KeyCode::Enter, now);
                }
                false => (0..2).for_each(|_| press(&mut app, KeyCode::Up, now)),
            }
            let (rows, _) = screen(&app, now, size.0, size.1);
            let action = at(&rows, "git push");
            let found = at(&rows, "! Rewrites");
            let sign = if search { "Match 1 of 1" } else { "History, " };
            let entry = at(&rows, sign);
            assert!(
                found.is_some() && found < action && action < entry,
                "{size:?}: {rows:#?}"
            );
        }
    }
}

#[test]
fn looking_back_at_the_question_itself_leaves_it_whole() {
    let (mut app, now) = asked_after_an_answer((40, 10));
    let before = drawn(&mut app, now, (40, 10));
    press(&mut app, KeyCode::Up, now);
    let (rows, _) = screen(&app, now, 40, 10);
    assert_eq!(rows[..7], before[..7]);
    assert_eq!(rows[7], "History, newest entry. End: live.");
}

fn turn_all_pages(app: &mut App, now: &mut Now, size: (u16, u16)) {
    for _ in 0..9 {
        drawn(app, *now, size);
        now.monotonic += Duration::from_secs(1);
        press(app, KeyCode::Char('d'), *now);
    }
    drawn(app, *now, size);
    now.monotonic += Duration::from_secs(1);
}

/// Turns all pages, and begins to accept.
fn confirming(app: &mut App, mut now: Now, size: (u16, u16)) -> Vec<String> {
    turn_all_pages(app, &mut now, size);
    press(app, KeyCode::Char('y'), now);
    assert!(matches!(app.mode(), Mode::Confirming(_)), "{size:?}");
    screen(app, now, size.0, size.1).0
}

#[test]
fn the_second_step_has_the_findings_and_the_action() {
    for size in SMALL {
        let (mut app, now) = command("git push --force origin main");
        let rows = confirming(&mut app, now, size);
        let key = at(&rows, "Press c");
        let action = at(&rows, "git push");
        let found = at(&rows, "! Rewrites");
        assert!(
            found.is_some() && found < action && action < key,
            "{size:?}: {rows:#?}"
        );
        let all = rows.join(" ").replace("! ", "");
        let all: Vec<&str> = all.split_whitespace().collect();
        let all = all.join(" ");
        let is_whole =
            all.contains("a remote repository or service.") && all.contains("origin main");
        assert!(is_whole || all.contains('…'), "{size:?}: {rows:#?}");
        assert!(
            is_whole || size.0 < 40 || size.1 < 10,
            "{size:?}: {rows:#?}"
        );
    }
}

#[test]
fn a_step_that_names_a_long_command_leaves_a_row_for_what_was_found() {
    let words = format!("rm -rf /var/lib/data {}", "and-more ".repeat(30));
    let (mut app, mut now) = command(&words);
    // Another question makes it less than obvious what is confirmed.
    event(
        &mut app,
        now,
        json!({
            "type": "aaep:agent.awaiting.confirmation", "action": "Second", "consequence": "It runs.",
            "reply_token": "rpl_2", "urgency": "critical", "session_id": "sess_2",
        }),
    );
    now.monotonic += Duration::from_secs(1);
    let rows = confirming(&mut app, now, (40, 10));
    let found = at(&rows, "! ");
    assert!(found.is_some() && found < at(&rows, "Press c"), "{rows:#?}");
    assert!(rows.join(" ").contains('…'), "{rows:#?}");
}

#[test]
fn the_page_of_a_question_is_told_on_the_narrowest_screen() {
    let (mut app, mut now) = command("git push --force origin main && rm -rf /var/lib/data");
    for n in 2..12 {
        event(
            &mut app,
            now,
            json!({
                "type": "aaep:agent.awaiting.confirmation", "action": "Wait", "consequence": "It waits.",
                "reply_token": format!("rpl_{n}"), "urgency": "critical", "session_id": format!("sess_{n}"),
            }),
        );
    }
    for page in 1..4 {
        let rows = drawn(&mut app, now, (24, 10));
        let (told, short) = (format!("page {page} of "), format!(", {page}/"));
        assert!(
            rows[0].contains(&told) || rows[0].contains(&short),
            "{rows:#?}"
        );
        now.monotonic += Duration::from_secs(1);
        press(&mut app, KeyCode::Char('d'), now);
    }
}

#[test]
fn keys_are_offered_with_all_of_their_names_or_not_at_all() {
    for width in 20..60 {
        let (mut app, mut now) = command("cargo test");
        for mode in 0..4 {
            let short = ["y c accept", "other keys: leave open"].map(str::to_owned);
            let rows = drawn(&mut app, now, (width, 10));
            let units = crate::pane::key_hints::of_question(
                &app,
                crate::app::QuestionVisibility::SideQuestion,
            );
            let all: Vec<String> = units
                .into_iter()
                .chain(crate::pane::key_hints::of_mode(&app))
                .collect();
            let mut words: Vec<&str> = Vec::new();
            for row in &rows[8..] {
                words.extend(row.split("  ").filter(|it| !it.is_empty()));
            }
            assert!(!words.is_empty(), "{width} {mode}");
            let whole = words
                .iter()
                .all(|word| all.iter().chain(&short).any(|unit| unit == word));
            // A long name may go on in the next row, but not without its end.
            let wrapped = all.contains(&words.join(" "));
            assert!(whole || wrapped, "{width} {mode}: {words:?}");
            now.monotonic += Duration::from_secs(40);
            press(&mut app, KeyCode::Char(['/', 'q', 'y', 'o'][mode]), now);
            if mode < 2 {
                press(&mut app, KeyCode::Esc, now);
            }
        }
    }
}

#[test]
fn the_asking_agents_name_matters_more_than_a_long_time() {
    let (mut app, now) = app();
    event(
        &mut app,
        now,
        json!({
            "type": "aaep:agent.awaiting.confirmation", "action": "Move it", "consequence": "It moves.",
            "reply_token": "rpl_1", "urgency": "critical", "timeout_seconds": 90,
            "producer": {"agent_id": "a", "agent_name": "Deploy Assistant"},
        }),
    );
    let head = |width| screen(&app, now, width, 24).0[1].clone();
    assert_eq!(
        head(60),
        "Question 1, 1 min 30 s left, from Deploy Assistant"
    );
    assert_eq!(
        head(80),
        "Question 1, 1 minute and 30 seconds left, from Deploy Assistant"
    );
}

#[test]
fn choosing_leaves_the_findings_and_the_action_above_the_whole_choice_in_focus() {
    for size in SMALL.into_iter().chain([(80, 24)]) {
        let (mut app, mut now) = app();
        let words = "git push --force origin main";
        event(
            &mut app,
            now,
            json!({
                "type": "aaep:agent.awaiting.confirmation", "action": words, "consequence": "It runs.",
                "reply_token": "rpl_1", "urgency": "critical",
                "allowed_replies": ["accept", "reject", "always_all_that_begins_with_git", "ask_later"],
                "extensions": {"hearken": {"deed": {"commands": [words]}}},
            }),
        );
        turn_all_pages(&mut app, &mut now, size);
        press(&mut app, KeyCode::Char('o'), now);
        let rows = drawn(&mut app, now, size);
        assert!(
            matches!(app.mode(), Mode::Choosing(..)),
            "{size:?} {rows:?}"
        );
        let rows = drawn(&mut app, now, size);
        let found = at(&rows, "! Rewrites");
        let action = at(&rows, "git push");
        let choice = at(&rows, "1 always");
        assert!(
            found.is_some() && found < action && action < choice,
            "{size:?}: {rows:#?}"
        );
        let below = rows[choice.unwrap()..].join(" ");
        assert!(
            below.contains("git") || below.contains('…'),
            "{size:?}: {rows:#?}"
        );
    }
}
