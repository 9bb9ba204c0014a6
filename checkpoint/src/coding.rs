//! [`Coding`]: how the codes of one weight become values, whatever its layout is called.
//!
//! *Law.* Element (r, c) of the stored matrix is `(code - zero) * scale`, times or over a factor of the tensor, plus a bias, all exact, and
//! rounded once. What differs between layouts are the fields of this value; one decoder reads them.

use std::sync::Arc;

use lanecast::DType;

/// The index of a stored tensor.
pub(crate) type Id = usize;

/// What a code of some bits stands for.
#[derive(Clone, Debug)]
pub(crate) enum Codes {
    /// A float of this dtype.
    Float(DType),
    /// An integer in two's complement.
    Signed,
    /// An unsigned integer.
    Unsigned,
    /// An entry of a table.
    Table(Arc<[f32]>),
}

impl Codes {
    /// What the codes are, for a message.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Float(dtype) => dtype.name(),
            Self::Signed => "signed integers",
            Self::Unsigned => "unsigned integers",
            Self::Table(_) => "entries of a table",
        }
    }
}

/// The direction in which codes share words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Along {
    /// A row is a string of bits of its own.
    Rows,
    /// A column is: words of 32 bits, one below the other.
    Columns,
}

/// The order of codes in a row or column of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The first code is in the lowest bits.
    LowFirst,
    /// Of two 4-bit codes in a byte, the first is in the upper bits.
    HighNibbleFirst,
    /// Of eight 4-bit codes in a word, code 0 comes first, then 2, 4, 6, 1, 3, 5, 7.
    Awq,
}

/// How integer fields are packed in a stored matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packing {
    /// Bits of a field, at most 8.
    pub(crate) bits: u32,
    pub(crate) along: Along,
    pub(crate) order: Order,
    /// Bytes of a stored row: of codes, or of words that run down.
    pub(crate) pitch: usize,
}

impl Packing {
    /// One field in each byte, in rows of `cols`.
    pub(crate) const fn bytes(cols: usize) -> Self {
        Self::rows(8, cols)
    }

    /// Rows of `pitch` bytes.
    pub(crate) const fn rows(bits: u32, pitch: usize) -> Self {
        Self { bits, along: Along::Rows, order: Order::LowFirst, pitch }
    }

    /// Words of 32 bits that run down the `cols` columns.
    pub(crate) const fn columns(bits: u32, cols: usize) -> Self {
        Self { bits, along: Along::Columns, order: Order::LowFirst, pitch: 4 * cols }
    }

    pub(crate) const fn with_order(self, order: Order) -> Self {
        Self { order, ..self }
    }

    /// Stored rows for a number of rows.
    pub(crate) fn stored_rows(&self, rows: usize) -> usize {
        match self.along {
            Along::Rows => rows,
            Along::Columns => (rows * self.bits as usize).div_ceil(32),
        }
    }
}

/// Where the scales of a matrix are.
#[derive(Clone, Debug)]
pub(crate) enum ScaleData {
    /// In a tensor, as elements of a dtype, which may be other than the tensor's: bytes that are powers of two.
    Tensor(Id, DType),
    /// Quantized themselves.
    Nested(Arc<Nested>),
}

/// Scales that are codes: `map[code] * absmaxes[i / block] + offset`, each step rounded to `float32`.
#[derive(Debug)]
pub(crate) struct Nested {
    /// The tensor of the codes, one byte each.
    pub(crate) absmax: Id,
    pub(crate) map: Arc<[f32]>,
    pub(crate) absmaxes: Arc<[f32]>,
    pub(crate) block: usize,
    pub(crate) offset: f32,
}

impl Nested {
    /// The scales of these codes, from the index `first` on.
    pub(crate) fn scales(&self, codes: &[u8], first: usize) -> Vec<u8> {
        let scale = |(i, code): (usize, &u8)| {
            self.map[usize::from(*code)] * self.absmaxes[(first + i) / self.block] + self.offset
        };
        codes.iter().enumerate().map(scale).flat_map(f32::to_le_bytes).collect()
    }
}

/// The scales of a matrix, one for each block.
#[derive(Clone, Debug)]
pub(crate) struct Scales {
    pub(crate) data: ScaleData,
    /// Rows and columns of a block.
    pub(crate) block: [usize; 2],
    /// Rows and columns of the grid of blocks of one matrix.
    pub(crate) grid: [usize; 2],
    /// Columns of a stored row if the scales are swizzled: tiles of 128 by 4.
    pub(crate) swizzled: Option<usize>,
    /// Whether byte 0 of a power of two is zero.
    pub(crate) zero_is_zero: bool,
}

