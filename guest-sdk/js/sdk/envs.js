// Environments: working directories, their files, and the commands that run in them.

import * as native from "native";
import { FailedError } from "./errors.js";
import { abortable, signalOf } from "./signals.js";

const made = () => {
  throw new TypeError("the host makes these: see cx.env, env.exec and env.start");
};

/** What a command left. */
export class Output {
  #stdout;
  #stderr;
  constructor({ status, stdout, stderr, truncated, rawStdout, rawStderr }) {
    this.status = status;
    this.stdout = stdout;
    this.stderr = stderr;
    this.truncated = truncated;
    this.#stdout = rawStdout;
    this.#stderr = rawStderr;
  }
  success() {
    return this.status === 0;
  }
  stdoutBytes() {
    return this.#stdout ?? native.encode(this.stdout);
  }
  stderrBytes() {
    return this.#stderr ?? native.encode(this.stderr);
  }
}

/** What a command left, or why that is not good enough for a command that is checked. */
function checked(output, options, command) {
  if (!options?.checked) return output;
  if (!output.success()) {
    const line = `${output.stderr}\n${output.stdout}`.split("\n").find((each) => each.trim() !== "");
    throw new FailedError(`\`${command()}\` ended with status ${output.status}${line ? `: ${line.trim()}` : ""}`);
  }
  if (output.truncated) {
    throw new FailedError(`\`${command()}\` wrote more than is kept of it; keep more, or ask for less`);
  }
  return output;
}

/** A working directory on a machine. */
export class Env {
  constructor() {
    made();
  }
  get role() {
    return native.envRole(this);
  }
  get directory() {
    return native.envDirectory(this);
  }
  get kind() {
    return native.envKind(this);
  }
  get branchName() {
    return native.envBranchName(this);
  }
  async exec(argv, options) {
    const left = await abortable(signalOf(options), (stops) => native.envExec(this, argv, options, stops));
    return checked(new Output(left), options, () => argv.join(" "));
  }
  async bash(script, options) {
    const left = await abortable(signalOf(options), (stops) => native.envBash(this, script, options, stops));
    return checked(new Output(left), options, () => script);
  }
  start(argv, options) {
    return native.envStart(this, argv, options);
  }
  async read(path) {
    return await native.envRead(this, path);
  }
  async readText(path) {
    const text = native.decode(await native.envRead(this, path), true);
    if (text === null) throw new FailedError(`${path} is not UTF-8 text`);
    return text;
  }
  async readRange(path, offset, length) {
    return await native.envReadRange(this, path, offset, length);
  }
  async write(path, data) {
    await native.envWrite(this, path, data);
  }
  async append(path, data) {
    await native.envAppend(this, path, data);
  }
  async makeDir(path) {
    await native.envMakeDir(this, path);
  }
  async stat(path) {
    return await native.envStat(this, path);
  }
  async remove(path) {
    await native.envRemove(this, path);
  }
  async find(path, glob) {
    return await native.envFind(this, path, glob);
  }
  async subdir(path) {
    return await native.envSubdir(this, path);
  }
  async worktree(label, options) {
    return await native.envWorktree(this, label, options);
  }
  async copy(label) {
    return await native.envCopy(this, label);
  }
  async scratch(label) {
    return await native.envScratch(this, label);
  }
  async snapshot(name) {
    return await native.envSnapshot(this, name);
  }
  async rewind(snapshot) {
    await native.envRewind(this, snapshot);
  }
  async snapshots() {
    return await native.envSnapshots(this);
  }
  async diff() {
    return await native.envDiff(this);
  }
  async merge(other) {
    return await native.envMerge(this, other);
  }
}

/** A command that was started. */
export class Process {
  constructor() {
    made();
  }
  async wait(options) {
    return new Output(await abortable(signalOf(options), (stops) => native.processWait(this, stops)));
  }
  done() {
    return native.processDone(this);
  }
  cancel() {
    native.processCancel(this);
  }
}
