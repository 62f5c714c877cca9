//! Answers whose fate only their dialect knows, on a link that is over before the dialect reports it.

use super::*;
use crate::dialect::{self, Cx, Dialect, DialectOutput};
use crate::link::{DeliveryFailure, Frame};
use crate::protocol::Reply;

/// A dialect whose other side itself reports what it accepted, and takes long to do so.
#[derive(Debug, Default)]
struct Ponders {
    written: Option<(u64, Duration)>,
}

impl Dialect for Ponders {
    fn on_frame(&mut self, frame: &Frame, cx: &mut Cx<'_>) {
        cx.out.push(DialectOutput::Event(frame.text.clone()));
    }

    fn on_sent(&mut self, request: u64, _: &Result<Receipt, DeliveryFailure>, cx: &mut Cx<'_>) {
        self.written = Some((request, cx.now.monotonic + Duration::from_secs(2)));
    }

    fn reply(&mut self, request: u64, reply: &Reply, cx: &mut Cx<'_>) {
        let frame = reply.to_json("");
        cx.out.push(DialectOutput::Send { request, frame });
    }

    fn tick(&mut self, cx: &mut Cx<'_>) {
        if let Some((request, _)) = self.written.take() {
            let outcome = Ok(Receipt::Written);
            cx.out.push(DialectOutput::Settled { request, outcome });
        }
    }

    fn deadline(&self) -> Option<Duration> {
        self.written.map(|(_, due)| due)
    }

    fn connection(&self) -> dialect::Connection {
        dialect::Connection::default()
    }
}

/// Returns a stage whose question was rejected; the answer is on its way.
fn rejected() -> Stage {
    let source = SourceSetup {
        name: "one".into(),
        answerable: true,
        ..SourceSetup::default()
    };
    let mut stage = Stage::of(PIPE, vec![source]);
    let view = stage.app.links.get_mut(LinkId(0)).unwrap();
    view.speak(Box::new(Ponders::default()));
    stage.link(0, LinkEvent::Connected);
    stage.wait(2000);
    stage.ask("rpl_1");
    stage.wait(3000);
    stage.type_line("n 1");
    assert_eq!(stage.sent.len(), 1, "{:?}", stage.lines);
    stage.lines.clear();
    stage
}

fn written(stage: &mut Stage) {
    let request = stage.sent[0].0;
    let outcome = Ok(Receipt::Written);
    stage.link(0, LinkEvent::Replied { request, outcome });
}

fn leaves(stage: &mut Stage) {
    stage.type_line("x");
    stage.type_line("x");
}

const PERHAPS: &str = "may have arrived";

#[test]
fn a_run_ends_although_the_link_was_over_before_the_word_for_an_answer() {
    type Over = fn(&mut Stage);
    let ways: [(&str, Over); 3] = [
        ("ended", |stage| stage.link(0, LinkEvent::Ended)),
        ("failed", |stage| {
            let fault = Fault::Exited { code: 1 };
            stage.link(0, LinkEvent::Failed { fault });
        }),
        ("left", leaves),
    ];
    for (way, over) in ways {
        // The transport had reported that it was written.
        let mut stage = rejected();
        written(&mut stage);
        over(&mut stage);
        stage.wait(10_000);
        let said = stage.heard(PERHAPS) || stage.heard(phrase!("question.unsure.sending"));
        assert!(said, "{way}: {:?}", stage.lines);
        assert!(
            !stage.heard(phrase!("reply.unconfirmed")),
            "{way}: {:?}",
            stage.lines
        );
        assert!(stage.quit.is_some(), "{way}: {:?}", stage.lines);
        // Here the transport reports only now.
        let mut stage = rejected();
        over(&mut stage);
        stage.wait(10_000);
        assert_eq!(stage.quit, None, "{way}: the transport still owes its word");
        written(&mut stage);
        stage.wait(1000);
        assert!(
            stage.heard(PERHAPS) || stage.heard(phrase!("question.unsure.sending")),
            "{way}: {:?}",
            stage.lines
        );
        assert!(stage.quit.is_some(), "{way}: {:?}", stage.lines);
    }
}
