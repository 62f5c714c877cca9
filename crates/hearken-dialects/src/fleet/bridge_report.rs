//! What a bridge reports in its own name, as AAEP events of extension types.

use std::sync::Arc;

use jiff::{Timestamp, Unit};
use serde_json::{Map, Value, json};

use super::{BRIDGE, LONGEST_NAME, LONGEST_SENTENCE, ReportedDanger, name};
use crate::link::{Phrase, PhraseArg};
use crate::protocol::{
    AAEP_VERSION, AgentId, Answer, Attachments, Decision, Envelope, Event, EventId, Localization,
    Producer, Response, SessionId, Summary, SummaryLevel, UnknownEvent, Urgency, decode, encode,
    fit,
};

/// The types of a bridge's own events.
const STANDING: &str = "hearken:standing";
const NOTICE: &str = "hearken:notice";
const CLOSED: &str = "hearken:closed";
const DANGER: &str = "hearken:danger";

/// What a bridge reports in its own name.
#[derive(Debug, Clone, PartialEq)]
pub enum BridgeReport {
    /// What can be done with its agents.
    Standing(BridgeAbilities),
    /// A sentence for people, in one or more languages.
    Notice {
        /// The sentence.
        said: Summary,
        /// The language of its main texts (BCP 47).
        language: Option<String>,
    },
    /// An agent did something that a person has to hear of.
    Danger(ReportedDanger),
    /// A question is over.
    Closed {
        /// The id of the event that asked it.
        question: EventId,
        /// How it ended.
        reason: Closed,
    },
}

/// What can be done with a bridge's agents at present.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BridgeAbilities {
    /// The name of the machine.
    pub host: String,
    /// Whether any of its agents accepts prompts.
    pub prompts: bool,
    /// Whether several do, so that a prompt needs an addressee.
    pub several: bool,
    /// Whether work under way can be stopped.
    pub stops: bool,
    /// Whether work is under way that can be stopped.
    pub working: bool,
    /// Whether an agent was started and is not yet ready for prompts.
    pub starting: bool,
    /// Whether more questions are open than it repeats to watchers who join later.
    pub forgets: bool,
}

/// How a question ended, if its session's events alone don't show it.
#[derive(Debug, Clone, PartialEq)]
pub enum Closed {
    /// A watcher answered it.
    Answered(AnsweredBy),
    /// It is decided, and its session would have entered this state if no other question were open.
    Decided {
        /// The state.
        to: String,
    },
    /// The person stopped the agent's work.
    Stopped,
    /// The agent withdrew it.
    TakenBack,
    /// Its default decides it.
    Default,
}

/// The answer that a watcher gave.
#[derive(Debug, Clone, PartialEq)]
pub struct AnsweredBy {
    /// The person, by the name in their reply; `None` if it names none.
    pub person: Option<String>,
    /// The answer.
    pub answer: Answer,
    /// When the bridge accepted it.
    pub at: Timestamp,
}

impl BridgeAbilities {
    /// Returns words about the questions that only earlier watchers heard.
    pub fn loss(&self) -> Phrase {
        Phrase::new("bridge.forgets").with("host", PhraseArg::Name(self.host.clone()))
    }

    fn write(&self) -> Value {
        json!({
            "host": self.host,
            "prompts": self.prompts,
            "several": self.several,
            "stops": self.stops,
            "working": self.working,
            "starting": self.starting,
            "forgets": self.forgets,
        })
    }

    fn read(value: &Value) -> Self {
        let is = |field: &str| value.get(field).and_then(Value::as_bool) == Some(true);
        let host = value.get("host").and_then(Value::as_str);
        Self {
            host: host
                .and_then(|host| name(host, LONGEST_NAME))
                .unwrap_or_default(),
            prompts: is("prompts"),
            several: is("several"),
            stops: is("stops"),
            working: is("working"),
            starting: is("starting"),
            forgets: is("forgets"),
        }
    }
}

impl AnsweredBy {
    /// Returns the person that a reply names in `decided_by`: `user:anna` is anna, and `user:local` is nobody in
    /// particular.
    pub fn person(decided_by: &str) -> Option<String> {
        let person = decided_by.strip_prefix("user:").unwrap_or(decided_by);
        name(person, LONGEST_NAME).filter(|person| person != "local")
    }

    pub(super) fn write(&self) -> Value {
        let mut fields = Map::new();
        if let Some(person) = &self.person {
            fields.insert("by".to_owned(), person.as_str().into());
        }
        let (field, value) = match &self.answer {
            Answer::Decision { decision, .. } => ("decision", Value::from(decision.as_str())),
            Answer::Response(Response::Text(text)) => ("response", text.as_str().into()),
            Answer::Response(Response::YesNo(yes)) => ("response", (*yes).into()),
            Answer::Response(Response::Number(number)) => ("response", (*number).into()),
        };
        fields.insert(field.to_owned(), value);
        fields.insert("at".to_owned(), format!("{:.3}", self.at).into());
        Value::Object(fields)
    }