/// The zero points of a matrix, on the grid of the scales.
#[derive(Clone, Debug)]
pub(crate) enum Zeros {
    None,
    /// The same for all.
    Constant(i32),
    /// Fields of a tensor.
    Tensor {
        id: Id,
        packing: Packing,
        /// Whether fields are in two's complement.
        signed: bool,
        /// Whether fields are one less than the zero point, modulo their range.
        less_one: bool,
    },
}

/// A factor of all values of a tensor.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Factor {
    None,
    /// Values are multiplied by the only element of a tensor.
    Times(Id),
    /// Values are divided by it.
    Over(Id),
    /// Values are divided by a number.
    OverConstant(f32),
}

/// Which axis of the matrix has a list of groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    Rows,
    Columns,
}

/// How a weight is stored.
#[derive(Clone, Debug)]
pub(crate) struct Coding {
    /// The tensor of the codes.
    pub(crate) codes: Id,
    pub(crate) values: Codes,
    pub(crate) packing: Packing,
    /// Matrices: the product of the axes before the last two.
    pub(crate) batches: usize,
    /// Rows of a matrix as it is stored.
    pub(crate) rows: usize,
    /// Columns of a matrix as it is stored.
    pub(crate) cols: usize,
    /// Elements of the weight; fewer than rows by columns only if the last row is shorter.
    pub(crate) elements: usize,
    pub(crate) scales: Option<Scales>,
    pub(crate) zeros: Zeros,
    pub(crate) factor: Factor,
    /// A bias for each scale, of the dtype of the scales.
    pub(crate) biases: Option<Id>,
    /// The block of each row or column, along this axis.
    pub(crate) groups: Option<(Id, Axis)>,
    /// Whether the weight is the transpose of the stored matrix.
    pub(crate) transposed: bool,
    /// The shape of the weight.
    pub(crate) shape: Vec<usize>,
    /// Rows and columns of the stored matrix that belong to the weight, if it is padded.
    pub(crate) cut: Option<[usize; 2]>,
}

impl Coding {
    /// One code in each element of a tensor of this shape, without scales.
    pub(crate) fn plain(codes: Id, values: Codes, shape: &[usize]) -> Self {
        let cols = shape.last().copied().unwrap_or(1);
        Self::packed(codes, values, Packing::bytes(cols), shape)
    }

    /// Packed codes of a weight of this shape.
    pub(crate) fn packed(codes: Id, values: Codes, packing: Packing, shape: &[usize]) -> Self {
        let (leading, matrix) = shape.split_at(shape.len().saturating_sub(2));
        let (rows, cols) = match matrix {
            [rows, cols] => (*rows, *cols),
            [cols] => (1, *cols),
            _ => (1, 1),
        };
        Self {
            codes,
            values,
            packing,
            batches: leading.iter().product(),
            rows,
            cols,
            elements: shape.iter().product(),
            scales: None,
            zeros: Zeros::None,
            factor: Factor::None,
            biases: None,
            groups: None,
            transposed: false,
            shape: shape.to_vec(),
            cut: None,
        }
    }

    /// The tensors beside the codes that the values are made of.
    pub(crate) fn companions(&self) -> Vec<Id> {
        let scales = match self.scales.as_ref().map(|scales| &scales.data) {
            Some(ScaleData::Tensor(id, _)) => Some(*id),
            Some(ScaleData::Nested(nested)) => Some(nested.absmax),
            None => None,
        };
        let zeros = match self.zeros {
            Zeros::Tensor { id, .. } => Some(id),
            Zeros::None | Zeros::Constant(_) => None,
        };
        let factor = match self.factor {
            Factor::Times(id) | Factor::Over(id) => Some(id),
            Factor::None | Factor::OverConstant(_) => None,
        };
        let groups = self.groups.map(|(id, _)| id);
        [scales, zeros, factor, self.biases, groups].into_iter().flatten().collect()
    }

    /// The transpose: the weight has the last two axes in the other order.
    pub(crate) fn transposed(mut self) -> Self {
        self.transposed = true;
        let n = self.shape.len();
        self.shape.swap(n - 1, n - 2);
        self
    }
}
