//! What docs/questions.md says about when an answer counts, written a second time and as simply as it is explained
//! there. It shares no code with the program: it knows bytes, times, and when a question was visible.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use hearken::protocol::Now;

/// Bytes that are read at a time, in milliseconds.
pub type ByteReads = (u64, &'static [u8]);

const ARM: Duration = Duration::from_millis(400);
const APART: Duration = Duration::from_millis(150);
const UNFINISHED: Duration = Duration::from_millis(100);
const HELD: Duration = Duration::from_millis(700);
/// How long the second step may take, counted from its request, which a busy loop makes a little after the key.
const PATIENCE: Duration = Duration::from_millis(60_000 + 300);
const REMEMBERED: Duration = Duration::from_secs(200);

const PASTE: &[u8] = b"\x1b[200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";
const RELEASES: [&[u8]; 2] = [b"\x1b[121;1:3u", b"\x1b[99;1:3u"];
const REPEATED: &[u8] = b"\x1b[121;1:2u";
const LOOKS_AWAY: &[u8] = b"\x1b[O";

struct ReadBytes {
    at: Now,
    bytes: Vec<u8>,
    /// Whether it began inside a paste, or in the remainder of one.
    pasted: bool,
}

#[derive(Debug, Clone, Copy)]
enum Paste {
    /// No paste; how much of a start mark has been read, and when.
    Out(usize, Duration),
    In(usize, Duration),
    /// It stalled: everything is swallowed until its end mark or Escape.
    Left(usize, Duration),
}

pub struct Model {
    token: String,
    high: bool,
    closed: bool,
    sight: Option<Duration>,
    /// Since when it has been continuously visible, itself or its list.
    seen: Option<Duration>,
    /// When the list of choices was first requested.
    listed: Option<Duration>,
    reads: VecDeque<ReadBytes>,
    paste: Paste,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            token: String::new(),
            high: false,
            closed: true,
            sight: None,
            seen: None,
            listed: None,
            reads: VecDeque::new(),
            paste: Paste::Out(0, Duration::ZERO),
        }
    }
}

impl Model {
    pub fn asked(&mut self, token: &str, high: bool) {
        self.token = token.to_owned();
        self.high = high;
        self.closed = false;
        self.sight = None;
        self.seen = None;
        self.listed = None;
    }

    pub fn in_sight(&mut self, token: &str, since: Duration) {
        if token == self.token {
            self.sight = Some(since);
            self.seen.get_or_insert(since);
        }
    }

    pub fn out_of_sight(&mut self) {
        self.sight = None;
        self.seen = None;
    }

    pub fn closed(&mut self) {
        self.closed = true;
    }

    pub fn is_closed(&self) -> bool {
        self.closed
    }

    pub fn is_high(&self) -> bool {
        self.high
    }

    pub fn read(&mut self, bytes: &[u8], at: Now) {
        let time = at.monotonic;
        self.pass(time);
        let pasted = !matches!(self.paste, Paste::Out(..));
        for byte in bytes {
            self.byte(*byte, time);
        }
        // A loss of focus is not a hand at work.
        let mut bytes = bytes.to_vec();
        while let Some(from) = bytes.windows(3).position(|it| it == LOOKS_AWAY) {
            bytes.drain(from..from + 3);
        }
        if bytes.is_empty() {
            return;
        }
        if !pasted && bytes.iter().any(|byte| matches!(byte, b'o' | b'O')) {
            self.listed.get_or_insert(time);
        }
        self.reads.push_back(ReadBytes { at, bytes, pasted });
        while self.reads.len() > 2 && time > self.reads[0].at.monotonic + REMEMBERED {
            self.reads.pop_front();
        }
    }

    /// Applies the passage of time to a paste that does not continue, and to an unfinished start mark.
    fn pass(&mut self, now: Duration) {
        let ms = Duration::from_millis;
        if let Paste::In(mark, last) = self.paste
            && now >= last + ms(1000)
        {
            self.paste = Paste::Left(mark, last);
        }
        self.paste = match self.paste {
            Paste::Left(1, last) if now >= last + ms(25) => Paste::Out(0, now),
            Paste::Out(1, since) if now >= since + ms(25) => Paste::Out(0, now),
            Paste::Out(2.., since) if now >= since + ms(100) => Paste::Out(0, now),
            other => other,
        };
    }

    fn byte(&mut self, byte: u8, now: Duration) {
        let next = |mark: usize, wanted: &[u8]| match byte {
            byte if byte == wanted[mark] => mark + 1,
            0x1b => 1,
            _ => 0,
        };
        self.paste = match self.paste {
            Paste::Out(mark, since) => match next(mark, PASTE) {
                6 => Paste::In(0, now),
                1 => Paste::Out(1, now),
                mark => Paste::Out(mark, since),
            },
            Paste::In(..) if byte == 3 => Paste::Left(0, now),
            Paste::In(mark, _) => match next(mark, PASTE_ENDS) {
                6 => Paste::Out(0, now),
                mark => Paste::In(mark, now),
            },
            Paste::Left(mark, _) => match next(mark, PASTE_ENDS) {
                6 => Paste::Out(0, now),
                mark => Paste::Left(mark, now),
            },
        };
    }

