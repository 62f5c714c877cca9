//! Each reader by its sign, and a bus that is correct, wrong, silent or missing.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixListener;
use std::time::Instant;

use super::*;

/// Creates a machine without any reader: some processes only resemble one.
fn machine() -> (tempfile::TempDir, ReaderPlaces) {
    let folder = tempfile::tempdir().unwrap();
    let signs = ReaderPlaces {
        bus: None,
        processes: folder.path().join("proc"),
        synth: folder.path().join("synth"),
        desktop: false,
    };
    fs::create_dir(&signs.processes).unwrap();
    runs(&signs, 1, &["/sbin/init"]);
    runs(&signs, 2, &["/usr/bin/vi", "/home/ada/orca"]);
    runs(&signs, 3, &["/usr/bin/python3", "-u", "/srv/orcalike.py"]);
    // Zombies and kernel threads have no command line.
    runs(&signs, 4, &[]);
    (folder, signs)
}

fn look(places: &ReaderPlaces) -> Survey {
    let signs = ReaderSigns {
        marks: Vec::new(),
        places: Some(places.clone()),
    };
    signs.look()
}

fn runs(signs: &ReaderPlaces, id: u32, words: &[&str]) {
    let folder = signs.processes.join(id.to_string());
    fs::create_dir(&folder).unwrap();
    let line: String = words.iter().map(|word| format!("{word}\0")).collect();
    fs::write(folder.join("cmdline"), line).unwrap();
}

fn address(path: &Path) -> Option<OsString> {
    Some(format!("unix:path={},guid=12", path.display()).into())
}

fn bus_sight(survey: &Survey) -> &ReaderPresence {
    &survey.looks.first().unwrap().sight
}

#[test]
fn where_no_reader_is_none_is_found_and_all_places_are_named() {
    let (_folder, signs) = machine();
    let survey = look(&signs);
    assert_eq!(survey.present(), None);
    assert!(
        survey
            .looks
            .iter()
            .all(|look| look.sight == ReaderPresence::Absent)
    );
    assert_eq!(survey.looks.len(), 2 + PROCESSES.len());
}

#[test]
fn each_sign_of_the_system_names_its_reader_and_what_could_not_be_asked_is_told() {
    let told = |marks: &[(ReaderSign, Result<bool, std::io::ErrorKind>)]| {
        let marks = marks.iter().cloned();
        let signs = ReaderSigns {
            marks: marks.map(|(sign, seen)| SignCheck { sign, seen }).collect(),
            places: None,
        };
        signs.look()
    };
    for (sign, reader) in [
        (ReaderSign::Nvda, ScreenReader::Nvda),
        (ReaderSign::Jaws, ScreenReader::Jaws),
        (ReaderSign::Narrator, ScreenReader::Narrator),
        (ReaderSign::VoiceOver, ScreenReader::VoiceOver),
        (ReaderSign::Flag, ScreenReader::Unnamed),
    ] {
        assert_eq!(told(&[(sign, Ok(true))]).present(), Some(reader));
        assert_eq!(told(&[(sign, Ok(false))]).present(), None);
        let unknown = told(&[(sign, Err(std::io::ErrorKind::PermissionDenied))]);
        assert_eq!(unknown.present(), None);
        assert!(matches!(
            unknown.looks[0].sight,
            ReaderPresence::Unknown { .. }
        ));
    }
    // The flag says only that there is a reader; the window says which.
    let both = told(&[(ReaderSign::Flag, Ok(true)), (ReaderSign::Jaws, Ok(true))]);
    assert_eq!(both.present(), Some(ScreenReader::Jaws));
}

#[test]
fn each_reader_is_known_by_its_process() {
    for (words, reader) in [
        (
            &["/usr/bin/python3", "/usr/bin/orca"][..],
            ScreenReader::Orca,
        ),
        (&["orca", "--replace"][..], ScreenReader::Orca),
        (&["/bin/brltty", "-b", "no"][..], ScreenReader::Brltty),
        (&["/usr/sbin/espeakup"][..], ScreenReader::Speakup),
        (
            &["python3.11", "-u", "/usr/bin/fenrir"][..],
            ScreenReader::Fenrir,
        ),
    ] {
        let (_folder, signs) = machine();
        runs(&signs, 77, words);
        assert_eq!(look(&signs).present(), Some(reader), "{words:?}");
    }
}

#[test]
fn speakup_is_known_by_its_synthesizer_and_reads_no_desktop() {
    for (synth, desktop, found) in [
        ("soft\n", false, Some(ScreenReader::Speakup)),
        ("none\n", false, None),
        ("soft\n", true, None),
    ] {
        let (_folder, mut signs) = machine();
        fs::write(&signs.synth, synth).unwrap();
        signs.desktop = desktop;
        assert_eq!(look(&signs).present(), found, "{synth:?} {desktop}");
    }
}

#[test]
fn a_process_list_that_cannot_be_read_is_told() {
    let (_folder, mut signs) = machine();
    signs.processes = signs.processes.join("missing");
    let survey = look(&signs);
    assert_eq!(survey.present(), None);
    let unknown = |look: &&CheckedPlace| matches!(look.sight, ReaderPresence::Unknown { .. });
    assert_eq!(survey.looks.iter().filter(unknown).count(), PROCESSES.len());
}

/// Creates a bus that sends a fixed answer, whatever it is asked.
fn scripted(answer: &'static [u8]) -> (tempfile::TempDir, ReaderPlaces) {
    let (folder, mut signs) = machine();
    let path = folder.path().join("bus");
    let listener = UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let _ = socket.write_all(answer);
        // It stays open until the other side closes.
        let _ = socket.read_to_end(&mut Vec::new());
    });
    signs.bus = address(&path);
    (folder, signs)
}

