//! Rows in columns, for lists.

use crate::{
    escape,
    terminal::{self, BOLD, styled},
};

/// The widest that a cell may be.
const WIDEST: usize = 48;

/// The rows with their cells below one another, the first as the heading. The last column takes what is left of the line.
pub(super) fn columns(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let cell = |row: &Vec<String>, at: usize| row.get(at).map(|text| escape::line(text, WIDEST)).unwrap_or_default();
    let widths: Vec<usize> = (0..count.saturating_sub(1))
        .map(|at| rows.iter().map(|row| escape::columns(&cell(row, at))).max().unwrap_or(0))
        .collect();
    let taken: usize = widths.iter().map(|width| width + 2).sum();
    let room = terminal::answer_columns().saturating_sub(taken).max(20);
    let mut out = String::new();
    for (nth, row) in rows.iter().enumerate() {
        let mut line = String::new();
        for (at, width) in widths.iter().enumerate() {
            let text = cell(row, at);
            line.push_str(&text);
            line.push_str(&" ".repeat(width + 2 - escape::columns(&text)));
        }
        line.push_str(&row.get(count.saturating_sub(1)).map(|text| escape::line(text, room)).unwrap_or_default());
        let line = line.trim_end();
        out.push_str(&if nth == 0 { styled(BOLD, line) } else { line.to_owned() });
        out.push('\n');
    }
    out
}
