//! `hearken setup`: five questions, and the person's own settings afterwards.

use std::path::Path;

use crate::support::child::{Hearken, command};
#[cfg(unix)]
use crate::support::pty_terminal::Terminal;

/// Answers the questions by lines, in a home of its own; returns the exit code, the errors and all lines.
fn answer(home: &Path, arguments: &[&str], lines: &[&str]) -> (i32, String, Vec<String>) {
    let mut call = command(&[&["setup"], arguments].concat());
    let (config, state) = if cfg!(windows) {
        ("APPDATA", "LOCALAPPDATA")
    } else {
        ("XDG_CONFIG_HOME", "XDG_STATE_HOME")
    };
    call.env(config, home.join("config"))
        .env(state, home.join("state"));
    let mut hearken = Hearken::spawn(&mut call);
    for line in lines {
        hearken.say(line);
    }
    hearken.end_input();
    hearken.exit()
}

#[test]
fn what_is_answered_is_written_into_the_persons_own_settings() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("config").join("hearken");
    let file = folder.join("config.toml");
    // Nobody speaks, keys, terse, without colour.
    let (code, errors, lines) = answer(home.path(), &[], &["3", "", "1", "", "1", "", "3", ""]);
    assert_eq!((code, errors.as_str()), (0, ""), "{lines:#?}");
    let [.., written, next] = lines.as_slice() else {
        panic!("{lines:#?}");
    };
    assert!(next.starts_with("To try it, run hearken demo."), "{next}");
    assert_eq!(
        written,
        &format!(
            "Written into {}: voice.engine = \"none\", announce.verbosity = \"terse\", screen.theme = \"plain\".",
            file.display()
        )
    );
    // Each was tried before.
    for tried in [
        "hearken is silent.",
        "Tests done.",
        "High risk, or a danger",
    ] {
        assert!(
            lines.iter().any(|line| line == tried),
            "{tried}: {lines:#?}"
        );
    }
    let written = std::fs::read_to_string(&file).unwrap();
    assert_eq!(
        written,
        "[voice]\nengine = \"none\"\n\n[announce]\nverbosity = \"terse\"\n\n[screen]\ntheme = \"plain\"\n"
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    // The same answers again change nothing.
    let (code, _, lines) = answer(home.path(), &[], &["", "", "", "", ""]);
    assert_eq!(code, 0);
    assert!(
        lines.contains(&"Your settings say so already. Nothing is written.".to_owned()),
        "{lines:#?}"
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), written);
}

#[test]
fn whoever_leaves_keeps_the_settings_as_they_were() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("mine.toml");
    let text = "# mine\n[voice]\nengine = \"none\"   # quiet\n";
    std::fs::write(&file, text).unwrap();
    let named = ["--config", file.to_str().unwrap()];
    for lines in [&["1", "", "q"][..], &["1", ""], &[]] {
        let (code, _, told) = answer(home.path(), &named, lines);
        assert_eq!(code, 0);
        assert_eq!(
            told.last().unwrap(),
            "Left. Your settings are as they were."
        );
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
    // Only what differs is changed, comments stay, and a link is followed to the file that is
    // meant.
    #[cfg(unix)]
    {
        let link = home.path().join("link.toml");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let named = ["--config", link.to_str().unwrap()];
        let (code, errors, _) = answer(home.path(), &named, &["1", "", "", "3", ""]);
        assert_eq!((code, errors.as_str()), (0, ""));
        assert!(link.is_symlink());
        assert_eq!(
            std::fs::read_to_string(&file).unwrap(),
            "# mine\n[voice]\nengine = \"auto\"   # quiet\n\n[screen]\nreader = \"yes\"\n\n[announce]\nverbosity = \"detailed\"\n"
        );
    }
}

