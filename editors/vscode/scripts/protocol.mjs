// Writes src/protocol/ from schemas/: the types of all messages, and of all methods. --check writes nothing and fails
// when a file is not what it would write.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compile } from "json-schema-to-typescript";

const here = dirname(fileURLToPath(import.meta.url));
const schemas = join(here, "../../../schemas");
const target = join(here, "../src/protocol");
const read = (name) => JSON.parse(readFileSync(join(schemas, name), "utf8"));

const name = (reference) => reference.slice("#/$defs/".length);
const notice = (what) => `// ${what} Made from schemas/ by \`npm run protocol\`; a change belongs there.\n\n`;

const unsaid = new Set(["if", "then", "else", "not", "dependentSchemas", "minItems", "maxItems"]);

// What TypeScript's types cannot say is left out; a bare object is any object, not one without fields.
function simplified(node) {
    if (Array.isArray(node)) return node.map(simplified);
    if (node === null || typeof node !== "object") return node;
    // Beside a description, a reference would be copied under a name of its own.
    if (node.$ref && node.description) return { description: node.description, tsType: name(node.$ref) };
    const { allOf, oneOf, ...rest } = node;
    const kept = {};
    for (const [key, value] of Object.entries(rest)) {
        if (!unsaid.has(key)) kept[key] = simplified(value);
    }
    if (oneOf && !oneOf.every((each) => Object.keys(each).join() === "required")) kept.oneOf = simplified(oneOf);
    const types = allOf?.filter((each) => !each.if);
    if (types?.length) kept.allOf = simplified(types);
    if (node.type === "object" && !node.properties && node.additionalProperties === undefined) {
        kept.additionalProperties = true;
    }
    return kept;
}

async function messages() {
    const { $defs } = simplified(read("protocol.json"));
    const made = await compile({ $defs, type: "object", additionalProperties: false }, "Protocol", {
        additionalProperties: false,
        bannerComment: "",
        unreachableDefinitions: true,
        style: { tabWidth: 4, printWidth: 120 },
    });
    const text = made
        .replace(/\n? \* This interface was referenced by `[^`]*`'s JSON-Schema\n \* via the `definition` "[^"]*"\./g, "")
        .replace(/\n \*\n \*\//g, "\n */")
        .replace(/\/\*\*\n \*\/\n/g, "")
        .replace(/(?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?export interface Protocol \{\}\n/, "");
    return notice("Every message between cellgate and its clients.") + text.trimStart();
}

function methods() {
    const { methods: table } = read("methods.json");
    const used = new Set();
    const part = (title, doc, wanted, line) => {
        const lines = Object.entries(table)
            .filter(([, method]) => wanted(method))
            .map(([method, entry]) => {
                used.add(name(entry.params));
                if (entry.result) used.add(name(entry.result));
                return `    /** ${entry.summary} */\n    ${JSON.stringify(method)}: ${line(entry)};`;
            });
        return `/** ${doc} */\nexport interface ${title} {\n${lines.join("\n")}\n}\n`;
    };
    const call = (entry) => `{ params: ${name(entry.params)}; result: ${name(entry.result)} }`;
    const told = (entry) => name(entry.params);
    const is = (type, ...directions) => (method) => method.type === type && directions.includes(method.direction);
    const parts = [
        part("Requests", "What a client asks cellgate.", is("request", "clientToServer"), call),
        part("Notifications", "What a client tells cellgate.", is("notification", "clientToServer", "both"), told),
        part("ServerRequests", "What cellgate asks a client.", is("request", "serverToClient"), call),
        part("ServerNotifications", "What cellgate tells a client.", is("notification", "serverToClient", "both"), told),
    ];
    const imports = [...used].sort().map((each) => `    ${each},\n`);
    return (
        notice("Every method of the protocol.") +
        `import type {\n${imports.join("")}} from "./messages";\n\n` +
        parts.join("\n")
    );
}

let stale = false;
for (const [name, text] of [
    ["messages.ts", await messages()],
    ["methods.ts", methods()],
]) {
    const path = join(target, name);
    if (!process.argv.includes("--check")) {
        writeFileSync(path, text);
    } else if (readFileSync(path, "utf8") !== text) {
        console.error(`src/protocol/${name} is not what schemas/ say: run \`npm run protocol\` in editors/vscode`);
        stale = true;
    }
}
process.exitCode = stale ? 1 : 0;
