// Which pieces of payload have been wholly in view since they stand where they stand. The editor's own scrolling, its
// panes and the scrolling boxes of the page all count: what is cut off by any of them is not in view.

const whole = 0.95; // a fraction of a pixel is cut off here and there

export class Seen {
    private readonly pieces = new WeakSet<Element>();
    private readonly observer: IntersectionObserver;

    constructor(changed: () => void) {
        this.observer = new IntersectionObserver(
            (entries) => {
                const inView = entries.filter(({ intersectionRatio }) => intersectionRatio >= whole);
                for (const { target } of inView) {
                    this.pieces.add(target);
                    this.observer.unobserve(target);
                }
                if (inView.length > 0) changed();
            },
            { threshold: [whole] },
        );
    }

    watch(pieces: Iterable<Element>): void {
        for (const piece of pieces) this.observer.observe(piece);
    }

    all(pieces: Iterable<Element>): boolean {
        for (const piece of pieces) if (!this.pieces.has(piece)) return false;
        return true;
    }
}
