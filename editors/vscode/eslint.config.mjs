import js from "@eslint/js";
import typescript from "typescript-eslint";

export default typescript.config(
    { ignores: ["dist", "out", "src/protocol/messages.ts", "src/protocol/methods.ts"] },
    js.configs.recommended,
    {
        files: ["**/*.ts"],
        extends: [typescript.configs.strictTypeChecked, typescript.configs.stylisticTypeChecked],
        languageOptions: { parserOptions: { projectService: true } },
        rules: {
            "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
            "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
            eqeqeq: "error",
        },
    },
    {
        // node's runner returns promises that it handles itself.
        files: ["test/**"],
        rules: { "@typescript-eslint/no-floating-promises": "off" },
    },
    { files: ["**/*.mjs"], languageOptions: { globals: { console: "readonly", process: "readonly" } } },
);
