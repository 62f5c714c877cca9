//! Formulas as a careful reader says them.

use proptest::prelude::*;

use super::*;

fn say(text: &str) -> String {
    formula(text, &Words::default())
}

#[test]
fn formulas_keep_their_grouping() {
    for (written, wanted) in [
        ("E = mc^2", "E equals m c squared"),
        ("\\frac{a+b}{2}", "fraction a plus b over 2 end fraction"),
        ("\\frac12", "1 over 2"),
        (
            "\\int_0^T v^2(t)\\,dt = \\sqrt{\\frac{1}{T}}",
            "integral from 0 to T of v squared of t d t equals square root of 1 over T end root",
        ),
        (
            "x_{1,2} = \\frac{-b \\pm \\sqrt{b^2-4ac}}{2a}",
            "x sub 1, 2 equals fraction minus b plus or minus square root of b squared minus 4 a c end root over 2 a end fraction",
        ),
        (
            "\\sum_{i=1}^{n} i^2",
            "sum from i equals 1 to n of i squared",
        ),
        (
            "\\lim_{x \\to 0} \\frac{\\sin x}{x} = 1",
            "limit as x goes to 0 of fraction sine of x over x end fraction equals 1",
        ),
        ("e^{x+1}+1", "e to the power x plus 1 end power plus 1"),
        ("e^{-x}", "e to the minus x"),
        ("10^{-3}", "10 to the minus 3"),
        (
            "\\alpha \\le \\beta \\in \\mathbb{R}",
            "alpha at most beta in the real numbers",
        ),
        ("\\log_2 8 = 3", "log base 2 of 8 equals 3"),
        ("O(n \\log n)", "O of n log of n"),
        ("f(x, y)", "f of x, y"),
        ("P(A|B)", "P of A given B"),
        ("|x| < 1", "absolute value of x less than 1"),
        (
            "n! = n(n-1)!",
            "n factorial equals n open parenthesis n minus 1 close parenthesis factorial",
        ),
        ("\\binom{n}{k}", "n choose k"),
        ("\\hat{y}_i", "y hat sub i"),
        ("\\sqrt[3]{x}", "cube root of x"),
        (
            "\\begin{pmatrix} 1 & 0 \\\\ 0 & 1 \\end{pmatrix}",
            "matrix: 1, 0; 0, 1, end of matrix",
        ),
        ("90^\\circ", "90 degrees"),
        ("\\Omega", "capital omega"),
        ("x_{i+1}", "x sub i plus 1 end sub"),
        ("f'(x)", "f prime of x"),
        ("\\text{loss} = 0.5", "loss equals 0.5"),
        ("∑ᵢ xᵢ²", "sum over i of x sub i squared"),
    ] {
        assert_eq!(say(written), wanted, "{written}");
    }
}

proptest! {
    /// Whatever a formula contains, it is read, and does not grow out of proportion.
    #[test]
    fn any_formula_is_read(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "\\frac", "{", "}", "^", "_", "\\sqrt", "[", "]", "(", ")", "|", "\\left", "\\begin{cases}", "x", "1",
                "\\sum", "\\", "é", "²", "&", " ", "\\text{a}", "\\log", "√", "∑",
            ]),
            0..60,
        ),
    ) {
        let text = parts.concat();
        prop_assert!(say(&text).len() <= 64 * text.len() + 64);
    }
}
