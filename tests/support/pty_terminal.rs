//! The program in a real pseudo-terminal, with its screen as text.

use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use super::PATIENCE;

/// A running `hearken` in a terminal.
pub struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    /// `None` once the terminal is gone.
    ends: Option<(Box<dyn MasterPty + Send>, Box<dyn Write + Send>)>,
    bytes: Receiver<Vec<u8>>,
    parser: vt100::Parser,
    raw: Vec<u8>,
    /// Whether it replies to cursor queries, and how much of the output has been searched for them.
    replies: bool,
    looked_through: usize,
}

/// Asks a terminal for the cursor position.
const QUERY: &[u8] = b"\x1b[6n";

impl Terminal {
    /// Starts it.
    pub fn start(columns: u16, rows: u16, arguments: &[&str]) -> Self {
        Self::start_with(columns, rows, arguments, &[("TERM", "xterm-256color")])
    }

    /// Starts it without a voice, watching a source in the given face.
    pub fn watch(columns: u16, rows: u16, source: &str, face: &str) -> Self {
        let arguments = ["watch", source, "--face", face, "--voice", "none"];
        Self::start(columns, rows, &arguments)
    }

    /// Starts it with additional environment variables.
    pub fn start_with(
        columns: u16,
        rows: u16,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Self {
        let program = super::program();
        Self::start_program(
            &program.to_string_lossy(),
            columns,
            rows,
            arguments,
            environment,
        )
    }

    /// Starts another program, which starts it.
    pub fn start_program(
        program: &str,
        columns: u16,
        rows: u16,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Self {
        let size = PtySize {
            rows,
            cols: columns,
            pixel_width: 0,
            pixel_height: 0,
        };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(program);
        command.args(arguments);
        command.cwd("/");
        command.env("HOME", "/nonexistent");
        command.env("TZ", "UTC");
        // A developer with a running screen reader should see what everybody else sees.
        command.env("HEARKEN_SCREEN_READER", "no");
        command.env_remove("XDG_CONFIG_HOME");
        for sign in [
            "NO_COLOR",
            "XDG_STATE_HOME",
            "TMUX",
            "STY",
            "TERM_PROGRAM",
            "VTE_VERSION",
            "KITTY_WINDOW_ID",
            "HEARKEN_THEME",
            // With these, some agents take a terminal for none.
            "CI",
            "GITHUB_ACTIONS",
        ] {
            command.env_remove(sign);
        }
        for (name, value) in environment {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().unwrap();
        let (sender, bytes) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count) = reader.read(&mut buffer) {
                if count == 0 || sender.send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        let writer = pair.master.take_writer().unwrap();
        Self {
            child,
            ends: Some((pair.master, writer)),
            bytes,
            parser: vt100::Parser::new(rows, columns, 0),
            raw: Vec::new(),
            // As nearly all terminals do.
            replies: true,
            looked_through: 0,
        }
    }

    /// Makes it reply to cursor queries from now on, or read nothing more and reply to none.
    pub fn reply(&mut self, replies: bool) {
        self.replies = replies;
        self.answer_queries();
    }

    fn answer_queries(&mut self) {
        while self.replies {
            let rest = &self.raw[self.looked_through..];
            let Some(at) = rest.windows(QUERY.len()).position(|part| part == QUERY) else {
                // A query and the cursor position before it are shorter than the part searched again.
                let again = self.raw.len().saturating_sub(64);
                self.looked_through = self.looked_through.max(again);
                return;
            };
            // The cursor position set just before the query.
            let before = String::from_utf8_lossy(&rest[..at]);
            let place = before
                .rsplit_once("\x1b[")
                .map_or("1;1", |(_, place)| place);
            let place = place.strip_suffix('H').unwrap_or("1;1").to_owned();
            self.looked_through += at + QUERY.len();
            self.send(format!("\x1b[{place}R").as_bytes());
        }
    }

    /// Presses keys.
    pub fn press(&mut self, keys: &str) {
        let (_, writer) = self.ends.as_mut().unwrap();
        writer.write_all(keys.as_bytes()).unwrap();
        writer.flush().unwrap();
    }

    /// Sends bytes unchanged, whole sequences or parts of them.
    pub fn send(&mut self, bytes: &[u8]) {
        let (_, writer) = self.ends.as_mut().unwrap();
        writer.write_all(bytes).unwrap();
        writer.flush().unwrap();
    }

    /// Returns how much of the input is still in the terminal, unread by the program.
    pub fn unread(&self) -> u64 {
        let (master, _) = self.ends.as_ref().unwrap();
        let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NOCTTY;
        let name = master.tty_name().unwrap();
        let slave = rustix::fs::open(name, flags, rustix::fs::Mode::empty()).unwrap();
        rustix::io::ioctl_fionread(&slave).unwrap()
    }

    /// Returns the screen as text.
    pub fn screen(&self) -> String {
        self.parser.screen().contents()
    }

    /// Returns everything that was written to the terminal.
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// Returns the screen with its modes.
    pub fn parsed(&self) -> &vt100::Screen {
        self.parser.screen()
    }

    /// Waits until the screen shows certain words.
    pub fn wait(&mut self, words: &str) {
        self.wait_until(words, |screen| screen.replace('\n', " ").contains(words));
    }

    /// Waits until the screen meets a condition.
    pub fn wait_until(&mut self, what: &str, fits: impl Fn(&str) -> bool) {
        let until = Instant::now() + PATIENCE;
        while !fits(&self.screen()) {
            if !self.take(until) {
                panic!("no {what:?} on the screen:\n{}", self.screen());
            }
        }
    }

    /// Waits until certain bytes have been written.
    pub fn wait_for_raw(&mut self, bytes: &[u8]) {
        let until = Instant::now() + PATIENCE;
        while !self.raw.windows(bytes.len()).any(|part| part == bytes) {
            assert!(self.take(until), "no {bytes:?} was written");
        }
    }

    /// Returns whether the terminal itself echoes what is typed.
    pub fn echoes(&self) -> bool {
        const ECHO: u64 = 0o10;
        let (master, _) = self.ends.as_ref().unwrap();
        let modes = master.get_termios().unwrap();
        u64::from(modes.local_flags.bits()) & ECHO != 0
    }

    /// Returns whether the program is stopped, as by the terminal's stop key.
    pub fn is_stopped(&self) -> bool {
        let id = self.child.process_id().unwrap();
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
        stat.rsplit(") ").next().unwrap().starts_with('T')
    }

    /// Waits until the cursor is in a row: a frame ends by placing it, after its texts.
    pub fn wait_for_cursor(&mut self, row: u16) {
        let until = Instant::now() + PATIENCE;
        while self.parser.screen().cursor_position().0 != row {
            assert!(
                self.take(until),
                "the cursor came to {:?} and never to row {row}:\n{}",
                self.parser.screen().cursor_position(),
                self.screen()
            );
        }
    }

    /// Reads output for a while, when there is nothing to wait for but time.
    pub fn let_pass(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while self.take(until) {}
    }

    /// Reads the output so far, without waiting.
    pub fn drain(&mut self) {
        while self.take(Instant::now()) {}
    }

    /// Reads the next output; returns false if none arrives in time.
    fn take(&mut self, until: Instant) -> bool {
        match self
            .bytes
            .recv_timeout(until.saturating_duration_since(Instant::now()))
        {
            Ok(bytes) => {
                self.parser.process(&bytes);
                self.raw.extend(bytes);
                self.answer_queries();
                true
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => false,
        }
    }

    /// Returns the program's process id.
    pub fn id(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    /// Sends a signal to the program.
    pub fn signal(&mut self, signal: rustix::process::Signal) {
        let id = i32::try_from(self.id()).unwrap();
        rustix::process::kill_process(rustix::process::Pid::from_raw(id).unwrap(), signal).unwrap();
    }

    /// Changes the size.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.parser.screen_mut().set_size(rows, columns);
        let (master, _) = self.ends.as_ref().unwrap();
        master
            .resize(PtySize {
                rows,
                cols: columns,
                pixel_width: 0,
                pixel_height: 0,
            })
            .unwrap();
    }

    /// Claims a size that no terminal of ours could display.
    pub fn claim(&mut self, columns: u16, rows: u16) {
        let (master, _) = self.ends.as_ref().unwrap();
        master
            .resize(PtySize {
                rows,
                cols: columns,
                pixel_width: 0,
                pixel_height: 0,
            })
            .unwrap();
    }

    /// Stops the terminal's output as Ctrl-S does in a terminal that handles that key, or resumes it.
    pub fn stop_output(&mut self, stopped: bool) {
        let (master, _) = self.ends.as_ref().unwrap();
        let flags = rustix::fs::OFlags::WRONLY | rustix::fs::OFlags::NOCTTY;
        let name = master.tty_name().unwrap();
        let slave = rustix::fs::open(name, flags, rustix::fs::Mode::empty()).unwrap();
        let action = if stopped {
            rustix::termios::Action::OOff
        } else {
            rustix::termios::Action::OOn
        };
        rustix::termios::tcflow(&slave, action).unwrap();
    }

    /// Takes the terminal away from under the program.
    pub fn hang_up(&mut self) {
        // The reading thread has its own end of the terminal; it releases that as soon as it can't pass on what it
        // reads. It is given something to read, without waiting for the program to write. The program's side is opened
        // first: it loses its name once every other end is gone.
        let (master, _) = self.ends.take().unwrap();
        let flags = rustix::fs::OFlags::WRONLY | rustix::fs::OFlags::NOCTTY;
        let name = master.tty_name().unwrap();
        let slave = rustix::fs::open(name, flags, rustix::fs::Mode::empty()).unwrap();
        self.bytes = channel().1;
        drop(master);
        match rustix::io::write(&slave, b"\n") {
            // The program itself may have written something, and everything is gone already.
            Ok(_) | Err(rustix::io::Errno::IO) => {}
            Err(error) => panic!("{error}"),
        }
    }

    /// Waits for its end, and returns the exit code.
    pub fn exit(&mut self) -> u32 {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                while self.take(Instant::now() + Duration::from_millis(100)) {}
                return status.exit_code();
            }
            assert!(
                Instant::now() < until,
                "it does not end:\n{}",
                self.screen()
            );
            self.take(Instant::now() + Duration::from_millis(20));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
