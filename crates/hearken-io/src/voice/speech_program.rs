//! A program that speaks: its command line for an utterance.
//!
//! Responsibilities: putting the text into an argument or the standard input, and what is known about espeak-ng. Not
//! here: running it (`command_voice`).

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

use super::{pitch, ssip};
use crate::announce::{Mark, Reason, Utterance};
use crate::config::{Knob, Punctuation};
use crate::platform::processes::alone;

/// The placeholder for the text in an argument.
const PLACE: &str = "{}";

/// A program that speaks.
#[derive(Debug, Clone)]
pub(super) struct Program {
    path: PathBuf,
    arguments: Vec<String>,
    name: String,
    style: ProgramStyle,
    own_pitch: i32,
}

/// What is known about a program beyond its command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProgramStyle {
    /// None; only its exit status counts. Environment variables tell it how the words should sound.
    Unknown,
    /// espeak-ng, which ends with success if it finds no sound device and reports that in a line
    /// that starts with "error:" (measured with 1.51). The number is from the person's own
    /// arguments, if they set it.
    Espeak {
        /// Its `-p`, 0 to 99.
        pitch: i32,
    },
    /// The `say` of macOS, known from its manual only: rate and voice are arguments.
    Say,
}

/// espeak-ng's usual pitch.
const ESPEAK_PITCH: i32 = 50;

impl Program {
    /// Builds a program from the person's setting: its path and its arguments.
    pub(super) fn given(path: PathBuf, name: &str, arguments: Vec<String>, own_pitch: i32) -> Self {
        let style = match Path::new(name).file_name().and_then(|name| name.to_str()) {
            Some("espeak-ng" | "espeak") => ProgramStyle::Espeak {
                pitch: pitch_in(&arguments),
            },
            Some("say") => ProgramStyle::Say,
            Some(_) | None => ProgramStyle::Unknown,
        };
        Self {
            path,
            arguments,
            name: name.to_owned(),
            style,
            own_pitch,
        }
    }

    /// Builds a program from the espeak-ng that was found on the machine.
    pub(super) fn espeak(path: PathBuf, name: &str, own_pitch: i32) -> Self {
        Self {
            path,
            arguments: vec!["--stdin".to_owned()],
            name: name.to_owned(),
            style: ProgramStyle::Espeak {
                pitch: ESPEAK_PITCH,
            },
            own_pitch,
        }
    }

    /// Returns which properties of its sound can be adjusted.
    pub(super) fn knobs(&self) -> Vec<Knob> {
        match self.style {
            // Whether it respects its environment is up to the person's own program.
            ProgramStyle::Unknown | ProgramStyle::Espeak { .. } => Knob::ALL.to_vec(),
            ProgramStyle::Say => vec![Knob::Rate, Knob::Voice],
        }
    }

    /// Returns what a person should know about it before it speaks.
    pub(super) fn notice(&self) -> Option<Reason> {
        match self.style {
            _ if self.own_pitch == 0 => None,
            ProgramStyle::Espeak { .. } => None,
            ProgramStyle::Unknown | ProgramStyle::Say => {
                Some(Reason::new("voice.cause.program.alike").with("name", &self.name))
            }
        }
    }

    /// Returns its name as shown to a person.
    pub(super) fn engine(&self) -> Reason {
        Reason::new("voice.engine.program").with("name", &self.name)
    }

    /// Returns the name as given.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether an error line that starts with "error:" means failure despite a successful exit.
    pub(super) fn confesses(&self) -> bool {
        match self.style {
            ProgramStyle::Unknown | ProgramStyle::Say => false,
            ProgramStyle::Espeak { .. } => true,
        }
    }

