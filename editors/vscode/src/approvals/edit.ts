// A call's arguments as text that a person changes, and what can be said about the text before cellgate judges it.

import { exactly, laidOut, twice, type Exact } from "../exactJson";
import type { ToolInfo } from "../protocol/messages";
import { visible } from "../text";
import type { Field, Outline } from "./messages";

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

/** Arguments, as they were written, as text with what cannot be seen in their strings written as \u. */
export function editText(args: Exact): string {
    return laidOut(args)
        .split("\n")
        .map((line) => Array.from(line, (character) => (visible(character) === character ? character : escaped(character))).join(""))
        .join("\n");
}

const escaped = (character: string) =>
    Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
        .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
        .join("");

/** An Error says what is wrong with edited arguments, as far as that is certain. What is sent is their text itself. */
export function checkEdited(text: string, { fields, closed }: Outline): void {
    let value: unknown;
    try {
        value = JSON.parse(text);
    } catch (error) {
        throw new Error(`not JSON: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
    if (!isObject(value)) throw new Error("expected an object of arguments: { … }");
    const name = twice(exactly(text));
    if (name !== undefined) throw new Error(`the name ${visible(name)} is given twice`);
    for (const { name, required, type } of fields) {
        const found = Object.hasOwn(value, name) ? value[name] : undefined;
        if (found === undefined && required) throw new Error(`the argument ${visible(name)} is missing`);
        if (found !== undefined && !isOfType(found, type)) throw new Error(`the argument ${visible(name)} is not of type ${type}`);
    }
    const extra = Object.keys(value).find((name) => !fields.some((field) => field.name === name));
    if (closed && extra !== undefined) throw new Error(`the tool has no argument ${visible(extra)}`);
}

function isOfType(value: unknown, type: string): boolean {
    switch (type) {
        case "string":
        case "number":
        case "boolean":
            return typeof value === type;
        case "integer":
            // 1e400 is one, and infinite here.
            return typeof value === "number" && (Number.isInteger(value) || !Number.isFinite(value));
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
