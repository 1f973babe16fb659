// `BlockView` is one block of the page: the calls of one tool of one cell, the buttons that answer them, and the text
// fields for a reason and for edited arguments. It keeps what the user chose and typed as long as it exists.

import type { Selection } from "../selection";
import { checkEdited } from "../edit";
import { allowed, contentsOf, type Contents, type Row } from "../layout";
import { areApprovals, type ApprovalItem, type FromPage, type Item, type Option, type OutlineLine } from "../messages";
import { escapeUnprintable } from "../../text";
import { button, changedLine, element, endsOf, outside, piece } from "./elements";
import { cardParts, newId, sourceParts, type BlockOfPage } from "./parts";
import type { Seen } from "./seen";

export type Answer = Omit<Extract<FromPage, { type: "answer" }>, "type" | "nonce">;

export interface Actions {
    /** Sends an answer, if the guard lets it. */
    answer(what: Answer): boolean;
    edit(id: string): void;
    reveal(id: string): void;
    openCode(id: string): void;
    /** What is shown has changed by what the user did. */
    changed(): void;
}

interface ShownRow {
    readonly root: HTMLElement;
    readonly ends: readonly Element[];
    readonly box: HTMLInputElement;
}

interface AnswerButton {
    readonly root: HTMLButtonElement;
    readonly count: HTMLElement;
    /** What it allows; absent of the one that denies. */
    readonly option?: Option;
    /** The calls that it says it covers, which are those that it answers. */
    ids: readonly string[];
}

/** The editor of a call's arguments. */
interface Editing {
    readonly id: string;
    /** Its answer was sent. */
    sent: boolean;
    readonly say: (problem: string | undefined) => void;
    /** The call as it came was not shown to its end when this was last asked. */
    unseen: boolean;
    /** Says whether it can be sent as it is now. */
    readonly check: () => void;
}

/** A table of more arguments has them below one another. */
const maxColumns = 4;

export class BlockView implements BlockOfPage {
    readonly root = element("section", "block");
    card: string | undefined;
    private readonly cardTitle = element("h2", "card");
    private readonly title = element("h3", "title");
    private readonly source = element("div", "source");
    private readonly common = element("div", "payload");
    private readonly table = element("div", "table");
    private readonly changes = element("div", "changes");
    private readonly hints = element("details", "hints");
    private readonly coverage = element("span", "");
    private readonly rest = button("quiet", "Show the rest", () => this.showRest());
    private readonly options = element("div", "options");
    private readonly editor = element("div", "editor");
    private readonly reason = element("input", "reason");
    private readonly problem = element("p", "problem");
    private readonly note = element("p", "note");
    private readonly oddButton = button("quiet", "", () => this.table.querySelector(".outlier:not(.decided)")?.scrollIntoView({ block: "center" }));
    private readonly editButton = button("quiet", "Edit…", () => {
        const [one, ...others] = this.chosen();
        if (one && others.length === 0) this.actions.edit(one.id);
    });
    private readonly rows = new Map<string, ShownRow>();
    private buttons: AnswerButton[] = [];
    /** The waiting calls. */
    private items: ApprovalItem[] = [];
    /** All calls of the block, decided ones too. */
    private ids: string[] = [];
    private editing: Editing | undefined;
    private rowsMade = 0;
    private shown = "";
    private shownCard = "";

    constructor(
        private readonly seen: Seen,
        private readonly selection: Selection,
        private readonly actions: Actions,
    ) {
        this.title.id = newId();
        this.root.tabIndex = -1;
        for (const [region, label] of [[this.common, "What is sent"], [this.changes, "Changes of the definition"]] as const) {
            region.tabIndex = 0;
            region.setAttribute("role", "region");
            region.setAttribute("aria-label", label);
        }
        this.root.setAttribute("role", "group");
        this.root.setAttribute("aria-labelledby", this.title.id);
        this.reason.placeholder = "why not (told to the code)";
        this.reason.setAttribute("aria-label", "Reason for denying");
        this.problem.setAttribute("role", "alert");
        this.problem.hidden = true;
        this.editor.hidden = true;
        this.hints.addEventListener("toggle", () => this.actions.changed());
        this.root.append(
            element("div", "call", this.cardTitle, this.title, this.source, this.common, this.table, this.changes),
            element("div", "answers", element("p", "coverage", this.coverage, this.rest), this.options, this.editor, this.problem),
            this.hints,
            this.note,
        );
        this.note.hidden = true;
    }

