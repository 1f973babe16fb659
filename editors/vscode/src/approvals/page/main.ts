// The page of the approvals view: takes what waits, lays it out, and sends a person's answers.

import { arrange, extend, type Block } from "../layout";
import { Guard } from "../guard";
import type { FromPage, Question, ToPage } from "../messages";
import { BlockView, type Answer } from "./block";
import { element } from "./elements";
import { Seen } from "./seen";

declare function acquireVsCodeApi(): { postMessage(message: FromPage): void };
const host = acquireVsCodeApi();

const guard = new Guard(() => performance.now());
const list = element("main", "blocks");
const empty = element("p", "empty");
const announcement = element("p", "announcement");
announcement.setAttribute("role", "status");
document.body.append(announcement, empty, list);

let nonce = "";
let questions = new Map<string, Question>();
let blocks: Block[] = [];
/** Decided ones that still have their place, and how it went. */
const decided = new Map<string, string>();
const views = new Map<string, BlockView>();
const seen = new Seen(() => {
    changed();
    for (const view of views.values()) view.count();
});

/** A person is near: since the last answer the pointer has moved in here, or the keys go here. */
const near = { pointer: false, keys: false };
const isNear = () => near.pointer || near.keys;
function leave(): void {
    near.pointer = false;
    near.keys = false;
}

/** Anything that is shown has changed: for a while nothing answers. */
function changed(): void {
    guard.changed();
    document.body.dataset.guard = "closed";
    open();
}

function open(): void {
    const left = guard.closedFor();
    if (left === 0) document.body.dataset.guard = "open";
    else setTimeout(open, left);
}

function answer(what: Answer): boolean {
    if (!guard.release()) return false;
    leave();
    host.postMessage({ type: "answer", nonce, ...what });
    return true;
}

/** Puts everything in order, unless a person is near. */
function settle(): void {
    if (isNear()) return;
    const ordered = arrange([...questions.values()]);
    if (decided.size === 0 && JSON.stringify(ordered) === JSON.stringify(blocks)) return;
    decided.clear();
    blocks = ordered;
    show();
}

function show(): void {
    const wanted = new Set(blocks.map(({ key }) => key));
    for (const [key, view] of views) {
        if (wanted.has(key)) continue;
        view.root.remove();
        views.delete(key);
    }
    let before: BlockView | undefined;
    for (const block of blocks) {
        let view = views.get(block.key);
        if (!view) {
            view = new BlockView(seen, { answer, edit: (id) => host.postMessage({ type: "edit", id }), reveal, changed });
            views.set(block.key, view);
        }
        const place = before ? before.root.nextSibling : list.firstChild;
        if (place !== view.root) list.insertBefore(view.root, place);
        view.show(block.ids, questions, decided, before?.card !== cardOf(block));
        before = view;
    }
    changed();
}

function cardOf(block: Block): string | undefined {
    for (const id of block.ids) {
        const question = questions.get(id);
        if (question) return question.card.key;
    }
    return views.get(block.key)?.card;
}

function reveal(id: string): void {
    host.postMessage({ type: "reveal", id });
}

function take(message: ToPage & { type: "waiting" }): void {
    const fresh = message.questions.filter(({ id }) => !questions.has(id));
    nonce = message.nonce;
    questions = new Map(message.questions.map((question) => [question.id, question]));
    for (const { id, text } of message.decided) decided.set(id, text);
    empty.textContent = message.connected ? "Nothing waits for you." : "Not connected to cellgate: nothing can be answered.";
    empty.hidden = questions.size > 0;
    if (!message.connected) leave();
    if (!isNear()) {
        decided.clear();
        blocks = arrange(message.questions);
    } else {
        blocks = extend(blocks, message.questions);
    }
    show();
    if (fresh.length > 0) {
        const titles = [...new Set(fresh.map(({ display }) => display[0] ?? ""))];
        announcement.textContent = `${titles.join(", ")}: ${fresh.length === 1 ? "waits" : "wait"} for your answer. ${questions.size} in all.`;
    } else if (questions.size === 0) {
        announcement.textContent = empty.textContent;
    }
}

addEventListener("message", ({ data }: MessageEvent<ToPage>) => {
    if (data.type === "waiting") {
        take(data);
        return;
    }
    for (const view of views.values()) {
        if (data.type === "editor") view.edit(data.id, data.text, data.outline);
        else view.refuse(data.ids, data.text);
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
document.addEventListener("visibilitychange", () => changed());

changed();
host.postMessage({ type: "ready" });
