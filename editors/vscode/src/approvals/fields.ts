// These functions are the rules of a form's fields: what a field holds beforehand, what is expected of it, and the value
// of what the user entered. cellgate checks the values again; here a user reads at once what is wrong.

import type { ElicitationField } from "../protocol/messages";

/** What a control holds: a text, or which options are chosen, by number. A choice of one, and a yes or no, is a text too. */
export type Entry = string | readonly string[];

export const yes = "true";
export const no = "false";

/** What it holds beforehand. */
export function initialEntry({ type, initial, options = [] }: ElicitationField): Entry {
    const numberOf = (value: unknown) => options.findIndex((option) => option.value === value);
    switch (type) {
        case "text":
            return typeof initial === "string" ? initial : "";
        case "number":
        case "integer":
            return typeof initial === "number" ? String(initial) : "";
        case "boolean":
            return typeof initial === "boolean" ? String(initial) : "";
        case "choice":
            return numberOf(initial) < 0 ? "" : String(numberOf(initial));
        case "choices": {
            const chosen: unknown[] = Array.isArray(initial) ? initial : [];
            return chosen.map(numberOf).filter((number) => number >= 0).map(String);
        }
    }
}

/** The value of an entry; undefined of a field that is left out. Throws an Error that says what is wrong. */
export function valueOf(field: ElicitationField, entry: Entry): unknown {
    if (typeof entry !== "string") return chosenOf(field, entry);
    if (entry === "") {
        if (field.required) throw new Error(field.type === "choice" || field.type === "boolean" ? "choose one" : "fill this in");
        return undefined;
    }
    switch (field.type) {
        case "number":
        case "integer":
            return numberOf(field, entry.trim());
        case "boolean":
            return entry === yes;
        case "choice":
            return optionOf(field, entry);
        default:
            return textOf(field, entry);
    }
}

function optionOf({ options = [] }: ElicitationField, entry: string): string {
    const option = options[Number(entry)];
    if (!option) throw new Error("choose one");
    return option.value;
}

function chosenOf(field: ElicitationField, entry: readonly string[]): string[] | undefined {
    const { minimum = 0, maximum = Infinity, required, initial } = field;
    // To choose none of what was proposed is an answer.
    if (entry.length === 0 && !required && initial === undefined) return undefined;
    if (entry.length < minimum) throw new Error(`choose at least ${minimum}`);
    if (entry.length > maximum) throw new Error(`choose at most ${maximum}`);
    return entry.map((each) => optionOf(field, each));
}

const number = /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/;

function numberOf({ type, minimum = -Infinity, maximum = Infinity }: ElicitationField, text: string): number {
    const value = number.test(text) ? Number(text) : NaN;
    if (!Number.isFinite(value)) throw new Error("not a number: write it like 3 or 2.5");
    if (type === "integer" && !Number.isSafeInteger(value)) throw new Error("not a whole number");
    if (value < minimum) throw new Error(`at least ${minimum}`);
    if (value > maximum) throw new Error(`at most ${maximum}`);
    return value;
}

function textOf({ minimum = 0, maximum = Infinity, format }: ElicitationField, text: string): string {
    // As JSON Schema counts them.
    const length = Array.from(text).length;
    if (length < minimum) throw new Error(`at least ${minimum} characters: there are ${length}`);
    if (length > maximum) throw new Error(`at most ${maximum} characters: there are ${length}`);
    // Half of a surrogate pair cannot be sent.
    if (/\p{Surrogate}/u.test(text)) throw new Error("not Unicode: it has half of a character");
    if (format && !formats[format].fits(text)) throw new Error(`not ${formats[format].what}`);
    return text;
}

const isDay = (text: string) => {
    const time = Date.parse(`${text}T00:00:00Z`);
    // The 30th of February would be one in March.
    return /^\d{4}-\d{2}-\d{2}$/.test(text) && Number.isFinite(time) && new Date(time).toISOString().startsWith(text);
};

const time = /^[Tt ]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

const formats = {
    email: { what: "an e-mail address", fits: (text: string) => /^\S+@[^\s@]+$/.test(text) },
    uri: { what: "a URL, such as https://example.org/", fits: (text: string) => /^[A-Za-z][A-Za-z0-9+.-]*:\S+$/.test(text) },
    date: { what: "a date", fits: isDay },
    "date-time": { what: "a time, such as 2026-02-01T18:30:00Z", fits: (text: string) => isDay(text.slice(0, 10)) && time.test(text.slice(10)) },
};

/** What is expected, in a few words; empty where anything goes. */
export function expected(field: ElicitationField): string {
    const { type, format, required, secret } = field;
    const words = [
        type === "number" && "a number",
        type === "integer" && "a whole number",
        type === "text" && format && formats[format].what,
        secret && "typed unseen",
        bounds(field),
        !required && "optional",
    ];
    return words.filter((each) => typeof each === "string" && each !== "").join(", ");
}

function bounds({ type, minimum, maximum }: ElicitationField): string {
    const unit = type === "text" ? " characters" : type === "choices" ? " of them" : "";
    if (minimum !== undefined && minimum > 0 && minimum === maximum) return `${minimum}${unit}`;
    const low = minimum === undefined || (unit !== "" && minimum <= 0) ? "" : `at least ${minimum}`;
    const high = maximum === undefined ? "" : `at most ${maximum}`;
    const both = [low, high].filter((each) => each !== "").join(" and ");
    return both === "" ? "" : `${both}${unit}`;
}

/** Which of the fields cellgate's refusal of an answer is about, by name, and what is wrong. */
export function refusalOf(names: readonly string[], text: string): { readonly name: string; readonly why: string } | undefined {
    const [line = ""] = text.split("\n");
    const named = names.filter((name) => line.startsWith(`${name}: `));
    // One name may begin as another does.
    const name = named.sort((a, b) => b.length - a.length)[0];
    return name === undefined ? undefined : { name, why: line.slice(name.length + 2) };
}
