// The page of the approvals view: takes what waits, lays it out, and sends a person's answers.

import { Choices } from "../choices";
import { Guard } from "../guard";
import type { Block } from "../layout";
import type { FromPage, ToPage } from "../messages";
import { Standing } from "../standing";
import { BlockView, type Answer } from "./block";
import { element } from "./elements";
import { Seen } from "./seen";

declare function acquireVsCodeApi(): { postMessage(message: FromPage): void };
const host = acquireVsCodeApi();

/** In CSS pixels: below it the arguments of a call stand below one another. */
const narrowBelow = 480;

const guard = new Guard(() => performance.now());
const list = element("main", "blocks");
const empty = element("p", "empty");
empty.tabIndex = -1;
const announcement = element("p", "announcement");
announcement.setAttribute("role", "status");
document.body.append(announcement, empty, list);

let nonce = "";
const standing = new Standing();
const choices = new Choices();
const views = new Map<string, BlockView>();
const seen = new Seen(() => {
    changed();
    for (const view of views.values()) view.count();
});

/** A person is near: the pointer has moved in here, or the keys go here. */
const near = { pointer: false, keys: false };
const isNear = () => near.pointer || near.keys;

/** Anything that is shown has changed, or has moved: for a while nothing answers. */
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

function answer(what: Answer): boolean {
    if (!guard.release()) return false;
    host.postMessage({ type: "answer", nonce, ...what });
    return true;
}

/** Puts everything in order, unless a person is near. */
function settle(): void {
    if (!isNear() && standing.settle()) show();
}

function show(): void {
    const focus = focusNow();
    const wanted = new Set(standing.blocks.map(({ key }) => key));
    for (const [key, view] of views) {
        if (wanted.has(key)) continue;
        view.root.remove();
        views.delete(key);
    }
    choices.keep(standing);
    let before: BlockView | undefined;
    for (const block of standing.blocks) {
        const view = viewOf(block);
        const place = before ? before.root.nextSibling : list.firstChild;
        if (place !== view.root) list.insertBefore(view.root, place);
        choices.gather(block.ids);
        const questions = standing.questionsOf(block);
        view.show(questions, (id) => standing.howOf(id), before?.card !== questions[0]?.card.key);
        before = view;
    }
    keepFocus(focus);
    changed();
}

function viewOf({ key }: Block): BlockView {
    const view =
        views.get(key) ??
        new BlockView(seen, choices, {
            answer,
            edit: (id) => host.postMessage({ type: "edit", id }),
            reveal: (id) => host.postMessage({ type: "reveal", id }),
            openCode: (id) => host.postMessage({ type: "code", id }),
            changed,
        });
    views.set(key, view);
    return view;
}

interface Focus {
    readonly on: HTMLElement;
    /** The number of its block. */
    readonly block: number;
    /** It is there by the keys. */
    readonly byKeys: boolean;
}

function focusNow(): Focus | undefined {
    const on = document.activeElement;
    const block = [...list.children].findIndex((each) => each.contains(on));
    if (!document.hasFocus() || !(on instanceof HTMLElement) || block < 0) return undefined;
    return { on, block, byKeys: on.matches(":focus-visible") };
}

/** Focus stays where it is. From what is gone it goes to the next block, and to nothing in it that answers. */
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
    const fresh = message.questions.filter(({ id }) => !standing.has(id));
    nonce = message.nonce;
    empty.textContent = message.connected ? "Nothing waits for you." : "Not connected to cellgate: nothing can be answered.";
    empty.hidden = message.questions.length > 0;
    standing.take(message.questions, message.decided, isNear());
    show();
    if (fresh.length > 0) {
        const titles = [...new Set(fresh.map(({ display }) => display[0] ?? ""))];
        announcement.textContent = `${titles.join(", ")}: ${fresh.length === 1 ? "waits" : "wait"} for your answer. ${standing.count} in all.`;
    } else if (standing.count === 0) {
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
            for (const view of views.values()) view.edit(data.id, data.text, data.outline);
            break;
        case "refused":
            for (const view of views.values()) view.refuse(data.ids, data.text);
    }
    changed();
});

// A press counts from its beginning, and a key that is held down is no further press.
addEventListener("pointerdown", () => guard.press(), true);
addEventListener(
    "keydown",
    (event) => {
        near.keys = true;
        if (!event.repeat) guard.press();
        else if (event.target instanceof HTMLButtonElement) event.preventDefault();
    },
    true,
);
addEventListener("pointermove", () => (near.pointer = true));
document.documentElement.addEventListener("pointerleave", () => {
    near.pointer = false;
    settle();
});
addEventListener("blur", () => {
    near.keys = false;
    settle();
});

// Whatever moves the buttons is a change: another size of the view, of its text or of anything in it, and scrolling.
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
