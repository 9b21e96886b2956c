import { gatherAll } from "flowhost";

export default () => gatherAll([]);
