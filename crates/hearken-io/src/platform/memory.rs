//! The program's memory allocator.
//!
//! Responsibilities: the allocator on Linux. Other systems use their own.

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
