"""Random schemas of tools: what JSON Schema offers, in any combination, with names and texts that are hard to hold."""

import random

NAMES = [
    "from", "class", "None", "self", "extra", "params", "Params", "Result", "Optional", "Field", "Any", "UNSET", "list",
    "str", "schema", "copy", "json", "validate", "model_config", "_private", "__init__", "x-y", "x_y", "X-Y", "2fa",
    "$filter", "", " ", "名前", "ünï", "naïve", "\u202e", "\"", "\\", "\n", "a", "b", "kind", "type", "items", "$ref",
    "properties", "status", "data", "e-mail", "def", "match", "type_", "print",
]  # fmt: skip
TEXTS = ["", "Plain.", '"""', "\\", "ends in\\", 'ends in "', "a\nb\n\n  c", "\u202e\0", "{x} %s ${y}", "名前 🙂", "'''"]
FORMATS = ["date-time", "date", "uri", "email", "uuid", "json", "int32", "int64", "no-such-format"]
CONSTANTS = [None, True, False, 0, -1, 2**70, 1.5, 1.0, "x", "", '"', "\n", [], [1, "a"], {}, {"a": {"b": None}}]


class Schemas:
    """Makes documents, each an object's schema. Without `unions` a value shows which classes it is made of."""

    def __init__(self, seed, unions=True):
        self.random = random.Random(seed)
        self.unions = unions
        self.definitions = {}

    def document(self):
        names = ["Node", "a/b c", "Färbe", "from"][: self.random.randint(0, 4)]
        self.definitions = {name: {} for name in names}
        for name in names:
            made = self._object(2) if name == "Node" else self._schema(2)
            while {"$ref", "allOf", "anyOf", "oneOf"} & set(made):
                made = self._schema(2)  # not what may be nothing but itself: no judge of values comes to an end
            self.definitions[name] = made
            if self._now_and_then():
                self.definitions[name]["$anchor"] = "anchor" + str(names.index(name))
        document = self._object(0)
        document["type"] = "object"
        if self.definitions:
            document["$defs"] = self.definitions
        return document

    def _now_and_then(self):
        return self.random.random() < 0.3

    def _schema(self, depth):
        makers = [self._string, self._number, self._constant, self._enum, self._any, self._plain, self._types]
        if depth < 4:
            makers += [self._array, self._tuple, self._object, self._object, self._map]
        if depth < 4 and self.unions:
            makers += [self._union, self._variants]
        if self.definitions:
            makers += [self._reference, self._reference]
            makers += [self._narrowed] if self.unions else []
        schema = self.random.choice(makers)(depth)
        for keyword in ("description", "title", "default", "examples", "$comment"):
            if self._now_and_then() and schema:
                text = self.random.choice(TEXTS)
                schema[keyword] = [text] if keyword == "examples" else text
        return schema

    def _string(self, depth):
        return {"type": "string", **({"format": self.random.choice(FORMATS)} if self._now_and_then() else {})}

    def _number(self, depth):
        kind = self.random.choice(["integer", "number"])
        return {"type": kind, **({"minimum": -(10**40)} if self._now_and_then() else {})}

    def _plain(self, depth):
        return {"type": self.random.choice(["boolean", "null", "object", "array"])}

    def _constant(self, depth):
        return {"const": self.random.choice(CONSTANTS)}

    def _enum(self, depth):
        return {"enum": self.random.sample(CONSTANTS, self.random.randint(1, 5))}

    def _any(self, depth):
        return {}

    def _types(self, depth):
        kinds = ["string", "integer", "boolean", "null", "number", "object", "array"]
        return {"type": self.random.sample(kinds, self.random.randint(1, 4))}

    def _array(self, depth):
        return {"type": "array", "items": self._schema(depth + 1), "minItems": self.random.randint(0, 2)}

    def _tuple(self, depth):
        parts = [self._schema(depth + 1) for _ in range(self.random.randint(1, 3))]
        made = {"type": "array", "prefixItems": parts}
        end = self.random.choice(["open", "closed", "at most", "rest"])
        if end in ("closed", "at most"):
            made["minItems"] = len(parts)
        if end == "closed":
            made["items"] = False
        elif end == "at most":
            made["maxItems"] = len(parts)
        elif end == "rest":
            made["items"] = self._schema(depth + 1)
        return made

    def _object(self, depth):
        names = self.random.sample(NAMES, self.random.randint(0, 6))
        made = {"type": "object", "properties": {name: self._schema(depth + 1) for name in names}}
        made["required"] = [
            name for name in names if self._now_and_then() and "$ref" not in made["properties"][name]
        ]  # what must hold itself has no end
        more = self.random.choice([None, None, True, False, {}])
        if more is not None:
            made["additionalProperties"] = self._schema(depth + 1) if more == {} else more
        return made

    def _map(self, depth):
        made = {"type": "object", "additionalProperties": self._schema(depth + 1)}
        if self._now_and_then():
            made["patternProperties"] = {"^x-": made["additionalProperties"]}
            made["additionalProperties"] = False
        return made

    def _union(self, depth):
        keyword = self.random.choice(["anyOf", "oneOf"])
        return {keyword: [self._schema(depth + 1) for _ in range(self.random.randint(1, 3))]}

    def _variants(self, depth):
        variants = []
        for tag in self.random.sample(["circle", "from", "", "名", 3, None], 3):
            variant = self._object(depth + 1)
            variant["properties"]["kind"] = {"const": tag}
            variant["required"] = sorted({*variant["required"], "kind"})
            variants.append(variant)
        return {"oneOf": variants, "discriminator": {"propertyName": "kind"}}

    def _reference(self, depth):
        name = self.random.choice(list(self.definitions))
        definition = self.definitions[name]
        if "$anchor" in definition and self._now_and_then():
            return {"$ref": "#" + definition["$anchor"]}
        pointer = name.replace("~", "~0").replace("/", "~1").replace(" ", "%20")
        return {"$ref": self.random.choice(["#/$defs/" + pointer, "#"])}

    def _narrowed(self, depth):
        return {"allOf": [self._reference(depth), {"description": self.random.choice(TEXTS)}]}
