// `notebookOf` writes results as a Jupyter notebook (nbformat 4.5). It reads the journal, so outputs that are not shown
// are included.

import type { OutputRecord } from "../../protocol/messages";

export interface NotebookCell {
    id: string;
    code: string;
    executionCount: number | null;
    records: AsyncIterable<OutputRecord>;
    /** The content of data that is in files. */
    load: (record: OutputRecord, mime: string) => Promise<unknown>;
}

type JsonObject = Record<string, unknown>;

/** The notebook as text, of cells in their order. */
export async function notebookOf(cells: NotebookCell[], language: { name: string; version?: string }): Promise<string> {
    const displays = new Map<string, JsonObject[]>();
    const made: JsonObject[] = [];
    for (const cell of cells) {
        made.push({
            cell_type: "code",
            id: cell.id.replace(/[^A-Za-z0-9_-]/g, "-").slice(0, 64),
            metadata: {},
            source: cell.code,
            execution_count: cell.executionCount,
            outputs: await outputsOf(cell, displays),
        });
    }
    const metadata = {
        kernelspec: { name: language.name === "python" ? "python3" : language.name, display_name: language.name, language: language.name },
        language_info: language,
    };
    return `${JSON.stringify({ cells: made, metadata, nbformat: 4, nbformat_minor: 5 }, null, 1)}\n`;
}

async function outputsOf({ records, load }: NotebookCell, displays: Map<string, JsonObject[]>): Promise<JsonObject[]> {
    let outputs: JsonObject[] = [];
    let clearNext = false;
    const put = (output: JsonObject) => {
        if (clearNext) outputs = [];
        clearNext = false;
        outputs.push(output);
    };
    for await (const record of records) {
        const { output } = record;
        if (!output) {
            put({ output_type: "stream", name: "stderr", text: `\n[${record.skippedBytes ?? 0} bytes are not in the journal]\n` });
            continue;
        }
        switch (output.output_type) {
            case "stream": {
                const last = outputs.at(-1);
                if (!clearNext && last?.output_type === "stream" && last.name === output.name) last.text = `${String(last.text)}${output.text}`;
                else put({ ...output });
                break;
            }
            case "clear_output":
                if (output.wait) clearNext = true;
                else outputs = [];
                break;
            case "error":
                put({ ...output });
                break;
            case "update_display_data": {
                const data = await wholeData(record, output.data, load);
                for (const display of displays.get(output.transient.display_id) ?? []) {
                    Object.assign(display, { data, metadata: output.metadata });
                }
                break;
            }
            default: {
                // `transient` is for the conversation and not for files.
                const { transient, ...kept }: JsonObject = { ...output, data: await wholeData(record, output.data, load) };
                put(kept);
                const id = (transient as JsonObject | undefined)?.display_id;
                if (typeof id === "string") displays.set(id, [...(displays.get(id) ?? []), kept]);
            }
        }
    }
    return outputs;
}

async function wholeData(record: OutputRecord, data: JsonObject, load: NotebookCell["load"]): Promise<JsonObject> {
    const whole = { ...data };
    for (const { mime } of record.files ?? []) whole[mime] = await load(record, mime);
    return whole;
}
