//! The names of the protocol and its version.

/// The version that this subscriber claims in its messages.
pub const AAEP_VERSION: &str = "1.0.0";

/// The context that every event must name first (3.2.1).
pub const CORE_CONTEXT: &str = "https://aaep-protocol.org/context/v1";
