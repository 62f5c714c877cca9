use std::sync::Arc;

use jiff::Timestamp;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::*;
use crate::ids::{AgentId, EventId, OutputId, ReplyToken, SessionId, ToolCallId};
use crate::{ActionDetails, Attachments, decode};

/// A text that is not empty: an empty one states nothing and is not written.
fn text() -> BoxedStrategy<String> {
    "[a-zé\"\\\\ \n#0-9]{1,12}".boxed()
}

fn maybe() -> BoxedStrategy<Option<String>> {
    of(text()).boxed()
}

fn number() -> BoxedStrategy<Option<u64>> {
    of(prop_oneof![0..100u64, Just(u64::MAX), any::<u64>()]).boxed()
}

fn variants() -> BoxedStrategy<Vec<Variant>> {
    (subsequence(vec!["de", "yo", "zh-Hant"], 0..=3), text())
        .prop_map(|(tags, text)| {
            let variant = |tag: &str| Variant {
                language: tag.to_owned(),
                text: format!("{text} {tag}"),
            };
            tags.into_iter().map(variant).collect()
        })
        .boxed()
}

fn summary() -> BoxedStrategy<Summary> {
    let variants = [
        SummaryLevel::Terse,
        SummaryLevel::Normal,
        SummaryLevel::Detailed,
    ]
    .map(|level| variants().prop_map(move |all| (level, all)));
    (maybe(), maybe(), maybe(), variants)
        .prop_map(|(terse, normal, detailed, variants)| Summary {
            terse,
            normal,
            detailed,
            variants: variants
                .into_iter()
                .flat_map(|(level, all)| {
                    all.into_iter().map(move |it| (level, it.language, it.text))
                })
                .collect(),
        })
        .boxed()
}

fn pairs() -> BoxedStrategy<Vec<(String, String)>> {
    vec(prop_oneof![text(), Just(String::new())], 0..4)
        .prop_map(|texts| {
            let pairs = texts.into_iter().enumerate();
            pairs
                .map(|(at, text)| (format!("name_{at}"), text))
                .collect()
        })
        .boxed()
}

fn risk() -> BoxedStrategy<Option<RiskLevel>> {
    of(select(vec!["low", "medium", "high", "odd"]).prop_map(RiskLevel::parse)).boxed()
}

fn call() -> BoxedStrategy<Option<ToolCallId>> {
    of(text().prop_map(ToolCallId::from)).boxed()
}

fn session() -> BoxedStrategy<Event> {
    let category = select(vec!["transient", "unknown", "odd"]).prop_map(ErrorCategory::parse);
    prop_oneof![
        (summary(), number(), maybe(), maybe(), vec(text(), 0..3)).prop_map(
            |(summary, expected_duration_ms, requested_by, request_text, tools_available)| {
                Event::SessionStarted(SessionStarted {
                    summary,
                    expected_duration_ms,
                    requested_by,
                    request_text,
                    tools_available,
                })
            }
        ),
        (summary(), number(), number(), maybe(), maybe()).prop_map(
            |(summary, duration_ms, tool_invocations_count, output_summary, result_uri)| {
                Event::SessionCompleted(SessionCompleted {
                    summary,
                    duration_ms,
                    tool_invocations_count,
                    output_summary,
                    result_uri,
                })
            }
        ),
        (
            summary(),
            category,
            maybe(),
            maybe(),
            of(any::<bool>()),
            maybe(),
            maybe()
        )
            .prop_map(
                |(summary, category, code, uri, recoverable, remediation_hint, message)| {
                    Event::SessionErrored(SessionErrored {
                        summary,
                        category,
                        code,
                        uri,
                        recoverable,
                        remediation_hint,
                        message,
                    })
                }
            ),
        (summary(), maybe(), maybe(), maybe()).prop_map(
            |(summary, cancelled_by, reason, partial_result)| {
                Event::SessionCancelled(SessionCancelled {
                    summary,
                    cancelled_by,
                    reason,
                    partial_result,
                })
            }
        ),
        (summary(), text(), text(), number()).prop_map(
            |(summary, from_state, to_state, expected_duration_ms)| {
                Event::StateChanged(StateChanged {
                    summary,
                    from_state: from_state.into(),
                    to_state: to_state.into(),
                    expected_duration_ms,
                })
            }
        ),
        summary().prop_map(|summary| Event::Unknown(UnknownEvent {
            summary,
            asks: false
        })),
    ]
    .boxed()
}

