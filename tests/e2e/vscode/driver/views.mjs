// These functions use the views of the side bar and their rows.

export const pane = (editor, title) => editor.page.locator(".pane", { has: editor.page.locator(".pane-header", { hasText: title }) });

/** A view of the side bar, unfolded, with room for its rows. */
export async function unfold(editor, title) {
    for (const other of ["Approvals", "Sessions"]) await pane(editor, other).locator(".pane-header").click();
    await pane(editor, title).locator(".pane-header").click();
    await pane(editor, title).locator(".monaco-list-row").first().waitFor();
    return pane(editor, title);
}

export const row = (view, text) => view.locator(".monaco-list-row", { hasText: text });

/** Presses a button of a row, which appears once the row is chosen. */
export async function press(view, text, title) {
    await row(view, text).click();
    await row(view, text).locator(`.action-label[aria-label^="${title}"]`).click();
}
