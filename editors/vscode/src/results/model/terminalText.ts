// `TerminalText` is printed text as the lines of a terminal: a carriage return goes back in its line, and a cursor-up
// sequence to an earlier line, so that progress bars stay in their lines. Of the other escape sequences only colours
// are kept. Of more than 256 KiB the beginning and the end are kept.

// In bytes, but for lines that can still change: their characters, of which each is at most three bytes.
const headLimit = 64 * 1024;
const tailLimit = 96 * 1024;
const lineLimit = 20 * 1024;
// How far up it goes from the last line, and over which lines: bars are short, and few.
const rowsLimit = 30;
const rowLimit = 350;

/* eslint-disable no-control-regex */
const anyControl = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;
// An escape sequence of any kind, another control character, or a run of text without any.
const token =
    /\u001b\[([0-9;:<=>?]*)[ -/]*([@-~])|\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[ -/]*[0-~]?|[\u0000-\u001f\u007f-\u009f]|[^\u0000-\u001f\u007f-\u009f]+/g;
const unfinishedEscape = /\u001b(?:\[[0-9;:<=>?]{0,64}[ -/]{0,8}|[\]PX^_][^\u0007\u001b]{0,2048})?$/;
/* eslint-enable no-control-regex */

export class TerminalText {
    /** What came first, once there is more than can be kept. */
    private head = "";
    /** How many are left out behind the head; undefined when nothing is. */
    omittedBytes: number | undefined;
    /** Whole lines, behind the head. */
    private lines = "";
    private linesBytes = 0;
    private line = new Line();
    /** Those under it, while it is not the last. */
    private below: Line[] = [];
    private unfinished = "";

    /** What is shown: all of it, or what came first, "…" and what came last. */
    get text(): string {
        const tail = this.lines + [this.line, ...this.below].map(({ text }) => text).join("\n");
        if (this.omittedBytes === undefined) return this.head + tail;
        return `${this.head}${this.head === "" || this.head.endsWith("\n") ? "" : "\n"}…\n${tail}`;
    }

    /** About how much is kept. */
    get bytes(): number {
        return this.head.length + this.linesBytes;
    }

    write(text: string): void {
        const whole = this.unfinished + text;
        this.unfinished = unfinishedEscape.exec(whole)?.[0] ?? "";
        const ready = whole.slice(0, whole.length - this.unfinished.length);
        if (this.line.plain && this.below.length === 0 && !anyControl.test(ready)) {
            const end = ready.lastIndexOf("\n") + 1;
            if (end > 0) this.addLines(this.line.end() + ready.slice(0, end));
            this.line.write(ready.slice(end));
        } else {
            for (const [piece, parameters = "", final] of ready.matchAll(token)) {
                if (piece === "\n") this.nextLine();
                else if (piece === "\r") this.line.goTo(0);
                else if (piece === "\b") this.line.goBack();
                else if (final === "m" && /^[0-9;:]*$/.test(parameters)) this.line.colour(piece);
                else if (final === "K") this.line.erase(parameters);
                else if (final === "A") this.goUp(Number(parameters || 1));
                else if (final === "B") this.goDown(Number(parameters || 1));
                else if (piece === "\t" || !anyControl.test(piece)) this.line.write(piece);
            }
        }
        // A line without an end is bounded, too.
        if (this.line.isLongerThan(lineLimit)) this.addLines(this.line.end());
    }

    /** So many bytes are missing here. */
    skip(bytes: number): void {
        this.addLines([this.line, ...this.below].map((line) => line.end()).join("\n"));
        this.below = [];
        this.unfinished = "";
        this.omit("", bytes);
    }

    private nextLine(): void {
        this.addLines(`${this.line.end()}\n`);
        this.line = this.below.shift() ?? this.line;
        this.line.goTo(0);
    }

    private goUp(rows: number): void {
        for (; rows > 0 && this.below.length < rowsLimit; rows--) {
            const start = this.lines.lastIndexOf("\n", this.lines.length - 2) + 1;
            const text = this.lines.slice(start, -1);
            if (!this.lines.endsWith("\n") || text.length > rowLimit || this.line.isLongerThan(rowLimit)) return;
            const { column } = this.line;
            this.below.unshift(this.line);
            this.lines = this.lines.slice(0, start);
            this.linesBytes -= Buffer.byteLength(text) + 1;
            this.line = new Line(text);
            this.line.goTo(column);
        }
    }

    private goDown(rows: number): void {
        for (; rows > 0 && this.below.length > 0; rows--) {
            const { column } = this.line;
            this.nextLine();
            this.line.goTo(column);
        }
    }

    private addLines(text: string): void {
        this.lines += text;
        this.linesBytes += Buffer.byteLength(text);
        if (this.linesBytes <= (this.omittedBytes === undefined ? headLimit + tailLimit : tailLimit)) return;
        // Down to half, so that it does not have to be done for each line.
        this.omit(end(this.lines, tailLimit / 2));
    }

    /** Keeps the head, and of what follows it `kept`, the end. */
    private omit(kept: string, missingBytes = 0): void {
        if (this.omittedBytes === undefined) {
            this.head = start(this.lines, headLimit);
            this.linesBytes -= Buffer.byteLength(this.head);
        }
        const keptBytes = Buffer.byteLength(kept);
        this.omittedBytes = (this.omittedBytes ?? 0) + this.linesBytes - keptBytes + missingBytes;
        this.lines = kept;
        this.linesBytes = keptBytes;
    }
}

/** The line that is being printed. */
class Line {
    /** Each character with the colours before it; only of a line in which something went back. */
    private cells: string[] | undefined;
    private cursor = 0;
    private colours = "";
    /** At least as much as it holds: what was written over counts until it is counted again. */
    private grown = 0;

    constructor(private written = "") {}

    get plain(): boolean {
        return this.cells === undefined;
    }

    isLongerThan(length: number): boolean {
        if (!this.cells) return this.written.length > length;
        if (this.grown > length) this.grown = this.text.length;
        return this.grown > length;
    }

    get text(): string {
        return this.cells ? this.cells.join("") + this.colours : this.written;
    }

    write(text: string): void {
        if (!this.cells) {
            this.written += text;
            return;
        }
        this.grown += this.colours.length + text.length;
        for (const character of text) {
            this.cells[this.cursor++] = this.colours + character;
            this.colours = "";
        }
    }

    colour(sequence: string): void {
        // Those that no character came between are few, or nonsense.
        if (this.cells) this.colours = this.colours.length > 200 ? sequence : this.colours + sequence;
        else this.written += sequence;
    }

    get column(): number {
        this.split();
        return this.cursor;
    }

    goTo(column: number): void {
        const cells = this.split();
        this.cursor = Math.min(column, cells.length);
    }

    goBack(): void {
        this.split();
        this.cursor = Math.max(0, this.cursor - 1);
    }

    erase(which: string): void {
        const cells = this.split();
        if (which === "2") cells.fill(" ");
        else if (which === "1") cells.fill(" ", 0, this.cursor);
        else cells.length = this.cursor;
    }

    /** Its text; the next line begins. */
    end(): string {
        const { text } = this;
        this.cells = undefined;
        this.cursor = this.grown = 0;
        this.written = this.colours = "";
        return text;
    }

    private split(): string[] {
        if (!this.cells) {
            this.cells = [];
            this.grown = this.written.length;
            let colours = "";
            for (const [piece] of this.written.matchAll(token)) {
                if (piece.startsWith("\u001b")) {
                    colours += piece;
                    continue;
                }
                for (const character of piece) {
                    this.cells.push(colours + character);
                    colours = "";
                }
            }
            this.colours = colours;
            this.cursor = this.cells.length;
            this.written = "";
        }
        return this.cells;
    }
}

/** The first `bytes` of a text, up to the end of a line where there is one. */
function start(text: string, bytes: number): string {
    const cut = Buffer.from(text).subarray(0, bytes).toString().replace(/\ufffd+$/, "");
    const line = cut.lastIndexOf("\n") + 1;
    return line > 0 ? cut.slice(0, line) : cut;
}

/** The last `bytes` of a text, from the start of a line where there is one. */
function end(text: string, bytes: number): string {
    const buffer = Buffer.from(text);
    const cut = buffer
        .subarray(Math.max(0, buffer.length - bytes))
        .toString()
        .replace(/^\ufffd+/, "");
    const line = cut.indexOf("\n") + 1;
    return line > 0 && line < cut.length ? cut.slice(line) : cut;
}
