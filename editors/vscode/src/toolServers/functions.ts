// `functionsOf` names the functions that code of Python defines at its top level, in order; those that begin with _ are no
// tools.

export function functionsOf(code: string): string[] {
    return [...code.matchAll(/^(?:async +)?def +([A-Za-z]\w*)/gm)].flatMap((match) => match[1] ?? []);
}
