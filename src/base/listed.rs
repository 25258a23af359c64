//! Macro for enums that list their variants and their names.

/// Defines an enum without fields and its constant `ALL`, which lists the variants in declaration order. If the
/// variants have names, as in `Variant = "name"`, it also defines `name` and `from_name`. If they have labels too, as
/// in `Variant = "name", "label";`, it also defines `title`.
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
    ($(#[$meta:meta])* pub enum $Name:ident { $($(#[$of:meta])* $Variant:ident = $name:literal,)* }) => {
        $crate::listed! {
            $(#[$meta])*
            pub enum $Name {
                $($(#[$of])* $Variant,)*
            }
        }

        impl $Name {
            /// Returns the name that files, links, JSON and the command line use.
            pub fn name(self) -> &'static str {
                match self {
                    $($Name::$Variant => $name,)*
                }
            }

            /// Returns the variant with this name.
            pub fn from_name(name: &str) -> Option<$Name> {
                $Name::ALL.into_iter().find(|variant| variant.name() == name)
            }
        }
    };
    ($(#[$meta:meta])* pub enum $Name:ident {
        $($(#[$of:meta])* $Variant:ident = $name:literal, $title:literal;)*
    }) => {
        $crate::listed! {
            $(#[$meta])*
            pub enum $Name {
                $($(#[$of])* $Variant = $name,)*
            }
        }

        impl $Name {
            /// Returns the label shown to users.
            pub fn title(self) -> &'static str {
                match self {
                    $($Name::$Variant => $title,)*
                }
            }
        }
    };
}
