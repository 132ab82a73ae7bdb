//! Enums whose variants stand for words.

/// Declares an enum whose variants stand for words: the same ones in every file, in the result file
/// and in messages.
macro_rules! words {
    (
        $(#[$of_enum:meta])*
        pub enum $name:ident {
            $($(#[$of_variant:meta])* $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$of_enum])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord,
            serde::Serialize, serde::Deserialize,
        )]
        pub enum $name {
            $($(#[$of_variant])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Every variant, in the order of the documentation.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// Every word with its variant.
            pub const NAMED: [(&'static str, Self); Self::ALL.len()] =
                [$(($word, Self::$variant)),+];

            /// The word.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

pub(crate) use words;

#[cfg(test)]
mod tests {
    use crate::{Phase, TrialState};

    #[test]
    fn one_word_stands_in_files_and_in_messages() {
        for (word, phase) in Phase::NAMED {
            assert_eq!((phase.name(), phase.to_string().as_str()), (word, word));
            assert_eq!(serde_json::to_value(phase).unwrap(), word);
            let read: Phase = serde_json::from_value(word.into()).unwrap();
            assert_eq!(read, phase);
        }
        assert_eq!(Phase::NAMED.map(|(_, phase)| phase), Phase::ALL);
        assert_eq!(TrialState::Discarded.name(), "discarded");
    }
}
