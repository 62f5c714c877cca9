//! The check of a live stream: a link's events go into the same report as the lines of a capture.
//!
//! Responsibilities: following one source as a run does, but without answering, and handing each event to the
//! checker as it arrived; connection news go to standard error. Not here: what is checked (`inspect`), files and
//! standard input (`capture_commands`), how a source is followed (`app`, `transport`).

use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use crate::announce::AnnouncementKind;
use crate::app::{App, Effect, Input, RecordedFact};
use crate::cli::Options;
use crate::config::{FaceChoice, VoiceChoice};
use crate::dialect;
use crate::inspect::{Checker, Verdict, Wording};
use crate::link::LinkEvent;
use crate::protocol::Now;

use super::capture_commands::{self, FindingWriter};
use super::run_plan::{self, Plan};
use super::source_feed::SourceFeeds;

/// Returns whether the argument is a live stream: an address, or the name of a source in the settings. An
/// existing file is always a file, whatever its name.
///
/// # Errors
/// When it is written like an address but is not a valid one.
fn is_live(source: &Path, options: &Options) -> anyhow::Result<bool> {
    let text = source.to_string_lossy();
    if text == "-" || source.exists() && !super::source_links::is_socket(source) {
        return Ok(false);
    }
    let config = super::settings_file::load(options.config.as_deref())?;
    if config.source.iter().any(|own| own.name == text) {
        return Ok(true);
    }
    match super::source_links::read(&text, &config.links) {
        Ok(source) => Ok(source.is_live()),
        // The code that opens a capture reports a missing one.
        Err(crate::transport::SourceError::NoSuchFile { .. }) if config.source.is_empty() => {
            Ok(false)
        }
        Err(error) => anyhow::bail!(super::source_links::unknown(&text, error, &config)),
    }
}

/// Checks a capture, or a live stream if given an address or the name of a source.
///
/// # Errors
/// When the source can't be read, or the report can't be written.
pub async fn check(
    source: &Path,
    json: bool,
    strict: bool,
    options: &Options,
    wording: &dyn Wording,
) -> anyhow::Result<Verdict> {
    if is_live(source, options)? {
        stream(source, json, strict, options, wording).await
    } else {
        capture_commands::check(source, json, strict, wording)
    }
}

/// Checks a live stream until it ends, reaches its bound or is interrupted, writing each finding as it is made;
/// questions are not answered.
///
/// # Errors
/// When the source or the settings can't be used, or the report can't be written.
async fn stream(
    source: &Path,
    json: bool,
    strict: bool,
    options: &Options,
    wording: &dyn Wording,
) -> anyhow::Result<Verdict> {
    let options = Options {
        face: Some(FaceChoice::Json),
        voice: Some(VoiceChoice::None),
        // Waiting for a lost server to return would only delay the report on what it sent.
        retries: Some(0),
        ..options.clone()
    };
    let words = [source.to_string_lossy().into_owned()];
    let plan = run_plan::watch(&words, Vec::new(), &options)?;
    let mut report = FindingWriter::live(json, wording);
    let mut checker = Checker::new();
    follow(plan, &mut checker, &mut report).await?;
    let (items, summary) = checker.finish();
    report.write(items)?;
    report.close(&summary, strict)?;
    Ok(summary.verdict(strict))
}

/// Follows the source, and passes its events to the checker.
async fn follow(
    mut plan: Plan,
    checker: &mut Checker,
    report: &mut FindingWriter<'_>,
) -> anyhow::Result<()> {
    let started = Instant::now();
    let now = move || Now {
        monotonic: started.elapsed(),
        wall: jiff::Timestamp::now(),
    };
    // Neither standard input nor rules in the settings give answers here.
    plan.setup.lines = None;
    plan.setup.is_recorded = true;
    plan.setup.config.policy.clear();
    let mut feeds = SourceFeeds::open(plan.feeds, plan.links)?;
    let mut app = App::new(plan.setup);
    let mut input = Some(Input::Start);
    let mut goes_on = true;
    while goes_on {
        if let Some(input) = input.take() {
            let came = if let Input::Link { event, .. } = &input
                && let LinkEvent::Frame(frame) = event
            {
                Some(frame.text.clone())
            } else {
                None
            };
            let before = unread(&app);
            let effects = app.update(input, now());
            let mut lines = Vec::new();
            for effect in effects {
                match effect {
                    Effect::Keep {
                        kept: RecordedFact::Event(text),
                        ..
                    } => lines.extend(dialect::recordable(&text)),
                    Effect::Show(told) if told.kind == AnnouncementKind::Connection => {
                        // A closed standard error is no reason to stop checking.
                        let _ = writeln!(std::io::stderr(), "hearken: {}", told.text());
                    }
                    Effect::Link { link, order } => feeds.carry_out(link, order),
                    Effect::Quit(_) => goes_on = false,
                    // No face, voice or recording is in use.
                    Effect::Show(_)
                    | Effect::Keep { .. }
                    | Effect::Speak(_)
                    | Effect::Hush
                    | Effect::Bell
                    | Effect::Notify(_)
                    | Effect::Withdraw(_)
                    | Effect::Farewell(_)
                    | Effect::Copy(_)
                    | Effect::Title(_)
                    | Effect::Remember(_)
                    | Effect::Edit { .. }
                    | Effect::FlushInput => {}
                }
            }
            if lines.is_empty() && unread(&app) > before {
                // A frame that no dialect can turn into an event is itself an error.
                lines.extend(came);
            }
            for line in lines {
                goes_on &= report.write(checker.line(&line))?;
            }
            continue;
        }
        let deadline = app.deadline().and_then(|at| started.checked_add(at));
        tokio::select! {
            biased;
            // An interrupt still reports the findings so far.
            _ = tokio::signal::ctrl_c() => goes_on = false,
            () = super::until(deadline) => input = Some(Input::Deadline),
            news = feeds.next(), if !app.is_reading() => input = Some(news),
        }
    }
    feeds.close().await;
    Ok(())
}

/// Returns how many frames could not be read.
fn unread(app: &App) -> u64 {
    app.links().iter().map(|view| view.garbage).sum()
}
