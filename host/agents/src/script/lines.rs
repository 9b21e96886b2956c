//! Lines from a program that may write anything.

use tokio::io::{AsyncRead, AsyncReadExt};

use super::ANSWER_LIMIT;

/// Splits what a program writes into lines.
pub(super) struct Lines {
    from: Option<Box<dyn AsyncRead + Send + Unpin>>,
    buffer: Vec<u8>,
    /// Where the next line starts.
    start: usize,
    /// How far no line end was found.
    scanned: usize,
}

/// What comes next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line, without its end.
    Text(String),
    /// One of more than [`ANSWER_LIMIT`] bytes.
    TooLong,
    /// The output was closed.
    End,
}

impl Lines {
    pub(super) fn new(from: Box<dyn AsyncRead + Send + Unpin>) -> Self {
        Self { from: Some(from), buffer: Vec::new(), start: 0, scanned: 0 }
    }

    /// The next line; what is not UTF-8 in it is replaced. Safe to cancel: what was read is kept.
    pub(super) async fn next(&mut self) -> Line {
        loop {
            if let Some(at) = self.buffer[self.scanned..].iter().position(|byte| *byte == b'\n') {
                let end = self.scanned + at;
                if end - self.start > ANSWER_LIMIT {
                    return Line::TooLong;
                }
                let line = self.text(end);
                (self.start, self.scanned) = (end + 1, end + 1);
                return Line::Text(line);
            }
            self.scanned = self.buffer.len();
            if self.scanned - self.start > ANSWER_LIMIT {
                return Line::TooLong;
            }
            let Some(from) = &mut self.from else {
                if self.start == self.buffer.len() {
                    return Line::End;
                }
                let line = self.text(self.buffer.len());
                self.start = self.buffer.len();
                return Line::Text(line);
            };
            if self.start > 0 {
                self.buffer.drain(..self.start);
                (self.start, self.scanned) = (0, self.buffer.len());
            }
            self.buffer.reserve(8192);
            match from.read_buf(&mut self.buffer).await {
                Ok(0) | Err(_) => self.from = None,
                Ok(_) => {}
            }
        }
    }

    fn text(&self, end: usize) -> String {
        let line = &self.buffer[self.start..end];
        String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(text: Vec<u8>) -> Vec<Line> {
        let mut lines = Lines::new(Box::new(std::io::Cursor::new(text)));
        let mut all = Vec::new();
        loop {
            let line = lines.next().await;
            let over = line == Line::TooLong || line == Line::End;
            all.push(line);
            if over {
                return all;
            }
        }
    }

    #[tokio::test]
    async fn a_line_ends_at_its_end_or_with_the_output() {
        let text = |text: &str| Line::Text(text.to_owned());
        assert_eq!(all(b"".to_vec()).await, [Line::End]);
        assert_eq!(all(b"a\r\n\nb".to_vec()).await, [text("a"), text(""), text("b"), Line::End]);
        assert_eq!(all(b"\xffa\n".to_vec()).await, [text("\u{fffd}a"), Line::End]);
        let many: Vec<u8> = b"0123456789\n".repeat(10_000);
        assert_eq!(all(many).await.len(), 10_001);
    }

    #[tokio::test]
    async fn a_line_without_an_end_does_not_fill_the_memory() {
        assert_eq!(all(vec![b'x'; ANSWER_LIMIT + 1]).await, [Line::TooLong]);
        assert_eq!(all([&vec![b'x'; ANSWER_LIMIT + 1][..], b"\n"].concat()).await, [Line::TooLong]);
        let fits = all(vec![b'x'; ANSWER_LIMIT]).await;
        assert!(matches!(&fits[..], [Line::Text(line), Line::End] if line.len() == ANSWER_LIMIT));
    }
}
