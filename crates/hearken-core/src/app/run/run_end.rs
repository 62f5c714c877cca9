//! How a run ends on its own, once its condition is met and everything is spoken.

use super::Run;
use super::{RunConditions, RunEnd};
use crate::app::{AppCx, AppFact, AppFacts, Exit, Links};

impl Run {
    /// Returns the exit of a run that is to end with `exit`.
    pub(in crate::app) fn exit(&self, exit: Exit, links: &Links, cx: &AppCx) -> Exit {
        // No source is left that could still speak, so the run ended for that reason, even if the person closed
        // the screen.
        let scene = scene(links, cx);
        if exit == Exit::Clean && scene.over && scene.failed {
            Exit::NoSource
        } else {
            exit
        }
    }

    /// Ends a run that waited for the last answers, if they are sent or the wait is over.
    pub(in crate::app) fn check_parting(
        &self,
        all_sent: bool,
        links: &Links,
        cx: &mut AppCx,
    ) -> AppFacts {
        let Some(exit) = self.parted(all_sent, cx.now.monotonic) else {
            return Vec::new();
        };
        if exit != Exit::Terminated {
            // On termination, `terminate` has already announced this.
            self.leave_defaults(links, cx);
        }
        vec![AppFact::Quit(exit)]
    }

    /// Ends a run automatically if its condition is met; everything is spoken.
    pub(in crate::app) fn check_end(&self, links: &Links, cx: &mut AppCx) -> AppFacts {
        if self.is_over() {
            return Vec::new();
        }
        match self.ends(scene(links, cx), cx.now.monotonic) {
            Some(RunEnd::Idle) => {
                self.tell_left_open(links, cx);
                vec![AppFact::Quit(Exit::Clean)]
            }
            Some(RunEnd::So(exit)) => vec![AppFact::Quit(exit)],
            None => Vec::new(),
        }
    }
}

fn scene(links: &Links, cx: &AppCx) -> RunConditions {
    RunConditions {
        over: links.are_over(),
        failed: links.has_failed(),
        ended: !cx.sessions.is_holding() && !cx.sessions.any_goes_on(),
    }
}
