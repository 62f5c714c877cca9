//! Reading the settings file and the token.

use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::announce::Reason;
use crate::config::{self, AnswerRule, Config, Delivery, Dialect, KeysConfig, SourceConfig};
use crate::dialect::{Credential, Descriptor};
use crate::platform::{files, put_for_owner};
use crate::protocol::KeyRing;
use crate::transport::Secret;

use super::request_failure::{self, RequestFailure};

/// The largest settings or token file that is read, in bytes.
const LARGEST: u64 = 1024 * 1024;

/// Reads the settings: the named file, else the person's own, else the defaults.
///
/// # Errors
/// When the named file can't be read, or the file is not valid.
pub fn load(named: Option<&Path>) -> anyhow::Result<Config> {
    match text(named)? {
        Some((path, text)) => Config::from_toml(&text).with_context(|| path.display().to_string()),
        None => Ok(Config::default()),
    }
}

/// Returns the path and text of the named file, else of the person's own; `None` if that does not exist.
///
/// # Errors
/// When the file can't be read.
pub fn text(named: Option<&Path>) -> Result<Option<(PathBuf, String)>, RequestFailure> {
    let path = match named {
        Some(path) => path.to_owned(),
        None => match own_file() {
            Some(path) if path.exists() => path,
            Some(_) | None => return Ok(None),
        },
    };
    let text = read(&path).map_err(|why| RequestFailure::unreadable(&path, why))?;
    Ok(Some((path, text)))
}

/// Applies the remembered voice settings, if there are any, on top of the settings file.
///
/// # Errors
/// When the file exists but can't be read; the error names it, so that it can be removed.
pub fn recall(config: &mut Config) -> Result<(), RequestFailure> {
    let Some(path) = state_file().filter(|path| path.exists()) else {
        return Ok(());
    };
    let delivery = recalled(&path).map_err(|why| {
        let failure = RequestFailure::new("call.memory").with("path", path.display());
        failure.because(why)
    })?;
    config.voice.take(&delivery);
    Ok(())
}

fn recalled(path: &Path) -> Result<Delivery, Reason> {
    let Ok(delivery) = toml::from_str::<Delivery>(&read(path)?) else {
        return Err(Reason::new("call.memory.foreign"));
    };
    if !delivery.is_sound() {
        return Err(Reason::new("call.memory.range"));
    }
    Ok(delivery)
}

/// Saves how the voice should sound, readable by the person alone; returns the file's name.
///
/// # Errors
/// When there is no place for it, or it can't be written.
pub fn remember(delivery: &Delivery) -> Result<String, RequestFailure> {
    let path = state_file().ok_or_else(|| RequestFailure::new("call.memory.no_place"))?;
    written(&path, delivery).map_err(|error| RequestFailure::unwritable(&path, &error))?;
    Ok(path.display().to_string())
}

fn written(path: &Path, delivery: &Delivery) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    files::folder_for_owner(folder)?;
    let text = format!(
        "# Written by hearken when it was asked to remember. Remove it to forget.\n{}",
        toml::to_string(delivery).map_err(std::io::Error::other)?
    );
    put_for_owner(path, &text)
}

/// Removes the remembered speed, which would take precedence over that of the settings.
///
/// # Errors
/// When what is remembered can't be read or written.
pub fn forget_rate() -> Result<(), RequestFailure> {
    let Some(path) = state_file().filter(|path| path.exists()) else {
        return Ok(());
    };
    let mut delivery = recalled(&path).map_err(|why| RequestFailure::unreadable(&path, why))?;
    if delivery.rate.take().is_some() {
        remember(&delivery)?;
    }
    Ok(())
}

/// Returns the path of the remembered voice settings.
pub fn state_file() -> Option<PathBuf> {
    state_folder().map(|folder| folder.join("voice.toml"))
}

/// Returns the folder for hearken's own state.
pub fn state_folder() -> Option<PathBuf> {
    Some(files::state()?.join("hearken"))
}

/// Returns the path of the person's own settings file.
pub fn own_file() -> Option<PathBuf> {
    Some(files::settings()?.join("hearken").join("config.toml"))
}

/// Reads the bearer token from an environment variable or a file; it is never an argument.
///
/// # Errors
/// When the token is requested but missing. The error names the place, never the token.
pub fn token(
    variable: Option<&str>,
    file: Option<&Path>,
) -> Result<Option<Secret>, RequestFailure> {
    let text = match (variable, file) {
        (Some(name), _) => std::env::var(name)
            .map_err(|_| RequestFailure::new("call.variable").with("name", name))?,
        (None, Some(path)) => read(path).map_err(|why| RequestFailure::unreadable(path, why))?,
        (None, None) => return Ok(None),
    };
    if text.trim().is_empty() {
        return Err(RequestFailure::new("call.token.empty"));
    }
    Ok(Some(Secret::new(&text)))
}

/// Returns whether an opencode password is set in opencode's own variable.
pub(crate) fn has_opencode_password() -> bool {
    match Descriptor::of(Dialect::Opencode).map(|row| row.credential) {
        Some(Credential::Password { variable, .. }) => {
            std::env::var_os(variable).is_some_and(|password| !password.is_empty())
        }
        Some(Credential::Token) | None => false,
    }
}

