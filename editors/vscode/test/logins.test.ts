import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { test } from "node:test";
import { Emitter, ResponseError } from "vscode-jsonrpc/node";
import type { SidecarState } from "../src/client/sidecar";
import type { Execution } from "../src/executions";
import type { LoginStatus, ToolServerInfo } from "../src/protocol/messages";
import { contextOf, iconOf, stateOf } from "../src/toolServers/labels";
import { LoginOffers } from "../src/toolServers/loginOffers";
import { Logins, type LoginDialogs, type PageChoice } from "../src/toolServers/logins";

const url = "https://login.example/authorize?client_id=4711&resource=https%3A%2F%2Fmcp.example%2F%3Fa%26b";

/** A sidecar whose logins end when the test says so, and a user who chooses as the test says. */
function place(choice: PageChoice) {
    const asked: string[] = [];
    const seen: string[] = [];
    const handlers = new Set<(params: never) => void>();
    const states = new Emitter<SidecarState>();
    const user = { choice, letsOpen: true, triesAgain: false, giveUp: (): void => undefined };
    const end = (status: LoginStatus, message?: string, server = "linear") => {
        for (const handler of [...handlers]) handler({ server, status, message } as never);
    };
    let refusal: Error | undefined;
    const sidecar = {
        request: (method: string, { server }: { server: string }) => {
            asked.push(`${method} ${server}`);
            if (refusal) return Promise.reject(refusal);
            if (method === "toolServers/cancelLogin") setImmediate(() => end("cancelled", undefined, server));
            return Promise.resolve({ authorizationUrl: url, host: "login.example" });
        },
        onNotification: (_: string, handler: (params: never) => void) => {
            handlers.add(handler);
            return { dispose: () => handlers.delete(handler) };
        },
        onDidChangeState: states.event,
    };
    const dialogs: LoginDialogs = {
        choose: (server, { host, authorizationUrl }) => {
            seen.push(`choose ${server} ${host} ${authorizationUrl === url}`);
            return Promise.resolve(user.choice);
        },
        open: (page) => Promise.resolve(seen.push(`open ${page === url}`) > 0 && user.letsOpen),
        copy: (text) => Promise.resolve(void seen.push(`copy ${text === url}`)),
        wait: async (host, ended, giveUp) => {
            seen.push(`wait ${host}`);
            user.giveUp = giveUp;
            await ended;
            seen.push("waited");
        },
        granted: (server) => void seen.push(`granted ${server}`),
        failed: (server, reason) => {
            seen.push(`failed ${server} ${reason}`);
            const again = user.triesAgain;
            user.triesAgain = false;
            return Promise.resolve(again);
        },
    };
    const logins = new Logins(sidecar as never, dialogs);
    return { logins, asked, seen, user, end, states, refuse: (error: Error | undefined) => (refusal = error), listening: () => handlers.size };
}

test("a login opens its page, waits, and says that it is granted", async () => {
    const { logins, asked, seen, end, listening } = place("open");
    const done = logins.logIn("linear");
    await turn();
    end("granted", undefined, "another");
    await turn();
    assert.deepEqual(seen, ["choose linear login.example true", "open true", "wait login.example"]);
    end("granted");
    assert.equal(await done, true);
    assert.deepEqual([seen.slice(3), asked, listening()], [["waited", "granted linear"], ["toolServers/login linear"], 0]);
});

test("a page whose URL is copied is waited for, too", async () => {
    const { logins, seen, end } = place("copy");
    const done = logins.logIn("linear");
    await turn();
    end("granted");
    assert.equal(await done, true);
    assert.deepEqual(seen.slice(1, 3), ["copy true", "wait login.example"]);
});

test("without its page a login is given up", async () => {
    for (const [choice, letsOpen] of [[undefined, true], ["open", false]] as const) {
        const { logins, asked, seen, user } = place(choice);
        user.letsOpen = letsOpen;
        assert.equal(await logins.logIn("linear"), false);
        assert.deepEqual(asked, ["toolServers/login linear", "toolServers/cancelLogin linear"]);
        assert.ok(!seen.some((each) => /^(wait|failed)/.test(each)), seen.join());
    }
});

