// Sends three events with Node's fetch, and prints what each came to: node send.mjs URL ID
import { send } from "./events.mjs";

const [url, id] = process.argv.slice(2);
console.log(JSON.stringify(await send(url, id)));
