// These functions read the journal of an execution: all records, and data that is in files. Only the sidecar's own
// record names such a file.

import { readFile } from "node:fs/promises";
import type { Executions } from "../executions";
import type { OutputRecord } from "../protocol/messages";
import { textOf } from "./model/shown";

export async function* recordsOf(executions: Executions, executionId: string): AsyncGenerator<OutputRecord> {
    for (let next = 0; ; ) {
        const { records, nextSeq, complete } = await executions.read(executionId, next);
        yield* records;
        if (complete || records.length === 0) return;
        next = nextSeq;
    }
}

export async function recordOf(executions: Executions, executionId: string, seq: number): Promise<OutputRecord> {
    const { records } = await executions.read(executionId, seq, 1);
    const record = records[0];
    if (record?.seq !== seq) throw new Error("the journal does not have this output any more");
    return record;
}

/** The data of one type of a record: bytes of a binary type, else text. Files hold it as it is. */
export async function dataOf({ files, output }: OutputRecord, mime: string): Promise<Buffer> {
    const path = files?.find((each) => each.mime === mime)?.path;
    if (path !== undefined) return readFile(path);
    const text = output && "data" in output ? textOf(output.data[mime]) : undefined;
    if (text === undefined) throw new Error(`this output has no ${mime}`);
    return Buffer.from(text, isBinary(mime) ? "base64" : "utf8");
}

/** Types that Jupyter writes as base64. */
export function isBinary(mime: string): boolean {
    return (/^(image|audio|video)\//.test(mime) && !mime.endsWith("+xml")) || mime === "application/pdf";
}
