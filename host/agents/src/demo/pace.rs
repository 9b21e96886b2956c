//! How long a turn of `demo` takes and what it pretends to spend: always the same for the same prompt and files.

use std::time::Duration;

use flowhost_core::{
    clock::Clock,
    harness::{Event, TurnHost},
    usage::{CostSource, Usage, Usd},
};

/// Least and most milliseconds of a turn, at speed 1.
const TURN_MS: (u64, u64) = (100, 700);

/// US dollars a token, in billionths: input, output, read from a cache, put into one.
const PRICE: (u64, u64, u64, u64) = (3_000, 15_000, 300, 3_750);

/// Most tokens that a file counts for, so that a turn never pretends to cost more than a few cents.
const FILE_TOKENS: u64 = 2_000;

/// A turn's pace.
pub(super) struct Pace<'a> {
    clock: &'a Clock,
    host: &'a dyn TurnHost,
    turn: Duration,
    seed: u64,
    spent: Usage,
    /// Words that were put into the turn.
    pub(super) steered: Vec<String>,
}

impl<'a> Pace<'a> {
    pub(super) fn new(clock: &'a Clock, speed: f64, prompt: &str, host: &'a dyn TurnHost) -> Self {
        let seed = fnv(prompt.as_bytes());
        let (least, most) = TURN_MS;
        let milliseconds = (least + seed % (most - least + 1)) as f64;
        let turn =
            if speed > 0.0 { Duration::try_from_secs_f64(milliseconds / 1e3 / speed) } else { Ok(Duration::ZERO) };
        let spent = Usage { cost_source: CostSource::MadeUp, ..Usage::default() };
        Self { clock, host, turn: turn.unwrap_or(Duration::ZERO), seed, spent, steered: Vec::new() }
    }

    /// Lets this share of the turn pass, in hundredths. Words that interrupt cut it short.
    pub(super) async fn pass(&mut self, share: u32) {
        let mut rest = std::pin::pin!(self.clock.sleep(self.turn * share / 100));
        loop {
            tokio::select! {
                biased;
                steer = self.host.steered() => {
                    self.steered.push(steer.text);
                    if steer.interrupting {
                        return;
                    }
                }
                () = &mut rest => return,
            }
        }
    }

    /// The model was asked once more: it has read `input` bytes anew and written `output`.
    pub(super) fn asked(&mut self, input: usize, output: usize) {
        let tokens = |bytes: usize| u64::try_from(bytes / 4).unwrap_or(u64::MAX).min(FILE_TOKENS);
        let spent = &mut self.spent;
        spent.input_tokens += 2 + self.seed % 3;
        spent.output_tokens += 40 + self.seed % 50 + tokens(output) / 4;
        spent.cache_read_tokens += 14_000 + self.seed % 1_500;
        spent.cache_write_tokens += 200 + tokens(input) / 4;
        let cost = spent.input_tokens * PRICE.0
            + spent.output_tokens * PRICE.1
            + spent.cache_read_tokens * PRICE.2
            + spent.cache_write_tokens * PRICE.3;
        spent.cost = Usd(cost);
        self.host.event(Event::Usage { usage: *spent });
    }
}

/// FNV-1a, which is the same on every machine and in every version.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
