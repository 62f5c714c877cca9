//! The help: every key or line and what it does, from the table that all faces share.

use crate::announce::{AnnouncementKind, AnswerMethod, Arg, Class, Segment};
use crate::keys::{self, Keymap, LineCommand};
use crate::session::QuestionId;

use super::{Activity, AppCx};

/// The maximum number of words in the short help, which says only what can be pressed or typed now.
const MOST_WORDS: usize = 80;
/// The commands whose keys are of use at any time, the most needed first.
const USUAL_KEYS: [&str; 8] = [
    PROMPT,
    STOP_TURN,
    "stop",
    "status",
    "previous",
    "output",
    "whole_turn",
    "quit",
];
/// The command that prompts an agent.
const PROMPT: &str = "prompt";
/// The command that stops an agent's work.
const STOP_TURN: &str = "stop_turn";
/// The lines that can be typed at any time, the most needed first.
const USUAL: [&str; 7] = ["> TEXT", "stop, stop 2", "t", "h", "output", "w", "q"];
/// The first line that several open questions do not need: a choice and words are explained with each question.
const SEVERAL: &str = "r TEXT, r 2 TEXT";

/// What the help needs to know about the questions and the agents.
#[derive(Debug, Clone, Copy)]
pub(super) struct HelpScene {
    /// The question that keys are meant for.
    shown: Option<QuestionId>,
    /// How many questions an answer without a number could be meant for.
    meant: usize,
    /// Whether any agent takes prompts.
    prompts: bool,
    /// Whether any agent's work can be stopped.
    works: bool,
}

impl HelpScene {
    pub(super) fn new(shown: Option<QuestionId>, meant: usize, prompts: bool, works: bool) -> Self {
        Self {
            shown,
            meant,
            prompts,
            works,
        }
    }
}

/// Shows the help, and reads out what applies now: people who can't see the screen need it most. Asked for
/// again, it reads out all keys if there is a voice, and closes otherwise.
pub(super) fn help(keymap: &Keymap, scene: HelpScene, cx: &mut AppCx) {
    match (cx.face.manner(), &mut cx.doing) {
        (AnswerMethod::Keys, Activity::Helping { all, .. }) => {
            if std::mem::replace(all, true) || !cx.has_voice() {
                cx.doing = Activity::Watching;
                return;
            }
            let rows = keymap
                .help()
                .flat_map(|(keys, does)| key_row(&keys, does, cx));
            let rows = rows.collect();
            cx.quote(rows, Vec::new());
        }
        (AnswerMethod::Keys, _) => {
            cx.doing = Activity::Helping {
                scroll: 0,
                all: false,
            };
            let rows = keys_that_apply(keymap, scene, cx);
            cx.quote(rows, Vec::new());
        }
        (AnswerMethod::Lines, _) => what_applies(cx),
        (AnswerMethod::Program, _) => all_help(cx),
    }
}

/// Closes the help, if it is shown.
pub(super) fn close(cx: &mut AppCx) {
    if matches!(cx.doing, Activity::Helping { .. }) {
        cx.doing = Activity::Watching;
    }
}

/// Returns what can be pressed now, in few words.
fn keys_that_apply(keymap: &Keymap, scene: HelpScene, cx: &AppCx) -> Vec<Segment> {
    let mut rows = Vec::new();
    let shown = scene.shown.and_then(|id| cx.sessions.question(id));
    rows.extend(shown.map(|question| cx.announcer.keys_in_full(question)));
    let rest = match cx.has_voice() {
        true => cx.words("help.all.keys", &[]),
        false => Vec::new(),
    };
    let words = |row: &[Segment]| {
        let words = row.iter().flat_map(|it| it.spoken().split_whitespace());
        words.count()
    };
    let mut count = words(&rows) + words(&rest);
    let next = (scene.meant > 1).then_some("next_question");
    for name in next.into_iter().chain(USUAL_KEYS) {
        let applies = match name {
            PROMPT => scene.prompts,
            STOP_TURN => scene.works,
            _ => true,
        };
        let binding = keys::BINDINGS.iter().find(|it| it.name == name);
        if let (Some(key), Some(binding), true) = (keymap.key_of(name), binding, applies) {
            let row = key_row(key, binding.does, cx);
            if count + words(&row) <= MOST_WORDS {
                count += words(&row);
                rows.extend(row);
            }
        }
    }
    rows.extend(rest);
    rows
}

/// Returns what some keys do; several keys are separated by commas.
fn key_row(keys: &str, does: &str, cx: &AppCx) -> Vec<Segment> {
    let phrases = cx.phrases();
    let spoken: Vec<String> = keys
        .split(", ")
        .map(|key| phrases.lexicon().key(key))
        .collect();
    let key = Arg::Sounding {
        text: keys.to_owned(),
        spoken: spoken.join(", "),
    };
    let does = Arg::own(phrases.help(does));
    cx.words("help.key", &[("key", key), ("does", does)])
}

/// Announces what can be typed now: how to answer, then the usual lines, in few words.
fn what_applies(cx: &mut AppCx) {
    let mut rows = ways(cx);
    let rest = cx.phrases().text("help.all", &[]);
    let words = |row: &str| row.split_whitespace().count();
    let mut count = rows.iter().map(|row| words(row)).sum::<usize>() + words(&rest);
    let usual = USUAL.iter().filter_map(|name| {
        let mut lines = keys::LINES.iter();
        lines.find(|line| line.line == *name)
    });
    for line in usual {
        let row = row_of(line, cx);
        if count + words(&row) <= MOST_WORDS {
            count += words(&row);
            rows.push(row);
        }
    }
    rows.push(rest);
    say_rows(rows, cx);
}

/// Returns how the open questions can be answered, complete however long it is.
fn ways(cx: &AppCx) -> Vec<String> {
    let mut open = cx.sessions.open_questions();
    match (open.next(), open.next()) {
        (None, _) => Vec::new(),
        (Some(question), None) => vec![cx.announcer.keys(question)],
        // The person fills in the numbers.
        (Some(_), Some(_)) => {
            let of_questions = keys::LINES.iter().take_while(|line| line.line != SEVERAL);
            of_questions.map(|line| row_of(line, cx)).collect()
        }
    }
}

fn row_of(line: &LineCommand, cx: &AppCx) -> String {
    format!("{}: {}.", line.line, cx.phrases().help(line.does))
}

/// Writes one line per entry, so that a screen reader can step through them, with a heading before each group.
pub(super) fn all_help(cx: &mut AppCx) {
    let phrases = cx.phrases();
    let mut rows = Vec::new();
    for group in keys::LINES.chunk_by(|one, next| one.group == next.group) {
        rows.extend(
            group
                .first()
                .map(|head| format!("{}:", phrases.help(head.group))),
        );
        rows.extend(group.iter().map(|line| row_of(line, cx)));
    }
    say_rows(rows, cx);
}

fn say_rows(rows: Vec<String>, cx: &mut AppCx) {
    for row in rows {
        let args = [("reason", Arg::Own(row))];
        let told = cx.announcer.say(
            Class::Response,
            AnnouncementKind::Reply,
            "fault.other",
            &args,
            cx.now,
        );
        cx.put(told);
    }
}
