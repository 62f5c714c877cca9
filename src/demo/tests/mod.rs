//! The demo over a real socket: every scenario, every branch, every refusal.

mod broken_streams;
mod chapter_rules;
mod every_endpoint;
mod other_routes;
mod reply_outcomes;
mod scenarios;
mod server_handshake;
mod shaped_streams;
mod tcp_client;
