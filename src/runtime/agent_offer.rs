//! What `hearken watch` offers when nothing is named: a numbered list of what runs here, for the person to choose from.
//!
//! Responsibilities: asking the person, by words on the terminal and by the voice; without a terminal, listing the
//! commands. Not here: what runs (`nearby_agents`), following (`run_plan`).
//!
//! Nothing is followed unless chosen: a listener on this machine may be somebody else's.

use std::ffi::OsString;
use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use crate::announce::speakable::Profile;
use crate::announce::{Arg, Class, Deliveries, Mark, Phrases, Reason, Utterance, UtteranceId};
use crate::app::{Exit, SpeechMode};
use crate::cli::Options;
use crate::config::{Config, FaceChoice};
use crate::platform::system_signals::{Termination, TerminationSignals};
use crate::platform::terminal;
use crate::voice::{self, VoiceEvent, VoiceHandle, VoiceSink};

use super::agent_commands::startable;
use super::face_choice::{reader_present, speech_mode};
use super::nearby_agents::{
    self, AgentProtocol, Certainty, FoundAgent, HOOKS, HookedAgentState, HooksState, NearbyAgents,
};
use super::request_failure::RequestFailure;
use super::settings_file::has_opencode_password;
use super::{OutputError, run_plan};

/// The words that leave; as everywhere, a key or the word it stands for.
const LEAVE: [&str; 2] = ["q", "quit"];

/// The outcome of an offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OfferOutcome {
    /// These sources.
    Follow(Vec<String>),
    /// Nothing: the person leaves.
    Leave(Exit),
}

/// Returns the sources that a call names; if it and the settings name none, what the person chooses from what runs
/// here.
///
/// # Errors
/// When nothing runs here, there is no terminal to choose on, or the settings can't be used.
pub async fn offered(
    sources: Vec<String>,
    program: &[OsString],
    options: &Options,
) -> anyhow::Result<OfferOutcome> {
    if !sources.is_empty() || !program.is_empty() {
        return Ok(OfferOutcome::Follow(sources));
    }
    let config = run_plan::configured(options)?;
    if !config.source.is_empty() {
        return Ok(OfferOutcome::Follow(sources));
    }
    let found = nearby_agents::look().await;
    let offer = SourceOffer::of(&found);
    if offer.choices.is_empty() {
        anyhow::bail!(nothing(&found, &offer)?);
    }
    let terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if !terminal || config.screen.face == FaceChoice::Json {
        let commands: Vec<String> = offer.choices.iter().map(command).collect();
        anyhow::bail!(
            RequestFailure::new("call.nothing.chosen").with("commands", commands.join("; "))
        );
    }
    offer.choose(&config).await
}

/// Returns the command that follows a choice.
pub(super) fn command(choice: &OfferedSource) -> String {
    format!("hearken watch {}", choice.word)
}

/// Returns the failure that there is nothing to follow, with what could be started.
fn nothing(found: &NearbyAgents, offer: &SourceOffer) -> anyhow::Result<RequestFailure> {
    let deaf = found.hooked.iter().find(|one| one.lacks_hooks());
    if let (Some(remark), None) = (offer.remarks.first(), deaf) {
        let why = Reason::new(remark.key).with("at", &remark.at);
        return Ok(RequestFailure::new("call.nothing.remark").because(why));
    }
    if let Some(deaf) = deaf {
        return Ok(RequestFailure::new("call.nothing.hooks")
            .with("agent", deaf.agent.title())
            .with("name", deaf.agent.name()));
    }
    let commands = start_commands()?;
    Ok(match commands.is_empty() {
        true => RequestFailure::new("call.nothing.here"),
        false => RequestFailure::new("call.nothing.start").with("commands", commands.join(", ")),
    })
}

/// Returns the commands that start the known agents that are installed here.
pub(super) fn start_commands() -> anyhow::Result<Vec<String>> {
    let known = startable()?;
    let here = known.iter().filter(|one| one.is_here);
    Ok(here
        .map(|it| format!("hearken run {}", it.agent.name))
        .collect())
}

