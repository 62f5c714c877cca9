//! The pictures of the full face in the README are the tests' own screens: `HEARKEN_UPDATE_DOCS=1` redraws
//! them.

use std::fs;

use hearken::config::ThemeChoice;

use crate::support::face_scenes::SCENES;
use crate::support::svg::picture;

/// Each picture: its file, its scene, its size, and a description.
const PICTURES: &[(&str, &str, (u16, u16), &str)] = &[
    ("agents", "three agents", (90, 20), AGENTS),
    ("question", "a question", (90, 28), QUESTION),
    ("second-step", "its second step", (90, 28), SECOND_STEP),
    ("small", "a question", (40, 10), SMALL),
    ("edit", "an edit's question", (90, 26), EDIT),
    ("command", "a command's question", (90, 20), COMMAND),
    ("answer", "a long answer", (90, 30), ANSWER),
    ("plan", "plans beside the work", (140, 30), PLAN),
];

const AGENTS: &str = "Three agents at work. From the top: how many agents work; what each of them does and since when; what \
happened, where each entry begins with a label or a name; the settings; the keys.";
const QUESTION: &str = "A question stands above everything else. Its head says how much time is left and who asks. Below are the \
high risk and that it can't be undone; under the agent's name what it wants to do; then what follows, what silence does, and the keys.";
const SECOND_STEP: &str =
    "The second step of accepting: below the question it says that c confirms it.";
const SMALL: &str =
    "The same question on a screen of 40 by 10, in pages: the first has the risk and the action.";
const EDIT: &str = "An edit's question: below its words are the lines that change, with their numbers, plus and minus in the margin, \
and the changed words underlined; then how many lines follow, and the keys.";
const COMMAND: &str = "A command's question begins with what hearken found, each after an exclamation mark: that it rewrites the \
repository's history and changes a remote repository; then the risk, which is unknown, and the whole command.";
const ANSWER: &str = "An agent's Markdown: a heading, a table, a list with boxes, a quotation after a bar, and code.";
const PLAN: &str = "A wide screen: beside the work are three agents, and the plan of one of them with its steps done, under way and \
open, a bar, and how long the rest may take.";

#[test]
fn the_pictures_show_what_the_program_draws() {
    let readme = fs::read_to_string("README.md").unwrap();
    for (file, scene, (columns, rows), words) in PICTURES {
        let (_, scene) = SCENES.iter().find(|(name, _)| name == scene).unwrap();
        let (buffer, ..) = scene().drawn(*columns, *rows, ThemeChoice::Terminal);
        let drawn = picture(&buffer, words);
        let path = format!("docs/screens/{file}.svg");
        if std::env::var_os("HEARKEN_UPDATE_DOCS").is_some() {
            fs::create_dir_all("docs/screens").unwrap();
            fs::write(&path, &drawn).unwrap();
        }
        assert!(
            fs::read_to_string(&path).is_ok_and(|kept| kept == drawn),
            "{path} is stale: HEARKEN_UPDATE_DOCS=1 draws it again"
        );
        let shown = format!("![{words}]({path})");
        assert!(readme.contains(&shown), "the README has not: {shown}");
    }
}
