//! The program in a real pseudo-terminal, with its screen as text.

use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use super::PATIENCE;

/// Holds a running `hearken` in a terminal.
pub struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    /// Absent once the terminal is gone.
    ends: Option<(Box<dyn MasterPty + Send>, Box<dyn Write + Send>)>,
    bytes: Receiver<Vec<u8>>,
    parser: vt100::Parser,
    raw: Vec<u8>,
    /// Whether it replies to the query for its cursor, and how much of what was written it has looked through for one.
    replies: bool,
    looked_through: usize,
}

/// Asks a terminal where its cursor is.
const QUERY: &[u8] = b"\x1b[6n";

impl Terminal {
    /// Starts it.
    pub fn start(columns: u16, rows: u16, arguments: &[&str]) -> Self {
        Self::start_with(columns, rows, arguments, &[("TERM", "xterm-256color")])
    }

    /// Starts it with more of an environment.
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
        // Who tests with a screen reader at work sees what everybody sees.
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
            // As nearly all do.
            replies: true,
            looked_through: 0,
        }
    }

    /// Replies to the query for its cursor from now on, or reads nothing more and replies to none.
    pub fn reply(&mut self, replies: bool) {
        self.replies = replies;
        self.answer_queries();
    }

    fn answer_queries(&mut self) {
        while self.replies {
            let rest = &self.raw[self.looked_through..];
            let Some(at) = rest.windows(QUERY.len()).position(|part| part == QUERY) else {
                // A query and the place before it are shorter than what is looked through again.
                let again = self.raw.len().saturating_sub(64);
                self.looked_through = self.looked_through.max(again);
                return;
            };
            // Where the cursor was put right before.
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

    /// Sends bytes as they are, whole sequences or parts of them.
    pub fn send(&mut self, bytes: &[u8]) {
        let (_, writer) = self.ends.as_mut().unwrap();
        writer.write_all(bytes).unwrap();
        writer.flush().unwrap();
    }

    /// Tells how much of what was sent lies in the terminal, unread by the program.
    pub fn unread(&self) -> u64 {
        let (master, _) = self.ends.as_ref().unwrap();
        let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NOCTTY;
        let name = master.tty_name().unwrap();
        let slave = rustix::fs::open(name, flags, rustix::fs::Mode::empty()).unwrap();
        rustix::io::ioctl_fionread(&slave).unwrap()
    }

    /// Gives the screen as text.
    pub fn screen(&self) -> String {
        self.parser.screen().contents()
    }

    /// Gives everything that was written to the terminal.
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// Gives the screen with its modes.
    pub fn parsed(&self) -> &vt100::Screen {
        self.parser.screen()
    }

    /// Waits until the screen shows certain words.
    pub fn wait(&mut self, words: &str) {
        self.wait_until(words, |screen| screen.replace('\n', " ").contains(words));
    }

    /// Waits until the screen is as wished.
    pub fn wait_until(&mut self, what: &str, fits: impl Fn(&str) -> bool) {
        let until = Instant::now() + PATIENCE;
        while !fits(&self.screen()) {
            if !self.take(until) {
                panic!("no {what:?} on the screen:\n{}", self.screen());
            }
        }
    }

    /// Waits until certain bytes were written.
    pub fn wait_for_raw(&mut self, bytes: &[u8]) {
        let until = Instant::now() + PATIENCE;
        while !self.raw.windows(bytes.len()).any(|part| part == bytes) {
            assert!(self.take(until), "no {bytes:?} was written");
        }
    }

    /// Tells whether the terminal itself echoes what is typed.
    pub fn echoes(&self) -> bool {
        const ECHO: u64 = 0o10;
        let (master, _) = self.ends.as_ref().unwrap();
        let modes = master.get_termios().unwrap();
        u64::from(modes.local_flags.bits()) & ECHO != 0
    }

    /// Tells whether the program is stopped, as by the terminal's stop key.
    pub fn is_stopped(&self) -> bool {
        let id = self.child.process_id().unwrap();
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
        stat.rsplit(") ").next().unwrap().starts_with('T')
    }

    /// Waits until the cursor stands in a row: a frame ends by placing it, after its texts.
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

    /// Takes what comes for a while, when nothing but time is waited for.
    pub fn let_pass(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while self.take(until) {}
    }

    /// Takes what came until now, without waiting.
    pub fn drain(&mut self) {
        while self.take(Instant::now()) {}
    }

    /// Takes what comes next; false when nothing came until then.
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

    /// Gives the program's number.
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

    /// Claims a size that no terminal of ours could show.
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

    /// Stops the terminal's output as Ctrl-S does where the terminal takes that key, or lets it go on.
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
        // The reading thread has an end of the terminal of its own; it lets go of that as soon as it can't
        // hand over what it reads. It is given something to read, and never waits for the program to write.
        // The program's side is opened first: it has no name any more once every other end is gone.
        let (master, _) = self.ends.take().unwrap();
        let flags = rustix::fs::OFlags::WRONLY | rustix::fs::OFlags::NOCTTY;
        let name = master.tty_name().unwrap();
        let slave = rustix::fs::open(name, flags, rustix::fs::Mode::empty()).unwrap();
        self.bytes = channel().1;
        drop(master);
        match rustix::io::write(&slave, b"\n") {
            // The program itself may have written something, and all is gone already.
            Ok(_) | Err(rustix::io::Errno::IO) => {}
            Err(error) => panic!("{error}"),
        }
    }

    /// Waits for its end, and gives the exit code.
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