/// A source on offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OfferedSource {
    /// The SOURCE.
    pub(super) word: String,
    /// The phrase that describes it.
    pub(super) key: &'static str,
    /// Its address.
    at: String,
}

/// A remark on what can't be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
struct OfferRemark {
    /// The phrase.
    key: &'static str,
    /// The address, the names or the count that it is about.
    at: String,
    /// The name of the hooks to install, where that helps.
    name: &'static str,
}

/// The numbered choices, and remarks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct SourceOffer {
    pub(super) choices: Vec<OfferedSource>,
    remarks: Vec<OfferRemark>,
}

impl SourceOffer {
    pub(super) fn of(found: &NearbyAgents) -> Self {
        let mut offer = Self::default();
        for one in &found.agents {
            offer.take(one, has_opencode_password());
        }
        offer.take_hooked(&found.hooked, found.heard);
        if found.left_out > 0 {
            offer.remark("offer.left_out", found.left_out.to_string(), "");
        }
        offer
    }

    fn remark(&mut self, key: &'static str, at: String, name: &'static str) {
        self.remarks.push(OfferRemark { key, at, name });
    }

    fn take(&mut self, one: &FoundAgent, has_password: bool) {
        let at = one.at().to_owned();
        let key = match (one.speaks, one.sign) {
            (AgentProtocol::Opencode, Certainty::Locked) if !has_password => {
                return self.remark("offer.locked", at, "");
            }
            (AgentProtocol::Opencode, _) => "offer.opencode",
            (AgentProtocol::Codex, _) if at.is_empty() => "offer.codex.runs",
            (AgentProtocol::Codex, _) => "offer.codex",
            (AgentProtocol::A2a, _) => "offer.a2a",
            (AgentProtocol::Aaep, Certainty::Probable) => "offer.aaep.probable",
            (AgentProtocol::Aaep, Certainty::Sure | Certainty::Locked) => "offer.aaep",
        };
        let word = one.word.clone();
        self.choices.push(OfferedSource { word, key, at });
    }

    /// Adds the agents that hooks report: all at once, because one SOURCE hears all of them.
    fn take_hooked(&mut self, hooked: &[HookedAgentState], heard: bool) {
        let works = |it: &&HookedAgentState| {
            matches!(it.hooks, Some(HooksState::Whole | HooksState::Twice))
        };
        let whole: Vec<&HookedAgentState> = hooked.iter().filter(works).collect();
        let titles: Vec<&str> = whole.iter().map(|it| it.agent.title()).collect();
        let at = titles.join(", ");
        match whole.as_slice() {
            [] => {}
            _ if heard => self.remark("offer.hooks.heard", at, ""),
            [only] => self.choices.push(OfferedSource {
                word: only.word().to_owned(),
                key: match only.runs {
                    Some(true) => "offer.hooks.runs",
                    Some(false) | None => "offer.hooks",
                },
                at,
            }),
            _ => self.choices.push(OfferedSource {
                word: HOOKS.to_owned(),
                key: "offer.hooks.several",
                at,
            }),
        }
        for one in hooked {
            let at = one.agent.title().to_owned();
            match &one.hooks {
                Some(HooksState::Partly | HooksState::Lost { .. } | HooksState::Off) => {
                    self.remark("offer.hooks.broken", at, "");
                }
                Some(HooksState::Absent) if one.lacks_hooks() => {
                    self.remark("offer.hooks.absent", at, one.agent.name());
                }
                Some(HooksState::Absent | HooksState::Whole | HooksState::Twice) | None => {}
            }
        }
    }

    /// Returns the offer as lines of text.
    fn lines(&self, words: &Phrases) -> Vec<String> {
        let count = Arg::own(self.choices.len());
        let mut lines = vec![words.text("offer.head", &[("n", count)])];
        for (at, choice) in self.choices.iter().enumerate() {
            let args = [("n", Arg::own(at + 1)), ("at", Arg::Own(choice.at.clone()))];
            lines.push(words.text(choice.key, &args));
        }
        for OfferRemark { key, at, name } in &self.remarks {
            let args = [("at", Arg::own(at)), ("name", Arg::own(name))];
            lines.push(words.text(key, &args));
        }
        lines.push(words.text("offer.ask", &[]));
        lines
    }

