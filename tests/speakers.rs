//! Whose words a line contains: the label appears when the speaker changes, the time when the minute does, and an
//! agent that tries to pass its words off as hearken's never writes a row that begins like one of hearken's.

use std::time::Duration;

use hearken::announce::AnswerMethod;
use hearken::config::{Config, TimesChoice};
use hearken::linear::{LineWriter, Page};
use jiff::tz::TimeZone;
use serde_json::json;

use crate::pane::forge;
use crate::support::face_scenes::{event, say};
use crate::support::stage::Stage;

/// Returns a stage whose lines have a width, at ten seconds before a full minute.
fn stage(width: u16, times: TimesChoice) -> Stage {
    let mut config = Config::default();
    config.screen.times = times;
    config.announce.heartbeat = false;
    let start = "2026-01-01T10:00:50Z".parse().unwrap();
    let mut stage = Stage::by_lines(config, start, AnswerMethod::Lines);
    for agent in ["Ann", "Ben"] {
        event(&mut stage, agent, "session.started", json!({}));
    }
    stage.written = LineWriter::new(Page::plain(width), TimeZone::UTC);
    stage.lines.clear();
    stage
}

fn rows(stage: &mut Stage) -> Vec<String> {
    let lines = std::mem::take(&mut stage.lines).concat();
    lines.lines().map(str::to_owned).collect()
}

#[test]
fn a_label_is_in_the_language_of_its_line() {
    let mut stage = stage(0, TimesChoice::Never);
    let stage = &mut stage;
    let mut read = |call: &str, summary: &str| {
        let call = json!({"tool": "read", "tool_call_id": call, "summary_normal": summary});
        stage.lines.clear();
        event(stage, "Ann", "tool.invoked", call);
        let rows = rows(stage);
        stage.line(if summary == "One." {
            "language de"
        } else {
            "language en"
        });
        rows
    };
    assert_eq!(read("call_1", "One."), ["Tool Ann: One."]);
    assert_eq!(read("call_2", "Two."), ["Werkzeug Ann: Two."]);
    assert_eq!(read("call_3", "Three."), ["Tool Ann: Three."]);
}

#[test]
fn the_label_stands_where_the_speaker_changes() {
    let mut stage = stage(0, TimesChoice::Never);
    let stage = &mut stage;
    say(stage, "Ann", "One. Two. ");
    say(stage, "Ann", "Three. ");
    assert_eq!(rows(stage), ["Ann says: One.", "  Two.", "  Three."]);
    say(stage, "Ben", "Four. ");
    say(stage, "Ann", "Five. ");
    assert_eq!(rows(stage), ["Ben says: Four.", "Ann says: Five."]);
    // Hearken's own words are between them.
    event(
        stage,
        "Ann",
        "tool.invoked",
        json!({"tool": "read", "tool_call_id": "call_1", "summary_normal": "Reading."}),
    );
    say(stage, "Ann", "Six. ");
    assert_eq!(rows(stage), ["Tool Ann: Reading.", "Ann says: Six."]);
    // The person has typed.
    stage.line("k");
    stage.line("k");
    let answers = rows(stage);
    let labelled = answers.iter().filter(|row| row.starts_with("hearken: "));
    assert_eq!((labelled.count(), answers.len()), (2, 2), "{answers:?}");
    say(stage, "Ann", "Seven. ");
    assert_eq!(rows(stage), ["Ann says: Seven."]);
    stage.written.interrupted();
    say(stage, "Ann", "Eight. ");
    assert_eq!(rows(stage), ["Ann says: Eight."]);
    // After a pause, the listener may not know whose turn it was.
    stage.wait(Duration::from_secs(31));
    say(stage, "Ann", "Nine. Ten. ");
    assert_eq!(rows(stage), ["Ann says: Nine.", "  Ten."]);
    // Words that a listener could take for hearken's.
    for text in [
        "Note: fine. ",
        "Low risk of rain. ",
        "A question of taste. ",
        "Hearken to this. ",
        "It says:",
    ] {
        say(stage, "Ann", text);
        assert_eq!(rows(stage), [format!("Ann says: {}", text.trim())]);
    }
    say(stage, "Ann", "It is 10:30 now. ");
    assert_eq!(rows(stage), ["  It is 10:30 now."]);
    // While a decision is pending, each line says whose it is.
    event(
        stage,
        "Ben",
        "awaiting.confirmation",
        json!({"action": "Go.", "consequence": "Gone.", "reply_token": "rpl_1", "timeout_seconds": 300,
            "default_decision": "reject", "risk_level": "low", "irreversible": false, "urgency": "critical"}),
    );
    rows(stage);
    say(stage, "Ann", "Eleven. Twelve. ");
    assert_eq!(rows(stage), ["Ann says: Eleven.", "Ann says: Twelve."]);
}

