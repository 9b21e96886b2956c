// AbortController and AbortSignal, and calls that listen to one.

import { cancel, canceller, sleep } from "native";
import { AbortError, TimeoutError } from "./errors.js";

const KEY = {};

/** Says to whoever listens that what was begun is no longer wanted. */
export class AbortSignal {
  #aborted = false;
  #reason = undefined;
  #listeners = new Map();
  onabort = null;

  constructor(key) {
    if (key !== KEY) throw new TypeError("an AbortSignal is made by an AbortController");
  }

  /** One that is aborted already. */
  static abort(reason = new AbortError()) {
    const signal = new AbortSignal(KEY);
    signal.#abort(reason);
    return signal;
  }

  /** One that aborts after so many milliseconds. */
  static timeout(ms) {
    const signal = new AbortSignal(KEY);
    sleep(ms).then(() => signal.#abort(new TimeoutError(`not done within ${ms} ms`)));
    return signal;
  }

  /** One that aborts with the first of these. */
  static any(signals) {
    const any = new AbortSignal(KEY);
    for (const signal of signals) {
      if (signal.aborted) {
        any.#abort(signal.reason);
        break;
      }
      signal.addEventListener("abort", () => any.#abort(signal.reason), { once: true });
    }
    return any;
  }

  /** For AbortController. */
  static make(key) {
    const signal = new AbortSignal(key);
    return [signal, (reason) => signal.#abort(reason)];
  }

  get aborted() {
    return this.#aborted;
  }

  get reason() {
    return this.#reason;
  }

  throwIfAborted() {
    if (this.#aborted) throw this.#reason;
  }

  addEventListener(type, listener, options) {
    if (type !== "abort" || listener == null) return;
    this.#listeners.set(listener, { once: typeof options === "object" && options?.once === true });
  }

  removeEventListener(type, listener) {
    if (type === "abort") this.#listeners.delete(listener);
  }

  #abort(reason) {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    const event = { type: "abort", target: this };
    const listeners = [...this.#listeners];
    if (typeof this.onabort === "function") listeners.unshift([this.onabort, {}]);
    for (const [listener, { once }] of listeners) {
      if (once) this.#listeners.delete(listener);
      try {
        typeof listener === "function" ? listener.call(this, event) : listener.handleEvent(event);
      } catch (error) {
        // The others must hear it too; this one is an unhandled failure.
        Promise.reject(error);
      }
    }
  }
}

/** Has a signal, and aborts it. */
export class AbortController {
  #signal;
  #abort;

  constructor() {
    [this.#signal, this.#abort] = AbortSignal.make(KEY);
  }

  get signal() {
    return this.#signal;
  }

  abort(reason = new AbortError()) {
    this.#abort(reason);
  }
}

/** The signal among options, checked. */
export function signalOf(options) {
  const signal = options?.signal;
  if (signal == null) return undefined;
  if (!(signal instanceof AbortSignal)) throw new TypeError("signal must be an AbortSignal");
  return signal;
}

/** Begins a call; when the signal aborts, the call is cancelled, which stops what it stands for, and fails with the reason. */
export function abortable(signal, begin) {
  if (signal === undefined) return begin(undefined);
  signal.throwIfAborted();
  const stops = canceller();
  return new Promise((resolve, reject) => {
    const stop = () => {
      cancel(stops);
      reject(signal.reason);
    };
    const ended = () => signal.removeEventListener("abort", stop);
    signal.addEventListener("abort", stop);
    begin(stops).then(
      (value) => {
        ended();
        resolve(value);
      },
      (error) => {
        ended();
        reject(error);
      },
    );
  });
}
