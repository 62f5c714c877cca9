//! A program in whose place a test speaks: it carries what it reads to the test, and writes what the test says.
//!
//! It is this very binary, which is there on every system; a shell starts it, because only that turns its outputs round. What
//! runs tests writes to the standard output by itself, so what it carries goes to the standard error, and the two are swapped.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The test below, which is the program.
const NAME: &str = "support::stand_in::what_it_reads_and_what_it_is_told_are_carried";
/// Where it carries to.
const PLACE: &str = "HEARKEN_STAND_IN";

/// Waits for the program and speaks in its place.
pub struct StandIn {
    folder: tempfile::TempDir,
    listener: TcpListener,
}

impl StandIn {
    /// Makes one that writes some words to its standard error, and leaves with a code once it is told no more.
    pub fn new(words: &str, code: u8) -> Self {
        Self::beginning("", words, code)
    }

    /// Makes one that writes a line to its standard output at once, before the test could speak in its place.
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

    /// Gives what starts it.
    pub fn call(&self) -> Vec<String> {
        let script = script(self.folder.path()).to_str().unwrap().to_owned();
        match cfg!(windows) {
            true => vec![script],
            false => vec!["sh".to_owned(), script],
        }
    }

    /// Gives the name by which hearken calls it.
    pub fn name(&self) -> &'static str {
        if cfg!(windows) { "mock.cmd" } else { "sh" }
    }

    /// Waits until it runs.
    pub fn runs(&self) -> Talk {
        Talk::new(self.listener.accept().unwrap().0)
    }

    /// Has something speak in its place, each time that it runs.
    pub fn plays(&self, play: impl Fn(Talk) + Send + 'static) {
        let listener = self.listener.try_clone().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                play(Talk::new(stream));
            }
        });
    }

    /// Gives its process id, where a shell writes it down.
    #[cfg(unix)]
    pub fn pid(&self) -> String {
        let text = std::fs::read_to_string(self.folder.path().join("pid"));
        text.unwrap().trim().to_owned()
    }
}

fn script(folder: &Path) -> PathBuf {
    folder.join(if cfg!(windows) { "mock.cmd" } else { "mock.sh" })
}

/// Is what the program reads and writes.
pub struct Talk {
    reads: BufReader<TcpStream>,
    writes: TcpStream,
}

impl Talk {
    fn new(stream: TcpStream) -> Self {
        stream.set_nodelay(true).unwrap();
        Self {
            writes: stream.try_clone().unwrap(),
            reads: BufReader::new(stream),
        }
    }

    /// Gives the next line that it read, without its end; absent at the end of its input.
    pub fn hear(&mut self) -> Option<String> {
        let mut line = String::new();
        // One that was ended breaks the connection.
        let count = self.reads.read_line(&mut line).unwrap_or(0);
        (count > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned())
    }

    /// Gives the next line that it read; absent where none came for so long, or at the end of its input.
    pub fn hear_for(&mut self, time: Duration) -> Option<String> {
        self.writes.set_read_timeout(Some(time)).unwrap();
        let line = self.hear();
        self.writes.set_read_timeout(None).unwrap();
        line
    }

    /// Waits for the end of its input, and gives what it read until then.
    pub fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        let _ = self.reads.read_to_end(&mut rest);
        String::from_utf8(rest).unwrap()
    }

    /// Has it write a line; one that was ended writes nothing.
    pub fn say(&mut self, line: &str) {
        let _ = self.writes.write_all(format!("{line}\n").as_bytes());
    }

    /// Has it end.
    pub fn end(self) {
        let _ = self.writes.shutdown(Shutdown::Both);
    }
}

/// Carries until the test says no more.
fn carry(place: &str) -> std::io::Result<u64> {
    let mut stream = TcpStream::connect(place)?;
    let mut up = stream.try_clone()?;
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut up);
        let _ = up.shutdown(Shutdown::Write);
    });
    std::io::copy(&mut stream, &mut std::io::stderr())
}

/// Is the program itself where that is asked for; played as a test, it starts itself and looks at what is carried.
#[test]
fn what_it_reads_and_what_it_is_told_are_carried() {
    if let Ok(place) = std::env::var(PLACE) {
        // One whose test is over was told all.
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
