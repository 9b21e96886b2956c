//! The end of what a program complained of.

use std::collections::VecDeque;

use tokio::io::{AsyncRead, AsyncReadExt};

/// Bytes kept.
const KEPT: usize = 4096;
/// Lines shown.
const SHOWN: usize = 5;

/// A program's standard error: read as fast as it comes, so that the program never waits, and kept no longer than its end.
pub(super) struct Tail {
    from: Option<Box<dyn AsyncRead + Send + Unpin>>,
    kept: VecDeque<u8>,
}

impl Tail {
    pub(super) fn new(from: Box<dyn AsyncRead + Send + Unpin>) -> Self {
        Self { from: Some(from), kept: VecDeque::new() }
    }

    /// Reads to the end. Safe to cancel.
    pub(super) async fn drain(&mut self) {
        let mut chunk = [0; 2048];
        while let Some(from) = &mut self.from {
            match from.read(&mut chunk).await {
                Ok(0) | Err(_) => self.from = None,
                Ok(count) => {
                    self.kept.extend(&chunk[..count]);
                    self.kept.drain(..self.kept.len().saturating_sub(KEPT));
                }
            }
        }
    }

    pub(super) fn is_ended(&self) -> bool {
        self.from.is_none()
    }

    /// The last lines, on one line.
    pub(super) fn last_lines(&self) -> String {
        let kept: Vec<u8> = self.kept.iter().copied().collect();
        let text = String::from_utf8_lossy(&kept);
        let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        lines[lines.len().saturating_sub(SHOWN)..].join(" / ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn of(text: Vec<u8>) -> String {
        let mut tail = Tail::new(Box::new(std::io::Cursor::new(text)));
        tail.drain().await;
        assert!(tail.is_ended() && tail.kept.len() <= KEPT);
        tail.last_lines()
    }

    #[tokio::test]
    async fn only_the_last_lines_are_kept() {
        assert_eq!(of(b"".to_vec()).await, "");
        assert_eq!(of(b"one\n\n  two\r\n".to_vec()).await, "one / two");
        let many: String = (0..10_000).map(|each| format!("line {each}\n")).collect();
        assert_eq!(of(many.into_bytes()).await, "line 9995 / line 9996 / line 9997 / line 9998 / line 9999");
        assert_eq!(of(vec![0xff; 100_000]).await.chars().count(), KEPT);
    }
}