/// What was remembered while hearken spoke takes precedence over the settings, so a speed that is chosen here ends it.
#[cfg(unix)]
#[test]
fn a_remembered_speed_gives_way_to_the_chosen_one() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("state/hearken");
    std::fs::create_dir_all(&folder).unwrap();
    let memory = folder.join("voice.toml");
    std::fs::write(&memory, "rate = 60\nvoice = \"female1\"\n").unwrap();
    let file = home.path().join("mine.toml");
    std::fs::write(&file, "[voice]\nengine = \"command:true\"\n").unwrap();
    let named = ["--config", file.to_str().unwrap()];
    let (code, errors, lines) = answer(home.path(), &named, &["", "3", "", "", "", ""]);
    assert_eq!((code, errors.as_str()), (0, ""), "{lines:#?}");
    // It was none of those on offer.
    assert!(lines.iter().any(|line| line == "Enter leaves it as it is."));
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        "[voice]\nengine = \"command:true\"\nrate = 40\n"
    );
    let kept = std::fs::read_to_string(&memory).unwrap();
    assert!(
        kept.contains("voice = \"female1\"") && !kept.contains("rate"),
        "{kept}"
    );
}

#[test]
fn settings_that_can_not_be_used_are_not_changed() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("mine.toml");
    std::fs::write(&file, "[voice\n").unwrap();
    let (code, errors, lines) = answer(home.path(), &["--config", file.to_str().unwrap()], &["q"]);
    assert_eq!(code, 2);
    assert!(errors.contains("mine.toml") && lines.is_empty(), "{errors}");
}

/// A switch is learned from the key that it sends, and the colours are those of the theme.
#[cfg(unix)]
#[test]
fn a_switch_is_learned_by_pressing_it_on_a_terminal() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("mine.toml");
    let file_name = file.to_str().unwrap();
    let mut terminal = Terminal::start(80, 40, &["setup", "--config", file_name]);
    terminal.wait("Question 1");
    terminal.press("3\r");
    terminal.wait("3 is chosen");
    terminal.press("\r");
    terminal.wait("Question 2: How do you answer?");
    terminal.press("2\r");
    terminal.wait("Press your switch within a minute.");
    while terminal.echoes() {
        terminal.let_pass(std::time::Duration::from_millis(10));
    }
    terminal.press(" ");
    terminal.wait("Space selects.");
    terminal.press("\r");
    terminal.wait("Question 3");
    terminal.press("\r");
    terminal.wait("Question 4");
    terminal.press("2\r");
    terminal.wait("What can be read last");
    let raw = String::from_utf8_lossy(terminal.raw()).into_owned();
    assert!(
        raw.contains("\x1b[0;1;30;107mA question waits for you"),
        "{raw}"
    );
    terminal.press("\r");
    terminal.wait("Written into");
    assert_eq!(terminal.exit(), 0);
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        "[voice]\nengine = \"none\"\n\n[scanning]\nselect = \"Space\"\nauto_ms = 2000\n\n[screen]\ntheme = \"high-contrast\"\n"
    );
}

/// Whoever only listens hears the end: the program ends after the last words, not before.
#[cfg(unix)]
#[test]
fn the_last_words_are_said_to_their_end() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = tempfile::tempdir().unwrap();
    let (heard, voice) = (home.path().join("heard"), home.path().join("voice"));
    // A voice that takes longer than the settings give it otherwise.
    let script = format!(
        "#!/bin/sh\ntext=$(cat)\nsleep 3\nprintf '%s\\n' \"$text\" >> {}\n",
        heard.display()
    );
    std::fs::write(&voice, script).unwrap();
    std::fs::set_permissions(&voice, std::fs::Permissions::from_mode(0o755)).unwrap();
    let file = home.path().join("mine.toml");
    std::fs::write(
        &file,
        format!("[voice]\nengine = \"command:{}\"\n", voice.display()),
    )
    .unwrap();
    let named = ["--config", file.to_str().unwrap()];
    let (code, errors, lines) = answer(home.path(), &named, &["", "", "", "1", "", ""]);
    assert_eq!((code, errors.as_str()), (0, ""), "{lines:#?}");
    let heard = std::fs::read_to_string(&heard).unwrap();
    assert!(
        heard.contains("Saved. To try it, run hearken demo."),
        "{heard}"
    );
}
