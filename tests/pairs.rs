//! Every pair, with every combination of the options that apply to it, in both storages and on every tier, against
//! the oracle.
//!
//! One test per pair, named `<from>::<to>`: `cargo test --test library pairs::float32::float16` runs one,
//! `cargo test --test library pairs::float32::` all casts of a source. Sources of up to 16 bits are tested with every code, one-byte ones with
//! every byte (so also with garbage in the bits that a sub-byte dtype does not use, and with every byte that a `bool`
//! can be); the wider ones as `support/patterns.rs` says. Where more than one option differs from its default, a sample of the
//! codes of more than 8 bits has to do, and the ends of the range of the target. A tier that this machine has not is named on the terminal;
//! `LANECAST_REQUIRE_TIERS=avx2,avx512` makes a missing one a failure.

use crate::{oracle, support};
use lanecast::DType;

/// One pair.
fn check(from: DType, to: DType) {
    let (width, all) = (oracle::width(from), support::patterns::sources(from, to));
    let few = match width {
        0..=8 => all.clone(),
        _ => all.iter().copied().step_by(11).chain(support::patterns::edges(from, to)).collect(),
    };
    for options in support::options::applicable(from, to) {
        let source = if support::options::changed(&options) > 1 { &few } else { &all };
        let cast = |bits: u128| oracle::cast(from, to, &options, bits);
        let expected: Vec<u128> = if width <= 16 && source.len() > 1 << width {
            // Every code comes several times.
            let table: Vec<u128> = (0..1_u128 << width.max(8)).map(cast).collect();
            source.iter().map(|&bits| table[bits as usize]).collect()
        } else {
            source.iter().map(|&bits| cast(bits)).collect()
        };
        support::check::all_tiers(from, to, &options, source, &expected);
    }
}

/// A module per source and in it a test per target; and the list of the names, which has to be complete.
macro_rules! pairs {
    ($($from:ident)*) => {
        pairs!(@each [$($from)*] [$($from)*]);

        #[test]
        fn every_dtype_stands_in_the_list() {
            let listed = [$(stringify!($from)),*];
            assert!(DType::EVERY.iter().map(|d| d.name()).eq(listed), "one list: {listed:?}");
        }
    };
    (@each [$($from:ident)*] $all:tt) => {
        $(pairs!(@source $from $all);)*
    };
    (@source $from:ident [$($to:ident)*]) => {
        mod $from {
            $(
                #[test]
                fn $to() {
                    super::check_names(stringify!($from), stringify!($to));
                }
            )*
        }
    };
}

/// One pair by name.
fn check_names(from: &str, to: &str) {
    let dtype = |name: &str| name.parse::<DType>().expect("the name of a dtype");
    let (from, to) = (dtype(from), dtype(to));
    if support::sources::is_built(from) && support::sources::is_built(to) {
        check(from, to);
    }
}

with_dtypes!(pairs);
