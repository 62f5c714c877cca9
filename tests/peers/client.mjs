// Another client of a server over a WebSocket: each line of its input goes out as one message, each message that comes is
// one line of its output. The first line of its output is `open`.
import { createInterface } from "node:readline";

const socket = new WebSocket(process.argv[2]);
socket.onopen = () => {
  console.log("open");
  createInterface({ input: process.stdin }).on("line", (line) => socket.send(line));
};
socket.onmessage = (event) => console.log(event.data);
socket.onclose = () => process.exit(0);
socket.onerror = () => process.exit(1);
