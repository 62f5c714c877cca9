//! The words for broken rules and dangers, and how prominent the first of each kind is.

use crate::config::Verbosity;
use crate::protocol::Severity;
use crate::session::{Anomaly, AnomalyDetail, AnomalyKind, Change, Danger, Sessions};

use super::change_wording::tool;
use super::{Announcer, AnswerMethod, Draft};
use crate::announce::announcement::{AnnouncementKind, Class, Presentation, QuestionRelation};
use crate::announce::words::departure::{args_of, key_of};
use crate::announce::words::phrase::Arg;
use crate::announce::words::segment::Segment;

impl Announcer {
    /// Returns an anomaly's detail: a name or number from the wire, or a finding of hearken's own.
    fn anomaly_detail(&self, anomaly: &Anomaly, level: Verbosity) -> String {
        match &anomaly.detail {
            AnomalyDetail::Finding(finding) if level == Verbosity::Detailed => {
                self.phrases.finding_in_full(finding)
            }
            AnomalyDetail::Finding(finding) => self.phrases.finding(finding),
            AnomalyDetail::Name(name) if name.is_empty() => String::new(),
            AnomalyDetail::Name(name) => self.phrases.name_of(name).into_owned(),
        }
    }

    pub(super) fn anomaly(&self, change: &Change, anomaly: &Anomaly) -> Draft {
        let level = self.verbosity_of(change.key.link);
        let detail = self.anomaly_detail(anomaly, level);
        let what = self.phrases.departure(anomaly.kind, detail);
        let args = [
            ("section", Arg::own(anomaly.kind.section())),
            ("what", Arg::own(what)),
        ];
        let segments = self.fill("anomaly", level, &args);
        let aloud = if anomaly.first {
            loudness(anomaly.kind, level)
        } else {
            Presentation::Kept
        };
        let class = match aloud {
            Presentation::Spoken => Class::Outcome,
            Presentation::Shown
            | Presentation::Seen
            | Presentation::Echo
            | Presentation::Kept
            | Presentation::Heard => Class::Activity,
        };
        Draft::new(class, AnnouncementKind::Anomaly, segments).aloud(aloud)
    }

    /// Returns the notice that an agent changes files without ever asking.
    pub(super) fn unasked(&self, change: &Change) -> Draft {
        let args = [("agent", Arg::Name(change.agent.to_string()))];
        let level = self.verbosity_of(change.key.link);
        let key = match self.manner {
            AnswerMethod::Keys => "oversight.unasked.keys",
            AnswerMethod::Lines | AnswerMethod::Program => "oversight.unasked.lines",
        };
        let segments = self.fill(key, level, &args);
        Draft::new(Class::Outcome, AnnouncementKind::Hint, segments)
    }

    pub(super) fn danger(&self, change: &Change, danger: &Danger, sessions: &Sessions) -> Draft {
        let lines = self.manner != AnswerMethod::Keys;
        let pick = |keys: &'static str, in_lines: &'static str| if lines { in_lines } else { keys };
        let leave = pick("danger.remedy.leave", "danger.remedy.leave_lines");
        let remedy = match danger {
            Danger::Unasked { .. }
            | Danger::PerhapsUnasked { .. }
            | Danger::PerhapsUnaskedLost { .. }
            | Danger::DoneAfterRejection { .. }
            | Danger::RanOtherwise { .. }
            | Danger::ActsAfterEnd { .. } => leave,
            Danger::AcceptsBySilence { .. } => {
                pick("danger.remedy.answer", "danger.remedy.answer_lines")
            }
            Danger::AnsweredAfterEnd { .. } => "danger.remedy.none",
        };
        let tool = danger.tool().map_or_else(|| Arg::own(""), tool);
        let remedy = self.phrases.text(remedy, &[]);
        let args = args_of(&self.phrases, danger, tool, remedy);
        let segments = self.fill(key_of(danger), self.verbosity_of(change.key.link), &args);
        // Every face labels a danger; only a listener needs the word.
        let word = Segment::heard(self.phrases.text("danger", &[]));
        let segments = std::iter::once(word).chain(segments).collect();
        let draft = Draft::new(Class::Alert, AnnouncementKind::Danger, segments);
        match danger
            .question()
            .filter(|id| sessions.question(*id).is_some())
        {
            Some(id) => draft.about(QuestionRelation::Concerns(id)),
            None => draft,
        }
    }
}

/// Returns how prominent the first anomaly of a kind is: those that may have cost information are spoken, other
/// broken rules are shown, and what merely should be otherwise is only kept, so that nothing comes between a
/// person and a question.
fn loudness(kind: AnomalyKind, verbosity: Verbosity) -> Presentation {
    let costs_information = matches!(
        kind,
        AnomalyKind::SequenceGap
            | AnomalyKind::QuestionWithoutToken
            | AnomalyKind::TokenReused
            | AnomalyKind::EventIdReused
            | AnomalyKind::InvokedAfterRejection
    );
    // The fate of a decision concerns the person, whatever the rule.
    let concerns_decision = matches!(
        kind,
        AnomalyKind::AcceptedWithoutTool | AnomalyKind::RejectedWithoutFollowUp
    );
    let severity = match concerns_decision {
        true => Severity::Error,
        false => kind.severity(),
    };
    match (severity, verbosity) {
        _ if costs_information => Presentation::Spoken,
        (Severity::Error, Verbosity::Detailed) => Presentation::Spoken,
        (Severity::Error, Verbosity::Normal)
        | (Severity::Warning | Severity::Note, Verbosity::Detailed) => Presentation::Shown,
        (Severity::Error, Verbosity::Terse)
        | (Severity::Warning | Severity::Note, Verbosity::Normal | Verbosity::Terse) => {
            Presentation::Kept
        }
    }
}
