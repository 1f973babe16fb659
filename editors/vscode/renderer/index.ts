// `activate` registers the renderer of cellgate's own output types, which the editor cannot show by itself.

import type { ActivationFunction } from "vscode-notebook-renderer";
import type { LargeAnswer } from "../src/results/messages";
import { element } from "./elements";
import { LargeData } from "./largeData";
import { OutputView } from "./outputView";
import css from "./style.css";

export const activate: ActivationFunction = (context) => {
    const style = element("style");
    style.textContent = css;
    document.head.append(style);

    const largeData = new LargeData((request) => context.postMessage?.(request));
    context.onDidReceiveMessage?.((answer: LargeAnswer) => largeData.take(answer));
    const view = new OutputView((request) => context.postMessage?.(request), largeData);

    /** What each container shows. The editor renders unchanged outputs again: those are left as they are. */
    const shown = new WeakMap<HTMLElement, string>();
    return {
        renderOutputItem(item, container) {
            const content = `${item.mime}\n${item.text()}`;
            if (shown.get(container) === content && container.childElementCount > 0) return;
            shown.set(container, content);
            container.replaceChildren(view.show(item));
        },
    };
};
