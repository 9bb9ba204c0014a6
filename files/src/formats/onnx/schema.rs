//! The numbers of `onnx.proto` (IR version 14) that this program knows.

/// `ModelProto`
pub mod model {
    pub const IR_VERSION: u32 = 1;
    pub const PRODUCER_NAME: u32 = 2;
    pub const PRODUCER_VERSION: u32 = 3;
    pub const GRAPH: u32 = 7;
    pub const OPSET_IMPORT: u32 = 8;
    pub const METADATA_PROPS: u32 = 14;
    pub const TRAINING_INFO: u32 = 20;
    pub const FUNCTIONS: u32 = 25;
}

/// `OperatorSetIdProto`
pub mod opset {
    pub const DOMAIN: u32 = 1;
    pub const VERSION: u32 = 2;
}

/// `StringStringEntryProto`
pub mod entry {
    pub const KEY: u32 = 1;
    pub const VALUE: u32 = 2;
}

/// `TrainingInfoProto`
pub mod training {
    pub const INITIALIZATION: u32 = 1;
    pub const ALGORITHM: u32 = 2;
}

/// `FunctionProto`
pub mod function {
    pub const NODE: u32 = 7;
}

/// `GraphProto`
pub mod graph {
    pub const NODE: u32 = 1;
    pub const INITIALIZER: u32 = 5;
    pub const INPUT: u32 = 11;
    pub const OUTPUT: u32 = 12;
    pub const VALUE_INFO: u32 = 13;
    pub const SPARSE_INITIALIZER: u32 = 15;
}

/// `ValueInfoProto`
pub mod value_info {
    pub const NAME: u32 = 1;
}

/// `NodeProto`
pub mod node {
    pub const INPUT: u32 = 1;
    pub const OUTPUT: u32 = 2;
    pub const NAME: u32 = 3;
    pub const OP_TYPE: u32 = 4;
    pub const ATTRIBUTE: u32 = 5;
    pub const DOMAIN: u32 = 7;
}

/// `AttributeProto`
pub mod attribute {
    pub const NAME: u32 = 1;
    pub const I: u32 = 3;
    pub const S: u32 = 4;
    pub const T: u32 = 5;
    pub const G: u32 = 6;
    pub const TENSORS: u32 = 10;
    pub const GRAPHS: u32 = 11;
    pub const TYPE: u32 = 20;
    pub const SPARSE_TENSOR: u32 = 22;
    pub const SPARSE_TENSORS: u32 = 23;
    /// `AttributeType`
    pub const INT: u64 = 2;
    /// `AttributeType`
    pub const STRING: u64 = 3;
    /// `AttributeType`
    pub const TENSOR: u64 = 4;
}

/// `SparseTensorProto`
pub mod sparse {
    pub const VALUES: u32 = 1;
    pub const INDICES: u32 = 2;
}

/// `TensorProto`
pub mod tensor {
    pub const DIMS: u32 = 1;
    pub const DATA_TYPE: u32 = 2;
    pub const SEGMENT: u32 = 3;
    pub const FLOAT_DATA: u32 = 4;
    pub const INT32_DATA: u32 = 5;
    pub const STRING_DATA: u32 = 6;
    pub const INT64_DATA: u32 = 7;
    pub const NAME: u32 = 8;
    pub const RAW_DATA: u32 = 9;
    pub const DOUBLE_DATA: u32 = 10;
    pub const UINT64_DATA: u32 = 11;
    pub const EXTERNAL_DATA: u32 = 13;
    pub const DATA_LOCATION: u32 = 14;
    /// `DataLocation`
    pub const EXTERNAL: u64 = 1;
}
