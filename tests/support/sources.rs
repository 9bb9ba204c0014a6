//! Tests that are named after dtypes, and the list of the names.

/// Whether this build casts a dtype; says so if it does not, once for each.
pub fn is_built(dtype: lanecast::DType) -> bool {
    static SAID: [std::sync::Once; 256] = [const { std::sync::Once::new() }; 256];
    if let (Some(feature), false) = (dtype.feature(), dtype.is_built()) {
        let line = format!("SKIPPED: {dtype}: the Cargo feature `{feature}` is off");
        SAID[usize::from(dtype.code())].call_once(|| super::say(&line));
    }
    dtype.is_built()
}

/// Calls a macro with the names of all dtypes behind other arguments.
macro_rules! with_dtypes {
    ($macro:ident $($argument:tt)*) => {
        $macro! {
            $($argument)*
            bool int2 int4 int8 int16 int32 int64 uint2 uint4 uint8 uint16 uint32 uint64 float16 bfloat16 float32
            float64 complex64 complex128 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu
            float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float6_e2m3fn float6_e3m2fn float4_e2m1fn
        }
    };
}

/// A test per dtype, which calls a function with it; and one that none is missing.
macro_rules! every_source {
    ($check:path) => {
        with_dtypes! { every_source $check; }
    };
    ($check:path; $($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                let dtype = stringify!($name).parse::<lanecast::DType>().expect("the name of a dtype");
                if $crate::support::sources::is_built(dtype) {
                    $check(dtype);
                }
            }
        )*

        #[test]
        fn every_dtype_stands_in_the_list() {
            assert!(lanecast::DType::EVERY.iter().map(|d| d.name()).eq([$(stringify!($name)),*]));
        }
    };
}