fn work() -> BoxedStrategy<Event> {
    let status = select(vec!["success", "error", "timeout", "odd"]).prop_map(ToolStatus::parse);
    let percent = of((0..=200u16).prop_map(|half| f64::from(half) / 2.0));
    prop_oneof![
        (summary(), percent, number(), number(), maybe(), number()).prop_map(
            |(summary, percent, step, total_steps, description, eta_ms)| {
                Event::Progress(Progress {
                    summary,
                    percent,
                    step,
                    total_steps,
                    description,
                    eta_ms,
                })
            }
        ),
        (
            text(),
            summary(),
            maybe(),
            maybe(),
            number(),
            risk(),
            of(any::<bool>()),
            call()
        )
            .prop_map(
                |(
                    tool,
                    summary,
                    description,
                    args_summary,
                    expected_duration_ms,
                    risk_level,
                    irreversible,
                    tool_call_id,
                )| {
                    Event::ToolInvoked(ToolInvoked {
                        tool,
                        summary,
                        description,
                        args_summary,
                        expected_duration_ms,
                        risk_level,
                        irreversible,
                        tool_call_id,
                    })
                }
            ),
        (text(), summary(), status, call(), number(), maybe()).prop_map(
            |(tool, summary, status, tool_call_id, duration_ms, error_message)| {
                Event::ToolCompleted(ToolCompleted {
                    tool,
                    summary,
                    status,
                    tool_call_id,
                    duration_ms,
                    error_message,
                })
            }
        ),
        (
            prop_oneof![text(), Just(String::new()), Just(" ".to_owned())],
            number(),
            any::<bool>(),
            maybe(),
            of(text().prop_map(OutputId::from)),
            maybe(),
        )
            .prop_map(
                |(chunk, position, complete, coalesce_hint, output_id, content_type)| {
                    Event::OutputStreaming(OutputStreaming {
                        chunk,
                        position,
                        complete,
                        coalesce_hint: coalesce_hint.map(Into::into),
                        output_id,
                        content_type: content_type.map(Into::into),
                        language: Some("de".into()),
                    })
                }
            ),
    ]
    .boxed()
}

fn confirmation() -> BoxedStrategy<Event> {
    let token = of(text().prop_map(ReplyToken::new));
    let decision = select(vec!["accept", "reject", "later"]).prop_map(Decision::parse);
    let undoing = (
        of(select(vec!["reversible", "irreversible", "odd"]).prop_map(Reversibility::parse)),
        of(any::<bool>()),
        risk(),
    );
    let texts = (maybe(), variants(), maybe(), variants(), summary(), pairs());
    let answers = (
        token,
        of(0..100u64),
        of(decision.clone()),
        vec(decision, 0..3),
    );
    (texts, answers, undoing, call(), maybe())
        .prop_map(|(texts, answers, undoing, tool_call_id, tool)| {
            let (action, actions, consequence, consequences, summary, extra_context) = texts;
            let (reply_token, timeout_seconds, default_decision, allowed_replies) = answers;
            let (reversibility, irreversible, risk_level) = undoing;
            let action = action.filter(|it| !it.trim().is_empty());
            // Without an action, the summary is read as one.
            let (names_action, action, actions) = match action {
                Some(action) => (true, action, actions),
                None => {
                    let instead = summary
                        .pick(SummaryLevel::Normal)
                        .unwrap_or_default()
                        .to_owned();
                    (false, instead, summary.at(SummaryLevel::Normal))
                }
            };
            Event::AwaitingConfirmation(Box::new(AwaitingConfirmation {
                action,
                names_action,
                consequence,
                reply_token,
                timeout_seconds,
                default_decision,
                summary,
                risk_level,
                reversibility,
                irreversible,
                allowed_replies,
                extra_context,
                tool_call_id,
                tool,
                actions,
                consequences,
                ..AwaitingConfirmation::default()
            }))
        })
        .boxed()
}

fn clarification() -> BoxedStrategy<Event> {
    let choice = (text(), text(), variants()).prop_map(|(value, label, labels)| Choice {
        value,
        label,
        labels,
        label_in: None,
    });
    let kind = select(vec!["freetext", "yes_no", "odd"]).prop_map(ResponseKind::parse);
    let texts = (text(), variants(), maybe(), variants(), summary());
    let answers = (
        of(text().prop_map(ReplyToken::new)),
        of(0..100u64),
        vec(kind, 1..3),
        vec(choice, 0..3),
        any::<bool>(),
        maybe(),
    );
    (texts, answers)
        .prop_map(|(texts, answers)| {
            let (question, questions, context, contexts, summary) = texts;
            let (reply_token, timeout_seconds, kinds, choices, takes_several, default) = answers;
            Event::AwaitingClarification(Box::new(AwaitingClarification {
                question,
                reply_token,
                timeout_seconds,
                summary,
                accepted_response_kinds: kinds,
                choices,
                takes_several,
                context,
                default_response: default,
                questions,
                contexts,
                why_in: None,
            }))
        })
        .boxed()
}

