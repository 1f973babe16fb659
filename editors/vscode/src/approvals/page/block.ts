// One block of the page: the calls of one tool of one cell, what can be answered, and the text fields for a no and for
// an edit. It keeps what a person chose and typed as long as it stands.

import { contentsOf, covered, type Contents, type Row } from "../layout";
import { checkEdited } from "../edit";
import type { FromPage, Option, Outline, Question } from "../messages";
import { visible } from "../../text";
import { button, element, pieces } from "./elements";
import type { Seen } from "./seen";

export type Answer = Omit<Extract<FromPage, { type: "answer" }>, "type" | "nonce">;

export interface Deeds {
    /** Sends an answer, if the guard lets it. */
    answer(what: Answer): boolean;
    edit(id: string): void;
    reveal(id: string): void;
    /** What is shown has changed by what the person did. */
    changed(): void;
}

interface ShownRow {
    readonly root: HTMLElement;
    readonly pieces: readonly HTMLElement[];
    readonly box: HTMLInputElement;
}

interface OptionButton {
    readonly root: HTMLButtonElement;
    readonly count: HTMLElement;
    readonly option?: Option;
}

let blockNumber = 0;

export class BlockView {
    readonly root = element("section", "block");
    card: string | undefined;
    private readonly cardTitle = element("h2", "card");
    private readonly title = element("h3", "title");
    private readonly source = element("div", "source");
    private readonly common = element("div", "payload");
    private readonly table = element("div", "table");
    private readonly hints = element("details", "hints");
    private readonly coverage = element("p", "coverage");
    private readonly options = element("div", "options");
    private readonly editor = element("div", "editor");
    private readonly reason = element("input", "reason");
    private readonly problem = element("p", "problem");
    private readonly note = element("p", "note");
    private readonly oddButton = button("quiet", "", () => this.table.querySelector(".outlier")?.scrollIntoView({ block: "center" }));
    private readonly editButton = button("quiet", "Edit…", () => {
        const [id, ...others] = this.chosen();
        if (id !== undefined && others.length === 0) this.deeds.edit(id);
    });
    private readonly rows = new Map<string, ShownRow>();
    private readonly unchosen = new Set<string>();
    private buttons: OptionButton[] = [];
    private questions: Question[] = [];
    private contents: Contents | undefined;
    private shown = "";

    constructor(
        private readonly seen: Seen,
        private readonly deeds: Deeds,
    ) {
        this.title.id = `block-${++blockNumber}`;
        this.root.setAttribute("role", "group");
        this.root.setAttribute("aria-labelledby", this.title.id);
        this.reason.placeholder = "why not (told to the code)";
        this.reason.setAttribute("aria-label", "Reason for denying");
        this.problem.setAttribute("role", "alert");
        this.problem.hidden = true;
        this.editor.hidden = true;
        this.hints.addEventListener("toggle", () => this.deeds.changed());
        this.root.append(
            this.cardTitle,
            this.title,
            this.source,
            this.common,
            this.table,
            this.coverage,
            this.options,
            this.editor,
            this.problem,
            this.hints,
            this.note,
        );
        this.note.hidden = true;
    }

    /** The calls of these ids; those that are decided keep their place. */
    show(ids: readonly string[], questions: ReadonlyMap<string, Question>, decided: ReadonlyMap<string, string>, first: boolean): void {
        this.questions = ids.flatMap((id) => questions.get(id) ?? []);
        const anyone = this.questions[0];
        if (!anyone) {
            this.end(ids, decided);
            return;
        }
        this.card = anyone.card.key;
        this.cardTitle.hidden = !first;
        this.cardTitle.replaceChildren(anyone.card.title);
        if (anyone.card.agent !== undefined) {
            this.cardTitle.append(" ", element("span", "agent", `by agent ${anyone.card.agent}`));
        }
        const gone = ids.some((id) => !questions.has(id));
        // What stands is left as it stands: columns do not go with a row that was decided.
        if (!gone || !this.contents) this.fill(contentsOf(this.questions));
        for (const id of ids) {
            if (!questions.has(id)) this.endRow(id, decided.get(id) ?? "");
        }
        for (const id of [...this.rows.keys()]) {
            if (!ids.includes(id)) this.removeRow(id);
        }
        this.root.classList.remove("sending");
        this.count();
    }

    /** How many calls each answer covers now. */
    count(): void {
        const total = this.questions.length;
        const chosen = this.chosen();
        for (const { root, count, option } of this.buttons) {
            const covers = this.covers(option?.key).length;
            root.setAttribute("aria-disabled", String(covers === 0));
            count.textContent = total > 1 ? `${covers} of ${total}` : "";
        }
        this.coverage.textContent = coverageText(this.covers().length, chosen.length, total);
        const one = this.questions.find(({ id }) => id === chosen[0]);
        this.editButton.hidden = this.questions.every(({ editable }) => !editable);
        this.editButton.setAttribute("aria-disabled", String(chosen.length !== 1 || one?.editable !== true));
    }

