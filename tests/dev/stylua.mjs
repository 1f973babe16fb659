// The layout of Lua files, by StyLua: `node stylua.mjs --check FILE…` names those that differ, without `--check` they are
// written. The settings are here, since the npm package is the library without its command.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const stylua = createRequire(new URL("../package.json", import.meta.url))("@johnnymorganz/stylua");

// Formatting takes its settings away.
function settings() {
  const config = stylua.Config.new();
  config.column_width = 120;
  config.indent_type = stylua.IndentType.Spaces;
  config.indent_width = 2;
  config.line_endings = stylua.LineEndings.Unix;
  config.quote_style = stylua.QuoteStyle.AutoPreferDouble;
  return config;
}

const files = process.argv.slice(2);
const check = files[0] === "--check" && files.shift() !== undefined;
let different = 0;
for (const file of files) {
  const before = readFileSync(file, "utf8");
  const after = stylua.formatCode(before, settings(), undefined, stylua.OutputVerification.None);
  if (before !== after) {
    different += 1;
    if (check) console.log(`${file}: its layout differs; ./dev format writes it`);
    else writeFileSync(file, after);
  }
}
process.exit(check && different > 0 ? 1 : 0);
