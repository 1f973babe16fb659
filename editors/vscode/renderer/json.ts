// `jsonTree` shows a JSON value as a tree that can be expanded.

import { element } from "./elements";

const maxEntries = 1000;

export function jsonTree(value: unknown): HTMLElement {
    const box = element("div", "cellgate-json");
    box.append(node("", value, true));
    return box;
}

function node(name: string, value: unknown, open: boolean): HTMLElement {
    const key = name ? [element("span", "cellgate-key", `${name}: `)] : [];
    if (typeof value !== "object" || value === null) {
        const line = element("div", "cellgate-leaf");
        line.append(...key, element("span", `cellgate-${value === null ? "null" : typeof value}`, JSON.stringify(value)));
        return line;
    }
    const entries = Object.entries(value);
    const words = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
    const branch = element("details");
    const summary = element("summary");
    summary.append(...key, element("span", "cellgate-note", words));
    branch.append(summary);
    // Made when it is opened: a value may be as large as it likes.
    const fill = () => {
        if (!branch.open || branch.childElementCount > 1) return;
        branch.append(...entries.slice(0, maxEntries).map(([each, inner]) => node(each, inner, false)));
        if (entries.length > maxEntries) branch.append(element("div", "cellgate-note", `… ${entries.length - maxEntries} more`));
    };
    branch.addEventListener("toggle", fill);
    branch.open = open;
    fill();
    return branch;
}
