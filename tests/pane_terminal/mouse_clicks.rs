//! A mouse in the full face: it looks, and none of its bytes is ever a key.

use super::*;

/// A mouse is reported only where the settings say so.
#[test]
fn a_click_looks_at_an_entry_and_none_of_its_bytes_is_a_key() {
    with_demo(async |running| {
        let agents = running.agents();
        let producer = running.producer();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        write!(file, "[screen]\nmouse = \"click\"\n").unwrap();
        let path = file.path().to_string_lossy().into_owned();
        let url = running.url();
        let more = format!(" --config {path}");
        let mut terminal = in_a_shell(&url, &more);
        let modes = |terminal: &Terminal| {
            let screen = terminal.parsed();
            (
                screen.mouse_protocol_mode(),
                screen.mouse_protocol_encoding(),
            )
        };
        let on = (
            vt100::MouseProtocolMode::PressRelease,
            vt100::MouseProtocolEncoding::Sgr,
        );
        let off = (
            vt100::MouseProtocolMode::None,
            vt100::MouseProtocolEncoding::Default,
        );
        assert_eq!(modes(&terminal), on);
        // A stop gives them back, and going on takes them again.
        terminal.press("\x1a");
        terminal.wait("Stopped");
        assert_eq!(modes(&terminal), off);
        terminal.press("fg\r");
        terminal.wait_until("the program again", |screen| screen.starts_with("hearken"));
        assert_eq!(modes(&terminal), on);
        let screen = terminal.screen();
        let row = screen.lines().position(|row| row.starts_with("Connection"));
        let row = row.unwrap() + 1;
        terminal.press(&format!("\x1b[<0;5;{row}M\x1b[<0;5;{row}m"));
        terminal.wait("History, ");
        terminal.press("\x1b");
        terminal.wait_until("the newest", |screen| !screen.contains("History, "));
        within("subscriber", producer.until_subscribed(1)).await;
        agents.start("question").unwrap();
        terminal.wait("Question 1, ");
        terminal.let_pass(Duration::from_millis(700));
        // Torn and malformed reports, with the letters that answer, mute and quit in them.
        for report in [
            &b"\x1b[<0;5;7M"[..],
            b"\x1b[<0;5;7m",
            b"\x1b[<0;5;7y",
            b"\x1b[<0;121;7",
            b"\x1b[Mynq",
            b"\x1b[<0;5;99999q",
        ] {
            for at in 1..report.len() {
                terminal.send(&report[..at]);
                terminal.let_pass(Duration::from_millis(130));
                terminal.send(&report[at..]);
                terminal.let_pass(Duration::from_millis(20));
            }
        }
        let screen = terminal.screen();
        assert!(screen.contains("Question 1, "), "{screen}");
        for effect in ["muted", "Rejecting", "Accepting", "Press q again"] {
            assert!(!screen.contains(effect), "{effect}: {screen}");
        }
        terminal.let_pass(Duration::from_millis(700));
        terminal.press("n");
        within("reply", producer.until_replies(1)).await;
        assert_eq!(producer.replies().len(), 1);
        terminal.press("q");
        terminal.wait_until("the shell again", |screen| {
            screen.trim_end().ends_with("shell>")
        });
        assert_eq!(modes(&terminal), off);
    });
}
