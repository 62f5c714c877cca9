//! Tests of both sides: the program's with scripted children, the child's with a scripted engine.

mod child_side;
#[cfg(unix)]
mod program_side;
