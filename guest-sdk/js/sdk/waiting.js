// Letting time pass, and waiting for many.

import * as native from "native";
import { GroupError, TimeoutError } from "./errors.js";
import { AbortController, AbortSignal, abortable, signalOf } from "./signals.js";

/** Lets time pass, as the host counts it. */
export async function sleep(ms, options) {
  await abortable(signalOf(options), (stops) => native.sleep(ms, stops));
}

/** Waits until at least one is ready, or for so many milliseconds; gives the places of all that are. */
export async function waitAny(on, timeoutMs, options) {
  return await abortable(signalOf(options), (stops) => native.waitAny(on, timeoutMs, stops));
}

function width(options) {
  const { atOnce } = options ?? {};
  if (atOnce == null) return Infinity;
  if (typeof atOnce !== "number" || Number.isNaN(atOnce)) throw new TypeError("atOnce must be a number");
  return Math.max(1, Math.floor(atOnce));
}

/** Begins each as there is room for it, in order; `ended` hears of each, and says whether to go on. */
function asTheyEnd(tasks, atOnce, begin, ended) {
  const iterator = tasks[Symbol.iterator]();
  return new Promise((resolve, reject) => {
    let going = 0;
    let place = 0;
    let more = true;
    const fill = () => {
      while (more && going < atOnce) {
        let next;
        try {
          next = iterator.next();
        } catch (error) {
          more = false;
          reject(error);
          return;
        }
        if (next.done) {
          more = false;
          break;
        }
        const at = place++;
        going += 1;
        const end = (outcome) => {
          going -= 1;
          if (ended(at, outcome) === false) more = false;
          if (more) fill();
          if (!more && going === 0) resolve(place);
        };
        begin(next.value).then(
          (value) => end({ status: "fulfilled", value }),
          (reason) => end({ status: "rejected", reason }),
        );
      }
      if (!more && going === 0) resolve(place);
    };
    fill();
  });
}

async function begun(task, signal) {
  return await (typeof task === "function" ? task(signal) : task);
}

/** Waits for many at once and keeps every outcome, in the order asked. Functions are called when there is room for them. */
export async function gather(tasks, options) {
  const outcomes = [];
  const keep = (place, outcome) => void (outcomes[place] = outcome);
  await asTheyEnd(tasks, width(options), (task) => begun(task, undefined), keep);
  return outcomes;
}

/** Waits for many at once; at the first error the signal that each was given aborts, and a GroupError says what became of all. */
export async function group(tasks, options) {
  const stop = new AbortController();
  const outer = signalOf(options);
  outer?.throwIfAborted();
  const aborted = () => stop.abort(outer.reason);
  outer?.addEventListener("abort", aborted);
  const values = [];
  const errors = [];
  let answered = 0;
  let cancelled = 0;
  try {
    await asTheyEnd(
      tasks,
      width(options),
      (task) => begun(task, stop.signal),
      (place, { status, value, reason }) => {
        if (status === "fulfilled") {
          values[place] = value;
          answered += 1;
        } else if (stop.signal.aborted && reason === stop.signal.reason) {
          cancelled += 1;
        } else {
          errors.push(reason);
          stop.abort();
        }
        return !stop.signal.aborted;
      },
    );
  } finally {
    outer?.removeEventListener("abort", aborted);
  }
  if (errors.length > 0) throw new GroupError(errors, answered, cancelled);
  outer?.throwIfAborted();
  return values;
}

/** Gives up on something that takes longer than this: the signal that it was given aborts, and the promise fails with a TimeoutError. */
export async function timeout(ms, task, options) {
  const stop = new AbortController();
  const outer = signalOf(options);
  const signal = outer === undefined ? stop.signal : AbortSignal.any([outer, stop.signal]);
  const stops = native.canceller();
  const limit = native.sleep(ms, stops).then(() => {
    const late = new TimeoutError(`not done within ${ms} ms`);
    stop.abort(late);
    throw late;
  });
  try {
    return await Promise.race([begun(task, signal), limit]);
  } finally {
    native.cancel(stops);
  }
}
