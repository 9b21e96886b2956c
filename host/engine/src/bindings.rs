//! The contract of `wit/`, as wasmtime generates it: of all worlds the one that has everything. `with` names what stands behind each resource.

#![allow(missing_docs, unreachable_pub, unused_qualifications, clippy::all, clippy::large_futures)]

wasmtime::component::bindgen!({
    path: "../../wit",
    world: "runner",
    imports: { default: trappable },
    exports: { default: async },
    with: {
        "flowhost:flow/envs.env": flowhost_core::place::Place,
        "flowhost:flow/envs.process": crate::host::envs::Process,
        "flowhost:flow/agents.agent": crate::host::agents::Agent,
        "flowhost:flow/agents.session": flowhost_core::session::SessionHandle,
        "flowhost:flow/agents.turn": crate::host::agents::Turn,
        "flowhost:flow/agents.watch": crate::host::watches::Watch,
        "flowhost:flow/agents.occasion": flowhost_core::occasion::Occasion,
        "flowhost:flow/flows.callee": crate::host::flows::Callee,
        "flowhost:flow/flows.branch": crate::host::flows::Branch,
    },
});
