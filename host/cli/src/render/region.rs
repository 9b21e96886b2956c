//! A few rows at the bottom of a terminal that are drawn again and again while lines scroll by above them.

use std::fmt::Write as _;

/// Rows that are on the screen now.
#[derive(Debug, Default)]
pub struct Region {
    drawn: usize,
}

impl Region {
    /// What to write so that `lines` scroll by and `rows` stand below them. No row may be wider than the terminal.
    pub fn draw(&mut self, lines: &[String], rows: &[String]) -> String {
        // One update: a terminal that knows the mode shows nothing half drawn, others ignore it.
        let mut out = String::from("\x1b[?2026h");
        if self.drawn > 0 {
            let _ = write!(out, "\r\x1b[{}A\x1b[J", self.drawn);
        }
        for line in lines.iter().chain(rows) {
            out.push_str(line);
            out.push_str("\r\n");
        }
        out.push_str("\x1b[?2026l");
        self.drawn = rows.len();
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(writes: &[String]) -> String {
        let mut parser = vt100::Parser::new(8, 20, 0);
        for write in writes {
            parser.process(write.as_bytes());
        }
        parser.screen().contents()
    }

    #[test]
    fn lines_scroll_by_above_rows_that_stay() {
        let mut region = Region::default();
        let (line, row) = (|text: &str| vec![text.to_owned()], |text: &str| vec![text.to_owned(), "status".to_owned()]);
        let mut writes = vec![region.draw(&line("one"), &row("tree 1")), region.draw(&line("two"), &row("tree 2"))];
        assert_eq!(screen(&writes), "one\ntwo\ntree 2\nstatus");
        writes.push(region.draw(&[], &[]));
        assert_eq!(screen(&writes), "one\ntwo");
        writes.push(region.draw(&line("three"), &[]));
        assert_eq!(screen(&writes), "one\ntwo\nthree");
    }

    #[test]
    fn a_line_that_wraps_does_not_move_the_rows() {
        let mut region = Region::default();
        let rows = ["status".to_owned()];
        let writes = [region.draw(&["x".repeat(30)], &rows), region.draw(&["y".into()], &rows)];
        assert_eq!(
            screen(&writes),
            format!("{}\n{}\ny\nstatus", "x".repeat(20), "x".repeat(10)).replace("x\nxxxxxxxxxx\n", "xxxxxxxxxxx\n")
        );
    }
}
