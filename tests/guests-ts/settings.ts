export type Settings = { port: number };

export function port(settings: Settings): number {
  const wanted = (settings satisfies Settings)   .port;
  return wanted;
}
