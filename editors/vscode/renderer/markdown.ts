// `markdown` renders a cell's Markdown as HTML. HTML within it stays text; the frame that shows the result trusts
// neither.

import MarkdownIt from "markdown-it";

const parser = new MarkdownIt({ html: false, linkify: false });

export function markdown(text: string): string {
    return parser.render(text);
}
