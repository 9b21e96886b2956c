//! A component that has the files of a flow in it, and hands them to the flow's runner.

use flowhost_engine::Source;
use wasm_encoder::{ConstExpr, DataSection, Section as _};

use super::component;
use crate::exit::Failure;

/// The code, which finds all that it gives in its memory: `files.wat` says where.
static CODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/files.wasm"));
/// That it exports `flowhost:flow/source`.
static TYPE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/files.type"));

/// Where the table of files begins, and where what it points to must have ended.
const TABLE: usize = 112;
const END: usize = 96 << 16;
/// Words of the table a file.
const WORDS: usize = 4;
/// What is said of a file that is not there; the runner names it.
const MISSING: &str = "no such file beside the flow";

/// The component, for these files.
pub(super) fn component_of(source: &Source) -> Result<Vec<u8>, Failure> {
    let memory = memory(source)?;
    let mut module = CODE.to_vec();
    let mut data = DataSection::new();
    data.active(0, &ConstExpr::i32_const(0), memory);
    data.append_to(&mut module);
    component::of_module(module, TYPE)
        .map_err(|why| Failure::failed(format!("the flow's files make no component: {why}")))
}

/// What the memory has in it, from its beginning.
fn memory(source: &Source) -> Result<Vec<u8>, Failure> {
    let files: Vec<(&str, &[u8])> = source.files().collect();
    let mut memory = vec![0; TABLE + files.len() * WORDS * 4];
    let table_end = memory.len();
    let mut words = Vec::new();
    let mut keep = |bytes: &[u8]| {
        let at = memory.len();
        memory.extend_from_slice(bytes);
        [at, bytes.len()]
    };
    let main = keep(source.main().as_bytes());
    let missing = keep(MISSING.as_bytes());
    for (name, contents) in files {
        words.extend(keep(name.as_bytes()));
        words.extend(keep(contents));
    }
    if memory.len() > END {
        return Err(Failure::refused("the flow has more files than fit into a component"));
    }
    let mut put = |at: usize, words: &[usize]| {
        for (nth, word) in words.iter().enumerate() {
            // All of them are below END.
            let word = u32::try_from(*word).unwrap_or(u32::MAX).to_le_bytes();
            memory[at + nth * 4..][..4].copy_from_slice(&word);
        }
    };
    put(0, &main);
    put(8, &[TABLE, table_end]);
    // As the canonical ABI has a `result<list<u8>, error>`: the case at 0, the payload at 8. At 16 is `ok`, which is 0.
    // At 64 is `err`: its kind `env`, the third, has its fault `not-found`, the first, 8 further; its message is 32 further.
    put(64, &[1]);
    put(72, &[2]);
    put(104, &missing);
    put(TABLE, &words);
    Ok(memory)
}