/// Returns the credential for a source: the token named for it. For a protocol with passwords, the token is the
/// password; if none is named, the protocol's own variable is used.
///
/// # Errors
/// When the password is empty.
pub fn credential(
    dialect: Dialect,
    named: Option<Secret>,
) -> Result<Option<Secret>, RequestFailure> {
    match Descriptor::of(dialect).map(|row| row.credential) {
        None | Some(Credential::Token) => Ok(named),
        Some(Credential::Password {
            variable,
            user_variable,
            user,
        }) => {
            let own = std::env::var_os(variable).map(|_| variable);
            let secret = match named {
                Some(named) => Some(named),
                None => token(own, None)?,
            };
            let user = std::env::var(user_variable).unwrap_or_else(|_| user.to_owned());
            Ok(secret.map(|secret| secret.of_user(&user)))
        }
    }
}

/// Returns the token of a source in the settings: its own if it names one, an environment variable before a file. The
/// call's token is for the source that the call names: among several (not `alone`), a source in the settings has its
/// own or none, so that no server gets another's token.
///
/// # Errors
/// When a token is requested but missing.
pub fn token_of(
    own: &SourceConfig,
    of_the_call: impl FnOnce() -> Result<Option<Secret>, RequestFailure>,
    alone: bool,
) -> Result<Option<Secret>, RequestFailure> {
    match (own.token_env.as_deref(), own.token_file.as_deref()) {
        (None, None) if alone => of_the_call(),
        (variable, file) => token(variable, file),
    }
}

/// Reads a key binding file: the same lines as under `[keys]` in the settings.
///
/// # Errors
/// When it can't be read, or contains anything but commands with lists of keys.
pub fn keys(path: &Path) -> anyhow::Result<KeysConfig> {
    let text = read(path).map_err(|why| RequestFailure::unreadable(path, why))?;
    config::read(&text).with_context(|| path.display().to_string())
}

/// Reads a file of answer rules.
///
/// # Errors
/// When it can't be read, or contains an invalid rule: what a script was meant to answer must not be guessed.
pub fn answers(path: &Path) -> anyhow::Result<Vec<AnswerRule>> {
    let text = read(path).map_err(|why| RequestFailure::unreadable(path, why))?;
    config::answers(&text).with_context(|| path.display().to_string())
}

/// Reads the person's folder of trusted keys: `AGENT_ID.pem`, and `AGENT_ID/KEY_ID.pem` if an agent has several.
///
/// # Errors
/// When the folder or a key in it can't be read: silently skipping a key would let somebody else speak for its agent.
pub fn trusted_keys(folder: Option<&Path>) -> Result<KeyRing, RequestFailure> {
    let mut ring = KeyRing::default();
    let Some(folder) = folder else {
        return Ok(ring);
    };
    for path in listed(folder)? {
        if path.is_dir() {
            let agent = name(path.file_name());
            for key in listed(&path)? {
                add(&mut ring, &agent, &key, Some(&name(key.file_stem())))?;
            }
        } else {
            add(&mut ring, &name(path.file_stem()), &path, None)?;
        }
    }
    Ok(ring)
}

fn add(
    ring: &mut KeyRing,
    agent: &str,
    path: &Path,
    kid: Option<&str>,
) -> Result<(), RequestFailure> {
    if path.extension().is_none_or(|extension| extension != "pem") {
        return Ok(());
    }
    let pem = read(path).map_err(|why| RequestFailure::unreadable(path, why))?;
    ring.add(agent, kid, &pem)
        .map_err(|error| RequestFailure::in_file(path, request_failure::trusted(error)))
}

fn listed(folder: &Path) -> Result<Vec<PathBuf>, RequestFailure> {
    let read = || {
        let entries = std::fs::read_dir(folder)?;
        entries
            .map(|entry| Ok(entry?.path()))
            .collect::<std::io::Result<Vec<PathBuf>>>()
    };
    let mut paths =
        read().map_err(|error| RequestFailure::unreadable(folder, Reason::of_reading(&error)))?;
    paths.sort();
    Ok(paths)
}

fn name(part: Option<&std::ffi::OsStr>) -> String {
    part.map(|part| part.to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn read(path: &Path) -> Result<String, Reason> {
    let failed = |error: std::io::Error| Reason::of_reading(&error);
    let about = std::fs::metadata(path).map_err(failed)?;
    if about.len() > LARGEST {
        return Err(request_failure::too_large(LARGEST));
    }
    let file = files::open_to_read(path).map_err(failed)?;
    // Queried through the open file: its path may lead to another one by now.
    let about = file.metadata().map_err(failed)?;
    if let Some(why) = files::untrusted(&about) {
        return Err(Reason::new(why).with("name", super::shown(path)));
    }
    std::io::read_to_string(file).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_read_back_and_is_the_persons_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/hearken/voice.toml");
        let delivery = Delivery {
            rate: Some(-40),
            voice: Some("English \"A\"".into()),
            ..Delivery::default()
        };
        for delivery in [delivery, Delivery::default()] {
            written(&path, &delivery).unwrap();
            assert_eq!(recalled(&path).unwrap(), delivery);
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        let beside = std::fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(beside, 1, "nothing is left beside it");
    }

    #[test]
    fn a_broken_memory_is_a_fault_in_words() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("voice.toml");
        for text in [
            "rate = 1000",
            "rate = \"fast\"",
            "colour = 1",
            "voice = \"a\\nSTOP ALL\"",
        ] {
            std::fs::write(&path, text).unwrap();
            assert!(recalled(&path).is_err(), "{text}");
        }
        assert!(written(Path::new("/proc/hearken/voice.toml"), &Delivery::default()).is_err());
    }
}
