//! Macro for enums with a constant that lists all their variants.

/// Defines an enum without fields and its constant `ALL`, which lists the variants in declaration order.
#[macro_export]
macro_rules! listed {
    ($(#[$meta:meta])* pub enum $Name:ident { $($(#[$of:meta])* $Variant:ident,)* }) => {
        $(#[$meta])*
        pub enum $Name {
            $($(#[$of])* $Variant,)*
        }

        impl $Name {
            /// All variants, in declaration order.
            pub const ALL: [$Name; [$($Name::$Variant),*].len()] = [$($Name::$Variant),*];
        }
    };
}
