// These functions read cellgate's errors: a stable kind (schemas/errors.json), a message and a hint for the user.

import { ConnectionError, ErrorCodes, ResponseError } from "vscode-jsonrpc/node";

interface ErrorData {
    kind: string;
    hint: string;
}

const dataOf = (error: unknown): Partial<ErrorData> =>
    error instanceof ResponseError && typeof error.data === "object" ? ((error.data ?? {}) as Partial<ErrorData>) : {};

/** The kind of an error of cellgate; undefined when it is not one. */
export function kindOf(error: unknown): string | undefined {
    return dataOf(error).kind;
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Message and hint, for a user: "message. Hint", in one line where the message is in one. */
export function textOf(error: unknown): string {
    const message = messageOf(error);
    const hint = withoutHelp(hintOf(error));
    if (hint === "") return message;
    const sentence = `${hint.charAt(0).toUpperCase()}${hint.slice(1)}`;
    if (message.includes("\n")) return `${message.trimEnd()}\n${sentence}`;
    return `${message}${/[.!?:]$/.test(message) ? "" : "."} ${sentence}`;
}

/** The help of a command line is of no use in an editor. */
function withoutHelp(hint: string): string {
    return hint.replace(/[:;,]?\s*\bsee (--\S+ in )?`cellgate [^`]*`\.?$/, "");
}

/** cellgate answered, and said why it cannot serve here: a user has to correct something before it is asked again. */
export class Refused extends Error {
    constructor(
        message: string,
        readonly hint: string,
    ) {
        super(message);
    }
}

/** There is no connection, and none is being made: nothing was sent. */
export class NotConnected extends Error {}

export function hintOf(error: unknown): string {
    return dataOf(error).hint ?? "";
}

const connectionErrorCodes: readonly number[] = [
    ErrorCodes.PendingResponseRejected,
    ErrorCodes.ConnectionInactive,
    ErrorCodes.MessageReadError,
    ErrorCodes.MessageWriteError,
];

/** The peer's own answer, as opposed to one that our end of the connection made. */
export function isPeerError(error: unknown): boolean {
    return error instanceof ResponseError && !connectionErrorCodes.includes(error.code);
}

/** The connection ended before there was an answer: what was asked may have been done, or not. */
export function isConnectionLost(error: unknown): boolean {
    return error instanceof ConnectionError || (error instanceof ResponseError && kindOf(error) === undefined);
}
