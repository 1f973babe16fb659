// `profileText` says what a profile gives to the sessions that have it.

import type { Profile } from "../protocol/messages";
import { limitTexts } from "../sessionViews/limitNames";
import { label } from "../text";

const checks = { off: "code is not checked", advise: "errors in code are shown", strict: "code with an error is refused" } as const;

export function profileText({ modules, notInstalled = [], domains, limits, askBeforePrograms, validation }: Profile): string {
    const missing = notInstalled.length > 0 ? `, ${notInstalled.length} of them not installed` : "";
    const parts = [
        modules ? `imports ${modules.length} modules${missing}` : "imports any module",
        ...(domains.length > 0 ? [`connects unasked to ${domains.join(", ")}`] : []),
        ...limitTexts(limits),
        ...(askBeforePrograms ? ["asks before code starts a program"] : []),
        checks[validation],
    ];
    return label(parts.join("; "), 500);
}
