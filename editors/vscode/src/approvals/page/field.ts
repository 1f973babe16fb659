// `FieldView` is one field of a form: its title, its control, what is expected, and what is wrong with what was entered.

import type { ElicitationField } from "../../protocol/messages";
import { expected, initialEntry, no, valueOf, yes, type Entry } from "../fields";
import { element, outside } from "./elements";
import { newId } from "./parts";

interface Control {
    readonly root: HTMLElement;
    /** What has the focus, and what the problem belongs to. */
    readonly focused: HTMLElement;
    readonly entry: () => Entry;
}

export class FieldView {
    readonly root: HTMLElement;
    private readonly control: Control;
    private readonly problem = element("p", "problem");

    constructor(
        private readonly field: ElicitationField,
        changed: () => void,
    ) {
        const title = element("span", "field-title", field.title);
        title.id = newId();
        this.problem.id = newId();
        this.problem.hidden = true;
        this.problem.setAttribute("role", "alert");
        const words = [field.description ?? "", expected(field)].filter((text) => text !== "").map((text) => outside("words", text.split("\n")));
        const help = element("div", "help", ...words);
        help.id = newId();
        this.control = controlOf(field);
        const { focused } = this.control;
        focused.setAttribute("aria-labelledby", title.id);
        focused.setAttribute("aria-describedby", `${help.id} ${this.problem.id}`);
        if (field.required) focused.setAttribute("aria-required", "true");
        this.root = element("div", "field", title, this.control.root, help, this.problem);
        this.root.addEventListener("input", () => {
            this.showProblem(undefined);
            changed();
        });
    }

    get name(): string {
        return this.field.name;
    }

    /** The value; undefined where it is left out, or wrong, which is shown then. */
    read(): { readonly value: unknown } | undefined {
        try {
            const value = valueOf(this.field, this.control.entry());
            this.showProblem(undefined);
            return { value };
        } catch (error) {
            this.showProblem(error instanceof Error ? error.message : String(error));
            return undefined;
        }
    }

    /** What cellgate says against the value. */
    refuse(why: string): void {
        this.showProblem(why);
        this.focus();
    }

    focus(): void {
        this.control.focused.focus();
    }

    /** A secret stays in the page no longer than it waits. */
    forgetSecret(): void {
        const { focused } = this.control;
        if (focused instanceof HTMLInputElement && focused.type === "password") focused.value = "";
    }

    private showProblem(text: string | undefined): void {
        this.problem.hidden = text === undefined;
        this.problem.textContent = text ?? "";
        this.control.focused.setAttribute("aria-invalid", String(text !== undefined));
    }
}

function controlOf(field: ElicitationField): Control {
    const initial = initialEntry(field);
    const { type, options = [] } = field;
    if (type === "choices") return checkboxes(options.map(({ title }) => title), initial);
    if (type === "choice") return select(options.map(({ title }, number) => [String(number), title]), String(initial));
    if (type === "boolean") return select([[yes, "Yes"], [no, "No"]], String(initial));
    return textBox(field, String(initial));
}

function textBox({ type, format, secret }: ElicitationField, initial: string): Control {
    // An input would drop the line breaks of what it holds beforehand.
    const box = element(initial.includes("\n") ? "textarea" : "input", "entry");
    if (box instanceof HTMLInputElement && format === "date") box.type = "date";
    if (box instanceof HTMLInputElement && secret) {
        box.type = "password";
        box.autocomplete = "off";
    }
    box.value = initial;
    box.spellcheck = false;
    if (type === "number" || type === "integer") box.inputMode = "decimal";
    return { root: box, focused: box, entry: () => box.value };
}

function select(options: readonly (readonly [value: string, title: string])[], initial: string): Control {
    const box = element("select", "entry");
    for (const [value, title] of [["", "–"] as const, ...options]) {
        const option = element("option", "", title);
        option.value = value;
        box.append(option);
    }
    box.value = initial;
    return { root: box, focused: box, entry: () => box.value };
}

function checkboxes(titles: readonly string[], initial: Entry): Control {
    const boxes = titles.map((title, number) => {
        const box = element("input", "");
        box.type = "checkbox";
        box.checked = initial.includes(String(number));
        return { box, label: element("label", "", box, title) };
    });
    const group = element("div", "choices", ...boxes.map(({ label }) => label));
    group.setAttribute("role", "group");
    group.tabIndex = -1;
    return { root: group, focused: group, entry: () => boxes.flatMap(({ box }, number) => (box.checked ? [String(number)] : [])) };
}
