//! Checks the events of a producer while it runs, or of a capture: one line for everything that the chapters
//! forbid.
//!
//! ```text
//! aaep-minimal-producer --port 18080 &
//! curl -sN http://127.0.0.1:18080/events | sed -un 's/^data: //p' | cargo run -p aaep --example check
//! ```
#![allow(clippy::print_stdout, reason = "an example that prints")]

use std::io::BufRead as _;
use std::process::ExitCode;

use aaep::{RecentValues, Severity};

fn main() -> ExitCode {
    let mut stream = RecentValues::default();
    let (mut events, mut errors) = (0, 0);
    for (number, line) in std::io::stdin().lock().lines().enumerate() {
        let number = number + 1;
        let Ok(line) = line else {
            println!("{number}: not text");
            return ExitCode::from(2);
        };
        if line.trim().is_empty() {
            continue;
        }
        match stream.decode(&line) {
            Ok(decoded) => {
                events += 1;
                for finding in &decoded.findings {
                    errors += usize::from(finding.severity == Severity::Error);
                    println!("{number}: {finding}");
                }
            }
            Err(error) => {
                errors += 1;
                println!("{number}: not an event ({})", error.name());
            }
        }
    }
    println!("{events} events, {errors} errors");
    ExitCode::from(u8::from(errors > 0))
}
