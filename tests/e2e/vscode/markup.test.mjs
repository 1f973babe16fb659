// These scenarios try that HTML, SVG and Markdown of cells make no connection: a listener on this machine receives
// nothing. The control is the same markup in an ordinary notebook, which the editor shows itself. (frame.test.mjs tries
// each barrier of the frame alone.)
import assert from "node:assert/strict";
import { listener } from "./driver/listener.mjs";
import { scenario } from "./driver/scenario.mjs";
import { until } from "./driver/wait.mjs";

/** Ways out of HTML, each of which asks for a path of its own. @param {string} there the listener's address */
function attacks(there) {
    return `
<div id="mark">hostile</div>
<meta http-equiv="refresh" content="0;url=${there}/refresh">
<link rel="stylesheet" href="${there}/stylesheet"><link rel="icon" href="${there}/icon">
<link rel="preconnect" href="${there}"><link rel="dns-prefetch" href="${there}">
<link rel="preload" as="image" href="${there}/preload"><link rel="prefetch" href="${there}/prefetch">
<style>@import url("${there}/import"); #mark { background: url("${there}/background"); cursor: url("${there}/cursor"), auto; }
@font-face { font-family: away; src: url("${there}/font"); } #mark { font-family: away; }</style>
<img src="${there}/image"><img src="x" onerror="new Image().src='${there}/handler'"><img srcset="${there}/srcset 1x">
<picture><source srcset="${there}/picture"><img></picture>
<video src="${there}/video" poster="${there}/poster"></video><audio src="${there}/audio" autoplay></audio>
<iframe src="${there}/frame"></iframe><iframe srcdoc="<img src='${there}/frame-in-frame'>"></iframe>
<object data="${there}/object"></object><embed src="${there}/embed">
<input type="image" src="${there}/input"><table background="${there}/table"><tr><td>1</td></tr></table>
<svg><image href="${there}/svg-image"/><use href="${there}/svg-use#a"/><script>fetch("${there}/svg-script")</script></svg>
<script>fetch("${there}/script"); navigator.sendBeacon("${there}/beacon"); document.getElementById("mark").id = "owned";</script>
<details open ontoggle="fetch('${there}/toggle')"><summary>s</summary></details>
<form id="f" action="${there}/form"><input name="a" value="b" autofocus onfocus="this.form.submit()"></form>
<svg width="90" height="30"><a><set attributeName="href" to="${there}/drawn"/><rect id="aim" width="90" height="30"/></a></svg>
<a href="http://away.example/link" ping="${there}/ping">a link</a>
<form><math><mtext></form><form><mglyph><style></math><link rel=preconnect href="${there}"><a href="${there}/mutated">x</a>`;
}

const svg = (there) =>
    `<svg xmlns="http://www.w3.org/2000/svg" width="60" height="20" onload="fetch('${there}/onload')"><text id="drawn" y="15">drawn</text>
<image href="${there}/image" width="9" height="9"/><script>fetch("${there}/script")</script>
<foreignObject width="9" height="9"><img xmlns="http://www.w3.org/1999/xhtml" src="${there}/foreign"/></foreignObject></svg>`;

const markdown = (there) => `*written* ![p](${there}/image) <img src="${there}/raw"> [words](javascript:fetch('${there}/javascript'))`;

const trying = (there) => `<p id="ran">no</p><script>
const tries = [fetch("${there}/fetch"), import("${there}/module"), new Promise((_, no) => {
    const image = new Image(); image.onerror = no; image.src = "${there}/image"; })];
Promise.allSettled(tries).then((all) => {
    document.getElementById("ran").textContent = "ran: " + all.map(({ status }) => status).join(" ");
    try { top.location = "${there}/top"; } catch { /* as it should */ }
    open("${there}/window");
});
function leave() { location = "${there}/navigation"; }
</script>`;

const heard = {};

