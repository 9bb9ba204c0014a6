//! The formats: their names, the sizes of their blocks, and which of them can be encoded.

use core::fmt;

macro_rules! formats {
    ($($(#[$doc:meta])* $name:ident: $elements:literal elements, $bytes:literal bytes, $encode:literal;)*) => {
        /// A block format of ggml.
        ///
        /// In the names the first number is the bits of an element. `_0` formats have a scale for each block, `_1` formats a scale
        /// and a minimum, `_K` formats a scale for each part of a block and one for the whole block.
        #[allow(non_camel_case_types, reason = "the names that ggml gave them")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum BlockFormat {
            $($(#[$doc])* $name,)*
        }

        impl BlockFormat {
            /// Every format.
            pub const ALL: &[BlockFormat] = &[$(BlockFormat::$name),*];

            /// The name of the format in ggml, in capitals: `Q4_0`, `IQ4_NL`.
            pub const fn name(self) -> &'static str {
                match self { $(BlockFormat::$name => stringify!($name),)* }
            }

            /// Elements of a block. The last axis of a tensor is a multiple of it.
            pub const fn block_elements(self) -> usize {
                match self { $(BlockFormat::$name => $elements,)* }
            }

            /// Bytes of a block, including its scales.
            pub const fn block_bytes(self) -> usize {
                match self { $(BlockFormat::$name => $bytes,)* }
            }

            /// Whether [`quantize`](super::quantize) supports the format. [`dequantize`](super::dequantize) supports all formats.
            pub const fn can_encode(self) -> bool {
                match self { $(BlockFormat::$name => $encode,)* }
            }
        }
    };
}

formats! {
    /// 8-bit integers times a float16 scale.
    Q8_0: 32 elements, 34 bytes, true;
    /// 4-bit integers, -8 to 7, times a float16 scale.
    Q4_0: 32 elements, 18 bytes, true;
    /// 4-bit integers, 0 to 15, times a float16 scale, plus a float16 minimum.
    Q4_1: 32 elements, 20 bytes, true;
    /// 5-bit integers, -16 to 15, times a float16 scale.
    Q5_0: 32 elements, 22 bytes, true;
    /// 5-bit integers, 0 to 31, times a float16 scale, plus a float16 minimum.
    Q5_1: 32 elements, 24 bytes, true;
    /// 4-bit floats (`float4_e2m1fn`) times a power of two (`float8_e8m0fnu`).
    MXFP4: 32 elements, 17 bytes, true;
    /// 4-bit floats (`float4_e2m1fn`), every 16 of them times an unsigned 8-bit float (4 bits of exponent, 3 of mantissa).
    NVFP4: 64 elements, 36 bytes, true;
    /// 2-bit integers in 16 parts with 4-bit scales and minima, under two float16 factors.
    Q2_K: 256 elements, 84 bytes, false;
    /// 3-bit integers, -4 to 3, in 16 parts with 6-bit scales, under a float16 factor.
    Q3_K: 256 elements, 110 bytes, false;
    /// 4-bit integers in 8 parts with 6-bit scales and minima, under two float16 factors.
    Q4_K: 256 elements, 144 bytes, false;
    /// 5-bit integers in 8 parts with 6-bit scales and minima, under two float16 factors.
    Q5_K: 256 elements, 176 bytes, false;
    /// 6-bit integers, -32 to 31, in 16 parts with 8-bit scales, under a float16 factor.
    Q6_K: 256 elements, 210 bytes, false;
    /// 4-bit indices into a table of 16 integers that are denser near zero, times a float16 scale.
    IQ4_NL: 32 elements, 18 bytes, false;
    /// The table of [`IQ4_NL`](Self::IQ4_NL), in 8 parts with 6-bit scales, under a float16 factor.
    IQ4_XS: 256 elements, 136 bytes, false;
    /// -1, 0 and 1, five to a byte, times a float16 scale.
    TQ1_0: 256 elements, 54 bytes, false;
    /// -1, 0, 1 and 2, four to a byte, times a float16 scale.
    TQ2_0: 256 elements, 66 bytes, false;
}

impl BlockFormat {
    /// The format of this name, in upper or lower case: `Q4_K`, `q4_K`, `q4_k`.
    pub fn from_name(name: &str) -> Option<BlockFormat> {
        BlockFormat::ALL.iter().copied().find(|format| format.name().eq_ignore_ascii_case(name))
    }

    /// Whether elements are sums of a product and a minimum, which float32 may have to round.
    pub(super) const fn has_minimum(self) -> bool {
        matches!(
            self,
            BlockFormat::Q4_1 | BlockFormat::Q5_1 | BlockFormat::Q2_K | BlockFormat::Q4_K | BlockFormat::Q5_K
        )
    }

    /// The bytes of `elements` elements, or `None` if they are not a whole number of blocks or a `usize` cannot hold the result.
    ///
    /// ```
    /// use lanecast::gguf::BlockFormat;
    /// assert_eq!(BlockFormat::Q4_0.byte_len(4096), Some(2304));
    /// assert_eq!(BlockFormat::Q4_0.byte_len(100), None);
    /// ```
    pub const fn byte_len(self, elements: usize) -> Option<usize> {
        if elements.is_multiple_of(self.block_elements()) {
            (elements / self.block_elements()).checked_mul(self.block_bytes())
        } else {
            None
        }
    }
}

impl fmt::Display for BlockFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