    /// Builds the command for an utterance, and the content of its standard input.
    pub(super) fn command(&self, utterance: &Utterance) -> (Command, Option<Vec<u8>>) {
        let text = plain(&utterance.text);
        let mut command = Command::new(&self.path);
        // After the person's options, because the later of two counts, and before the text.
        let text_at = self
            .arguments
            .iter()
            .position(|argument| argument == "--" || argument.contains(PLACE))
            .unwrap_or(self.arguments.len());
        let mut placed = false;
        let (options, rest) = self.arguments.split_at(text_at);
        command.args(options).args(self.sounding(utterance));
        for argument in rest {
            if argument.contains(PLACE) {
                placed = true;
                command.arg(place(argument, &text));
            } else {
                command.arg(argument);
            }
        }
        for (name, value) in self.environment(utterance) {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let input = (!placed).then(|| {
            let mut input = text.into_bytes();
            input.push(b'\n');
            input
        });
        let stdin = if placed {
            Stdio::null()
        } else {
            Stdio::piped()
        };
        command
            .stdin(stdin)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        alone(&mut command);
        (command, input)
    }

    /// Returns the arguments that make the words sound as requested.
    fn sounding(&self, utterance: &Utterance) -> Vec<String> {
        let delivery = &utterance.sound.delivery;
        let mut arguments = Vec::new();
        let mut add = |flag: &str, value: String| arguments.extend([flag.to_owned(), value]);
        match self.style {
            ProgramStyle::Unknown => {}
            ProgramStyle::Say => {
                if let Some(rate) = delivery.rate {
                    add("-r", say_words(rate).to_string());
                }
                if let Some(voice) = &delivery.voice {
                    add("-v", ssip::one_line(voice));
                }
            }
            ProgramStyle::Espeak { pitch: person } => {
                let base = espeak_scale(person);
                let pitch = pitch::of(utterance.mark, &utterance.sound, base, self.own_pitch);
                if pitch != base {
                    add("-p", espeak_pitch(pitch).to_string());
                }
                if let Some(rate) = delivery.rate {
                    add("-s", espeak_words(rate).to_string());
                }
                if let Some(volume) = delivery.volume {
                    add("-a", (volume.clamp(-100, 100) + 100).to_string());
                }
                if let Some(voice) = &delivery.voice {
                    add("-v", espeak_voice(voice, &self.arguments));
                }
                match delivery.punctuation {
                    None | Some(Punctuation::None) => {}
                    Some(Punctuation::Some) => arguments.push(format!("--punct={SOME_MARKS}")),
                    Some(Punctuation::Most) => arguments.push(format!("--punct={MOST_MARKS}")),
                    Some(Punctuation::All) => arguments.push("--punct".to_owned()),
                }
            }
        }
        arguments
    }

    /// Returns the environment variables that tell the person's own program how the words should sound.
    fn environment(&self, utterance: &Utterance) -> [(&'static str, Option<String>); 7] {
        let sound = &utterance.sound;
        let pitch = pitch::of(utterance.mark, sound, 0, self.own_pitch);
        let mark = match utterance.mark {
            Mark::Own => "own",
            Mark::Agent => "agent",
        };
        let number = |number: Option<i32>| number.map(|number| number.to_string());
        let delivery = &sound.delivery;
        [
            ("HEARKEN_MARK", Some(mark.to_owned())),
            ("HEARKEN_PITCH", Some(pitch.to_string())),
            ("HEARKEN_RATE", number(delivery.rate)),
            ("HEARKEN_VOLUME", number(delivery.volume)),
            (
                "HEARKEN_VOICE",
                delivery.voice.as_deref().map(ssip::one_line),
            ),
            (
                "HEARKEN_LANGUAGE",
                utterance
                    .language
                    .as_deref()
                    .and_then(ssip::language)
                    .map(str::to_owned),
            ),
            (
                "HEARKEN_PUNCTUATION",
                delivery.punctuation.map(|level| level.name().to_owned()),
            ),
        ]
    }
}

/// The marks that espeak-ng speaks at "some": those that change the meaning of code.
const SOME_MARKS: &str = "#$%&*+/<=>@\\^_`|~";

/// The marks that it speaks at "most": these and all others except the commonest in sentences.
const MOST_MARKS: &str = "#$%&*+/<=>@\\^_`|~\"()[]{}:;-";

/// Cleans a text, and defuses the character sequences that are commands to some engines.
///
/// espeak-ng's program reads the text between "[[" and "]]" as phonemes, and macOS's as commands: an agent could use
/// them to change its own pitch to the program's.
pub(super) fn plain(text: &str) -> String {
    let text = ssip::clean(text).replace('\n', " ");
    if !text.contains("[[") {
        return text;
    }
    let mut plain = String::with_capacity(text.len() + 8);
    let mut before = ' ';
    for sign in text.chars() {
        if sign == '[' && before == '[' {
            plain.push(' ');
        }
        plain.push(sign);
        before = sign;
    }
    plain
}

/// Inserts the text into an argument; a text at the start of an argument can't become an option.
fn place(argument: &str, text: &str) -> String {
    let placed = argument.replace(PLACE, text);
    if argument.starts_with(PLACE) && placed.starts_with('-') {
        format!(" {placed}")
    } else {
        placed
    }
}

/// Converts a pitch to espeak-ng's scale, 0 to 99 with 50 as the usual one.
fn espeak_pitch(pitch: i32) -> i32 {
    ESPEAK_PITCH + pitch.clamp(-100, 100) * 49 / 100
}

/// Converts espeak-ng's pitch to the scale of -100 to 100.
fn espeak_scale(pitch: i32) -> i32 {
    ((pitch - ESPEAK_PITCH) * 100 / 49).clamp(-100, 100)
}

/// Returns the pitch that the person's own arguments set.
fn pitch_in(arguments: &[String]) -> i32 {
    let mut numbers = option_in(arguments, "-p").filter_map(|value| value.parse::<i32>().ok());
    numbers.next_back().unwrap_or(ESPEAK_PITCH).clamp(0, 99)
}

/// Returns the values of a one-letter option, written as one word or as two.
fn option_in<'a>(
    arguments: &'a [String],
    option: &'static str,
) -> impl DoubleEndedIterator<Item = &'a str> {
    let next = arguments.iter().skip(1).map(Some).chain([None]);
    let pairs: Vec<_> = arguments.iter().zip(next).collect();
    pairs.into_iter().filter_map(move |(word, next)| {
        let joined = word.strip_prefix(option)?;
        if joined.is_empty() {
            next.map(String::as_str)
        } else {
            Some(joined)
        }
    })
}

