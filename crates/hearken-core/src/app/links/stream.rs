//! The life cycle of a link: the stream machine of the project's design, as a table.

use crate::protocol::{Machine, state_machine};

state_machine! {
    /// The states of a link, without their data.
    machine Stream = "link";
    /// What happens to a link.
    events StreamEvent {
        /// An attempt to connect begins.
        Connect = "connect",
        /// The stream is open.
        Connected = "connected",
        /// The first data arrive.
        StartStreaming = "start streaming",
        /// More data arrive.
        DataReceived = "data received",
        /// The source reaches its regular end.
        Complete = "complete",
        /// The source is given up.
        Error = "error",
        /// The connection is gone, and another attempt follows.
        Disconnect = "disconnect",
        /// A source that was given up is tried again.
        Reconnect = "reconnect",
        /// The person leaves the source.
        Leave = "leave",
    }
    states {
        /// Not connected; waiting for the next attempt.
        Disconnected = "disconnected",
        /// An attempt is under way.
        Connecting = "connecting",
        /// The stream is open, but nothing has come yet.
        Connected = "connected",
        /// Events arrive.
        Streaming = "streaming",
        /// Reached its regular end, or left by the person.
        Completed = "completed",
        /// Given up.
        Failed = "failed",
    }
    initial Disconnected;
    transitions {
        Disconnected, Connect => Connecting;
        Disconnected, Connected => Connected;
        Disconnected, Disconnect => Disconnected;
        Disconnected, Complete => Completed;
        Disconnected, Error => Failed;
        Disconnected, Leave => Completed;
        Connecting, Connect => Connecting;
        Connecting, Connected => Connected;
        Connecting, Disconnect => Disconnected;
        Connecting, Complete => Completed;
        Connecting, Error => Failed;
        Connecting, Leave => Completed;
        Connected, StartStreaming => Streaming;
        Connected, Complete => Completed;
        Connected, Disconnect => Disconnected;
        Connected, Error => Failed;
        Connected, Leave => Completed;
        Streaming, DataReceived => Streaming;
        Streaming, Complete => Completed;
        Streaming, Disconnect => Disconnected;
        Streaming, Error => Failed;
        Streaming, Leave => Completed;
        Failed, Reconnect => Connecting;
        Failed, Leave => Completed;
    }
}

/// The phase of a link's life, with its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LinkPhase {
    /// Not connected; waiting for the next attempt.
    Disconnected,
    /// An attempt is under way.
    Connecting {
        /// The number of the attempt, from 1.
        attempt: u32,
    },
    /// The stream is open, but nothing has come yet.
    Connected,
    /// Events arrive.
    Streaming,
    /// Reached its regular end, or left by the person.
    Completed,
    /// Given up.
    Failed,
}

impl LinkPhase {
    /// Returns whether nothing more will come.
    pub fn is_over(self) -> bool {
        match self {
            Self::Completed | Self::Failed => true,
            Self::Disconnected | Self::Connecting { .. } | Self::Connected | Self::Streaming => {
                false
            }
        }
    }

    /// Returns the state of the machine for this phase.
    pub fn stream(self) -> Stream {
        match self {
            Self::Disconnected => Stream::Disconnected,
            Self::Connecting { .. } => Stream::Connecting,
            Self::Connected => Stream::Connected,
            Self::Streaming => Stream::Streaming,
            Self::Completed => Stream::Completed,
            Self::Failed => Stream::Failed,
        }
    }

    /// Enters the next state of the table; `attempt` matters only while connecting. An event out of turn does
    /// not change the state; its content is still handled.
    pub(super) fn step(&mut self, event: StreamEvent, attempt: u32) {
        if let Ok(to) = self.stream().transition(event) {
            *self = match to {
                Stream::Disconnected => Self::Disconnected,
                Stream::Connecting => Self::Connecting { attempt },
                Stream::Connected => Self::Connected,
                Stream::Streaming => Self::Streaming,
                Stream::Completed => Self::Completed,
                Stream::Failed => Self::Failed,
            };
        }
    }

    /// Applies the steps for data that arrived.
    pub(super) fn receive(&mut self) {
        self.step(StreamEvent::StartStreaming, 0);
        self.step(StreamEvent::DataReceived, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_follows_the_table() {
        let mut phase = LinkPhase::Disconnected;
        phase.step(StreamEvent::Connect, 3);
        assert_eq!(phase, LinkPhase::Connecting { attempt: 3 });
        phase.step(StreamEvent::DataReceived, 0);
        assert_eq!(phase, LinkPhase::Connecting { attempt: 3 }, "out of turn");
        phase.step(StreamEvent::Connected, 0);
        phase.receive();
        assert_eq!(phase, LinkPhase::Streaming);
        phase.receive();
        assert_eq!(phase, LinkPhase::Streaming);
        phase.step(StreamEvent::Disconnect, 0);
        phase.step(StreamEvent::Connect, 1);
        phase.step(StreamEvent::Error, 0);
        assert!(phase.is_over());
    }

    #[test]
    fn only_what_is_over_stays_as_it_is() {
        for state in Stream::valid_transitions().iter().map(|row| row.to) {
            assert_eq!(state.is_final(), state == Stream::Completed, "{state:?}");
        }
    }
}
