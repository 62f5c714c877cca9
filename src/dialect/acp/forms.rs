//! What an agent asks for beside permissions: forms, and addresses to be opened.
//!
//! Responsibilities: the questions that they become, what is answered, and when. Not here: what a form wants (`form`), what
//! an address is (`address`).
//!
//! # Mental model
//! A form is asked part by part; at its end everything is said once more, can be changed, sent, declined, or closed without
//! an answer. An address is said with its host first, and is never opened here: whoever wants to, opens it. Nothing goes back
//! that the person did not say: no part is filled in for them, and what the agent takes for usual is one of the answers.
//! Whatever the agent takes back, or the person stops, is answered as such.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::dialect::rpc::{self, Id};
use crate::dialect::written;
use crate::dialect::{Out, Over, Words};
use crate::link::{Phrase, Receipt, Word};
use crate::protocol::{Answer, Now, Response};

use super::address::Address;
use super::aside::{Aside, Asks};
use super::call::first;
use super::client::Acp;
use super::ending::{closed, sentence};
use super::form::{self, Kind, Part};
use super::read::text;

/// How many wait at once; an agent that asks for more is answered by an error.
const MOST: usize = 16;
/// How many addresses that were opened are remembered, so that their end can be told.
const MOST_OPENED: usize = 16;
/// The longest message, in characters.
const LONGEST: usize = 2000;

/// What comes back for an answer that is ours; nobody types that by chance.
const USUAL: &str = "hearken.usual";
const WITHOUT: &str = "hearken.without";
const DECLINE: &str = "hearken.decline";
const CANCEL: &str = "hearken.cancel";

/// Is a request that waits for the person.
#[derive(Debug)]
pub(super) struct Elicited {
    id: Id,
    /// Whether it belongs to what the agent does in its conversation, and is cancelled with that.
    of_turn: bool,
    aside: Aside,
    what: What,
    /// What the answer on its way says.
    sends: Option<Action>,
}

#[derive(Debug)]
enum What {
    Form(Filling),
    Open { address: Address, id: String },
}

/// Holds a form that is being filled in.
#[derive(Debug)]
struct Filling {
    message: String,
    parts: Vec<Part>,
    values: BTreeMap<usize, Value>,
    /// Which part is asked; all of them at the end.
    at: usize,
    /// Whether the end was reached, so that a part which is changed leads back to it.
    whole: bool,
}

/// Says how a request is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Accept,
    Decline,
    Cancel,
}

impl Action {
    fn answer(self, id: &Id, content: Option<Value>) -> String {
        let answer = match (self, content) {
            (Self::Accept, Some(content)) => json!({"action": "accept", "content": content}),
            (Self::Accept, None) => json!({"action": "accept"}),
            (Self::Decline, _) => json!({"action": "decline"}),
            (Self::Cancel, _) => json!({"action": "cancel"}),
        };
        rpc::result(id, &answer.to_string())
    }
}

/// Says what follows an answer.
enum Next {
    /// It is none that is asked for.
    None,
    /// Ask the next thing.
    Ask,
    /// Ask the same again, because of this.
    Again(Phrase),
    /// Answer the agent.
    Give(Action),
}

impl Acp {
    /// Takes a request for a form or for opening an address.
    pub(super) fn elicited(
        &mut self,
        id: &Id,
        params: &Map<String, Value>,
        now: Now,
        out: &mut Vec<Out>,
    ) {
        let refuse = |acp: &mut Self, code, why: &str, key, out: &mut Vec<Out>| {
            acp.send(rpc::error(id, code, why), out);
            out.push(Out::Tell(Phrase::new(key)));
        };
        if self.listens && self.elicited.len() >= MOST {
            // Of a capture nobody knows what was answered, and the oldest surely was.
            self.elicited
                .remove(0)
                .aside
                .end(&mut self.teller, now, out);
        }
        if self.elicited.len() >= MOST {
            let why = "too many requests wait";
            return refuse(self, rpc::INTERNAL, why, "acp.form.too_many", out);
        }
        let of_turn = params.contains_key("sessionId");
        if of_turn && self.turn.as_ref().is_some_and(|turn| turn.stopping) {
            self.send(Action::Cancel.answer(id, None), out);
            return out.push(Out::Detail(Phrase::new("acp.cancelled_too")));
        }
        let message = text(params, "message").unwrap_or_default();
        let message: Vec<&str> = message.split_whitespace().collect();
        let message = written::cut(&message.join(" "), LONGEST);
        let schema = params.get("requestedSchema").and_then(Value::as_object);
        let (what, about) = match text(params, "mode") {
            Some("form") => {
                let Some(parts) = schema.and_then(form::read) else {
                    let why = "this form can't be asked here";
                    return refuse(self, rpc::INVALID, why, "acp.form.unread", out);
                };
                let filling = Filling {
                    message,
                    parts,
                    values: BTreeMap::new(),
                    at: 0,
                    whole: false,
                };
                (What::Form(filling), "acp.form.asks")
            }
            Some("url") => {
                let address = text(params, "url").and_then(|it| Address::read(it, &message));
                let opens = text(params, "elicitationId").zip(address);
                let Some((id, address)) = opens else {
                    let why = "this address can't be shown here";
                    return refuse(self, rpc::INVALID, why, "acp.url.unread", out);
                };
                let id = written::cut(id, LONGEST);
                (What::Open { address, id }, "acp.url.asks")
            }
            Some(_) | None => {
                let why = "this mode was not offered";
                return refuse(self, rpc::INVALID, why, "acp.form.unread", out);
            }
        };
        let conversation = text(params, "sessionId").unwrap_or_default().to_owned();
        let teller = &mut self.teller;
        let mut aside = Aside::begin("elicitation", &conversation, about, teller, now, out);
        let asks = what.asks(&teller.words);
        aside.ask(asks, teller, now, out);
        self.elicited.push(Elicited {
            id: id.clone(),
            of_turn,
            aside,
            what,
            sends: None,
        });
    }

