// `showBox` shows an input request of code as an input box. The editor closes the box for any other input, such as its
// palette, and does not say why. So Escape is a key binding of this extension while a box is shown
// (`cellgate.inputShown`). Version 1.100 does not pass that key on: there, a request that Escape closed waits too.

import * as vscode from "vscode";
import { label } from "../text";
import type { Box, Outcome, InputRequest } from "./requests";

export interface InputBox extends Box {
    endInput(): void;
}

export function showBox({ where, prompt, password }: InputRequest, typed: string): InputBox {
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
