//! The figures as lines for people and as JSON.

use std::time::Duration;

use serde_json::json;

use super::Measurement;
use super::measured_child::MeasuredRun;
use crate::announce::{Arg, Phrases};

const MEBIBYTE: f64 = 1_048_576.0;

/// The way in which the events arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventPacing {
    /// By `watch` of an event stream.
    Socket,
    /// By `replay` of a recording.
    File,
    /// By `check` of a recording.
    Check,
}

impl EventPacing {
    fn name(self) -> &'static str {
        match self {
            Self::Socket => "socket",
            Self::File => "file",
            Self::Check => "check",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::Socket => "bench.socket",
            Self::File => "bench.file",
            Self::Check => "bench.check",
        }
    }
}

/// The cost of a flood.
#[derive(Debug, Clone)]
pub(super) struct Cost {
    pub(super) way: EventPacing,
    pub(super) events: usize,
    pub(super) request: Measurement,
    pub(super) ran: MeasuredRun,
}

impl Cost {
    /// Returns the number of events per second.
    fn rate(&self) -> f64 {
        self.events as f64 / self.ran.took.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    /// Returns the processor time per event, in microseconds.
    fn each(&self) -> Option<f64> {
        let processor = self.ran.spent.processor?;
        Some(processor.as_secs_f64() * 1e6 / self.events.max(1) as f64)
    }

    /// Returns it as one line.
    pub(super) fn text(&self, words: &Phrases) -> String {
        let mut args = vec![
            ("way", Arg::Own(words.text(self.way.label(), &[]))),
            ("rate", Arg::Own(format!("{:.0}", self.rate()))),
        ];
        match self.each() {
            Some(each) => {
                let place = if self.ran.whole { "each" } else { "least" };
                args.push((place, Arg::Own(format!("{each:.1}"))));
            }
            None => args.push(("no_time", Arg::Own(words.text("bench.no_time", &[])))),
        }
        match self.ran.spent.peak {
            Some(peak) => {
                let peak = format!("{:.0}", peak as f64 / MEBIBYTE);
                args.push(("peak", Arg::Own(peak)));
            }
            None => args.push(("no_peak", Arg::Own(words.text("bench.no_peak", &[])))),
        }
        words.text("bench.cost", &args)
    }

    /// Returns it as one JSON object.
    pub(super) fn json(&self) -> String {
        json!({
            "part": self.way.name(),
            "events": self.events,
            "sessions": self.request.sessions,
            "agents": self.request.agents,
            "questions": self.request.questions,
            "seconds": self.ran.took.as_secs_f64(),
            "events_per_second": self.rate().round(),
            "processor_us_per_event": self.each(),
            "processor_is_whole": self.ran.whole,
            "peak_bytes": self.ran.spent.peak,
        })
        .to_string()
    }
}

/// The latency of events.
#[derive(Debug, Clone)]
pub(super) struct Latency {
    /// The number of events per second.
    pub(super) rate: u32,
    /// How many of them were marked for timing.
    pub(super) marked: usize,
    /// The latencies of those that were written, sorted.
    pub(super) times: Vec<Duration>,
    pub(super) ran: MeasuredRun,
}

/// Returns a percentile of sorted times, in milliseconds.
fn of_hundred(times: &[Duration], so_many: usize) -> Option<f64> {
    let at = (times.len() * so_many).div_ceil(100).saturating_sub(1);
    times.get(at).map(|time| time.as_secs_f64() * 1e3)
}

impl Latency {
    /// Returns it as one line.
    pub(super) fn text(&self, words: &Phrases) -> String {
        let number = |n: usize| Arg::Own(n.to_string());
        let rate = ("rate", Arg::Own(self.rate.to_string()));
        let figures = [50, 99, 100].map(|n| of_hundred(&self.times, n));
        let [Some(median), Some(p99), Some(worst)] = figures else {
            return words.text("bench.untimed", &[rate]);
        };
        let time = |time: f64| Arg::Own(format!("{time:.1}"));
        let mut args = vec![
            rate,
            ("median", time(median)),
            ("p99", time(p99)),
            ("worst", time(worst)),
            ("timed", number(self.times.len())),
        ];
        let lost = self.marked.saturating_sub(self.times.len());
        if lost > 0 {
            args.push(("lost", number(lost)));
        }
        words.text("bench.latency", &args)
    }

