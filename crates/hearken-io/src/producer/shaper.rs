//! One subscriber's stream, kept to its terms.
//!
//! Responsibilities: filters (5.3.1.7), questions that a subscriber can't answer (5.3.1.4), and the
//! budget of events as a token bucket (5.6.1) that urgent events never wait for. Not here: the
//! terms themselves (`agreed_terms`), the waiting events (`backlog`).

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

use super::agreed_terms::{SharedTerms, lock};
use super::backlog::{Backlog, EventFrame};
use super::queue::{Frame, NextDelivery};
use super::state_lock::Subscription;

/// Passes a subscriber's events on as its terms require.
#[derive(Debug)]
pub(super) struct Shaper {
    terms: SharedTerms,
    backlog: Backlog,
    over: Option<NextDelivery>,
    budget: Budget,
}

impl Shaper {
    /// Creates the shaper of a stream; a returning subscriber names the last event it got.
    pub(super) fn new(terms: SharedTerms, last: Option<&str>) -> Self {
        let rate = {
            let mut terms = lock(&terms);
            if let Some(last) = last {
                terms.numbers.resume_after(last);
            }
            terms.rate()
        };
        Self {
            terms,
            backlog: Backlog::default(),
            over: None,
            budget: Budget::new(rate),
        }
    }

    /// Returns the next delivery that the terms currently allow.
    pub(super) fn poll_next(
        &mut self,
        source: &Subscription,
        context: &mut Context<'_>,
    ) -> Poll<NextDelivery> {
        if lock(&self.terms).closed {
            return Poll::Ready(NextDelivery::Ended);
        }
        while self.over.is_none() && !self.backlog.is_full() {
            match source.poll_next(context) {
                Poll::Ready(NextDelivery::Frame(frame)) => {
                    if let Some(frame) = self.take(frame) {
                        return Poll::Ready(NextDelivery::Frame(frame));
                    }
                }
                Poll::Ready(NextDelivery::Cut) => return Poll::Ready(NextDelivery::Cut),
                Poll::Ready(end @ NextDelivery::Ended) => self.over = Some(end),
                Poll::Pending => break,
            }
        }
        if self.backlog.is_empty() {
            return match self.over.clone() {
                Some(end) => Poll::Ready(end),
                None => Poll::Pending,
            };
        }
        let rate = lock(&self.terms).rate();
        if self.budget.poll_spend(rate, context).is_pending() {
            return Poll::Pending;
        }
        match self.backlog.next() {
            Some(frame) => Poll::Ready(NextDelivery::Frame(frame)),
            None => Poll::Pending,
        }
    }

    /// Accepts an event; returns it if it may leave immediately.
    fn take(&mut self, frame: Arc<Frame>) -> Option<Arc<Frame>> {
        let parcel = EventFrame::new(frame);
        let terms = &mut *lock(&self.terms);
        if !terms.lets_through(&parcel) {
            return None;
        }
        let free =
            parcel.critical() || (self.backlog.is_empty() && self.budget.spend(terms.rate()));
        if free {
            return Some(self.backlog.pass(parcel, &mut terms.numbers));
        }
        let wanted = terms.cuts_at(parcel.hint());
        self.backlog.hold(parcel, wanted, &mut terms.numbers);
        None
    }
}

/// The budget of a subscriber: a token bucket that holds one second's worth and fills smoothly.
#[derive(Debug)]
struct Budget {
    tokens: f64,
    counted: Instant,
    wake: Pin<Box<Sleep>>,
}

impl Budget {
    /// Starts with a full bucket, so that the first event does not wait.
    fn new(rate: Option<f64>) -> Self {
        Self {
            tokens: rate.unwrap_or(1.0),
            counted: Instant::now(),
            wake: Box::pin(sleep(Duration::ZERO)),
        }
    }

    /// Pays for one event, if the budget suffices; without a rate everything is free.
    fn spend(&mut self, rate: Option<f64>) -> bool {
        let Some(rate) = rate else { return true };
        let now = Instant::now();
        let earned = now.duration_since(self.counted).as_secs_f64() * rate;
        self.tokens = (self.tokens + earned).min(rate.max(1.0));
        self.counted = now;
        let enough = self.tokens >= 1.0;
        if enough {
            self.tokens -= 1.0;
        }
        enough
    }

    /// Pays for one event, or wakes `context` when the budget suffices.
    fn poll_spend(&mut self, rate: Option<f64>, context: &mut Context<'_>) -> Poll<()> {
        while !self.spend(rate) {
            let missing = (1.0 - self.tokens) / rate.unwrap_or(1.0);
            let wake = self.counted + Duration::from_secs_f64(missing);
            self.wake.as_mut().reset(wake);
            if self.wake.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
        }
        Poll::Ready(())
    }
}
