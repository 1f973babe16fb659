// Prints the JSON schemas of MCP's wire format, by version, as the official conformance suite carries them: in its one
// bundled file, as literals.

import { readFileSync } from "node:fs";
import vm from "node:vm";

const [bundle] = process.argv.slice(2);
const text = readFileSync(bundle, "utf8");

// From its opening brace to the closing one; braces in strings do not count.
function literalAt(start) {
  let depth = 0;
  let quote = "";
  for (let at = start; at < text.length; at++) {
    const c = text[at];
    if (quote) {
      if (c === "\\") at++;
      else if (c === quote) quote = "";
    } else if ("`'\"".includes(c)) quote = c;
    else if (c === "{") depth++;
    else if (c === "}" && --depth === 0) return text.slice(start, at + 1);
  }
  throw new Error("expected a whole literal");
}

const schemas = {};
for (const { index } of text.matchAll(/\{\$schema:`https:\/\/json-schema\.org\/draft\/2020-12\/schema`,\$defs:\{Annotations:/g)) {
  const schema = vm.runInNewContext(`(${literalAt(index)})`);
  schemas["DiscoverResult" in schema.$defs ? "2026-07-28" : "2025-11-25"] = schema;
}
process.stdout.write(JSON.stringify(schemas));
