// `listener` starts a server that detects traffic out of a frame: it has an address of its own, and counts connections, not only
// requests.
import { createServer } from "node:http";
import { atEnd } from "./end.mjs";

/** @returns {Promise<{address: string, connections: number, paths: string[]}>} */
export async function listener() {
    const heard = { address: "", connections: 0, paths: [] };
    const server = createServer((request, response) => {
        heard.paths.push(request.url);
        response.setHeader("Access-Control-Allow-Origin", "*").end();
    });
    server.on("connection", () => heard.connections++);
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    heard.address = `http://127.0.0.1:${server.address().port}`;
    atEnd(async () => (server.closeAllConnections(), server.close()));
    return heard;
}
