// What git writes.

const ESCAPES = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 };

/** File names as git lists them, one a line: the names themselves, where git has put them in quotes. */
export function names(listed) {
  return listed
    .split("\n")
    .map((line) => line.replace(/\r$/, ""))
    .filter((line) => line !== "")
    .map(unquoted);
}

/** A name with a quote, a backslash, a control character or a byte beyond ASCII stands in quotes, with escapes as in C. */
function unquoted(line) {
  if (line.length < 2 || !line.startsWith('"') || !line.endsWith('"')) return line;
  const inside = new TextEncoder().encode(line.slice(1, -1));
  const bytes = [];
  for (let at = 0; at < inside.length; at++) {
    if (inside[at] !== 0x5c || at + 1 === inside.length) {
      bytes.push(inside[at]);
      continue;
    }
    const octal = String.fromCharCode(...inside.subarray(at + 1, at + 4));
    if (/^[0-3][0-7]{2}$/.test(octal)) {
      bytes.push(parseInt(octal, 8));
      at += 3;
    } else {
      at += 1;
      bytes.push(ESCAPES[String.fromCharCode(inside[at])] ?? inside[at]);
    }
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}
