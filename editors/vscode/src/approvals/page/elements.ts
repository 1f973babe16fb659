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

const linesInPiece = 5;

/** Lines of a payload in pieces, most of which are wholly in view at once. */
export function pieces(lines: readonly string[]): HTMLElement[] {
    const made: HTMLElement[] = [];
    for (let i = 0; i < Math.max(lines.length, 1); i += linesInPiece) {
        made.push(element("div", "piece", lines.slice(i, i + linesInPiece).join("\n")));
    }
    return made;
}
