//! Enumerations that know all their variants: one that is added is in the list.

/// Defines an enumeration of plain variants, with all of them in `ALL`, in their order.
#[macro_export]
macro_rules! listed {
    ($(#[$meta:meta])* pub enum $Name:ident { $($(#[$of:meta])* $Variant:ident,)* }) => {
        $(#[$meta])*
        pub enum $Name {
            $($(#[$of])* $Variant,)*
        }

        impl $Name {
            /// All of them, in their order.
            pub const ALL: [$Name; [$($Name::$Variant),*].len()] = [$($Name::$Variant),*];
        }
    };
}
