// `Seen` records which pieces of payload were in view since they were laid out, at once or in parts. A piece that is
// cut off by the editor, a pane or a scrolling box is not in view, nor is one that no frame showed, such as lines that
// a jump skipped.

import { Coverage } from "../coverage";

const steps = Array.from({ length: 21 }, (_, index) => index / 20);

export class Seen {
    private readonly coverages = new WeakMap<Element, Coverage>();
    /** Watched, and not seen in full yet. */
    private readonly awaited = new Set<Element>();
    private readonly inView = new Set<Element>();
    private readonly observer = new IntersectionObserver((entries) => this.take(entries), { threshold: steps });
    private visible = true;

    constructor(private readonly changed: () => void) {
        // An element that stays within its box while it scrolls crosses no threshold: observing it again reports it.
        const lookAgain = () => {
            if (!this.visible) return;
            for (const piece of this.inView) {
                this.observer.unobserve(piece);
                this.observer.observe(piece);
            }
        };
        addEventListener("scroll", lookAgain, { capture: true, passive: true });
        addEventListener("resize", lookAgain);
    }

    watch(pieces: Iterable<Element>): void {
        for (const piece of this.awaited) if (!piece.isConnected) this.drop(piece);
        for (const piece of pieces) {
            if (this.coverages.has(piece)) continue;
            this.coverages.set(piece, new Coverage());
            this.awaited.add(piece);
            if (this.visible) this.observer.observe(piece);
        }
    }

    /** An editor that hides a view leaves it laid out as it was. */
    show(visible: boolean): void {
        this.visible = visible;
        this.observer.disconnect();
        this.inView.clear();
        if (visible) for (const piece of this.awaited) this.observer.observe(piece);
    }

    all(pieces: Iterable<Element>): boolean {
        return this.firstMissing(pieces) === undefined;
    }

    /** The first of the pieces that was not wholly in view, and from where on. */
    firstMissing(pieces: Iterable<Element>): { piece: Element; from: number } | undefined {
        for (const piece of pieces) {
            const coverage = this.coverages.get(piece);
            if (!coverage?.isWhole) return { piece, from: coverage?.gap ?? 0 };
        }
        return undefined;
    }

    private take(entries: readonly IntersectionObserverEntry[]): void {
        let more = false;
        for (const { target, isIntersecting, boundingClientRect: box, intersectionRect: part } of entries) {
            const coverage = this.coverages.get(target);
            if (!this.visible || !coverage || !this.awaited.has(target)) continue;
            if (isIntersecting) this.inView.add(target);
            else this.inView.delete(target);
            // Of what is cut off at its side no part counts.
            if (!isIntersecting || part.height === 0 || part.width < box.width - 1) continue;
            coverage.add({ width: box.width, height: box.height, from: part.top - box.top, to: part.bottom - box.top }, rowOf(target));
            if (!coverage.isWhole) continue;
            this.drop(target);
            more = true;
        }
        if (more) this.changed();
    }

    private drop(piece: Element): void {
        this.observer.unobserve(piece);
        this.awaited.delete(piece);
        this.inView.delete(piece);
    }
}

/** The height of one line of text. */
const rowOf = (piece: Element) => Number.parseFloat(getComputedStyle(piece).lineHeight) || 0;
