//! Programs that are started and speak over their standard output: how they break off, what else they write
//! there, and how they end. Each row plays twice, in JSON-RPC and in bare messages.
//!
//! A row is a shell script. It finds each event as a line in its own file (`e1` to `e9`), and some commands of
//! ours: `shake` reads the request for a subscription and agrees, `answer` waits for the person's answer,
//! `finish` does that and sends the end.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::duplex_story::without_place;
use super::fault_server::{BEFORE_ANSWER, EventLog, padded};
use super::{PEAK, heard_of, once, read};
use crate::support::child::Hearken;

/// How a program puts its messages into lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speech {
    Rpc,
    Bare,
}

use Speech::{Bare, Rpc};

impl Speech {
    fn line(self, event: &Value) -> String {
        match self {
            Rpc => json!({"jsonrpc": "2.0", "method": "aaep.event", "params": event}).to_string(),
            Bare => event.to_string(),
        }
    }

    /// Returns what a program says to a request for a subscription; a bare one says nothing.
    fn shake(self) -> &'static str {
        match self {
            Rpc => {
                r#"IFS= read -r line; printf '%s\n' '{"jsonrpc":"2.0","id":1,"result":{"type":"subscription.accepted","subscription_id":"sub_1","aaep_version":"1.0.0","producer":{"agent_id":"planner"},"honored_capabilities":{}}}'"#
            }
            Bare => ":",
        }
    }

    /// Returns what the person hears first.
    fn connected(self) -> &'static [&'static str] {
        match self {
            Rpc => &["Connected to sh.", "sh sends with a handshake."],
            Bare => &["Connected to sh.", "sh sends without a handshake."],
        }
    }
}

/// The commands available to every script.
const WORDS: &str = r#"
cd "$0"
answer() {
    while IFS= read -r line; do
        case "$line" in *confirmation.reply*) printf '%s\n' "$line" >> replies; return;; esac
    done
    exit 9
}
finish() { answer; cat e8 e9; exit 0; }
many() { head -c "$1" /dev/zero | tr '\0' "$2"; }
"#;

use ProgramStoryEnd::{Dies, Whole};

/// How a story ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProgramStoryEnd {
    /// The fault passes, everything is heard, and the program ends in good order.
    Whole,
    /// Nothing more can be expected of the program; hearken ends with this code.
    Dies(i32),
}

struct ProgramRow {
    speeches: &'static [Speech],
    end: ProgramStoryEnd,
    script: &'static str,
    /// What the person hears; [`START`] stands for the words of a start.
    hears: &'static [&'static str],
}

const START: &str = "";
const ENDED: &str = "sh has ended.";
const NOT_DONE: &str = "sh has ended. planner was not done.";
/// The announcement of an invalid message, without the place of the error.
const GARBAGE: &str = "A message from sh can't be understood: not valid JSON: it ends too early. Everything else goes on.";
/// The announcement of a message that is not JSON at all, alongside others and before all others.
const NO_TEXT: &str = "Something that sh sent is not AAEP. It looks like data that is not text. Everything else goes on.";
const STRANGE: &str =
    "Something that sh sent is not AAEP. It looks like plain text. Everything else goes on.";
const STRANGE_SO_FAR: &str = "What sh sends is not AAEP so far. It looks like plain text.";
const TOO_LARGE: &str = "1 message from sh was left out: a message is larger than 4194304 bytes.";

/// Defines a test for each row: its name, the ways to speak, its end, its script, and what is heard.
macro_rules! rows {
    ($($name:ident ($speeches:expr, $end:expr): $script:literal => $hears:expr;)*) => {
        $(#[test]
        fn $name() {
            static ROW: ProgramRow = ProgramRow { speeches: &$speeches, end: $end, script: $script, hears: &$hears };
            play(stringify!($name), &ROW);
        })*
    };
}