    /// Takes an answer to one of these questions; tells whether it is one.
    pub(super) fn fills_in(
        &mut self,
        request: u64,
        token: &str,
        answer: &Answer,
        now: Now,
        out: &mut Vec<Out>,
    ) -> bool {
        let Some(at) = self.elicited.iter().position(|it| it.aside.takes(token)) else {
            return false;
        };
        let (Some(elicited), Answer::Response(response)) = (self.elicited.get_mut(at), answer)
        else {
            return false;
        };
        let settled = Out::Settled {
            request,
            outcome: Ok(Receipt::Here),
        };
        let next = match &mut elicited.what {
            What::Form(filling) => filling.take(response),
            What::Open { .. } => match response {
                Response::YesNo(true) => Next::Give(Action::Accept),
                Response::YesNo(false) => Next::Give(Action::Decline),
                Response::Text(_) | Response::Number(_) => Next::None,
            },
        };
        match next {
            Next::None => return false,
            Next::Give(action) => {
                let content = match &elicited.what {
                    What::Form(filling) => Some(filling.content()),
                    What::Open { .. } => None,
                };
                elicited.aside.sends(request);
                elicited.sends = Some(action);
                let frame = action.answer(&elicited.id, content);
                out.push(Out::Send { request, frame });
                return true;
            }
            Next::Ask => out.push(settled),
            Next::Again(why) => {
                out.push(settled);
                let why = Word::Phrase(why);
                out.push(Out::Tell(Phrase::new("acp.form.wrong").with("why", why)));
            }
        }
        let asks = elicited.what.asks(&self.teller.words);
        elicited.aside.ask(asks, &mut self.teller, now, out);
        true
    }

    /// Takes what became of an answer to the agent.
    pub(super) fn filled_in_went(
        &mut self,
        request: u64,
        went: bool,
        now: Now,
        out: &mut Vec<Out>,
    ) {
        let sent = |it: &mut Elicited| it.aside.went(request);
        let Some(at) = self.elicited.iter_mut().position(sent) else {
            return;
        };
        let action = self.elicited.get_mut(at).and_then(|it| it.sends.take());
        if !went {
            return;
        }
        let elicited = self.elicited.remove(at);
        let told = match (elicited.what, action) {
            (What::Open { address, id }, Some(Action::Accept)) => {
                let whole = address.whole.clone();
                let mut told = sentence(&self.teller.words, "acp.url.open", &[("address", &whole)]);
                // From there it can be copied.
                told.insert("result_uri".to_owned(), whole.into());
                if self.opened.len() >= MOST_OPENED {
                    self.opened.pop_front();
                }
                self.opened.push_back((id, address.host));
                told
            }
            (What::Open { .. } | What::Form(_), action) => {
                let key = match action {
                    Some(Action::Accept) => "acp.form.sent",
                    Some(Action::Decline) => "acp.form.declined",
                    Some(Action::Cancel) | None => "acp.form.closed",
                };
                sentence(&self.teller.words, key, &[])
            }
        };
        elicited.aside.end_with(told, &mut self.teller, now, out);
    }

