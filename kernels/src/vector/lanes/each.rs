//! Macros that apply an expression to every register.

/// Evaluates an expression for each of two registers.
macro_rules! two {
    ($two:expr, |$x:pat_param| $result:expr) => {{
        let [a, b] = $two;
        $crate::vector::each!([a, b], |$x| $result)
    }};
}

/// Evaluates an expression for each of eight registers.
macro_rules! eight {
    ([$($element:expr),*], |$x:pat_param| $result:expr) => {
        $crate::vector::each!([$($element),*], |$x| $result)
    };
    ($eight:expr, |$x:pat_param| $result:expr) => {{
        let [a, b, c, d, e, f, g, h] = $eight;
        $crate::vector::each!([a, b, c, d, e, f, g, h], |$x| $result)
    }};
}
#[allow(unused_imports, reason = "for the operations of tiers")]
pub(crate) use {eight, two};
