//! What the commands of LaTeX stand for.
//!
//! Responsibilities: the sign, letter or function of each command. Not here: how a sign is named (`words`), how
//! commands with arguments are read (`math`).

/// Returns the sign or the name of the function that a command stands for.
pub(super) fn sign_of(command: &str) -> Option<&'static str> {
    let at = COMMANDS
        .binary_search_by(|(name, _)| (*name).cmp(command))
        .ok()?;
    COMMANDS.get(at).map(|(_, sign)| *sign)
}

/// Returns whether a name is that of a function, with or without a backslash.
pub(super) fn is_function(name: &str) -> bool {
    FUNCTIONS.contains(&name)
}

/// Returns whether an operator takes a range: below and above it.
pub(super) fn is_big(sign: &str) -> bool {
    matches!(sign, "∑" | "∏" | "∐" | "∫" | "∬" | "∭" | "∮" | "⋃" | "⋂")
}

const FUNCTIONS: &[&str] = &[
    "Pr", "arccos", "arcsin", "arctan", "arg", "argmax", "argmin", "cos", "cosh", "cot", "csc",
    "det", "dim", "exp", "gcd", "inf", "ker", "lg", "lim", "ln", "log", "max", "min", "sec", "sin",
    "sinh", "sup", "tan", "tanh",
];

