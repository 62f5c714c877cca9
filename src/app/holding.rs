//! What is not written yet, because a line is being typed or the person holds the lines.
//!
//! # Mental model
//! Lines scroll a braille display and a magnifier away from where the person is. So nothing is
//! written while a line is open; and `p` holds everything but the answers to the person's own lines.
//! What waits comes in its order, as soon as it may. A question that is not written can't be answered
//! by a line: nobody answers what they could not read.
//!
//! What is urgent is not said into a line either, in whichever face: the word that is typed would be lost, or
//! the question. Where the line goes on for two seconds more, one notice says that something waits.
//! What becomes of a question that was asked before is said at once: the line may be its answer.
//!
//! # Worked example
//! `n` is typed, a question comes and rings, `2` and Enter are typed: the question is written, then
//! the answer to `n 2`, which was begun before and so is not for the new question.
//!
//! # Tuning by symptom
//! Lines seem to be missing: somebody held them for very long; beyond [`MOST`] the oldest stay in the
//! history only, and that is told.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::announce::{About, Aloud, Announcement, Arg, Class, Kind, Manner};
use crate::protocol::Now;
use crate::session::{Prompt, PromptId};

use super::{App, Effect};

/// How many announcements wait: more than anybody reads at once; the history has all of them.
const MOST: usize = 1000;

/// How long something urgent waits for the end of a line before it is told that it does.
const UNTOLD: Duration = Duration::from_secs(2);

/// Holds what waits to be written.
#[derive(Debug, Clone, Default)]
pub(super) struct Holding {
    /// Whether a line is being typed.
    typing: bool,
    /// Whether the person holds the lines.
    held: bool,
    waiting: VecDeque<Arc<Announcement>>,
    /// What is urgent and not said before the line is done.
    unsaid: VecDeque<Arc<Announcement>>,
    /// When it is told that something urgent waits; once a line.
    notice: Notice,
    /// How many of them stay in the history only.
    left_out: u64,
    /// The questions that were announced and are not written.
    unwritten: BTreeSet<PromptId>,
}

/// Says how far the notice is that something urgent waits for a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Notice {
    /// Nothing urgent waits.
    #[default]
    None,
    /// It is told then.
    Due(Duration),
    /// It was told for this line.
    Told,
}

impl Holding {
    fn waits(&self, told: &Announcement) -> bool {
        // What no line is written of need not wait for one.
        !matches!(told.aloud, Aloud::Seen | Aloud::Echo)
            && (self.typing || (self.held && told.class != Class::Response))
    }

    /// Keeps something urgent unsaid.
    fn hush(&mut self, told: Arc<Announcement>, now: Duration) {
        if self.notice == Notice::None {
            self.notice = Notice::Due(now + UNTOLD);
        }
        self.unsaid.push_back(told);
        if self.unsaid.len() > MOST {
            let asks = |told: &Arc<Announcement>| matches!(told.about, Some(About::Asks(_)));
            let least = self.unsaid.iter().position(|told| !asks(told)).unwrap_or(0);
            self.unsaid.remove(least);
            self.left_out += 1;
        }
    }

    /// Gives when it is told that something urgent waits.
    pub(super) fn deadline(&self) -> Option<Duration> {
        match self.notice {
            Notice::Due(at) => Some(at),
            Notice::None | Notice::Told => None,
        }
    }

    fn keep(&mut self, told: Arc<Announcement>) {
        if let Some(About::Asks(id)) = told.about {
            self.unwritten.insert(id);
        }
        self.waiting.push_back(told);
        if self.waiting.len() > MOST {
            let least = self
                .waiting
                .iter()
                .position(|told| told.class != Class::Alert)
                .unwrap_or(0);
            self.waiting.remove(least);
            self.left_out += 1;
        }
    }
}

impl App {
    /// Shows an announcement, now or when the lines go on.
    pub(super) fn put(&mut self, told: Arc<Announcement>) {
        if self.holding.waits(&told) {
            self.holding.keep(told);
            return;
        }
        if let Some(About::Asks(id)) = told.about {
            self.holding.unwritten.remove(&id);
        }
        self.effects.push(Effect::Show(told));
    }

    /// Hands an announcement to the voice, now or when the line that is being typed is done.
    pub(super) fn utter(&mut self, told: Arc<Announcement>, now: Now) {
        if self.waits_for_line(&told) {
            self.holding.hush(told, now.monotonic);
            return;
        }
        let wishes = self.queue.push(told, now.monotonic);
        self.wish(wishes);
    }