rows! {
    nothing_is_wrong ([Rpc, Bare], Whole): "shake; cat e1 e2 e3 e4 e5 e6 e7; finish" => [START, ENDED];

    // Other content on the standard output.
    lines_that_end_in_cr_lf ([Rpc, Bare], Whole): r"shake; cat e1 e2 e3 e4 e5 e6 e7 | sed 's/$/\r/'; finish" => [START, ENDED];
    a_byte_order_mark ([Rpc, Bare], Whole): r"shake; printf '\357\273\277'; cat e1 e2 e3 e4 e5 e6 e7; finish" => [START, ENDED];
    blank_lines ([Rpc, Bare], Whole): r"shake; printf '\n \n\r\n'; cat e1 e2 e3; printf '\n\n'; cat e4 e5 e6 e7; finish" => [START, ENDED];
    words_between_the_messages ([Rpc, Bare], Whole):
        r"shake; cat e1; printf 'Loading the model\n\033[31m50%%\033[0m\r\n[1, 2]\n'; cat e2 e3; echo done; cat e4 e5 e6 e7; finish" => [START, STRANGE, ENDED];
    bytes_that_are_no_text ([Rpc, Bare], Whole): r"shake; cat e1 e2; printf '\377\376\000\001\n'; cat e3 e4 e5 e6 e7; finish" => [START, NO_TEXT, ENDED];
    a_loud_standard_error ([Rpc, Bare], Whole):
        "shake; cat e1 e2; many 50331648 e >&2; yes trouble | head -n 20000 >&2; cat e3 e4 e5 e6 e7; finish" => [START, ENDED];

    // Time and size.
    a_byte_a_second ([Rpc, Bare], Whole):
        "shake; head -c 1 e1; sleep 1; head -c 2 e1 | tail -c 1; sleep 1; tail -c +3 e1; cat e2 e3 e4 e5 e6 e7; finish" => [START, ENDED];
    an_event_of_2_mib ([Rpc, Bare], Whole): "shake; cat e1 e2 large2 e3 e4 e5 e6 e7; finish" => [START, ENDED];
    an_event_of_5_mib ([Rpc, Bare], Whole): "shake; cat e1 e2 large5 e3 e4 e5 e6 e7; finish" => [START, TOO_LARGE, ENDED];
    a_line_of_48_mib ([Rpc, Bare], Whole): "shake; cat e1 e2; many 50331648 a; echo; cat e3 e4 e5 e6 e7; finish" => [START, TOO_LARGE, ENDED];
    a_line_that_never_ends ([Rpc, Bare], Dies(1)): "shake; cat e1 e2; many 50331648 a; exit 4"
        => [START, TOO_LARGE, "sh can't be used: the program ended with exit code 4. planner was not done."];

    // The handshake.
    no_such_method ([Rpc], Whole):
        r#"IFS= read -r line; printf '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}\n'; cat e1 e2 e3 e4 e5 e6 e7; finish"#
        => ["Connected to sh.", "sh sends without a handshake.", ENDED];
    another_error ([Rpc], Dies(1)):
        r#"IFS= read -r line; printf '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"Too many windows"}}\n'; IFS= read -r line"#
        => ["Connected to sh.", "sh says: Too many windows (JSON-RPC error -32000)",
            "sh can't be used: no subscription: it refuses."];
    gone_before_the_handshake ([Rpc], Dies(1)): "exit 1" => ["Connected to sh.", "sh can't be used: the program ended with exit code 1."];
    gone_in_good_order_before_the_handshake ([Rpc], Dies(0)): "exit 0" => ["Connected to sh.", ENDED];
    a_greeting_before_the_consent ([Rpc], Whole):
        r"printf 'Loading the model\n50%%\n'; shake; cat e1 e2 e3 e4 e5 e6 e7; finish" => ["Connected to sh.", STRANGE_SO_FAR, "sh sends with a handshake.", ENDED];
    gone_in_the_middle_of_the_consent ([Rpc], Dies(1)): r#"IFS= read -r line; printf '{"jsonrpc":"2.0","id":1,"resu'; exit 1"#
        => ["Connected to sh.", GARBAGE, "sh can't be used: the program ended with exit code 1."];

    // Ends.
    exit_in_the_middle_of_a_line ([Rpc, Bare], Dies(1)): "shake; cat e1 e2; head -c 100 e3; exit 3"
        => [START, GARBAGE, "sh can't be used: the program ended with exit code 3. planner was not done."];
    exit_in_the_middle_of_a_character ([Rpc, Bare], Dies(1)): r"shake; cat e1; sed 's/\xbc.*//' e2 | tr -d '\n'; exit 3"
        => [START, GARBAGE, "sh can't be used: the program ended with exit code 3. planner was not done."];
    exit_in_good_order_in_the_middle_of_a_line ([Rpc, Bare], Dies(0)): "shake; cat e1 e2; head -c 100 e3; exit 0" => [START, GARBAGE, NOT_DONE];
    exit_without_the_end_of_a_whole_line ([Rpc, Bare], Whole): "shake; cat e1 e2 e3 e4 e5 e6 e7; answer; cat e8; tr -d '\\n' < e9; exit 0" => [START, ENDED];
    killed ([Rpc, Bare], Dies(1)): "shake; cat e1 e2; kill -9 $$" => [START, "sh can't be used: the program was killed (signal 9). planner was not done."];
    crashed ([Rpc, Bare], Dies(1)): "shake; cat e1 e2; kill -11 $$" => [START, "sh can't be used: the program crashed (signal 11). planner was not done."];
    told_to_end ([Rpc, Bare], Dies(1)): "shake; cat e1 e2; kill -15 $$" => [START, "sh can't be used: the program was told to end (signal 15). planner was not done."];
    closed_its_output_and_lives ([Rpc, Bare], Dies(1)): "shake; cat e1 e2; exec >&-; while read -r line; do :; done; sleep 60"
        => [START, "sh can't be used: the program has closed its output, and is ended. planner was not done."];
}

