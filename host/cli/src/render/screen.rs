//! Shows a run on stderr while it goes: lines, and on a terminal the live rows below them.

use std::{
    collections::HashMap,
    io::{self, Write as _},
    sync::Arc,
    thread::JoinHandle,
    time::{Duration, Instant},
};

use flowhost_core::{
    harness::Event,
    record::{Observer, Record},
};
use parking_lot::Mutex;

use super::{figures, lines::Lines, live, queue::Queue, region::Region};
use crate::terminal::{self, DIM, styled};

/// How often a terminal is drawn on.
const FRAME: Duration = Duration::from_millis(80);
/// How often a pipe is written to.
const PIPE_FRAME: Duration = Duration::from_millis(20);
/// Lines that one frame shows on a terminal: nobody reads more, and a flood of them would hold up the keys.
const LINES: usize = 400;
/// Records that wait to be shown before what only makes lines is left out.
const BEHIND: usize = 50_000;
/// Bytes of a text that are kept for its line.
const TEXT: usize = 4096;

type Queued = (Duration, Record);

/// An observer that shows the run on stderr.
#[derive(Debug)]
pub struct Screen {
    queue: Arc<Queue<Queued>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Screen {
    /// Starts to show. `models` gives the model by `harness/model:effort`.
    pub fn start(models: HashMap<Arc<str>, Arc<str>>) -> io::Result<Arc<Self>> {
        let queue = Arc::new(Queue::default());
        let mut painter = Painter {
            lines: Lines::new(terminal::columns(), models),
            region: terminal::drawable().then(Region::default),
            began: Instant::now(),
        };
        let taker = queue.clone();
        let thread = std::thread::Builder::new().name("screen".into()).spawn(move || painter.run(&taker))?;
        Ok(Arc::new(Self { queue, thread: Mutex::new(Some(thread)) }))
    }

    /// Shows what is left, takes the live rows away and returns.
    pub fn finish(&self) {
        self.queue.close();
        if let Some(thread) = self.thread.lock().take() {
            let _ = thread.join();
        }
    }
}

impl Observer for Screen {
    fn record(&self, at: Duration, record: &Record) {
        match record {
            // Nothing that a person reads.
            Record::Value { .. } | Record::Delivered { .. } | Record::Call { .. } | Record::CallEnd { .. } => {}
            Record::Event { event: Event::Thinking { .. }, .. } => {}
            Record::Event { turn, event } if makes_lines(event) => {
                self.queue.push_unless_full(BEHIND, || (at, Record::Event { turn: *turn, event: shortened(event) }))
            }
            Record::Log { .. } => self.queue.push_unless_full(BEHIND, || (at, record.clone())),
            _ => self.queue.push((at, record.clone())),
        }
    }
}

/// Events that make a line and change nothing else; tools also say what a turn does now.
fn makes_lines(event: &Event) -> bool {
    matches!(event, Event::Text { .. } | Event::Notice { .. } | Event::ToolStart { .. })
}

/// The event with no more of its text than a line can show.
fn shortened(event: &Event) -> Event {
    match event {
        Event::Text { text } if text.len() > TEXT => {
            let mut text = text[..text.floor_char_boundary(TEXT)].to_owned();
            text.push('…');
            Event::Text { text }
        }
        other => other.clone(),
    }
}

struct Painter {
    lines: Lines,
    region: Option<Region>,
    began: Instant,
}

impl Painter {
    fn run(&mut self, queue: &Queue<Queued>) {
        let frame = if self.region.is_some() { FRAME } else { PIPE_FRAME };
        // The rows tell the time, so a terminal is drawn on even when nothing happens.
        let patience = self.region.is_some().then_some(Duration::from_millis(500));
        loop {
            let batch = queue.take(patience);
            let mut lines = Vec::new();
            for (at, record) in &batch.items {
                self.lines.take(*at, record, &mut lines);
            }
            if batch.left_out > 0 {
                lines.push(left_out(batch.left_out));
            }
            self.paint(lines, batch.closed);
            if batch.closed {
                return;
            }
            queue.rest(frame);
        }
    }

    fn paint(&mut self, mut lines: Vec<String>, last: bool) {
        let Some(region) = &mut self.region else {
            if !lines.is_empty() {
                lines.push(String::new());
                let _ = anstream::stderr().lock().write_all(lines.join("\n").as_bytes());
            }
            return;
        };
        let columns = terminal::columns();
        self.lines.set_columns(columns);
        if lines.len() > LINES {
            let more = lines.len() - LINES;
            lines.drain(..more);
            lines.insert(0, left_out(more as u64));
        }
        let rows = if last {
            Vec::new()
        } else {
            let most = (terminal::rows() / 3).clamp(2, 14);
            live::rows(&self.lines.view, self.began.elapsed(), columns - 1, most)
        };
        let mut text = region.draw(&lines, &rows);
        if anstream::AutoStream::choice(&io::stderr()) == anstream::ColorChoice::Never {
            text = without_styles(&text);
        }
        let mut out = io::stderr().lock();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

fn left_out(lines: u64) -> String {
    styled(DIM, &format!("… {} not shown here; the run's journal has all", figures::counted(lines, "line")))
}

/// Takes colors out and leaves what moves the cursor.
fn without_styles(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("\x1b[") {
        let (before, sequence) = rest.split_at(start);
        out.push_str(before);
        let end = sequence[2..].find(|each: char| each.is_ascii_alphabetic()).map_or(sequence.len(), |end| end + 3);
        if !sequence[..end].ends_with('m') {
            out.push_str(&sequence[..end]);
        }
        rest = &sequence[end..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_colors_the_cursor_still_moves() {
        assert_eq!(without_styles("\x1b[2A\x1b[J\x1b[31mred\x1b[0m\x1b[?2026l"), "\x1b[2A\x1b[Jred\x1b[?2026l");
    }

    #[test]
    fn a_text_is_kept_no_longer_than_its_line_needs() {
        let Event::Text { text } = shortened(&Event::Text { text: "é".repeat(1 << 20) }) else { panic!("a text") };
        assert!(text.len() <= TEXT + 3 && text.ends_with('…'));
    }
}
