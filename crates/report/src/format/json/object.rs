//! Objects of JSON.

/// An object: its keys, in the order of the document, and their values. Attributes of serde may stand
/// before a key.
///
/// Each object is of a type of its own, which has a type parameter for each key, so that no type of a
/// value is written down twice.
macro_rules! object {
    ($($(#[$attribute:meta])* $key:ident: $value:expr),* $(,)?) => {{
        #[expect(non_camel_case_types, reason = "a type parameter is named as its key")]
        mod object {
            #[derive(serde::Serialize)]
            pub(super) struct Object<$($key),*> {
                $($(#[$attribute])* pub(super) $key: $key),*
            }
        }
        object::Object { $($key: $value),* }
    }};
}
pub(crate) use object;