    fn waits_for_line(&self, told: &Announcement) -> bool {
        let about = |id: PromptId| {
            let unsaid = &self.holding.unsaid;
            unsaid.iter().any(|it| it.about == Some(About::Asks(id)))
        };
        self.is_typing()
            && match (told.class, told.about) {
                (Class::Alert, Some(About::Tells(id))) => about(id),
                (Class::Alert, Some(About::Asks(_)) | None) => true,
                (Class::Response | Class::Outcome | Class::Activity | Class::Stream, _) => false,
            }
    }

    fn is_typing(&self) -> bool {
        match self.manner {
            Manner::Lines => self.holding.typing,
            Manner::Keys => self.doing.is_typing(),
        }
    }

    /// Tells that something urgent waits for the line, or says it where the line is done.
    pub(super) fn tick_line(&mut self, now: Now) {
        if !self.is_typing() {
            self.holding.notice = Notice::None;
            for told in std::mem::take(&mut self.holding.unsaid) {
                if let Some(told) = self.fresh(told, now) {
                    let wishes = self.queue.push(told, now.monotonic);
                    self.wish(wishes);
                }
            }
            return;
        }
        if self.holding.deadline().is_none_or(|at| now.monotonic < at) {
            return;
        }
        self.holding.notice = Notice::Told;
        let asks = |told: &Arc<Announcement>| matches!(told.about, Some(About::Asks(_)));
        let key = if self.holding.unsaid.iter().any(asks) {
            "hold.question"
        } else {
            "hold.urgent"
        };
        let class = Class::Response;
        let told = self.announcer.say(class, Kind::Hint, key, &[], now);
        // It is written into the line's own place, which is begun anew below it.
        self.effects.push(Effect::Show(Arc::clone(&told)));
        let wishes = self.queue.push(told, now.monotonic);
        self.wish(wishes);
    }

    /// Gives what waited as it is true now: a question with the time that is left, or nothing where it is over.
    fn fresh(&self, told: Arc<Announcement>, now: Now) -> Option<Arc<Announcement>> {
        let Some(About::Asks(id)) = told.about else {
            return Some(told);
        };
        let prompt = self.sessions.prompt(id).filter(|prompt| prompt.is_open())?;
        Some(Arc::new(Announcement {
            segments: self.announcer.ask_again(prompt, &self.sessions, now),
            ..Announcement::clone(&told)
        }))
    }

    /// A line was begun: nothing is written until it is done or let go.
    pub(super) fn line_begun(&mut self, now: Now) {
        self.reviewing.note(now.monotonic);
        self.holding.typing = true;
    }

    /// The line is done or let go.
    pub(super) fn line_over(&mut self, now: Now) {
        self.holding.typing = false;
        if !self.holding.held {
            self.write_waiting(now);
        }
    }

    /// Holds the lines, or lets them go on.
    pub(super) fn hold(&mut self, now: Now) {
        if self.face.0 == "start.face.json" {
            self.respond("hold.never", &[], now);
        } else if self.holding.held {
            self.holding.held = false;
            let n = self.holding.waiting.len();
            self.respond("hold.off", &[("n", Arg::own(n))], now);
            self.write_waiting(now);
        } else {
            self.holding.held = true;
            self.respond("hold.on", &[], now);
        }
    }

    /// Writes what waits.
    fn write_waiting(&mut self, now: Now) {
        let left_out = std::mem::take(&mut self.holding.left_out);
        if left_out > 0 {
            let args = [("n", Arg::own(left_out))];
            self.say(Class::Outcome, Kind::Hint, "hold.left_out", &args, now);
        }
        for told in std::mem::take(&mut self.holding.waiting) {
            self.put(told);
        }
        let sessions = &self.sessions;
        let open = |id: &PromptId| sessions.prompt(*id).is_some_and(Prompt::is_open);
        self.holding.unwritten.retain(open);
    }

    /// Writes everything that waits, because the program ends.
    pub(super) fn release_all(&mut self, now: Now) {
        self.holding.typing = false;
        self.holding.held = false;
        self.write_waiting(now);
    }

    /// Tells whether a question is announced and not written yet.
    pub(super) fn is_unwritten(&self, prompt: &Prompt) -> bool {
        self.holding.unwritten.contains(&prompt.id)
    }
}
