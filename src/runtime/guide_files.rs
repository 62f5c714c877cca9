//! What the guide needs from outside: the names offered in shell completion, and a folder for manual pages.
//!
//! Responsibilities: reading names from the settings, writing pages. Not here: the content of a page, and
//! which names are offered where (`guide`).

use std::path::Path;

use super::request_failure::RequestFailure;
use super::{run_plan, settings_file};

/// Returns every scenario of the demo with its title.
pub fn scenario_names() -> Vec<(String, String)> {
    run_plan::scenarios()
        .map(|info| (info.name.clone(), info.title.clone()))
        .collect()
}

/// Returns the names of the sources in the settings; none if these can't be read, which a run would report.
pub fn source_names(named: Option<&Path>) -> Vec<String> {
    let sources = settings_file::load(named).map(|config| config.source);
    let names = sources.unwrap_or_default().into_iter();
    names.map(|source| source.name).collect()
}

/// Writes manual pages, given as file names and texts, to a folder, which is created if missing.
///
/// # Errors
/// When the folder or a page can't be written.
pub fn write_pages(
    folder: &Path,
    pages: impl IntoIterator<Item = (String, String)>,
) -> Result<(), RequestFailure> {
    std::fs::create_dir_all(folder).map_err(|error| RequestFailure::unwritable(folder, &error))?;
    for (file, text) in pages {
        let path = folder.join(file);
        std::fs::write(&path, text).map_err(|error| RequestFailure::unwritable(&path, &error))?;
    }
    Ok(())
}
