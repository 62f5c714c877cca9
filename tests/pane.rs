//! The full face as people meet it: each scene at each size, in each theme, and an agent that tries to pass
//! its words off as hearken's.

use std::collections::BTreeSet;

use crossterm::event::KeyCode;
use hearken::config::ThemeChoice;
use hearken_wording::phrase;
use ratatui::buffer::Buffer;
use serde_json::json;

use crate::support::face_scenes::{SCENES, event, press, question, say, stage, three_agents};
use crate::support::stage::Stage;

const SIZES: [(u16, u16); 4] = [(40, 10), (80, 24), (100, 30), (200, 50)];
const THEMES: [ThemeChoice; 3] = [
    ThemeChoice::Terminal,
    ThemeChoice::HighContrast,
    ThemeChoice::Plain,
];

fn rows(buffer: &Buffer) -> Vec<String> {
    let area = buffer.area;
    (0..area.height)
        .map(|y| {
            let row: String = (0..area.width).map(|x| buffer[(x, y)].symbol()).collect();
            row.trim_end().to_owned()
        })
        .collect()
}

/// Returns the styles of a screen's columns, row by row.
fn styles(buffer: &Buffer) -> String {
    let area = buffer.area;
    let mut out = String::new();
    for y in 0..area.height {
        let mut runs: Vec<(u16, u16, String)> = Vec::new();
        for x in 0..area.width {
            let cell = &buffer[(x, y)];
            let look = format!("{:?} on {:?} {:?}", cell.fg, cell.bg, cell.modifier);
            match runs.last_mut() {
                Some((_, end, last)) if *last == look => *end = x,
                Some(_) | None => runs.push((x, x, look)),
            }
        }
        let usual = "Reset on Reset NONE";
        let runs: Vec<String> = runs
            .into_iter()
            .filter(|(_, _, look)| look != usual)
            .map(|(from, to, look)| {
                let look = look.replace(" on Reset", "").replace("Reset ", "");
                format!("{from}-{to} {look}")
            })
            .collect();
        if !runs.is_empty() {
            out.push_str(&format!("{y:2}: {}\n", runs.join("; ")));
        }
    }
    out
}

/// The content is the same in each theme: none conveys anything by a colour or a weight.
#[test]
fn every_scene_at_every_size_in_every_theme() {
    let mut text = String::new();
    let mut looks = [String::new(), String::new(), String::new()];
    for (name, scene) in SCENES {
        let stage = scene();
        for (columns, height) in SIZES {
            let drawn = THEMES.map(|theme| stage.drawn(columns, height, theme));
            let screens: BTreeSet<Vec<String>> =
                drawn.iter().map(|(buffer, ..)| rows(buffer)).collect();
            assert_eq!(screens.len(), 1, "{name} at {columns}x{height}");
            let (buffer, cursor, _) = &drawn[2];
            text.push_str(&format!("=== {name}, {columns}x{height}\n"));
            for row in rows(buffer) {
                text.push_str(&format!("{row}\n"));
            }
            text.push_str(&format!("(cursor at {}, {})\n", cursor.x, cursor.y));
            if (columns, height) == (80, 24) {
                for ((buffer, ..), looks) in drawn.iter().zip(&mut looks) {
                    looks.push_str(&format!("=== {name}\n{}", styles(buffer)));
                }
            }
        }
    }
    insta::assert_snapshot!("pane", text);
    for (theme, looks) in THEMES.iter().zip(looks) {
        insta::assert_snapshot!(format!("pane_styles_{theme:?}").to_lowercase(), looks);
    }
}

/// Each word is marked, so that every row that contains one is found.
const FORGED: [&str; 4] = [
    "zzLow zzrisk. zzIt zzcan zzbe zzundone. zzPress zzy zzto zzaccept.",
    "zzQuestion zz1 zzof zz1, zznumber zz1, zzfrom zzyour zzbank. zzHigh zzrisk? zzNo: zzlow zzrisk.",
    "zzKeys: zzy zzaccept zzn zzreject. zzhearken: zzSent. zzStatus: zzquiet, zzall zzis zzwell, zznothing zzwaits.",
    "zzWhat zzhappened zz(10:00) zzAgents zzhearken: zzAccepting. zzNote: zzthe zzagent zzis zzto zzbe zztrusted.",
];

