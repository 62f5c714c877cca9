//! Detects whether a screen reader is running, so that a person never hears two voices at the same time.
//!
//! Responsibilities: the signs of Orca, BRLTTY, Speakup and Fenrir, those that the system itself reports (NVDA, JAWS,
//! Narrator, VoiceOver: `platform::reader_signs`), what was checked, and what could not be seen. Not here: the
//! consequences for screen and voice (`runtime`), and the bytes of the accessibility bus (`bus`).
//!
//! Only this machine can be checked: over SSH the reader runs elsewhere and leaves no sign. For that case there is the
//! setting `screen.reader`.

use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use crate::announce::Reason;
use crate::platform::{ReaderSign, SignCheck, reader_signs};

mod bus;
#[cfg(test)]
#[cfg(unix)]
mod tests;

/// How long the bus may delay the start; one that answers does so within a few milliseconds.
const BUS_LIMIT: Duration = Duration::from_millis(300);

/// The most processes to examine; Linux assigns no more ids than this by default on small machines,
/// and reading a process list of this length takes well under a second.
const MOST_PROCESSES: usize = 32_768;

/// The most bytes to read of a process's command line: an interpreter and the script's path.
const COMMAND_LINE: u64 = 4096;

/// The readers that are recognized by the name of their process.
const PROCESSES: [(ScreenReader, &str); 4] = [
    (ScreenReader::Orca, "orca"),
    (ScreenReader::Brltty, "brltty"),
    (ScreenReader::Speakup, "espeakup"),
    (ScreenReader::Fenrir, "fenrir"),
];

/// A screen reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScreenReader {
    /// GNOME's reader for graphical desktops.
    Orca,
    /// The braille reader for consoles and desktops.
    Brltty,
    /// The kernel's reader for consoles.
    Speakup,
    /// The reader for consoles that runs outside the kernel.
    Fenrir,
    /// The free reader for Windows.
    Nvda,
    /// Freedom Scientific's reader for Windows.
    Jaws,
    /// The reader that comes with Windows.
    Narrator,
    /// The reader that comes with macOS.
    VoiceOver,
    /// Some reader, reported only by the accessibility bus or the Windows flag.
    Unnamed,
}

impl ScreenReader {
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

/// The result of checking one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReaderPresence {
    /// A reader is running.
    Present(ScreenReader),
    /// There is no sign of a reader.
    Absent,
    /// The place could not be checked.
    Unknown {
        /// The reason.
        reason: Reason,
    },
}

/// One place that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedPlace {
    /// The place, as a person would name it.
    pub place: Reason,
    /// The result.
    pub sight: ReaderPresence,
}

/// Everything that was checked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Survey {
    /// The places, in the order in which they were checked.
    pub looks: Vec<CheckedPlace>,
}

impl Survey {
    /// Returns the running reader: the first one with a name, otherwise an unnamed one.
    pub fn present(&self) -> Option<ScreenReader> {
        let present = |look: &CheckedPlace| match &look.sight {
            ReaderPresence::Present(reader) => Some(*reader),
            ReaderPresence::Absent | ReaderPresence::Unknown { .. } => None,
        };
        let mut found = self.looks.iter().filter_map(present);
        let first = found.next()?;
        if first != ScreenReader::Unnamed {
            return Some(first);
        }
        found
            .find(|reader| *reader != ScreenReader::Unnamed)
            .or(Some(first))
    }
}

/// Everything that can reveal a reader on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReaderSigns {
    /// The signs that the system itself reports.
    marks: Vec<SignCheck>,
    /// The places where readers leave signs, on systems where they do.
    places: Option<ReaderPlaces>,
}

impl ReaderSigns {
    /// Queries the system, and determines this machine's places.
    pub fn from_env() -> Self {
        Self {
            marks: reader_signs::marks(),
            places: reader_signs::PROCESSES.map(ReaderPlaces::from_env),
        }
    }

    /// Checks all of them; takes at most the limit of the bus plus the time to read the process list.
    pub fn look(&self) -> Survey {
        let marks = self.marks.iter().map(marked);
        let places = self.places.iter().flat_map(ReaderPlaces::look);
        Survey {
            looks: marks.chain(places).collect(),
        }
    }
}

