//! Typing an answer: the line editor, the echo of each key, and reading the line back.
//!
//! Responsibilities: changing the line, echo, review by character, word and line. Not here: sending the text
//! (`answering`), where keys come from (`keys`).
//!
//! # Mental model
//! People who can't see the line hear it: each finished word (or each character, by the setting), the text that a
//! deletion removed, and the character or word that the cursor moves to. None of that is news: it is spoken but not
//! kept, and the next key cuts it short.

use tui_input::InputRequest as Request;
use unicode_segmentation::UnicodeSegmentation;

use crate::announce::{Arg, Class, Kind, Reason, Segment};
use crate::config::EchoChoice;
use crate::keys::Edit;
use crate::protocol::{LONGEST_RATIONALE, Now};
use crate::session::QuestionBody;

use crate::app::activity::Doing;
use crate::app::{App, Effect};

/// The longest answer, in bytes: the protocol's own limit for a text (3.7).
const LONGEST_ANSWER: usize = 16 * 1024;

impl App {
    /// Changes the line that is being typed, and announces the result.
    pub(in crate::app) fn change_line(&mut self, edit: Edit, now: Now) {
        let before = self.line_and_cursor();
        let request = match edit {
            Edit::Insert(c) => {
                if !self.has_room(c) {
                    self.cx.respond("reply.full", &[], now);
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
                self.echo(&line, "editor.empty", now);
                return;
            }
            Edit::NewLine => {
                if !self.has_room('\n') {
                    self.cx.respond("reply.full", &[], now);
                    return;
                }
                self.change(Request::InsertChar('\n'));
                let (line, cursor) = self.line_and_cursor();
                self.echo_new_line(&line, cursor, now);
                return;
            }
            Edit::Older => {
                let older = self.prompts.older(&before.0);
                self.take_up(older, "prompt.no_older", now);
                return;
            }
            Edit::Newer => {
                let newer = self.prompts.newer();
                self.take_up(newer, "prompt.no_newer", now);
                return;
            }
            Edit::Complete => {
                self.complete(now);
                return;
            }
            Edit::Editor => {
                self.cx.respond("prompt.editor", &[], now);
                self.cx.effects.push(Effect::Edit {
                    text: before.0,
                    most: LONGEST_ANSWER,
                });
                return;
            }
            // Sending does not change the line.
            Edit::Submit => return,
        };
        self.change(request);
        let (line, cursor) = self.line_and_cursor();
        match edit {
            Edit::Insert(c) => self.echo_typed(c, &line, cursor, now),
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
                self.echo(&gone, key, now);
            }
            Edit::Left | Edit::Right | Edit::Home | Edit::End => {
                let here = part(&line, cursor, cursor + 1);
                self.echo(&here, "editor.end", now);
            }
            Edit::WordLeft | Edit::WordRight => {
                let rest: String = line.chars().skip(cursor).collect();
                let word = rest.unicode_words().next().unwrap_or_default().to_owned();
                self.echo(&word, "editor.end", now);
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

    /// Replaces the prompt that is being typed by another one, and reads it out.
    fn take_up(&mut self, text: Option<String>, none: &str, now: Now) {
        let (Some(text), Some(line)) = (text, self.cx.doing.line_mut()) else {
            self.cx.respond(none, &[], now);
            return;
        };
        *line = tui_input::Input::new(text.clone());
        self.echo(&text, "editor.empty", now);
    }

    /// Handles the text from the person's own editor, or the reason why there is none.
    pub(in crate::app) fn edited(&mut self, outcome: Result<String, Reason>, now: Now) {
        match (outcome, self.is_prompt()) {
            (Ok(text), true) => {
                if let Some(line) = self.cx.doing.line_mut() {
                    *line = tui_input::Input::default();
                }
                self.paste_into_line(text.trim_end(), now);
            }
            // The prompt that it was for is no longer open.
            (Ok(text), false) => {
                self.prompts.keep(&text);
                self.cx.respond("prompt.editor.late", &[], now);
            }
            (Err(reason), _) => {
                let reason = self.cx.because(&reason);
                self.cx
                    .respond("prompt.editor.failed", &[("reason", reason)], now);
            }
        }
    }

    /// Reads the word before a line break, and announces the new line.
    fn echo_new_line(&mut self, line: &str, cursor: usize, now: Now) {
        let before: String = line.chars().take(cursor).collect();
        let last = before.trim_end_matches('\n').rsplit('\n').next();
        let word = last.unwrap_or_default().unicode_words().next_back();
        let words = match self.cx.config.questions.echo {
            EchoChoice::Words | EchoChoice::Both => word.unwrap_or_default(),
            EchoChoice::Characters | EchoChoice::None => "",
        };
        let args = [("word", Arg::own(words))];
        let said = self.cx.phrases().text("editor.new_line", &args);
        self.echo(&said, "editor.empty", now);
    }

    /// Pastes text into the line; a line break becomes a space, except in a prompt, and nothing is sent by it.
    pub(in crate::app) fn paste_into_line(&mut self, text: &str, now: Now) {
        let mut left_out = false;
        let text = match self.is_prompt() {
            true => text.replace("\r\n", "\n"),
            false => text.to_owned(),
        };
        for c in text.chars() {
            let c = match c {
                // Terminals send the end of a pasted line as Enter.
                '\n' | '\r' if self.is_prompt() => '\n',
                '\n' | '\r' | '\t' => ' ',
                c if c.is_control() => continue,
                c => c,
            };
            if !self.has_room(c) {
                left_out = true;
                break;
            }
            self.change(Request::InsertChar(c));
        }
        if left_out {
            self.cx.respond("reply.full", &[], now);
        } else {
            let (line, _) = self.line_and_cursor();
            self.echo(&line, "editor.empty", now);
        }
    }

    /// Returns whether one more character fits: a reason is shorter than an answer.
    fn has_room(&self, c: char) -> bool {
        let line = self.cx.doing.line().map_or("", tui_input::Input::value);
        let fits = line.len() + c.len_utf8() <= LONGEST_ANSWER;
        fits && (!self.is_reason() || line.chars().count() < LONGEST_RATIONALE)
    }

    /// Returns whether a prompt is being typed, which may have several lines.
    fn is_prompt(&self) -> bool {
        matches!(self.cx.doing, Doing::Prompting { .. })
    }

    /// Returns whether the reason of a rejection is being typed.
    fn is_reason(&self) -> bool {
        let Doing::Answering { question, .. } = self.cx.doing else {
            return false;
        };
        let question = self.cx.sessions.question(question);
        question.is_some_and(|question| matches!(question.body, QuestionBody::Confirmation(_)))
    }

    fn line_and_cursor(&self) -> (String, usize) {
        let (line, cursor) = self.editor();
        (line.to_owned(), cursor)
    }

    fn change(&mut self, request: Request) {
        if let Some(line) = self.cx.doing.line_mut() {
            line.handle(request);
        }
    }

    /// Echoes a typed character, or the word that it ends.
    fn echo_typed(&mut self, c: char, line: &str, cursor: usize, now: Now) {
        let ends_word = !c.is_alphanumeric();
        let characters = match self.cx.config.questions.echo {
            EchoChoice::Characters | EchoChoice::Both => true,
            EchoChoice::Words | EchoChoice::None => false,
        };
        let words = match self.cx.config.questions.echo {
            EchoChoice::Words | EchoChoice::Both => true,
            EchoChoice::Characters | EchoChoice::None => false,
        };
        if words && ends_word {
            let before: String = line.chars().take(cursor).collect();
            let word = before.unicode_words().next_back().unwrap_or_default();
            self.echo(word, "editor.space", now);
        } else if characters {
            self.echo(&c.to_string(), "editor.space", now);
        }
    }

    /// Reads out a part of the line: a single character by its name, an empty part with the phrase `nothing`.
    fn echo(&mut self, text: &str, nothing: &str, now: Now) {
        let phrases = self.cx.phrases();
        let mut clusters = text.graphemes(true);
        let spoken = match (clusters.next(), clusters.next()) {
            (None, _) => phrases.text(nothing, &[]),
            (Some(" "), None) => phrases.text("editor.space", &[]),
            (Some(_), None) => phrases.lexicon().spell(text, false),
            (Some(_), Some(_)) => text.to_owned(),
        };
        let told = self.cx.announcer.aside(
            Class::Response,
            Kind::Reply,
            vec![Segment::own(spoken)],
            now,
        );
        self.cx.emit(told, now);
        // The line itself shows it.
        self.cx.answers.clear();
    }
}

/// Returns the characters of a line in the range `from..to`.
fn part(line: &str, from: usize, to: usize) -> String {
    line.chars()
        .skip(from)
        .take(to.saturating_sub(from))
        .collect()
}