    /// Reads the typed line; returns `None` if it is not a choice.
    fn read(&self, line: &str) -> Option<OfferOutcome> {
        let words: Vec<&str> = line.split([' ', ',', '\t']).map(str::trim).collect();
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        if let [word] = words.as_slice()
            && LEAVE.contains(word)
        {
            return Some(OfferOutcome::Leave(Exit::Clean));
        }
        let mut chosen: Vec<String> = Vec::new();
        for word in words {
            let number: usize = word.parse().ok()?;
            let choice = self.choices.get(number.checked_sub(1)?)?;
            if !chosen.contains(&choice.word) {
                chosen.push(choice.word.clone());
            }
        }
        (!chosen.is_empty()).then_some(OfferOutcome::Follow(chosen))
    }

    /// Presents the offer, and waits until the person has chosen.
    async fn choose(&self, config: &Config) -> anyhow::Result<OfferOutcome> {
        let words = run_plan::phrases(config)?;
        // From the moment the question is visible, it can be left.
        let mut leaving = TerminationSignals::listen()?;
        // What was typed before the question is not an answer.
        terminal::flush_input();
        let lines = self.lines(&words);
        print(&lines.join("\n"))?;
        let mut speech = OfferSpeech::open(config, &words);
        speech.say(&lines.join(" "));
        let mut line = Box::pin(typed());
        let offered = loop {
            let typed_now = tokio::select! {
                typed_now = &mut line => typed_now,
                () = speech.news() => continue,
                told = leaving.received() => break OfferOutcome::Leave(match told {
                    Termination::Interrupt => Exit::Interrupted,
                    Termination::End => Exit::Terminated,
                }),
            };
            // The end of the input ends the call.
            let Some(text) = typed_now else {
                break OfferOutcome::Leave(Exit::Clean);
            };
            if let Some(offered) = self.read(&text) {
                break offered;
            }
            let count = Arg::own(self.choices.len());
            let again = words.text("offer.again", &[("n", count)]);
            print(&again)?;
            speech.say(&again);
            line.set(typed());
        };
        speech.close().await;
        Ok(offered)
    }
}

fn print(text: &str) -> Result<(), OutputError> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}")
        .and_then(|()| out.flush())
        .map_err(OutputError)
}

/// Reads one line and no more, because the rest of the input is for the run that follows.
async fn typed() -> Option<String> {
    let (sender, receiver) = oneshot::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let count = std::io::stdin().lock().read_line(&mut line);
        // The receiver is gone if the person left by a signal.
        let _ = sender.send(matches!(count, Ok(1..)).then_some(line));
    });
    receiver.await.ok().flatten()
}

/// Speaks the offer to a person who can't see it, if hearken itself speaks.
struct OfferSpeech<'a> {
    voice: Option<VoiceHandle>,
    events: mpsc::Receiver<VoiceEvent>,
    said: u64,
    config: &'a Config,
    words: &'a Phrases,
}

impl<'a> OfferSpeech<'a> {
    fn open(config: &'a Config, words: &'a Phrases) -> Self {
        let reader = reader_present(config.screen.reader);
        let (sink, events) = VoiceSink::channel();
        let speaks = speech_mode(&config.voice.engine, reader) == SpeechMode::Speak;
        let voice = speaks.then(|| voice::open(&config.voice.engine, &config.voice, reader, sink));
        Self {
            voice,
            events,
            said: 0,
            config,
            words,
        }
    }

    /// Speaks a text, interrupting what is being said.
    fn say(&mut self, text: &str) {
        let Some(voice) = &self.voice else {
            return;
        };
        self.said += 1;
        voice.speak(Utterance {
            id: UtteranceId(self.said),
            class: Class::Response,
            text: self.words.lexicon().speak(text, Profile::Prose, None),
            language: self.words.voice_language().map(str::to_owned),
            mark: Mark::Own,
            sound: Deliveries::new(&self.config.voice).sound(Mark::Own, [None, None], None),
        });
    }

