//! The command `hearken`.

fn main() {}
