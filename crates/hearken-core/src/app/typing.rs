//! Typing an answer: the line editor, the echo of each key, and reading the line back.
//!
//! Responsibilities: changing the line, echo, review by character, word and line. Not here: sending the text
//! (`questions`, `prompts`), where keys come from (`key_input`).
//!
//! # Mental model
//! People who can't see the line hear it: each finished word (or each character, as set), the text that a
//! deletion removed, and the character or word that the cursor moves to. None of that is news: it is spoken but
//! not kept, and the next key cuts it short.

use tui_input::InputRequest as Request;
use unicode_segmentation::UnicodeSegmentation;

use crate::announce::{Arg, Reason, Segment};
use crate::config::EchoChoice;
use crate::keys::Edit;
use crate::protocol::LONGEST_RATIONALE;
use crate::session::QuestionBody;

use super::{Activity, AppCx, Effect};

/// The longest answer, in bytes: the protocol's own limit for a text (3.7).
const LONGEST_ANSWER: usize = 16 * 1024;

/// Changes the line that is being typed, and announces the result.
pub(super) fn change_line(edit: Edit, cx: &mut AppCx) {
    let before = line_and_cursor(cx);
    let request = match edit {
        Edit::Insert(c) => {
            if !has_room(c, cx) {
                cx.respond("reply.full", &[]);
                return;
            }
            Request::InsertChar(c)
        }
        Edit::Backspace => Request::DeletePrevChar,
        Edit::Delete => Request::DeleteNextChar,
        Edit::DeleteWord => Request::DeletePrevWord,
        Edit::Left => Request::GoToPrevChar,
        Edit::Right => Request::GoToNextChar,
        Edit::WordLeft => Request::GoToPrevWord,
        Edit::WordRight => Request::GoToNextWord,
        Edit::Home => Request::GoToStart,
        Edit::End => Request::GoToEnd,
        Edit::ReadLine => {
            let line = before.0;
            echo(&line, "editor.empty", cx);
            return;
        }
        Edit::NewLine => {
            if !has_room('\n', cx) {
                cx.respond("reply.full", &[]);
                return;
            }
            change(Request::InsertChar('\n'), cx);
            let (line, cursor) = line_and_cursor(cx);
            echo_new_line(&line, cursor, cx);
            return;
        }
        Edit::Editor => {
            cx.respond("prompt.editor", &[]);
            cx.effects.push(Effect::Edit {
                text: before.0,
                most: LONGEST_ANSWER,
            });
            return;
        }
        // Sending does not change the line; earlier prompts and commands are handled in `prompts`.
        Edit::Submit | Edit::Older | Edit::Newer | Edit::Complete => return,
    };
    change(request, cx);
    let (line, cursor) = line_and_cursor(cx);
    match edit {
        Edit::Insert(c) => echo_typed(c, &line, cursor, cx),
        Edit::Backspace | Edit::Delete | Edit::DeleteWord => {
            let gone: String = match edit {
                Edit::Delete => part(&before.0, before.1, before.1 + 1),
                _ => part(&before.0, cursor, before.1),
            };
            let nothing_left = before.0.len() == line.len();
            let key = if nothing_left {
                "editor.edge"
            } else {
                "editor.space"
            };
            echo(&gone, key, cx);
        }
        Edit::Left | Edit::Right | Edit::Home | Edit::End => {
            let here = part(&line, cursor, cursor + 1);
            echo(&here, "editor.end", cx);
        }
        Edit::WordLeft | Edit::WordRight => {
            let rest: String = line.chars().skip(cursor).collect();
            let word = rest.unicode_words().next().unwrap_or_default().to_owned();
            echo(&word, "editor.end", cx);
        }
        Edit::ReadLine
        | Edit::Submit
        | Edit::NewLine
        | Edit::Complete
        | Edit::Editor
        | Edit::Older
        | Edit::Newer => {}
    }
}

/// Handles the text from the person's own editor, or the reason why there is none; returns a text that comes too late.
pub(super) fn edited(outcome: Result<String, Reason>, cx: &mut AppCx) -> Option<String> {
    match (outcome, is_prompt(cx)) {
        (Ok(text), true) => {
            if let Some(line) = cx.doing.line_mut() {
                *line = tui_input::Input::default();
            }
            paste_into_line(text.trim_end(), cx);
        }
        // The prompt that it was for is no longer open.
        (Ok(text), false) => {
            cx.respond("prompt.editor.late", &[]);
            return Some(text);
        }
        (Err(reason), _) => {
            let reason = cx.because(&reason);
            cx.respond("prompt.editor.failed", &[("reason", reason)]);
        }
    }
    None
}

