export const manifest = { name: "no-flow" };
