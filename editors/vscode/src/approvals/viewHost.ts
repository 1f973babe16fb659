// `ViewHost` is what the rest of the extension does for an approvals page, the same for the page in the side bar and for
// the one in an editor tab.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { openInBrowser } from "../browser";
import { showCancellableProgress } from "../notices";
import type { Approval } from "../protocol/messages";
import { documentName, documentUri } from "../uris";
import type { CodeDocuments } from "./code";
import { isElicitation } from "./elicitations";
import { elicitationItemOf, itemOf } from "./items";
import type { Item } from "./messages";
import type { Caller } from "./sources";
import type { SourceTracker } from "./sourceTracker";
import type { Waiting, Waits } from "./waiting";

export interface ViewHost {
    readonly waiting: Waiting;
    item(waits: Waits): Item;
    schemaOf(approval: Approval): Promise<Record<string, unknown> | undefined>;
    /** Shows the line that makes the call. */
    reveal(caller: Caller): Promise<void>;
    /** Shows the code of the execution that makes the call. */
    openCode(caller: Caller): Promise<void>;
    /** Opens a page in the browser; whether the user let it be opened. */
    openPage(url: string): Promise<boolean>;
    copy(text: string): Promise<void>;
    /** Says that the user's security key waits for a touch, until `work` is done or the user gives up. */
    touch(work: (token: vscode.CancellationToken) => Promise<void>): Promise<void>;
    /** Shows the page as an editor tab. */
    openEditor(): Promise<void>;
    connected(): boolean;
}

const positionText = (uri: string, line: number) => `${documentName(uri)}:${line + 1}`;

export function viewHost({ waiting, sidecar, executions }: Cellgate, sources: SourceTracker, codeDocuments: CodeDocuments): ViewHost {
    return {
        waiting,
        connected: () => sidecar.state.kind === "connected",
        item(waits) {
            const execution = waits.executionId === undefined ? undefined : executions.get(waits.executionId);
            const cell = execution?.cell && `the cell at ${positionText(execution.cell.uri, execution.cell.line)}`;
            const line = sources.sourceOf(waits);
            const source = line && { place: positionText(line.uri, line.line), changed: line.changed };
            return isElicitation(waits) ? elicitationItemOf(waits, execution, cell, source) : itemOf(waits, execution, cell, source);
        },
        async schemaOf({ action }) {
            const { servers } = await sidecar.request("toolServers/list", {});
            const server = servers.find(({ name }) => name === action.server);
            return server?.tools?.find(({ name }) => name === action.tool)?.inputSchema;
        },
        async reveal(caller) {
            const line = sources.sourceOf(caller);
            if (!line) return;
            const document = await vscode.workspace.openTextDocument(documentUri(line.uri));
            const position = new vscode.Position(Math.min(line.line, document.lineCount - 1), 0);
            await vscode.window.showTextDocument(document, { selection: new vscode.Range(position, position) });
        },
        async openCode({ executionId, origin }) {
            if (executionId !== undefined) await codeDocuments.show(executionId, origin?.line ?? 0);
        },
        openPage: openInBrowser,
        async copy(text) {
            await vscode.env.clipboard.writeText(text);
        },
        async touch(work) {
            await showCancellableProgress("cellgate: touch your security key…", (_, token) => work(token));
        },
        async openEditor() {
            await vscode.commands.executeCommand("cellgate.openApprovals");
        },
    };
}