/// Writes the events of a story as lines, each into its own file; the large ones only if a script uses them.
fn write(log: &EventLog, speech: Speech, folder: &Path, script: &str) {
    let put = |name: &str, line: String| std::fs::write(folder.join(name), line + "\n").unwrap();
    for n in 1..=BEFORE_ANSWER + 2 {
        put(&format!("e{n}"), speech.line(log.event(n)));
    }
    for (name, size) in [("large2", 2 << 20), ("large5", 5 << 20)] {
        if script.contains(name) {
            put(name, padded(&speech.line(&log.large_event()), size));
        }
    }
}

fn play(name: &str, row: &'static ProgramRow) {
    std::thread::scope(|scope| {
        for speech in row.speeches {
            scope.spawn(move || play_one(name, row, *speech));
        }
    });
}

fn start(folder: &TempDir, speech: Speech, script: &str) -> Hearken {
    let script = format!("{WORDS}\nshake() {{ {}\n}}\n{script}", speech.shake());
    let folder = folder.path().to_str().unwrap();
    let mut arguments = vec!["watch", "--face", "json", "--voice", "none"];
    arguments.extend(["--", "sh", "-c", &script, folder]);
    Hearken::start(&arguments)
}

fn play_one(name: &str, row: &ProgramRow, speech: Speech) {
    let folder = tempfile::tempdir().unwrap();
    write(&EventLog::new(), speech, folder.path(), row.script);
    let mut child = start(&folder, speech, row.script);
    let peak = match row.end {
        Whole => {
            child.announced("confirmation", "Send the letter");
            let peak = child.peak();
            child.say("n 1");
            peak
        }
        Dies(_) => {
            let (first, end) = ("connection", row.hears.last().unwrap());
            // The program has ended, and hearken has not ended yet or only just now.
            child.announced(first, *end);
            child.peak()
        }
    };
    let (code, errors, lines) = child.exit();
    let told = read(&lines);
    let all = format!("{name}, {speech:?}\n{}", lines.join("\n"));
    let wanted = match row.end {
        Whole => 0,
        Dies(code) => code,
    };
    let hears: Vec<&str> = row
        .hears
        .iter()
        .flat_map(|words| match *words {
            START => speech.connected(),
            _ => std::slice::from_ref(words),
        })
        .copied()
        .collect();
    let heard: Vec<String> = heard_of(&told).into_iter().map(without_place).collect();
    assert_eq!(heard, hears, "{all}\n{errors}");
    assert_eq!((code, errors.as_str()), (wanted, ""), "{all}");
    if let Some(peak) = peak {
        assert!(peak < PEAK, "{name}, {speech:?}: {peak} bytes");
    }
    if row.end == Whole {
        once(&told, &all);
        let replies = std::fs::read_to_string(folder.path().join("replies")).unwrap();
        assert_eq!(replies.lines().count(), 1, "{replies}");
        let reply: Value = serde_json::from_str(&replies).unwrap();
        let reply = reply.get("params").unwrap_or(&reply);
        assert_eq!(reply["reply_token"], "rpl_1", "{replies}");
        assert_eq!(reply["decision"], "reject", "{replies}");
    }
}

#[test]
fn a_program_that_dies_with_its_question_open_leaves_no_doubt_and_takes_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    // The test ends it once the question has been asked.
    let script =
        "shake; cat e1 e2 e3 e4 e5 e6 e7; while [ ! -e go ]; do sleep 0.02; done; kill -9 $$";
    write(&EventLog::new(), Rpc, folder.path(), script);
    let mut child = start(&folder, Rpc, script);
    child.announced("confirmation", "Send the letter");
    std::fs::write(folder.path().join("go"), "").unwrap();
    let (code, _, lines) = child.exit();
    assert_eq!(code, 1);
    let all = lines.join("\n");
    for words in [
        "sh can't be used: the program was killed (signal 9).",
        "The connection was lost with question 1 open: Send the letter.",
    ] {
        let told = lines.iter().filter(|line| line.contains(words));
        assert_eq!(told.count(), 1, "{words}\n{all}");
    }
    assert!(!folder.path().join("replies").exists());
}
