//! Faults in settings, in words.

use hearken_wording::phrase;

use crate::announce::Phrases;
use crate::config::{Config, answers};

fn rule(more: &str) -> String {
    format!("[[answer]]\nname = \"a\"\n{more}\n")
}

#[test]
fn what_is_wrong_with_answers_is_said_in_words() {
    let english = Phrases::english().unwrap();
    let confirm = "kind = \"confirmation\"\nanswer = \"accept\"";
    for (text, words) in [
        (String::new(), "there is no [[answer]]"),
        ("answer = 3\n".to_owned(), "answer"),
        (rule("answer = \"accept\""), "kind"),
        (rule("kind = \"any\"\nanswer = \"accept\""), "any"),
        (
            rule("kind = \"confirmation\"\nanswer = \"yes\""),
            "accept, reject or leave",
        ),
        (
            rule("kind = \"clarification\"\nanswer = \" \""),
            "an empty text",
        ),
        (
            rule("kind = \"clarification\"\nanswer = \"x\"\nrisks = [\"low\"]"),
            "no risk",
        ),
        (
            rule("kind = \"confirmation\"\nanswer = \"reject\"\nirreversible = true"),
            "does not accept",
        ),
        (
            rule(&format!("{confirm}\nrisks = [\"high\"]")),
            "has to name a tool",
        ),
        (
            rule(&format!("{confirm}\nirreversible = true")),
            "has to name a tool",
        ),
        (rule(&format!("{confirm}\ntext = \" \"")), "empty text"),
        (rule(&format!("{confirm}\nrisk = \"high\"")), "risk"),
        (rule(confirm).repeat(2), "two rules are called a"),
        (rule(confirm).replace("\"a\"", "\"a b\""), "needs a name"),
        (rule(confirm).repeat(65), "more than 64"),
    ] {
        let error = english.settings_fault(&answers(&text).unwrap_err());
        assert!(error.contains(words), "{text}: {error}");
    }
}

#[test]
fn what_is_wrong_with_rules_is_said_in_words() {
    let english = Phrases::english().unwrap();
    for (rule, words) in [
        ("name = \"\"\ndecision = \"reject\"", "needs a name"),
        ("name = \"a b\"\ndecision = \"reject\"", "needs a name"),
        (
            "name = \"a\"\ndecision = \"accept\"\nrisks = [\"low\", \"medium\"]",
            "for low risk only",
        ),
        (
            "name = \"a\"\ndecision = \"reject\"\ntools = [\" \"]",
            "empty text",
        ),
        ("name = \"a\"\ndecision = \"always\"", "line 3"),
        (
            "name = \"a\"\ndecision = \"reject\"\ntool = \"x\"",
            "line 4",
        ),
    ] {
        let text = format!("[[policy]]\n{rule}\n");
        let error = english.settings_fault(&Config::from_toml(&text).unwrap_err());
        assert!(error.contains(words), "{text}: {error}");
    }
    let twice = "[[policy]]\nname = \"a\"\ndecision = \"leave\"\n".repeat(2);
    let error = english.settings_fault(&Config::from_toml(&twice).unwrap_err());
    assert!(
        phrase!("settings.policy.twice", name = "a").is_in(&error),
        "{error}"
    );
    let many: String = (0..=32)
        .map(|n| format!("[[policy]]\nname = \"r{n}\"\ndecision = \"leave\"\n"))
        .collect();
    assert!(Config::from_toml(&many).is_err());
}

#[test]
fn what_is_wrong_with_sources_is_said_in_words() {
    let english = Phrases::english().unwrap();
    for (text, words) in [
        ("url = \"x\"", "needs a name"),
        ("name = \"a:b\"\nurl = \"x\"", "needs a name"),
        ("name = \"a\"", "either a url or a command"),
        (
            "name = \"a\"\nurl = \"x\"\ncommand = [\"y\"]",
            "either a url or",
        ),
        (
            "name = \"a\"\nurl = \"x\"\ntoken_env = \"T\"\ntoken_file = \"f\"",
            "not both",
        ),
        ("name = \"a\"\nurl = \"x\"\nclient_key = \"k\"", "together"),
        ("name = \"a\"\nurl = \"x\"\nidentity = \"k\"", "together"),
        (
            "name = \"a\"\nurl = \"x\"\nidentity = \"k\"\nidentity_key = \"f\"\nhandler = \"h\"",
            "not both",
        ),
        (
            "name = \"a\"\nurl = \"x\"\n[[source]]\nname = \"a\"\nurl = \"y\"",
            "two sources are called",
        ),
        (
            "name = \"a\"\nurl = \"x\"\ntoken = \"s3cret\"",
            "there is no setting token",
        ),
        (
            "name = \"a\"\nurl = \"http://h\"\nprompt = \"http://other/x\"",
            "a path of its server",
        ),
        (
            "name = \"a\"\nurl = \"http://h\"\nprompt = \"//other/x\"",
            "a path of its server",
        ),
        (
            "name = \"a\"\nurl = \"events.jsonl\"\nprompt = \"/sessions\"",
            "a path of its server",
        ),
        (
            "name = \"a\"\nurl = \"x\"\nlanguages = []",
            "at least one language",
        ),
        (
            "name = \"a\"\nurl = \"x\"\nmax_frame_bytes = 10",
            "\"a\": max_frame_bytes is out of range: at least 65536",
        ),
        (
            "name = \"a\"\nurl = \"x\"\n[source.handshake]\npace_wpm = 10",
            "\"a\": handshake.pace_wpm is out of range: 50 to 1000",
        ),
        (
            "name = \"a\"\nurl = \"x\"\n[source.handshake]\nlevels = [1, 4]",
            "\"a\": handshake.levels is out of range: some of 1, 2, 3",
        ),
        (
            "name = \"a\"\nurl = \"x\"\n[source.handshake]\nkeys = \"k\"",
            "there is no setting keys",
        ),
    ] {
        let error = Config::from_toml(&format!("[[source]]\n{text}\n")).unwrap_err();
        let error = english.settings_fault(&error);
        assert!(error.contains(words), "{error}");
        assert!(
            !error.contains('\n') && !error.contains("s3cret"),
            "{error}"
        );
    }
}
