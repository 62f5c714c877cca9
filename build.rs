//! Builds the phrase files in, so that a file in `assets` is all that a language takes.

use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

#[path = "src/announce/words/digest.rs"]
mod digest;
#[path = "src/announce/words/template.rs"]
#[allow(
    dead_code,
    reason = "a phrase is only checked here, and said in the program"
)]
mod template;

#[allow(
    clippy::print_stderr,
    reason = "it is where cargo shows what a build says"
)]
fn main() -> ExitCode {
    match build_in() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn build_in() -> Result<(), Box<dyn Error>> {
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
    let out = env::var("OUT_DIR")?;
    let out = Path::new(&out);
    let mut list = format!(
        "/// The phrase files that are built in, by language; English first, which is taken when none suits.\n\
         pub static BUILT_IN: [BuiltIn; {}] = [\n",
        files.len()
    );
    for (tag, path) in &files {
        let shown = path.display();
        let digest = digest::digest(&fs::read_to_string(path)?)
            .map_err(|problem| format!("{shown}: {problem}"))?;
        if digest.language != *tag {
            let named = digest.language;
            return Err(format!("{shown} says that its language is {named:?}").into());
        }
        let (phrases, rest) = (format!("phrases.{tag}"), format!("rest.{tag}"));
        fs::write(out.join(&phrases), digest.phrases)?;
        fs::write(out.join(&rest), digest.rest)?;
        writeln!(
            list,
            "    BuiltIn {{ tag: {tag:?}, phrases: include_str!({phrases:?}), rest: include_str!({rest:?}) }},",
        )?;
    }
    list.push_str("];\n");
    fs::write(out.join("languages.rs"), list)?;
    Ok(())
}
