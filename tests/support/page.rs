//! How the generated parts of documents are laid out.

/// How many columns a line of a document may have.
pub const COLUMNS: usize = 100;

/// Wraps the entries of lists at 100 columns, as the rest of a page is.
pub fn wrapped(text: &str) -> String {
    let mut page = String::new();
    for line in text.lines() {
        let mut rest = line;
        let mut indent = "";
        while line.starts_with("- ") && indent.len() + rest.chars().count() > COLUMNS {
            let most = rest.char_indices().nth(COLUMNS + 1 - indent.len());
            let most = most.map_or(rest.len(), |(at, _)| at);
            let Some(at) = rest[..most].rfind(' ').filter(|at| *at > 1) else {
                break;
            };
            page.push_str(&format!("{indent}{}\n", &rest[..at]));
            (rest, indent) = (&rest[at + 1..], "  ");
        }
        page.push_str(&format!("{indent}{rest}\n"));
    }
    page
}
