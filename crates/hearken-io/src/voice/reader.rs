//! Finds out whether a screen reader is at work, so that a person never hears two voices at once.
//!
//! Responsibilities: the signs of Orca, BRLTTY, Speakup and Fenrir, those that the system itself tells of (NVDA, JAWS,
//! Narrator, VoiceOver: `platform::readers`), what was looked at, and what could not be seen. Not here: what follows from it for face and voice (`runtime`), and the bytes of the
//! accessibility bus (`bus`).
//!
//! Only this machine can be looked at: over SSH the reader runs elsewhere and leaves no sign. For that
//! the setting `screen.reader` says what is so.

use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use crate::announce::Reason;
use crate::platform::{Mark, Sign, readers};

mod bus;
#[cfg(all(test, unix))]
mod tests;

/// How long the bus may keep the start waiting; one that answers does so in a few milliseconds.
const BUS_LIMIT: Duration = Duration::from_millis(300);

/// How many processes are looked at; Linux gives out no more ids than this by default on small
/// machines, and a process list of this length takes well under a second.
const MOST_PROCESSES: usize = 32_768;

/// How much of a process's command line is read: an interpreter and the script's path.
const COMMAND_LINE: u64 = 4096;

/// The readers that are known by the name of their process.
const PROCESSES: [(Reader, &str); 4] = [
    (Reader::Orca, "orca"),
    (Reader::Brltty, "brltty"),
    (Reader::Speakup, "espeakup"),
    (Reader::Fenrir, "fenrir"),
];

/// Names a screen reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// GNOME's reader of graphical desktops.
    Orca,
    /// The braille reader of consoles and desktops.
    Brltty,
    /// The kernel's reader of consoles.
    Speakup,
    /// The reader of consoles that lives outside the kernel.
    Fenrir,
    /// The free reader of Windows.
    Nvda,
    /// Freedom Scientific's reader of Windows.
    Jaws,
    /// The reader that comes with Windows.
    Narrator,
    /// The reader that comes with macOS.
    VoiceOver,
    /// One that only the accessibility bus or the flag of Windows tells of: some reader is on.
    Unnamed,
}

impl Reader {
    /// Returns its name as a person knows it.
    pub fn name(self) -> Reason {
        match self {
            Self::Orca => "Orca".into(),
            Self::Brltty => "BRLTTY".into(),
            Self::Speakup => "Speakup".into(),
            Self::Fenrir => "Fenrir".into(),
            Self::Nvda => "NVDA".into(),
            Self::Jaws => "JAWS".into(),
            Self::Narrator => Reason::new("reader.narrator"),
            Self::VoiceOver => "VoiceOver".into(),
            Self::Unnamed => Reason::new("reader.unnamed"),
        }
    }
}

/// What one place showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sight {
    /// A reader is at work.
    Present(Reader),
    /// None shows there.
    Absent,
    /// It could not be looked at.
    Unknown {
        /// Why.
        reason: Reason,
    },
}

/// One place that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// The place, as a person would name it.
    pub place: Reason,
    /// What it showed.
    pub sight: Sight,
}

/// All that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Survey {
    /// The places, in the order in which they were looked at.
    pub looks: Vec<Look>,
}

impl Survey {
    /// Returns the reader that is at work: the first one with a name, else an unnamed one.
    pub fn present(&self) -> Option<Reader> {
        let present = |look: &Look| match &look.sight {
            Sight::Present(reader) => Some(*reader),
            Sight::Absent | Sight::Unknown { .. } => None,
        };
        let mut found = self.looks.iter().filter_map(present);
        let first = found.next()?;
        if first != Reader::Unnamed {
            return Some(first);
        }
        found
            .find(|reader| *reader != Reader::Unnamed)
            .or(Some(first))
    }
}

/// All that can tell of a reader on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signs {
    /// What the system itself told.
    marks: Vec<Mark>,
    /// Where readers leave signs, on systems where they do.
    places: Option<Places>,
}

impl Signs {
    /// Asks the system, and gives this machine's places.
    pub fn from_env() -> Self {
        Self {
            marks: readers::marks(),
            places: readers::PROCESSES.map(Places::from_env),
        }
    }

    /// Looks at all of them; it takes no longer than the bus may, and reading the process list.
    pub fn look(&self) -> Survey {
        let marks = self.marks.iter().map(marked);
        let places = self.places.iter().flat_map(Places::look);
        Survey {
            looks: marks.chain(places).collect(),
        }
    }
}

/// Returns what a sign of the system means.
fn marked(mark: &Mark) -> Look {
    let (place, reader) = match mark.sign {
        Sign::Nvda => (
            Reason::new("reader.window").with("name", "NVDA"),
            Reader::Nvda,
        ),
        Sign::Jaws => (
            Reason::new("reader.window").with("name", "JAWS"),
            Reader::Jaws,
        ),
        Sign::Narrator => (Reason::new("reader.registry"), Reader::Narrator),
        Sign::VoiceOver => (Reason::new("reader.setting"), Reader::VoiceOver),
        Sign::Flag => (Reason::new("reader.flag"), Reader::Unnamed),
    };
    let sight = match mark.seen {
        Ok(true) => Sight::Present(reader),
        Ok(false) => Sight::Absent,
        Err(kind) => Sight::Unknown {
            reason: Reason::of_system(&kind.into()),
        },
    };
    Look { place, sight }
}

