//! Tables of attributes: how rows become columns of the archive, and columns rows.

/// Declares the table of a struct of attributes. Each line is a column: its name, the fields that
/// are in it (two share the number of [`Stored`](super::stored::Stored) for pairs), and the number
/// of its [`Property`](crate::cluster::field::Property) if nodes of one class may differ in it. The
/// types of the fields say how they are packed and which numbers are valid. A field that is in no
/// column, and not behind `except`, does not compile.
macro_rules! table {
    (
        $(#[$about:meta])*
        $table:ident, $archived:ident, $name:literal of $row:ident $(except $other:ident)?;
        $($column:ident = ($($field:ident $(as $word:literal)?),+) $(, own $own:literal)?)+
    ) => {
        $(#[$about])*
        #[derive(rkyv::Archive, rkyv::Serialize, Debug, Default, Clone, PartialEq, Eq)]
        #[allow(missing_docs, reason = "FORMAT.md documents every column")]
        pub struct $table {
            $(pub $column: $crate::column::Column),+
        }

        #[allow(unused_parens, reason = "a column of one field is written like one of two")]
        impl $table {
            pub(crate) fn pack(rows: &[$row]) -> Self {
                let column = |number: fn(&$row) -> u64| {
                    $crate::column::Column::pack(&rows.iter().map(number).collect::<alloc::vec::Vec<_>>())
                };
                Self {
                    $($column: column(|row| {
                        $crate::attributes::stored::Stored::number(($(row.$field),+))
                    })),+
                }
            }
        }

        #[allow(unused_parens, reason = "a column of one field is written like one of two")]
        impl $archived {
            /// The attributes in a row. `own` is asked for the value of each property in which
            /// nodes of one class may differ, and gets the stored one.
            #[must_use]
            #[inline]
            pub fn row(
                &self,
                row: usize,
                own: impl Fn($crate::cluster::field::Property, u64) -> u64,
            ) -> $row {
                let _ = &own;
                $(
                    let number = self.$column.get(row);
                    $(let number = own($crate::cluster::field::Property($own), number);)?
                    let ($($field),+) = $crate::attributes::stored::Stored::of(number);
                )+
                $row { $($($field),+),+ $(, $other: None)? }
            }

            pub(crate) fn rows(&self) -> usize {
                let [first, ..] = [$(&self.$column),+];
                first.len()
            }

            /// Checks that all columns have as many rows, and values of their types.
            pub(crate) fn check(&self, most_rows: usize) -> Result<(), $crate::ValidationError> {
                use $crate::attributes::stored::limit;
                let rows = self.rows();
                $crate::validate::check_rules(
                    &[$((&self.$column, rows, limit(|row: &$row| ($(row.$field),+)))),+],
                    concat!($($name, ".", stringify!($column), " "),+),
                    most_rows,
                )
            }
        }

        #[allow(unused_parens, reason = "a column of one field is written like one of two")]
        impl $row {
            /// The numbers of the columns, each with its property if nodes of one class may differ
            /// in it.
            pub fn numbers(
                &self,
            ) -> impl Iterator<Item = (Option<$crate::cluster::field::Property>, u64)> {
                let Self { $($($field),+),+ $(, $other: _)? } = *self;
                let none = None;
                [$((
                    none$(.or(Some($crate::cluster::field::Property($own))))?,
                    $crate::attributes::stored::Stored::number(($($field),+)),
                )),+]
                .into_iter()
            }

            pub(crate) fn each(&self, visit: &mut dyn FnMut(&'static str, $crate::attributes::AttributeValue)) {
                $($(visit([$($word,)? stringify!($field)][0], self.$field.into());)+)+
            }
        }
    };
}
