//! Checks help, manual pages and completions against the code, in every language.

use clap::{Command, CommandFactory, Parser};
use hearken::app::Exit;
use hearken::cli::Cli;
use hearken::guide;

use super::*;

/// Collects every text of the command line, as written in the code.
fn texts(command: &Command, found: &mut BTreeSet<String>) {
    let arg_texts = command.get_arguments().flat_map(|arg| {
        let values = arg.get_possible_values();
        let values = values
            .iter()
            .filter_map(|value| value.get_help().map(ToString::to_string));
        let own = [arg.get_help(), arg.get_long_help()];
        let own = own.into_iter().flatten().map(ToString::to_string);
        own.chain(values).collect::<Vec<_>>()
    });
    let abouts = [command.get_about(), command.get_long_about()];
    let abouts = abouts.into_iter().flatten().map(ToString::to_string);
    for text in arg_texts.chain(abouts) {
        found.extend(text.split("\n\n").map(str::to_owned));
    }
    for command in command.get_subcommands() {
        if !command.is_hide_set() {
            texts(command, found);
        }
    }
}

#[test]
fn every_text_of_the_command_line_has_its_words_in_each_language() {
    let mut command = Cli::command();
    command.build();
    let mut wanted = BTreeSet::new();
    texts(&command, &mut wanted);
    assert!(wanted.len() > 70, "{}", wanted.len());
    let mut faults = Vec::new();
    for (tag, text) in files().filter(|(tag, _)| *tag != "en") {
        let file: toml::Table = text.parse().unwrap();
        let help = file["help"].as_table().unwrap();
        let missing = wanted.iter().filter(|text| !help.contains_key(*text));
        faults.extend(missing.map(|text| format!("phrases.{tag}.toml lacks under [help]: {text}")));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Returns a page as it is read: without roff markup.
fn read_page(text: &str) -> String {
    let mut read = String::new();
    for line in text.lines() {
        let line = line.trim_start_matches("\\&");
        let line = line.replace("\\-", "-").replace("\\*(Aq", "'");
        let line = ["\\fB", "\\fI", "\\fR"]
            .iter()
            .fold(line, |line, mark| line.replace(mark, ""));
        read.push_str(&line.replace("\\\\", "\\").replace("\\.", "."));
        read.push('\n');
    }
    read
}

fn has_entry(page: &str, name: &str, text: &str) {
    let entry = format!(".TP\n{name}\n{text}");
    assert!(page.contains(&entry), "no {entry:?} in:\n{page}");
}

#[test]
fn the_manual_names_every_command_key_line_face_and_exit_code_in_each_language() {
    let mut command = Cli::command();
    command.build();
    let shown = |command: &&Command| !command.is_hide_set() && command.get_name() != "help";
    let commands: Vec<&Command> = command.get_subcommands().filter(shown).collect();
    for tag in BUILT_IN.iter().map(|file| file.tag) {
        let words = Phrases::for_languages(&[tag.to_owned()]).unwrap();
        let sheets = guide::sheets(&words);
        assert_eq!(sheets.len(), commands.len() + 1);
        assert_eq!(sheets[0].file, "hearken.1");
        let main = read_page(&sheets[0].text);
        for binding in BINDINGS {
            has_entry(&main, binding.key, words.help(binding.does));
        }
        for line in LINES {
            has_entry(&main, line.line, words.help(line.does));
        }
        for face in ["full", "linear", "json"] {
            has_entry(&main, face, "");
        }
        for variable in ["HEARKEN_THEME", "HEARKEN_SCREEN_READER", "NO_COLOR"] {
            has_entry(&main, variable, "");
        }
        for file in ["$XDG_CONFIG_HOME/hearken/config.toml", "FILE.meta.jsonl"] {
            has_entry(&main, file, "");
        }
        for (sheet, command) in sheets[1..].iter().zip(&commands) {
            let name = command.get_name();
            assert_eq!(sheet.file, format!("hearken-{name}.1"));
            let about = command.get_about().unwrap().to_string();
            has_entry(&main, &format!("hearken-{name}(1)"), words.help(&about));
            let page = read_page(&sheet.text);
            for arg in command.get_arguments() {
                let name = arg.get_long().map(|long| format!("--{long}"));
                let name = name.unwrap_or_else(|| arg.get_value_names().unwrap()[0].to_string());
                let help = arg.get_help().unwrap().to_string();
                // A page has no summary to refer to.
                let help = help.split(" (see more").next().unwrap();
                assert!(page.contains(&name), "{tag}: {name} in {page}");
                assert!(page.contains(words.help(help)), "{tag}: {help} in {page}");
            }
            assert_eq!(
                guide::sheet(Some(name), &words).as_ref(),
                Some(sheet),
                "one page alone is the same"
            );
        }
        let codes = Exit::ALL.map(Exit::code);
        for code in codes.into_iter().chain([Exit::UNUSABLE]) {
            for sheet in &sheets {
                has_entry(&read_page(&sheet.text), &code.to_string(), "");
            }
        }
    }
    let english = Phrases::english().unwrap();
    assert_eq!(guide::sheet(Some("nonsense"), &english), None);
    assert_eq!(guide::sheet(Some("system-voice"), &english), None);
}

#[test]
fn every_exit_code_is_documented() {
    let usage = read("docs/usage.md");
    let line = usage.split("Exit codes: ").nth(1).unwrap();
    let line = line.split("\n\n").next().unwrap();
    let named: BTreeSet<&str> = line.split(|sign: char| !sign.is_ascii_digit()).collect();
    for code in Exit::ALL
        .map(Exit::code)
        .into_iter()
        .chain([Exit::UNUSABLE])
    {
        assert!(named.contains(code.to_string().as_str()), "{code}: {line}");
    }
}

fn help(words: &Phrases, arguments: &[&str]) -> String {
    let asked = guide::worded(words).try_get_matches_from(arguments);
    asked.unwrap_err().to_string()
}

#[test]
fn help_speaks_the_persons_language_and_keeps_its_width() {
    let mut command = Cli::command();
    command.build();
    for tag in BUILT_IN.iter().map(|file| file.tag) {
        let words = Phrases::for_languages(&[tag.to_owned()]).unwrap();
        for command in command.get_subcommands().filter(|it| !it.is_hide_set()) {
            for flag in ["-h", "--help"] {
                if command.get_name() == "help" {
                    continue;
                }
                let told = help(&words, &["hearken", command.get_name(), flag]);
                let usage = words.text("help.usage", &[]);
                assert!(told.contains(&format!("{usage}: hearken ")), "{told}");
                for arg in command.get_arguments() {
                    let name = arg.get_long().unwrap_or(arg.get_id().as_str());
                    let named = told.to_lowercase().contains(name);
                    assert!(named || arg.is_positional(), "{tag}: {name} in {told}");
                }
                assert!(
                    told.lines().all(|line| line.chars().count() <= 100),
                    "{told}"
                );
                let english = [
                    "Usage:",
                    "Options:",
                    "Print help",
                    "Possible values",
                    "possible",
                ];
                let left = english.iter().find(|english| told.contains(**english));
                assert!(tag == "en" || left.is_none(), "{tag}: {left:?} in {told}");
            }
        }
    }
    let german = Phrases::for_languages(&["de".to_owned()]).unwrap();
    let told = help(&german, &["hearken", "trace", "--help"]);
    for words in [
        "Aufruf: hearken trace [OPTIONS] <FILE>",
        "Argumente:",
        "Optionen:",
        "Mögliche Werte:\n          - text: Einfache Zeilen",
        "[sonst: text]",
        "Die Hilfe zeigen (kürzer mit '-h')",
    ] {
        assert!(told.contains(words), "{words}:\n{told}");
    }
    let told = help(&german, &["hearken", "watch", "-h"]);
    let (first, second) = (told.find("[SOURCE]...  "), told.find("[COMMAND]...  "));
    assert!(first.is_some() && first < second, "{told}");
    let told = help(&german, &["hearken", "help", "watch"]);
    assert!(told.contains("[Variable: HEARKEN_THEME]"), "{told}");
}

#[test]
fn a_call_that_can_not_be_used_is_one_sentence_in_each_language() {
    let calls = [
        (
            "wach",
            "there is no command wach; perhaps watch is meant. hearken --help says what there is.",
            "es gibt keinen Befehl wach; vielleicht ist watch gemeint. hearken --help sagt, was es gibt.",
            "no hay ningún comando wach; quizá se trate de watch. hearken --help dice lo que hay.",
        ),
        (
            "watch --untill ended",
            "there is no option --untill; perhaps --until is meant. hearken watch --help says what there is.",
            "es gibt keine Option --untill; vielleicht ist --until gemeint. hearken watch --help sagt, was es gibt.",
            "no hay ninguna opción --untill; quizá se trate de --until. hearken watch --help dice lo que hay.",
        ),
        (
            "watch --face fulll",
            "--face is auto, full, linear or json, not fulll; perhaps full is meant.",
            "--face ist auto, full, linear oder json, nicht fulll; vielleicht ist full gemeint.",
            "--face es auto, full, linear o json, no fulll; quizá se trate de full.",
        ),
        (
            "watch --width 3",
            "--width can't be 3: the width is 0, or a whole number from 20 to 65535.",
            "--width kann nicht 3 sein: die Breite ist 0 oder eine ganze Zahl von 20 bis 65535.",
            "--width no puede ser 3: el ancho es 0 o un número entero de 20 a 65535.",
        ),
        (
            "watch --voice loud",
            "--voice is auto, speech-dispatcher, espeak-ng, espeak, system, nvda:LIBRARY, command:PROGRAM, json:PROGRAM or none, not loud.",
            "--voice ist auto, speech-dispatcher, espeak-ng, espeak, system, nvda:LIBRARY, command:PROGRAM, json:PROGRAM oder none, nicht loud.",
            "--voice es auto, speech-dispatcher, espeak-ng, espeak, system, nvda:LIBRARY, command:PROGRAM, json:PROGRAM o none, no loud.",
        ),
        (
            "watch --voice json:",
            "--voice can't be json:: a program must follow, as in json:piper-voice.",
            "--voice kann nicht json: sein: dahinter gehört ein Programm, zum Beispiel json:piper-voice.",
            "--voice no puede ser json:: detrás debe ir un programa, como json:piper-voice.",
        ),
        (
            "watch --retries many",
            "--retries can't be many: it is a whole number from 0 to 4294967295.",
            "--retries kann nicht many sein: es ist eine ganze Zahl von 0 bis 4294967295.",
            "--retries no puede ser many: es un número entero de 0 a 4294967295.",
        ),
        (
            "watch --face",
            "--face needs a value: auto, full, linear or json. hearken watch --help says what there is.",
            "--face braucht einen Wert: auto, full, linear oder json. hearken watch --help sagt, was es gibt.",
            "--face requiere un valor: auto, full, linear o json. hearken watch --help dice lo que hay.",
        ),
        (
            "trace",
            "FILE is missing. hearken trace --help says what there is.",
            "FILE fehlt. hearken trace --help sagt, was es gibt.",
            "falta FILE. hearken trace --help dice lo que hay.",
        ),
        (
            "watch --client-cert a",
            "--client-key is missing. hearken watch --help says what there is.",
            "--client-key fehlt. hearken watch --help sagt, was es gibt.",
            "falta --client-key. hearken watch --help dice lo que hay.",
        ),
        (
            "replay f --speed 2 --no-delay",
            "--speed and --no-delay can't be given together.",
            "--speed und --no-delay können nicht zusammen angegeben werden.",
            "--speed y --no-delay no se pueden indicar juntos.",
        ),
        (
            "demo --list --list",
            "--list is given twice.",
            "--list ist zweimal angegeben.",
            "--list está indicado dos veces.",
        ),
        (
            "watch --quiet=yes",
            "--quiet takes no value, and yes was given.",
            "--quiet nimmt keinen Wert, und yes wurde angegeben.",
            "--quiet no admite ningún valor, y se indicó yes.",
        ),
        (
            "demo now",
            "now is one word too many. hearken demo --help says what there is.",
            "now ist ein Wort zu viel. hearken demo --help sagt, was es gibt.",
            "now es una palabra de más. hearken demo --help dice lo que hay.",
        ),
    ];
    for (call, english, german, spanish) in calls {
        let call = call.split(' ').map(std::ffi::OsString::from);
        let call: Vec<_> = std::iter::once("hearken".into()).chain(call).collect();
        let error = Cli::try_parse_from(&call).unwrap_err();
        for (tag, told) in [("en", english), ("de", german), ("es", spanish)] {
            let words = Phrases::for_languages(&[tag.to_owned()]).unwrap();
            assert_eq!(guide::fault(&error, &call, &words), told);
        }
    }
}

/// The reason why something can't be done stays typed until it is worded: the code of the calls
/// contains no sentences.
#[test]
fn no_fault_of_a_call_is_a_sentence_in_the_code() {
    let mut files = vec!["src/main.rs".into(), "src/runtime.rs".into()];
    let rooms = ["src/runtime", "src/doctor"].into_iter();
    let inside = rooms.flat_map(|room| std::fs::read_dir(room).unwrap());
    files.extend(inside.map(|entry| entry.unwrap().path()));
    assert!(files.len() > 25, "{files:?}");
    let mut sentences = Vec::new();
    for file in files {
        let code = std::fs::read_to_string(&file).unwrap();
        let code = code.split("#[cfg(test)]").next().unwrap();
        for way in [
            "bail!(",
            "anyhow!(",
            "ensure!(",
            "context(",
            "Failure::new(",
        ] {
            for (at, _) in code.match_indices(way) {
                let made = code[at + way.len()..].split(';').next().unwrap();
                let told = made.split('"').skip(1).step_by(2);
                let told = told
                    .filter(|text| text.trim().contains(' '))
                    .map(str::to_owned);
                sentences.extend(told.map(|text| format!("{}: {text}", file.display())));
            }
        }
    }
    assert!(sentences.is_empty(), "{sentences:#?}");
}

/// The first screen of the README quotes what the demo says aloud.
#[test]
fn the_readme_begins_with_what_is_heard() {
    let heard = read("tests/snapshots/main__transcripts__tour_normal_script.snap");
    let alerts = heard.lines().filter(|line| line.contains(" alert "));
    let words = alerts.map(|line| {
        line.split_whitespace()
            .skip(3)
            .collect::<Vec<_>>()
            .join(" ")
    });
    let words: Vec<String> = words.collect();
    let readme = read("README.md");
    let first: Vec<&str> = readme.lines().take(24).collect();
    let quoted = first.iter().filter_map(|line| line.strip_prefix("> "));
    let quoted: Vec<&str> = quoted.collect();
    assert!(words.len() > 4);
    assert_eq!(quoted.join(" "), words.join(" "));
}