#[test]
fn the_time_stands_where_it_is_set_to() {
    let told = |width: u16, times: TimesChoice| {
        let mut stage = stage(width, times);
        let stage = &mut stage;
        say(stage, "Ann", "One more. ");
        say(stage, "Ann", "Two. ");
        stage.wait(Duration::from_secs(12));
        say(stage, "Ann", "Three. ");
        say(stage, "Ann", "Four and five. ");
        rows(stage)
    };
    assert_eq!(
        told(0, TimesChoice::Minute),
        [
            "Ann says (10:00): One more.",
            "  Two.",
            "Ann says (10:01): Three.",
            "  Four and five."
        ]
    );
    assert_eq!(
        told(0, TimesChoice::Never),
        [
            "Ann says: One more.",
            "  Two.",
            "  Three.",
            "  Four and five."
        ]
    );
    assert_eq!(
        told(0, TimesChoice::Always),
        [
            "Ann says (10:00:50): One more.",
            "Ann says (10:00:50): Two.",
            "Ann says (10:01:02): Three.",
            "Ann says (10:01:02): Four and five.",
        ]
    );
    // A narrow line has no room for it.
    assert_eq!(
        told(24, TimesChoice::Minute),
        [
            "Ann says: One more.",
            "  Two.",
            "  Three.",
            "  Four and five."
        ]
    );
}

#[test]
fn no_row_of_an_agents_begins_like_one_of_hearkens() {
    for (told, name) in [("Mailer", "Mailer"), ("hearken", "agent hearken")] {
        for width in [0, 20, 40, 80] {
            let mut stage = stage(width, TimesChoice::Never);
            // None of these words prevent an announcement without a label.
            for text in [
                "zzGo zzon. zzDone. ",
                "zzLow zzrisk. zzPress zzy zzto zzaccept zzat zzonce. ",
            ] {
                say(&mut stage, told, text);
            }
            forge(&mut stage, told);
            let rows = rows(&mut stage);
            let asked = rows
                .iter()
                .position(|row| row.starts_with("Question"))
                .unwrap();
            let mut found = 0;
            for (at, row) in rows.iter().enumerate() {
                let asks = [format!("{name} asks: "), "asks: ".to_owned()];
                let asks = asks.iter().any(|label| row.starts_with(label));
                if !row.contains("zz") {
                    continue;
                }
                found += 1;
                if at >= asked {
                    // A question has its label in every row.
                    assert!(asks, "{width}: {row:?}");
                    continue;
                }
                let ours = ["Question", "hearken", "Note", "Danger", "Connection"];
                let words = row.trim_start();
                assert!(
                    !ours.iter().any(|ours| words.starts_with(ours)),
                    "{width}: {row:?}"
                );
                let mut labels = vec![format!("{name} says: "), "says: ".to_owned()];
                for label in ["Session", "Tool"] {
                    labels.push(format!("{label}: "));
                    labels.push(format!("{label} {name}: "));
                }
                let labelled = labels.iter().any(|label| row.starts_with(label));
                assert!(labelled || row.starts_with("  "), "{width}: {row:?}");
            }
            assert!(found > 8, "{found}: {rows:#?}");
        }
    }
}

/// Returns whether a row is an agent's, as `docs/linear.md` tells from its beginning and from the row above.
fn is_agents(row: &str, above: bool) -> bool {
    if row.starts_with("  ") {
        return above;
    }
    // A label without room beside it has a row of its own.
    let alone = row.strip_suffix(':').unwrap_or("");
    let label = row.split_once(": ").map_or(alone, |(label, _)| label);
    let label = label.split(" (").next().unwrap();
    let verb = label.rsplit(' ').next().unwrap();
    let numbered = ["Choice ", "Step "].iter().any(|it| label.starts_with(it));
    numbered || ["says", "asks", "shows", "runs"].contains(&verb)
}

