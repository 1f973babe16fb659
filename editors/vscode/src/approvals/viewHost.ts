// `ViewHost` is what the rest of the extension does for an approvals page, the same for the page in the side bar and for
// the one in an editor tab.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import type { Approval } from "../protocol/messages";
import { documentName, documentUri } from "../uris";
import type { CodeDocuments } from "./code";
import { itemOf } from "./items";
import type { ApprovalItem } from "./messages";
import type { Pending } from "./pending";
import type { SourceTracker } from "./sourceTracker";

export interface ViewHost {
    readonly pending: Pending;
    item(approval: Approval): ApprovalItem;
    schemaOf(approval: Approval): Promise<Record<string, unknown> | undefined>;
    /** Shows the line that makes the call. */
    reveal(approval: Approval): Promise<void>;
    /** Shows the code of the execution that makes the call. */
    openCode(approval: Approval): Promise<void>;
    /** Shows the page as an editor tab. */
    openEditor(): Promise<void>;
    connected(): boolean;
}

const positionText = (uri: string, line: number) => `${documentName(uri)}:${line + 1}`;

export function viewHost({ pending, sidecar, executions }: Cellgate, sources: SourceTracker, codeDocuments: CodeDocuments): ViewHost {
    return {
        pending,
        connected: () => sidecar.state.kind === "connected",
        item(approval) {
            const execution = approval.executionId === undefined ? undefined : executions.get(approval.executionId);
            const cell = execution?.cell && `the cell at ${positionText(execution.cell.uri, execution.cell.line)}`;
            const line = sources.sourceOf(approval);
            return itemOf(approval, execution, cell, line && { place: positionText(line.uri, line.line), changed: line.changed });
        },
        async schemaOf({ action }) {
            const { servers } = await sidecar.request("toolServers/list", {});
            const server = servers.find(({ name }) => name === action.server);
            return server?.tools?.find(({ name }) => name === action.tool)?.inputSchema;
        },
        async reveal(approval) {
            const line = sources.sourceOf(approval);
            if (!line) return;
            const document = await vscode.workspace.openTextDocument(documentUri(line.uri));
            const position = new vscode.Position(Math.min(line.line, document.lineCount - 1), 0);
            await vscode.window.showTextDocument(document, { selection: new vscode.Range(position, position) });
        },
        async openCode({ executionId, origin }) {
            if (executionId !== undefined) await codeDocuments.show(executionId, origin?.line ?? 0);
        },
        async openEditor() {
            await vscode.commands.executeCommand("cellgate.openApprovals");
        },
    };
}