test("who gives it up while it waits is not told that it failed", async () => {
    const { logins, asked, seen, user } = place("open");
    const done = logins.logIn("linear");
    await turn();
    user.giveUp();
    assert.equal(await done, false);
    assert.deepEqual([asked.at(-1), seen.at(-1)], ["toolServers/cancelLogin linear", "waited"]);
});

test("a login that fails says why, and can be tried again", async () => {
    const { logins, asked, seen, user, end } = place("open");
    user.triesAgain = true;
    const done = logins.logIn("linear");
    await turn();
    end("failed", "login.example refused: access_denied");
    await turn();
    await turn();
    assert.deepEqual([seen.includes("failed linear login.example refused: access_denied"), asked.length], [true, 2]);
    end("cancelled");
    assert.equal(await done, false);
    assert.equal(seen.at(-1), "failed linear it was given up, or not finished in time");
});

test("a login that the connection took with it has failed", async () => {
    const { logins, seen, states, listening } = place("open");
    const done = logins.logIn("linear");
    await turn();
    states.fire({ kind: "waiting", seconds: 1, reason: "gone" });
    assert.equal(await done, false);
    assert.deepEqual([seen.at(-1), listening()], ["failed linear the connection to cellgate was lost", 0]);
});

test("a second login gives up the first, whose end is not taken for its own", async () => {
    const { logins, asked, seen, end } = place("open");
    const first = logins.logIn("linear");
    await turn();
    const second = logins.logIn("linear");
    assert.equal(await first, false);
    await turn();
    assert.deepEqual(asked, ["toolServers/login linear", "toolServers/cancelLogin linear", "toolServers/login linear"]);
    end("granted");
    assert.deepEqual([await second, seen.at(-1)], [true, "granted linear"]);
});

test("a login that cannot begin is an error", async () => {
    const { logins, refuse } = place("open");
    refuse(new ResponseError(1013, "no such tool server"));
    await assert.rejects(logins.logIn("linear"), /no such tool server/);
});

test("a server that needs a login is described so, and its row offers one", () => {
    const server = (more: Partial<ToolServerInfo>): ToolServerInfo => ({ name: "linear", state: "failed", source: "user", identity: "", ...more });
    assert.equal(stateOf(server({ authorization: "needed" })), "needs login");
    assert.equal(stateOf(server({ authorization: "needed", state: "pending" })), "waits for your agreement");
    assert.equal(stateOf(server({ authorization: "granted" })), "failed");
    assert.deepEqual([iconOf(server({ authorization: "needed" })), iconOf(server({}))], ["key", "error"]);
    const contexts = [{}, { authorization: "none" }, { authorization: "needed" }, { authorization: "granted", state: "running" }] as const;
    assert.deepEqual(contexts.map((more) => contextOf(server(more))), ["failedServer", "failedServer", "failedServer needsLogin", "runningServer loggedIn"]);
    assert.equal(contextOf(server({ source: "builtIn" })), "builtInServer");
});

test("a cell that failed for want of a login offers it, for servers that need one", async () => {
    const executions = new Emitter<Execution>();
    const offered: string[] = [];
    let close: () => void = () => undefined;
    const servers = ["linear", "linear-test", "granted"].map((name) => ({ name, authorization: name === "granted" ? "granted" : "needed" }));
    new LoginOffers({ onDidChange: executions.event }, () => Promise.resolve(servers as never), (server) => {
        offered.push(server);
        return new Promise<void>((resolve) => (close = resolve));
    });
    const fails = async (id: string, evalue: string) => {
        executions.fire({ id, result: { error: { evalue } } } as never);
        await turn();
        return offered.splice(0);
    };
    assert.deepEqual(await fails("1", "log in first: `cellgate login linear-test`"), ["linear-test"]);
    assert.deepEqual(await fails("1", "log in first: `cellgate login linear`"), [], "the same execution changed");
    assert.deepEqual(await fails("2", "log in first: `cellgate login linear-test`"), [], "it is offered already");
    assert.deepEqual(await fails("3", "log in first: `cellgate login linear`"), ["linear"]);
    assert.deepEqual(await fails("4", "log in first: `cellgate login granted`, `cellgate login unknown`"), []);
    assert.deepEqual(await fails("5", "KeyError: linear"), []);
    close();
    await turn();
    assert.deepEqual(await fails("6", "log in first: cellgate login linear"), ["linear"]);
});
