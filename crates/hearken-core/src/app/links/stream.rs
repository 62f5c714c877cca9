//! Where a link is in its life: the stream machine of the project's design, as a table.

use crate::protocol::{Machine, state_machine};

state_machine! {
    /// Names the states of a link without their data.
    machine Stream = "link";
    /// Says what happens to a link.
    events StreamEvent {
        /// An attempt to connect is made.
        Connect = "connect",
        /// The stream is open.
        Connected = "connected",
        /// The first data come.
        StartStreaming = "start streaming",
        /// More data come.
        DataReceived = "data received",
        /// The source comes to its regular end.
        Complete = "complete",
        /// The source is given up.
        Error = "error",
        /// The connection is gone, and another attempt comes.
        Disconnect = "disconnect",
        /// A source that was given up is tried again.
        Reconnect = "reconnect",
        /// The person leaves the source.
        Leave = "leave",
    }
    states {
        /// Not connected, and waiting for the next attempt.
        Disconnected = "disconnected",
        /// An attempt is being made.
        Connecting = "connecting",
        /// The stream is open and nothing came yet.
        Connected = "connected",
        /// Events come.
        Streaming = "streaming",
        /// It came to its regular end, or the person left it.
        Completed = "completed",
        /// It is given up.
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

/// Where a link is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LinkPhase {
    /// Not connected, and waiting for the next attempt.
    Disconnected,
    /// An attempt is being made.
    Connecting {
        /// Which one, from 1.
        attempt: u32,
    },
    /// The stream is open and nothing came yet.
    Connected,
    /// Events come.
    Streaming,
    /// It came to its regular end, or the person left it.
    Completed,
    /// It is given up.
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

    /// Returns the phase's place in the machine.
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

    /// Steps by the table; `attempt` counts only while connecting. News out of turn change nothing:
    /// what they carry is taken all the same.
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

    /// Steps because data came.
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
