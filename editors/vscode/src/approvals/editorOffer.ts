// `EditorOffer` decides when the editor tab is offered in a notification: once each time that many calls wait.

/** How many rows the view in the side bar shows at once. With more, it has a button that opens the tab. */
export const maxRowsInView = 3;

/** From so many waiting calls on, the tab is offered in a notification too. */
export const manyCalls = 8;

export class EditorOffer {
    private isMade = false;

    /** Whether to make the offer now. `isOpen`: the tab is open already. */
    take(count: number, isOpen: boolean): boolean {
        if (count <= maxRowsInView) this.isMade = false;
        if (count < manyCalls || this.isMade) return false;
        this.isMade = true;
        return !isOpen;
    }
}
