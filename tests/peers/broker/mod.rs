//! A real NATS server between `hearken bridge` and the people who follow it. `.ci/run` installs the server and a client
//! of another author.

mod answering;
mod attacks;
mod client;
mod clocks;
mod cuts;
mod elsewhere;
mod ending;
mod failing;
mod fleet;
mod lanes;
mod load;
mod missed;
mod namesake;
mod relay;
mod server;
mod storing;
mod synadia;
mod two;
