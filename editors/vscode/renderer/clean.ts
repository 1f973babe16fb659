// `cleaned` turns a cell's markup into nodes that refer to nothing outside. DOMPurify keeps what is on its list, and a
// second pass removes everything that could load or navigate. The nodes themselves are shown: markup that a browser
// parses again can differ from what was checked.

import purify from "dompurify";

/** Where a link of the markup leads, as the frame keeps it for who clicks. */
export const link = "data-cellgate-href";

const unwelcome = [
    // They send, or hold what is not looked at.
    "form", "template", "slot", "dialog",
    // They change attributes later on, such as where a link leads.
    "animate", "animatecolor", "animatemotion", "animatetransform", "discard", "mpath", "set",
];
// Attributes that name something to be fetched or gone to.
const references = [
    "action", "archive", "attributionsrc", "background", "cite", "classid", "codebase", "data", "formaction", "href",
    "imagesrcset", "itemid", "longdesc", "manifest", "ping", "poster", "profile", "src", "srcdoc", "srcset", "usemap",
];

export function hasScripts(html: string): boolean {
    // A document of its own, which loads and runs nothing.
    const parsed = new DOMParser().parseFromString(html, "text/html");
    const handlers = [...parsed.querySelectorAll("*")].some((each) => each.getAttributeNames().some((name) => /^on/i.test(name)));
    return handlers || parsed.querySelector("script, iframe, object, embed") !== null;
}

export function cleaned(html: string): DocumentFragment {
    const fragment = purify.sanitize(html, {
        USE_PROFILES: { html: true, svg: true, svgFilters: true },
        // Drawings use their own parts; where to, is looked at below.
        ADD_TAGS: ["use"],
        FORBID_TAGS: unwelcome,
        FORBID_ATTR: [link, "srcset"],
        // A style sheet at the beginning belongs to it.
        FORCE_BODY: true,
        RETURN_DOM_FRAGMENT: true,
    });
    for (const each of fragment.querySelectorAll("*")) {
        for (const attribute of [...each.attributes]) {
            const { localName, value } = attribute;
            if (!references.includes(localName.toLowerCase())) continue;
            const leads = each.localName === "a" || each.localName === "area";
            // What is in the output itself may stay.
            if (!leads && (/^\s*data:(image|font|audio|video)\//i.test(value) || value.startsWith("#"))) continue;
            each.removeAttributeNode(attribute);
            if (leads && localName === "href") {
                each.setAttribute(link, value);
                each.setAttribute("role", "link");
                each.setAttribute("tabindex", "0");
                each.setAttribute("title", value);
            }
        }
    }
    return fragment;
}
