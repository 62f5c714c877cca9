//! A program that a test speaks for: it passes its input to the test, and writes what the test says.
//!
//! It is this very test binary, which is available on every system. A shell starts it, because only a shell can swap
//! its outputs: a test runner writes to standard output by itself, so the program writes to standard error, and the two
//! are swapped.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The test below, which acts as the program.
const NAME: &str = "support::stand_in::what_it_reads_and_what_it_is_told_are_carried";
/// The variable with the address it connects to.
const PLACE: &str = "HEARKEN_STAND_IN";

/// Waits for the program and speaks for it.
pub struct StandIn {
    folder: tempfile::TempDir,
    listener: TcpListener,
}

impl StandIn {
    /// Creates one that writes some words to its standard error, and exits with a code when the test says no more.
    pub fn new(words: &str, code: u8) -> Self {
        Self::beginning("", words, code)
    }

    /// Creates one that also writes a line to its standard output immediately, before the test could speak for it.
    pub fn beginning(first: &str, words: &str, code: u8) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = listener.local_addr().unwrap();
        let own = std::env::current_exe().unwrap();
        let own = own.display();
        let carry = format!("--exact {NAME} --nocapture");
        let pid = folder.path().join("pid");
        let first = match (first, cfg!(windows)) {
            ("", _) => String::new(),
            (first, true) => format!("@echo {first}\r\n"),
            (first, false) => format!("echo '{first}'\n"),
        };
        let text = match cfg!(windows) {
            true => format!(
                "{first}@echo {words}>&2\r\n@set {PLACE}={place}\r\n@\"{own}\" {carry} 2>&1 >nul\r\n@exit {code}\r\n"
            ),
            false => format!(
                "{first}echo '{words}' >&2\necho $$ > '{}'\n{PLACE}={place} '{own}' {carry} 2>&1 >/dev/null\nexit {code}\n",
                pid.display()
            ),
        };
        std::fs::write(script(folder.path()), text).unwrap();
        Self { folder, listener }
    }

    /// Returns the command that starts it.
    pub fn call(&self) -> Vec<String> {
        let script = script(self.folder.path()).to_str().unwrap().to_owned();
        match cfg!(windows) {
            true => vec![script],
            false => vec!["sh".to_owned(), script],
        }
    }

    /// Returns hearken's name for it.
    pub fn name(&self) -> &'static str {
        if cfg!(windows) { "mock.cmd" } else { "sh" }
    }

    /// Waits until it runs.
    pub fn runs(&self) -> ProgramPipes {
        ProgramPipes::new(self.listener.accept().unwrap().0)
    }

    /// Runs a function that speaks for it, each time that it runs.
    pub fn plays(&self, play: impl Fn(ProgramPipes) + Send + 'static) {
        let listener = self.listener.try_clone().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                play(ProgramPipes::new(stream));
            }
        });
    }

    /// Returns its process id, if a shell writes it down.
    #[cfg(unix)]
    pub fn pid(&self) -> String {
        let text = std::fs::read_to_string(self.folder.path().join("pid"));
        text.unwrap().trim().to_owned()
    }
}

fn script(folder: &Path) -> PathBuf {
    folder.join(if cfg!(windows) { "mock.cmd" } else { "mock.sh" })
}

/// The input and output of the program.
pub struct ProgramPipes {
    reads: BufReader<TcpStream>,
    writes: TcpStream,
}

impl ProgramPipes {
    fn new(stream: TcpStream) -> Self {
        stream.set_nodelay(true).unwrap();
        Self {
            writes: stream.try_clone().unwrap(),
            reads: BufReader::new(stream),
        }
    }

    /// Returns the next line of its input, without the line end; `None` at the end of the input.
    pub fn hear(&mut self) -> Option<String> {
        let mut line = String::new();
        // A killed program breaks the connection.
        let count = self.reads.read_line(&mut line).unwrap_or(0);
        (count > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned())
    }

    /// Returns the next line of its input; `None` if none arrives within `time`, or at the end of the input.
    pub fn hear_for(&mut self, time: Duration) -> Option<String> {
        self.writes.set_read_timeout(Some(time)).unwrap();
        let line = self.hear();
        self.writes.set_read_timeout(None).unwrap();
        line
    }

    /// Waits for the end of its input, and returns everything read up to then.
    pub fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        let _ = self.reads.read_to_end(&mut rest);
        String::from_utf8(rest).unwrap()
    }

    /// Makes it write a line; does nothing if it has been killed.
    pub fn say(&mut self, line: &str) {
        let _ = self.writes.write_all(format!("{line}\n").as_bytes());
    }

    /// Makes it end.
    pub fn end(self) {
        let _ = self.writes.shutdown(Shutdown::Both);
    }
}

/// Passes data on until the test says no more.
fn carry(place: &str) -> std::io::Result<u64> {
    let mut stream = TcpStream::connect(place)?;
    let mut up = stream.try_clone()?;
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut up);
        let _ = up.shutdown(Shutdown::Write);
    });
    std::io::copy(&mut stream, &mut std::io::stderr())
}

/// Acts as the program itself on request; run as a test, it starts itself and checks what is passed on.
#[test]
fn what_it_reads_and_what_it_is_told_are_carried() {
    if let Ok(place) = std::env::var(PLACE) {
        // If the test is over, everything has been passed on.
        let _ = carry(&place);
        std::process::exit(0);
    }
    let stand_in = StandIn::new("some words", 5);
    let call = stand_in.call();
    let mut child = std::process::Command::new(&call[0])
        .args(&call[1..])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut talk = stand_in.runs();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all("Grüße\nand more\n".as_bytes()).unwrap();
    assert_eq!(talk.hear().unwrap(), "Grüße");
    drop(stdin);
    assert_eq!(talk.rest(), "and more\n");
    talk.say("漢字");
    talk.end();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    assert_eq!(output.stdout, "漢字\n".as_bytes(), "{output:?}");
    let words = String::from_utf8(output.stderr).unwrap();
    assert_eq!(words.trim_end(), "some words");
}
