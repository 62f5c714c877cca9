//! A control that holds agents back, for tests.
//!
//! Responsibilities: holding every agent before its next event, or only before events of one type,
//! and reporting when one is held. Not here: the pace of a scenario (`performance`).

use tokio::sync::watch;

/// A gate that lets agents pass or holds them.
#[derive(Debug)]
pub(super) struct Gate {
    order: watch::Sender<GateOrder>,
    held: watch::Sender<HeldCount>,
}

/// The current instruction to agents, with its sequence number.
#[derive(Debug, Clone)]
struct GateOrder {
    number: u64,
    stance: GateState,
}

#[derive(Debug, Clone)]
enum GateState {
    Open,
    Shut,
    ShutFor(String),
}

/// The number of agents held under an order. The order's number prevents an agent that has yet to
/// wake up after an older order from counting as held under the newest.
#[derive(Debug, Clone, Copy, Default)]
struct HeldCount {
    order: u64,
    agents: usize,
}

/// Counts an agent as held until it is dropped.
struct Hold<'a> {
    held: &'a watch::Sender<HeldCount>,
    order: u64,
}

impl GateState {
    fn holds(&self, event_type: &str) -> bool {
        match self {
            GateState::Open => false,
            GateState::Shut => true,
            GateState::ShutFor(held) => held == event_type,
        }
    }
}

impl<'a> Hold<'a> {
    fn new(held: &'a watch::Sender<HeldCount>, order: u64) -> Self {
        held.send_modify(|held| {
            if held.order < order {
                *held = HeldCount { order, agents: 0 };
            }
            if held.order == order {
                held.agents += 1;
            }
        });
        Self { held, order }
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        self.held.send_modify(|held| {
            if held.order == self.order {
                held.agents = held.agents.saturating_sub(1);
            }
        });
    }
}

impl Gate {
    pub(super) fn new() -> Self {
        let order = GateOrder {
            number: 0,
            stance: GateState::Open,
        };
        Self {
            order: watch::Sender::new(order),
            held: watch::Sender::new(HeldCount::default()),
        }
    }

    pub(super) fn open(&self) {
        self.order(GateState::Open);
    }

    pub(super) fn shut(&self) {
        self.order(GateState::Shut);
    }

    /// Holds agents only before events of one type, named as on the wire.
    pub(super) fn shut_for(&self, event_type: &str) {
        self.order(GateState::ShutFor(event_type.to_owned()));
    }

    fn order(&self, stance: GateState) {
        self.order.send_modify(|order| {
            order.number += 1;
            order.stance = stance;
        });
    }

    /// Waits until an event of this type may be sent.
    pub(super) async fn pass(&self, event_type: &str) {
        let mut orders = self.order.subscribe();
        loop {
            let number = {
                let order = orders.borrow_and_update();
                if !order.stance.holds(event_type) {
                    return;
                }
                order.number
            };
            let _hold = Hold::new(&self.held, number);
            if orders.changed().await.is_err() {
                return;
            }
        }
    }

    /// Waits until at least one agent is held under the latest order.
    pub(super) async fn until_held(&self) {
        let order = self.order.borrow().number;
        let held = |held: &HeldCount| held.order >= order && held.agents > 0;
        // The sender lives as long as the gate, so only the condition ends this wait.
        let _ = self.held.subscribe().wait_for(held).await;
    }
}
