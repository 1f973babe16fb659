// Runs in Deno's kernel, in one expression with a call: the functions of cellgate's sidecar for variables. `g` is
// globalThis. Each writes its answer to a new file, as JSON, and returns nothing. As transfer.py.
((g) => {
  const { Array, Deno, JSON, Map, Math, Number, Object, Set, String } = g;
  const MAX_DEPTH = 200;
  const MAX_TEXT = 200;
  const MAX_VARIABLES = 500;
  const MAX_DESCRIPTION = 60000;
  const BUDGET = 500; // milliseconds for the previews of all values
  const HINTS = {
    BigInt: "Number(...)",
    Date: ".toISOString()",
    Map: "Object.fromEntries(...)",
    Set: "Array.from(...)",
  };

  class Problem {
    constructor(text) {
      this.text = text;
    }
  }

  function answer(path, value) {
    Deno.writeTextFileSync(path, JSON.stringify(value), { createNew: true });
  }

  function place(path, key) {
    if (typeof key === "number") return `${path}[${key}]`;
    return /^[A-Za-z_$][\w$]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
  }

  function kindOf(value) {
    if (value === null) return "null";
    if (typeof value === "bigint") return "BigInt";
    if (typeof value !== "object") return typeof value;
    const made = Object.getPrototypeOf(value)?.constructor;
    return typeof made === "function" && made.name ? String(made.name) : "object";
  }

  function refuse(value, path) {
    if (value === undefined) throw new Problem(`${path} is undefined`);
    const kind = kindOf(value);
    const hint = Object.hasOwn(HINTS, kind) ? `, e.g. ${HINTS[kind]}` : "";
    throw new Problem(`${path} is ${/^[AEIOaeiou]/.test(kind) ? "an" : "a"} ${kind}; convert it first${hint}`);
  }

  function isPlain(value) {
    const proto = Object.getPrototypeOf(value);
    return proto === null || Object.getPrototypeOf(proto) === null;
  }

  // A copy of what JSON has, and of nothing else. `open`: the containers around the value.
  function plain(value, path, open) {
    if (value === null || typeof value === "boolean") return value;
    if (typeof value === "string") {
      if (!value.isWellFormed()) throw new Problem(`${path} has half of a character, a lone surrogate`);
      return value;
    }
    if (typeof value === "number") {
      if (Number.isFinite(value)) return value;
      throw new Problem(`${path} is ${value}, which JSON does not have`);
    }
    if (typeof value !== "object") refuse(value, path);
    if (open.has(value)) throw new Problem(`${path} contains itself`);
    if (open.size === MAX_DEPTH) throw new Problem(`${path} is nested deeper than ${MAX_DEPTH}`);
    open.add(value);
    let made;
    if (Array.isArray(value)) {
      made = Array.from(value, (each, i) => plain(each, place(path, i), open));
    } else if (ArrayBuffer.isView(value) && typeof value.at === "function" && typeof value.at(0) !== "bigint") {
      made = Array.from(value, (each, i) => plain(each, place(path, i), open));
    } else if (isPlain(value)) {
      made = Object.create(null);
      for (const key of Object.keys(value)) made[key] = plain(value[key], place(path, plain(key, path, open)), open);
    } else {
      refuse(value, path);
    }
    open.delete(value);
    return made;
  }

  // `read` gives the variable's value.
  function exportVariable(path, name, read) {
    let value;
    try {
      value = read();
    } catch {
      return answer(path, { missing: true }); // neither declared nor given a value
    }
    let made;
    try {
      made = { type: kindOf(value), value: plain(value, name, new Set()) };
    } catch (error) {
      made = { problem: error instanceof Problem ? error.text : `${name} failed with ${kindOf(error)}` };
    }
    answer(path, made);
  }

  const readValue = (source) => JSON.parse(Deno.readTextFileSync(source));

  // `assign` gives the value to a variable that was declared before.
  function importVariable(path, source, assign) {
    try {
      assign(readValue(source));
    } catch {
      return answer(path, { constant: true });
    }
    answer(path, {});
  }

  // The value of a declaration that this is a part of.
  function declared(path, source) {
    const value = readValue(source);
    answer(path, {});
    return value;
  }

  function preview(value) {
    try {
      const shown = typeof value === "string" && value.length > MAX_TEXT ? value.slice(0, MAX_TEXT) + "…" : value;
      const short = { depth: 2, iterableLimit: 6, strAbbreviateSize: 60, breakLength: 1e9 };
      const text = Deno.inspect(shown, { ...short, colors: false, compact: true });
      return text.replaceAll(/\s*\n\s*/g, " ").slice(0, MAX_TEXT);
    } catch (error) {
      return `<${kindOf(error)} while it was looked at>`;
    }
  }

  function sizeOf(value) {
    if (typeof value === "string" || Array.isArray(value)) return String(value.length);
    if (value instanceof Map || value instanceof Set) return String(value.size);
    return ArrayBuffer.isView(value) ? String(value.length ?? value.byteLength) : undefined;
  }

  function describe(name, value, until) {
    const shown = { name, type: kindOf(value), value: performance.now() > until ? "…" : preview(value) };
    const size = sizeOf(value);
    return size === undefined ? shown : { ...shown, size };
  }

  // Whether the global of Deno itself is what the name means still. A global's getter is not run.
  function isBuiltIn(name, read) {
    const own = Object.getOwnPropertyDescriptor(g, name);
    return own === undefined || !("value" in own) || Object.is(own.value, read());
  }

  const isClass = (value) => typeof value === "function";
  const isModule = (value) => typeof value === "object" && value !== null && value[Symbol.toStringTag] === "Module";

  // What reads each variable, by its name: `declared` by code, and the names that Deno has by itself.
  function variables(path, declared, builtIn) {
    const until = performance.now() + BUDGET;
    const shown = [];
    function show(name, read) {
      try {
        const value = read();
        if (!isClass(value) && !isModule(value)) shown.push(describe(name, value, until));
      } catch {
        // Declared, and given no value yet.
      }
    }
    for (const [name, read] of Object.entries(declared)) show(name, read);
    for (const [name, read] of Object.entries(builtIn)) {
      if (!isBuiltIn(name, read)) show(name, read);
    }
    answer(path, { variables: shown.slice(0, MAX_VARIABLES), truncated: shown.length > MAX_VARIABLES });
  }

  function inspect(path, name, read) {
    let text;
    try {
      const value = read();
      const options = { colors: false, depth: 4, iterableLimit: 100, strAbbreviateSize: 2000 };
      text = isClass(value) ? String(value) : `${name}: ${kindOf(value)}\n${Deno.inspect(value, options)}`;
    } catch {
      // Declared, and given no value yet.
    }
    answer(path, { text: text?.slice(0, MAX_DESCRIPTION) });
  }

  return { declared, exportVariable, importVariable, inspect, variables };
})(globalThis)
