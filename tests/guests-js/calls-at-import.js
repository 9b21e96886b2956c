import { sleep } from "flowhost";

console.log("nobody hears this");
await sleep(10);

export default () => {};