/// Returns espeak-ng's name for a voice; SSIP's kinds become variants of the voice that the person's own arguments
/// name, otherwise of English.
///
/// A language is never turned into a voice: the program ends with an error for one that it does not know.
fn espeak_voice(name: &str, arguments: &[String]) -> String {
    let variant = match ssip::voice_type(name) {
        None => return ssip::one_line(name),
        Some("MALE2") => "+m2",
        Some("MALE3") => "+m3",
        Some("FEMALE1") => "+f1",
        Some("FEMALE2") => "+f2",
        Some("FEMALE3") => "+f3",
        Some("CHILD_MALE") => "+m4",
        Some("CHILD_FEMALE") => "+f4",
        Some(_) => "+m1",
    };
    let own = option_in(arguments, "-v").next_back().unwrap_or("en");
    let base = own.split('+').next().unwrap_or(own);
    format!("{base}{variant}")
}

/// Returns the rate of macOS's `say` in words per minute, around its usual 175.
fn say_words(rate: i32) -> i32 {
    espeak_words(rate)
}

/// Returns espeak-ng's rate in words per minute: 80 to 450 with 175 as the usual one.
fn espeak_words(rate: i32) -> i32 {
    let rate = rate.clamp(-100, 100);
    175 + if rate < 0 { rate * 95 } else { rate * 275 } / 100
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::announce::Sound;
    use crate::config::Delivery;

    #[test]
    fn a_text_at_the_start_of_an_argument_is_never_an_option() {
        assert_eq!(place("{}", "-w /etc/passwd"), " -w /etc/passwd");
        assert_eq!(place("--text={}", "-x"), "--text=-x");
        assert_eq!(place("{}: {}", "a"), "a: a");
        assert_eq!(place("-{}", "x"), "-x", "the person's own dash");
    }

    #[test]
    fn espeak_takes_the_whole_scale() {
        assert_eq!([-100, 0, 20, 100].map(espeak_pitch), [1, 50, 59, 99]);
        assert_eq!([-100, 0, 50, 100].map(espeak_words), [80, 175, 312, 450]);
    }

    fn words(program: &Program, mark: Mark, sound: Sound) -> Vec<String> {
        let utterance = Utterance {
            mark,
            sound,
            ..crate::voice::tests::utterance(1, "hello")
        };
        let (command, _) = program.command(&utterance);
        let words = command.as_std().get_args();
        words
            .map(|word| word.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn an_espeak_of_the_persons_keeps_its_own_options_and_marks_our_words() {
        let own = ["-p", "70", "-v", "de", "{}"].map(str::to_owned).to_vec();
        let program = Program::given("/bin/espeak-ng".into(), "espeak-ng", own, 20);
        let agents = words(&program, Mark::Agent, Sound::default());
        assert_eq!(agents, ["-p", "70", "-v", "de", "hello"]);
        let ours = words(&program, Mark::Own, Sound::default());
        assert_eq!(ours[..5], ["-p", "70", "-v", "de", "-p"]);
        assert!(ours[5].parse::<i32>().unwrap() >= 78, "{ours:?}");
        assert_eq!(ours.last().unwrap(), "hello", "the text stays at its place");
    }

    #[test]
    fn all_that_is_set_reaches_a_program() {
        let sound = Sound {
            delivery: Delivery {
                rate: Some(-100),
                pitch: Some(-50),
                volume: Some(0),
                voice: Some("female2".into()),
                punctuation: Some(Punctuation::All),
            },
            ..Sound::default()
        };
        let espeak = Program::espeak("/bin/espeak-ng".into(), "espeak-ng", 20);
        assert_eq!(
            words(&espeak, Mark::Agent, sound.clone()),
            [
                "--stdin", "-p", "26", "-s", "80", "-a", "100", "-v", "en+f2", "--punct"
            ]
        );
        let say = Program::given("/usr/bin/say".into(), "say", Vec::new(), 20);
        let said = words(&say, Mark::Agent, sound.clone());
        assert_eq!(said, ["-r", "80", "-v", "female2"]);
        let other = Program::given("/bin/piper".into(), "piper", Vec::new(), 20);
        let utterance = Utterance {
            mark: Mark::Own,
            sound,
            ..crate::voice::tests::utterance(1, "hello")
        };
        let (command, input) = other.command(&utterance);
        assert_eq!(input.as_deref(), Some(b"hello\n".as_slice()));
        let of = |name: &str| {
            let mut all = command.as_std().get_envs();
            all.find(|(it, _)| *it == name)
                .and_then(|(_, value)| Some(value?.to_string_lossy().into_owned()))
        };
        assert_eq!(of("HEARKEN_MARK").as_deref(), Some("own"));
        assert_eq!(of("HEARKEN_PITCH").as_deref(), Some("20"));
        assert_eq!(of("HEARKEN_RATE").as_deref(), Some("-100"));
        assert_eq!(of("HEARKEN_PUNCTUATION").as_deref(), Some("all"));
    }

    #[test]
    fn a_kind_of_voice_is_a_variant_of_the_persons_own() {
        let own = ["-vde+m3", "-p", "9"].map(str::to_owned);
        assert_eq!(espeak_voice("Female1", &own), "de+f1");
        assert_eq!(espeak_voice("child_male", &[]), "en+m4");
        assert_eq!(espeak_voice("fr-be", &own), "fr-be");
        assert_eq!((pitch_in(&own), pitch_in(&["-p33".to_owned()])), (9, 33));
        assert_eq!(pitch_in(&["-p".to_owned()]), ESPEAK_PITCH);
    }

    #[test]
    fn no_text_is_a_command_to_the_engine() {
        assert_eq!(plain("say [[h@loU]] now"), "say [ [h@loU]] now");
        assert_eq!(plain("[[[pbas 99]]]"), "[ [ [pbas 99]]]");
        assert_eq!(plain("a[0][1]"), "a[0][1]");
    }
}
