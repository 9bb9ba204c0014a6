//! Values as types.

/// Defines a trait with one constant, and a type for each of some values of the constant: a parameter of kernels. Stable Rust has no constant
/// parameters of an enum or a struct.
macro_rules! typed {
    (
        $(#[$doc:meta])* trait $trait:ident { $constant:ident: $type:ty }
        $($(#[$name_doc:meta])* $name:ident = $value:expr;)*
    ) => {
        $(#[$doc])*
        pub(crate) trait $trait: Copy + 'static {
            const $constant: $type;
        }
        $(
            $(#[$name_doc])*
            #[derive(Clone, Copy)]
            pub(crate) struct $name;
            impl $trait for $name {
                const $constant: $type = $value;
            }
        )*
    };
}
pub(crate) use typed;