    /// Checks an acceptance by the last input, read at that time; the error says why it is wrong.
    pub fn explain(&self, token: &str, read: Duration, now: Now) -> Result<(), String> {
        if self.closed || token != self.token {
            return Err("it is not the question".into());
        }
        let last = self.reads.len() - 1;
        if self.reads[last].at.monotonic != read || now.monotonic < read {
            return Err("it was not read then".into());
        }
        if !self.high {
            return self.first_step(last);
        }
        let end = &self.reads[last];
        let mut why = "no second step is there".to_owned();
        let places = (0..end.bytes.len()).filter(|at| matches!(end.bytes[*at], b'c' | b'C'));
        for place in places {
            for first in (0..=last).rev() {
                match self.two_steps(first, last, place) {
                    Ok(()) => return Ok(()),
                    Err(reason) => why = reason,
                }
                if end.at.monotonic > self.reads[first].at.monotonic + PATIENCE {
                    break;
                }
            }
        }
        Err(why)
    }

    /// Checks an answer by number: it takes the list, the number or Enter in it, and the second step, each read
    /// separately; the choice must have been visible for long enough.
    pub fn explain_choice(&self, token: &str, read: Duration) -> Result<(), String> {
        if self.closed || token != self.token {
            return Err("it is not the question".into());
        }
        let has = |read: &ReadBytes, keys: &[u8]| {
            !read.pasted && read.bytes.iter().any(|byte| keys.contains(byte))
        };
        let mut reads = self.reads.iter().rev();
        let last = reads.next().filter(|last| has(last, b"cC"));
        if last.is_none_or(|last| last.at.monotonic != read) {
            return Err("no second step".into());
        }
        let picked = reads.map(|it| (it.at.monotonic, has(it, b"1\r")));
        let mut picked = picked.filter(|(at, picks)| *picks && *at + APART <= read);
        let Some((picked, _)) = picked.next() else {
            return Err("nothing was chosen, or too soon before".into());
        };
        if self.listed.is_none_or(|listed| listed > picked) {
            return Err("there was no list to choose from".into());
        }
        if self.seen.is_none_or(|since| picked < since + ARM) {
            return Err(format!("seen since {:?}", self.seen));
        }
        Ok(())
    }

    /// Checks that the answering key is the first of its read, that nothing was read for long enough before it, and
    /// that the question was visible for as long.
    fn first_step(&self, at: usize) -> Result<(), String> {
        let read = &self.reads[at];
        let time = read.at.monotonic;
        if !matches!(read.bytes[0], b'y' | b'Y') {
            return Err("no key that accepts".into());
        }
        if read.pasted {
            return Err("it was pasted".into());
        }
        if self.sight.is_none_or(|since| time < since + ARM) {
            return Err(format!("in sight since {:?}", self.sight));
        }
        let Some(before) = at.checked_sub(1).map(|before| &self.reads[before]) else {
            return Ok(());
        };
        if time < before.at.monotonic + ARM {
            return Err("a hand was at work".into());
        }
        // Right after half a sequence it may have been no key, but the rest of the sequence.
        let whole = at.checked_sub(2).is_none_or(|earlier| {
            before.at.monotonic >= self.reads[earlier].at.monotonic + UNFINISHED
        });
        let key = matches!(before.bytes[..], [b'y' | b'Y']) && !before.pasted;
        if key && whole && time < before.at.monotonic + HELD {
            return Err("it may only be held".into());
        }
        Ok(())
    }

    fn two_steps(&self, first: usize, last: usize, place: usize) -> Result<(), String> {
        self.first_step(first)?;
        let (from, to) = (self.reads[first].at, self.reads[last].at);
        let apart = to.monotonic - from.monotonic;
        let asleep = Duration::try_from(to.wall.duration_since(from.wall)).unwrap_or_default();
        if apart < APART || apart.max(asleep) >= PATIENCE {
            return Err(format!("{apart:?} apart, {asleep:?} by the calendar"));
        }
        let mut held = Some(from.monotonic);
        for at in first..=last {
            let read = &self.reads[at];
            let from = usize::from(at == first);
            let to = if at == last { place } else { read.bytes.len() };
            let between = read.bytes.get(from..to).unwrap_or_default();
            if !is_harmless(between, read.at.monotonic, &mut held) {
                return Err(format!("{between:?} in between"));
            }
        }
        Ok(())
    }
}

/// Returns whether bytes are repeats of the key, or releases.
fn is_harmless(mut bytes: &[u8], at: Duration, held: &mut Option<Duration>) -> bool {
    while let Some(first) = bytes.first() {
        if matches!(first, b'y' | b'Y') {
            if held.is_none_or(|last| at >= last + HELD) {
                return false;
            }
            *held = Some(at);
            bytes = &bytes[1..];
        } else if let Some(rest) = bytes.strip_prefix(REPEATED) {
            *held = Some(at);
            bytes = rest;
        } else if let Some(rest) = RELEASES.iter().find_map(|it| bytes.strip_prefix(*it)) {
            *held = None;
            bytes = rest;
        } else {
            return false;
        }
    }
    true
}

impl fmt::Display for Model {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "in sight since {:?}, {:?}", self.sight, self.paste)?;
        for read in self.reads.iter().rev().take(20) {
            let bytes = read.bytes.escape_ascii();
            writeln!(out, "{:?} {bytes}", read.at.monotonic)?;
        }
        Ok(())
    }
}
