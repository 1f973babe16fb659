// These functions make elements of the page. Text is only ever inserted as text.

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

/** Lines of a payload, and the mark at their end. */
export function piece(lines: readonly string[]): HTMLElement {
    return element("div", "piece", lines.join("\n"), element("i", "end"));
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
