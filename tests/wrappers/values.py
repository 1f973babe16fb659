"""Values that a schema allows, for sending through a wrapper: deterministic, from the sparsest to the fullest.

What keywords forbid together (an allOf whose parts are closed, say) is not seen: check a value where that matters.
"""

import random
import urllib.parse

ANYTHING = [1, "x", None, True, 2.5, [], {}, {"any": ["thing"]}, [1, 1.0, "1"], 10**30]
STRINGS = ["", "plain", "ünï\n\"'\\\u202e", "a" * 40, "https://example.com", "2026-01-02T03:04:05", "5", "no e-mail"]


class Values:
    """Makes values of one schema document. `fullness` is how likely an optional part is there."""

    def __init__(self, document, seed, fullness):
        self.document = document
        self.random = random.Random(seed)
        self.fullness = fullness

    def make(self, schema=None, depth=0):
        schema = self.document if schema is None else schema
        if not isinstance(schema, dict) or not schema:
            return self.random.choice(ANYTHING)
        if depth > 10:
            return None  # some schemas allow only what has no end
        made = [self._make(part, depth) for part in self._parts(schema)]
        if all(isinstance(value, dict) for value in made):
            return {name: item for value in made for name, item in value.items()}
        return made[-1]

    def _parts(self, schema):
        """What the schema says itself, refers to and takes in by allOf, as far as it says anything."""
        if not isinstance(schema, dict):
            return []
        parts = []
        if "$ref" in schema:
            parts += self._parts(self._target(schema["$ref"]))
        for part in schema.get("allOf", []):
            parts += self._parts(part)
        keywords = {"const", "enum", "anyOf", "oneOf", "type", "properties", "items", "prefixItems"}
        return parts + ([schema] if keywords & set(schema) or not parts else [])

    def _target(self, reference):
        pointer = urllib.parse.unquote(reference[1:])
        if pointer and not pointer.startswith("/"):
            return next(each for each in self.document["$defs"].values() if each.get("$anchor") == pointer)
        target = self.document
        for part in pointer.split("/")[1:]:
            target = target[part.replace("~1", "/").replace("~0", "~")]
        return target

    def _make(self, schema, depth):
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        alternatives = schema.get("anyOf", schema.get("oneOf"))
        if alternatives:
            if depth > 6:
                alternatives = [each for each in alternatives if "$ref" not in each] or alternatives
            made = self.make(self.random.choice(alternatives), depth + 1)
            return {**self._object(schema, depth), **made} if "properties" in schema else made
        kind = schema.get("type", "object" if "properties" in schema else None)
        if isinstance(kind, list):
            kind = self.random.choice(kind)
        return getattr(self, "_" + str(kind), self._None)(schema, depth)

    def _there(self, depth):
        return depth < 6 and self.random.random() < self.fullness

    def _object(self, schema, depth):
        made = {}
        for name, value in schema.get("properties", {}).items():
            if name in schema.get("required", []) or self._there(depth):
                made[name] = self.make(value, depth + 1)
        more = schema.get("additionalProperties", schema.get("unevaluatedProperties", True))
        if more is not False and "propertyNames" not in schema and self._there(depth):
            made["x-unknown from é"] = self.make(more if isinstance(more, dict) else {}, depth + 1)
        for pattern, value in schema.get("patternProperties", {}).items():
            if self._there(depth):
                made[pattern.lstrip("^") + "matches"] = self.make(value, depth + 1)
        return made

    def _array(self, schema, depth):
        made = [self.make(item, depth + 1) for item in schema.get("prefixItems", [])]
        least = max(schema.get("minItems", 0), len(made))
        if schema.get("items", True) is False or schema.get("maxItems", least + 1) <= least:
            return made
        count = max(least - len(made), self.random.randint(1, 3) if self._there(depth) else 0)
        return made + [self.make(schema.get("items", {}), depth + 1) for _ in range(count)]

    def _string(self, schema, depth):
        return self.random.choice(STRINGS)

    def _integer(self, schema, depth):
        return self.random.choice([0, 1, -3, 2**53 + 1, 10**30])

    def _number(self, schema, depth):
        return self.random.choice([1, 1.0, 0.1, -2, 1e300])

    def _boolean(self, schema, depth):
        return self.random.choice([True, False])

    def _null(self, schema, depth):
        return None

    def _None(self, schema, depth):
        return self.random.choice([1, "x", None])
