import { shout } from "./shout.js";
import words from "./words.json" with { type: "json" };

export default async () => {
  const { shout: again } = await import("./shout.js");
  return { said: shout(words.hello), same: again === shout };
};