/// The places where readers leave signs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Places {
    /// The address of the person's session bus; absent where there is none.
    bus: Option<OsString>,
    /// The folder of processes, `/proc`.
    processes: PathBuf,
    /// Speakup's choice of a synthesizer; the kernel makes it when the module is loaded.
    synth: PathBuf,
    /// Whether a graphical desktop shows this terminal, which Speakup can't read.
    desktop: bool,
}

impl Places {
    /// Returns this machine's places.
    fn from_env(processes: &str) -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let usual = || {
            let path = PathBuf::from(set("XDG_RUNTIME_DIR")?).join("bus");
            let mut address = OsString::from("unix:path=");
            address.push(path.exists().then_some(path)?);
            Some(address)
        };
        Self {
            bus: set("DBUS_SESSION_BUS_ADDRESS").or_else(usual),
            processes: PathBuf::from(processes),
            synth: PathBuf::from("/sys/accessibility/speakup/synth"),
            desktop: set("DISPLAY").is_some() || set("WAYLAND_DISPLAY").is_some(),
        }
    }

    /// Looks at all of them.
    fn look(&self) -> Vec<Look> {
        let looks = [self.bus(), self.speakup()].into_iter();
        looks.chain(self.processes()).collect()
    }

    fn bus(&self) -> Look {
        let sight = match &self.bus {
            None => Sight::Absent,
            Some(address) => {
                let address = address.to_string_lossy().into_owned();
                // Connecting has no time limit of its own, so it must not be this thread that waits.
                let (answer, answered) = mpsc::channel();
                std::thread::spawn(move || {
                    // Nobody takes an answer that comes too late.
                    let _ = answer.send(bus::ask(&address, BUS_LIMIT));
                });
                match answered.recv_timeout(BUS_LIMIT) {
                    Ok(Ok(bus::Told { orca: true, .. })) => Sight::Present(Reader::Orca),
                    Ok(Ok(bus::Told { enabled: true, .. })) => Sight::Present(Reader::Unnamed),
                    Ok(Ok(bus::Told { .. })) => Sight::Absent,
                    Ok(Err(error)) => Sight::Unknown {
                        reason: error.reason(),
                    },
                    Err(_) => Sight::Unknown {
                        reason: Reason::new("reader.bus.mute").with("n", BUS_LIMIT.as_millis()),
                    },
                }
            }
        };
        Look {
            place: Reason::new("reader.bus"),
            sight,
        }
    }

    fn speakup(&self) -> Look {
        let sight = match read(&self.synth, COMMAND_LINE) {
            Ok(_) if self.desktop => Sight::Absent,
            Ok(synth) => match String::from_utf8_lossy(&synth).trim() {
                "" | "none" => Sight::Absent,
                _ => Sight::Present(Reader::Speakup),
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Sight::Absent,
            Err(error) => Sight::Unknown {
                reason: Reason::of_reading(&error),
            },
        };
        Look {
            place: Reason::said(self.synth.display()),
            sight,
        }
    }

    /// Returns one look a reader, from one pass over the processes.
    fn processes(&self) -> Vec<Look> {
        let names = fs::read_dir(&self.processes).map(|entries| {
            let numbered = |path: &Path| {
                path.file_name()
                    .and_then(|name| name.to_str())
                    .is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
            };
            entries
                .filter_map(|entry| entry.ok().map(|entry| entry.path()))
                .filter(|path| numbered(path))
                .take(MOST_PROCESSES)
                .filter_map(|path| process(&path))
                .collect::<Vec<String>>()
        });
        PROCESSES
            .iter()
            .map(|(reader, name)| Look {
                place: Reason::new("reader.process").with("name", name),
                sight: match &names {
                    // Speakup's synthesizer serves consoles, never this desktop's terminal.
                    Ok(_) if *reader == Reader::Speakup && self.desktop => Sight::Absent,
                    Ok(names) if names.iter().any(|it| it == name) => Sight::Present(*reader),
                    Ok(_) => Sight::Absent,
                    Err(error) => Sight::Unknown {
                        reason: Reason::new("reader.unread")
                            .with("path", self.processes.display())
                            .because("why", Reason::of_reading(error)),
                    },
                },
            })
            .collect()
    }
}

/// Returns the name of a program that runs, or of the script that a Python runs; a process that has
/// ended and only waits to be taken leave of has none.
fn process(folder: &Path) -> Option<String> {
    let line = read(&folder.join("cmdline"), COMMAND_LINE).ok()?;
    let mut words = line.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let base = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    let program = base(&words.next()?);
    if program.is_empty() {
        return None;
    }
    if program.starts_with("python") {
        return words
            .find(|word| !word.starts_with('-'))
            .map(|word| base(&word));
    }
    Some(program)
}

fn read(path: &Path, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}