#[test]
fn a_bus_that_is_silent_or_talks_nonsense_delays_nothing_and_is_told() {
    let huge = b"OK 1\r\nl\x02\x01\x01\xff\xff\xff\xff\x01\0\0\0\xff\xff\xff\xff";
    let field = b"OK 1\r\nl\x02\x01\x01\0\0\0\0\x01\0\0\0\x08\0\0\0\x09\x01zz\0\0\0\0";
    let end = b"OK 1\r\nl\x02\x01\x01\0\0\0\0\x01\0\0\0\x08\0\0\0\x01\x01o\0\xff\xff\xff\xff";
    let answers: [&[u8]; 6] = [
        b"",
        b"REJECTED EXTERNAL\r\n",
        &[b'x'; 4096],
        huge,
        field,
        end,
    ];
    for answer in answers {
        let (_folder, signs) = scripted(answer);
        let begun = Instant::now();
        let survey = look(&signs);
        assert!(begun.elapsed() < BUS_LIMIT * 4, "{:?}", begun.elapsed());
        assert!(
            matches!(bus_sight(&survey), ReaderPresence::Unknown { .. }),
            "{answer:?}: {survey:?}"
        );
    }
}

#[test]
fn a_bus_that_is_away_or_elsewhere_is_told() {
    let (folder, mut signs) = machine();
    for bus in [
        address(&folder.path().join("nobody")),
        Some("tcp:host=example.invalid,port=1".into()),
        Some("unix:path=%zz".into()),
    ] {
        signs.bus = bus;
        assert!(matches!(
            bus_sight(&look(&signs)),
            ReaderPresence::Unknown { .. }
        ));
    }
}

/// A hand-written client on a real bus: it owns names and answers one property.
struct Answerer {
    bytes: Vec<u8>,
}

impl Answerer {
    /// Answers the calls of one connection in order: Hello, NameHasOwner, Get.
    fn new(big_endian: bool, orca: u32, enabled: Option<u32>) -> Self {
        let word = |value: u32| {
            if big_endian {
                value.to_be_bytes()
            } else {
                value.to_le_bytes()
            }
        };
        let mut bytes = b"OK 0123\r\n".to_vec();
        let mut message = |kind: u8, answers: Option<u32>, body: &[u8]| {
            bytes.extend([if big_endian { b'B' } else { b'l' }, kind, 0, 1]);
            bytes.extend(word(u32::try_from(body.len()).unwrap()));
            bytes.extend(word(9));
            // The sender's name precedes the relevant field, which needs padding.
            let mut fields = vec![7, 1, b's', 0];
            fields.extend(word(4));
            fields.extend(b"org.\0\0\0\0");
            if let Some(answers) = answers {
                fields.extend([5, 1, b'u', 0]);
                fields.extend(word(answers));
            }
            bytes.extend(word(u32::try_from(fields.len()).unwrap()));
            fields.resize(fields.len().next_multiple_of(8), 0);
            bytes.extend(fields);
            bytes.extend(body);
        };
        message(2, Some(1), b"");
        // A signal comes in between, like the one that the bus sends for a new client's name.
        message(4, None, b"ignored");
        message(2, Some(2), &word(orca));
        match enabled {
            Some(enabled) => {
                let mut body = vec![1, b'b', 0, 0];
                body.extend(word(enabled));
                message(2, Some(3), &body);
            }
            None => message(3, Some(3), b""),
        }
        Self { bytes }
    }

    fn survey(self) -> Survey {
        let (_folder, signs) = scripted(self.bytes.leak());
        look(&signs)
    }
}

#[test]
fn the_bus_tells_of_orca_of_any_reader_and_of_none() {
    for big_endian in [false, true] {
        for (orca, enabled, found) in [
            (1, Some(1), Some(ScreenReader::Orca)),
            (1, None, Some(ScreenReader::Orca)),
            (0, Some(1), Some(ScreenReader::Unnamed)),
            (0, Some(0), None),
            (0, None, None),
        ] {
            let survey = Answerer::new(big_endian, orca, enabled).survey();
            assert_eq!(survey.present(), found, "{orca} {enabled:?}: {survey:?}");
            assert!(!matches!(
                bus_sight(&survey),
                ReaderPresence::Unknown { .. }
            ));
        }
    }
}

#[test]
fn a_reader_with_a_name_goes_before_one_without() {
    let (_folder, signs) = scripted(Answerer::new(false, 0, Some(1)).bytes.leak());
    runs(&signs, 77, &["brltty"]);
    assert_eq!(look(&signs).present(), Some(ScreenReader::Brltty));
}

/// The tests that need a real bus, which a newcomer's machine may lack.
mod real {
    use std::os::unix::net::UnixStream;
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// A daemon that ends with the test.
    struct BusDaemon(Child);

    impl Drop for BusDaemon {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    #[ignore = "wants a real bus: .ci/run installs one"]
    fn a_real_bus_understands_the_questions() {
        let (folder, mut signs) = machine();
        let path = folder.path().join("real");
        let started = Command::new("dbus-daemon")
            .args(["--session", "--nofork", "--nopidfile", "--address"])
            .arg(format!("unix:path={}", path.display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let _daemon = BusDaemon(started.expect("dbus-daemon starts"));
        let end = Instant::now() + Duration::from_secs(10);
        while UnixStream::connect(&path).is_err() {
            assert!(Instant::now() < end, "the bus never came");
            std::thread::yield_now();
        }
        signs.bus = address(&path);
        assert_eq!(bus_sight(&look(&signs)), &ReaderPresence::Absent);
    }
}
