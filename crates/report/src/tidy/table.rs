//! Tables as programs read them: named columns of one kind each, and rows of values.

use std::borrow::Cow;

use jiff::Timestamp;

/// The kind of a column's values. Any column may have null.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Text in UTF-8.
    Text,
    /// A whole number of 64 bits with a sign.
    Integer,
    /// A finite number of 64 bits.
    Number,
    /// True or false.
    Flag,
    /// An instant.
    Time,
}

impl Kind {
    /// The kind as a word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Flag => "flag",
            Self::Time => "time",
        }
    }
}

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name, the same in every format: `snake_case`, the unit last.
    pub name: &'static str,
    /// The kind of its values.
    pub kind: Kind,
    /// `true` if it is one of those that tell the rows of the table apart.
    pub is_key: bool,
    /// Its meaning, as documented.
    pub meaning: &'static str,
}

/// One value of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// Nothing: the row has no such value, or it is unknown.
    Null,
    /// A text.
    Text(Cow<'a, str>),
    /// A whole number.
    Integer(i64),
    /// A finite number.
    Number(f64),
    /// True or false.
    Flag(bool),
    /// An instant.
    Time(Timestamp),
}

/// A row of a table whose columns are known when it is compiled.
pub(crate) trait Row<'a>: 'a {
    /// The columns.
    const COLUMNS: &'static [Column];

    /// The values, one for each column.
    fn values(self) -> Vec<Value<'a>>;
}

/// A type whose values fit a column.
pub(crate) trait Field<'a> {
    /// The kind of the column.
    const KIND: Kind;

    /// The value.
    fn value(self) -> Value<'a>;
}

impl<'a> Field<'a> for Cow<'a, str> {
    const KIND: Kind = Kind::Text;

    fn value(self) -> Value<'a> {
        Value::Text(self)
    }
}

impl<'a> Field<'a> for u64 {
    const KIND: Kind = Kind::Integer;

    fn value(self) -> Value<'a> {
        Value::Integer(i64::try_from(self).unwrap_or(i64::MAX))
    }
}

impl<'a> Field<'a> for f64 {
    const KIND: Kind = Kind::Number;

    fn value(self) -> Value<'a> {
        if self.is_finite() {
            Value::Number(self)
        } else {
            Value::Null
        }
    }
}

impl<'a> Field<'a> for bool {
    const KIND: Kind = Kind::Flag;

    fn value(self) -> Value<'a> {
        Value::Flag(self)
    }
}

impl<'a> Field<'a> for Timestamp {
    const KIND: Kind = Kind::Time;

    fn value(self) -> Value<'a> {
        Value::Time(self)
    }
}

impl<'a, T: Field<'a>> Field<'a> for Option<T> {
    const KIND: Kind = T::KIND;

    fn value(self) -> Value<'a> {
        self.map_or(Value::Null, T::value)
    }
}

/// Declares the row of a table: a type whose fields are the columns, keys first. The comment of a field
/// is its documentation in Rust and in `docs/formats/export.md`.
macro_rules! row {
    (
        $(#[doc = $about:literal])+
        $row:ident {
            key { $($(#[doc = $key_meaning:literal])+ $key:ident: $key_type:ty,)+ }
            $($(#[doc = $meaning:literal])+ $field:ident: $type:ty,)*
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, PartialEq)]
        pub struct $row<'a> {
            $($(#[doc = $key_meaning])+ pub $key: $key_type,)+
            $($(#[doc = $meaning])+ pub $field: $type,)*
        }

        impl<'a> $crate::tidy::table::Row<'a> for $row<'a> {
            const COLUMNS: &'static [$crate::tidy::table::Column] = &[
                $($crate::tidy::table::Column {
                    name: stringify!($key),
                    kind: <$key_type as $crate::tidy::table::Field<'_>>::KIND,
                    is_key: true,
                    meaning: concat!($($key_meaning),+),
                },)+
                $($crate::tidy::table::Column {
                    name: stringify!($field),
                    kind: <$type as $crate::tidy::table::Field<'_>>::KIND,
                    is_key: false,
                    meaning: concat!($($meaning),+),
                },)*
            ];

            fn values(self) -> Vec<$crate::tidy::table::Value<'a>> {
                use $crate::tidy::table::Field as _;
                vec![$(self.$key.value(),)+ $(self.$field.value(),)*]
            }
        }
    };
}
pub(crate) use row;

#[cfg(test)]
#[expect(unreachable_pub, reason = "rows are public elsewhere")]
mod tests {
    use super::*;

    row! {
        /// A row of a test.
        Example {
            key {
                /// Name
                /// of it.
                name: Cow<'a, str>,
            }
            /// Amount.
            amount: Option<f64>,
        }
    }

    #[test]
    fn fields_are_columns_with_their_comments() {
        let [name, amount] = Example::COLUMNS else {
            panic!("{:?}", Example::COLUMNS)
        };
        assert_eq!(
            (name.name, name.kind, name.is_key),
            ("name", Kind::Text, true)
        );
        assert_eq!(name.meaning, " Name of it.");
        assert_eq!((amount.kind, amount.is_key), (Kind::Number, false));
    }

    #[test]
    fn no_value_is_null_and_never_a_number() {
        let values = |amount| {
            let name = "n".into();
            Example { name, amount }.values()
        };
        assert_eq!(values(Some(0.0))[1], Value::Number(0.0));
        for none in [None, Some(f64::NAN), Some(f64::INFINITY)] {
            assert_eq!(values(none)[1], Value::Null);
        }
        assert_eq!(u64::MAX.value(), Value::Integer(i64::MAX));
    }
}