/** The cells, and a notebook with the same HTML, which name listeners: one for each. */
async function prepare(workspace) {
    for (const kind of ["html", "svg", "markdown", "scripts", "control"]) {
        heard[kind] = await listener();
    }
    const there = (kind) => heard[kind].address;
    const shows = (markup, type) => `display({${JSON.stringify(type)}: ${JSON.stringify(markup)}}, raw=True)\n`;
    await workspace.write("plan.py", [
        "# %%\nfrom IPython.display import display\n",
        `# %%\n${shows(attacks(there("html")), "text/html")}`,
        `# %%\n${shows(svg(there("svg")), "image/svg+xml")}`,
        `# %%\n${shows(markdown(there("markdown")), "text/markdown")}`,
        `# %%\n${shows(trying(there("scripts")), "text/html")}`,
    ].join("\n"));
    const output = { output_type: "display_data", metadata: {}, data: { "text/html": attacks(there("control")) } };
    const cell = { cell_type: "code", id: "c", metadata: {}, source: "shows()", execution_count: 1, outputs: [output] };
    const metadata = { language_info: { name: "python" } };
    await workspace.write("control.ipynb", JSON.stringify({ cells: [cell], metadata, nbformat: 4, nbformat_minor: 5 }));
}

scenario("markup of a cell reaches nothing outside", { prepare }, async ({ editor }) => {
    const run = async (number) => {
        await editor.goToLine(3 * number - 1);
        await editor.page.keyboard.press("Control+Enter");
    };
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().waitFor();
    await run(1);
    // An editor that is still starting runs the first key's command late, where the cursor is by then.
    await editor.lens(/\[1\]/).waitFor();

    // Scripts run where the user says, and no request of theirs gets out either.
    await run(5);
    const scripts = await editor.frame("text=They do not run here");
    assert.equal(await (await editor.frame("#ran")).locator("#ran").innerText(), "no");
    await scripts.locator("button", { hasText: "Run Scripts in a Panel" }).dispatchEvent("click");
    const question = editor.dialog("they can tell another machine what the output holds");
    await editor.screenshot("question");
    await question.locator(".monaco-button", { hasText: "Run Scripts" }).click();
    const panel = await editor.frame("text=ran: rejected rejected rejected");
    await editor.screenshot("scripts");
    await panel.evaluate("leave()").catch(() => "the browser may end the page before it answers");
    await until(() => panel.url().startsWith("chrome-error:"), () => `the browser's refusal; the frame is at ${panel.url()}`);

    await editor.page.locator('.tab[data-resource-name="plan.py"]').click();
    await editor.textFocus();
    await run(2);
    const html = await editor.frame("#mark");
    assert.equal(await html.locator("#owned").count(), 0);
    // By the mouse, as a user does it: it is pressed before it is a click.
    const { x, y } = await html.locator("#aim").boundingBox();
    await editor.page.mouse.click(x + 9, y + 9);
    assert.equal(html.url(), "about:srcdoc");
    await run(3);
    await editor.frame("#drawn");
    await editor.screenshot("html-and-svg");
    await run(4);
    const written = await editor.frame("em");
    assert.match(await written.locator("p").innerText(), /^written +<img src=/);
    await run(2);
    // A link is followed only by a user, who sees first where it goes.
    await (await editor.frame("[data-cellgate-href]")).locator("[data-cellgate-href]").first().dispatchEvent("click");
    const dialog = editor.dialog("http://away.example/link");
    await dialog.waitFor();
    await editor.screenshot("link");
    await editor.pressUntil("Escape", async () => !(await dialog.isVisible()), "the dialog to close");

    // The control comes last: by the time that it was heard, all else would have been.
    await editor.openFile("control.ipynb");
    const { paths } = heard.control;
    await until(
        () => ["/image", "/script", "/background", "/stylesheet"].every((each) => paths.includes(each)),
        () => `the control's requests; there were ${paths.join(" ")}`,
    );
    // The dialog about scripts warned of preconnections: a refused navigation makes one.
    assert.deepEqual(heard.scripts.paths, []);
    for (const kind of ["html", "svg", "markdown"]) {
        assert.equal(heard[kind].connections, 0, `${kind} got out, ${heard[kind].paths}; the control got out by ${paths}`);
    }
});