    /// Takes the word that what was to be done at an address is done.
    pub(super) fn opened_and_done(&mut self, params: &Map<String, Value>, out: &mut Vec<Out>) {
        let id = text(params, "elicitationId").unwrap_or_default();
        // One that is not known, or done already, is to be passed over.
        if let Some(at) = self.opened.iter().position(|(known, _)| known == id)
            && let Some((_, host)) = self.opened.remove(at)
        {
            out.push(Out::Tell(
                Phrase::new("acp.url.done").with("host", Word::Name(host)),
            ));
        }
    }

    /// Takes back one that the agent no longer wants; tells whether there was one.
    pub(super) fn took_back_elicited(&mut self, id: &Value, now: Now, out: &mut Vec<Out>) -> bool {
        let open = |it: &Elicited| it.id.is(id) && !it.aside.is_sending();
        let Some(at) = self.elicited.iter().position(open) else {
            return false;
        };
        let elicited = self.elicited.remove(at);
        elicited.aside.is_over(Over::TakenBack, out);
        elicited.aside.end(&mut self.teller, now, out);
        let refused = rpc::error(&elicited.id, rpc::CANCELLED, "Request cancelled");
        self.send(refused, out);
        true
    }

    /// Closes what belongs to a turn that is being stopped.
    pub(super) fn cancel_elicited(&mut self, now: Now, out: &mut Vec<Out>) {
        // An answer that is on its way is the person's, and stays it.
        let ends = |it: &mut Elicited| it.of_turn && !it.aside.is_sending();
        let over: Vec<Elicited> = self.elicited.extract_if(.., ends).collect();
        for elicited in over {
            elicited.aside.is_over(Over::Stopped, out);
            elicited.aside.end(&mut self.teller, now, out);
            self.send(Action::Cancel.answer(&elicited.id, None), out);
        }
    }

    /// Takes the end of the agent.
    pub(super) fn lose_elicited(&mut self, now: Now, out: &mut Vec<Out>) {
        for elicited in std::mem::take(&mut self.elicited) {
            elicited.aside.lose(&mut self.teller, now, out);
        }
    }

    /// Gives the ids of those that wait.
    #[cfg(test)]
    pub(super) fn waiting_elicited(&self) -> Vec<Id> {
        self.elicited.iter().map(|it| it.id.clone()).collect()
    }
}

impl What {
    fn asks(&self, words: &Words) -> Asks {
        match self {
            Self::Form(filling) => filling.asks(words),
            Self::Open { address, .. } => address.asks(words),
        }
    }
}

impl Filling {
    /// Takes an answer to what is asked.
    fn take(&mut self, answer: &Response) -> Next {
        let Some(part) = self.parts.get(self.at) else {
            return self.take_end(answer);
        };
        let chosen = match answer {
            Response::Text(text) => text.as_str(),
            Response::YesNo(_) | Response::Number(_) => "",
        };
        let value = match chosen {
            DECLINE => return Next::Give(Action::Decline),
            CANCEL => return Next::Give(Action::Cancel),
            WITHOUT if part.required => return Next::None,
            WITHOUT => None,
            USUAL => match &part.usual {
                Some(usual) => Some(usual.clone()),
                None => return Next::None,
            },
            _ => match part.take(answer) {
                Ok(value) => Some(value),
                Err(wrong) => return Next::Again(wrong),
            },
        };
        match value {
            Some(value) => self.values.insert(self.at, value),
            None => self.values.remove(&self.at),
        };
        self.at = match self.whole {
            true => self.parts.len(),
            false => self.at + 1,
        };
        self.whole |= self.at == self.parts.len();
        Next::Ask
    }

    /// Takes an answer to the question whether it is right so.
    fn take_end(&mut self, answer: &Response) -> Next {
        let place = match answer {
            Response::Text(text) => text.parse::<usize>().ok(),
            Response::YesNo(_) | Response::Number(_) => None,
        };
        let parts = self.parts.len();
        match place {
            Some(1) => Next::Give(Action::Accept),
            Some(at) if (2..parts + 2).contains(&at) => {
                self.at = at - 2;
                Next::Ask
            }
            Some(at) if at == parts + 2 => Next::Give(Action::Decline),
            Some(at) if at == parts + 3 => Next::Give(Action::Cancel),
            Some(_) | None => Next::None,
        }
    }

    fn content(&self) -> Value {
        let values = self.values.iter().filter_map(|(at, value)| {
            let part = self.parts.get(*at)?;
            Some((part.id.clone(), value.clone()))
        });
        Value::Object(values.collect())
    }

    fn asks(&self, words: &Words) -> Asks {
        match self.parts.get(self.at) {
            Some(part) => self.asks_part(part, words),
            None => self.asks_end(words),
        }
    }

