//! A story over a bidirectional connection: some connections go wrong, the next one goes well, and what the
//! person hears of it is compared word for word.

use serde_json::Value;
use tempfile::TempDir;

use super::duplex_peer::{DuplexScript, FaultPeer, FramingKind, HandshakeSide};
use super::fault_server::BEFORE_ANSWER;
use super::{heard_of, once, outlives, read, see_through};
use crate::support::child::Hearken;

/// The waits between attempts are short here, and a silent WebSocket is pinged every two seconds: twice the
/// time that the slowest row needs for a byte, so that a busy machine fails none.
const SETTINGS: &str = "[links]\nbackoff_first_ms = 50\nbackoff_cap_ms = 100\n\
    connect_timeout_ms = 1000\nreply_timeout_ms = 1000\nsilent_after_seconds = 2\n";

/// Stands for what is heard of the first good connection.
pub const START: &str = "";
pub const BACK: &str = "The connection to S is back.";
pub const LOST: &str = "The connection to S is lost: the connection was closed. It is tried again.";
pub const NO_ANSWER: &str = "S can't be reached: the connection was closed. It is tried again.";
pub const TOO_LARGE: &str =
    "1 message from S was left out: a message is larger than 4194304 bytes.";
pub const GARBAGE: &str = "A message from S can't be understood: not valid JSON: it ends too early. Everything else goes on.";
pub const STRANGE: &str =
    "Something that S sent is not AAEP. It looks like plain text. Everything else goes on.";
pub const NO_TEXT: &str = "Something that S sent is not AAEP. It looks like data that is not text. Everything else goes on.";
pub const ENDED: &str = "S has ended. planner was not done.";

/// How a story ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DuplexStoryEnd {
    /// The fault passes and everything is heard.
    Whole,
    /// The program ends by itself with this code, because nothing more can be expected.
    Over(i32),
}

pub struct StoryRow {
    pub kinds: &'static [FramingKind],
    pub hands: &'static [HandshakeSide],
    pub turns: &'static [DuplexScript],
    pub hears: &'static [&'static str],
    pub end: DuplexStoryEnd,
}

/// Plays a row over each kind of connection, with and without a handshake as the row says.
pub fn play(name: &str, row: &'static StoryRow) {
    std::thread::scope(|scope| {
        for kind in row.kinds {
            for hands in row.hands {
                scope.spawn(move || play_one(name, row, *kind, *hands));
            }
        }
    });
}

/// Follows a peer, without a handshake if the peer makes none.
pub fn watch(peer: &FaultPeer, hands: HandshakeSide, folder: &TempDir) -> Hearken {
    let config = folder.path().join("config.toml");
    std::fs::write(&config, SETTINGS).unwrap();
    let mut arguments = vec!["watch", peer.source(), "--face", "json", "--voice", "none"];
    arguments.extend(["--config", config.to_str().unwrap()]);
    if hands == HandshakeSide::Kept {
        arguments.push("--plain-pair");
    }
    Hearken::start(&arguments)
}

fn play_one(name: &str, row: &StoryRow, kind: FramingKind, hands: HandshakeSide) {
    let peer = FaultPeer::start(kind, hands, row.turns);
    let folder = tempfile::tempdir().unwrap();
    let mut child = watch(&peer, hands, &folder);
    if row.end == DuplexStoryEnd::Whole {
        see_through(&mut child, &format!("{name}, {kind:?}, {hands:?}"));
    }
    let (code, errors, lines) = child.exit();
    let told = read(&lines);
    let all = format!(
        "{name}, {kind:?}, {hands:?}\n{}\n{errors}",
        lines.join("\n")
    );
    assert_eq!(heard(&told, &peer), expected(row.hears, hands), "{all}");
    let wanted = match row.end {
        DuplexStoryEnd::Whole => 0,
        DuplexStoryEnd::Over(code) => code,
    };
    assert_eq!((code, errors.as_str()), (wanted, ""), "{all}");
    if row.end == DuplexStoryEnd::Whole {
        once(&told, &all);
        let replies = peer.seen(|seen| seen.replies.clone());
        assert_eq!(replies.len(), 1, "{all}\n{replies:?}");
        assert_eq!(replies[0]["reply_token"], "rpl_1");
        assert_eq!(replies[0]["decision"], "reject");
    }
}

/// Returns what should be heard, with the words of the first good connection filled in.
fn expected(hears: &[&'static str], hands: HandshakeSide) -> Vec<&'static str> {
    let start: &[&str] = match hands {
        HandshakeSide::Shaken => &["Connected to S.", "S sends with a handshake."],
        HandshakeSide::Kept => &["Connected to S, without a handshake."],
    };
    let words = hears.iter().flat_map(|words| match *words {
        START => start,
        _ => std::slice::from_ref(words),
    });
    words.copied().collect()
}

/// Returns what the person hears about the connection, with `S` for the source and without the positions of
/// JSON errors.
pub fn heard(told: &[Value], peer: &FaultPeer) -> Vec<String> {
    let name = peer.name();
    let heard = heard_of(told).into_iter();
    heard
        .map(|text| without_place(text.replace(&name, "S")))
        .collect()
}

/// Removes the position of a JSON error.
pub fn without_place(text: String) -> String {
    match text.split_once(", at line ") {
        Some((before, after)) => {
            let (_, rest) = after.split_once('.').unwrap();
            format!("{before}.{rest}")
        }
        None => text,
    }
}

/// Breaks a connection with the question open, and has it answered on the next one.
pub fn outlive(kind: FramingKind, hands: HandshakeSide) {
    let turns: [DuplexScript; 1] = [|at| {
        at.open(BEFORE_ANSWER + 1).gate();
    }];
    let peer = FaultPeer::start(kind, hands, &turns);
    let folder = tempfile::tempdir().unwrap();
    let mut child = watch(&peer, hands, &folder);
    outlives(&mut child, || peer.open_gate());
    assert_eq!(peer.seen(|seen| seen.replies.len()), 1, "{kind:?}");
}

/// Defines a test for each row: its name, the kinds of connection, who shakes hands, its end, its first
/// connections, and what is heard of them.
macro_rules! stories {
    ($($name:ident ($kinds:expr, $hands:expr, $end:expr): $turns:expr => $hears:expr;)*) => {
        $(#[test]
        fn $name() {
            static ROW: $crate::faults::duplex_story::StoryRow = $crate::faults::duplex_story::StoryRow {
                kinds: &$kinds, hands: &$hands, turns: $turns, hears: $hears, end: $end,
            };
            $crate::faults::duplex_story::play(stringify!($name), &ROW);
        })*
    };
}
pub(super) use stories;
