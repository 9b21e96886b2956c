//! `schema/records.schema.json` says what is on a line: all of it, and nothing else.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod sample;

use std::{collections::BTreeSet, time::Duration};

use flowhost_core::record::Record;
use serde_json::Value;

const SCHEMA: &str = include_str!("../schema/records.schema.json");

fn on_a_line(record: &Record) -> Value {
    let mut text = Vec::new();
    flowhost_journal::line(Duration::from_micros(10_234), record, &mut text).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// Where an object stands whose shape is the flow's or the harness's own.
fn is_free(kind: &str, pointer: &str) -> bool {
    let steps: Vec<_> = pointer.split('/').collect();
    steps.iter().any(|step| ["params", "schema", "details", "value"].contains(step))
        || (kind != "turn-end" && steps.ends_with(&["outcome", "ok"]))
        || (kind != "turn-end" && steps.windows(2).any(|pair| pair == ["outcome", "ok"]))
}

fn objects(value: &Value, pointer: String, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                objects(field, format!("{pointer}/{key}"), found);
            }
            found.push(pointer);
        }
        Value::Array(items) => {
            for (nth, item) in items.iter().enumerate() {
                objects(item, format!("{pointer}/{nth}"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn every_record_meets_the_schema() {
    let schema = jsonschema::validator_for(&serde_json::from_str(SCHEMA).unwrap()).unwrap();
    for record in sample::records() {
        let mut value = on_a_line(&record);
        schema.validate(&value).unwrap_or_else(|error| panic!("{value}: {error}"));
        value["crc"] = "0123abcd".into();
        schema.validate(&value).unwrap_or_else(|error| panic!("{value}: {error}"));
    }
}

#[test]
fn the_schema_and_the_samples_know_the_same_records() {
    let sampled: BTreeSet<String> = sample::records().iter().map(|record| sample::name(record).to_owned()).collect();
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let described: BTreeSet<String> = schema["$defs"]
        .as_object()
        .unwrap()
        .values()
        .filter_map(|def| Some(def["properties"]["type"]["const"].as_str()?.to_owned()))
        .collect();
    assert_eq!(sampled, described);
    for record in sample::records() {
        assert_eq!(on_a_line(&record)["type"], sample::name(&record));
    }
}

#[test]
fn a_key_that_the_schema_does_not_know_is_refused_wherever_it_stands() {
    let schema = jsonschema::validator_for(&serde_json::from_str(SCHEMA).unwrap()).unwrap();
    let mut tried = 0;
    for record in sample::records() {
        let value = on_a_line(&record);
        let mut places = Vec::new();
        objects(&value, String::new(), &mut places);
        for place in places.into_iter().filter(|place| !is_free(sample::name(&record), place)) {
            let mut changed = value.clone();
            changed.pointer_mut(&place).unwrap()["surprise"] = Value::from(1);
            assert!(!schema.is_valid(&changed), "{changed}");
            tried += 1;
        }
    }
    assert!(tried > sample::records().len());
}

#[test]
fn a_key_that_a_record_needs_is_missed() {
    let schema = jsonschema::validator_for(&serde_json::from_str(SCHEMA).unwrap()).unwrap();
    let absent_in_some = ["at-once", "parent", "fork-of", "schema", "why", "repeatable", "key"];
    for record in sample::records() {
        let value = on_a_line(&record);
        for key in value.as_object().unwrap().keys() {
            if absent_in_some.contains(&key.as_str()) {
                continue;
            }
            let mut changed = value.clone();
            changed.as_object_mut().unwrap().shift_remove(key);
            assert!(!schema.is_valid(&changed), "{changed}");
        }
    }
}
