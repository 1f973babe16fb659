// The size limits for tests/e2e/vscode, which has no packages of its own to be linted with. `npm run lint` runs it.

import { sizeLimits } from "./eslint.config.mjs";

export default [
    { ignores: ["**/node_modules/**"] },
    { files: ["**/*.mjs", "**/*.js"], languageOptions: { ecmaVersion: "latest", sourceType: "module" }, rules: sizeLimits },
];
