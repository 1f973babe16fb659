// A call's arguments as text that a person changes, and what can be said about the text before cellgate judges it.

import type { ToolInfo } from "../protocol/messages";
import { visible } from "../text";
import type { Field, Outline } from "./messages";

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

/** The arguments, with what cannot be seen in their strings written as \u. Undefined: this editor cannot hold them exactly. */
export function editText(args: Json): string | undefined {
    if (hasInexactNumber(args)) return undefined;
    return JSON.stringify(args, null, 2)
        .split("\n")
        .map((line) => Array.from(line, (character) => (visible(character) === character ? character : escaped(character))).join(""))
        .join("\n");
}

const escaped = (character: string) =>
    Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
        .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
        .join("");

// A whole number beyond 2^53 may have been another one before it was read.
function hasInexactNumber(value: unknown): boolean {
    if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value);
    return typeof value === "object" && value !== null && Object.values(value).some(hasInexactNumber);
}

/** The arguments that a text says; an Error says what is wrong with it. */
export function parseEdited(text: string, { fields, closed }: Outline): Json {
    let value: unknown;
    try {
        value = JSON.parse(text);
    } catch (error) {
        throw new Error(`not JSON: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
    if (!isObject(value)) throw new Error("expected an object of arguments: { … }");
    if (hasInexactNumber(value)) throw new Error("a number is too large to be kept exactly; write it as text if the tool takes that");
    for (const { name, required, type } of fields) {
        const found = value[name];
        if (found === undefined && required) throw new Error(`the argument ${visible(name)} is missing`);
        if (found !== undefined && !isOfType(found, type)) throw new Error(`the argument ${visible(name)} is not of type ${type}`);
    }
    const extra = Object.keys(value).find((name) => !fields.some((field) => field.name === name));
    if (closed && extra !== undefined) throw new Error(`the tool has no argument ${visible(extra)}`);
    return value;
}

function isOfType(value: unknown, type: string): boolean {
    switch (type) {
        case "string":
        case "number":
        case "boolean":
            return typeof value === type;
        case "integer":
            return Number.isInteger(value);
        case "array":
            return Array.isArray(value);
        case "object":
            return isObject(value);
        case "null":
            return value === null;
        default:
            return true; // several, or none that is plain: cellgate judges it
    }
}

/** What a person needs to know of a tool's arguments while changing them. */
export function outlineOf(schema: ToolInfo["inputSchema"] | undefined): Outline {
    const properties = isObject(schema?.properties) ? schema.properties : {};
    const required: unknown[] = Array.isArray(schema?.required) ? schema.required : [];
    return {
        fields: Object.entries(properties).map(([name, property]): Field => {
            const { type, description, enum: values } = isObject(property) ? property : ({} as Json);
            return {
                name,
                type: typeof type === "string" ? type : Array.isArray(values) ? `one of ${JSON.stringify(values)}` : "any",
                required: required.includes(name),
                description: typeof description === "string" ? description : "",
            };
        }),
        closed: schema?.additionalProperties === false,
    };
}
