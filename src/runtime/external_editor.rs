//! The person's own editor, which has the terminal for a while.
//!
//! Responsibilities: which program that is, the file that it edits, reading the result. Not here: handing over the
//! terminal and taking it back (`input_facts`, `face_output`), using the text (`app`).
//!
//! Mental model: agents, questions and the voice carry on meanwhile; only the terminal belongs to the editor. The
//! edited text comes back into the line, and closing an editor sends nothing.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::process::{Child, Command};

use crate::announce::Reason;
use crate::platform::files::{create_for_owner, to_start};
use crate::platform::processes::ask_to_end;
use crate::platform::program_places;
use crate::voice::command_words;

use super::face_output::FaceOutput;
use super::input_facts::Inputs;
use super::request_failure::RequestFailure;
use super::shown;

/// How long the editor may take to close when this program ends.
const ENDS: Duration = Duration::from_secs(1);

/// An open editor.
pub(super) struct Editor {
    child: Child,
    file: PathBuf,
    most: usize,
    /// Whether the file is the only copy of the text and must be kept.
    keep: bool,
}

impl Editor {
    /// Hands the terminal to the person's editor, with a text to edit.
    ///
    /// # Errors
    /// When no editor is named, or it can't be started; the caller must then take the terminal back (`face_output`).
    pub(super) fn open(
        text: &str,
        most: usize,
        inputs: &mut Inputs,
        output: &mut FaceOutput,
    ) -> Result<Self, Reason> {
        let line = named().ok_or_else(|| Reason::new("prompt.editor.none"))?;
        let mut words = command_words::split(&line)
            .map_err(|unfinished| unfinished.reason())?
            .into_iter();
        let name = words.next().unwrap_or_default();
        let file = make(text)?;
        output.give_back();
        let child = match inputs.lend() {
            true => {
                let mut command = Command::new(to_start(OsStr::new(&name)));
                if let Some(path) = program_places::path() {
                    command.env("PATH", path);
                }
                command.args(words).arg(&file).kill_on_drop(true).spawn()
            }
            false => Err(io::ErrorKind::ResourceBusy.into()),
        };
        let reason = match child {
            Ok(child) => {
                return Ok(Self {
                    child,
                    file,
                    most,
                    keep: false,
                });
            }
            Err(error) => Reason::new("prompt.editor.not_started")
                .with("name", name)
                .because("why", Reason::of_system(&error)),
        };
        remove(&file);
        inputs.take_back();
        Err(reason)
    }

    /// Waits until the editor is closed, and returns the text it left.
    ///
    /// # Errors
    /// When the editor reports failure, or its text can't be used.
    pub(super) async fn closed(&mut self) -> Result<String, Reason> {
        let status = self.child.wait().await;
        let status = status.map_err(|error| Reason::of_system(&error))?;
        if !status.success() {
            return Err(Reason::new("prompt.editor.ended_badly"));
        }
        let unread = |error| {
            RequestFailure::unreadable(&self.file, Reason::of_reading(&error))
                .reason()
                .clone()
        };
        let mut bytes = Vec::new();
        let file = File::open(&self.file).map_err(unread)?;
        let most = self.most as u64;
        file.take(most + 1)
            .read_to_end(&mut bytes)
            .map_err(unread)?;
        if bytes.len() > self.most {
            self.keep = true;
            return Err(Reason::new("prompt.editor.too_long")
                .with("limit", self.most)
                .with("path", shown(&self.file)));
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(text),
            Err(_) => {
                self.keep = true;
                Err(Reason::new("prompt.editor.no_text").with("path", shown(&self.file)))
            }
        }
    }

    /// Asks the editor to close, because this program ends.
    pub(super) async fn end(mut self) {
        if ask_to_end(&mut self.child) {
            let _ = tokio::time::timeout(ENDS, self.child.wait()).await;
        }
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        if !self.keep {
            remove(&self.file);
        }
    }
}

/// Returns the command line of the person's editor, found the way other programs do.
fn named() -> Option<String> {
    let named = ["VISUAL", "EDITOR"].into_iter();
    named
        .filter_map(|name| std::env::var(name).ok())
        .find(|line| !line.trim().is_empty())
}

/// Creates a file that only the person can access, with the text so far.
fn make(text: &str) -> Result<PathBuf, Reason> {
    let mut seed = [0; 8];
    let filled = getrandom::fill(&mut seed);
    let path = std::env::temp_dir();
    let path = path.join(format!("hearken-{:016x}.md", u64::from_ne_bytes(seed)));
    let failed = |error: &io::Error| RequestFailure::unwritable(&path, error).reason().clone();
    filled.map_err(|_| failed(&io::ErrorKind::Other.into()))?;
    let mut file = create_for_owner(&path).map_err(|error| failed(&error))?;
    let written = file.write_all(text.as_bytes());
    if let Err(error) = written {
        remove(&path);
        return Err(failed(&error));
    }
    Ok(path)
}

fn remove(path: &Path) {
    // The file may already be gone.
    let _ = std::fs::remove_file(path);
}
