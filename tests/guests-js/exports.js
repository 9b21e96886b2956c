// What the module has, for the test that holds its types to it.
import * as flowhost from "flowhost";

export default function () {
  const described = {};
  for (const [name, value] of Object.entries(flowhost)) {
    const members = typeof value === "function" ? Reflect.ownKeys(value.prototype ?? {}) : Object.keys(value);
    described[name] = members.map((member) => (typeof member === "symbol" ? `[${member.description}]` : member));
  }
  return described;
}