    /// Returns it as one JSON object.
    pub(super) fn json(&self) -> String {
        json!({
            "part": "latency",
            "events_per_second": self.rate,
            "marked": self.marked,
            "timed": self.times.len(),
            "p50_ms": of_hundred(&self.times, 50),
            "p99_ms": of_hundred(&self.times, 99),
            "worst_ms": of_hundred(&self.times, 100),
            "peak_bytes": self.ran.spent.peak,
        })
        .to_string()
    }
}

/// The latency of typed input, each list sorted and not empty.
#[derive(Debug, Clone)]
pub(super) struct InputLatency {
    /// The number of events per second.
    pub(super) rate: u32,
    /// From an answer to its reply.
    pub(super) replies: Vec<Duration>,
    /// From a stop to the voice; `None` if no voice could be reached.
    pub(super) stops: Option<Vec<Duration>>,
}

impl InputLatency {
    /// Returns it as one line, which follows the latency line for the same rate.
    pub(super) fn text(&self, words: &Phrases) -> String {
        let mut args = Vec::new();
        let stops = self.stops.as_ref();
        let kinds = [
            (["replies", "reply", "reply_worst"], Some(&self.replies)),
            (["stops", "stop", "stop_worst"], stops),
        ];
        for ([count, median, worst], times) in kinds {
            let Some(times) = times else { continue };
            args.push((count, Arg::Own(times.len().to_string())));
            for (name, n) in [(median, 50), (worst, 100)] {
                let time = of_hundred(times, n);
                args.extend(time.map(|time| (name, Arg::Own(format!("{time:.1}")))));
            }
        }
        words.text("bench.typed", &args)
    }

    /// Returns it as one JSON object.
    pub(super) fn json(&self) -> String {
        let figures = |times: &Vec<Duration>| {
            json!({
                "timed": times.len(),
                "p50_ms": of_hundred(times, 50),
                "p99_ms": of_hundred(times, 99),
                "worst_ms": of_hundred(times, 100),
            })
        };
        json!({
            "part": "typed",
            "events_per_second": self.rate,
            "reply": figures(&self.replies),
            "silence": self.stops.as_ref().map(figures),
        })
        .to_string()
    }
}

/// The resources used when idle.
#[derive(Debug, Clone)]
pub(super) struct IdleUse {
    /// The time from a start to its end, with next to nothing to do.
    pub(super) start: Duration,
    /// How long nothing arrived.
    pub(super) idle: Duration,
    /// How often it was woken in that time.
    pub(super) wakings: Option<u64>,
    /// Its peak memory.
    pub(super) peak: Option<u64>,
    /// The demo's peak memory in the meantime.
    pub(super) demo: Option<u64>,
}

impl IdleUse {
    /// Returns it as one line.
    pub(super) fn text(&self, words: &Phrases) -> String {
        let start = format!("{:.1}", self.start.as_secs_f64() * 1e3);
        let mut args = vec![
            ("start", Arg::Own(start)),
            ("seconds", Arg::Own(self.idle.as_secs().to_string())),
        ];
        args.extend(match self.wakings {
            Some(0) => Some(("never", Arg::Own(words.text("bench.never", &[])))),
            Some(wakings) => Some(("wakings", Arg::Own(wakings.to_string()))),
            None => None,
        });
        for (name, bytes) in [("peak", self.peak), ("demo", self.demo)] {
            let mebibytes = bytes.map(|bytes| bytes as f64 / MEBIBYTE);
            args.extend(mebibytes.map(|number| (name, Arg::Own(format!("{number:.0}")))));
        }
        words.text("bench.quiet", &args)
    }

