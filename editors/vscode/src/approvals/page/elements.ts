// These functions make elements of the page. Text is only ever inserted as text.

import { hangOf } from "../hang";

export function element<K extends keyof HTMLElementTagNameMap>(
    tag: K,
    className: string,
    ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
    const made = document.createElement(tag);
    made.className = className;
    made.append(...children);
    return made;
}

export function button(className: string, label: string, act: () => void): HTMLButtonElement {
    const made = element("button", className, label);
    made.type = "button";
    made.addEventListener("click", (event) => {
        if (event.isTrusted) act();
    });
    return made;
}

/** Lines of a payload, the first after its `name`, and the mark at their end. */
export function piece(lines: readonly string[], name = ""): HTMLElement {
    const made = outside("piece", lines);
    if (name !== "") made.firstElementChild?.prepend(element("span", "name", `${name}: `));
    made.append(element("i", "end"));
    return made;
}

/**
 * Lines that come from outside. Each is an element of its own: where it is too long for the page, its further rows begin
 * deeper than any line here does, behind a bar, so that none of them looks like a line.
 */
export function outside(className: string, lines: readonly string[]): HTMLElement {
    const rows = lines.map((line) => element("div", "outside", line === "" ? element("br", "") : line));
    const made = element("div", className, ...rows);
    made.style.setProperty("--hang", `${hangOf(lines)}ch`);
    return made;
}

/** A line of a diff. */
export function changedLine(line: string): HTMLElement {
    const made = piece([line]);
    made.classList.toggle("added", line.startsWith("+"));
    made.classList.toggle("removed", line.startsWith("-"));
    return made;
}

/** The marks at the ends of pieces. */
export const endsOf = (pieces: Iterable<Element>) => [...pieces].flatMap((each) => each.querySelector(".end") ?? []);