    pub(super) fn read(value: &Value) -> Option<Self> {
        let text = |field: &str| value.get(field).and_then(Value::as_str);
        let response = match value.get("response") {
            Some(Value::Bool(yes)) => Some(Response::YesNo(*yes)),
            Some(Value::Number(number)) => number.as_f64().map(Response::Number),
            Some(Value::String(said)) => {
                let said = said.chars().take(LONGEST_SENTENCE);
                Some(Response::Text(said.collect()))
            }
            Some(Value::Null | Value::Array(_) | Value::Object(_)) | None => None,
        };
        let answer = match (text("decision"), response) {
            (Some(decision), _) => Answer::Decision {
                decision: Decision::parse(&name(decision, LONGEST_NAME)?),
                rationale: None,
            },
            (None, Some(response)) => Answer::Response(response),
            (None, None) => return None,
        };
        Some(Self {
            person: text("by").and_then(|by| name(by, LONGEST_NAME)),
            answer,
            at: text("at")?.parse().ok()?,
        })
    }
}

impl Closed {
    fn write(&self) -> (&'static str, Value) {
        match self {
            Self::Answered(answered) => ("answered", answered.write()),
            Self::Decided { to } => ("decided", to.as_str().into()),
            Self::Stopped => ("over", "stopped".into()),
            Self::TakenBack => ("over", "taken_back".into()),
            Self::Default => ("over", "default".into()),
        }
    }

    fn read(value: &Value) -> Option<Self> {
        if let Some(answered) = value.get("answered") {
            return AnsweredBy::read(answered).map(Self::Answered);
        }
        if let Some(to) = value.get("decided").and_then(Value::as_str) {
            let to = name(to, LONGEST_NAME)?;
            return Some(Self::Decided { to });
        }
        match value.get("over")?.as_str()? {
            "stopped" => Some(Self::Stopped),
            "taken_back" => Some(Self::TakenBack),
            "default" => Some(Self::Default),
            _ => None,
        }
    }
}

impl BridgeReport {
    /// Returns the text of the event: in a session of the bridge's own, under this number of its events.
    pub fn to_event(&self, host: &str, session: &str, number: u64, at: Timestamp) -> String {
        let (type_name, summary, own) = match self {
            Self::Standing(standing) => {
                let own = json!({"standing": standing.write()});
                (STANDING, Summary::default(), own)
            }
            Self::Notice { said, .. } => (NOTICE, said.clone(), json!({})),
            Self::Danger(danger) => (DANGER, Summary::default(), danger.write()),
            Self::Closed {
                question,
                reason: how,
            } => {
                let (field, value) = how.write();
                let own = json!({"question": question.as_str(), field: value});
                (CLOSED, Summary::default(), own)
            }
        };
        let language = match self {
            Self::Notice { language, .. } => language.as_deref(),
            Self::Standing(_) | Self::Danger(_) | Self::Closed { .. } => None,
        };
        let mut extensions = Map::new();
        extensions.insert("hearken".to_owned(), own);
        let envelope = Envelope {
            type_name: type_name.into(),
            event_id: Some(EventId::from(format!("evt_{session}n{number}"))),
            session_id: SessionId::from(format!("sess_{session}")),
            timestamp: at.round(Unit::Millisecond).ok(),
            producer: Arc::new(Producer {
                agent_id: AgentId::from(BRIDGE),
                agent_name: Some(format!("hearken on {host}").into()),
                agent_version: None,
                model: None,
                manifest_uri: None,
            }),
            urgency: Urgency::Normal,
            verbosity: None,
            sequence_number: Some(number),
            localization: Arc::new(Localization {
                primary_language: language.map(Arc::from),
                ..Localization::default()
            }),
            correlation_id: None,
            aaep_version: Some(AAEP_VERSION.into()),
            attached: Arc::new(Attachments::default()),
            extensions: Some(Arc::new(extensions)),
        };
        let asks = false;
        encode(&envelope, &Event::Unknown(UnknownEvent { summary, asks }))
    }

    /// Reads an event; `None` if it is not one of a bridge's own.
    pub fn read(text: &str) -> Option<Self> {
        // Events are many and reports few: this check spares most texts a second parse.
        if !text.contains("\"hearken:") {
            return None;
        }
        let decoded = decode(text).ok()?;
        let Event::Unknown(event) = decoded.event else {
            return None;
        };
        let extensions = decoded.envelope.extensions.as_ref();
        let own = extensions.and_then(|all| all.get("hearken"));
        let language = &decoded.envelope.localization.primary_language;
        let language = language.as_deref().map(str::to_owned);
        match &*decoded.envelope.type_name {
            STANDING => Some(Self::Standing(BridgeAbilities::read(own?.get("standing")?))),
            NOTICE => Some(Self::Notice {
                said: event.summary,
                language,
            }),
            DANGER => ReportedDanger::read(own?).map(Self::Danger),
            CLOSED => Some(Self::Closed {
                question: EventId::from(own?.get("question")?.as_str()?),
                reason: Closed::read(own?)?,
            }),
            _ => None,
        }
    }