    /// Returns it as one JSON object.
    pub(super) fn json(&self) -> String {
        json!({
            "part": "quiet",
            "start_ms": self.start.as_secs_f64() * 1e3,
            "idle_seconds": self.idle.as_secs(),
            "wakings": self.wakings,
            "peak_bytes": self.peak,
            "demo_peak_bytes": self.demo,
        })
        .to_string()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::announce::BUILT_IN;
    use crate::platform::ResourceUse;

    fn ran(spent: ResourceUse, whole: bool) -> MeasuredRun {
        MeasuredRun {
            ended: Instant::now(),
            took: Duration::from_secs(2),
            spent,
            whole,
        }
    }

    fn cost(spent: ResourceUse, whole: bool) -> Cost {
        Cost {
            way: EventPacing::Socket,
            events: 1000,
            request: Measurement {
                sessions: 1,
                agents: 1,
                questions: 0,
                events: 1000,
                paced: Duration::ZERO,
                json: true,
            },
            ran: ran(spent, whole),
        }
    }

    fn latency(times: &[u64]) -> Latency {
        Latency {
            rate: 1000,
            marked: 4,
            times: times.iter().copied().map(Duration::from_millis).collect(),
            ran: ran(ResourceUse::default(), true),
        }
    }

    fn quiet(wakings: Option<u64>) -> IdleUse {
        IdleUse {
            start: Duration::from_micros(2100),
            idle: Duration::from_secs(5),
            wakings,
            peak: wakings.map(|_| 13 << 20),
            demo: wakings.map(|_| 16 << 20),
        }
    }

    fn typed(stops: bool) -> InputLatency {
        let times = |times: &[u64]| times.iter().copied().map(Duration::from_millis).collect();
        InputLatency {
            rate: 1000,
            replies: times(&[1, 2, 3]),
            stops: stops.then(|| times(&[4])),
        }
    }

    #[test]
    fn what_was_typed_is_told_and_a_stop_only_where_it_was_timed() {
        let words = Phrases::english().unwrap();
        let reply = "Beside as many, from a typed answer to its reply: 2.0 milliseconds at the median, 3.0 at worst; 3 timed.";
        let stop = "From a typed stop to the voice: 4.0 and 4.0; 1 timed.";
        assert_eq!(typed(true).text(&words), format!("{reply} {stop}"));
        assert_eq!(typed(false).text(&words), reply);
        let silence = |stops| -> serde_json::Value {
            serde_json::from_str::<serde_json::Value>(&typed(stops).json()).unwrap()["silence"]
                .clone()
        };
        assert_eq!(silence(true)["p50_ms"], 4.0);
        assert!(silence(false).is_null());
    }

    #[test]
    fn a_program_that_sleeps_is_said_to() {
        let words = Phrases::english().unwrap();
        for (wakings, said) in [
            (
                Some(0),
                "Start: 2.1 milliseconds. 5 seconds with a silent agent: never woken, 13 MiB of memory, in the demo 16.",
            ),
            (
                Some(1),
                "Start: 2.1 milliseconds. 5 seconds with a silent agent: woken 1 time, 13 MiB of memory, in the demo 16.",
            ),
            (
                None,
                "Start: 2.1 milliseconds. 5 seconds with a silent agent.",
            ),
        ] {
            assert_eq!(quiet(wakings).text(&words), said);
        }
    }

    #[test]
    fn what_the_system_does_not_tell_is_said() {
        let words = Phrases::english().unwrap();
        let spent = ResourceUse {
            processor: Some(Duration::from_millis(11)),
            peak: Some(40 << 20),
        };
        let text = cost(spent, true).text(&words);
        assert!(
            text.contains("500 events a second, 11.0 microseconds"),
            "{text}"
        );
        assert!(text.contains("40 MiB"), "{text}");
        let text = cost(spent, false).text(&words);
        assert!(text.contains("at least 11.0 microseconds"), "{text}");
        let text = cost(ResourceUse::default(), true).text(&words);
        assert!(
            text.contains("does not say how much processor time"),
            "{text}"
        );
        assert!(text.contains("does not say how much memory"), "{text}");
        assert!(
            cost(ResourceUse::default(), true)
                .json()
                .contains("\"peak_bytes\":null")
        );
    }

    #[test]
    fn times_are_told_by_rank_and_what_never_came_out_is_told() {
        let words = Phrases::english().unwrap();
        let text = latency(&[1, 2, 9]).text(&words);
        assert!(text.contains("2.0 milliseconds at the median"), "{text}");
        assert!(text.contains("9.0 at worst"), "{text}");
        assert!(text.contains("1 event that was to be timed"), "{text}");
        assert!(!latency(&[1, 2, 9, 9]).text(&words).contains("to be timed"));
        assert!(latency(&[]).text(&words).contains("no line"));
    }

    #[test]
    fn every_language_says_all_of_it() {
        for file in &BUILT_IN {
            let words = Phrases::for_languages(&[file.tag.to_owned()]).unwrap();
            let lines = [
                cost(ResourceUse::default(), true).text(&words),
                latency(&[1]).text(&words),
                latency(&[]).text(&words),
                typed(true).text(&words),
                typed(false).text(&words),
                quiet(Some(0)).text(&words),
                quiet(Some(1)).text(&words),
                quiet(None).text(&words),
            ];
            for line in lines {
                assert!(line.ends_with('.') && !line.contains(['{', '}']), "{line}");
            }
        }
    }
}
