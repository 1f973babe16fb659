// `Coverage` records how much of an element's height was in view, for elements that need not fit into their box at
// once. Two parts are joined only if they share a row of text, so that a row that was seen in halves does not count.

/** What is in view now of something that is `width` by `height`. */
export interface Part {
    readonly width: number;
    readonly height: number;
    readonly from: number;
    readonly to: number;
}

/** A fraction of a pixel is cut off here and there. */
const tolerance = 1;

export class Coverage {
    private width = 0;
    private height = 0;
    private spans: { from: number; to: number }[] = [];

    /** A new layout moves the lines, so the record begins again. `row` is the height of one line. */
    add({ width, height, from, to }: Part, row: number): void {
        if (width !== this.width || height !== this.height) this.spans = [];
        this.width = width;
        this.height = height;
        let span = { from, to };
        for (const other of [...this.spans].sort((a, b) => a.from - b.from)) {
            if (!areJoined(span, other, row)) continue;
            span = { from: Math.min(span.from, other.from), to: Math.max(span.to, other.to) };
            this.spans.splice(this.spans.indexOf(other), 1);
        }
        this.spans.push(span);
    }

    get isWhole(): boolean {
        return this.spans.some(({ from, to }) => from <= tolerance && to >= this.height - tolerance);
    }

    /** Where what was not yet in view begins. */
    get gap(): number {
        return this.spans.find(({ from }) => from <= tolerance)?.to ?? 0;
    }
}

const length = ({ from, to }: { from: number; to: number }) => to - from;

/** Of a box that shows less than two rows, half of it has to be in common. */
function areJoined(a: { from: number; to: number }, b: { from: number; to: number }, row: number): boolean {
    const common = Math.min(a.to, b.to) - Math.max(a.from, b.from);
    return common >= Math.min(row, length(a) / 2, length(b) / 2) - tolerance / 2;
}