/// Whatever an answer repeats of an agent is under its name, and no time of hearken's is among it.
#[test]
fn what_an_answer_repeats_of_an_agent_is_under_its_name() {
    for width in [0, 20, 40, 80] {
        for asked in [false, true] {
            let mut stage = stage(width, TimesChoice::Always);
            let stage = &mut stage;
            let text = "# zzFiles\n\n| zzName | zzWhy |\n|---|---|\n| zza | zzit zzis zzlong |\n\n\
                ```python\nif zza:\n    zzquestion(zzb)\n```\n\nzzso y 1 zzaccepts. ";
            say(stage, "Ann", text);
            let output = json!({"of": "zztest", "lines": ["zzone", "Question: zztwo", "zzthree"], "count": 3, "gap": 3});
            let plan =
                json!([{"step": "zzlook", "stage": "done"}, {"step": "zzanswer", "stage": "now"}]);
            for (kind, fields) in [
                (
                    "tool.invoked",
                    json!({"tool": "sh", "tool_call_id": "call_1"}),
                ),
                (
                    "tool.completed",
                    json!({"tool": "sh", "tool_call_id": "call_1", "status": "success",
                        "extensions": {"hearken": {"output": output}}}),
                ),
                (
                    "tool.invoked",
                    json!({"tool": "sh", "tool_call_id": "call_2",
                        "extensions": {"hearken": {"call": {"title": "zzrun hearken zzy 1"}}}}),
                ),
                (
                    "progress.updated",
                    json!({"progress": {"percent": 50},
                        "extensions": {"hearken": {"plan": plan}}}),
                ),
            ] {
                event(stage, "Ann", kind, fields);
            }
            if asked {
                event(
                    stage,
                    "Ben",
                    "awaiting.confirmation",
                    json!({"action": "zzGo.", "consequence": "zzGone.", "reply_token": "rpl_1",
                        "timeout_seconds": 300, "default_decision": "reject", "risk_level": "low",
                        "irreversible": false, "urgency": "critical"}),
                );
            }
            let mut found = 0;
            for line in [
                "w", ".", ".", ".", ".", ".", "output", "plan", "t", "sessions", "b",
            ] {
                rows(stage);
                stage.line(line);
                let mut is_agent = false;
                for row in rows(stage) {
                    is_agent = is_agents(&row, is_agent);
                    let theirs = row.contains("zz");
                    found += usize::from(theirs);
                    assert!(!theirs || is_agent, "{width}, {line}: {row:?}");
                    assert!(
                        !(asked && theirs && row.starts_with("  ")),
                        "{width}, {line}: {row:?}"
                    );
                    let timed = row.contains("(10:00:5");
                    let in_label = row
                        .split_once("): ")
                        .is_some_and(|(label, _)| !label.contains("zz"));
                    assert!(!(theirs && timed) || in_label, "{width}, {line}: {row:?}");
                }
            }
            assert!(found > 15, "{width}: {found}");
        }
    }
}

#[test]
fn three_choices_take_three_rows_of_forty_columns() {
    let mut stage = stage(40, TimesChoice::Never);
    let stage = &mut stage;
    let choices = ["Friday at 7", "Saturday at 8", "Sunday at 6"];
    let choices: Vec<_> = choices
        .iter()
        .map(|it| json!({"value": it, "label": it}))
        .collect();
    event(
        stage,
        "Table Finder",
        "awaiting.clarification",
        json!({"question": "Which evening?", "response_type": "multiple_choice", "choices": choices,
            "reply_token": "rpl_1", "timeout_seconds": 300, "urgency": "critical"}),
    );
    let rows = rows(stage);
    let of_choices: Vec<&String> = rows.iter().filter(|row| row.contains(" at ")).collect();
    assert_eq!(
        of_choices,
        [
            "Choice 1: Friday at 7.",
            "Choice 2: Saturday at 8.",
            "Choice 3: Sunday at 6."
        ],
        "{rows:#?}"
    );
}
