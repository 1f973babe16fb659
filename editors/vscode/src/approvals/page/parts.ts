// These functions make what all blocks of the page have: whose code asks, and the line that makes the call.

import type { Item } from "../messages";
import { button, element, outside } from "./elements";

let named = 0;
/** For what other elements name. */
export const newId = () => `part-${++named}`;

/** One block of the page. */
export interface BlockOfPage {
    readonly root: HTMLElement;
    /** The key of its card. */
    readonly card: string | undefined;
    /** All items of the block, the ended ones too. `first`: no block above shows the card. */
    show(items: readonly Item[], outcomeOf: (id: string) => string | undefined, first: boolean): void;
    /** More was looked at. */
    count(): void;
    /** An answer was not taken. */
    refuse(ids: readonly string[], text: string): void;
}

export function cardParts({ card }: Item, openCode: () => void): (Node | string)[] {
    return [
        card.title,
        ...(card.agent === undefined ? [] : [" ", element("span", "agent", `by agent ${card.agent}`)]),
        ...(card.code ? [" ", button("link", "Open code", openCode)] : []),
    ];
}

export function sourceParts(source: Item["source"], reveal: () => void): Node[] {
    if (!source) return [];
    const code = outside("line", [source.text.trim()]);
    const place = source.link ? button("link", source.place, reveal) : element("span", "", source.place);
    const changed = source.changed ? [element("span", "changed", "changed since")] : [];
    return [place, ...changed, element("span", "said", "reported by the code:"), code];
}
