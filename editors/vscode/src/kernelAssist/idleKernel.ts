// `idleSession` is the session of a document or a notebook, or of a document's cells in another language, whose kernel can
// answer requests: one that exists and runs nothing.

import type { TextDocument } from "vscode";
import { languageOfDocument } from "../cells/languages";
import type { Cellgate } from "../cellgate";
import { kindOf } from "../client/errors";
import { notebookOf } from "../notebooks/cellDocuments";

export function idleSession({ documents, sessions }: Cellgate, document: TextDocument, language?: string): string | undefined {
    const notebook = notebookOf(document);
    const isOwn = notebook !== undefined || language === languageOfDocument(document.languageId);
    const session = sessions.get(documents.sessionOf((notebook ?? document).uri.toString(), isOwn ? undefined : language));
    return session?.status === "idle" ? session.sessionId : undefined;
}

/** What a kernel that has begun to run something, or cannot tell, leaves unsaid. */
export async function undefinedIfBusy<T>(answer: Promise<T>): Promise<T | undefined> {
    try {
        return await answer;
    } catch (error) {
        // A fault of cellgate is no reason to have no completion, but one to be seen.
        if (kindOf(error) === "internalError") throw error;
        return undefined;
    }
}
