//! The arguments of `hearken bench`.

use super::flag_values::count;

/// What is measured.
#[derive(Debug, clap::Args)]
pub struct BenchArguments {
    /// How many sessions send in turn
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = count::<10_000>)]
    pub sessions: u32,
    /// How many agents the sessions belong to, each with some of them
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = count::<10_000>)]
    pub agents: u32,
    /// How many further sessions ask something and wait meanwhile
    #[arg(long, value_name = "N", value_parser = count::<10_000>)]
    pub questions: Option<u32>,
    /// How many events they send
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = count::<1_000_000>)]
    pub events: u32,
    /// How many seconds to time the way of events from the socket to the line, and to keep an agent silent
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = count::<60>)]
    pub seconds: u32,
    /// Write JSON, one object per line
    #[arg(long)]
    pub json: bool,
    /// Your languages, best first
    #[arg(long, value_name = "TAG", value_delimiter = ',')]
    pub language: Vec<String>,
}