/// Returns a stage where an agent says all it can in words that imitate hearken's.
fn forger(name: &str) -> Stage {
    let mut stage = stage();
    forge(&mut stage, name);
    stage
}

/// Does the same on any stage.
pub fn forge(stage: &mut Stage, name: &str) {
    let all = FORGED.join(" ");
    let id: String = name
        .to_lowercase()
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    let producer = json!({"agent_id": id, "agent_name": name, "model": FORGED[0]});
    event(
        stage,
        name,
        "session.started",
        json!({"summary_normal": all, "producer": producer}),
    );
    event(
        stage,
        name,
        "tool.invoked",
        json!({"tool": "read", "tool_call_id": "c1", "summary_normal": format!("{all}\n{all}")}),
    );
    let steps = FORGED.map(|words| json!({"step": words, "stage": "open"}));
    event(
        stage,
        name,
        "progress.updated",
        json!({"summary_normal": FORGED[2], "progress": {"percent": 10},
            "extensions": {"hearken": {"plan": steps}}}),
    );
    say(
        stage,
        name,
        &format!(
            "{all}\n\n# {all}\n\n> {all}\n\n| zza | zzb |\n|---|---|\n| {all} | {all} |\n\n{all}\n- zzone\n- zztwo\n```\n{all}\n```\n"
        ),
    );
    event(
        stage,
        name,
        "awaiting.confirmation",
        json!({
            "action": format!("{}\n{}", FORGED[1], FORGED[0]), "consequence": FORGED[0], "reply_token": "rpl_1",
            "timeout_seconds": 300, "default_decision": "reject", "risk_level": "high", "irreversible": true,
            "summary_detailed": FORGED[2], "urgency": "critical", "producer": producer,
            "extensions": {"hearken": {"changes": [
                {"path": format!("zzx {}", FORGED[0]), "added": 3, "removed": 1, "places": 2, "hunks": [
                    {"line": 1, "lines": [format!("+{all}"), format!("-{all} {all}"), format!("+{}", FORGED[2]), " zzy"],
                        "left_out": 2},
                    {"line": 90, "lines": [format!(" {}", FORGED[0]), "+Keys: zzy zzaccept", "+! zzNothing zzwas zzfound."],
                        "left_out": 0},
                ]},
            ]}},
        }),
    );
    stage.wait_for_silence();
}

/// Returns whether a row with an agent's words is marked as such: it is indented, or a label precedes them.
fn is_marked(row: &str, name: &str) -> bool {
    let labels = ["Session", "State", "Tool", "Progress", "Question", "Other"];
    let labelled = |rest: &str| {
        labels.iter().any(|label| {
            rest.starts_with(&format!("{label}: "))
                || rest.starts_with(&format!("{label} {name}: "))
        })
    };
    let change = row.starts_with("Change ") && row.contains(": zzx ");
    let model = row.starts_with("hearken  1 question  ") && row.contains("  model zzLow ");
    let says = row.starts_with(&format!("{name} says: "));
    let plan = row.starts_with("Plan, step ");
    row.starts_with("  ") || says || labelled(row) || change || model || plan
}

/// Returns where a column of a row begins.
fn at_column(row: &str, column: usize) -> usize {
    row.char_indices()
        .nth(column)
        .map_or(row.len(), |(at, _)| at)
}

