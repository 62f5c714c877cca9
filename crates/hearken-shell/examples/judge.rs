//! Reads commands from standard input, one per line, and prints the findings of each. The first argument is the
//! working directory.
//!
//! `\n`, `\t` and `\\` in a line stand for a new line, a tab and a backslash.

use std::io::{BufRead, Write};

use hearken_shell::{Folders, read};

fn main() -> std::io::Result<()> {
    let place = Folders {
        folder: std::env::args().nth(1),
        start: None,
    };
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let command = line
            .replace("\\\\", "\u{1}")
            .replace("\\n", "\n")
            .replace("\\t", "\t")
            .replace('\u{1}', "\\");
        let reading = read(&command, &place);
        let found: Vec<String> = reading
            .findings
            .iter()
            .map(|finding| format!("{}({})", finding.act.name(), finding.targets.join(" ")))
            .collect();
        writeln!(
            out,
            "{}\t{}\t{}",
            found.join(" ").replace(['\n', '\t'], " "),
            reading.unknown.join(" | ").replace(['\n', '\t'], " "),
            line
        )?;
    }
    Ok(())
}
