// Types of the module "flowhost", for editors and for `tsc`.

/** A JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

// Words of the contract in `wit/`.
export type Moment =
  | "session-start" | "prompt-submit" | "pre-tool-use" | "permission-request" | "question" | "notification"
  | "offered-tool" | "stop" | "session-end" | "subagent-start" | "subagent-stop" | "other";
export type WhenBusy = "refuse" | "queue";
export type SteerMode = "queued" | "interrupting";
export type Access = "none" | "read" | "all";
export type Unanswered = "pass" | "block";
export type EntryKind = "file" | "directory" | "link" | "other";
export type CostSource = "reported" | "priced" | "mixed" | "made-up" | "unknown";
export type Grace = "finish" | "cut";
export type Limit = "cost" | "output-tokens" | "turns" | "duration";
export type SessionFault = "busy" | "closed" | "not-yours" | "never-ran" | "refused-dir" | "idle" | "other";
export type HarnessFault =
  | "not-installed" | "not-logged-in" | "model-unavailable" | "throttled" | "overloaded" | "contended" | "context-full"
  | "killed" | "dropped" | "hung" | "interrupted" | "bad-output" | "unsupported" | "other";
export type EnvFault =
  | "not-found" | "denied" | "outside" | "timed-out" | "not-started" | "conflict" | "too-large" | "unavailable"
  | "interrupted" | "other";
export type FlowFault = "not-found" | "bad-ref" | "too-deep" | "trapped" | "exceeded" | "interrupted" | "other";
export type AgentCapability = "steer" | "fork" | "goal" | "tools" | "skills" | Moment;
export type EnvCapability = "shell" | "bash" | "files" | "worktree" | "copy" | "scratch" | "snapshot";

/** What an agent's tools may do. In `derive`, what is not said is nothing. */
export interface Permission {
  workdir?: Access;
  home?: Access;
  system?: Access;
  network?: boolean;
}

/** An agent that a flow steers. */
export interface AgentRole {
  /** Whether the flow does without: then `cx.agentOpt` may give null. */
  optional?: boolean;
  capabilities?: AgentCapability[];
  /** The one harness that will do, where only one does. */
  harness?: string;
  permission?: Permission;
}

/** An environment that a flow works in. */
export interface EnvRole {
  /** Whether the flow does without: then `cx.envOpt` may give null. */
  optional?: boolean;
  capabilities?: EnvCapability[];
  permission?: Permission;
  /** The container image that it needs. */
  image?: string;
  cpus?: number;
  /** Bytes. */
  memory?: number;
}

/** What a flow declares: `export const manifest = { … }`. */
export interface Manifest {
  /** Lower-case letters, digits and `-`; the file's name where it is not said. */
  name?: string;
  /** What it does, in a sentence. */
  description?: string;
  /** Whether lists leave it out. */
  hidden?: boolean;
  /** By role: its capabilities, or more; or the names of roles alone. */
  agents?: string[] | { [role: string]: AgentCapability[] | AgentRole };
  /** By role: its capabilities, or more; or the names of roles alone. */
  envs?: string[] | { [role: string]: EnvCapability[] | EnvRole };
  /** JSON Schema of its params. A `default` of a property is what `cx.params` has where nothing was given. */
  params?: { [key: string]: unknown };
  /** JSON Schema of its answer. */
  result?: { [key: string]: unknown };
  /** References of the flows that it loads. */
  loads?: string[];
  /** Tools that it offers to its agents; their calls come as occasions of the moment `offered-tool`. */
  tools?: { name: string; description: string; input: { [key: string]: unknown } }[];
  /** Skills that it brings: a name, to the files by path. */
  skills?: { [name: string]: { [path: string]: string } };
}

/** A flow: `export default async function (task, cx) { … }`. What it gives is its answer, as JSON. */
export type Flow = (task: string, cx: Context) => unknown;

/** What something has spent. */
export interface Usage {
  turns: number;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  /** US dollars. */
  cost: number;
  costSource: CostSource;
  durationMs: number;
}

