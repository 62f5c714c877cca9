//! Runs the commands that the crate clears in a real bash, and checks that no file changes.
//!
//! Commands are assembled at random from pieces that matter to a shell. Each one that is cleared runs in a test folder,
//! whose files must be unchanged afterwards. The test needs bash and the usual programs, so `.ci/run` calls it.
//! `HEARKEN_RUNS` sets the number of commands, `HEARKEN_SEED` the seed, and `HEARKEN_SHOW` prints the commands that
//! run.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and shows what it ran"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use hearken_shell::{Folders, read};

const PIECES: &[&str] = &[
    "rm",
    "rm -rf",
    "rm -f",
    "touch",
    "echo",
    "cat",
    "sort",
    "sort -o",
    "sort -u",
    "head -1",
    "tee",
    "wc -l",
    "sed -n",
    "sed",
    "grep",
    "find .",
    "xargs",
    "printf",
    "mv",
    "cp",
    "ls",
    "true",
    "false",
    "test",
    "eval",
    "exec",
    "command",
    "env",
    "time",
    "nohup",
    "timeout 1",
    "sh -c",
    "bash -c",
    "if",
    "then",
    "fi",
    "for i in",
    "do",
    "done",
    "while",
    "case",
    "in",
    "esac",
    "cd",
    "cd sub",
    "set --",
    "shift",
    "read",
    "local",
    "function f",
    "f()",
    "f",
    "a",
    "b",
    "sub",
    "new",
    "-",
    "--",
    "-n",
    "-e",
    "-i",
    "-p",
    "-o",
    "1p",
    "s/a/b/",
    "s/a/b/e",
    "w new",
    "1w new",
    "x=a",
    "x=rm",
    "$x",
    "\"$x\"",
    "${x}",
    "${x:-rm a}",
    "${x:=new}",
    "$1",
    "\"$@\"",
    "$*",
    "$(rm a)",
    "$(echo rm)",
    "`rm a`",
    "$((1+1))",
    "$(( a[$(rm a)] ))",
    "<(rm a)",
    ">(cat)",
    "'",
    "\"",
    "\\",
    "\\\n",
    "\n",
    " ",
    " ",
    " ",
    " ",
    ";",
    "&",
    "&&",
    "||",
    "|",
    "|&",
    "!",
    "(",
    ")",
    "{",
    "}",
    "{a,b}",
    "{1..3}",
    "[ -f a ]",
    "[[ -f a ]]",
    "((",
    "))",
    "[",
    "]",
    "*",
    "?",
    "~",
    "#",
    "# x",
    ">",
    ">>",
    ">|",
    "<",
    "2>",
    "&>",
    ">&",
    "2>&1",
    "<<E",
    "<<'E'",
    "<<-E",
    "E",
    "<<<",
    "<>",
    "$'\\x72m'",
    "$'rm'",
    "$\"a\"",
    "=",
    "+",
    ",",
    ":",
    "%",
    "@",
    "^",
    "-exec rm {} +",
    "-exec rm {} \\;",
    "-delete",
    "-fprint new",
    "-name a",
    "-I{}",
    "{}",
    "-0",
    "rev",
    "m",
    "r",
    "'rm'",
    "r\\m",
    "\"r\"m",
    "r''m",
    "a b",
    "> /dev/null",
    "./a",
    "sub/c",
    "export",
    "declare",
    "unset",
    "trap",
    "alias r=rm",
];

struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(most).unwrap()).unwrap()
    }
}

fn command(random: &mut Random) -> String {
    let mut command = String::new();
    for _ in 0..1 + random.below(9) {
        command.push_str(PIECES[random.below(PIECES.len())]);
        if random.below(4) > 0 {
            command.push(' ');
        }
    }
    command
}

fn snapshot(folder: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.display().to_string();
        if path.is_dir() {
            files.extend(snapshot(&path));
            files.insert(name, "folder".to_owned());
        } else {
            files.insert(name, std::fs::read_to_string(&path).unwrap_or_default());
        }
    }
    files
}

#[test]
#[ignore = "needs bash and the usual programs; .ci/run calls it"]
fn what_is_cleared_changes_no_file() {
    let runs: usize = std::env::var("HEARKEN_RUNS").map_or(20_000, |runs| runs.parse().unwrap());
    let seed: u64 =
        std::env::var("HEARKEN_SEED").map_or(0x9e37_79b9_7f4a_7c15, |seed| seed.parse().unwrap());
    let root = std::env::temp_dir().join(format!("hearken-bash-{}", std::process::id()));
    let folder = root.join("one/two/three");
    std::fs::create_dir_all(folder.join("sub")).unwrap();
    for name in ["a", "b", "sub/c"] {
        std::fs::write(folder.join(name), "a\nb\n").unwrap();
    }
    let before = snapshot(&root);
    let place = Folders {
        folder: Some(folder.display().to_string()),
        start: None,
    };
    let mut random = Random(seed);
    let mut cleared = 0;
    for _ in 0..runs {
        let command = command(&mut random);
        if !read(&command, &place).is_cleared(None) {
            continue;
        }
        cleared += 1;
        if std::env::var_os("HEARKEN_SHOW").is_some() {
            println!("{command:?}");
        }
        let status = Command::new("timeout")
            .args(["5", "bash", "-c", &command])
            .current_dir(&folder)
            .env("HOME", &folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(
            status.is_ok(),
            "bash does not start: {status:?} {command:?}"
        );
        let after = snapshot(&root);
        for (file, content) in &before {
            assert_eq!(after.get(file), Some(content), "{command:?} changes {file}");
        }
        // A new empty file or folder is allowed: it loses nothing.
        for (file, content) in after.iter().filter(|(file, _)| !before.contains_key(*file)) {
            assert!(
                content.is_empty() || content == "folder",
                "{command:?} writes {file}"
            );
            let path = Path::new(file);
            let _ = if path.is_dir() {
                std::fs::remove_dir_all(path)
            } else {
                std::fs::remove_file(path)
            };
        }
    }
    std::fs::remove_dir_all(&root).unwrap();
    println!("{cleared} of {runs} commands were cleared and run");
    assert!(
        cleared * 100 >= runs,
        "only {cleared} of {runs} were cleared"
    );
}
