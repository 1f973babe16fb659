// `Outputs` is the outputs of one execution, made from its records: streams are joined, cleared outputs removed,
// displays updated. Each output, their number and their total size are bounded; the journal has everything.

import type { Frame, OutputRecord } from "../../protocol/messages";
import type { ShownNote } from "../messages";
import { bytesOf, contentOf, maxOutputBytes, textOfError, type Content, type Shown } from "./shown";
import { TerminalText } from "./terminalText";

const maxOutputs = 500;
const maxBytes = 16 << 20;

type Kept = { readonly key: number; readonly seq: number } & (
    | { kind: "stream"; name: "stdout" | "stderr"; text: TerminalText }
    | { kind: "data"; displayId?: string; content: Content }
    | { kind: "error"; text: string; omittedBytes: number | undefined; frames: Frame[] }
    | { kind: "omitted"; bytes: number }
);

export class Outputs {
    private kept: Kept[] = [];
    private surplus = 0;
    private notes: ShownNote[] = [];
    private clearNext = false;
    private nextKey = 0;

    /** @param nameDisplay gets each display id; its updates may come from any execution of the session */
    constructor(private readonly nameDisplay: (displayId: string) => void = () => undefined) {}

    /** A display's new content that is meant for others than this execution, too. */
    add(record: OutputRecord): { displayId: string; content: Content } | undefined {
        const { output, files, seq } = record;
        if (!output) {
            this.skip(seq, record.skippedBytes ?? 0);
            return;
        }
        switch (output.output_type) {
            case "stream": {
                const last = this.kept.at(-1);
                if (this.clearNext || last?.kind !== "stream" || last.name !== output.name) {
                    const text = new TerminalText();
                    text.write(output.text);
                    this.put({ key: this.key(), seq, kind: "stream", name: output.name, text });
                } else {
                    last.text.write(output.text);
                }
                return;
            }
            case "display_data":
            case "execute_result": {
                const displayId = output.output_type === "display_data" ? output.transient?.display_id : undefined;
                const content = contentOf(output.data, files);
                if (typeof displayId === "string") {
                    this.nameDisplay(displayId);
                    this.put({ key: this.key(), seq, kind: "data", displayId, content });
                } else {
                    this.put({ key: this.key(), seq, kind: "data", content });
                }
                return;
            }
            case "update_display_data":
                return { displayId: output.transient.display_id, content: contentOf(output.data, files) };
            case "clear_output":
                if (output.wait) this.clearNext = true;
                else this.clear();
                return;
            case "error":
                this.put({ key: this.key(), seq, kind: "error", ...bounded(textOfError(output)), frames: [] });
        }
    }

    /** The displays of this id have new content; false when there are none here. */
    update(displayId: string, content: Content): boolean {
        const displays = this.kept.filter((each) => each.kind === "data" && each.displayId === displayId);
        for (const display of displays) Object.assign(display, { content });
        return displays.length > 0;
    }

    /** The lines that the error went through, which the result tells when it has all been shown. */
    setFrames(frames: Frame[]): void {
        const last = this.kept.findLast((each) => each.kind === "error");
        if (last) last.frames = frames;
    }

    /** What the user should know in addition to the output. */
    setNotes(notes: ShownNote[]): void {
        this.notes = notes;
    }

    get shown(): Shown[] {
        const shown = this.kept.flatMap(showOne);
        if (this.surplus > 0) shown.push({ key: -1, kind: "omitted", bytes: 0, outputs: this.surplus });
        if (this.notes.length > 0) shown.push({ key: -2, kind: "notes", notes: this.notes });
        return shown;
    }

    /** About how much is kept. */
    get bytes(): number {
        return this.kept.reduce((sum, each) => sum + sizeOf(each), 0);
    }

    /** A gap in a text is part of what is left out of that. */
    private skip(seq: number, bytes: number): void {
        const last = this.clearNext ? undefined : this.kept.at(-1);
        if (last?.kind === "stream") last.text.skip(bytes);
        else if (last?.kind === "omitted") last.bytes += bytes;
        else this.put({ key: this.key(), seq, kind: "omitted", bytes });
    }

    private put(output: Kept): void {
        if (this.clearNext) this.clear();
        if (this.kept.length < maxOutputs && this.bytes + sizeOf(output) <= maxBytes) this.kept.push(output);
        else this.surplus++;
    }

    private clear(): void {
        this.kept = [];
        this.surplus = 0;
        this.clearNext = false;
    }

    /** Each output leaves room for what it is shown as: up to two parts. */
    private key(): number {
        return 2 * this.nextKey++;
    }
}

function showOne(output: Kept): Shown[] {
    const { key, seq } = output;
    const withOmitted = (shown: Shown, bytes: number | undefined): Shown[] =>
        bytes === undefined ? [shown] : [shown, { key: key + 1, kind: "omitted", bytes, outputs: 0 }];
    switch (output.kind) {
        case "stream":
            // In one piece, of which the editor shows its own number of lines.
            return withOmitted({ key, kind: "stream", name: output.name, text: output.text.text }, output.text.omittedBytes);
        case "data":
            return [{ key, kind: "data", seq, content: output.content }];
        case "error":
            return withOmitted({ key, kind: "error", text: output.text, frames: output.frames }, output.omittedBytes);
        case "omitted":
            return [{ key, kind: "omitted", bytes: output.bytes, outputs: 0 }];
    }
}

function sizeOf(output: Kept): number {
    switch (output.kind) {
        case "stream":
            return output.text.bytes;
        case "data":
            return bytesOf(output.content);
        case "error":
            return output.text.length;
        case "omitted":
            return 0;
    }
}

/** Its beginning and its end, where there is more than is kept of an output. */
function bounded(text: string): { text: string; omittedBytes: number | undefined } {
    const all = Buffer.from(text);
    if (all.length <= maxOutputBytes) return { text, omittedBytes: undefined };
    const half = maxOutputBytes / 2 - 16;
    const head = all.subarray(0, half).toString().replace(/\ufffd+$/, "");
    const tail = all.subarray(all.length - half).toString().replace(/^\ufffd+/, "");
    return { text: `${head}\n…\n${tail}`, omittedBytes: all.length - Buffer.byteLength(head) - Buffer.byteLength(tail) };
}
