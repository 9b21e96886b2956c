// Commands and files of an environment.
import { sleep } from "flowhost";
import { ok, words } from "./words.js";

const workspace = (cx) => cx.env("workspace");

export default {
  facts(cx) {
    const { role, directory, kind, branchName } = workspace(cx);
    return { role, directory, kind, branch: branchName ?? "none" };
  },

  roles(cx) {
    const given = cx.envOpt("workspace").role;
    try {
      return { given, unknown: cx.env("stranger").role };
    } catch (error) {
      return { given, unknown: words(error) };
    }
  },

  async exec(cx) {
    const { status, stdout, stderr, truncated } = await workspace(cx).exec(["printf", "hi"], { vars: { A: "b" }, stdin: "in", keep: 100 });
    return { status, stdout, stderr, truncated };
  },

  unknown: async (cx) => (await workspace(cx).exec(["nonsense"])).status,

  timeout: (cx) => ok(workspace(cx).exec(["sleep", "60"], { timeoutMs: 20 })),

  bash: async (cx) => (await workspace(cx).bash("echo hi")).stdout,

  async process(cx) {
    const process = workspace(cx).start(["sleep", "60"]);
    const before = process.done();
    await sleep(5);
    process.cancel();
    const wait = await ok(process.wait());
    const short = await workspace(cx).start(["printf", "hi"]).wait();
    return { before, wait, after: process.done(), short: short.status };
  },

  async read(cx) {
    const range = await workspace(cx).readRange("a.txt", 2, 4);
    return { text: await workspace(cx).readText("a.txt"), range: new TextDecoder().decode(range) };
  },

  async write(cx) {
    const env = workspace(cx);
    await env.write("new/c.txt", "one");
    await env.append("new/c.txt", " two");
    await env.write("raw", new Uint8Array([99, 233, 0]));
    return [...(await env.read("raw"))];
  },

  async find(cx) {
    const { kind, size } = await workspace(cx).stat("a.txt");
    const found = await workspace(cx).find(".", "**/*.txt");
    return { stat: `${kind} ${size}`, found: found.map(({ path }) => path).sort() };
  },

  async remove(cx) {
    const env = workspace(cx);
    await env.makeDir("made");
    const made = (await env.stat("made")).kind;
    await env.remove("a.txt");
    return { made, gone: await ok(env.stat("a.txt")) };
  },

  async subdir(cx) {
    const below = await workspace(cx).subdir("src");
    return { kind: below.kind, directory: below.directory, read: await below.readText("b.txt") };
  },

  async faults(cx) {
    const env = workspace(cx);
    return { missing: await ok(env.read("nowhere.txt")), above: await ok(env.read("../a.txt")) };
  },

  async derived(cx) {
    const env = workspace(cx);
    return {
      worktree: await ok(env.worktree("w")),
      copy: await ok(env.copy("c")),
      scratch: await ok(env.scratch("s")),
      snapshot: await ok(env.snapshot()),
      rewind: await ok(env.rewind("nothing")),
      snapshots: await ok(env.snapshots()),
      diff: await ok(env.diff()),
      merge: await ok(env.merge(env)),
    };
  },
};