/** Limits to set; an absent one limits nothing. */
export interface Budget {
  /** US dollars. */
  cost?: number;
  outputTokens?: number;
  turns?: number;
  durationMs?: number;
  /** What becomes of the turn under way when a limit is reached; `finish` where it is not said. */
  grace?: Grace;
}

/** What is left to spend; null is not limited. */
export interface Allowance {
  cost: number | null;
  outputTokens: number | null;
  turns: number | null;
  durationMs: number | null;
}

/** Stops what it is given to: the turn is interrupted, the command killed, the called flow cancelled, and the promise fails with its reason. */
export interface Abortable {
  signal?: AbortSignal;
}

/** How to take a turn. */
export interface TurnOptions {
  /** JSON Schema that the answer must meet; `value` then holds it. */
  schema?: { [key: string]: unknown };
  /** Limits this turn alone, on top of the branch's limits. */
  budget?: Budget;
  /** US dollars that it is expected to cost: the host reserves that much where it would reserve less. */
  expectedCost?: number;
}

/** Where a turn in a conversation of its own lands. */
export interface Placed {
  at?: Env;
}

/** What a turn came to. */
export interface Answer {
  /** What the agent said last. */
  text: string;
  /** The structured answer, where a schema was given; else null. */
  value: any;
  usage: Usage;
}

/** Where a conversation is rooted: an environment, a directory's path in the workspace, or more by name. */
export type Place = Env | string | { at?: Env; directory?: string; whenBusy?: WhenBusy };

/** What a flow was given. */
export class Context {
  private constructor();
  /** The agent that fills a role. An optional role that nobody filled is a RequirementError. */
  agent(role: string): Agent;
  /** The agent that fills an optional role, or null. */
  agentOpt(role: string): Agent | null;
  /** The environment that fills a role. An optional role that nobody filled is a RequirementError. */
  env(role: string): Env;
  /** The environment that fills an optional role, or null. */
  envOpt(role: string): Env | null;
  /** What the flow was called with, held to its schema by the host, with the schema's defaults. */
  readonly params: any;
  /** The run's name. */
  readonly runId: string;
  /** This branch's place in the run, such as `1.3.2`. */
  readonly branchId: string;
  /** Names of the flows from the root of the run to this one. */
  readonly path: string[];
  /** Whether this branch was cut off before and is being taken up again. */
  readonly resumed: boolean;
  /** What is left to spend: the tightest limit of this branch and those above. */
  remaining(): Allowance;
  /** What this branch has spent, with all that it called. */
  spent(): Usage;
}

/** A harness, a model and an effort under a role. */
export class Agent {
  private constructor();
  readonly role: string;
  /** The program behind it. */
  readonly harness: string;
  readonly model: string;
  readonly effort: string;
  /** What it can do here. */
  readonly capabilities: string[];
  can(capability: AgentCapability): boolean;
  /** Opens a conversation; it costs nothing until a turn lands in it. */
  spawn(place?: Place): Session;
  /** Opens many by one call, all alike. */
  spawnMany(count: number, place?: Place): Session[];
  /** Takes one turn in a conversation of its own. */
  run(prompt: string, options?: TurnOptions & Placed & Abortable): Promise<Answer>;
  /** Starts one and returns at once. */
  start(prompt: string, options?: TurnOptions & Placed): Turn;
  /** Takes many, a conversation apiece: answers in the order asked. The first failure is thrown once every turn has landed. */
  batch(prompts: string[], options?: TurnOptions & Placed & Abortable & { atOnce?: number; suppress?: false }): Promise<Answer[]>;
  /** With `suppress` failures stay in their places. A stop and a spent budget are thrown either way. */
  batch(prompts: string[], options: TurnOptions & Placed & Abortable & { atOnce?: number; suppress: boolean }): Promise<(Answer | FlowhostError)[]>;
  /** Takes turns in a conversation of its own until the objective is met or so many rounds are over; the last answer, with what all have spent. */
  pursue(objective: string, rounds: number, options?: TurnOptions & Placed & Abortable): Promise<Answer>;
  /** Starts that and returns at once; the handle is that of all its turns. */
  startPursue(objective: string, rounds: number, options?: TurnOptions & Placed): Turn;
  /** The same harness under other settings; what the person did not give is a NotGrantedError. */
  derive(settings: { permission?: Permission; model?: string; effort?: string }): Agent;
  /** Watches for what its sessions come upon, for a role that declared these moments. */
  watch(moments: Moment[], options?: { patienceMs?: number; unanswered?: Unanswered }): Watch;
}

