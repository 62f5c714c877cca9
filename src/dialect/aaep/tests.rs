//! The machine by itself.
