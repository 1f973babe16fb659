// These functions make elements. Text is only ever inserted as text.

export function element<K extends keyof HTMLElementTagNameMap>(name: K, className = "", text = ""): HTMLElementTagNameMap[K] {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text) made.textContent = text;
    return made;
}

export function button(text: string, action: () => void): HTMLButtonElement {
    const made = element("button", "cellgate-link", text);
    made.type = "button";
    made.addEventListener("click", action);
    return made;
}

export function sizeOf(bytes: number): string {
    if (bytes < 1000) return `${bytes} bytes`;
    if (bytes < 1e6) return `${(bytes / 1e3).toFixed(1)} kB`;
    return `${(bytes / 1e6).toFixed(1)} MB`;
}