    /// Receives the next voice event, which changes nothing here: everything is on the terminal, too.
    async fn news(&mut self) {
        if self.voice.is_none() || self.events.recv().await.is_none() {
            std::future::pending().await
        }
    }

    async fn close(self) {
        if let Some(voice) = self.voice {
            voice.close(Duration::ZERO).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::config::HookedAgent;

    fn hooked(
        agent: HookedAgent,
        runs: Option<bool>,
        hooks: Option<HooksState>,
    ) -> HookedAgentState {
        HookedAgentState {
            agent,
            runs,
            hooks,
            file: None,
            project: false,
            also: Vec::new(),
        }
    }

    fn claude(runs: Option<bool>, hooks: Option<HooksState>) -> Vec<HookedAgentState> {
        vec![hooked(HookedAgent::Claude, runs, hooks)]
    }

    fn found(speaks: AgentProtocol, word: &str, sign: Certainty) -> FoundAgent {
        FoundAgent {
            speaks,
            word: word.to_owned(),
            sign,
        }
    }

    fn nearby() -> NearbyAgents {
        NearbyAgents {
            agents: vec![
                found(AgentProtocol::Aaep, "unix:planner", Certainty::Sure),
                found(
                    AgentProtocol::Opencode,
                    "opencode:http://127.0.0.1:4096",
                    Certainty::Sure,
                ),
                found(
                    AgentProtocol::Codex,
                    "codex:ws://127.0.0.1:8765",
                    Certainty::Sure,
                ),
                found(
                    AgentProtocol::A2a,
                    "a2a:http://127.0.0.1:9999",
                    Certainty::Sure,
                ),
                found(AgentProtocol::Codex, "codex", Certainty::Sure),
            ],
            left_out: 2,
            hooked: claude(Some(true), Some(HooksState::Whole)),
            heard: false,
        }
    }

    #[test]
    fn each_has_a_number_and_what_can_not_be_chosen_is_said_behind_them() {
        let offer = SourceOffer::of(&nearby());
        let english = Phrases::english().unwrap();
        assert_eq!(
            offer.lines(&english),
            [
                "6 agents can be followed here.",
                "1: planner.",
                "2: opencode, at http://127.0.0.1:4096.",
                "3: Codex, at ws://127.0.0.1:8765.",
                "4: an A2A agent, at http://127.0.0.1:9999.",
                "5: Codex, running now.",
                "6: Claude Code, running now.",
                "2 more were not looked at; name them by their address.",
                "Type a number, or several, and press Enter. q leaves.",
            ]
        );
        for tag in ["de", "es"] {
            let words = Phrases::for_languages(&[tag.to_owned()]).unwrap();
            assert_eq!(offer.lines(&words).len(), 9, "{tag}");
        }
    }

    #[test]
    fn only_a_choice_is_followed() {
        let offer = SourceOffer::of(&nearby());
        let follow = |words: &[&str]| {
            let words = words.iter().map(|word| (*word).to_owned());
            Some(OfferOutcome::Follow(words.collect()))
        };
        assert_eq!(offer.read("1\n"), follow(&["unix:planner"]));
        let several = follow(&["claude", "unix:planner"]);
        assert_eq!(offer.read(" 6, 1 6\r\n"), several);
        for none in [
            "",
            "\n",
            "0",
            "7",
            "1 7",
            "x",
            "y",
            "-1",
            "1.",
            "99999999999999999999",
        ] {
            assert_eq!(offer.read(none), None, "{none:?}");
        }
        for leaves in ["q\n", " quit"] {
            assert_eq!(offer.read(leaves), Some(OfferOutcome::Leave(Exit::Clean)));
        }
        assert_eq!(offer.read("q 1"), None);
    }

    #[test]
    fn what_would_not_work_is_no_choice_and_says_what_helps() {
        let mut offer = SourceOffer::default();
        let locked = found(
            AgentProtocol::Opencode,
            "opencode:http://127.0.0.1:4096",
            Certainty::Locked,
        );
        offer.take(&locked, false);
        let lost = HooksState::Lost {
            program: PathBuf::from("/gone/hearken"),
        };
        for (hooks, heard) in [
            (HooksState::Whole, true),
            (HooksState::Absent, false),
            (lost, false),
        ] {
            offer.take_hooked(&claude(Some(true), Some(hooks)), heard);
        }
        assert_eq!(offer.choices, []);
        let lines = offer.lines(&Phrases::english().unwrap());
        for words in [
            "OPENCODE_SERVER_PASSWORD",
            "Another hearken",
            "hearken hooks install claude",
            "hearken doctor",
        ] {
            assert!(lines.iter().any(|line| line.contains(words)), "{lines:?}");
        }
        offer.take(&locked, true);
        assert_eq!(offer.choices.len(), 1, "the password is there");
    }

    #[test]
    fn hooks_of_several_agents_are_one_choice_and_each_that_is_not_whole_a_remark() {
        let whole = Some(HooksState::Whole);
        let mut all = vec![
            hooked(HookedAgent::Qwen, Some(true), whole.clone()),
            hooked(HookedAgent::Gemini, Some(true), Some(HooksState::Absent)),
            hooked(HookedAgent::Copilot, None, Some(HooksState::Partly)),
            hooked(HookedAgent::Claude, Some(true), None),
        ];
        let told = |all: &[HookedAgentState]| {
            let mut offer = SourceOffer::default();
            offer.take_hooked(all, false);
            let lines = offer.lines(&Phrases::english().unwrap());
            let last = lines.len() - 1;
            let words: Vec<String> = offer.choices.iter().map(|it| it.word.clone()).collect();
            (words, lines[1..last].join("\n"))
        };
        let remarks = "Gemini CLI is running but can't be heard yet. To hear it: hearken hooks install gemini\n\
             Copilot CLI can't be heard; hearken doctor says why.";
        let (words, lines) = told(&all);
        assert_eq!(words, ["qwen"]);
        assert_eq!(lines, format!("1: Qwen Code, running now.\n{remarks}"));
        all.push(hooked(HookedAgent::Codex, Some(false), whole));
        let (words, lines) = told(&all);
        assert_eq!(words, ["hooks"]);
        assert_eq!(
            lines,
            format!("1: Qwen Code, Codex, by their hooks.\n{remarks}")
        );
        let (words, lines) = told(&all[4..]);
        assert_eq!(
            (words[0].as_str(), lines.as_str()),
            ("hooks", "1: Codex, when it is started.")
        );
        let codex = hooked(HookedAgent::Codex, Some(true), Some(HooksState::Absent));
        assert_eq!(codex.lacks_hooks(), !crate::platform::sockets::THERE);
    }

    #[test]
    fn where_nothing_runs_three_sentences_say_what_could() {
        let mut found = nearby();
        found.agents.clear();
        found.left_out = 0;
        let english = Phrases::english().unwrap();
        for runs in [None, Some(false), Some(true)] {
            found.hooked = claude(runs, Some(HooksState::Absent));
            let told = english.because(nothing(&found, &SourceOffer::of(&found)).unwrap().reason());
            assert!(told.starts_with("there is nothing to watch"), "{told}");
            assert!(told.matches(". ").count() < 3, "{told}");
            let hooks = told.contains("hearken hooks install claude");
            assert_eq!(hooks, runs == Some(true), "{told}");
        }
        // What runs but can't be followed is still mentioned.
        found.hooked = claude(Some(true), Some(HooksState::Whole));
        found.heard = true;
        let told = nothing(&found, &SourceOffer::of(&found)).unwrap();
        let told = english.because(told.reason());
        assert_eq!(
            told,
            "there is nothing to watch: no SOURCE is named. Another hearken hears Claude Code. hearken doctor says more"
        );
    }
}