    edit(id: string, text: string, outline: Outline): void {
        if (!this.questions.some((question) => question.id === id)) return;
        const area = element("textarea", "arguments");
        area.value = text;
        area.rows = Math.min(20, text.split("\n").length + 1);
        area.spellcheck = false;
        area.setAttribute("aria-label", "Arguments as JSON");
        const verdict = element("p", "verdict");
        verdict.setAttribute("role", "status");
        const allow = button("allow", "Allow the edited call, once", () => {
            if (allow.getAttribute("aria-disabled") === "true") return;
            this.send({ ids: [id], decision: "allow", arguments: area.value });
        });
        const check = () => {
            const problem = problemOf(area.value, outline);
            verdict.textContent = problem ?? "These arguments will be sent in place of those above.";
            verdict.classList.toggle("wrong", problem !== undefined);
            allow.setAttribute("aria-disabled", String(problem !== undefined));
        };
        area.addEventListener("input", () => {
            check();
            this.deeds.changed();
        });
        check();
        const close = button("quiet", "Close", () => {
            this.editor.hidden = true;
            this.deeds.changed();
        });
        this.editor.replaceChildren(area, verdict, element("div", "row", allow, close), outlineView(outline));
        this.editor.hidden = false;
        area.focus();
    }

    refuse(ids: readonly string[], text: string): void {
        if (!this.questions.some(({ id }) => ids.includes(id))) return;
        this.root.classList.remove("sending");
        this.problem.textContent = visible(text.replace(/\n/g, " "));
        this.problem.hidden = false;
    }

    private send(answer: Answer): void {
        if (this.root.classList.contains("sending") || answer.ids.length === 0) return;
        if (!this.deeds.answer(answer)) return;
        this.problem.hidden = true;
        this.root.classList.add("sending");
    }

    private chosen(): string[] {
        return this.questions.map(({ id }) => id).filter((id) => !this.unchosen.has(id));
    }

    private covers(option?: string): string[] {
        return covered(
            this.questions,
            (id) => !this.unchosen.has(id),
            (id) => this.isDisplayed(id),
            option,
        );
    }

    private isDisplayed(id: string): boolean {
        const row = this.rows.get(id);
        return this.seen.all(this.shared()) && (!row || this.seen.all(row.pieces));
    }

    /** The pieces of what all calls here have in common. */
    private shared(): Iterable<Element> {
        return this.root.querySelectorAll(".title .piece, .payload .piece");
    }

    private fill(contents: Contents): void {
        this.contents = contents;
        const { title, table, rows, options, source } = contents;
        const isTable = rows.length > 1;
        const shown = JSON.stringify([title, table, options, source, isTable, source === undefined && rows.map(({ question }) => question.source)]);
        if (shown !== this.shown) {
            this.shown = shown;
            this.title.replaceChildren(...pieces([title]));
            this.fillSource(source);
            const parts = isTable ? table.common : (rows[0]?.display.parts ?? []);
            this.common.replaceChildren(
                ...parts.flatMap(({ name, lines }) => pieces([name === "" ? (lines[0] ?? "") : `${name}: ${lines[0] ?? ""}`, ...lines.slice(1)])),
            );
            this.seen.watch(this.shared());
            this.fillOptions(options);
            this.rows.clear();
            this.fillTable(isTable ? table.columns : undefined, source === undefined);
            this.fillHints(rows[0]?.question.hints ?? []);
        }
        if (!isTable) return;
        for (const row of rows) if (!this.rows.has(row.question.id)) this.addRow(row);
        for (const { question, lacks } of rows) this.mark(question.id, lacks);
        const odd = rows.filter(({ lacks }) => lacks.length > 0).length;
        this.oddButton.textContent = odd === 0 ? "" : `${odd} unlike the others`;
    }

    private fillSource(source: Question["source"]): void {
        this.source.hidden = source === undefined;
        this.source.replaceChildren(...(source ? this.sourceView(source, this.questions[0]?.id ?? "") : []));
    }

    private sourceView(source: NonNullable<Question["source"]>, id: string): Node[] {
        const code = element("code", "line", source.text.trim());
        const place = source.link
            ? button("link", source.place, () => this.deeds.reveal(id))
            : element("span", "", source.place);
        const changed = source.changed ? [element("span", "changed", "changed since")] : [];
        return [place, ...changed, element("span", "said", "reported by the code:"), code];
    }

    private fillOptions(options: readonly Option[]): void {
        this.buttons = options.map((option) => {
            const act = () => this.send({ ids: this.covers(option.key), decision: "allow", option: option.key });
            return optionButton("allow", `Allow: ${option.label}`, act, option);
        });
        const deny = optionButton("deny", "Deny", () => {
            this.send({ ids: this.covers(), decision: "deny", reason: this.reason.value });
        });
        this.buttons.push(deny);
        this.options.replaceChildren(
            ...this.buttons.slice(0, -1).map(({ root }) => root),
            element("div", "row", deny.root, this.reason),
            this.editButton,
        );
    }

