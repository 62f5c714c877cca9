//! The listening half of the conversation: what each reply and event means for it.
//!
//! Responsibilities: matching replies to commands and events to messages, and what an error code
//! leads to. Not here: what is asked and when (the module above).

use std::time::Instant;

use super::{
    DUMMY, DYING, DaemonFault, DaemonRequest, Dialogue, DialogueEvent, EARLY_EVENTS, Job, JobStage,
    Purpose, REFUSALS, REPLY_LINES, Serial, VOICE_LINES,
};
use crate::announce::Reason;
use crate::config::Knob;
use crate::voice::ssip::{self, MessageEvent, ServerUnit};
use crate::voice::voice_languages::Languages;

/// The code for a message with nothing to say; measured on speech-dispatcher 0.11.
const NOTHING_TO_SAY: u16 = 227;

impl Dialogue {
    pub(super) fn hear(&mut self, said: ServerUnit, now: Instant) {
        match said {
            ServerUnit::Part { text } => self.hear_part(text),
            ServerUnit::Reply { code } => self.hear_reply(code, now),
            ServerUnit::Event { happening, message } => self.hear_event(happening, message, now),
        }
    }

    fn hear_part(&mut self, text: String) {
        if self.asked.front().map(|asked| &asked.request) == Some(&DaemonRequest::Voices) {
            self.voice_lines += 1;
            if self.voice_lines > VOICE_LINES {
                return self.fail(DaemonFault::Garbage);
            }
            // A line contains name, language and variant, separated by tabs (SSIP 4.6).
            let mut columns = text.split('\t');
            if let (Some(name), Some(tag)) = (columns.next(), columns.next()) {
                self.voices.get_or_insert_default().add(name, tag);
            }
        } else if self.parts.len() < REPLY_LINES {
            self.parts.push(text);
        } else {
            self.fail(DaemonFault::Garbage);
        }
    }

    fn hear_reply(&mut self, code: u16, now: Instant) {
        let parts = std::mem::take(&mut self.parts);
        let Some(asked) = self.asked.pop_front() else {
            return self.fail(DaemonFault::Garbage);
        };
        let ok = ssip::is_ok(code);
        match asked.request {
            // A rejected name costs only a worse entry in the daemon's history.
            DaemonRequest::ClientName | DaemonRequest::PlainText | DaemonRequest::Quit => {}
            DaemonRequest::NotifyAll if ok => {}
            DaemonRequest::NotifyAll => {
                for kind in ["CANCEL", "END", "BEGIN"] {
                    self.steps.push_front(DaemonRequest::Notify(kind));
                }
            }
            DaemonRequest::Notify(_) if ok => {}
            DaemonRequest::Notify(_) => self.fail(DaemonFault::NoEvents),
            DaemonRequest::Modules => {
                let real = parts
                    .iter()
                    .any(|name| !name.trim().is_empty() && name.trim() != DUMMY);
                if ok && !real {
                    self.fail(DaemonFault::OnlyDummy);
                }
            }
            DaemonRequest::Module => {
                if ok && parts.first().is_some_and(|name| name.trim() == DUMMY) {
                    self.fail(DaemonFault::OnlyDummy);
                }
            }
            DaemonRequest::BaseLanguage => {
                let tag = parts.first().map(|tag| tag.trim());
                self.base_language = tag
                    .filter(|_| ok)
                    .and_then(ssip::language)
                    .map(str::to_owned);
                self.language.clone_from(&self.base_language);
            }
            DaemonRequest::BaseRate => self.rate.found(parts.first().filter(|_| ok)),
            DaemonRequest::BasePitch => self.pitch.found(parts.first().filter(|_| ok)),
            DaemonRequest::BaseVolume => self.volume.found(parts.first().filter(|_| ok)),
            DaemonRequest::BaseVoice => self.voice.found(parts.first().filter(|_| ok)),
            DaemonRequest::BasePunctuation => self.punctuation.found(parts.first().filter(|_| ok)),
            DaemonRequest::Rate(rate) => {
                self.rate.set(rate, ok);
                let text = Reason::new("voice.cause.keeps.rate");
                self.refuses(Knob::Rate, ok, text);
            }
            DaemonRequest::Volume(volume) => {
                self.volume.set(volume, ok);
                let text = Reason::new("voice.cause.keeps.volume");
                self.refuses(Knob::Volume, ok, text);
            }
            DaemonRequest::Punctuation(level) => {
                self.punctuation.set(level, ok, false);
                let text = Reason::new("voice.cause.keeps.punctuation");
                self.refuses(Knob::Punctuation, ok, text);
            }
            DaemonRequest::Voice(name) => {
                if !ok {
                    self.tell_no_such_voice(&name);
                    if let Some(job) = &mut self.job {
                        job.sound.delivery.voice = None;
                    }
                }
                self.voice.set(name, ok, true);
            }
            // Refused or not, it counts as set: asking again would not change the answer.
            DaemonRequest::Priority(priority) => self.priority = Some(priority),
            DaemonRequest::Language(tag) if ok || self.base_language.as_ref() == Some(&tag) => {
                self.language = Some(tag);
                // With another language, the daemon may choose another voice.
                self.voice.doubt();
            }
            DaemonRequest::Language(tag) => {
                self.tell_no_voice(&tag);
                if let Some(job) = &mut self.job {
                    job.language = None;
                }
            }
            DaemonRequest::Pitch(pitch) => {
                self.pitch.set(pitch, ok);
                let text = Reason::new("voice.cause.keeps.pitch");
                self.refuses(Knob::Pitch, ok, text);
            }
            // A module that can't list its voices gives an empty list, which counts as speaking everything.
            DaemonRequest::Voices => {
                self.voices.get_or_insert_with(Languages::default);
            }
            DaemonRequest::Speak(serial) => self.permitted(serial, ok, code, now),
            DaemonRequest::Body(serial) => self.queued(serial, code, &parts, now),
            DaemonRequest::Cancel => {}
        }
    }

