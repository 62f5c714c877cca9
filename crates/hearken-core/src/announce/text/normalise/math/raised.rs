//! Letters and digits with separate characters for their raised or lowered forms.
//!
//! Responsibilities: the letter or digit of each form. Not here: how it is read (`math`).

/// Returns the letter or digit that a raised or lowered character shows, and whether it is raised.
pub(in crate::announce) fn script(c: char) -> Option<(char, bool)> {
    const RAISED: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱˢᵗʰᵈʳᵃᵇᶜᵉᵏᵐᵒᵖᵘᵛʷˣʸᵀ";
    const SHOWN: &str = "0123456789+-=()nisthdrabcekmopuvwxyT";
    const LOWERED: &str = "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₒₓₕₖₗₘₙₚₛₜᵢⱼᵣᵤᵥ";
    const BELOW: &str = "0123456789+-=()aeoxhklmnpstijruv";
    if !matches!(c, '\u{b2}' | '\u{b3}' | '\u{b9}' | '\u{2b0}'..='\u{2ff}' | '\u{1d2c}'..='\u{1dbf}' | '\u{2070}'..='\u{209c}' | '\u{2c7c}')
    {
        return None;
    }
    let find = |all: &str, shown: &str| {
        let at = all.chars().position(|other| other == c)?;
        shown.chars().nth(at)
    };
    let raised = find(RAISED, SHOWN).map(|c| (c, true));
    raised.or_else(|| find(LOWERED, BELOW).map(|c| (c, false)))
}
