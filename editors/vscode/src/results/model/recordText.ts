// `TextOfRecords` is an execution's records as plain text: printed text, errors, and the text form of displays.

import type { OutputRecord } from "../../protocol/messages";
import { contentOf, textOfError } from "./shown";

// eslint-disable-next-line no-control-regex
const escapes = /\u001b(?:\[[0-9;:<=>?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~]?)/g;

export class TextOfRecords {
    private readonly parts: string[] = [];
    bytes = 0;

    add(record: OutputRecord): void {
        const text = textOf(record).replace(escapes, "");
        this.parts.push(text);
        this.bytes += Buffer.byteLength(text);
    }

    get text(): string {
        return this.parts.join("");
    }
}

function textOf({ output, files, skippedBytes }: OutputRecord): string {
    if (!output) return `\n[${skippedBytes ?? 0} bytes are not in the journal]\n`;
    switch (output.output_type) {
        case "stream":
            return output.text;
        case "error":
            return `${textOfError(output)}\n`;
        case "clear_output":
            return "";
        default: {
            const plain = output.data["text/plain"];
            if (typeof plain === "string") return `${plain}\n`;
            const content = contentOf(output.data, files);
            switch (content.kind) {
                case "markup":
                case "text":
                    return `${content.text}\n`;
                case "json":
                    return `${JSON.stringify(content.value, null, 2)}\n`;
                default:
                    return `[${content.mime}]\n`;
            }
        }
    }
}