    fn asks_part(&self, part: &Part, words: &Words) -> Asks {
        let several = self.parts.len() > 1;
        let number = |n: usize| {
            if several {
                n.to_string()
            } else {
                String::new()
            }
        };
        let (n, count) = (number(self.at + 1), number(self.parts.len()));
        // What it is all about is said once.
        let message = match self.at == 0 && !self.whole {
            true => closed(&self.message),
            false => String::new(),
        };
        let args = [
            ("message", message.as_str()),
            ("n", &n),
            ("count", &count),
            ("name", &closed(&part.name)),
            ("says", &closed(&part.says)),
            ("wants", &part.wants(words)),
        ];
        let mut asks = Asks {
            question: first(words, "acp.form.part", &args),
            ..Asks::default()
        };
        let mut offer = |offers: &[form::Offer]| {
            let numbered = offers.iter().enumerate();
            asks.choices
                .extend(numbered.map(|(at, it)| ((at + 1).to_string(), it.label.clone())));
        };
        match &part.kind {
            Kind::Text { .. } => asks.kinds.push("freetext"),
            Kind::Number { .. } => asks.kinds.push("numeric"),
            Kind::YesNo => asks.kinds.push("yes_no"),
            Kind::One(offers) | Kind::Several { offers, .. } => {
                match offers.len() > form::MOST_OFFERED {
                    true => asks.kinds.push("freetext"),
                    false => offer(offers),
                }
            }
        }
        asks.several = matches!(part.kind, Kind::Several { .. }) && !asks.choices.is_empty();
        if asks.several {
            // Where no key can pick them their numbers are typed.
            asks.kinds.push("freetext");
        }
        asks.kinds.push("multiple_choice");
        if let Some(usual) = &part.usual {
            let usual = part.words(usual, &yes_no(words));
            let label = first(words, "acp.form.usual", &[("value", &usual)]);
            asks.choices.push((USUAL.to_owned(), label));
        }
        if !part.required {
            let label = first(words, "acp.form.without", &[]);
            asks.choices.push((WITHOUT.to_owned(), label));
        }
        for (value, key) in [(DECLINE, "acp.form.decline"), (CANCEL, "acp.form.cancel")] {
            asks.choices
                .push((value.to_owned(), first(words, key, &[])));
        }
        asks
    }

    fn asks_end(&self, words: &Words) -> Asks {
        let said: Vec<(String, String)> = self
            .parts
            .iter()
            .enumerate()
            .map(|(at, part)| {
                let value = self.values.get(&at);
                let value = value.map(|value| part.words(value, &yes_no(words)));
                let nothing = || first(words, "acp.form.nothing", &[]);
                (part.name.clone(), value.unwrap_or_else(nothing))
            })
            .collect();
        let all: Vec<String> = said
            .iter()
            .map(|(name, value)| first(words, "acp.form.said", &[("name", name), ("value", value)]))
            .collect();
        let mut labels = vec![first(words, "acp.form.send", &[])];
        labels.extend(
            said.iter()
                .map(|(name, _)| first(words, "acp.form.change", &[("name", name)])),
        );
        labels.push(first(words, "acp.form.decline", &[]));
        labels.push(first(words, "acp.form.cancel", &[]));
        let all = all.join("; ");
        Asks::one_of(
            first(words, "acp.form.whole_form", &[("all", &all)]),
            labels,
        )
    }
}

impl Part {
    /// Says what it takes, where that is not plain from its answers.
    fn wants(&self, words: &Words) -> String {
        let bounds = |key, least: Option<String>, most: Option<String>| {
            let (least, most) = (least.unwrap_or_default(), most.unwrap_or_default());
            match least.is_empty() && most.is_empty() {
                true => String::new(),
                false => first(words, key, &[("least", &least), ("most", &most)]),
            }
        };
        let of = |bound: &Option<u64>| bound.map(|it| it.to_string());
        match &self.kind {
            Kind::Text { length, format } => {
                let length = bounds("acp.form.length", of(&length.0), of(&length.1));
                match format {
                    form::Format::Any => length,
                    form::Format::Mail
                    | form::Format::Address
                    | form::Format::Day
                    | form::Format::Moment => first(words, format.wanted(), &[]),
                }
            }
            Kind::Number { range, .. } => bounds(
                "acp.form.range",
                range.0.map(|it| it.to_string()),
                range.1.map(|it| it.to_string()),
            ),
            Kind::Several { count, .. } => {
                let count = bounds("acp.form.count", of(&count.0), of(&count.1));
                first(words, "acp.form.several", &[("count", &count)])
            }
            Kind::YesNo | Kind::One(_) => String::new(),
        }
    }
}

fn yes_no(words: &Words) -> impl Fn(bool) -> String {
    |yes| first(words, if yes { "answer.yes" } else { "answer.no" }, &[])
}