    /// Sends the text, or an empty one if the job has been stopped meanwhile.
    fn permitted(&mut self, serial: Serial, ok: bool, code: u16, now: Instant) {
        let current = self.job.as_mut().filter(|job| job.serial == serial);
        if !ok {
            if current.is_some() {
                self.refused(code);
            }
            return;
        }
        let body = match current {
            Some(job) => {
                job.stage = JobStage::Handing;
                ssip::body(&job.text)
            }
            None => ".\r\n".to_owned(),
        };
        self.outgoing.extend_from_slice(body.as_bytes());
        self.ask(DaemonRequest::Body(serial), now);
    }

    /// Records the message's number and processes the events that arrived before it.
    fn queued(&mut self, serial: Serial, code: u16, parts: &[String], now: Instant) {
        let message: Option<u64> = parts.iter().find_map(|part| part.trim().parse().ok());
        let begin = match self.job.as_ref().map(|job| job.purpose) {
            Some(Purpose::Test) => self.limits.probe,
            Some(Purpose::Utterance(_)) | None => self.limits.begin,
        };
        let Some(job) = self.job.as_mut().filter(|job| job.serial == serial) else {
            if let Some(message) = message {
                self.bury(message);
            }
            return;
        };
        if !ssip::is_ok(code) {
            // A text over the daemon's limit is spoken in part despite the error (SSIP 4.1).
            self.refused(code);
            return self.ask(DaemonRequest::Cancel, now);
        }
        if code == NOTHING_TO_SAY && message.is_none() {
            return self.finished(MessageEvent::End);
        }
        job.stage = JobStage::Queued {
            message,
            until: now + begin,
        };
        for (happening, message) in std::mem::take(&mut self.early) {
            self.hear_event(happening, message, now);
        }
    }

    /// Handles an event; one about a message other than the job's only removes it from the dying messages.
    pub(super) fn hear_event(&mut self, happening: MessageEvent, message: u64, now: Instant) {
        if let Some(place) = self.dying.iter().position(|dying| *dying == message) {
            match happening {
                MessageEvent::End | MessageEvent::Cancel => {
                    self.dying.remove(place);
                }
                MessageEvent::Begin | MessageEvent::Pause | MessageEvent::Resume => {}
            }
            return;
        }
        let Some(job) = &mut self.job else {
            return;
        };
        match job.stage {
            JobStage::Preparing | JobStage::Asking => return,
            JobStage::Handing => {
                if self.early.len() == EARLY_EVENTS {
                    self.early.pop_front();
                }
                return self.early.push_back((happening, message));
            }
            JobStage::Queued { message: None, .. } if happening == MessageEvent::Begin => {}
            JobStage::Queued {
                message: Some(ours),
                ..
            }
            | JobStage::Sounding { message: ours, .. }
            | JobStage::Held { message: ours }
                if ours == message => {}
            JobStage::Queued { .. } | JobStage::Sounding { .. } | JobStage::Held { .. } => return,
        }
        match happening {
            MessageEvent::Begin | MessageEvent::Resume => {
                let first = matches!(job.stage, JobStage::Queued { .. });
                let longest = match job.purpose {
                    Purpose::Test => self.limits.probe,
                    Purpose::Utterance(_) => self.limits.end_of(&job.text),
                };
                job.stage = JobStage::Sounding {
                    message,
                    until: now + longest,
                };
                if let (true, Purpose::Utterance(id)) = (first, job.purpose) {
                    self.refusals = 0;
                    self.news.push_back(DialogueEvent::Begun(id));
                }
            }
            MessageEvent::Pause => job.stage = JobStage::Held { message },
            MessageEvent::End | MessageEvent::Cancel => self.finished(happening),
        }
    }

    /// Ends the job and reports the outcome.
    fn finished(&mut self, happening: MessageEvent) {
        let Some(Job { purpose, .. }) = self.job.take() else {
            return;
        };
        self.news.push_back(match (purpose, happening) {
            // Cancelled means that another program is speaking: so the daemon has sound.
            (Purpose::Test, _) => DialogueEvent::Opened,
            (Purpose::Utterance(id), MessageEvent::Cancel) => DialogueEvent::Cut(id),
            (
                Purpose::Utterance(id),
                MessageEvent::End
                | MessageEvent::Begin
                | MessageEvent::Pause
                | MessageEvent::Resume,
            ) => DialogueEvent::Ended(id),
        });
    }

    /// Handles the daemon's refusal of a message.
    fn refused(&mut self, code: u16) {
        let Some(job) = self.job.take() else {
            return;
        };
        self.refusals += 1;
        match job.purpose {
            Purpose::Test => self.fail(DaemonFault::Refuses(code)),
            Purpose::Utterance(id) => {
                self.news.push_back(DialogueEvent::Cut(id));
                if self.refusals >= REFUSALS {
                    self.fail(DaemonFault::Refuses(code));
                }
            }
        }
    }

    /// Remembers a cancelled message until the daemon reports its end.
    pub(super) fn bury(&mut self, message: u64) {
        if self.dying.len() == DYING {
            self.dying.pop_front();
        }
        self.dying.push_back(message);
    }

    /// Reports once that something can't be changed, if it was refused.
    fn refuses(&mut self, knob: Knob, ok: bool, text: Reason) {
        if !ok && self.told.knobs.insert(knob) {
            self.news.push_back(DialogueEvent::Notice(text));
        }
    }
}
