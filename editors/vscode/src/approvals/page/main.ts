// `main` is the entry of the approvals page: it takes what waits, lays it out, and sends the user's answers.

import { Selection } from "../selection";
import { Guard } from "../guard";
import type { Block } from "../layout";
import { isElicitationItem, titleOf, type FromPage, type ToPage } from "../messages";
import { PageModel } from "../pageModel";
import { BlockView, type Answer } from "./block";
import { button, element } from "./elements";
import { ElicitationView, type Reply } from "./elicitation";
import type { BlockOfPage } from "./parts";
import { Seen } from "./seen";

declare function acquireVsCodeApi(): { postMessage(message: FromPage): void };
const host = acquireVsCodeApi();

/** In CSS pixels: in a narrower page the arguments of a call are below one another. */
const narrowBelow = 480;

const guard = new Guard(() => performance.now());
const list = element("main", "blocks");
const empty = element("p", "empty");
empty.tabIndex = -1;
const announcement = element("p", "announcement");
announcement.setAttribute("role", "status");
const openEditor = button("open-editor", "Open in Editor", () => host.postMessage({ type: "openEditor" }));
const toolbar = element("div", "toolbar", openEditor);
toolbar.hidden = true;
document.body.append(announcement, empty, toolbar, list);
const isInEditor = document.body.dataset.host === "editor";

let nonce = "";
const model = new PageModel();
const selection = new Selection();
const views = new Map<string, BlockOfPage>();
const seen = new Seen(() => {
    changed();
    for (const view of views.values()) view.count();
});

/** How the user interacts with the page: the pointer moved in it, or keys were pressed in it. */
const interaction = { pointer: false, keys: false };
const isInteracting = () => interaction.pointer || interaction.keys;

/** Something that is shown changed or moved: the guard closes for a while. */
function changed(): void {
    guard.changed();
    document.body.dataset.guard = "closed";
    open();
}

function open(): void {
    const left = guard.closedFor();
    if (left === 0) document.body.dataset.guard = "open";
    else if (Number.isFinite(left)) setTimeout(open, left);
}

function send(message: FromPage): boolean {
    if (!guard.release()) return false;
    host.postMessage(message);
    return true;
}

/** Puts everything in order, unless the user is interacting. */
function rearrange(): void {
    if (!isInteracting() && model.rearrange()) show();
}

function show(): void {
    const focus = focusNow();
    const wanted = new Set(model.blocks.map(({ key }) => key));
    for (const [key, view] of views) {
        if (wanted.has(key)) continue;
        view.root.remove();
        views.delete(key);
    }
    toolbar.hidden = isInEditor || !model.isLong;
    selection.keep(model);
    let before: BlockOfPage | undefined;
    for (const block of model.blocks) {
        const view = viewOf(block);
        const place = before ? before.root.nextSibling : list.firstChild;
        if (place !== view.root) list.insertBefore(view.root, place);
        selection.gather(block.ids);
        const items = model.itemsOf(block);
        view.show(items, (id) => model.outcomeOf(id), before?.card !== items[0]?.card.key);
        before = view;
    }
    keepFocus(focus);
    changed();
}

const actions = {
    answer: (what: Answer) => send({ type: "answer", nonce, ...what }),
    reply: (what: Reply) => send({ nonce, ...what }),
    edit: (id: string) => host.postMessage({ type: "edit", id }),
    reveal: (id: string) => host.postMessage({ type: "reveal", id }),
    openCode: (id: string) => host.postMessage({ type: "code", id }),
    copyUrl: (id: string) => host.postMessage({ type: "copyUrl", id }),
    changed,
};

function viewOf(block: Block): BlockOfPage {
    const isQuestion = model.itemsOf(block).some(isElicitationItem);
    const view = views.get(block.key) ?? (isQuestion ? new ElicitationView(seen, actions) : new BlockView(seen, selection, actions));
    views.set(block.key, view);
    return view;
}

interface Focus {
    readonly on: HTMLElement;
    /** The number of its block. */
    readonly block: number;
    /** The user moved it there with the keyboard. */
    readonly byKeys: boolean;
}

function focusNow(): Focus | undefined {
    const on = document.activeElement;
    const block = [...list.children].findIndex((each) => each.contains(on));
    if (!document.hasFocus() || !(on instanceof HTMLElement) || block < 0) return undefined;
    return { on, block, byKeys: on.matches(":focus-visible") };
}

/** Keeps the focus. From an element that is gone it moves to the next block itself, never to a button that answers. */
function keepFocus(focus: Focus | undefined): void {
    if (!focus) return;
    const { on, block, byKeys } = focus;
    if (on.isConnected && on.checkVisibility({ visibilityProperty: true }) && !on.matches(":disabled")) {
        on.focus({ preventScroll: true });
        return;
    }
    const roots = [...list.querySelectorAll<HTMLElement>(":scope > .block")];
    const waits = (root: HTMLElement) => !root.classList.contains("decided");
    const next = roots.slice(block).find(waits) ?? roots.findLast(waits) ?? empty;
    next.focus({ preventScroll: !byKeys });
}

function take(message: ToPage & { type: "waiting" }): void {
    const fresh = message.items.filter(({ id }) => !model.has(id));
    nonce = message.nonce;
    empty.textContent = message.connected ? "Nothing waits for you." : "Not connected to cellgate: nothing can be answered.";
    empty.hidden = message.items.length > 0;
    model.take(message.items, message.decided, isInteracting());
    show();
    if (fresh.length > 0) {
        const titles = [...new Set(fresh.map(titleOf))];
        announcement.textContent = `${titles.join(", ")}: ${fresh.length === 1 ? "waits" : "wait"} for your answer. ${model.count} in all.`;
    } else if (model.count === 0) {
        announcement.textContent = empty.textContent;
    }
}

addEventListener("message", ({ data }: MessageEvent<ToPage>) => {
    switch (data.type) {
        case "waiting":
            take(data);
            return;
        case "shown":
            guard.show(data.shown);
            seen.show(data.shown);
            break;
        case "editor":
            for (const view of views.values()) if (view instanceof BlockView) view.edit(data.id, data.text, data.outline);
            break;
        case "refused":
            for (const view of views.values()) view.refuse(data.ids, data.text);
    }
    changed();
});

// A press begins when a key or button goes down. The repeats of a key that is held down are no presses.
addEventListener("pointerdown", () => guard.press(), true);
addEventListener(
    "keydown",
    (event) => {
        interaction.keys = true;
        if (!event.repeat) guard.press();
        else if (event.target instanceof HTMLButtonElement) event.preventDefault();
    },
    true,
);
addEventListener("pointermove", () => (interaction.pointer = true));
document.documentElement.addEventListener("pointerleave", () => {
    interaction.pointer = false;
    rearrange();
});
addEventListener("blur", () => {
    interaction.keys = false;
    rearrange();
});

// Everything that moves buttons is a change: resizing the page, its text or anything in it, and scrolling.
const narrow = () => document.body.classList.toggle("narrow", innerWidth < narrowBelow);
addEventListener("resize", () => {
    narrow();
    changed();
});
new ResizeObserver(changed).observe(list);
document.addEventListener("scroll", changed, { passive: true });
document.addEventListener("visibilitychange", changed);

narrow();
changed();
host.postMessage({ type: "ready" });