fn handoff() -> BoxedStrategy<Event> {
    (text(), maybe(), summary(), maybe(), pairs(), maybe())
        .prop_map(
            |(reason, target_kind, summary, target_uri, packaged_context, urgency)| {
                Event::HandoffRequested(HandoffRequested {
                    reason,
                    target_kind,
                    summary,
                    target_uri,
                    packaged_context,
                    urgency,
                })
            },
        )
        .boxed()
}

fn attached() -> BoxedStrategy<Attachments> {
    (vec(text(), 0..3), vec(text(), 0..3))
        .prop_map(|(commands, final_choices)| Attachments {
            action_details: (!commands.is_empty()).then(|| ActionDetails {
                commands,
                ..ActionDetails::default()
            }),
            final_choices,
            ..Attachments::default()
        })
        .boxed()
}

fn hints() -> BoxedStrategy<Localization> {
    let direction = select(vec![
        TextDirection::Ltr,
        TextDirection::Rtl,
        TextDirection::Auto,
    ]);
    (
        text(),
        of(direction),
        vec(text(), 0..3),
        vec(text(), 0..3),
        maybe(),
        maybe(),
    )
        .prop_map(
            |(language, text_direction, available_languages, fallback_chain, script, calendar)| {
                Localization {
                    primary_language: Some(language.into()),
                    text_direction,
                    available_languages,
                    fallback_chain,
                    script,
                    calendar,
                }
            },
        )
        .boxed()
}

fn envelope() -> BoxedStrategy<Envelope> {
    let producer = (text(), maybe(), maybe(), maybe(), maybe()).prop_map(
        |(id, name, agent_version, model, manifest_uri)| Producer {
            agent_id: AgentId::from(id),
            agent_name: name.map(Into::into),
            agent_version,
            model,
            manifest_uri,
        },
    );
    let ids = (
        of(text().prop_map(EventId::from)),
        text(),
        maybe(),
        number(),
    );
    let at = of((0..4_000_000_000_000i64).prop_map(|ms| Timestamp::from_microsecond(ms).unwrap()));
    let level = of(select(vec![
        SummaryLevel::Terse,
        SummaryLevel::Normal,
        SummaryLevel::Detailed,
    ]));
    let urgency = select(vec![
        Urgency::Background,
        Urgency::Normal,
        Urgency::Critical,
    ]);
    (ids, at, producer, level, urgency, hints(), attached())
        .prop_map(
            |(ids, timestamp, producer, verbosity, urgency, hints, attached)| {
                let (event_id, session, correlation, sequence_number) = ids;
                let own = attached.write();
                let mut extensions = Map::new();
                extensions.insert("other".to_owned(), json!({"n": 1}));
                if !own.is_empty() {
                    extensions.insert("hearken".to_owned(), own.into());
                }
                Envelope {
                    type_name: "x:custom".into(),
                    event_id,
                    session_id: SessionId::from(session),
                    timestamp,
                    producer: Arc::new(producer),
                    urgency,
                    verbosity,
                    sequence_number,
                    localization: Arc::new(hints),
                    correlation_id: correlation.map(Into::into),
                    aaep_version: Some("1.0.0".into()),
                    attached: Arc::new(attached),
                    extensions: Some(Arc::new(extensions)),
                }
            },
        )
        .boxed()
}

proptest! {
    #[test]
    fn what_is_written_is_read_back_unchanged(
        mut envelope in envelope(),
        event in prop_oneof![session(), work(), confirmation(), clarification(), handoff()],
    ) {
        if let Some(name) = event.type_name() {
            envelope.type_name = name.into();
        }
        let text = encode(&envelope, &event);
        let decoded = decode(&text).unwrap();
        prop_assert_eq!(&decoded.event, &event, "{}", text);
        prop_assert_eq!(&decoded.envelope, &envelope, "{}", text);
    }
}

#[test]
fn an_event_takes_one_line() {
    let decoded = decode(r#"{"type": "x:y", "summary_normal": "a\nb"}"#).unwrap();
    let text = encode(&decoded.envelope, &decoded.event);
    assert!(!text.contains('\n'), "{text}");
    assert!(text.contains(r"a\nb"), "{text}");
}