    /** These calls; those that were decided keep their place. */
    show(all: readonly Item[], outcomeOf: (id: string) => string | undefined, first: boolean): void {
        if (!areApprovals(all)) return;
        this.ids = all.map(({ id }) => id);
        this.items = all.filter(({ id }) => outcomeOf(id) === undefined);
        const anyone = all[0];
        if (!anyone) return;
        this.card = anyone.card.key;
        this.cardTitle.hidden = !first;
        this.fillCard(anyone);
        if (this.editing && !this.items.some(({ id }) => id === this.editing?.id)) this.closeEditor();
        this.root.classList.remove("sending");
        // A block in which all is decided stays as an empty place until the user stops interacting.
        const ended = this.items.length === 0;
        this.root.classList.toggle("decided", ended);
        this.note.hidden = !ended;
        this.note.textContent = [...new Set(all.map(({ id }) => outcomeOf(id)))].join("; ");
        if (ended) return;
        this.fill(contentsOf(all));
        for (const id of this.ids) {
            const how = outcomeOf(id);
            if (how !== undefined) this.endRow(id, how);
        }
        this.count();
    }

    private fillCard(item: ApprovalItem): void {
        const { id, card } = item;
        if (JSON.stringify([id, card]) === this.shownCard) return;
        this.shownCard = JSON.stringify([id, card]);
        this.cardTitle.replaceChildren(...cardParts(item, () => this.actions.openCode(id)));
    }

    /** How many calls each answer covers now. */
    count(): void {
        if (this.editing?.unseen) this.editing.check();
        const total = this.items.length;
        const chosen = this.chosen();
        for (const answer of this.buttons) {
            const { root, count, option } = answer;
            // Denying needs no look.
            const ids = option ? allowed(chosen, option.key, (id) => this.isDisplayed(id)) : chosen.map(({ id }) => id);
            if (ids.join() !== answer.ids.join()) this.actions.changed();
            answer.ids = ids;
            root.setAttribute("aria-disabled", String(ids.length === 0));
            count.textContent = total > 1 ? `${ids.length} of ${total}` : "";
        }
        const displayed = chosen.filter(({ id }) => this.isDisplayed(id)).length;
        this.coverage.textContent = coverageText(displayed, chosen.length, total);
        this.rest.hidden = displayed === chosen.length;
        this.editButton.hidden = this.items.every(({ editable }) => !editable);
        this.editButton.setAttribute("aria-disabled", String(chosen.length !== 1 || chosen[0]?.editable !== true));
    }

    edit(id: string, text: string, outline: readonly OutlineLine[]): void {
        if (!this.items.some((item) => item.id === id)) return;
        const area = element("textarea", "arguments");
        area.value = text;
        area.rows = Math.min(20, text.split("\n").length + 1);
        area.spellcheck = false;
        area.setAttribute("aria-label", "What is sent, as JSON");
        const verdict = element("p", "verdict");
        verdict.id = newId();
        verdict.setAttribute("role", "status");
        area.setAttribute("aria-describedby", verdict.id);
        const allow = button("allow", "Allow the edited call, once", () => {
            if (allow.getAttribute("aria-disabled") === "true") return;
            this.send({ ids: [id], decision: "allow", arguments: area.value });
            editing.sent = this.root.classList.contains("sending");
        });
        const say = (problem: string | undefined) => {
            verdict.textContent = problem ?? "This will be sent in place of what is above.";
            verdict.classList.toggle("wrong", problem !== undefined);
        };
        const check = () => {
            // An edit of some arguments allows the others as they are.
            editing.unseen = !this.isDisplayed(id);
            const problem = editing.unseen ? "Look at the call above to its end first." : problemOf(area.value);
            say(problem);
            allow.setAttribute("aria-disabled", String(problem !== undefined));
        };
        area.addEventListener("input", () => {
            check();
            this.actions.changed();
        });
        const close = button("quiet", "Close", () => {
            this.closeEditor();
            this.root.focus({ preventScroll: true });
            this.actions.changed();
        });
        const editing: Editing = { id, sent: false, say, unseen: true, check };
        this.editing = editing;
        check();
        this.editor.replaceChildren(area, verdict, element("div", "row", allow, close), ...outlineView(outline));
        this.editor.hidden = false;
        area.focus();
    }

    refuse(ids: readonly string[], text: string): void {
        if (!this.items.some(({ id }) => ids.includes(id))) return;
        this.root.classList.remove("sending");
        const problem = escapeUnprintable(text.replace(/\n/g, " "));
        if (this.editing?.sent) {
            this.editing.sent = false;
            this.editing.say(problem);
            return;
        }
        this.problem.textContent = problem;
        this.problem.hidden = false;
    }

