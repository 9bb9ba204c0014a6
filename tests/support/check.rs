//! A plan against the codes it has to give.

use super::{byte_len, load, options::describe, size, storages, store, tiers::tiers};
use lanecast::{Bytes, BytesMut};
use lanecast::{CastOptions, CastPlan, DType, Encoding, Tier};
use std::fmt::{self, Write};

/// What is left in bytes that a cast must not touch.
const CANARY: u8 = 0xA5;

/// One plan to be made.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    /// What is read.
    pub from: Encoding,
    /// What is written.
    pub to: Encoding,
    /// How.
    pub options: &'a CastOptions,
    /// By which kernels.
    pub tier: Tier,
}

impl fmt::Display for Case<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {}, tier {},{}", self.from, self.to, self.tier.name(), describe(self.options))
    }
}

impl Case<'_> {
    /// The plan.
    pub fn plan(&self) -> CastPlan {
        CastPlan::with_tier(self.from, self.to, self.options, self.tier)
            .unwrap_or_else(|e| panic!("{self}: no plan: {e}"))
    }

    /// Runs the plan on `bytes`, which hold the codes `source`, and panics with a list if it does not give
    /// `expected`, bit for bit and byte for byte.
    pub fn check(&self, source: &[u128], bytes: &[u8], expected: &[u128], expected_bytes: &[u8]) {
        let mut out = vec![CANARY; expected_bytes.len() + 64];
        self.plan()
            .run(Bytes::new(bytes, source.len()), BytesMut::new(&mut out, source.len()))
            .unwrap_or_else(|e| panic!("{self}: {e}"));
        let (got, rest) = out.split_at(expected_bytes.len());
        assert!(rest.iter().all(|b| *b == CANARY), "{self}: wrote past the end");
        if got != expected_bytes {
            panic!("{}", self.complaint(source, got, expected));
        }
    }

    /// The message of a mismatch.
    pub fn complaint(&self, source: &[u128], got: &[u8], expected: &[u128]) -> String {
        let got = load(self.to, got, source.len());
        let wrong: Vec<usize> = (0..source.len()).filter(|&i| got[i] != expected[i]).collect();
        let mut text = format!("{self}:");
        let (s, d) = (2 * size(self.from.dtype()), 2 * size(self.to.dtype()));
        for &i in wrong.iter().take(8) {
            let (bits, got, expected) = (source[i], got[i], expected[i]);
            let _ = write!(text, "\n  element {i}: {bits:0s$x} -> got {got:0d$x}, expected {expected:0d$x}");
        }
        match wrong.len() {
            0 => text += "\n  only bits that belong to no element differ",
            k => _ = write!(text, "\n  {k} of {} elements are wrong", source.len()),
        }
        text
    }
}

/// Checks one pair with these options on all tiers and in all storages: every element of `source` has to become that
/// of `expected`.
pub fn all_tiers(from: DType, to: DType, options: &CastOptions, source: &[u128], expected: &[u128]) {
    let targets: Vec<_> = storages(to).into_iter().map(|b| (b, store(b, expected))).collect();
    for from in storages(from) {
        let bytes = store(from, source);
        assert_eq!(from.byte_len(source.len()), Some(byte_len(from, source.len())));
        for (to, expected_bytes) in &targets {
            for &tier in tiers() {
                Case { from, to: *to, options, tier }.check(source, &bytes, expected, expected_bytes);
            }
        }
    }
}