#[test]
fn no_row_of_an_agents_is_taken_for_one_of_hearkens() {
    for (told, name) in [("Mailer", "Mailer"), ("hearken", "agent hearken")] {
        for (columns, height) in SIZES {
            let mut stage = forger(told);
            let mut found = 0;
            let (mut ours, mut planned, mut modelled) = (0, 0, 0);
            // All pages, its details, its second step, and everything that can be reviewed.
            let keys = std::iter::repeat_n(KeyCode::Char('.'), 9)
                .chain(std::iter::repeat_n(KeyCode::Char('d'), 12))
                .chain([KeyCode::Char('y'), KeyCode::Char('x'), KeyCode::Char('t')])
                .chain(std::iter::repeat_n(KeyCode::Up, 8))
                .chain([KeyCode::Char('r'), KeyCode::Char('w'), KeyCode::Char('.')]);
            for key in keys {
                for theme in THEMES {
                    let (buffer, ..) = stage.drawn(columns, height, theme);
                    for row in rows(&buffer) {
                        ours += usize::from(row.starts_with("High risk. Can't be undone."));
                        // A wide screen has a column of its own for the agents and their plans.
                        let (work, beside) = match columns >= 110 {
                            true => row.split_at(at_column(&row, 140)),
                            false => (row.as_str(), ""),
                        };
                        modelled += usize::from(work.contains("  model zzLow "));
                        if work.contains("zz") {
                            found += 1;
                            assert!(is_marked(work, name), "{columns}x{height}: {row:?}");
                        }
                        if beside.contains("zz") {
                            planned += 1;
                            assert!(beside.starts_with("  "), "{columns}x{height}: {row:?}");
                        }
                    }
                }
                press(&mut stage, key);
                stage.wait_for_silence();
            }
            assert!(found > 100 && ours > 0, "{found} {ours}");
            assert_eq!(planned > 0, columns >= 110, "{columns}");
            assert_eq!(modelled > 0, columns >= 100, "{columns}");
        }
    }
}

/// Whatever is said or typed meanwhile, a page of a question shows the same rows of it.
#[test]
fn pages_of_a_question_stay_put() {
    let mut stage = question();
    let body = |stage: &Stage| -> Vec<String> {
        let (buffer, ..) = stage.drawn(40, 10, ThemeChoice::Plain);
        let all = rows(&buffer);
        let shown = all.iter().skip(2).take(4);
        shown.cloned().collect()
    };
    let first = body(&stage);
    assert!(first[0].starts_with("High risk."), "{first:?}");
    say(&mut stage, "Test Runner", "Something else. ");
    assert_eq!(body(&stage), first, "news wait");
    press(&mut stage, KeyCode::Char('v'));
    assert_eq!(body(&stage), first, "a notice has a row of its own");
    press(&mut stage, KeyCode::Char('e'));
    assert_eq!(body(&stage)[0], first[0], "a line is typed");
    press(&mut stage, KeyCode::Esc);
    stage.wait(std::time::Duration::from_secs(150));
    let heading = rows(&stage.drawn(40, 10, ThemeChoice::Plain).0);
    assert_eq!(body(&stage)[..2], first[..2], "the time goes");
    for _ in 0..6 {
        press(&mut stage, KeyCode::Char('d'));
        let page = rows(&stage.drawn(40, 10, ThemeChoice::Plain).0);
        assert!(page[0].starts_with("Question 1, "), "{page:?}");
        assert!(!page[0].contains('…') && !page[1].contains('…'), "{page:?}");
        assert!(page[1].contains("left, from"), "{page:?} {heading:?}");
    }
}

/// As a question's time passes, each of its pages and of its details keeps its rows: only the head changes.
#[test]
fn the_time_cuts_no_page_anew() {
    for turns in 0..6 {
        let mut stage = question();
        for _ in 0..turns {
            press(&mut stage, KeyCode::Char('d'));
        }
        let page = |stage: &Stage| rows(&stage.drawn(40, 10, ThemeChoice::Plain).0);
        let first = page(&stage);
        let mut heads = BTreeSet::from([first[1].clone()]);
        for _ in 0..56 {
            stage.wait(std::time::Duration::from_secs(5));
            let now = page(&stage);
            assert_eq!(
                (&now[0], &now[2..]),
                (&first[0], &first[2..]),
                "{turns} turns"
            );
            heads.insert(now[1].clone());
        }
        assert!(heads.len() > 12, "{heads:?}");
    }
}

