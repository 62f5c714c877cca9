//! Where the program's memory comes from.
//!
//! Responsibilities: the allocator on Linux. Elsewhere it is the system's own.

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
