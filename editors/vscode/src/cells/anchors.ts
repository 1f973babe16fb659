// `Anchors` is where the lines of executed code are now. An execution knows its lines as they were when it began; each
// edit of the document moves them, and a line that is replaced is lost.

export interface Edit {
    /** The lines that were replaced, both ends included. */
    readonly firstLine: number;
    readonly lastLine: number;
    /** How many line breaks the new text has. */
    readonly newBreaks: number;
}

const maxRuns = 500;
const lost = -1;

export class Anchors {
    /** Document → execution → for each of its code's lines, where that is now. */
    private readonly documents = new Map<string, Map<string, Int32Array>>();

    /** A run begins: its code are `count` lines from `line` on. */
    add(uri: string, executionId: string, line: number, count: number): void {
        const runs = this.documents.get(uri) ?? new Map<string, Int32Array>();
        this.documents.set(uri, runs);
        runs.set(executionId, Int32Array.from({ length: count }, (_, index) => line + index));
        const oldest = runs.keys().next();
        if (runs.size > maxRuns && !oldest.done) runs.delete(oldest.value);
    }

    knows(uri: string, executionId: string): boolean {
        return this.documents.get(uri)?.has(executionId) ?? false;
    }

    /** Where line `index` of the run's code is now; undefined when it is gone, or the run is not known. */
    lineNow(uri: string, executionId: string, index = 0): number | undefined {
        const line = this.documents.get(uri)?.get(executionId)?.[index];
        return line === undefined || line === lost ? undefined : line;
    }

    edit(uri: string, { firstLine, lastLine, newBreaks }: Edit): void {
        const shift = newBreaks - (lastLine - firstLine);
        if (shift === 0 && firstLine === lastLine) return;
        for (const lines of this.documents.get(uri)?.values() ?? []) {
            lines.forEach((line, index) => {
                if (line > lastLine) lines[index] = line + shift;
                // The first line keeps its place; those behind it in the replaced text are others now.
                else if (line > firstLine) lines[index] = shift === 0 ? line : lost;
            });
        }
    }
}
