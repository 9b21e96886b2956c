// Fails on its last line but two, behind types that are gone by then.
import { port, type Settings } from "./settings.ts";

interface Options<T = Record<string, unknown>> { settings?: T; }

export default async function fails(task: string): Promise<number> {
  const settings: Settings | undefined = undefined as unknown as Settings; if (task === "here") return (settings as Settings).port;
  return port(settings!);
}
