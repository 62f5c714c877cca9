//! The check of a live stream: what comes over a link goes into the same report as the lines of a capture.
//!
//! Responsibilities: following one source as a run does, with nobody who answers, and handing each event to
//! the checker as it came; news of the connection go to standard error. Not here: what is looked for (`inspect`),
//! files and standard input (`look`), how a source is followed (`app`, `transport`).

use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use crate::announce::Kind;
use crate::app::{App, Effect, Input, Kept};
use crate::cli::Options;
use crate::config::{FaceChoice, VoiceChoice};
use crate::dialect;
use crate::inspect::{Checker, Verdict, Wording};
use crate::link::LinkEvent;
use crate::protocol::Now;

use super::feed::Feeds;
use super::look::{self, Report};
use super::plan::{self, Plan};

/// Returns whether what is to be checked is a live stream: an address, or a source of the settings by its name.
/// What is a file stays one, whatever it is called.
///
/// # Errors
/// When it is written like an address and can't be one.
fn is_live(source: &Path, options: &Options) -> anyhow::Result<bool> {
    let text = source.to_string_lossy();
    if text == "-" || source.exists() && !super::sources::is_socket(source) {
        return Ok(false);
    }
    let config = super::settings::load(options.config.as_deref())?;
    if config.source.iter().any(|own| own.name == text) {
        return Ok(true);
    }
    match super::sources::read(&text, &config.links) {
        Ok(source) => Ok(source.is_live()),
        // A capture that is not there is told by what opens it.
        Err(crate::transport::SourceError::NoSuchFile { .. }) if config.source.is_empty() => {
            Ok(false)
        }
        Err(error) => anyhow::bail!(super::sources::unknown(&text, error, &config)),
    }
}

/// Checks a capture, or a live stream where an address or the name of a source is given.
///
/// # Errors
/// When it can't be read, or the report can't be written.
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
        look::check(source, json, strict, wording)
    }
}

/// Checks a live stream until it ends, its bound is reached or somebody interrupts, and writes each finding as it
/// comes; nothing that is asked is answered.
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
        // Who waits for a server to come back would not learn what it sent.
        retries: Some(0),
        ..options.clone()
    };
    let words = [source.to_string_lossy().into_owned()];
    let plan = plan::watch(&words, Vec::new(), &options)?;
    let mut report = Report::live(json, wording);
    let mut checker = Checker::new();
    follow(plan, &mut checker, &mut report).await?;
    let (items, summary) = checker.finish();
    report.write(items)?;
    report.close(&summary, strict)?;
    Ok(summary.verdict(strict))
}

/// Follows the source, and hands over what comes.
async fn follow(
    mut plan: Plan,
    checker: &mut Checker,
    report: &mut Report<'_>,
) -> anyhow::Result<()> {
    let started = Instant::now();
    let now = move || Now {
        monotonic: started.elapsed(),
        wall: jiff::Timestamp::now(),
    };
    // Neither standard input nor a rule of the settings answers here.
    plan.setup.lines = None;
    plan.setup.keeps = true;
    plan.setup.config.policy.clear();
    let mut feeds = Feeds::open(plan.feeds, plan.links)?;
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
                        kept: Kept::Event(text),
                        ..
                    } => lines.extend(dialect::recordable(&text)),
                    Effect::Show(told) if told.kind == Kind::Connection => {
                        // Nobody who reads the news is no reason to stop checking.
                        let _ = writeln!(std::io::stderr(), "hearken: {}", told.text());
                    }
                    Effect::Send {
                        link,
                        request,
                        body,
                    } => feeds.send(link, request, body),
                    Effect::Hand {
                        link,
                        request,
                        message,
                    } => feeds.hand(link, request, message),
                    Effect::Call {
                        link,
                        request,
                        call,
                    } => feeds.call(link, request, call),
                    Effect::Respond {
                        link,
                        id,
                        request,
                        body,
                    } => feeds.respond(link, id, request, body),
                    Effect::Follow { link, stream } => feeds.follow(link, stream),
                    Effect::Refuse { link, fault } => feeds.refuse(link, fault),
                    Effect::LastWords { link, words } => feeds.last_words(link, words),
                    Effect::ChangeWay { link, way } => feeds.change_way(link, &way),
                    Effect::Close(link) => feeds.leave(link),
                    Effect::Quit(_) => goes_on = false,
                    // There is no face, no voice and no recording.
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
                // What no dialect could make an event of is an error as it stands.
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
            // Who interrupts wants to know what was found until then.
            _ = tokio::signal::ctrl_c() => goes_on = false,
            () = super::until(deadline) => input = Some(Input::Deadline),
            news = feeds.next(), if !app.is_reading() => input = Some(news),
        }
    }
    feeds.close().await;
    Ok(())
}

/// Counts the frames that nobody could read.
fn unread(app: &App) -> u64 {
    app.links().iter().map(|view| view.garbage).sum()
}