    private closeEditor(): void {
        this.editing = undefined;
        this.editor.replaceChildren();
        this.editor.hidden = true;
    }

    private send(answer: Answer): void {
        if (this.root.classList.contains("sending") || answer.ids.length === 0) return;
        if (!this.actions.answer(answer)) return;
        this.problem.hidden = true;
        this.root.classList.add("sending");
    }

    /** The calls that the next answer covers. A single call has no checkbox. */
    private chosen(): ApprovalItem[] {
        return this.items.filter(({ id }) => this.rows.size === 0 || this.selection.has(id));
    }

    private isDisplayed(id: string): boolean {
        return this.seen.all(this.endsOf(id));
    }

    private endsOf(id: string): Element[] {
        return [...this.shared(), ...(this.rows.get(id)?.ends ?? [])];
    }

    /** Brings into view the first end of the chosen calls that was not there yet. */
    private showRest(): void {
        this.seen.firstMissing(this.chosen().flatMap(({ id }) => this.endsOf(id)))?.scrollIntoView({ block: "end" });
        this.actions.changed();
    }

    /** The ends of what all calls here have in common. Its two parts scroll by themselves. */
    private shared(): Element[] {
        return [...endsOf([...this.title.children, ...this.common.children]).slice(-1), ...endsOf(this.changes.children).slice(-1)];
    }

    private fill(contents: Contents): void {
        const { title, table, changes, rows, options, source } = contents;
        const isTable = rows.length > 1;
        const shown = JSON.stringify([title, table, changes, options, source, isTable, source === undefined && rows.map(({ item }) => item.source)]);
        if (shown !== this.shown) {
            this.shown = shown;
            this.title.replaceChildren(piece([title]));
            this.fillSource(source);
            const parts = isTable ? table.common : (rows[0]?.display.parts ?? []);
            this.common.replaceChildren(
                ...parts.map(({ name, lines }) => piece(lines, name)),
            );
            this.common.hidden = parts.length === 0;
            this.fillChanges(changes);
            this.seen.watch(this.shared());
            this.fillOptions(options);
            this.rows.clear();
            this.rowsMade = 0;
            this.fillTable(isTable, table.columns.length + Number(source === undefined));
            this.fillHints(rows[0]?.item.hints ?? []);
        }
        if (!isTable) return;
        for (const [id, { root }] of this.rows) {
            if (this.ids.includes(id)) continue;
            root.remove();
            this.rows.delete(id);
        }
        for (const row of rows) {
            if (!this.rows.has(row.item.id)) this.addRow(row, source === undefined);
            this.mark(row.item.id, row.missingOptions);
        }
        this.showSelection();
        const odd = rows.filter(({ item, missingOptions }) => missingOptions.length > 0 && this.items.includes(item)).length;
        this.oddButton.textContent = odd === 0 ? "" : `${odd} unlike the others`;
    }

    private fillChanges(changes: readonly string[]): void {
        this.changes.hidden = changes.length === 0;
        this.changes.replaceChildren(element("div", "heading", "its definition has changed since it was last allowed:"), ...changes.map(changedLine));
    }

    private fillSource(source: ApprovalItem["source"]): void {
        this.source.hidden = source === undefined;
        this.source.replaceChildren(...sourceParts(source, () => this.actions.reveal(this.items[0]?.id ?? "")));
    }

    private fillOptions(options: readonly Option[]): void {
        const allows = options.map((option) => {
            const act = (ids: string[]) => this.send({ ids, decision: "allow", option: option.key });
            return answerButton("allow", `Allow: ${option.label}`, act, option);
        });
        const deny = answerButton("deny", "Deny", (ids) => {
            this.send({ ids, decision: "deny", reason: this.reason.value });
        });
        this.buttons = [...allows, deny];
        // The narrowest allow and the deny come first, so that both are in view in little space; wider options follow.
        const [narrowest, ...wider] = allows.map(({ root }) => root);
        const no = element("div", "row", deny.root, this.reason);
        this.options.replaceChildren(...(narrowest ? [narrowest] : []), no, ...wider, this.editButton);
    }

    private fillTable(isTable: boolean, columns: number): void {
        this.table.hidden = !isTable;
        if (!isTable) {
            this.table.replaceChildren();
            return;
        }
        const choose = (chosen: boolean) => button("quiet", chosen ? "Choose all" : "Choose none", () => this.choose(() => chosen));
        const scroll = element("div", "scroll", element("table", "", element("tbody", "")));
        scroll.tabIndex = 0;
        scroll.setAttribute("role", "region");
        scroll.setAttribute("aria-label", "Calls");
        this.table.classList.toggle("many", columns > maxColumns);
        this.table.replaceChildren(element("div", "row", choose(true), choose(false), this.oddButton), scroll);
    }

