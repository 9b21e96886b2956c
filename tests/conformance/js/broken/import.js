// An import that is not there, in the second line.
import { help } from "./nowhere.js";
export default async function missing() { return help(); }
