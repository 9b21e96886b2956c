//! What the fake costs: a session with one instant turn, which a benchmark of the host has in its figure.

#![allow(clippy::unwrap_used, missing_docs)]

use std::sync::Arc;

use async_trait::async_trait;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use flowhost_agents::fake::{Fake, FakeEnv};
use flowhost_core::{
    env::Env,
    harness::{Event, Harness, Moment, Open, Prompt, Settings, Steer, TurnHost, Verdict},
    id::SessionId,
};
use futures::FutureExt;
use serde_json::Value;

/// A host that does nothing.
struct Nobody;

#[async_trait]
impl TurnHost for Nobody {
    fn event(&self, _: Event) {}
    async fn interrupted(&self) {
        std::future::pending().await
    }
    async fn steered(&self) -> Steer {
        std::future::pending().await
    }
    async fn occasion(&self, _: Moment, _: Value) -> Verdict {
        Verdict::Pass
    }
}

const SESSIONS: u32 = 10_000;

async fn sessions(fake: &Fake, env: &Arc<dyn Env>, settings: &Arc<Settings>) {
    for session in 0..SESSIONS {
        let open = Open { session: SessionId(session), env: env.clone(), settings: settings.clone(), vars: Vec::new() };
        let mut conversation = fake.open(open).await.unwrap();
        let prompt = Prompt { id: "t1", text: "Add a docstring.\n\nThe file is a.py.", schema: None };
        conversation.turn(prompt, &Nobody).await.unwrap();
        conversation.close().await;
    }
}

fn bench(criterion: &mut Criterion) {
    let env: Arc<dyn Env> = Arc::new(FakeEnv::new());
    let settings = Arc::new(Settings::default());
    let mut group = criterion.benchmark_group("10,000 sessions of one instant turn");
    group.throughput(Throughput::Elements(SESSIONS.into()));
    group.bench_function("counted", |bencher| {
        bencher.iter(|| sessions(&Fake::new().without_record(), &env, &settings).now_or_never().unwrap());
    });
    group.bench_function("recorded", |bencher| {
        bencher.iter(|| sessions(&Fake::new(), &env, &settings).now_or_never().unwrap());
    });
    group.bench_function("recorded, last word", |bencher| {
        bencher.iter(|| sessions(&Fake::new().last_word(), &env, &settings).now_or_never().unwrap());
    });
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
