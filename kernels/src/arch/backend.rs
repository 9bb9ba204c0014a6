//! What a tier offers to the code above it: a [`Backend`] for each combination of its CPU features.
//!
//! A [`TierToken`] is the index of a backend. The backends are kept field by field, each field in a static of its own, so that a
//! program links what it uses: one that casts and looks for no losses has no loops that do, and a typed cast has no table of kernels.

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

/// Calls the macro `$callback` with what a tier offers.
macro_rules! for_each_field {
    ($callback:ident) => {
        $callback! {
        /// Whether the CPU has the tier, and the operating system saves its registers.
        detected: fn() -> bool,
        /// The combination of CPU features that kernels may use here: the number of a backend among those of the tier. The CPU has the
        /// tier.
        combination: fn() -> u8,
        /// The names of the CPU features.
        features: &'static [&'static str],

        /// The kernels of pairs under the common rules.
        table: &'static Table,
        /// Finds the kernel of a pair of encodings under rules that are not the common ones. Where a tier has none, the scalar one has.
        rounded: fn(Encoding, Encoding, &Rules) -> Option<Rounded>,
        /// Whether the floating-point environment may change what the kernel of a pair returns under the common rules.
        obeys_environment: fn(DType, DType) -> bool,

        /// How packed storage is read and written.
        packing: &'static Packing,
        /// The kernels to the other byte order.
        swaps: &'static Swaps,
        /// How tiles are transposed.
        transpose: &'static Transpose,
        /// How elements with strides are brought together, and spread.
        copy: CopyPlane,
        /// How casts larger than the last-level cache are stored, if not as others.
        non_temporal: Option<&'static NonTemporal>,

        /// Finds the loops that look for losses.
        loops: fn(Shape) -> loss::Loops,

        /// The loops of scaled casts, if there are any.
        scaled: Option<&'static scaled::Loops>,
        /// Finds the loop that scales the elements of a dtype in registers and casts them.
        fused: fn(DType, Encoding, Step) -> Option<Fused>,
        /// Finds the loop that scales codes in registers and casts them to a dtype.
        decoder: fn(Encoding, DType, Step) -> Option<Fused>,
        /// Finds the kernel that looks the words of an 8-bit float up in a table of magnitudes, if that is quicker than a decoder.
        products: fn(Encoding, Encoding) -> Option<TableFn<Lut<128, 2>>>,        }
    };
}
pub(super) use for_each_field;

/// Makes [`Backend`].
macro_rules! define_backend {
    ($($(#[$doc:meta])* $field:ident: $type:ty,)*) => {
        /// What a tier offers for one combination of CPU features. [`Backend::new`] has the fields of a tier that has kernels and
        /// nothing else.
        #[derive(Clone, Copy)]
        pub(crate) struct Backend {
            $($(#[$doc])* pub(crate) $field: $type,)*
        }
    };
}
for_each_field!(define_backend);

impl Backend {
    /// Kernels that every CPU runs for which this build has code, and beside them what the scalar tier has.
    pub(super) const fn new(table: &'static Table) -> Self {
        Backend {
            detected: || true,
            combination: || 0,
            features: &[],
            table,
            rounded: |_, _, _| None,
            // The guard that nobody needs costs a few nanoseconds; the one that is missing, a wrong result.
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

    /// The backend without kernels of pairs and what is made like these, for the tests in this crate, which are those of parts.
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
