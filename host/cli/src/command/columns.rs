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
        let last = row.get(count.saturating_sub(1)).map(String::as_str).unwrap_or_default();
        for (at, part) in wrapped(last, room).into_iter().enumerate() {
            let start = if at == 0 { line.clone() } else { " ".repeat(taken) };
            let line = format!("{start}{part}");
            out.push_str(&if nth == 0 { styled(BOLD, line.trim_end()) } else { line.trim_end().to_owned() });
            out.push('\n');
        }
    }
    out
}

/// A text in harmless lines of at most `columns` columns, broken between words; at least one.
pub(super) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let word = escape::line(word, columns);
        let line = lines.last().map(|line| escape::columns(line)).unwrap_or_default();
        if line > 0 && line + 1 + escape::columns(&word) > columns {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_broken_between_words() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("longer-than-a-line x", 7), ["longer…", "x"]);
        assert_eq!(wrapped("", 7), [""]);
        assert_eq!(wrapped("a\n\u{1b}[2J", 20), ["a ␛[2J"]);
    }

    #[test]
    fn rows_stand_in_columns() {
        let rows = [["NAME", "WHAT"], ["fanout", "the task"], ["a", "b"]].map(|row| row.map(String::from).to_vec());
        let shown = anstream::adapter::strip_str(&columns(&rows)).to_string();
        assert_eq!(shown, "NAME    WHAT\nfanout  the task\na       b\n");
    }
}