/** One conversation. It takes one turn at a time: a second one is a SessionError with the fault `busy`, unless it was opened to queue. */
export class Session {
  private constructor();
  /** Its name in the record of the run. */
  readonly id: string;
  /** Where it is rooted. */
  readonly directory: string;
  usage(): Usage;
  /** Takes a turn to its end. */
  run(prompt: string, options?: TurnOptions & Abortable): Promise<Answer>;
  /** Starts a turn and returns at once. */
  start(prompt: string, options?: TurnOptions): Turn;
  /** Puts words into the turn that is going, for a role that declared `steer`; `queued` where the mode is not said. */
  steer(words: string, mode?: SteerMode): Promise<void>;
  /** Branches the conversation, for a role that declared `fork`; the fork works in `at`, or where this one does. */
  fork(at?: Env): Promise<Session>;
  /** Closes it now: the turn that is going is interrupted. */
  close(): void;
  [Symbol.dispose](): void;
}

/** A turn that was started. It goes on while this or its session is held. */
export class Turn {
  private constructor();
  /** Waits for its end. May be asked again and by several; aborting the wait interrupts nothing. */
  wait(options?: Abortable): Promise<Answer>;
  done(): boolean;
  /** Interrupts it and returns at once; `wait` then fails with the fault `interrupted`. */
  cancel(): void;
}

/** A queue of what an agent's sessions come upon. `for await` gives one occasion after the other until it is closed. */
export class Watch {
  private constructor();
  /** Waits for the next occasion; null once it is closed. Aborting loses nothing. */
  next(options?: Abortable): Promise<Occasion | null>;
  /** The next one, or null: it does not wait. */
  take(): Occasion | null;
  /** Takes it down. */
  close(): void;
  [Symbol.asyncIterator](): AsyncGenerator<Occasion, void, void>;
  [Symbol.dispose](): void;
}

/** Something that waits for the flow's answer. Only the first answer counts; a later one is a SessionError with the fault `idle`. */
export class Occasion {
  private constructor();
  readonly moment: Moment;
  /** In which session, by its id. */
  readonly session: string;
  /** What the moment carries: tool, input, prompt, question, options, said. */
  readonly details: any;
  /** Yes. */
  allow(): void;
  /** No, and why. */
  block(reason: string): void;
  /** Adds context, answers a question or an offered tool's call, or goes on with a next prompt. */
  reply(text: string): void;
  /** Lets it go on as if nobody watched. */
  skip(): void;
}

/** How to run a command, in a clean environment. */
export interface CommandOptions {
  /** Variables to add. */
  vars?: { [name: string]: string };
  stdin?: string | Uint8Array | ArrayBuffer;
  /** After so long it is killed: an EnvError with the fault `timed-out`. */
  timeoutMs?: number;
  /** Bytes kept of each of stdout and stderr. */
  keep?: number;
  /** It may be run again where a run that was cut off in its middle is taken up. */
  repeatable?: boolean;
}

export interface Checked {
  /** Whether a status that is not 0, and output that was cut, is a FailedError. */
  checked?: boolean;
}

