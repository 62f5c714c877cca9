//! Reading the settings file and the token.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::config::Config;
use crate::transport::Secret;

/// The largest settings or token file that is read.
const LARGEST: u64 = 1024 * 1024;

/// Reads the settings: the named file, else the person's own, else the defaults.
///
/// # Errors
/// When the named file can't be read, or either is not valid.
pub fn load(named: Option<&Path>) -> anyhow::Result<Config> {
    let path = match named {
        Some(path) => path.to_owned(),
        None => match own_file() {
            Some(path) if path.exists() => path,
            Some(_) | None => return Ok(Config::default()),
        },
    };
    let text = read(&path).with_context(|| format!("{} can't be read", path.display()))?;
    Config::from_toml(&text).with_context(|| path.display().to_string())
}

/// Gives the place of the person's own settings file.
pub fn own_file() -> Option<PathBuf> {
    let base = std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config")))?;
    Some(base.join("hearken").join("config.toml"))
}

/// Reads the bearer token from an environment variable or a file; it is never an argument.
///
/// # Errors
/// When it is asked for and not there. The error names the place, never the token.
pub fn token(variable: Option<&str>, file: Option<&Path>) -> anyhow::Result<Option<Secret>> {
    let text = match (variable, file) {
        (Some(name), _) => std::env::var(name)
            .with_context(|| format!("the environment variable {name} is not set"))?,
        (None, Some(path)) => {
            read(path).with_context(|| format!("{} can't be read", path.display()))?
        }
        (None, None) => return Ok(None),
    };
    if text.trim().is_empty() {
        bail!("the token is empty");
    }
    Ok(Some(Secret::new(&text)))
}

fn read(path: &Path) -> anyhow::Result<String> {
    let size = std::fs::metadata(path)?.len();
    if size > LARGEST {
        bail!("it is larger than {LARGEST} bytes");
    }
    Ok(std::fs::read_to_string(path)?)
}
