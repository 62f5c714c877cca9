//! The content of a question, a confirmation or a clarification, and whether two ask the same (chapter 6).

use crate::protocol::{
    ActionDetails, AwaitingClarification, AwaitingConfirmation, Choice, Decision, ReplyToken,
    ToolCallId,
};

/// The content of a question.
#[derive(Debug, Clone, PartialEq)]
pub enum QuestionBody {
    /// A request for consent to an action.
    Confirmation(AwaitingConfirmation),
    /// A request for information.
    Clarification(AwaitingClarification),
}

impl QuestionBody {
    /// Restricts the question to rejection if nothing describes what would be done.
    pub(super) fn narrowed(self, deed: Option<&ActionDetails>) -> Self {
        match self {
            Self::Confirmation(mut asked) if deed.is_none() && is_silent(&asked) => {
                asked.allowed_replies = vec![Decision::Reject];
                Self::Confirmation(asked)
            }
            other => other,
        }
    }

    /// Returns the places, from 1, of two choices that can't be told apart or stand for the same answer, if there are
    /// any.
    pub fn twin_choices(&self) -> Option<(usize, usize)> {
        let Self::Clarification(asked) = self else {
            return None;
        };
        let is_twin = |one: &Choice, other: &Choice| {
            let same_label = one.label.trim().to_lowercase() == other.label.trim().to_lowercase();
            same_label || one.value == other.value
        };
        asked.choices.iter().enumerate().find_map(|(at, other)| {
            let earlier = asked.choices.iter().take(at);
            let twin = earlier.into_iter().position(|one| is_twin(one, other));
            twin.map(|twin| (twin + 1, at + 1))
        })
    }

    /// Returns the token that an answer must echo.
    pub fn token(&self) -> Option<&ReplyToken> {
        match self {
            Self::Confirmation(asked) => asked.reply_token.as_ref(),
            Self::Clarification(asked) => asked.reply_token.as_ref(),
        }
    }
    /// Returns the action or the question itself.
    pub fn subject(&self) -> &str {
        match self {
            Self::Confirmation(asked) => &asked.action,
            Self::Clarification(asked) => &asked.question,
        }
    }
    /// Returns how many answers can be chosen by number.
    pub fn choices(&self) -> usize {
        match self {
            Self::Confirmation(asked) => asked.further_decisions().count(),
            Self::Clarification(asked) => asked.choices.len(),
        }
    }
    /// Returns roughly how much memory its texts take, in bytes.
    pub(super) fn weight(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let pairs = |pairs: &[(String, String)]| -> usize {
            pairs
                .iter()
                .map(|(name, text)| name.len() + text.len())
                .sum()
        };
        match self {
            Self::Confirmation(asked) => {
                asked.action.len()
                    + text(&asked.consequence)
                    + asked.summary.weight()
                    + pairs(&asked.extra_context)
            }
            Self::Clarification(asked) => {
                let choices: usize = asked
                    .choices
                    .iter()
                    .map(|choice| choice.value.len() + choice.label.len())
                    .sum();
                asked.question.len()
                    + text(&asked.context)
                    + text(&asked.default_response)
                    + asked.summary.weight()
                    + choices
            }
        }
    }

    /// Returns how long the producer waits, in seconds.
    pub fn timeout_seconds(&self) -> Option<u64> {
        match self {
            Self::Confirmation(asked) => asked.timeout_seconds,
            Self::Clarification(asked) => asked.timeout_seconds,
        }
    }
}

impl QuestionBody {
    /// Returns whether another question under the same token is this one asked again: nothing in it differs, except
    /// perhaps the wording around it.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let same_about = self.about() == other.about();
        match (self, other) {
            (Self::Confirmation(one), Self::Confirmation(other)) => {
                same_about
                    && one.extra_context == other.extra_context
                    && one.risk_level == other.risk_level
                    && one.undoing() == other.undoing()
                    && one.default_decision == other.default_decision
                    && one.allowed_replies == other.allowed_replies
            }
            (Self::Clarification(_), Self::Clarification(_)) => same_about,
            (Self::Confirmation(_), Self::Clarification(_))
            | (Self::Clarification(_), Self::Confirmation(_)) => false,
        }
    }

    /// Returns whether another question under the same token is a changed version of this one: it is about the same
    /// call, or only what accompanies its words differs.
    pub(super) fn is_changed(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Confirmation(one), Self::Confirmation(two)) => {
                let same_call = one.tool_call_id.is_some() && one.tool_call_id == two.tool_call_id;
                same_call || self.about() == other.about()
            }
            (Self::Clarification(_), _) | (_, Self::Clarification(_)) => false,
        }
    }

    /// Returns what identifies a question: its text, its call, and its consequence or choices.
    pub(super) fn about(&self) -> (bool, &str, Option<&str>, Option<&str>, Vec<&str>) {
        match self {
            Self::Confirmation(asked) => (
                true,
                &asked.action,
                asked.tool_call_id.as_ref().map(ToolCallId::as_str),
                asked.consequence.as_deref(),
                asked.tool.as_deref().into_iter().collect(),
            ),
            Self::Clarification(asked) => (
                false,
                &asked.question,
                None,
                asked.context.as_deref(),
                asked
                    .choices
                    .iter()
                    .flat_map(|choice| [choice.value.as_str(), choice.label.as_str()])
                    .collect(),
            ),
        }
    }
}

/// Returns whether a question does not say what it asks for.
pub(super) fn is_silent(asked: &AwaitingConfirmation) -> bool {
    let is_empty =
        |text: &Option<String>| text.as_deref().is_none_or(|text| text.trim().is_empty());
    asked.action.trim().is_empty()
        && is_empty(&asked.consequence)
        && is_empty(&asked.tool)
        && asked.tool_call_id.is_none()
        && asked.extra_context.is_empty()
}