/** A working directory on a machine. Paths are relative to it. */
export class Env {
  private constructor();
  readonly role: string;
  /** As the machine it is on spells it. */
  readonly directory: string;
  /** `workspace`, `worktree`, `copy`, `scratch`, `subdir`, `container`, `ssh`. */
  readonly kind: string;
  /** The git branch it has checked out, or null. */
  readonly branchName: string | null;
  /** Runs a command, for a role that declared `shell`. A status that is not 0 is no error unless it is `checked`. */
  exec(argv: string[], options?: CommandOptions & Checked & Abortable): Promise<Output>;
  /** Runs a bash script, for a role that declared `bash`. */
  bash(script: string, options?: { timeoutMs?: number } & Checked & Abortable): Promise<Output>;
  /** Starts a command and returns at once. */
  start(argv: string[], options?: CommandOptions): Process;
  read(path: string): Promise<Uint8Array>;
  /** The text of a file; one that is not UTF-8 is a FailedError. */
  readText(path: string): Promise<string>;
  /** At most `length` bytes from `offset`. */
  readRange(path: string, offset: number, length: number): Promise<Uint8Array>;
  /** Makes or replaces a file, whole or not at all, and the directories above it. */
  write(path: string, data: string | Uint8Array | ArrayBuffer): Promise<void>;
  /** Adds to the end of a file. */
  append(path: string, data: string | Uint8Array | ArrayBuffer): Promise<void>;
  makeDir(path: string): Promise<void>;
  stat(path: string): Promise<Entry>;
  /** Removes a file, or a directory with all in it. */
  remove(path: string): Promise<void>;
  /** Entries below `path` that match a glob. */
  find(path: string, glob: string): Promise<Entry[]>;
  /** A directory inside this one, as an environment. */
  subdir(path: string): Promise<Env>;
  /** A git worktree, at a commit or where this one is, on a branch that the host names, one of a given name, or none. */
  worktree(label: string, options?: { at?: string; branch?: string; detached?: boolean }): Promise<Env>;
  copy(label: string): Promise<Env>;
  scratch(label: string): Promise<Env>;
  /** Keeps its files as they are now; gives the snapshot's name. */
  snapshot(name?: string): Promise<string>;
  rewind(snapshot: string): Promise<void>;
  snapshots(): Promise<string[]>;
  /** What it has changed since it was made, as a patch. */
  diff(): Promise<Uint8Array>;
  /** Brings the changes of an environment that was made from this one into it. */
  merge(other: Env): Promise<MergeOutcome>;
}

export interface Entry {
  /** Relative to the environment. */
  path: string;
  kind: EntryKind;
  /** Bytes. */
  size: number;
}

export interface MergeOutcome {
  merged: boolean;
  /** Paths that both changed; nothing is changed where there is one. */
  conflicts: string[];
}

/** What a command left. */
export class Output {
  private constructor();
  /** 128 and the signal's number where one killed it. */
  readonly status: number;
  /** As text: what is not UTF-8 is replaced. */
  readonly stdout: string;
  readonly stderr: string;
  /** Whether either was cut. */
  readonly truncated: boolean;
  /** Whether its status is 0. */
  success(): boolean;
  stdoutBytes(): Uint8Array;
  stderrBytes(): Uint8Array;
}

/** A command that was started. */
export class Process {
  private constructor();
  wait(options?: Abortable): Promise<Output>;
  done(): boolean;
  /** Interrupts it; `wait` then fails with the fault `interrupted`. */
  cancel(): void;
}

/** What is handed to a called flow: exactly what it declared. */
export interface Handover {
  agents?: { [role: string]: Agent };
  envs?: { [role: string]: Env };
  /** As its schema says. */
  params?: Json | { [key: string]: unknown };
  /** On top of what is left of the caller's. */
  budget?: Budget;
}

/** Finds a flow by its reference, which the manifest must list in `loads`. */
export function load(reference: string): Promise<Callee>;

/** A flow that can be called, any number of times and many at once. */
export class Callee {
  private constructor();
  readonly name: string;
  /** What it declares. */
  readonly manifest: any;
  /** Runs it as a branch of this run. Its own error comes back as it was raised. */
  call(task: string, given?: Handover & Abortable): Promise<any>;
  /** Starts it and returns at once. */
  start(task: string, given?: Handover): Branch;
}

/** A call of a flow that was started. */
export class Branch {
  private constructor();
  wait(options?: Abortable): Promise<any>;
  done(): boolean;
  /** Interrupts it and returns at once; `wait` then fails with the fault `interrupted`. */
  cancel(): void;
}

/** Something to wait for or to call for a promise: a function is called when there is room for it. */
export type Task<T> = Promise<T> | ((signal: AbortSignal) => T | Promise<T>);

/** What became of one of many; `value` and `reason` are there to be taken apart before it is looked at. */
export type Outcome<T> =
  | { status: "fulfilled"; value: T; reason?: undefined }
  | { status: "rejected"; value?: undefined; reason: any };

