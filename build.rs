//! Finds the phrase files, so that a file in `assets` is all that a language takes.

use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("assets");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let tag = name
            .as_deref()
            .and_then(|name| name.strip_prefix("phrases.")?.strip_suffix(".toml"));
        if let Some(tag) = tag {
            files.push((tag.to_owned(), path));
        }
    }
    // English first, which is taken where no other suits; the others in an order that never changes.
    files.sort_by_key(|(tag, _)| (tag != "en", tag.clone()));
    let mut list = format!(
        "/// The phrase files that are built in, by language; English first, which is taken when none suits.\n\
         pub static BUILT_IN: [(&str, &str); {}] = [\n",
        files.len()
    );
    for (tag, path) in &files {
        writeln!(
            list,
            "    ({tag:?}, include_str!({:?})),",
            path.display().to_string()
        )?;
    }
    list.push_str("];\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("languages.rs"), list)?;
    Ok(())
}
