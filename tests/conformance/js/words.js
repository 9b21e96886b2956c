/** An error in the contract's words: its kind, its fault where it has one, and when to try again where it is known. */
export function words(error) {
  if (error.kind === undefined) throw error;
  return [error.kind, error.fault ?? error.limit, error.retryAfterMs].filter((word) => word != null).join(" ");
}

/** What a turn comes to: what was said, or the words of its error. */
export const said = (turn) => turn.then(({ text }) => text, words);

/** `ok`, or the words of the error that a promise fails with, or a call. */
export async function ok(call) {
  try {
    await (typeof call === "function" ? call() : call);
    return "ok";
  } catch (error) {
    return words(error);
  }
}