/// Reads the word before a line break, and announces the new line.
fn echo_new_line(line: &str, cursor: usize, cx: &mut AppCx) {
    let before: String = line.chars().take(cursor).collect();
    let last = before.trim_end_matches('\n').rsplit('\n').next();
    let word = last.unwrap_or_default().unicode_words().next_back();
    let words = match cx.config.questions.echo {
        EchoChoice::Words | EchoChoice::Both => word.unwrap_or_default(),
        EchoChoice::Characters | EchoChoice::None => "",
    };
    let args = [("word", Arg::own(words))];
    let said = cx.phrases().text("editor.new_line", &args);
    echo(&said, "editor.empty", cx);
}

/// Pastes text into the line; a line break becomes a space, except in a prompt, and never sends anything.
pub(super) fn paste_into_line(text: &str, cx: &mut AppCx) {
    let mut left_out = false;
    let text = match is_prompt(cx) {
        true => text.replace("\r\n", "\n"),
        false => text.to_owned(),
    };
    for c in text.chars() {
        let c = match c {
            // Terminals send the end of a pasted line as Enter.
            '\n' | '\r' if is_prompt(cx) => '\n',
            '\n' | '\r' | '\t' => ' ',
            c if c.is_control() => continue,
            c => c,
        };
        if !has_room(c, cx) {
            left_out = true;
            break;
        }
        change(Request::InsertChar(c), cx);
    }
    if left_out {
        cx.respond("reply.full", &[]);
    } else {
        let (line, _) = line_and_cursor(cx);
        echo(&line, "editor.empty", cx);
    }
}

/// Returns whether one more character fits: a reason is shorter than an answer.
fn has_room(c: char, cx: &AppCx) -> bool {
    let line = cx.doing.line().map_or("", tui_input::Input::value);
    let fits = line.len() + c.len_utf8() <= LONGEST_ANSWER;
    fits && (!is_reason(cx) || line.chars().count() < LONGEST_RATIONALE)
}

/// Returns whether a prompt is being typed, which may have several lines.
fn is_prompt(cx: &AppCx) -> bool {
    matches!(cx.doing, Activity::Prompting { .. })
}

/// Returns whether the reason of a rejection is being typed.
fn is_reason(cx: &AppCx) -> bool {
    let Activity::Answering { question, .. } = cx.doing else {
        return false;
    };
    let question = cx.sessions.question(question);
    question.is_some_and(|question| matches!(question.body, QuestionBody::Confirmation(_)))
}

fn line_and_cursor(cx: &AppCx) -> (String, usize) {
    let (line, cursor) = cx.editor();
    (line.to_owned(), cursor)
}

fn change(request: Request, cx: &mut AppCx) {
    if let Some(line) = cx.doing.line_mut() {
        line.handle(request);
    }
}

/// Echoes a typed character, or the word that it ends.
fn echo_typed(c: char, line: &str, cursor: usize, cx: &mut AppCx) {
    let ends_word = !c.is_alphanumeric();
    let characters = match cx.config.questions.echo {
        EchoChoice::Characters | EchoChoice::Both => true,
        EchoChoice::Words | EchoChoice::None => false,
    };
    let words = match cx.config.questions.echo {
        EchoChoice::Words | EchoChoice::Both => true,
        EchoChoice::Characters | EchoChoice::None => false,
    };
    if words && ends_word {
        let before: String = line.chars().take(cursor).collect();
        let word = before.unicode_words().next_back().unwrap_or_default();
        echo(word, "editor.space", cx);
    } else if characters {
        echo(&c.to_string(), "editor.space", cx);
    }
}

/// Reads out a part of the line: a single character by its name, an empty part with the phrase `nothing`.
pub(super) fn echo(text: &str, nothing: &str, cx: &mut AppCx) {
    let phrases = cx.phrases();
    let mut clusters = text.graphemes(true);
    let spoken = match (clusters.next(), clusters.next()) {
        (None, _) => phrases.text(nothing, &[]),
        (Some(" "), None) => phrases.text("editor.space", &[]),
        (Some(_), None) => phrases.lexicon().spell(text, false),
        (Some(_), Some(_)) => text.to_owned(),
    };
    cx.answer_aside(vec![Segment::own(spoken)]);
    // The line itself shows the text.
    cx.answers.clear();
}

/// Returns the characters of a line in the range `from..to`.
fn part(line: &str, from: usize, to: usize) -> String {
    line.chars()
        .skip(from)
        .take(to.saturating_sub(from))
        .collect()
}
