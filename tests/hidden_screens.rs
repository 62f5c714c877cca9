//! Terminals that show nothing, and bytes that never end, in a real pseudo-terminal.

use std::time::Duration;

use hearken::demo::ServedDemo;

use crate::support::pty_terminal::Terminal;
use crate::support::{with_demo, within};

/// Longer than it takes to arm a question, even on a busy machine.
const ARMED: Duration = Duration::from_millis(1200);

async fn watch(running: &ServedDemo, face: &str) -> Terminal {
    let url = running.url();
    let arguments = ["watch", &url, "--face", face, "--voice", "none"];
    let mut terminal = Terminal::start(100, 30, &arguments);
    within("subscriber", running.producer().until_subscribed(1)).await;
    terminal.wait("Connected");
    terminal
}

#[test]
fn a_stopped_terminal_shows_no_question_and_takes_no_answer() {
    for (face, yes, no) in [("full", "y", "n"), ("linear", "y 1\r", "n 1\r")] {
        with_demo(async |running| {
            let mut terminal = watch(running, face).await;
            let producer = running.producer();
            let agents = running.agents();
            terminal.let_pass(ARMED);
            terminal.stop_output(true);
            agents.start("question").unwrap();
            within("question", producer.until_asked(1)).await;
            terminal.let_pass(ARMED);
            terminal.press(yes);
            terminal.let_pass(ARMED);
            assert_eq!(producer.replies().len(), 0, "{face}: stopped");
            terminal.stop_output(false);
            terminal.wait("Question 1");
            terminal.let_pass(ARMED);
            assert_eq!(producer.replies().len(), 0, "{face}: pressed before");
            terminal.press(no);
            within("reply", producer.until_replies(1)).await;
        });
    }
}

#[test]
fn a_stopped_terminal_keeps_nobody_from_ending_the_program() {
    with_demo(async |running| {
        let mut terminal = watch(running, "full").await;
        terminal.stop_output(true);
        terminal.signal(rustix::process::Signal::TERM);
        assert_eq!(terminal.exit(), 143);
    });
}

#[test]
fn a_size_that_no_machine_holds_is_no_end() {
    with_demo(async |running| {
        let mut terminal = watch(running, "full").await;
        let producer = running.producer();
        let agents = running.agents();
        agents.start("question").unwrap();
        terminal.wait("Question 1, ");
        terminal.claim(0, 0);
        terminal.let_pass(ARMED);
        terminal.press("y");
        terminal.let_pass(ARMED);
        assert_eq!(producer.replies().len(), 0, "nothing is in sight");
        terminal.claim(65_535, 65_535);
        terminal.let_pass(ARMED);
        terminal.press("t");
        terminal.claim(100, 30);
        // A busy machine draws it late, and takes no answer before.
        for _ in 0..10 {
            terminal.let_pass(ARMED);
            terminal.press("n");
            if terminal.screen().contains("Rejecting") {
                break;
            }
        }
        within("reply", producer.until_replies(1)).await;
        terminal.press("q");
        assert_eq!(terminal.exit(), 0);
    });
}

#[test]
fn a_paste_that_never_ends_leaves_the_keyboard() {
    with_demo(async |running| {
        let mut terminal = watch(running, "full").await;
        let producer = running.producer();
        let agents = running.agents();
        agents.start("question").unwrap();
        terminal.wait("Question 1, ");
        terminal.press("\x1b[200~y");
        terminal.wait("A paste did not end.");
        terminal.let_pass(ARMED);
        terminal.press("y");
        terminal.let_pass(ARMED);
        assert_eq!(producer.replies().len(), 0, "a part of the paste");
        terminal.press("\x1b");
        terminal.let_pass(ARMED);
        terminal.press("n");
        within("reply", producer.until_replies(1)).await;
        terminal.wait("Rejecting");
        terminal.press("\x1b[<0;1;\x03");
        assert_eq!(terminal.exit(), 130);
    });
}