    private fillTable(columns: readonly string[] | undefined, withSource: boolean): void {
        this.table.hidden = columns === undefined;
        if (!columns) {
            this.table.replaceChildren();
            return;
        }
        const choose = (chosen: boolean) => {
            for (const id of this.rows.keys()) this.choose(id, chosen);
            this.deeds.changed();
            this.count();
        };
        const head = element("tr", "", element("th", ""), ...columns.map((name) => element("th", "", name)));
        if (withSource) head.append(element("th", "", "line"));
        head.append(element("th", ""));
        for (const cell of head.children) cell.setAttribute("scope", "col");
        this.table.replaceChildren(
            element("div", "row", button("quiet", "Choose all", () => choose(true)), button("quiet", "Choose none", () => choose(false)), this.oddButton),
            element("div", "scroll", element("table", "", element("thead", "", head), element("tbody", ""))),
        );
    }

    private addRow({ question, cells }: Row): void {
        const { id, source } = question;
        const box = element("input", "");
        box.type = "checkbox";
        box.setAttribute("aria-label", `Choose ${cells.map((lines) => lines?.join(" ") ?? "absent").join(", ")}`);
        box.addEventListener("change", () => {
            this.choose(id, box.checked);
            this.deeds.changed();
            this.count();
        });
        const contents = cells.map((lines) => (lines ? pieces(lines) : [element("div", "piece absent", "absent")]));
        const root = element("tr", "", element("td", "", box), ...contents.map((parts) => element("td", "value", ...parts)));
        root.children[1]?.append(element("span", "lacks"));
        if (!this.contents?.source) root.append(element("td", "", ...(source ? this.sourceView(source, id) : [])));
        const only = button("quiet", "Only this", () => {
            for (const each of this.rows.keys()) this.choose(each, each === id);
            this.deeds.changed();
            this.count();
        });
        root.append(element("td", "tools", only));
        this.table.querySelector("tbody")?.append(root);
        this.rows.set(id, { root, box, pieces: contents.flat() });
        this.seen.watch(contents.flat());
        this.choose(id, !this.unchosen.has(id));
    }

    private mark(id: string, lacks: readonly string[]): void {
        const row = this.rows.get(id);
        row?.root.classList.toggle("outlier", lacks.length > 0);
        const words = row?.root.querySelector(".lacks");
        if (words) words.textContent = lacks.length > 0 ? `unlike the others: not ${lacks.join(", not ")}` : "";
    }

    private choose(id: string, chosen: boolean): void {
        if (chosen) this.unchosen.delete(id);
        else this.unchosen.add(id);
        const row = this.rows.get(id);
        if (row) row.box.checked = chosen;
    }

    private endRow(id: string, how: string): void {
        const row = this.rows.get(id);
        if (!row) return;
        row.root.classList.add("decided");
        row.box.disabled = true;
        const words = row.root.querySelector(".lacks");
        if (words) words.textContent = how;
    }

    private removeRow(id: string): void {
        this.rows.get(id)?.root.remove();
        this.rows.delete(id);
        this.unchosen.delete(id);
    }

    private fillHints(hints: readonly string[]): void {
        this.hints.hidden = hints.length === 0;
        this.hints.replaceChildren(
            element("summary", "", "What the tool says of itself (nothing is decided by it)"),
            element("div", "words", hints.join("\n")),
        );
    }

    /** All of it was decided: it stays as an empty place until a person is not near any more. */
    private end(ids: readonly string[], decided: ReadonlyMap<string, string>): void {
        this.root.classList.add("decided");
        const ways = [...new Set(ids.map((id) => decided.get(id) ?? ""))];
        this.note.textContent = ways.join("; ");
        this.note.hidden = false;
    }
}

function optionButton(className: string, label: string, act: () => void, option?: Option): OptionButton {
    const root = button(className, "", () => {
        if (root.getAttribute("aria-disabled") !== "true") act();
    });
    const count = element("span", "count");
    root.append(element("span", "label", label), count);
    return { root, count, option };
}

/** What stands between a person and an answer; empty when it is their word alone. */
function coverageText(covers: number, chosen: number, total: number): string {
    if (covers === chosen && total === 1) return "";
    const calls = total === 1 ? "" : `${total} calls, ${chosen} chosen`;
    if (chosen === 0) return `${calls}: choose some to answer`;
    if (covers === 0) return `${calls}${calls && ": "}look through all of it first`;
    return covers < chosen ? `${calls}, ${covers} of them looked at` : calls;
}

function problemOf(text: string, outline: Outline): string | undefined {
    try {
        checkEdited(text, outline);
        return undefined;
    } catch (error) {
        return error instanceof Error ? error.message : String(error);
    }
}

function outlineView({ fields }: Outline): HTMLElement {
    const list = element("dl", "outline");
    for (const { name, type, required, description } of fields) {
        list.append(
            element("dt", "", element("code", "", visible(name)), ` ${visible(type)}${required ? ", required" : ""}`),
            element("dd", "", visible(description)),
        );
    }
    return list;
}
