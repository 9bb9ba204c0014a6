//! The globals that a state dict needs.

use lanecast::DType;

/// A global that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Global {
    OrderedDict,
    /// `torch.Size`, which is a tuple.
    Size,
    /// A function that makes a tensor of a storage; the number is its version.
    Rebuild(u8),
    /// A function that makes a parameter of a tensor, with a state or without.
    Parameter,
    /// The function that makes a tensor of one of the classes `Class`.
    FromType,
    /// A class of tensors that adds nothing to them.
    Class,
    DType(DType),
    /// A class of storages: of elements of a dtype, or of bytes.
    Storage(Option<DType>),
}

/// The functions and classes.
const NAMED: &[(&str, &str, Global)] = &[
    ("collections", "OrderedDict", Global::OrderedDict),
    ("torch", "Size", Global::Size),
    ("torch._utils", "_rebuild_tensor", Global::Rebuild(1)),
    ("torch._utils", "_rebuild_tensor_v2", Global::Rebuild(2)),
    ("torch._utils", "_rebuild_tensor_v3", Global::Rebuild(3)),
    ("torch._utils", "_rebuild_parameter", Global::Parameter),
    ("torch._utils", "_rebuild_parameter_with_state", Global::Parameter),
    ("torch._tensor", "_rebuild_from_type_v2", Global::FromType),
    ("torch", "Tensor", Global::Class),
    ("torch.nn.parameter", "Parameter", Global::Class),
    ("torch.nn.parameter", "Buffer", Global::Class),
    ("torch.storage", "UntypedStorage", Global::Storage(None)),
    ("torch", "UntypedStorage", Global::Storage(None)),
];

/// The classes of storages of the module `torch`, without `Storage` at the end.
const STORAGES: &[(&str, DType)] = &[
    ("Float", DType::Float32),
    ("Double", DType::Float64),
    ("Half", DType::Float16),
    ("BFloat16", DType::BFloat16),
    ("Long", DType::Int64),
    ("Int", DType::Int32),
    ("Short", DType::Int16),
    ("Char", DType::Int8),
    ("Byte", DType::UInt8),
    ("Bool", DType::Bool),
    ("ComplexFloat", DType::Complex64),
    ("ComplexDouble", DType::Complex128),
];

/// The dtypes of the module `torch`.
const DTYPES: &[(&str, DType)] = &[
    ("float32", DType::Float32),
    ("float64", DType::Float64),
    ("float16", DType::Float16),
    ("bfloat16", DType::BFloat16),
    ("int64", DType::Int64),
    ("int32", DType::Int32),
    ("int16", DType::Int16),
    ("int8", DType::Int8),
    ("uint8", DType::UInt8),
    ("uint16", DType::UInt16),
    ("uint32", DType::UInt32),
    ("uint64", DType::UInt64),
    ("bool", DType::Bool),
    ("complex64", DType::Complex64),
    ("complex128", DType::Complex128),
    ("float8_e4m3fn", DType::Float8E4M3FN),
    ("float8_e5m2", DType::Float8E5M2),
    ("float8_e4m3fnuz", DType::Float8E4M3FNUZ),
    ("float8_e5m2fnuz", DType::Float8E5M2FNUZ),
    ("float8_e8m0fnu", DType::Float8E8M0FNU),
    // An element is a byte with two codes, as packed weights are.
    ("float4_e2m1fn_x2", DType::UInt8),
];

impl Global {
    /// The global of a name, if it is known.
    pub(super) fn find(module: &str, name: &str) -> Option<Self> {
        let named = NAMED.iter().find(|(of, known, _)| (*of, *known) == (module, name));
        if let Some((.., global)) = named {
            return Some(*global);
        }
        if module != "torch" {
            return None;
        }
        let dtype = |table: &[(&str, DType)], name: &str| {
            table.iter().find(|(known, _)| *known == name).map(|(_, dtype)| *dtype)
        };
        let storage = name.strip_suffix("Storage").and_then(|name| dtype(STORAGES, name));
        storage.map(|dtype| Self::Storage(Some(dtype))).or_else(|| dtype(DTYPES, name).map(Self::DType))
    }
}
