// What a flow declares, from how its author wrote it to how the contract has it.

const KEYS = ["name", "description", "hidden", "agents", "envs", "params", "result", "loads", "tools", "skills"];

/** The manifest of a module, as the contract has it. */
export function manifestOf(flow, file) {
  if (typeof flow.default !== "function") {
    throw new TypeError(
      "the file exports no flow: `export default async function (task, cx) { … }` is the function that runs",
    );
  }
  const { manifest = {} } = flow;
  if (!isObject(manifest)) throw new TypeError("the exported manifest must be an object");
  for (const key of Object.keys(manifest)) {
    if (!KEYS.includes(key)) throw new TypeError(`a manifest has no ${JSON.stringify(key)}; it has ${KEYS.join(", ")}`);
  }
  const { name = nameOf(file), agents = {}, envs = {}, ...others } = manifest;
  return { contract: "0.1.0", name, ...others, agents: roles(agents, "agents"), envs: roles(envs, "envs") };
}

/** A file's name, as far as a flow may be called that. */
function nameOf(file) {
  return file
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^[^a-z]+|-+$/g, "");
}

/** Roles by name: each its capabilities, or an object with more; or names alone. */
function roles(declared, what) {
  if (Array.isArray(declared)) return declared.map((name) => ({ name: word(name, what) }));
  if (!isObject(declared)) throw new TypeError(`${what} must be an object, from a role's name to its capabilities`);
  return Object.entries(declared).map(([name, role]) => {
    if (Array.isArray(role)) return { name, capabilities: role };
    if (isObject(role)) return { name, ...role };
    throw new TypeError(`${what}.${name} must be an array of capabilities, or an object that has one`);
  });
}

function word(name, what) {
  if (typeof name !== "string") throw new TypeError(`${what} must be names of roles, or an object`);
  return name;
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
