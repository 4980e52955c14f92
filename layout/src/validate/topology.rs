//! Checks all rules of an archive, in their order.

use super::proportion::ROWS_A_BYTE;
use super::{columns, levels, tables, texts, tree};
use crate::archive::ArchivedTopology;
use crate::error::ValidationError;

pub(crate) fn topology(
    topology: &ArchivedTopology,
    archive_len: usize,
) -> Result<(), ValidationError> {
    let counts = levels::check(topology)?;
    let most_rows = archive_len.saturating_mul(ROWS_A_BYTE);
    columns::check(topology, &counts, most_rows)?;
    tables::check(topology, &counts, most_rows)?;
    texts::check(topology, archive_len)?;
    tree::check(topology, &counts)
}