/** Waits for many at once and keeps every outcome, in the order asked. With `atOnce` functions are called when there is room for them. */
export function gather<T>(tasks: Iterable<Promise<T> | (() => T | Promise<T>)>, options?: { atOnce?: number }): Promise<Outcome<T>[]>;
/** Waits for many at once. At the first error the signal that each was given aborts, no more begin, and a GroupError is thrown when all have ended. */
export function group<T>(tasks: Iterable<Task<T>>, options?: { atOnce?: number } & Abortable): Promise<T[]>;
/** Gives up on something that takes longer: its signal aborts, and a TimeoutError is thrown. */
export function timeout<T>(ms: number, task: Task<T>, options?: Abortable): Promise<T>;
/** Lets time pass. */
export function sleep(ms: number, options?: Abortable): Promise<void>;
/** Waits until at least one is ready, or for so many milliseconds; the places of all that are, and none when the time is over. */
export function waitAny(on: (Turn | Process | Branch | Watch)[], timeoutMs?: number | null, options?: Abortable): Promise<number[]>;
/** Says a line in the run's log, as `console.log` does. */
export function log(...values: unknown[]): void;
/** Milliseconds since the epoch; the same again when the run is resumed. */
export function nowMs(): number;

/** What git writes. */
export namespace git {
  /** File names as `git ls-files` and the like list them, one a line. */
  function names(listed: string): string[];
}

/** Whatever the contract fails with. */
export class FlowhostError extends Error {
  constructor(kind: string, message: string);
  readonly kind: "session" | "harness" | "env" | "budget" | "requirement" | "not-granted" | "flow" | "failed" | "stopped" | "other";
}
/** The flow's own mistake with a session. */
export class SessionError extends FlowhostError {
  constructor(message: string, facts?: { fault?: SessionFault });
  readonly fault: SessionFault;
}
/** A turn that the harness could not take. The one that a flow may read past. */
export class HarnessError extends FlowhostError {
  constructor(message: string, facts?: { fault?: HarnessFault; retryAfterMs?: number | null });
  readonly fault: HarnessFault;
  /** When to try again, where it is known. */
  readonly retryAfterMs: number | null;
}
/** Something that an environment could not do. */
export class EnvError extends FlowhostError {
  constructor(message: string, facts?: { fault?: EnvFault });
  readonly fault: EnvFault;
}
/** A limit is spent, here or above. It stays so. */
export class BudgetError extends FlowhostError {
  constructor(message: string, facts: { limit: Limit; whose: string });
  readonly limit: Limit;
  /** The branch whose limit it is, as its path. */
  readonly whose: string;
}
/** What was given does not meet what was declared; nothing has run. */
export class RequirementError extends FlowhostError {
  constructor(message: string);
}
/** The flow used what it did not declare or was not granted. */
export class NotGrantedError extends FlowhostError {
  constructor(message: string);
}
/** A called flow that could not be run, or did not end by itself. */
export class FlowError extends FlowhostError {
  constructor(message: string, facts?: { fault?: FlowFault });
  readonly fault: FlowFault;
}
/** A flow says that it failed: the one to throw. */
export class FailedError extends FlowhostError {
  constructor(message: string);
}
/** The run was stopped from outside. Every later call says the same. */
export class StoppedError extends FlowhostError {
  constructor(message: string);
}
/** Anything else: read the message. */
export class OtherError extends FlowhostError {
  constructor(message: string);
}
/** A `timeout` that ran out, or an `AbortSignal.timeout`. */
export class TimeoutError extends Error {
  constructor(message?: string);
}
/** What an aborted signal gives as its reason where nobody gave one. */
export class AbortError extends Error {
  constructor(message?: string);
}
/** What became of a `group` in which something failed. Thrown on, the flow fails with its first error, as it was raised. */
export class GroupError extends Error {
  constructor(errors: unknown[], answered: number, cancelled: number);
  /** The first one first; more than one where several failed before the rest had ended. */
  readonly errors: any[];
  /** How many had answered. */
  readonly answered: number;
  /** How many were going and were cancelled. */
  readonly cancelled: number;
}
