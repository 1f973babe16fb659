// `Seen` records which payloads were shown to their ends: the mark at the end was in view while the editor showed the
// page. A mark that is cut off by the editor, a pane or a scrolling box is not in view.
// The browser reports one at the very edge as not in view, and without a second threshold never reports it again.

export class Seen {
    private readonly seen = new WeakSet<Element>();
    /** Watched, and not seen yet. */
    private readonly awaited = new Set<Element>();
    private readonly observer = new IntersectionObserver((entries) => this.take(entries), { threshold: [0, 0.5] });
    private visible = true;

    constructor(private readonly changed: () => void) {}

    watch(ends: Iterable<Element>): void {
        for (const end of this.awaited) if (!end.isConnected) this.drop(end);
        for (const end of ends) {
            if (this.seen.has(end)) continue;
            this.awaited.add(end);
            if (this.visible) this.observer.observe(end);
        }
    }

    /** An editor that hides a view leaves it laid out as it was. */
    show(visible: boolean): void {
        this.visible = visible;
        this.observer.disconnect();
        if (visible) for (const end of this.awaited) this.observer.observe(end);
    }

    all(ends: readonly Element[]): boolean {
        return ends.every((end) => this.seen.has(end));
    }

    /** The first of the ends that was not in view. */
    firstMissing(ends: readonly Element[]): Element | undefined {
        return ends.find((end) => !this.seen.has(end));
    }

    private take(entries: readonly IntersectionObserverEntry[]): void {
        const ends = entries.filter(({ intersectionRatio }) => intersectionRatio > 0).map(({ target }) => target);
        const fresh = ends.filter((end) => this.visible && this.awaited.has(end));
        for (const end of fresh) {
            this.seen.add(end);
            this.drop(end);
        }
        if (fresh.length > 0) this.changed();
    }

    private drop(end: Element): void {
        this.observer.unobserve(end);
        this.awaited.delete(end);
    }
}
