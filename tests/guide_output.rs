//! Manual pages, completions, help and the log of a served demo, from the program itself.

use std::io::Write;

use hearken_wording::phrase;
use serde_json::Value;

use crate::support::child::{Hearken, command};

#[test]
fn manual_pages_are_written_to_the_output_or_to_a_folder() {
    let text = |arguments: &[&str]| {
        let output = command(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(text(&["man"]).contains(".TH HEARKEN 1"));
    let german = text(&["man", "watch", "--language", "de"]);
    assert!(german.contains(".SH BESCHREIBUNG\n"), "{german}");
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("share/man1");
    text(&["man", "--dir", pages.to_str().unwrap()]);
    let watch = std::fs::read_to_string(pages.join("hearken-watch.1")).unwrap();
    assert_eq!(watch, text(&["man", "watch"]));
    assert!(pages.join("hearken.1").exists() && pages.join("hearken-doctor.1").exists());
    let nonsense = command(&["man", "nonsense"]).output().unwrap();
    assert_eq!(nonsense.status.code(), Some(2));
    let list = text(&["demo", "--list"]);
    assert!(list.lines().count() >= 9);
}

/// Returns what bash offers for the last word of a line, using the script that hearken writes for
/// it.
#[cfg(unix)]
fn offered(line: &[&str], environment: &[(&str, &str)]) -> Vec<String> {
    let program = command(&[]).get_program().to_owned();
    let program = std::path::Path::new(&program);
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", program.parent().unwrap().display());
    let script = r#"source <(hearken completions bash)
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_TYPE=9
        _clap_complete_hearken hearken "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
        printf '%s\n' "${COMPREPLY[@]}""#;
    let output = std::process::Command::new("bash")
        .args(["--norc", "-c", script, "bash"])
        .args(line)
        .env("PATH", path)
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|word| word.trim().to_owned()).collect()
}

#[cfg(unix)]
#[test]
fn bash_offers_scenarios_faces_verbosities_commands_and_the_sources_of_the_settings() {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("hearken");
    std::fs::create_dir(&settings).unwrap();
    let text = "[[source]]\nname = \"deploys\"\nurl = \"http://127.0.0.1:1\"\n";
    std::fs::write(settings.join("config.toml"), text).unwrap();
    let other = folder.path().join("other.toml");
    std::fs::write(&other, text.replace("deploys", "dept")).unwrap();
    let other = other.to_str().unwrap();
    let home = [("XDG_CONFIG_HOME", folder.path().to_str().unwrap())];
    for (line, words) in [
        (&["hearken", "demo", "--scenario", "em"][..], &["email"][..]),
        (&["hearken", "watch", "--face", "l"], &["linear"]),
        (&["hearken", "watch", "--verbosity", "d"], &["detailed"]),
        (
            &["hearken", "watch", "--voice", "sp"],
            &["speech-dispatcher"],
        ),
        (&["hearken", "watch", "dep"], &["deploys"]),
        (&["hearken", "doctor", "dep"], &["deploys"]),
        (&["hearken", "watch", "--config", other, "dep"], &["dept"]),
        (&["hearken", "man", "wa"], &["watch"]),
        (&["hearken", "wa"], &["watch"]),
        (&["hearken", "watch", "--requ"], &["--require-signed"]),
    ] {
        assert_eq!(offered(line, &home), words, "{line:?}");
    }
    for (shell, words) in [("zsh", "#compdef hearken"), ("fish", "complete ")] {
        let output = command(&["completions", shell]).output().unwrap();
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(script.contains(words), "{script}");
        assert!(script.contains("HEARKEN_COMPLETE"), "{script}");
    }
}

/// A person diagnosing a fault asks for the version first: a settings file that blocks must not delay it.
#[cfg(unix)]
#[test]
fn the_version_is_told_without_a_look_at_the_settings() {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("hearken");
    std::fs::create_dir(&settings).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(settings.join("config.toml"))
        .status();
    assert!(made.unwrap().success());
    let mut call = command(&["--version"]);
    let asked = Hearken::spawn(call.env("XDG_CONFIG_HOME", folder.path()));
    let version = concat!("hearken ", env!("CARGO_PKG_VERSION"));
    assert_eq!(asked.exit(), (0, String::new(), vec![version.to_owned()]));
}

/// Help, and what is wrong with a call, appear in the language that the call or the settings name.
#[test]
fn help_and_faults_of_a_call_speak_the_persons_language() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "[announce]\nlanguages = [\"es\"]").unwrap();
    let file = file.path().to_str().unwrap();
    for (arguments, code, words) in [
        (
            &["watch", "--help", "--language", "de"][..],
            0,
            "Aufruf: hearken watch",
        ),
        (&["watch", "--config", file, "-h"], 0, "Uso: hearken watch"),
        (&["watch", "--help"], 0, "Usage: hearken watch"),
        (&[], 2, "Usage: hearken <COMMAND>"),
        (
            &["watch", "--languag", "--language", "de"],
            2,
            "hearken: es gibt keine Option --languag; vielleicht ist --language gemeint.",
        ),
        (
            &["watch", "--face", "x", "--config", file],
            2,
            "hearken: --face es auto",
        ),
    ] {
        let output = command(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let told = if code == 0 {
            output.stdout
        } else {
            output.stderr
        };
        let told = String::from_utf8(told).unwrap();
        assert!(told.contains(words), "{arguments:?}: {told}");
    }
}

/// The host of a served demo reads who connects and what is answered: no token, and nobody's words.
#[test]
fn a_served_demo_logs_who_comes_and_what_is_answered() {
    let arguments = ["demo", "--serve", "127.0.0.1:0", "--scenario", "question"];
    let mut served = Hearken::start(&arguments);
    let line = served.wait("an address", |line| phrase!("serve.at").is_in(line));
    let url = line
        .split_whitespace()
        .find(|word| word.starts_with("http://"));
    let url = url.unwrap().trim_end_matches('.').to_owned();
    let mut child = Hearken::watch(&url, "json", &[]);
    let asked = loop {
        let line = child.wait("a question", |line| line.contains("reply_token"));
        let line: Value = serde_json::from_str(&line).unwrap();
        if line["reply_token"].is_string() {
            break line;
        }
    };
    child.say("r 1 a secret reason");
    child.announced("session_completed", "");
    child.say("q");
    child.exit();
    // On Windows, only a key of its console is an interrupt.
    #[cfg(unix)]
    served.signal(rustix::process::Signal::INT);
    #[cfg(windows)]
    served.kill();
    let (code, errors, _) = served.exit();
    assert_eq!(code, if cfg!(unix) { 130 } else { 1 }, "{errors}");
    for words in [
        "Subscriber 1 came, ",
        "; 1 is there.",
        "The scenario question started.",
        "An answer came, reject: it is taken.",
    ] {
        assert!(errors.contains(words), "{words}: {errors}");
    }
    for hidden in [asked["reply_token"].as_str().unwrap(), "secret"] {
        assert!(!errors.contains(hidden), "{errors}");
    }
    assert!(
        errors.lines().all(|line| line.as_bytes()[2] == b':'),
        "each has its time: {errors}"
    );
}
