// What can go wrong, as the contract names it.

/** Whatever the contract fails with; `kind` is its word for it. */
export class FlowhostError extends Error {
  constructor(kind, message) {
    super(message);
    this.kind = kind;
  }
  get name() {
    return this.constructor.name;
  }
}

/** The flow's own mistake with a session, such as a second turn while one is going. */
export class SessionError extends FlowhostError {
  constructor(message, { fault = "other" } = {}) {
    super("session", message);
    this.fault = fault;
  }
}

/** A turn that the harness could not take. The one that a flow may read past. */
export class HarnessError extends FlowhostError {
  constructor(message, { fault = "other", retryAfterMs = null } = {}) {
    super("harness", message);
    this.fault = fault;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Something that an environment could not do. */
export class EnvError extends FlowhostError {
  constructor(message, { fault = "other" } = {}) {
    super("env", message);
    this.fault = fault;
  }
}

/** A limit is spent, here or above. It stays so. */
export class BudgetError extends FlowhostError {
  constructor(message, { limit, whose }) {
    super("budget", message);
    this.limit = limit;
    this.whose = whose;
  }
}

/** What was given does not meet what was declared; nothing has run. */
export class RequirementError extends FlowhostError {
  constructor(message) {
    super("requirement", message);
  }
}

/** The flow used what it did not declare or was not granted. */
export class NotGrantedError extends FlowhostError {
  constructor(message) {
    super("not-granted", message);
  }
}

/** A called flow that could not be run, or did not end by itself. */
export class FlowError extends FlowhostError {
  constructor(message, { fault = "other" } = {}) {
    super("flow", message);
    this.fault = fault;
  }
}

/** A flow says that it failed: the one to throw. */
export class FailedError extends FlowhostError {
  constructor(message) {
    super("failed", message);
  }
}

/** The run was stopped from outside. Every later call says the same. */
export class StoppedError extends FlowhostError {
  constructor(message) {
    super("stopped", message);
  }
}

/** Anything else: read the message. */
export class OtherError extends FlowhostError {
  constructor(message) {
    super("other", message);
  }
}

/** A `timeout` that ran out. */
export class TimeoutError extends Error {
  constructor(message = "it took too long") {
    super(message);
  }
  get name() {
    return "TimeoutError";
  }
}

/** What an aborted signal gives as its reason where nobody gave one. */
export class AbortError extends Error {
  constructor(message = "it was aborted") {
    super(message);
  }
  get name() {
    return "AbortError";
  }
}

/** What became of a `group` in which something failed. Thrown on, it is its first error. */
export class GroupError extends Error {
  constructor(errors, answered, cancelled) {
    super(messageOf(errors[0]), { cause: errors[0] });
    this.errors = errors;
    this.answered = answered;
    this.cancelled = cancelled;
  }
  get name() {
    return "GroupError";
  }
}

const MAKES = {
  session: (message, fault) => new SessionError(message, { fault }),
  harness: (message, fault, retryAfterMs) => new HarnessError(message, { fault, retryAfterMs }),
  env: (message, fault) => new EnvError(message, { fault }),
  budget: (message, _, limit, whose) => new BudgetError(message, { limit, whose }),
  requirement: (message) => new RequirementError(message),
  "not-granted": (message) => new NotGrantedError(message),
  flow: (message, fault) => new FlowError(message, { fault }),
  failed: (message) => new FailedError(message),
  stopped: (message) => new StoppedError(message),
  other: (message) => new OtherError(message),
};

/** For the runner: an error of the contract, which was met where `stack` says. */
export function raise(kind, message, stack, fault, second, third) {
  const error = MAKES[kind](message, fault, second, third);
  Object.defineProperty(error, "stack", { value: stack, writable: true, configurable: true });
  return error;
}

/** For the runner: what nobody caught, as the contract carries it. */
export function lower(error) {
  if (error instanceof GroupError) return lower(error.errors[0]);
  if (error instanceof FlowhostError) {
    const { kind, message, fault, retryAfterMs, limit, whose } = error;
    return { kind, message: String(message), fault, retryAfterMs, limit, whose };
  }
  return { kind: "failed", message: report(error) };
}

function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/** An error as a person reads it: what it says, where in the author's files, and what caused it. */
export function report(error) {
  if (!(error instanceof Error)) return `${shown(error)} was thrown`;
  const said = error.message === "" ? error.name : `${error.name}: ${error.message}`;
  const cause = error.cause === undefined ? "" : `\ncaused by ${report(error.cause)}`;
  return said + frames(error) + cause;
}

function shown(value) {
  try {
    return typeof value === "string" ? JSON.stringify(value) : String(value);
  } catch {
    return "something";
  }
}

/** Lines of the stack that are the author's. */
function frames(error) {
  const stack = typeof error.stack === "string" ? error.stack : "";
  const theirs = stack.split("\n").filter((line) => /^\s+at /.test(line) && !/\(flowhost:|\(native/.test(line));
  return theirs.map((line) => `\n${line.trimEnd()}`).join("");
}
