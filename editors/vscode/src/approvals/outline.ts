// `outlineOf` lists what a tool's schema says about its arguments, one line for each name at any depth, for a user who
// edits them. Tool servers write schemas: everything is bounded and escaped, and nothing else relies on it.

import { escapeUnprintable } from "../text";
import type { OutlineLine } from "./messages";

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

const maxLines = 200;
const maxDepth = 5;
/** How many references and alternatives are gone through. */
const maxSteps = 2000;
const maxCharacters = 300;
const maxValues = 40;

export function outlineOf(schema: unknown): OutlineLine[] {
    return new Outliner(schema).lines;
}

class Outliner {
    readonly lines: OutlineLine[] = [];
    private steps = 0;

    constructor(private readonly root: unknown) {
        this.members(root, 0);
        if (this.lines.length === maxLines) this.lines.push({ depth: 0, name: "…", words: "and more", description: "" });
    }

    /** A line for each property of an object, at any depth. */
    private members(schema: unknown, depth: number): void {
        const object = this.resolved(schema);
        if (!object) return;
        const required: unknown[] = Array.isArray(object.required) ? object.required : [];
        if (isObject(object.properties)) {
            for (const [name, property] of Object.entries(object.properties)) this.add(name, property, depth, required.includes(name));
        }
        if (object.additionalProperties === false) this.put({ depth, name: "", words: "no other names", description: "" });
        else if (isObject(object.additionalProperties)) this.add("any other name", object.additionalProperties, depth, false);
        for (const each of list(object.allOf)) this.members(each, depth);
        for (const key of ["anyOf", "oneOf"]) this.alternatives(object[key], depth, (each) => this.members(each, depth + 1));
    }

    private add(name: string, schema: unknown, depth: number, required: boolean): void {
        if (this.lines.length >= maxLines || ++this.steps > maxSteps) return;
        const object = this.resolved(schema);
        const words = [...(object ? wordsOf(object) : [schema === false ? "not allowed" : "any"]), ...(required ? ["required"] : [])];
        this.put({ depth, name: short(name), words: words.join(", "), description: typeof object?.description === "string" ? short(object.description) : "" });
        if (!object) return;
        if (depth >= maxDepth) {
            if (hasMore(object)) this.put({ depth: depth + 1, name: "…", words: "", description: "" });
            return;
        }
        if (isObject(object.properties) || isObject(object.additionalProperties) || object.additionalProperties === false) {
            this.members({ ...object, anyOf: undefined, oneOf: undefined, allOf: undefined }, depth + 1);
        }
        if (isObject(object.items)) this.add("each", object.items, depth + 1, false);
        list(object.prefixItems).forEach((each, index) => this.add(`${index + 1}.`, each, depth + 1, false));
        for (const each of list(object.allOf)) this.add("also", each, depth + 1, false);
        for (const key of ["anyOf", "oneOf"]) this.alternatives(object[key], depth + 1, (each) => this.add("or", each, depth + 1, false));
    }

    private alternatives(value: unknown, depth: number, show: (each: unknown) => void): void {
        const all = list(value);
        if (all.length === 0 || depth > maxDepth) return;
        for (const each of all) {
            if (this.lines.length >= maxLines || ++this.steps > maxSteps) return;
            show(each);
        }
    }

    /** The schema that a reference resolves to, merged with the keywords next to the reference. */
    private resolved(schema: unknown): Json | undefined {
        let found = schema;
        let siblings: Json = {};
        while (isObject(found) && typeof found.$ref === "string") {
            if (++this.steps > maxSteps) return undefined;
            const { $ref, ...others } = found as Json & { $ref: string };
            siblings = { ...others, ...siblings };
            found = this.at($ref);
            if (found === undefined) return { ...siblings, $ref };
        }
        return isObject(found) ? { ...found, ...siblings } : undefined;
    }

    private at(reference: string): unknown {
        if (!reference.startsWith("#")) return undefined;
        let found: unknown = this.root;
        for (const step of reference.slice(1).split("/").slice(1)) {
            const name = step.replace(/~1/g, "/").replace(/~0/g, "~");
            found = (isObject(found) || Array.isArray(found)) && Object.hasOwn(found, name) ? (found as Json)[name] : undefined;
        }
        return found;
    }

    private put(line: OutlineLine): void {
        if (this.lines.length < maxLines) this.lines.push(line);
    }
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const hasMore = (object: Json) => ["properties", "items", "prefixItems", "anyOf", "oneOf", "allOf"].some((key) => object[key] !== undefined);

const short = (text: string) => {
    const shown = escapeUnprintable(text.slice(0, maxCharacters));
    return text.length > maxCharacters ? `${shown}…` : shown;
};
const json = (value: unknown) => short(JSON.stringify(value));

const bounds: readonly (readonly [key: string, words: string])[] = [
    ["minimum", "at least"],
    ["exclusiveMinimum", "more than"],
    ["maximum", "at most"],
    ["exclusiveMaximum", "less than"],
    ["multipleOf", "a multiple of"],
    ["minLength", "characters at least"],
    ["maxLength", "characters at most"],
    ["minItems", "items at least"],
    ["maxItems", "items at most"],
    ["minProperties", "names at least"],
    ["maxProperties", "names at most"],
    ["pattern", "matches"],
    ["format", "format"],
];

function wordsOf(schema: Json): string[] {
    const words: string[] = [];
    const types = (Array.isArray(schema.type) ? schema.type : [schema.type]).filter((type) => typeof type === "string");
    if (types.length > 0) words.push(types.slice(0, maxValues).map(short).join(" or "));
    if (Array.isArray(schema.enum)) {
        const more = schema.enum.length > maxValues ? " …" : "";
        words.push(`one of ${schema.enum.slice(0, maxValues).map(json).join(" ")}${more}`);
    }
    if ("const" in schema) words.push(`always ${json(schema.const)}`);
    for (const [key, name] of bounds) {
        const bound = schema[key];
        if (typeof bound === "number" || typeof bound === "string") words.push(`${name} ${short(String(bound))}`);
    }
    if (schema.uniqueItems === true) words.push("none twice");
    if (typeof schema.$ref === "string") words.push(short(schema.$ref));
    if (words.length === 0) words.push("any");
    if ("default" in schema) words.push(`default ${json(schema.default)}`);
    return words;
}
