import js from "@eslint/js";
import typescript from "typescript-eslint";

/** Of every file and function, tests too. */
export const sizeLimits = {
    "max-lines": ["error", 500],
    "max-lines-per-function": ["error", { max: 60, skipBlankLines: false, skipComments: false }],
};

export default typescript.config(
    { ignores: ["dist", "out", "src/protocol/messages.ts", "src/protocol/methods.ts"] },
    js.configs.recommended,
    { rules: sizeLimits },
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
        files: ["src/**"],
        ignores: ["src/notices.ts"],
        rules: {
            "no-restricted-syntax": [
                "error",
                {
                    selector: "MemberExpression[property.name=/^(show(Information|Warning|Error)Message|withProgress|setStatusBarMessage)$/], Property[key.name=/^(show(Information|Warning|Error)Message|withProgress|setStatusBarMessage)$/]",
                    message: "Tell users by src/notices.ts: the editor makes links and icons of what is in a message.",
                },
                {
                    selector: "AssignmentExpression > MemberExpression[property.name=/^(isTrusted|supportHtml|supportThemeIcons)$/], Property[key.name=/^(isTrusted|supportHtml|supportThemeIcons|enableCommandUris)$/][value.value!=false]",
                    message: "Text from outside would become commands, markup or icons.",
                },
            ],
        },
    },
    {
        // node's runner returns promises that it handles itself.
        files: ["test/**"],
        rules: { "@typescript-eslint/no-floating-promises": "off" },
    },
    { files: ["**/*.mjs"], languageOptions: { globals: { console: "readonly", process: "readonly" } } },
);
