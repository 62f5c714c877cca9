//! Leaving a source: which one, what to ask first, and the fate of its questions.

use crate::announce::Arg;
use crate::link::LinkId;
use crate::session::Question;

use super::Run;
use crate::app::{Activity, AppCx, AppFact, AppFacts, LinkStep, Links};

impl Run {
    /// Leaves the source of the chosen conversation, or of the shown question, or of the last agent that said
    /// something.
    pub(in crate::app) fn leave(
        &self,
        of_shown: Option<LinkId>,
        chosen: Option<LinkId>,
        links: &Links,
        cx: &mut AppCx,
    ) -> AppFacts {
        let link = match cx.doing {
            Activity::Leaving(link) => {
                cx.doing = Activity::Watching;
                return leave(link);
            }
            Activity::Watching
            | Activity::Confirming(_)
            | Activity::Answering { .. }
            | Activity::Choosing(_)
            | Activity::Quitting
            | Activity::Searching(_)
            | Activity::Prompting { .. }
            | Activity::Helping { .. } => {
                let of_last = cx.speakers().next().map(|key| key.link);
                let still =
                    |link: &LinkId| links.get(*link).is_some_and(|view| !view.phase.is_over());
                let any = links
                    .iter()
                    .find(|view| !view.phase.is_over())
                    .map(|view| view.id);
                chosen
                    .filter(still)
                    .or(of_shown.filter(still))
                    .or(of_last.filter(still))
                    .or(any)
            }
        };
        let Some(link) = link else {
            cx.respond("leave.nothing", &[]);
            return Vec::new();
        };
        let open: Vec<&Question> = cx
            .sessions
            .open_questions()
            .filter(|question| question.key.link == link && question.answer().is_none())
            .collect();
        let program = links.ends_program(link, cx);
        let working = irreversible_at_work(link, cx);
        if open.is_empty() && program.is_empty() && working.is_empty() {
            return leave(link);
        }
        let source = links
            .get(link)
            .map(|view| view.name.clone())
            .unwrap_or_default();
        let phrases = cx.phrases();
        let mut reasons = Vec::new();
        if !open.is_empty() {
            let args = [
                ("n", Arg::own(open.len())),
                ("source", Arg::Own(source.clone())),
                ("defaults", Arg::Own(self.defaults(&open, links, cx))),
            ];
            reasons.push(phrases.text("leave.open", &args));
        }
        if !working.is_empty() {
            let args = [
                ("n", Arg::own(working.len())),
                ("source", Arg::Own(source)),
                ("tools", Arg::Tool(working.join(", "))),
            ];
            reasons.push(phrases.text("leave.working", &args));
        }
        if !program.is_empty() {
            reasons.push(program);
        }
        let args = [("reasons", Arg::Own(reasons.join(" ")))];
        cx.doing = Activity::Leaving(link);
        let key = cx.face.pick("leave.ask", "leave.ask_lines");
        cx.respond(key, &args);
        Vec::new()
    }
}

/// Returns the fact that a source is to be left.
fn leave(link: LinkId) -> AppFacts {
    vec![
        AppFact::Release(link),
        AppFact::Link(link, LinkStep::Left),
        AppFact::CarryOut(link, Vec::new()),
    ]
}

/// Returns the tools of a source that are working on something that can't be undone.
fn irreversible_at_work(link: LinkId, cx: &AppCx) -> Vec<String> {
    cx.sessions
        .iter()
        .filter(|session| session.key.link == link && !session.is_ended())
        .flat_map(|session| session.tools.iter())
        .filter(|call| call.irreversible)
        .map(|call| crate::announce::speakable::one_line(&call.tool))
        .collect()
}
