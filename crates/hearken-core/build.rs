//! Embeds what the program would otherwise read at each start: the phrase files, so that a new language only takes a
//! file in `assets`, and the table of look-alike letters.

use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use unicode_normalization::UnicodeNormalization as _;
use unicode_security::confusable_detection::skeleton;

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
    match env::var("OUT_DIR").map_err(Box::from).and_then(|out| {
        phrases(Path::new(&out))?;
        skeletons(Path::new(&out))
    }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn phrases(out: &Path) -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../assets");
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
    // English first, as the fallback; the others in a fixed order.
    files.sort_by_key(|(tag, _)| (tag != "en", tag.clone()));
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

/// Writes the table of letters that look like another one (their skeleton by UTS 39). The library's own table
/// holds an address per letter: each start would have to relocate it and keep it in memory.
fn skeletons(out: &Path) -> Result<(), Box<dyn Error>> {
    let mut prototypes = String::new();
    let mut rows: Vec<(char, char, usize, usize)> = Vec::new();
    let mut sign = [0; 4];
    // Nothing is assigned between these ranges, and everything after them is private use.
    for letter in ('\0'..='\u{3ffff}').chain('\u{e0000}'..='\u{effff}') {
        let text = &*letter.encode_utf8(&mut sign);
        // A composed letter is decomposed before it is looked up.
        if !text.nfd().eq([letter]) {
            continue;
        }
        let seen: String = skeleton(text).collect();
        if seen == text {
            continue;
        }
        let at = prototypes.find(&seen).unwrap_or_else(|| {
            prototypes.push_str(&seen);
            prototypes.len() - seen.len()
        });
        match rows.last_mut() {
            Some((_, last, place, length))
                if (*place, *length) == (at, seen.len())
                    && (*last..=letter).nth(1) == Some(letter) =>
            {
                *last = letter;
            }
            _ => rows.push((letter, letter, at, seen.len())),
        }
    }
    let mut table = format!(
        "/// The letters that are not seen as themselves, from one to another: where in [`PROTOTYPES`] they stand, and how many \
         bytes they take there.\n\
         static SKELETONS: [(char, char, u16, u8); {}] = [\n",
        rows.len()
    );
    for (first, last, at, length) in rows {
        let (first, last) = (first.escape_unicode(), last.escape_unicode());
        writeln!(table, "    ('{first}', '{last}', {at}, {length}),")?;
    }
    writeln!(
        table,
        "];\n/// How they are seen.\nstatic PROTOTYPES: &str = {prototypes:?};"
    )?;
    fs::write(out.join("skeletons.rs"), table)?;
    Ok(())
}
