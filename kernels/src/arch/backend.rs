//! What a tier offers to the code above it: a [`Backend`] for each combination of its CPU features.
//!
//! A [`TierToken`] is the index of a backend. Each field of the backends is a static of its own, so that a program links only what it uses: a
//! program that never looks for losses has no loops for them, and a typed cast has no table of kernels.

use super::scalar;
use crate::{
    dtype::{DType, Encoding},
    exact::Rules,
    format::{
        lut::Lut,
        packed::{self, Packing},
    },
    vector::{
        kernel::{Rounded, TableFn},
        loss::{self, Shape},
        moves::{
            copy::{self, CopyPlane},
            order::{self, Swaps},
            tile::{self, Transpose},
        },
        non_temporal::NonTemporal,
        scaled::{self, Fused, Step},
        table::Table,
    },
};

/// Calls the macro `$callback` with the fields of a backend.
macro_rules! for_each_field {
    ($callback:ident) => {
        $callback! {
        /// Whether the CPU has the tier and the operating system saves its registers.
        detected: fn() -> bool,
        /// The combination of CPU features that kernels may use here, as the number of a backend of the tier. Precondition: the CPU has the
        /// tier.
        combination: fn() -> u8,
        /// The names of the CPU features.
        features: &'static [&'static str],

        /// The kernels of pairs under the common rules.
        table: &'static Table,
        /// Finds the kernel of a pair of encodings under other rules than the common ones. If a tier has none, the scalar tier has one.
        rounded: fn(Encoding, Encoding, &Rules) -> Option<Rounded>,
        /// Whether the floating-point environment may change what the kernel of a pair returns under the common rules.
        obeys_environment: fn(DType, DType) -> bool,

        /// How packed storage is read and written.
        packing: &'static Packing,
        /// The kernels to the other byte order.
        swaps: &'static Swaps,
        /// How tiles are transposed.
        transpose: &'static Transpose,
        /// How strided elements are collected into a buffer, and spread again.
        copy: CopyPlane,
        /// How the results of casts larger than the last-level cache are stored, if not like all others.
        non_temporal: Option<&'static NonTemporal>,

        /// Finds the loops that look for losses.
        loops: fn(Shape) -> loss::Loops,

        /// The loops of scaled casts, if there are any.
        scaled: Option<&'static scaled::Loops>,
        /// Finds the loop that scales the elements of a dtype in registers and casts them.
        fused: fn(DType, Encoding, Step) -> Option<Fused>,
        /// Finds the loop that scales codes in registers and casts them to a dtype.
        decoder: fn(Encoding, DType, Step) -> Option<Fused>,
        /// Finds the kernel that looks the words of an 8-bit float up in a table of magnitudes, if that is faster than a decoder.
        products: fn(Encoding, Encoding) -> Option<TableFn<Lut<128, 2>>>,        }
    };
}
pub(super) use for_each_field;

/// Defines [`Backend`].
macro_rules! define_backend {
    ($($(#[$doc:meta])* $field:ident: $type:ty,)*) => {
        /// What a tier offers for one combination of CPU features. [`Backend::new`] fills the fields of a tier that has kernels and nothing
        /// else.
        #[derive(Clone, Copy)]
        pub(crate) struct Backend {
            $($(#[$doc])* pub(crate) $field: $type,)*
        }
    };
}
for_each_field!(define_backend);

impl Backend {
    /// The backend of kernels that run on every CPU this build is for. All other fields are the same as the scalar tier's.
    pub(super) const fn new(table: &'static Table) -> Self {
        Backend {
            detected: || true,
            combination: || 0,
            features: &[],
            table,
            rounded: |_, _, _| None,
            // A superfluous guard costs a few nanoseconds; a missing one gives a wrong result.
            obeys_environment: |_, _| true,
            packing: &packed::SCALAR,
            swaps: &order::SCALAR,
            transpose: &tile::SCALAR,
            copy: copy::copy_in_scalars,
            non_temporal: None,
            loops: scalar::loops,
            scaled: None,
            fused: |_, _, _| None,
            decoder: |_, _, _| None,
            products: |_, _| None,
        }
    }

    /// The backend without kernels of pairs and loops built like them, for the tests in this crate, which test only parts.
    pub(super) const fn without_kernels(self) -> Self {
        let Backend {
            detected,
            combination,
            features,
            packing,
            swaps,
            transpose,
            copy,
            non_temporal,
            scaled,
            ..
        } = self;
        Backend {
            detected,
            combination,
            features,
            packing,
            swaps,
            transpose,
            copy,
            non_temporal,
            scaled,
            ..Backend::new(&scalar::TABLE)
        }
    }
}
