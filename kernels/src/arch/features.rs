//! The optional CPU features that some kernels of a tier use.
//!
//! A CPU may have any combination of them, so a tier has a [`Backend`](super::backend::Backend) per combination. The environment variable
//! `LANECAST_DISABLE` names features that kernels must not use: to test what other CPUs run, or to avoid a slow feature.

use core::sync::atomic::{AtomicU8, Ordering};

/// Defines, from one list, what a tier knows of its CPU features: `COMBINATIONS`, the number of combinations; `place(has)` and `names(has)`, the
/// place and the names of a combination; `found()`, the features that kernels may use here; and `combination()`, their place.
macro_rules! cpu_features {
    ($($(#[$doc:meta])* $field:ident = $name:literal by $token:ty;)*) => {
        const LIST: &[&str] = &[$($name),*];
        // Every name is one that the variable may contain.
        const _: () = { $($crate::arch::features::bit($crate::arch::tier::Tier::FEATURES, $name);)* };
        /// The number of combinations.
        pub(super) const COMBINATIONS: usize = 1 << LIST.len();

        /// The features that kernels may use here.
        #[derive(Clone, Copy)]
        #[allow(dead_code, reason = "some features are chosen by tables alone")]
        pub(super) struct Found {
            $($(#[$doc])* pub(super) $field: bool,)*
        }

        /// The place of a combination, given in the order of the list.
        pub(super) const fn place(has: [bool; LIST.len()]) -> usize {
            let (mut place, mut i) = (0, 0);
            while i < has.len() {
                place |= (has[i] as usize) << i;
                i += 1;
            }
            place
        }

        /// The names of a combination, given in the order of the list.
        pub(super) const fn names(has: [bool; LIST.len()]) -> &'static [&'static str] {
            const NAMES: &[[&str; LIST.len()]; COMBINATIONS] = &$crate::arch::features::names(LIST);
            NAMES[place(has)].split_at(place(has).count_ones() as usize).0
        }

        /// The place of the combination that kernels may use here.
        #[inline]
        pub(super) fn combination() -> u8 {
            static FOUND: $crate::arch::features::FeatureCache = $crate::arch::features::FeatureCache::new();
            FOUND.get(&[$(($name, || <$token>::try_new().is_some())),*])
        }

        /// The features that kernels may use here.
        #[inline]
        pub(super) fn found() -> Found {
            let combination = combination();
            Found { $($field: combination & $crate::arch::features::bit(LIST, $name) != 0,)* }
        }
    };
}
pub(super) use cpu_features;

/// `each_combination!(|A, B| $body)` is the array of `$body` for every combination of the constants `A` and `B`, each at its place.
macro_rules! each_combination {
    (|$($feature:ident),*| $body:expr) => {
        $crate::arch::features::each_combination!(@ [$($feature)*] [()] $body)
    };
    (@ [] [$(($($feature:ident = $has:literal)*))*] $body:expr) => {
        [$({
            $(const $feature: bool = $has;)*
            $body
        }),*]
    };
    (@ [$first:ident $($rest:ident)*] [$(($($done:tt)*))*] $body:expr) => {
        $crate::arch::features::each_combination!(
            @ [$($rest)*] [$(($($done)* $first = false))* $(($($done)* $first = true))*] $body
        )
    };
}
pub(super) use each_combination;

/// The bit of a feature in a list.
pub(super) const fn bit(list: &[&str], name: &str) -> u8 {
    const fn same(a: &[u8], b: &[u8]) -> bool {
        let mut i = 0;
        while i < a.len() && i < b.len() && a[i] == b[i] {
            i += 1;
        }
        i == a.len() && i == b.len()
    }
    let mut i = 0;
    while !same(list[i].as_bytes(), name.as_bytes()) {
        i += 1;
    }
    1 << i
}

/// The features of every combination; the rest of each row is empty.
pub(super) const fn names<const N: usize, const COMBINATIONS: usize>(
    list: &'static [&'static str],
) -> [[&'static str; N]; COMBINATIONS] {
    assert!(list.len() == N && 1 << N == COMBINATIONS);
    let mut names = [[""; N]; COMBINATIONS];
    let mut combination = 0;
    while combination < COMBINATIONS {
        let (mut i, mut count) = (0, 0);
        while i < N {
            if combination >> i & 1 != 0 {
                names[combination][count] = list[i];
                count += 1;
            }
            i += 1;
        }
        combination += 1;
    }
    names
}

/// A feature by the name that Rust uses, and whether the CPU has it.
pub(super) type Feature = (&'static str, fn() -> bool);

/// The combination that this CPU has, as bits in the order of a list of features; it is detected at the first read.
pub(super) struct FeatureCache(AtomicU8);

impl FeatureCache {
    const UNKNOWN: u8 = u8::MAX;

    pub(super) const fn new() -> Self {
        Self(AtomicU8::new(Self::UNKNOWN))
    }

    /// The combination that kernels may use here.
    #[inline]
    pub(super) fn get(&self, features: &[Feature]) -> u8 {
        // Relaxed suffices: the byte is the whole message, and every thread that detects gets the same result.
        match self.0.load(Ordering::Relaxed) {
            Self::UNKNOWN => self.find(features),
            found => found,
        }
    }

    #[cold]
    fn find(&self, features: &[Feature]) -> u8 {
        let mut found = 0;
        for (i, (name, has)) in features.iter().enumerate() {
            found |= ((has() && !disabled(name)) as u8) << i;
        }
        self.0.store(found, Ordering::Relaxed);
        found
    }
}

#[cfg(feature = "std")]
fn disabled(feature: &str) -> bool {
    let names = std::env::var_os("LANECAST_DISABLE").unwrap_or_default();
    names.to_string_lossy().split(',').any(|name| name.trim() == feature)
}

#[cfg(not(feature = "std"))]
fn disabled(_: &str) -> bool {
    false
}