/// A question that fills several pages of a large screen, too.
#[test]
fn every_page_has_the_head_and_the_keys() {
    let mut stage = stage();
    let action = "One more of many words about what is to be done. ".repeat(60);
    event(
        &mut stage,
        "Mailer",
        "awaiting.confirmation",
        json!({
            "action": action, "consequence": "It is gone.", "reply_token": "rpl_1", "urgency": "critical",
            "timeout_seconds": 300, "default_decision": "reject", "risk_level": "low", "irreversible": false,
        }),
    );
    stage.wait_for_silence();
    for (columns, height) in SIZES {
        for _ in 0..12 {
            let screen = rows(&stage.drawn(columns, height, ThemeChoice::Plain).0).join("\n");
            let head = match columns {
                40 => "Question 1, page ",
                _ => "Question 1, ",
            };
            assert!(screen.contains(head), "{screen}");
            assert!(phrase!("keys.reject").is_in(&screen), "{screen}");
            // With the first letter, the notice about the line disappears.
            press(&mut stage, KeyCode::Char('e'));
            press(&mut stage, KeyCode::Char('w'));
            let typing = rows(&stage.drawn(columns, height, ThemeChoice::Plain).0).join("\n");
            let body = |screen: &str| -> Vec<String> {
                let set_in = screen
                    .lines()
                    .filter(|row| row.starts_with("  One") || row.contains("words about"));
                set_in.map(str::to_owned).collect()
            };
            assert_eq!(body(&screen), body(&typing), "{columns}x{height}");
            press(&mut stage, KeyCode::Esc);
            press(&mut stage, KeyCode::Char('d'));
        }
    }
}

#[test]
fn a_long_notice_over_a_page_is_no_sight_of_it() {
    let mut stage = question();
    let part = |stage: &Stage| stage.drawn(40, 10, ThemeChoice::Plain).2;
    assert!(part(&stage).is_some(), "a page is in sight");
    press(&mut stage, KeyCode::Char('t'));
    let (buffer, _, covered) = stage.drawn(40, 10, ThemeChoice::Plain);
    let text = rows(&buffer).join(" ");
    assert!(text.contains("hearken: 1 question is open."), "{text}");
    assert_eq!(covered, None, "{text}");
    // The next key removes it.
    press(&mut stage, KeyCode::Char('d'));
    assert!(part(&stage).is_some());
}

/// `d` at the moment in which a question arrives: its details are all of it, and are reported as visible.
#[test]
fn whoever_sees_the_details_first_has_the_question_in_sight() {
    let mut stage = question();
    press(&mut stage, KeyCode::Char('d'));
    let (buffer, _, part) = stage.drawn(100, 30, ThemeChoice::Plain);
    let text = rows(&buffer).join("\n");
    for words in ["in full", "High risk.", "If accepted:", "Silence"] {
        assert!(text.contains(words), "{text}");
    }
    let part = part.expect("a page is in sight");
    assert_eq!((part.page, part.pages), (0, 1), "{text}");
    let part = stage.drawn(40, 10, ThemeChoice::Plain).2.unwrap();
    assert!(part.page < part.pages && part.pages > 1, "{part:?}");
}

#[test]
fn keys_that_do_nothing_now_are_not_named() {
    let stage = three_agents();
    let screen = stage.screen(80, 24);
    assert!(screen.contains("s stop"), "{screen}");
    let mut stage = three_agents();
    stage.input(hearken::app::Input::Voice(
        hearken::voice::VoiceEvent::None {
            reason: hearken::announce::Reason::said("none here"),
            telling: hearken::voice::MissingVoice::Why,
        },
    ));
    let screen = stage.screen(80, 24);
    assert!(!screen.contains("s stop"), "{screen}");
}

#[test]
fn looking_back_is_marked_at_every_width() {
    let mut stage = three_agents();
    press(&mut stage, KeyCode::Up);
    press(&mut stage, KeyCode::Up);
    for columns in [20, 40, 60, 80, 100, 200] {
        for height in [10, 24, 50] {
            let screen = stage.screen(columns, height);
            assert!(screen.contains("History, "), "{columns}x{height}\n{screen}");
        }
    }
    press(&mut stage, KeyCode::Esc);
    assert!(!stage.screen(80, 24).contains("History, "));
}
