//! Sources that are started programs.

use super::*;
use crate::link::Reason;

fn stage(options: Options) -> Stage {
    let source = SourceSetup {
        name: "planner".into(),
        answerable: true,
        program: true,
        ..SourceSetup::default()
    };
    let mut stage = Stage::of(options, vec![source]);
    stage.link(0, LinkEvent::Connected);
    stage.wait(2000);
    stage.lines.clear();
    stage
}

fn remark(stage: &mut Stage, line: &str) {
    let line = line.to_owned();
    stage.link(0, LinkEvent::Remark { line });
}

#[test]
fn standard_error_is_kept_and_read_on_request_with_a_bound() {
    let mut stage = stage(PIPE);
    stage.type_line("g");
    stage.assert_heard(phrase!("remarks.none", source = "planner"));
    for n in 0..1000 {
        remark(&mut stage, &format!("entry {n}"));
    }
    assert!(!stage.heard("entry"), "nothing is told unasked");
    stage.type_line("g");
    stage.assert_heard(phrase!("remarks.some", source = "planner", count = 1000));
    assert!(stage.heard("entry 999") && stage.heard("entry 990"));
    stage.assert_not_heard("entry 989");
    assert!(stage.app.links()[0].remarks().held() <= 40);
}

#[test]
fn without_a_program_there_is_nothing_to_read() {
    let mut stage = Stage::new(PIPE);
    stage.type_line("g");
    stage.assert_heard(phrase!("remarks.no_program"));
}

#[test]
fn a_failure_names_its_reason_and_where_more_is_to_be_read() {
    for (fault, words) in [
        (
            Fault::Exited { code: 3 },
            "ended with exit code 3. It wrote 1 line",
        ),
        (
            Fault::Killed { signal: 11 },
            "the program crashed (signal 11). It",
        ),
        (
            Fault::Killed { signal: 40 },
            "was ended by signal 40. It wrote",
        ),
    ] {
        let mut stage = stage(KEYS);
        remark(&mut stage, "Traceback");
        stage.link(0, LinkEvent::Failed { fault });
        stage.assert_heard(words);
        stage.assert_heard(phrase!("remarks.hint"));
    }
}

#[test]
fn close_codes_are_told_in_words() {
    for (code, words) in [
        (4001, "the server turned hearken away (code 4001)"),
        (4002, "it needs a token (code 4002)"),
        (4003, "the server refuses access (code 4003)"),
        (4004, "because of a violation (code 4004)"),
        (1011, "the server has an error (code 1011)"),
        (3999, "the server closed the connection (code 3999)"),
    ] {
        let mut stage = Stage::new(KEYS);
        stage.link(
            0,
            LinkEvent::Failed {
                fault: Fault::ClosedWith {
                    code,
                    reason: Reason::default(),
                    turned_away: true,
                },
            },
        );
        stage.assert_heard(words);
    }
}

#[test]
fn leaving_a_program_asks_first_because_it_ends() {
    let mut stage = stage(KEYS);
    stage.press('x');
    stage.assert_heard(phrase!("leave.program", source = "planner"));
    assert!(!stage.app.links()[0].phase.is_over());
    stage.press('z');
    stage.press('x');
    assert!(!stage.app.links()[0].phase.is_over(), "another key stays");
    stage.press('x');
    assert!(stage.app.links()[0].phase.is_over());
}

#[test]
fn leaving_a_program_with_questions_says_both() {
    let mut stage = stage(KEYS);
    stage.ask("rpl_1");
    stage.wait(2000);
    stage.press('x');
    stage.assert_heard(phrase!("leave.open", n = 1, source = "planner"));
    stage.assert_heard(phrase!("leave.program", source = "planner"));
}
