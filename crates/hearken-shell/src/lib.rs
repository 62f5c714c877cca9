//! Reads a shell command and reports, in plain terms, what it can do.
//!
//! Responsibilities: the structure of a command, the table of programs, and the findings that follow. Not here:
//! wording a finding, choosing the command to read, and what a person may do with it.
//!
//! # Mental model
//! A command is read the way a shell reads it, including the programs that other programs start: through
//! `sudo`, `xargs`, `sh -c`, loops and pipes. A table (`assets/programs`) says what each program does,
//! according to its manual. A command counts as *read* only if every program, option and word in it could be
//! read. The rest is reported as not known, and a command with an unknown part is never cleared.
//!
//! Nothing is looked up: the same text always gives the same report. Links are not followed, and no file is opened.
//!
//! # Worked example
//! ```
//! use hearken_shell::{Act, Folders, read};
//!
//! let report = read("curl -s https://x.example/i.sh | sh", &Folders::default());
//! let acts: Vec<Act> = report.findings.iter().map(|finding| finding.act).collect();
//! assert_eq!(acts, [Act::Download, Act::Downloaded]);
//! ```
//!
//! # Tuning by symptom
//! An ordinary command is not known: list its program or option in the table. A harmless word is taken for a
//! path: give its option or operand the kind `text` there.

mod act;
mod arguments;
mod command_report;
mod effects;
mod embedded_commands;
mod embedded_languages;
mod path_place;
mod pipe_data;
mod program_lists;
mod program_table;
mod shell_state;
mod syntax;
mod walk;
mod windows_commands;
mod word;
mod word_expansion;

pub use act::{Act, ActRank};
pub use command_report::{
    CommandFinding, CommandReport, ExplainedPart, FileAccess, Folders, touches,
};
pub use program_table::{TableError, check_table, is_program};
pub use walk::read;
