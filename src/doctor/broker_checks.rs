//! NATS servers: what is missing there, too open or too old.
//!
//! Responsibilities: grading what a server shows about itself, with a remedy for each fault. Not here: looking
//! (`broker` in the shell's I/O).

use super::finding_lines::{DoctorFinding, DoctorTopic, own};
use super::remedies::remedy;
use crate::broker::{BrokerAddress, InspectedSpace, Inspection, inspect};
use crate::dialect::fleet::{DEFAULT_SPACE, EventSubject, Machine, Space};
use crate::link::{Fault, Phrase, PhraseArg};
use crate::runtime::durable;
use crate::transport::LinkSettings;

/// Looks at a server as a person of this name.
pub(super) async fn look(
    address: &BrokerAddress,
    settings: &LinkSettings,
    user: &str,
) -> Vec<DoctorFinding> {
    let space = Space::named(address.space().unwrap_or(DEFAULT_SPACE));
    let event = EventSubject::of(&Machine::named(&space, "machine"), &Default::default());
    let inspected = InspectedSpace {
        token: space.token().to_owned(),
        stream: space.stream(),
        event: event.to_string(),
        inbox: durable(user),
    };
    let name = address.to_string();
    match inspect(address, settings, &inspected).await {
        Ok(found) => findings(&name, address, &found),
        Err(fault) => vec![failed(&name, fault)],
    }
}

fn failed(name: &str, fault: Fault) -> DoctorFinding {
    let helps = if matches!(fault, Fault::Unusable(_)) {
        "doctor.nats.failed.remedy"
    } else {
        remedy(&fault)
    };
    let text = Phrase::new("doctor.source.failed")
        .with("name", own(name))
        .with("why", PhraseArg::Fault(fault));
    DoctorFinding::broken(DoctorTopic::Source, text, helps)
}

/// Returns the findings about a server.
fn findings(name: &str, address: &BrokerAddress, found: &Inspection) -> Vec<DoctorFinding> {
    let is_local = address.is_local();
    let part = DoctorTopic::Source;
    let of = |key| Phrase::new(key).with("name", own(name));
    let version = own(found.version.clone());
    let machines = own(found.machines);
    let open = of("doctor.nats.open")
        .with("version", version.clone())
        .with("n", machines);
    let mut all = vec![DoctorFinding::fine(part, open)];
    if found.is_old {
        let text = of("doctor.nats.old").with("version", version);
        all.push(DoctorFinding::weak(part, text, "doctor.nats.old.remedy"));
    }
    if address.is_of_agents() || (address.is_of_all() && !found.has_streams) {
        // Agents that speak NATS need no stream.
    } else if !found.has_streams {
        let text = of("doctor.nats.no_streams");
        all.push(DoctorFinding::broken(
            part,
            text,
            "doctor.nats.no_streams.remedy",
        ));
    } else if !found.has_stream {
        let text = of("doctor.nats.no_stream");
        all.push(DoctorFinding::weak(
            part,
            text,
            "doctor.nats.no_stream.remedy",
        ));
    }
    if !is_local && !found.has_tls {
        let text = of("doctor.nats.plain");
        all.push(DoctorFinding::weak(part, text, "doctor.nats.plain.remedy"));
    }
    match (found.admits_anybody, is_local) {
        (true, true) => all.push(DoctorFinding::fine(part, of("doctor.nats.anybody.here"))),
        (true, false) => {
            let text = of("doctor.nats.anybody");
            all.push(DoctorFinding::weak(part, text, "doctor.nats.users.remedy"));
        }
        (false, _) if found.may_publish == Some(true) => {
            let text = of("doctor.nats.may_publish");
            all.push(DoctorFinding::weak(part, text, "doctor.nats.users.remedy"));
        }
        (false, _) => {}
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(is_local: bool, found: &Inspection) -> Vec<&'static str> {
        keys_at(
            if is_local {
                "nats://localhost/main"
            } else {
                "tls://x/main"
            },
            found,
        )
    }

    fn keys_at(address: &str, found: &Inspection) -> Vec<&'static str> {
        let address = BrokerAddress::parse_source(address, false).unwrap();
        let all = findings("x", &address, found).into_iter();
        all.map(|finding| finding.text.key).collect()
    }

    fn good() -> Inspection {
        Inspection {
            version: "2.15.1".to_owned(),
            is_old: false,
            admits_anybody: false,
            has_tls: true,
            has_streams: true,
            has_stream: true,
            machines: 3,
            may_publish: Some(false),
        }
    }

    #[test]
    fn a_server_as_it_should_be_has_nothing_to_mend() {
        assert_eq!(keys(false, &good()), ["doctor.nats.open"]);
        let unknown = Inspection {
            may_publish: None,
            ..good()
        };
        assert_eq!(keys(false, &unknown), ["doctor.nats.open"]);
    }

    #[test]
    fn agents_that_speak_nats_need_no_stream() {
        let bare = Inspection {
            has_streams: false,
            has_stream: false,
            ..good()
        };
        for address in ["agents+tls://x", "tls://x"] {
            assert_eq!(keys_at(address, &bare), ["doctor.nats.open"]);
        }
        assert_eq!(keys(false, &bare)[1..], ["doctor.nats.no_streams"]);
    }

    #[test]
    fn whatever_is_missing_too_open_or_too_old_is_reported() {
        let bad = Inspection {
            is_old: true,
            admits_anybody: true,
            has_tls: false,
            has_stream: false,
            may_publish: Some(true),
            ..good()
        };
        let all = [
            "doctor.nats.open",
            "doctor.nats.old",
            "doctor.nats.no_stream",
            "doctor.nats.plain",
            "doctor.nats.anybody",
        ];
        assert_eq!(keys(false, &bad), all);
        let here = [&all[..3], &["doctor.nats.anybody.here"]].concat();
        assert_eq!(keys(true, &bad), here);
        let forger = Inspection {
            may_publish: Some(true),
            has_streams: false,
            ..good()
        };
        let all = [
            "doctor.nats.open",
            "doctor.nats.no_streams",
            "doctor.nats.may_publish",
        ];
        assert_eq!(keys(true, &forger), all);
    }
}
