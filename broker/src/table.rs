//! Tables in text.

/// Most letters that a cell is padded to. Names of others may have any length: a longer cell shifts
/// what is behind it.
pub const MOST_WIDTH: usize = 100;

/// Rows of cells as lines. All cells of a column but the last have the width of the widest.
///
/// ```
/// let rows = [["class", "nodes"], ["0", "n[1-3]"]].map(|row| row.map(str::to_owned).to_vec());
/// assert_eq!(topobroker::table::table(&rows), "class  nodes\n0      n[1-3]\n");
/// ```
#[must_use]
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths = (0..columns).map(|column| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0).min(MOST_WIDTH)
    });
    let widths: Vec<usize> = widths.collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_of_any_length_makes_no_other_one_longer() {
        let long = "x".repeat(1 << 17);
        let rows = vec![vec![long.clone(), "1".to_owned()], vec!["a".to_owned(), "2".to_owned()]];
        let text = table(&rows);
        assert!(text.starts_with(&(long + "  1\n")));
        assert_eq!(text.lines().last().map(str::len), Some(MOST_WIDTH + 3));
    }
}
