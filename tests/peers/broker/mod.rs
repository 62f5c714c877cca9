//! A real NATS server between `hearken bridge` and the people who follow it. `.ci/run` installs the server and a client
//! of another author.

mod attacks;
mod broker_answers;
mod clocks;
mod cuts;
mod dying_bridges;
mod failing_servers;
mod fleet;
mod fleet_load;
mod followed_agents;
mod full_disk;
mod missed_events;
mod namesake;
mod nats_client;
mod nats_server;
mod network_relay;
mod other_machine;
mod synadia_agents;
mod two_people;
