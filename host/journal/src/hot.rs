//! The records that a run writes by the ten thousand, put on a line by hand.
//!
//! The same bytes as serde's, at about half the time: names and quotes are copied in one piece, ids and keys do not go
//! through the formatter, and text without anything to escape is copied whole. A test holds the two together.

use flowhost_core::{
    harness::Event,
    id::BranchId,
    record::{Answer, Json, Key, Outcome, Record},
    usage::Usage,
};
use serde::Serialize;

/// Adds `"type":NAME,FIELDS}` of a record that is written here, or gives false and adds nothing.
pub(crate) fn write(record: &Record, to: &mut Vec<u8>) -> serde_json::Result<bool> {
    let mut fields = Fields(to);
    match record {
        Record::Session { session, branch, role, agent, directory, nth, fork_of: None } => {
            fields.put("\"type\":\"session\",\"session\":\"s").value(&session.0)?.put("\"").branch(branch)?;
            fields.text(",\"role\":", role)?.text(",\"agent\":", agent)?.text(",\"directory\":", directory)?;
            fields.put(",\"nth\":").value(nth)?;
        }
        Record::SessionEnd { session } => {
            fields.put("\"type\":\"session-end\",\"session\":\"s").value(&session.0)?.put("\"");
        }
        Record::Turn { turn, session, branch, key, prompt, schema } => {
            fields.put("\"type\":\"turn\",\"turn\":\"t").value(&turn.0)?;
            fields.put("\",\"session\":\"s").value(&session.0)?.put("\"").branch(branch)?.key(key);
            fields.text(",\"prompt\":", prompt)?.document(",\"schema\":", schema.as_ref());
        }
        Record::Event { turn, event: Event::Text { text } } => {
            fields.put("\"type\":\"event\",\"turn\":\"t").value(&turn.0)?;
            fields.text("\",\"event\":\"text\",\"text\":", text)?;
        }
        Record::Event { turn, event: Event::Usage { usage } } => {
            fields.put("\"type\":\"event\",\"turn\":\"t").value(&turn.0)?;
            fields.put("\",\"event\":\"usage\"").usage(usage)?;
        }
        Record::TurnEnd { turn, outcome: Outcome::Ok(Answer { text, value }), usage } => {
            fields.put("\"type\":\"turn-end\",\"turn\":\"t").value(&turn.0)?;
            fields.text("\",\"outcome\":{\"ok\":{\"text\":", text)?.document(",\"value\":", value.as_ref());
            fields.put("}}").usage(usage)?;
        }
        Record::Call { call, branch, function, key, label, repeatable: false } => {
            fields.put("\"type\":\"call\",\"call\":\"c").value(&call.0)?.put("\"").branch(branch)?;
            fields.text(",\"function\":", function)?.key(key).text(",\"label\":", label)?;
        }
        Record::CallEnd { call, outcome: Outcome::Ok(given) } => {
            fields.put("\"type\":\"call-end\",\"call\":\"c").value(&call.0)?.put("\"").given(given);
        }
        Record::Value { branch, function, key, outcome: Outcome::Ok(given) } => {
            fields.put("\"type\":\"value\"").branch(branch)?.text(",\"function\":", function)?;
            if let Some(key) = key {
                fields.key(key);
            }
            fields.given(given);
        }
        Record::Delivered { branch, of } => {
            fields.put("\"type\":\"delivered\"").branch(branch)?.text(",\"of\":", of)?;
        }
        _ => return Ok(false),
    }
    fields.put("}");
    Ok(true)
}

struct Fields<'a>(&'a mut Vec<u8>);

impl Fields<'_> {
    fn put(&mut self, text: &str) -> &mut Self {
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    fn value(&mut self, value: &impl Serialize) -> serde_json::Result<&mut Self> {
        serde_json::to_writer(&mut *self.0, value)?;
        Ok(self)
    }

    fn text(&mut self, before: &str, text: &str) -> serde_json::Result<&mut Self> {
        self.put(before);
        // Without a way out of the loop, so that it goes over many bytes at once.
        let escaped = text.bytes().fold(false, |any, byte| any | (byte < 0x20) | (byte == b'"') | (byte == b'\\'));
        if escaped { self.value(&text) } else { Ok(self.put("\"").put(text).put("\"")) }
    }

    fn branch(&mut self, branch: &BranchId) -> serde_json::Result<&mut Self> {
        self.text(",\"branch\":", &branch.0)
    }

    fn key(&mut self, key: &Key) -> &mut Self {
        self.put(",\"key\":\"");
        for byte in key.0 {
            self.0.extend_from_slice(&hex(byte));
        }
        self.put("\"")
    }

    fn document(&mut self, before: &str, document: Option<&Json>) -> &mut Self {
        if let Some(document) = document {
            self.put(before).put(document.get());
        }
        self
    }

    fn given(&mut self, given: &Json) -> &mut Self {
        self.put(",\"outcome\":{\"ok\":").put(given.get()).put("}")
    }

    fn usage(&mut self, usage: &Usage) -> serde_json::Result<&mut Self> {
        self.put(",\"usage\":{\"turns\":").value(&usage.turns)?;
        self.put(",\"input-tokens\":").value(&usage.input_tokens)?;
        self.put(",\"output-tokens\":").value(&usage.output_tokens)?;
        self.put(",\"cache-read-tokens\":").value(&usage.cache_read_tokens)?;
        self.put(",\"cache-write-tokens\":").value(&usage.cache_write_tokens)?;
        self.put(",\"cost\":").value(&usage.cost)?.put(",\"cost-source\":").value(&usage.cost_source)?;
        Ok(self.put(",\"duration-ms\":").value(&usage.duration_ms)?.put("}"))
    }
}

/// The two digits of a byte.
pub(crate) fn hex(byte: u8) -> [u8; 2] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]
}