    private addRow({ item, cells }: Row, withSource: boolean): void {
        const { id, source } = item;
        const number = ++this.rowsMade;
        const box = element("input", "");
        box.type = "checkbox";
        box.addEventListener("change", () => this.choose((each) => (each === id ? box.checked : this.selection.has(each))));
        const values = cells.map(({ name, lines }) => {
            const value = element("td", "value", piece(lines ?? ["absent"], name));
            value.classList.toggle("absent", !lines);
            value.id = newId();
            return value;
        });
        const ends = endsOf(values);
        if (values.length === 0) values.push(element("td", "value absent", "the same call"));
        box.setAttribute("aria-label", `Call ${number}`);
        box.setAttribute("aria-describedby", values.map((value) => value.id).join(" "));
        const only = button("quiet", "Only this", () => this.choose((each) => each === id));
        only.setAttribute("aria-label", `Only call ${number}`);
        const root = element("tr", "", element("td", "choice", box), ...values, element("td", "tools", only));
        values[0]?.append(element("span", "missing-options"));
        if (withSource) root.lastElementChild?.before(element("td", "from", ...sourceParts(source, () => this.actions.reveal(id))));
        this.table.querySelector("tbody")?.append(root);
        this.rows.set(id, { root, box, ends });
        this.seen.watch(ends);
    }

    private mark(id: string, missingOptions: readonly string[]): void {
        const row = this.rows.get(id);
        row?.root.classList.toggle("outlier", missingOptions.length > 0);
        const words = row?.root.querySelector(".missing-options");
        if (words) words.textContent = missingOptions.length > 0 ? `unlike the others: not ${missingOptions.join(", not ")}` : "";
    }

    /** A user chooses. */
    private choose(isChosen: (id: string) => boolean): void {
        this.selection.choose(this.ids, isChosen);
        this.showSelection();
        this.actions.changed();
        this.count();
    }

    private showSelection(): void {
        for (const [id, { box }] of this.rows) box.checked = this.selection.has(id);
    }

    private endRow(id: string, how: string): void {
        const row = this.rows.get(id);
        if (!row) return;
        row.root.classList.add("decided");
        for (const control of row.root.querySelectorAll<HTMLInputElement | HTMLButtonElement>("input, button")) control.disabled = true;
        const words = row.root.querySelector(".missing-options");
        if (words) words.textContent = how;
    }

    private fillHints(hints: readonly string[]): void {
        this.hints.hidden = hints.length === 0;
        this.hints.replaceChildren(
            element("summary", "", "The tool's own description (nothing is decided by it)"),
            outside("words", hints.flatMap((hint) => hint.split("\n"))),
        );
    }
}

function answerButton(className: string, label: string, act: (ids: string[]) => void, option?: Option): AnswerButton {
    const root = button(className, "", () => {
        if (root.getAttribute("aria-disabled") !== "true") act([...made.ids]);
    });
    const count = element("span", "count");
    root.append(element("span", "label", label), count);
    const made: AnswerButton = { root, count, option, ids: [] };
    return made;
}

/** What the user still has to do before the calls can be allowed; empty when nothing is left. */
function coverageText(displayed: number, chosen: number, total: number): string {
    const calls = total === 1 ? "" : `${total} calls, ${chosen} chosen`;
    if (chosen === 0) return `${calls}: choose some to answer`;
    if (displayed === chosen) return calls;
    if (displayed === 0) return `${calls}${calls && ": "}look at it to its end to allow it.`;
    return `${calls}, ${displayed} of them looked at.`;
}

function problemOf(text: string): string | undefined {
    try {
        checkEdited(text);
        return undefined;
    } catch (error) {
        return error instanceof Error ? error.message : String(error);
    }
}

/** What the tool says about its arguments, below the edited text. */
function outlineView(outline: readonly OutlineLine[]): HTMLElement[] {
    if (outline.length === 0) return [];
    const list = element("div", "outline");
    list.tabIndex = 0;
    list.setAttribute("role", "region");
    list.setAttribute("aria-label", "What the tool takes");
    for (const { depth, name, words, description } of outline) {
        const line = element("div", "of", element("code", "", name), " ", words);
        if (description !== "") line.append(outside("words", description.split("\n")));
        line.style.marginInlineStart = `${depth}em`;
        list.append(line);
    }
    return [list];
}
