//! Enums that stand for words.

/// An enum with the word of each value beside it: `enum Tier: name { Full = "full", ... }`. The list `ALL`, in the
/// order of the values, and the function (here `name`) follow.
#[macro_export]
macro_rules! words {
    (
        $(#[$of_enum:meta])*
        $vis:vis enum $Enum:ident: $word:ident {
            $($(#[$of_value:meta])* $Value:ident = $text:literal,)+
        }
    ) => {
        $(#[$of_enum])*
        $vis enum $Enum {
            $($(#[$of_value])* $Value,)+
        }

        #[allow(dead_code, reason = "not every enum needs both")]
        impl $Enum {
            /// All of them, in their order.
            $vis const ALL: [$Enum; [$(stringify!($Value)),+].len()] = [$($Enum::$Value),+];

            /// Its word.
            $vis const fn $word(self) -> &'static str {
                match self {
                    $($Enum::$Value => $text,)+
                }
            }
        }
    };
}
