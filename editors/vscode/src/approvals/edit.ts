// `checkEdited` reports what is wrong with edited arguments, or with an edited request, while they are typed. An Error says
// why the text is neither. cellgate gets the text itself and judges the rest: whether a name is given twice, and what the tool takes.

export function checkEdited(text: string): void {
    let value: unknown;
    try {
        value = JSON.parse(text);
    } catch (error) {
        throw new Error(`not JSON: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("expected an object: { … }");
    // Half of a surrogate pair cannot be sent.
    if (/\p{Surrogate}/u.test(text)) throw new Error("not Unicode: it has half of a character");
}
