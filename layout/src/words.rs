//! Enums whose values have words.

/// Declares an enum, each of whose values has a word, with `ALL` values in their order and the
/// `name` of each.
///
/// ```
/// topobroker_layout::words! {
///     /// How something is.
///     #[derive(Debug, Clone, Copy, PartialEq, Eq)]
///     pub enum State {
///         /// It works.
///         Good => "good",
///         /// It does not.
///         Bad => "bad",
///     }
/// }
/// assert_eq!(State::ALL.map(State::name), ["good", "bad"]);
/// ```
#[macro_export]
macro_rules! words {
    (
        $(#[$about:meta])*
        $visible:vis enum $name:ident {
            $($(#[$what:meta])* $value:ident $(= $number:literal)? => $word:literal),+ $(,)?
        }
    ) => {
        $(#[$about])*
        $visible enum $name {
            $($(#[$what])* $value $(= $number)?),+
        }

        impl $name {
            /// All values, in their order.
            #[allow(dead_code, reason = "not every enum is gone through")]
            $visible const ALL: [Self; [$($word),+].len()] = [$(Self::$value),+];

            /// The value as a word.
            #[must_use]
            $visible const fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $word),+
                }
            }
        }
    };
}
