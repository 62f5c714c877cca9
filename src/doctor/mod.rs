//! What is there, what is missing, and what helps: `hearken doctor`.
//!
//! Responsibilities: examining everything that a run depends on, in the same way as the run, and reporting it in
//! plain lines, one finding each, as soon as it is known. Not here: repairing anything; the parts that are
//! examined.
//!
//! Examining and reporting are separate: a part's file gathers facts, turns facts into [`DoctorFinding`]s without
//! further examining, and [`finding_lines`] turns those into lines or JSON. The command accepts the same sources and
//! flags as `hearken watch`, and reports what that would find.

use std::io::Write;
use std::path::PathBuf;

use crate::announce::Phrases;
use crate::config::{Config, ReaderChoice, SettingSource};
use crate::link::{Phrase, PhraseArg};
use crate::runtime::{self, Face, Terminals};
use crate::transport::{LinkSettings, Tls};
use crate::voice::screen_reader::{ReaderPresence, ReaderSigns, Survey};

pub mod agent_checks;
mod broker_checks;
pub mod finding_lines;
mod installed_agents;
mod remedies;
mod rule_sentences;
pub mod settings_by_source;
pub mod settings_checks;
pub mod source_checks;
pub mod terminal_checks;
pub mod voices;

use finding_lines::{DoctorFinding, DoctorTopic, Tally, because, own as name_of};
use settings_checks::{Origin, RunSettings};
use terminal_checks::Terminal;
use voices::Sentence;

/// What to examine.
#[derive(Debug, Default)]
pub struct Examination {
    /// The sources, as `hearken watch` takes them.
    pub sources: Vec<String>,
    /// The settings file named in the call.
    pub file: Option<PathBuf>,
    /// The settings that flags or variables set, each with the flag or variable.
    pub said: Vec<(String, SettingSource)>,
    /// The environment variable that contains the token.
    pub token_env: Option<String>,
    /// The file that contains the token.
    pub token_file: Option<PathBuf>,
    /// The recording to be written.
    pub record: Option<PathBuf>,
    /// The file of answer rules.
    pub answers: Option<PathBuf>,
    /// Whether to skip the test sentence.
    pub silent: bool,
    /// Whether to report settings at their defaults, too.
    pub all: bool,
    /// Whether to write JSON, one object per line.
    pub json: bool,
}

/// Examines everything and writes each finding immediately; returns whether nothing prevents work.
///
/// `lay` applies the flags' values to the settings; `words` are the person's, available even if the settings can't
/// be used.
pub async fn run(
    request: Examination,
    lay: &dyn Fn(&mut Config),
    words: Phrases,
    out: &mut (dyn Write + Send),
) -> std::io::Result<bool> {
    let mut report = FindingReport {
        out,
        words,
        json: request.json,
        tally: Tally::default(),
        fault: None,
    };
    let terminal = Terminal::look().ask();
    report.tell_all(terminal.findings());
    let settings = RunSettings::read(
        request.file.as_deref(),
        &request.said,
        runtime::settings_file::recall,
        lay,
    );
    report.tell_all(settings.findings(request.all));
    report.tell_all(rule_sentences::findings(
        &settings.config,
        request.answers.as_deref(),
    ));
    report.tell_all(settings_by_source::findings(
        &settings,
        &request.sources,
        request.all,
    ));
    let config = &settings.config;
    let (reader, seen) = reader(config.screen.reader, &settings);
    report.tell_all(seen);
    report.tell(face(&terminal, config, &request.sources, reader));
    report.tell_all(recording(&request));

    let sentence = match sentence(config) {
        Ok(sentence) => Some(sentence).filter(|_| !request.silent),
        Err(finding) => {
            report.tell(*finding);
            None
        }
    };
    voices::look(&config.voice, reader, sentence.as_ref(), &mut |finding| {
        report.tell(finding);
    })
    .await;

    match agent_checks::look().await {
        Ok(found) => report.tell_all(found),
        Err(error) => report.tell(DoctorFinding::broken(
            DoctorTopic::Agent,
            Phrase::new("doctor.words").with("why", name_of(error)),
            "doctor.words.remedy",
        )),
    }
    if let Some(links) = links(&request, config, &mut report) {
        source_checks::look(&request.sources, config, &links, &mut |finding| {
            report.tell(finding);
        })
        .await;
    }
    report.end()
}

/// Writes findings as they are made, and counts them.
struct FindingReport<'a> {
    out: &'a mut (dyn Write + Send),
    words: Phrases,
    json: bool,
    tally: Tally,
    fault: Option<std::io::Error>,
}

impl FindingReport<'_> {
    fn tell(&mut self, finding: DoctorFinding) {
        self.tally.count(&finding);
        let line = if self.json {
            finding.json(&self.words)
        } else {
            finding.line(&self.words)
        };
        self.write(&line);
    }

    fn tell_all(&mut self, findings: Vec<DoctorFinding>) {
        for finding in findings {
            self.tell(finding);
        }
    }

    /// Writes a line, unless an earlier one could not be written.
    fn write(&mut self, line: &str) {
        if self.fault.is_none() {
            let written = self.out.write_all(line.as_bytes());
            self.fault = written.and_then(|()| self.out.flush()).err();
        }
    }

    fn end(mut self) -> std::io::Result<bool> {
        let line = if self.json {
            self.tally.json()
        } else {
            self.tally.line(&self.words)
        };
        self.write(&line);
        match self.fault {
            Some(fault) => Err(fault),
            None => Ok(self.tally.is_well()),
        }
    }
}

