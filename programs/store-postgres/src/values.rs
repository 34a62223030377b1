//! Values of statements, with the types that the server is told: what it would have to be asked for before
//! needs a named statement, and a pooler gives the next question to another server process.

use tokio_postgres::types::{ToSql, Type};

pub(crate) type Values<'a> = &'a [&'a dyn Value];

pub(crate) trait Value {
    fn typed(&self) -> (&(dyn ToSql + Sync), Type);
}

impl<T: Typed + ToSql + Sync> Value for T {
    fn typed(&self) -> (&(dyn ToSql + Sync), Type) {
        (self, T::TYPE)
    }
}

/// What has one type in the tables.
pub(crate) trait Typed {
    const TYPE: Type;
    /// That of a list of them.
    const ARRAY: Type;
}

macro_rules! typed {
    ($($of:ty: $one:ident, $many:ident;)+) => {
        $(impl Typed for $of {
            const TYPE: Type = Type::$one;
            const ARRAY: Type = Type::$many;
        })+
    };
}

typed! {
    bool: BOOL, BOOL_ARRAY;
    i16: INT2, INT2_ARRAY;
    i32: INT4, INT4_ARRAY;
    i64: INT8, INT8_ARRAY;
    f64: FLOAT8, FLOAT8_ARRAY;
    str: TEXT, TEXT_ARRAY;
    String: TEXT, TEXT_ARRAY;
    u8: CHAR, BYTEA;
}

impl<T: Typed + ?Sized> Typed for &T {
    const TYPE: Type = T::TYPE;
    const ARRAY: Type = T::ARRAY;
}

impl<T: Typed> Typed for Option<T> {
    const TYPE: Type = T::TYPE;
    const ARRAY: Type = T::ARRAY;
}

impl<T: Typed> Typed for [T] {
    const TYPE: Type = T::ARRAY;
    const ARRAY: Type = Type::UNKNOWN;
}

impl<T: Typed> Typed for Vec<T> {
    const TYPE: Type = T::ARRAY;
    const ARRAY: Type = Type::UNKNOWN;
}
