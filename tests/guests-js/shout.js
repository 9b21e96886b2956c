import "./words.json";

export const shout = (text) => `${text.toUpperCase()}!`;

export function fails() {
  return undefined.length;
}
