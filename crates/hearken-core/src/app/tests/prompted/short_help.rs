//! The help in lines: what can be typed now, in few words, and all of it on request.

use super::*;
use crate::keys;

/// The most words of what can be typed now.
const MOST: usize = 80;

/// Types a line, and returns what is read in response.
fn typed(stage: &mut Stage, line: &str) -> Vec<String> {
    stage.lines.clear();
    stage.type_line(line);
    std::mem::take(&mut stage.lines)
}

fn words(lines: &[String]) -> usize {
    lines.iter().map(|it| it.split_whitespace().count()).sum()
}

#[test]
fn it_says_what_can_be_typed_now_in_few_words_and_all_only_on_request() {
    let mut stage = Stage::new(PIPE);
    let idle = typed(&mut stage, "?");
    assert!(words(&idle) <= MOST, "{idle:#?}");
    assert!(
        idle.iter().any(|it| it.starts_with("> TEXT: ")),
        "{idle:#?}"
    );
    assert!(!idle.iter().any(|it| it.contains("accept")), "{idle:#?}");
    assert_eq!(idle.last().unwrap(), "? all reads the rest.");

    stage.ask_with("rpl_1", json!({"irreversible": true}));
    let one = typed(&mut stage, "?");
    assert!(words(&one) <= MOST, "{one:#?}");
    assert_eq!(
        one[0],
        "y 1 then c 1 accepts, n 1 rejects, d 1 for details."
    );
    stage.ask("rpl_2");
    let several = typed(&mut stage, "?");
    assert!(words(&several) <= MOST, "{several:#?}");
    assert!(several[0].starts_with("y, y 2: "), "{several:#?}");

    let all = typed(&mut stage, "? all");
    assert!(words(&all) > MOST, "{all:#?}");
    for line in keys::LINES {
        let head = format!("{}: ", line.line);
        assert!(all.iter().any(|it| it.starts_with(&head)), "{head}");
    }
}
