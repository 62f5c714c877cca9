//! How much of what a question changes a person could see.

use crate::announce::ChangePlace;

/// The stretch of a question's changes that is in sight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrawnChange {
    /// Where it begins.
    pub from: ChangePlace,
    /// The first place behind it; where it begins, if there is no room for any of it.
    pub to: ChangePlace,
}

/// How a person follows what the shown question changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeSight {
    /// By ear, or in lines: part by part.
    ByEar,
    /// On a screen; `None` until it has reported what it shows.
    BySight(Option<DrawnChange>),
}
