import { help } from "./help.js";

export default () => help();
