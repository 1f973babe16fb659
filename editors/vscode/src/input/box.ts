// A question of code as an input box. The editor does not tell why a box went away, and it takes one away for any other
// input, such as its palette. So Escape is a key of ours while a box is shown (`cellgate.reads`). Version 1.100 keeps
// that key to itself: there, what Escape took away waits, too.

import * as vscode from "vscode";
import { label } from "../text";
import type { Box, Outcome, Question } from "./questions";

export interface InputBox extends Box {
    endInput(): void;
}

export function showBox({ where, prompt, password }: Question, typed: string): InputBox {
    const input = vscode.window.createInputBox();
    input.title = label(`The code of ${where} asks`);
    input.prompt = prompt.trim() ? label(prompt.trim(), 1000) : undefined;
    input.password = password;
    input.value = typed;
    input.ignoreFocusOut = true;
    input.buttons = [{ iconPath: new vscode.ThemeIcon("circle-slash"), tooltip: "End of input: the code gets EOFError" }];
    let endInput: () => void = () => undefined;
    const outcome = new Promise<Outcome>((resolve) => {
        endInput = () => resolve("endOfInput");
        input.onDidAccept(() => resolve({ value: input.value }));
        input.onDidTriggerButton(endInput);
        input.onDidHide(() => resolve({ displaced: input.value }));
    });
    void outcome.then(() => input.dispose());
    input.show();
    return { outcome, endInput, close: () => input.dispose() };
}