/// Returns what a sign from the system means.
fn marked(mark: &SignCheck) -> CheckedPlace {
    let (place, reader) = match mark.sign {
        ReaderSign::Nvda => (
            Reason::new("reader.window").with("name", "NVDA"),
            ScreenReader::Nvda,
        ),
        ReaderSign::Jaws => (
            Reason::new("reader.window").with("name", "JAWS"),
            ScreenReader::Jaws,
        ),
        ReaderSign::Narrator => (Reason::new("reader.registry"), ScreenReader::Narrator),
        ReaderSign::VoiceOver => (Reason::new("reader.setting"), ScreenReader::VoiceOver),
        ReaderSign::Flag => (Reason::new("reader.flag"), ScreenReader::Unnamed),
    };
    let sight = match mark.seen {
        Ok(true) => ReaderPresence::Present(reader),
        Ok(false) => ReaderPresence::Absent,
        Err(kind) => ReaderPresence::Unknown {
            reason: Reason::of_system(&kind.into()),
        },
    };
    CheckedPlace { place, sight }
}

/// The places where readers leave signs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ReaderPlaces {
    /// The address of the person's session bus; `None` if there is none.
    bus: Option<OsString>,
    /// The folder that shows processes, `/proc`.
    processes: PathBuf,
    /// Speakup's choice of a synthesizer; the kernel creates it when the module is loaded.
    synth: PathBuf,
    /// Whether a graphical desktop displays this terminal, which Speakup can't read.
    desktop: bool,
}

impl ReaderPlaces {
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

    /// Checks all of them.
    fn look(&self) -> Vec<CheckedPlace> {
        let looks = [self.bus(), self.speakup()].into_iter();
        looks.chain(self.processes()).collect()
    }

    fn bus(&self) -> CheckedPlace {
        let sight = match &self.bus {
            None => ReaderPresence::Absent,
            Some(address) => {
                let address = address.to_string_lossy().into_owned();
                // Connecting has no time limit of its own, so this thread must not wait for it.
                let (answer, answered) = mpsc::channel();
                std::thread::spawn(move || {
                    // The receiver is gone if the answer is too late.
                    let _ = answer.send(bus::ask(&address, BUS_LIMIT));
                });
                match answered.recv_timeout(BUS_LIMIT) {
                    Ok(Ok(bus::BusAnswers { orca: true, .. })) => {
                        ReaderPresence::Present(ScreenReader::Orca)
                    }
                    Ok(Ok(bus::BusAnswers { enabled: true, .. })) => {
                        ReaderPresence::Present(ScreenReader::Unnamed)
                    }
                    Ok(Ok(bus::BusAnswers { .. })) => ReaderPresence::Absent,
                    Ok(Err(error)) => ReaderPresence::Unknown {
                        reason: error.reason(),
                    },
                    Err(_) => ReaderPresence::Unknown {
                        reason: Reason::new("reader.bus.mute").with("n", BUS_LIMIT.as_millis()),
                    },
                }
            }
        };
        CheckedPlace {
            place: Reason::new("reader.bus"),
            sight,
        }
    }

    fn speakup(&self) -> CheckedPlace {
        let sight = match read(&self.synth, COMMAND_LINE) {
            Ok(_) if self.desktop => ReaderPresence::Absent,
            Ok(synth) => match String::from_utf8_lossy(&synth).trim() {
                "" | "none" => ReaderPresence::Absent,
                _ => ReaderPresence::Present(ScreenReader::Speakup),
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => ReaderPresence::Absent,
            Err(error) => ReaderPresence::Unknown {
                reason: Reason::of_reading(&error),
            },
        };
        CheckedPlace {
            place: Reason::said(self.synth.display()),
            sight,
        }
    }

    /// Returns one result per reader, from a single pass over the processes.
    fn processes(&self) -> Vec<CheckedPlace> {
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
            .map(|(reader, name)| CheckedPlace {
                place: Reason::new("reader.process").with("name", name),
                sight: match &names {
                    // Speakup's synthesizer serves consoles, never this desktop's terminal.
                    Ok(_) if *reader == ScreenReader::Speakup && self.desktop => {
                        ReaderPresence::Absent
                    }
                    Ok(names) if names.iter().any(|it| it == name) => {
                        ReaderPresence::Present(*reader)
                    }
                    Ok(_) => ReaderPresence::Absent,
                    Err(error) => ReaderPresence::Unknown {
                        reason: Reason::new("reader.unread")
                            .with("path", self.processes.display())
                            .because("why", Reason::of_reading(error)),
                    },
                },
            })
            .collect()
    }
}

/// Returns the name of a running program, or of the script that Python runs; `None` for a zombie.
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
