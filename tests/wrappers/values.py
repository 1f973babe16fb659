"""Values that a schema allows, for sending through a wrapper: deterministic, from the sparsest to the fullest."""

import random


class Values:
    """Makes values of one schema document. `fullness` is how likely an optional part is there."""

    def __init__(self, document, seed, fullness):
        self.document = document
        self.random = random.Random(seed)
        self.fullness = fullness

    def make(self, schema=None, depth=0):
        schema = self.document if schema is None else schema
        if not isinstance(schema, dict) or not schema:
            return self.random.choice([1, "x", None, True, 2.5, {"any": ["thing"]}])
        if "$ref" in schema:
            target = self.document
            for part in schema["$ref"].lstrip("#/").split("/") if schema["$ref"] != "#" else []:
                target = target[part]
            return self.make(target, depth + 1)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema and "properties" not in schema:
                return self.make(self.random.choice(schema[keyword]), depth + 1)
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
        more = schema.get("additionalProperties", True)
        if more is not False and self._there(depth):
            made["x-unknown from é"] = self.make(more if isinstance(more, dict) else {}, depth + 1)
        return made

    def _array(self, schema, depth):
        if "prefixItems" in schema:
            return [self.make(item, depth + 1) for item in schema["prefixItems"]]
        least = schema.get("minItems", 0)
        count = max(least, self.random.randint(1, 3) if self._there(depth) else 0)
        return [self.make(schema.get("items", {}), depth + 1) for _ in range(count)]

    def _string(self, schema, depth):
        return self.random.choice(["", "plain", "ünï\n\"'\\\u202e", "a" * 40])

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
