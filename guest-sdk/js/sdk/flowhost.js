// What a flow imports as "flowhost".

export { Agent, Occasion, Session, Turn, Watch } from "./agents.js";
export { Context, log, nowMs } from "./context.js";
export { Env, Output, Process } from "./envs.js";
export {
  AbortError,
  BudgetError,
  EnvError,
  FailedError,
  FlowError,
  FlowhostError,
  GroupError,
  HarnessError,
  NotGrantedError,
  OtherError,
  RequirementError,
  SessionError,
  StoppedError,
  TimeoutError,
} from "./errors.js";
export { Branch, Callee, load } from "./flows.js";
export { gather, group, sleep, timeout, waitAny } from "./waiting.js";
export * as git from "./git.js";
