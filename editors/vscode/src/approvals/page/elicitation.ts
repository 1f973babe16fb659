// `ElicitationView` is one question of a tool server, or about its inputs: a form, or a page to be opened in the browser.
// It keeps what the user entered as long as it waits.

import { escapeUnprintable } from "../../text";
import { refusalOf } from "../fields";
import { isElicitationItem, type ElicitationItem, type FromPage, type Item } from "../messages";
import { button, element, endsOf, outside, piece } from "./elements";
import { FieldView } from "./field";
import { cardParts, newId, sourceParts, type BlockOfPage } from "./parts";
import type { Seen } from "./seen";

type Of<Type> = Omit<Extract<FromPage, { type: Type }>, "nonce">;
export type Reply = Of<"reply"> | Of<"openPage">;

export interface ElicitationActions {
    /** Sends it, if the guard lets it. */
    reply(what: Reply): boolean;
    copyUrl(id: string): void;
    reveal(id: string): void;
    openCode(id: string): void;
    /** What is shown has changed by what the user did. */
    changed(): void;
}

export class ElicitationView implements BlockOfPage {
    readonly root = element("section", "block question");
    card: string | undefined;
    private readonly cardTitle = element("h2", "card");
    private readonly title = element("h3", "title");
    private readonly tool = element("div", "said");
    private readonly source = element("div", "source");
    private readonly message = element("div", "payload");
    private readonly form = element("div", "form");
    private readonly coverage = element("p", "coverage");
    private readonly accept = element("div", "row");
    private readonly decline = button("deny", "Decline", () => this.send({ type: "reply", id: this.id, action: "decline" }));
    private readonly cancel = button("deny", "Cancel", () => this.send({ type: "reply", id: this.id, action: "cancel" }));
    private readonly problem = element("p", "problem");
    private readonly note = element("p", "note");
    private fields: FieldView[] = [];
    private acceptButton: HTMLButtonElement | undefined;
    private id = "";
    private shown = "";
    private ended = false;

    constructor(
        private readonly seen: Seen,
        private readonly actions: ElicitationActions,
    ) {
        this.title.id = newId();
        this.root.tabIndex = -1;
        this.root.setAttribute("role", "group");
        this.root.setAttribute("aria-labelledby", this.title.id);
        this.message.tabIndex = 0;
        this.message.setAttribute("role", "region");
        this.message.setAttribute("aria-label", "What it asks");
        this.problem.setAttribute("role", "alert");
        this.problem.hidden = true;
        this.note.hidden = true;
        this.root.append(
            element("div", "call", this.cardTitle, this.title, this.tool, this.source, this.message, this.form),
            element("div", "answers", this.coverage, this.accept, element("div", "row", this.decline, this.cancel), this.problem),
            this.note,
        );
    }

    show([item]: readonly Item[], outcomeOf: (id: string) => string | undefined, first: boolean): void {
        if (!item || !isElicitationItem(item)) return;
        this.id = item.id;
        this.card = item.card.key;
        this.cardTitle.hidden = !first;
        this.cardTitle.replaceChildren(...cardParts(item, () => this.actions.openCode(item.id)));
        this.source.hidden = item.source === undefined;
        this.source.replaceChildren(...sourceParts(item.source, () => this.actions.reveal(item.id)));
        this.root.classList.remove("sending");
        const outcome = outcomeOf(item.id);
        this.ended = outcome !== undefined;
        if (this.ended) for (const field of this.fields) field.forgetSecret();
        this.root.classList.toggle("decided", this.ended);
        this.note.hidden = !this.ended;
        this.note.textContent = outcome ?? "";
        // What is announced again, after a connection was lost, keeps what was entered.
        const content = JSON.stringify(item.elicitation);
        if (content !== this.shown) this.fill(item);
        this.shown = content;
        this.count();
    }

    count(): void {
        const isSeen = this.seen.all(endsOf(this.message.children));
        this.coverage.textContent = isSeen ? "" : "Look at the question to its end to answer it.";
        const disabled = String(!isSeen);
        if (!this.acceptButton || this.acceptButton.getAttribute("aria-disabled") === disabled) return;
        this.acceptButton.setAttribute("aria-disabled", disabled);
        this.actions.changed();
    }

    refuse(ids: readonly string[], text: string): void {
        if (!ids.includes(this.id)) return;
        this.root.classList.remove("sending");
        const refusal = refusalOf(this.fields.map(({ name }) => name), text);
        if (refusal) {
            this.fields.find(({ name }) => name === refusal.name)?.refuse(escapeUnprintable(refusal.why));
            return;
        }
        this.problem.textContent = escapeUnprintable(text.replace(/\n/g, " "));
        this.problem.hidden = false;
    }

    private fill({ elicitation }: ElicitationItem): void {
        const { title, tool, message, fields, page } = elicitation;
        this.title.replaceChildren(outside("", [title]));
        this.tool.replaceChildren(
            tool === undefined ? "What you answer goes to that server." : `about a call of its tool ${tool}`,
        );
        this.decline.title = tool === undefined ? "The server does not start." : "The tool server hears that you said no.";
        this.cancel.title = tool === undefined ? "The server does not start now." : "The tool server hears that you gave no answer.";
        this.message.replaceChildren(piece(message.split("\n")));
        this.seen.watch(endsOf(this.message.children));
        this.fields = (fields ?? []).map((field) => new FieldView(field, () => this.actions.changed()));
        this.form.replaceChildren(...(page ? pageParts(page) : this.fields.map(({ root }) => root)));
        for (const { root } of this.fields) root.addEventListener("keydown", (event) => this.enter(event));
        const accept = page
            ? button("allow", `Open ${page.host}`, () => this.open())
            : button("allow", this.fields.length > 0 ? "Send" : "Accept", () => this.answer());
        accept.setAttribute("aria-disabled", "true");
        this.acceptButton = accept;
        this.accept.replaceChildren(accept, ...(page ? [button("quiet", "Copy URL", () => this.actions.copyUrl(this.id))] : []));
    }

    /** The key in a field of one line. */
    private enter(event: KeyboardEvent): void {
        const isEntry = event.target instanceof HTMLInputElement && event.target.type !== "checkbox";
        if (event.key !== "Enter" || !isEntry || !event.isTrusted || event.repeat || event.isComposing) return;
        event.preventDefault();
        this.answer();
    }

    private open(): void {
        if (this.mayAccept()) this.send({ type: "openPage", id: this.id });
    }

    private answer(): void {
        if (!this.mayAccept()) return;
        const read = this.fields.map((field) => ({ field, read: field.read() }));
        const wrong = read.find((each) => each.read === undefined);
        if (wrong) {
            wrong.field.focus();
            this.actions.changed();
            return;
        }
        // Each becomes a member of the object itself, whatever its name is.
        const values = Object.fromEntries(read.flatMap(({ field, read }) => (read?.value === undefined ? [] : [[field.name, read.value]])));
        this.send({ type: "reply", id: this.id, action: "accept", values });
    }

    private mayAccept(): boolean {
        return this.acceptButton?.getAttribute("aria-disabled") === "false";
    }

    private send(reply: Reply): void {
        if (this.ended || this.root.classList.contains("sending")) return;
        if (!this.actions.reply(reply)) return;
        this.problem.hidden = true;
        this.root.classList.add("sending");
    }
}

/** The host is by itself: the one part of a URL that says whose the page is. */
function pageParts({ url, host }: { readonly url: string; readonly host: string }): HTMLElement[] {
    return [
        element("div", "said", "A page, opened in your browser. cellgate does not see what you type there."),
        outside("host", [host]),
        outside("words url", [url]),
    ];
}
