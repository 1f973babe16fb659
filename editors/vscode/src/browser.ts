// `openInBrowser` opens a page that something outside the editor named. Anything but a web page is refused: the editor
// runs commands and starts programs by links, too. The text is passed on as it is: an editor's URI would decode its query.

import * as vscode from "vscode";
import { webPage } from "./webPage";

/** Whether the user let it be opened: the editor asks about hosts that it does not know. */
export async function openInBrowser(url: string): Promise<boolean> {
    // It takes a text, too, which its types lack.
    return vscode.env.openExternal(webPage(url) as unknown as vscode.Uri);
}
