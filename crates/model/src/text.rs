//! Values that files hold as text.

/// Converts a type to the text that it displays and parses, for `#[serde(try_from, into)]`.
macro_rules! written_as_text {
    ($type:ident, $error:ident) => {
        impl TryFrom<String> for $type {
            type Error = $error;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.to_string()
            }
        }
    };
}

pub(crate) use written_as_text;
