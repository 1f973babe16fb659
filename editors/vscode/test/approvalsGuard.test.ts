import assert from "node:assert/strict";
import { test } from "node:test";
import { Guard, quietMilliseconds } from "../src/approvals/guard";

function fixture() {
    let now = 1000;
    const guard = new Guard(() => now);
    return {
        guard,
        pass: (milliseconds: number) => (now += milliseconds),
        click: () => {
            guard.press();
            return guard.release();
        },
    };
}

test("within half a second after a change nothing answers, and after it a click does", () => {
    const { guard, pass, click } = fixture();
    assert.ok(click(), "the control: nothing has changed");
    guard.changed();
    assert.ok(!click());
    pass(quietMilliseconds - 1);
    assert.ok(!click());
    pass(1);
    assert.equal(guard.closedFor(), 0);
    assert.ok(click());
});

test("each further change closes it again", () => {
    const { guard, pass, click } = fixture();
    guard.changed();
    pass(400);
    guard.changed();
    pass(400);
    assert.ok(!click());
    pass(100);
    assert.ok(click());
});

test("a key that went down before the change, or too early after it, does not answer when it is let go", () => {
    const { guard, pass } = fixture();
    guard.press();
    guard.changed();
    pass(quietMilliseconds);
    assert.ok(!guard.release());
    guard.changed();
    pass(100);
    guard.press();
    pass(quietMilliseconds);
    assert.ok(!guard.release());
});

test("one press answers once", () => {
    const { guard } = fixture();
    guard.press();
    assert.ok(guard.release());
    assert.ok(!guard.release());
});

test("while the view is hidden nothing answers, and half a second after it came up neither", () => {
    const { guard, pass, click } = fixture();
    guard.show(false);
    pass(10 * quietMilliseconds);
    assert.ok(!click());
    assert.equal(guard.closedFor(), Infinity);
    guard.show(true);
    pass(quietMilliseconds - 1);
    assert.ok(!click());
    pass(1);
    assert.ok(click());
});