/// The commands, in the order of their names.
const COMMANDS: &[(&str, &str)] = &[
    ("#", "#"),
    ("$", "$"),
    ("%", "%"),
    ("&", "&"),
    ("Alpha", "Α"),
    ("Beta", "Β"),
    ("Delta", "Δ"),
    ("Gamma", "Γ"),
    ("Im", "ℑ"),
    ("Lambda", "Λ"),
    ("Leftarrow", "⇐"),
    ("Leftrightarrow", "⇔"),
    ("Longleftrightarrow", "⟺"),
    ("Longrightarrow", "⟹"),
    ("Omega", "Ω"),
    ("Phi", "Φ"),
    ("Pi", "Π"),
    ("Pr", "Pr"),
    ("Psi", "Ψ"),
    ("Re", "ℜ"),
    ("Rightarrow", "⟹"),
    ("Sigma", "Σ"),
    ("Theta", "Θ"),
    ("Upsilon", "Υ"),
    ("Xi", "Ξ"),
    ("_", "_"),
    ("aleph", "ℵ"),
    ("alpha", "α"),
    ("angle", "∠"),
    ("approx", "≈"),
    ("arccos", "arccos"),
    ("arcsin", "arcsin"),
    ("arctan", "arctan"),
    ("arg", "arg"),
    ("argmax", "argmax"),
    ("argmin", "argmin"),
    ("ast", "∗"),
    ("because", "∵"),
    ("beta", "β"),
    ("bigcap", "⋂"),
    ("bigcup", "⋃"),
    ("bmod", "mod"),
    ("bot", "⊥"),
    ("bullet", "•"),
    ("cap", "∩"),
    ("cdot", "⋅"),
    ("cdots", "…"),
    ("chi", "χ"),
    ("circ", "∘"),
    ("cong", "≅"),
    ("coprod", "∐"),
    ("cos", "cos"),
    ("cosh", "cosh"),
    ("cot", "cot"),
    ("csc", "csc"),
    ("cup", "∪"),
    ("dagger", "†"),
    ("ddots", "…"),
    ("degree", "°"),
    ("delta", "δ"),
    ("det", "det"),
    ("dim", "dim"),
    ("div", "÷"),
    ("dots", "…"),
    ("ell", "ℓ"),
    ("emptyset", "∅"),
    ("epsilon", "ε"),
    ("equiv", "≡"),
    ("eta", "η"),
    ("exists", "∃"),
    ("exp", "exp"),
    ("forall", "∀"),
    ("gamma", "γ"),
    ("gcd", "gcd"),
    ("ge", "≥"),
    ("geq", "≥"),
    ("geqslant", "≥"),
    ("gets", "←"),
    ("gg", "≫"),
    ("gt", ">"),
    ("hbar", "ℏ"),
    ("iff", "⇔"),
    ("iiint", "∭"),
    ("iint", "∬"),
    ("implies", "⟹"),
    ("in", "∈"),
    ("inf", "inf"),
    ("infty", "∞"),
    ("int", "∫"),
    ("iota", "ι"),
    ("kappa", "κ"),
    ("ker", "ker"),
    ("lambda", "λ"),
    ("land", "∧"),
    ("langle", "⟨"),
    ("lbrace", "{"),
    ("lceil", "⌈"),
    ("ldots", "…"),
    ("le", "≤"),
    ("leftarrow", "←"),
    ("leftrightarrow", "↔"),
    ("leq", "≤"),
    ("leqslant", "≤"),
    ("lfloor", "⌊"),
    ("lg", "lg"),
    ("lim", "lim"),
    ("ll", "≪"),
    ("ln", "ln"),
    ("lnot", "¬"),
    ("log", "log"),
    ("longrightarrow", "→"),
    ("lor", "∨"),
    ("lt", "<"),
    ("mapsto", "↦"),
    ("max", "max"),
    ("mid", "|"),
    ("min", "min"),
    ("models", "⊨"),
    ("mp", "∓"),
    ("mu", "μ"),
    ("nabla", "∇"),
    ("ne", "≠"),
    ("neg", "¬"),
    ("neq", "≠"),
    ("nexists", "∄"),
    ("ni", "∋"),
    ("notin", "∉"),
    ("nu", "ν"),
    ("odot", "⊙"),
    ("oint", "∮"),
    ("omega", "ω"),
    ("oplus", "⊕"),
    ("otimes", "⊗"),
    ("parallel", "∥"),
    ("partial", "∂"),
    ("perp", "⊥"),
    ("phi", "φ"),
    ("pi", "π"),
    ("pm", "±"),
    ("pmod", "mod"),
    ("prec", "≺"),
    ("prime", "′"),
    ("prod", "∏"),
    ("propto", "∝"),
    ("psi", "ψ"),
    ("rangle", "⟩"),
    ("rbrace", "}"),
    ("rceil", "⌉"),
    ("rfloor", "⌋"),
    ("rho", "ρ"),
    ("rightarrow", "→"),
    ("sec", "sec"),
    ("setminus", "∖"),
    ("sigma", "σ"),
    ("sim", "∼"),
    ("simeq", "≃"),
    ("sin", "sin"),
    ("sinh", "sinh"),
    ("star", "∗"),
    ("subset", "⊂"),
    ("subseteq", "⊆"),
    ("succ", "≻"),
    ("sum", "∑"),
    ("sup", "sup"),
    ("supset", "⊃"),
    ("supseteq", "⊇"),
    ("tan", "tan"),
    ("tanh", "tanh"),
    ("tau", "τ"),
    ("therefore", "∴"),
    ("theta", "θ"),
    ("times", "×"),
    ("to", "→"),
    ("top", "⊤"),
    ("upsilon", "υ"),
    ("varepsilon", "ε"),
    ("varnothing", "∅"),
    ("varphi", "φ"),
    ("varrho", "ρ"),
    ("varsigma", "σ"),
    ("vartheta", "θ"),
    ("vdash", "⊢"),
    ("vdots", "…"),
    ("vee", "∨"),
    ("wedge", "∧"),
    ("xi", "ξ"),
    ("zeta", "ζ"),
    ("{", "{"),
    ("|", "‖"),
    ("}", "}"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_in_order_and_have_names() {
        assert!(COMMANDS.windows(2).all(|two| two[0].0 < two[1].0));
        let words = super::super::Words::default();
        for (command, sign) in COMMANDS {
            let is_letter = sign.chars().all(char::is_alphabetic);
            assert!(
                is_letter || is_big(sign) || words.math_sign(sign).is_some(),
                "{command}"
            );
        }
        for function in FUNCTIONS {
            assert!(words.math_sign(function).is_some(), "{function}");
        }
    }
}
