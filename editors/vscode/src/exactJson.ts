// `Exact` is JSON as it is written. JSON.parse does not keep that: 1.0 becomes 1, 1e400 infinity, a long number another
// one, and of a duplicate name only the last value is left. The user reads, edits and answers for the text of a
// payload. All texts were accepted by JSON.parse before, so their grammar is valid.

export type Exact =
    | { readonly kind: "object"; readonly members: readonly (readonly [name: string, value: Exact])[] }
    | { readonly kind: "array"; readonly items: readonly Exact[] }
    | { readonly kind: "string"; readonly text: string }
    /** A number as written, or true, false or null. */
    | { readonly kind: "word"; readonly text: string };

// A string, a mark, or a word; white space lies between.
const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Throws a SyntaxError where JSON.parse does. */
export function parseExact(text: string): Exact {
    JSON.parse(text);
    const tokens = text.match(token) ?? [];
    let at = 0;
    const listed = <T>(end: string, one: () => T): T[] => {
        const all: T[] = [];
        while (tokens[at] !== end) {
            if (tokens[at] === ",") at++;
            all.push(one());
        }
        at++;
        return all;
    };
    const value = (): Exact => {
        const first = tokens[at++] ?? "";
        if (first === "[") return { kind: "array", items: listed("]", value) };
        if (first === "{") return { kind: "object", members: listed("}", member) };
        return first.startsWith('"') ? { kind: "string", text: JSON.parse(first) as string } : { kind: "word", text: first };
    };
    const member = () => {
        const name = JSON.parse(tokens[at] ?? "") as string;
        at += 2; // the name and its colon
        return [name, value()] as const;
    };
    return value();
}

/** The value at a way of names and indices, if there is one. */
export function valueAt(value: Exact | undefined, way: readonly (string | number)[]): Exact | undefined {
    const [step, ...rest] = way;
    if (step === undefined || !value) return value;
    if (value.kind === "object") return valueAt(value.members.find(([name]) => name === step)?.[1], rest);
    return value.kind === "array" ? valueAt(value.items[Number(step)], rest) : undefined;
}

/** The first name that is given twice in one object. */
export function duplicateName(value: Exact): string | undefined {
    if (value.kind === "array") return value.items.map(duplicateName).find((name) => name !== undefined);
    if (value.kind !== "object") return undefined;
    const names = new Set<string>();
    for (const [name, each] of value.members) {
        const found = names.has(name) ? name : duplicateName(each);
        if (found !== undefined) return found;
        names.add(name);
    }
    return undefined;
}

/** As text for a user: a line for each member, numbers as they were written. */
export function formatExact(value: Exact, indent = ""): string {
    const inner = `${indent}  `;
    const lines = (open: string, parts: string[], close: string) =>
        parts.length === 0 ? open + close : `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${indent}${close}`;
    switch (value.kind) {
        case "object":
            return lines("{", value.members.map(([name, each]) => `${JSON.stringify(name)}: ${formatExact(each, inner)}`), "}");
        case "array":
            return lines("[", value.items.map((each) => formatExact(each, inner)), "]");
        case "string":
            return JSON.stringify(value.text);
        case "word":
            return value.text;
    }
}