/// Returns whether a screen reader is running, and the findings.
fn reader(choice: ReaderChoice, settings: &RunSettings) -> (bool, Vec<DoctorFinding>) {
    let said = |is: bool| {
        let origin = settings.origins.get("screen.reader");
        let how = origin.map_or(Origin::Default, |(_, origin)| origin.clone());
        let key = if is {
            "doctor.reader.said"
        } else {
            "doctor.reader.denied"
        };
        let text = Phrase::new(key).with("how", how.word());
        vec![DoctorFinding::fine(DoctorTopic::ScreenReader, text)]
    };
    match choice {
        ReaderChoice::Yes => (true, said(true)),
        ReaderChoice::No => (false, said(false)),
        ReaderChoice::Auto => {
            let survey = ReaderSigns::from_env().look();
            let ssh = std::env::var_os("SSH_CONNECTION").is_some();
            (survey.present().is_some(), surveyed(&survey, ssh))
        }
    }
}

/// Returns the findings about the places where screen readers leave signs.
fn surveyed(survey: &Survey, ssh: bool) -> Vec<DoctorFinding> {
    let part = DoctorTopic::ScreenReader;
    let first = match survey.present() {
        Some(reader) => DoctorFinding::fine(
            part,
            Phrase::new("doctor.reader").with("name", because(&reader.name())),
        ),
        None if ssh => DoctorFinding::weak(part, "doctor.reader.ssh", "doctor.reader.ssh.remedy"),
        None => DoctorFinding::fine(part, "doctor.reader.none"),
    };
    let mut found = vec![first];
    let mut absent = Vec::new();
    for look in &survey.looks {
        match &look.sight {
            ReaderPresence::Present(reader) => found.push(DoctorFinding::fine(
                part,
                Phrase::new("doctor.reader.shown")
                    .with("place", because(&look.place))
                    .with("name", because(&reader.name())),
            )),
            ReaderPresence::Absent => {
                absent.push(Phrase::new("fault.other").with("reason", because(&look.place)))
            }
            ReaderPresence::Unknown { reason } => found.push(DoctorFinding::weak(
                part,
                Phrase::new("doctor.reader.unknown")
                    .with("place", because(&look.place))
                    .with("reason", because(reason)),
                "doctor.reader.unknown.remedy",
            )),
        }
    }
    if !absent.is_empty() {
        found.push(DoctorFinding::fine(
            part,
            Phrase::new("doctor.reader.absent").with("places", PhraseArg::Phrases(absent)),
        ));
    }
    found
}

/// Returns which face a run would have, and why.
fn face(terminal: &Terminal, config: &Config, sources: &[String], reader: bool) -> DoctorFinding {
    let terminals = Terminals {
        output: terminal.output,
        input: terminal.input && !sources.iter().any(|source| source == "-"),
        dumb: terminal.is_dumb(),
    };
    let (face, why) = runtime::choose_face(config.screen.face, terminals, reader);
    let key = match face {
        Face::Full => "doctor.face.full",
        Face::Linear => "doctor.face.linear",
        Face::Json => "doctor.face.json",
    };
    if face == Face::Full && !(terminal.input && terminal.output) {
        return DoctorFinding::broken(
            DoctorTopic::Face,
            "doctor.face.impossible",
            "doctor.face.remedy",
        );
    }
    let why = PhraseArg::Phrase(Phrase::new(why));
    DoctorFinding::fine(DoctorTopic::Face, Phrase::new(key).with("why", why))
}

/// Returns whether the recording could be written.
fn recording(request: &Examination) -> Vec<DoctorFinding> {
    let Some(path) = &request.record else {
        return Vec::new();
    };
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        Some(_) | None => PathBuf::from("."),
    };
    let finding = if path.exists() {
        DoctorFinding::broken(
            DoctorTopic::Settings,
            Phrase::new("doctor.recording.exists").with("path", name_of(path.display())),
            "doctor.recording.exists.remedy",
        )
    } else if folder.is_dir() {
        DoctorFinding::fine(
            DoctorTopic::Settings,
            Phrase::new("doctor.recording").with("path", name_of(path.display())),
        )
    } else {
        DoctorFinding::broken(
            DoctorTopic::Settings,
            Phrase::new("doctor.recording.nowhere").with("path", name_of(folder.display())),
            "doctor.recording.nowhere.remedy",
        )
    };
    vec![finding]
}

/// Returns the test sentence in the person's language.
fn sentence(config: &Config) -> Result<Sentence, Box<DoctorFinding>> {
    let phrases = Phrases::for_languages(&config.announce.languages).map_err(|error| {
        Box::new(DoctorFinding::broken(
            DoctorTopic::Settings,
            Phrase::new("doctor.words").with("why", name_of(error)),
            "doctor.words.remedy",
        ))
    })?;
    Ok(Sentence(phrases))
}

/// Returns the settings for reaching sources; `None` after reporting what is missing.
fn links(
    request: &Examination,
    config: &Config,
    report: &mut FindingReport<'_>,
) -> Option<LinkSettings> {
    let token =
        runtime::settings_file::token(request.token_env.as_deref(), request.token_file.as_deref());
    let token = match token {
        Ok(token) => token,
        Err(error) => {
            report.tell(DoctorFinding::broken(
                DoctorTopic::Source,
                Phrase::new("doctor.token").with("why", because(error.reason())),
                "doctor.token.remedy",
            ));
            return None;
        }
    };
    match Tls::load(&config.links) {
        Ok(tls) => Some(LinkSettings::new(config.links.clone(), token, tls, 0)),
        Err(error) => {
            report.tell(DoctorFinding::broken(
                DoctorTopic::Source,
                Phrase::new("doctor.tls").with("why", because(&runtime::of_tls(&error))),
                "doctor.tls.remedy",
            ));
            None
        }
    }
}
