// How questions are laid out: blocks from top to bottom, each with the calls of one tool of one cell. While a person is
// near, nothing that can be answered moves: what is new comes below, what is decided stays as an empty place. Else
// everything is put in order.

import { displayOf, partsByColumn, tableOf, type Display, type Table } from "./display";
import type { Option, Question } from "./messages";

export interface Block {
    /** Unique in the layout, and the same as long as the block is. */
    readonly key: string;
    readonly ids: readonly string[];
}

const groupOf = (question: Question) => JSON.stringify([question.card.key, question.group]);

/** Everything in order: cards and their tools as they first came. */
export function arrange(questions: readonly Question[]): Block[] {
    const cards = [...new Set(questions.map(({ card }) => card.key))];
    const ordered = cards.flatMap((key) => questions.filter(({ card }) => card.key === key));
    const groups = new Map<string, string[]>();
    for (const question of ordered) {
        const ids = groups.get(groupOf(question)) ?? [];
        groups.set(groupOf(question), ids);
        ids.push(question.id);
    }
    return [...groups].map(([key, ids]) => ({ key, ids }));
}

/**
 * The blocks that stand, and below them what is new among `questions`, which are all that stand. A last block with a table
 * takes rows that change nothing above; last ones in which nothing waits any more make room.
 */
export function extend(blocks: readonly Block[], questions: readonly Question[], isDecided: (id: string) => boolean): Block[] {
    const known = new Set(blocks.flatMap(({ ids }) => ids));
    const fresh = questions.filter(({ id }) => !known.has(id));
    const byId = new Map(questions.map((question) => [question.id, question]));
    const extended = [...blocks];
    if (fresh.length > 0) while (extended.at(-1)?.ids.every(isDecided)) extended.pop();
    for (const question of fresh) {
        const last = extended.at(-1);
        if (last && fits(last, question, byId)) {
            extended[extended.length - 1] = { key: last.key, ids: [...last.ids, question.id] };
        } else {
            extended.push({ key: `${groupOf(question)} ${question.id}`, ids: [question.id] });
        }
    }
    return extended;
}

function fits(block: Block, question: Question, byId: Map<string, Question>): boolean {
    const rows = block.ids.flatMap((id) => byId.get(id) ?? []);
    if (rows.length < 2) return false;
    if (!rows.every((row) => groupOf(row) === groupOf(question) && sameSource(row, question))) return false;
    const offered = new Set(rows.flatMap(({ options }) => options.map(({ key }) => key)));
    if (!question.options.every(({ key }) => offered.has(key))) return false;
    const before = tableOf(rows.map(({ display }) => displayOf(display)));
    const after = tableOf([...rows, question].map(({ display }) => displayOf(display)));
    return JSON.stringify(before) === JSON.stringify(after);
}

const sameSource = (a: Question, b: Question) => JSON.stringify(a.source) === JSON.stringify(b.source);

export interface Row {
    readonly question: Question;
    readonly display: Display;
    /** What it has of the table's arguments; no lines where it lacks one. */
    readonly cells: readonly { readonly name: string; readonly lines?: readonly string[] }[];
    /** Offers that most of the others have and this one has not: why it stands out. */
    readonly lacks: readonly string[];
}

export interface Contents {
    readonly title: string;
    readonly table: Table;
    readonly rows: readonly Row[];
    /** All answers that are offered for any of them. */
    readonly options: readonly Option[];
    /** The source that all of them share. */
    readonly source: Question["source"];
}

/** What a block shows. */
export function contentsOf(questions: readonly Question[]): Contents {
    const displays = questions.map(({ display }) => displayOf(display));
    const table = tableOf(displays);
    const options = new Map(questions.flatMap((question) => question.options.map((option) => [option.key, option])));
    const usual = [...options.values()].filter(
        ({ key, wide }) => wide && questions.filter((question) => offers(question, key)).length * 2 > questions.length,
    );
    const first = questions[0];
    return {
        title: displays[0]?.title ?? "",
        table,
        rows: questions.map((question, index) => {
            const display = displays[index] ?? displayOf(question.display);
            const parts = partsByColumn(display);
            return {
                question,
                display,
                cells: table.columns.map((column) => parts.get(column) ?? { name: column }),
                lacks: usual.filter(({ key }) => !offers(question, key)).map(({ label }) => label),
            };
        }),
        options: [...options.values()],
        source: first && questions.every((question) => sameSource(first, question)) ? first.source : undefined,
    };
}

export const offers = (question: Question, key: string) => question.options.some((option) => option.key === key);

/** Which of these calls an option allows: those that were displayed in full, and are offered it. */
export function allowed(questions: readonly Question[], option: string, isDisplayed: (id: string) => boolean): string[] {
    return questions.filter((question) => offers(question, option) && isDisplayed(question.id)).map(({ id }) => id);
}
