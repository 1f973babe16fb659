// These functions find the tool server whose wrappers an import misses, and their language.

import type { Diagnostic, WrapperLanguage } from "../protocol/messages";

export function isOfWrappers({ rule, message }: Pick<Diagnostic, "rule" | "message">): boolean {
    return rule === "import.not_found" && message.endsWith("generate the wrappers of that server");
}

/** Python's import names a package, and TypeScript's a file. */
export const languageImporting = (code: string): WrapperLanguage => (/\bmcptools\//.test(code) ? "typescript" : "python");

/** `code`: with the import. Of several servers whose modules would have its name, none is taken. */
export function serverImported(code: string, servers: readonly string[]): string | undefined {
    const module = /\bmcptools[./]([\w-]+)/.exec(code)?.[1];
    if (module === undefined) return undefined;
    const moduleOf = (server: string) => server.replace(/\W/g, "_").toLowerCase();
    const [first, ...others] = servers.filter((server) => moduleOf(server) === moduleOf(module));
    return others.length === 0 ? first : undefined;
}
