//! Time and chance.

use std::hash::{BuildHasher, RandomState};
use std::time::{Instant, SystemTime};

use flowhost::prelude::*;
use flowhost::serde_json::{Value, json};

use crate::{Params, unknown};

pub(crate) async fn run(task: &str, _cx: &Context, params: &Params) -> Result<Value> {
    match task {
        // n sleeps at once, and how much time passed.
        "sleep" => {
            let begin = now();
            gather((0..params.n).map(|_| sleep(Duration::from_millis(params.ms)))).await;
            Ok(json!({ "ms": millis_since(begin, now()) }))
        }
        // The contract's clock, the standard library's two, and its chance.
        "facts" => {
            let begin = Instant::now();
            let wall = millis_since(SystemTime::UNIX_EPOCH, SystemTime::now());
            sleep(Duration::from_millis(params.ms)).await;
            Ok(json!({
                "now": millis_since(SystemTime::UNIX_EPOCH, now()),
                "wall": wall,
                "passed": begin.elapsed().as_millis() as u64,
                "random": [RandomState::new().hash_one(1).to_string(), RandomState::new().hash_one(2).to_string()],
            }))
        }
        _ => Err(unknown(task)),
    }
}

fn millis_since(begin: SystemTime, end: SystemTime) -> u64 {
    end.duration_since(begin).map_or(0, |passed| passed.as_millis() as u64)
}