    /// Returns a notice's sentence in the best of these languages, and that language; the main text if none of them is
    /// there. `None` for any other report and for an empty sentence.
    pub fn sentence(&self, languages: &[String]) -> Option<(String, Option<String>)> {
        let Self::Notice { said, language } = self else {
            return None;
        };
        let variant = languages.iter().find_map(|wanted| {
            if language
                .as_deref()
                .is_some_and(|own| fit(wanted, own).is_some())
            {
                return Some(None);
            }
            let variants = said.variants.iter();
            let mut fitting = variants.filter(|(level, tag, _)| {
                *level == SummaryLevel::Normal && fit(wanted, tag).is_some()
            });
            let (_, tag, text) = fitting.next()?;
            Some(Some((text.clone(), Some(tag.clone()))))
        });
        let main = || Some((said.normal.clone()?, language.clone()));
        let (text, language) = variant.flatten().or_else(main)?;
        Some((name(&text, LONGEST_SENTENCE)?, language))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::DangerKind;

    fn at() -> Timestamp {
        "2026-01-01T00:00:00Z".parse().unwrap()
    }

    fn reports() -> Vec<BridgeReport> {
        let closed = |how| BridgeReport::Closed {
            question: EventId::from("evt_7"),
            reason: how,
        };
        let answered = |person: Option<&str>, answer| {
            closed(Closed::Answered(AnsweredBy {
                person: person.map(str::to_owned),
                answer,
                at: at(),
            }))
        };
        vec![
            BridgeReport::Standing(BridgeAbilities {
                host: "build-3".to_owned(),
                prompts: true,
                several: true,
                stops: false,
                working: true,
                starting: false,
                forgets: true,
            }),
            BridgeReport::Notice {
                said: Summary {
                    normal: Some("The connection was lost.".to_owned()),
                    variants: vec![(
                        SummaryLevel::Normal,
                        "de".to_owned(),
                        "Die Verbindung ist weg.".to_owned(),
                    )],
                    ..Summary::default()
                },
                language: Some("en".to_owned()),
            },
            BridgeReport::Danger(ReportedDanger {
                agent: AgentId::from("fox"),
                kind: DangerKind::RanOtherwise,
                tool: "bash".to_owned(),
                ran: Some("rm -rf /".to_owned()),
                question: Some(EventId::from("evt_7")),
            }),
            answered(
                Some("anna"),
                Answer::Decision {
                    decision: Decision::Accept,
                    rationale: None,
                },
            ),
            answered(None, Answer::Response(Response::Text("main".to_owned()))),
            answered(None, Answer::Response(Response::YesNo(false))),
            answered(None, Answer::Response(Response::Number(2.5))),
            closed(Closed::Decided {
                to: "thinking".to_owned(),
            }),
            closed(Closed::Stopped),
            closed(Closed::TakenBack),
            closed(Closed::Default),
        ]
    }

    #[test]
    fn a_report_is_read_back_as_it_was_written() {
        for (number, report) in reports().into_iter().enumerate() {
            let text = report.to_event("build-3", "b1", number as u64, at());
            assert_eq!(BridgeReport::read(&text), Some(report), "{text}");
        }
    }

    #[test]
    fn a_report_is_a_legal_event_without_findings() {
        for report in reports() {
            let text = report.to_event("build-3", "b1", 0, at());
            let decoded = decode(&text).unwrap();
            let errors = decoded.findings.iter();
            let errors = errors.filter(|one| one.severity == crate::protocol::Severity::Error);
            assert_eq!(errors.count(), 0, "{text}");
        }
    }

    #[test]
    fn the_sentence_is_in_the_persons_language_where_there_is_one() {
        let notice = &reports()[1];
        let said = |languages: &[&str]| {
            let languages: Vec<String> = languages.iter().map(|&tag| tag.to_owned()).collect();
            notice.sentence(&languages).unwrap()
        };
        assert_eq!(said(&["de-AT", "en"]).0, "Die Verbindung ist weg.");
        assert_eq!(said(&["en", "de"]).0, "The connection was lost.");
        assert_eq!(said(&["fr"]).0, "The connection was lost.");
        assert_eq!(said(&[]).1.as_deref(), Some("en"));
        assert_eq!(reports()[0].sentence(&[]), None);
    }

    #[test]
    fn what_is_not_a_report_is_none() {
        for text in [
            "",
            "{}",
            r#"{"type":"hearken:closed","extensions":{"hearken":{"question":"evt_1"}}}"#,
            r#"{"type":"hearken:closed","extensions":{"hearken":{"over":"stopped"}}}"#,
            r#"{"type":"hearken:other"}"#,
            r#"{"type":"aaep:agent.state.changed","x":"\"hearken:"}"#,
        ] {
            assert_eq!(BridgeReport::read(text), None, "{text}");
        }
    }

    #[test]
    fn a_reply_names_its_person() {
        for (decided_by, person) in [
            ("user:anna", Some("anna")),
            ("auto:tidy", Some("auto:tidy")),
            ("user:local", None),
            ("user:", None),
            ("", None),
            ("user:\u{1b}[2Jx", Some("[2Jx")),
        ] {
            assert_eq!(AnsweredBy::person(decided_by).as_deref(), person);
        }
    }
}
