#include "wrappers/generate.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace cellgate;
using namespace cellgate::wrappers;

namespace {

protocol::ToolSpec tool(const std::string& name, const std::string& schema = R"({"type":"object"})") {
    protocol::ToolSpec spec;
    spec.name = name;
    spec.input_schema = RawJson::parse(schema);
    return spec;
}

std::string text_of(const Package& package, const std::string& path) {
    const auto file =
        std::find_if(package.files.begin(), package.files.end(), [&](const File& each) { return each.path == path; });
    REQUIRE(file != package.files.end());
    return file->text;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a package has the runtime, a module for each tool, and says where they are") {
    const Package package = generate("My Server", {tool("read-file"), tool("write_file")});
    CHECK(package.package == "my_server");
    REQUIRE(package.modules.size() == 2);
    CHECK(package.modules[0].tool == "read-file");
    CHECK(package.modules[0].module == "read_file");
    CHECK(package.modules[0].path == "mcptools/my_server/read_file.py");
    CHECK(contains(text_of(package, "mcptools/_runtime.py"), "class ApprovalDenied(ToolCallError)"));
    CHECK(contains(text_of(package, "mcptools/__init__.py"), "ApprovalDenied,"));
    CHECK(contains(text_of(package, "mcptools/my_server/__init__.py"), "read_file"));
    CHECK(contains(text_of(package, "mcptools/my_server/write_file.py"), R"(_Tool("My Server", "write_file", Params)"));
}

TEST_CASE("the same input makes the same bytes") {
    const auto make = [] { return generate("s", {tool("b", R"({"type":"object","properties":{"y":{},"x":{}}})")}); };
    const Package first = make();
    const Package second = make();
    REQUIRE(first.files.size() == second.files.size());
    for (std::size_t i = 0; i < first.files.size(); ++i) {
        CHECK(first.files[i].text == second.files[i].text);
    }
}

TEST_CASE("a tool that is named as its module would be keeps the name, whatever comes before it") {
    const Package package = generate("s", {tool("a-b"), tool("a_b"), tool("A.b")});
    CHECK(package.modules[0].module == "a_b_2");
    CHECK(package.modules[1].module == "a_b");
    CHECK(package.modules[2].module == "a_b_3");
}

TEST_CASE("defaults are documented and not sent") {
    const std::string schema = R"({"type":"object","properties":{"limit":{"type":"integer","default":10}}})";
    const std::string text = text_of(generate("s", {tool("t", schema)}), "mcptools/s/t.py");
    CHECK(contains(text, "limit: [default 10]"));
    CHECK(contains(text, "limit: Union[int, None, Unset] = UNSET"));
}

TEST_CASE("a required argument may be left out when the sidecar can put in its default") {
    const std::string schema = R"({"type":"object","properties":{"a":{"type":"integer","default":1},
        "b":{"type":"integer"},"c":{"$ref":"#/$defs/C"},"d":{"type":"object","properties":{"e":{"default":5}},
        "required":["e"]}},"required":["a","b","c","d"],"$defs":{"C":{"type":"integer","default":2}}})";
    const std::string text = text_of(generate("s", {tool("t", schema)}), "mcptools/s/t.py");
    CHECK(contains(text, "    a: [default 1]\n"));
    CHECK(contains(text, "a: Union[int, None, Unset] = UNSET,"));
    CHECK(contains(text, "    b (required)"));
    CHECK(contains(text, " c: int,"));
    CHECK(contains(text, " e: Any,"));
}

TEST_CASE("None is a value only where the tool takes a null") {
    const std::string schema = R"({"type":"object","properties":{"a":{"type":"integer"},
        "b":{"type":["integer","null"]},"c":{"anyOf":[{"enum":["x",null]},{"type":"integer"}]},"d":{}}})";
    const std::string text = text_of(generate("s", {tool("t", schema)}), "mcptools/s/t.py");
    CHECK(contains(text, "self.a: Union[int, Unset] = UNSET if a is None else a\n"));
    CHECK(contains(text, "self.b: Union[int, None, Unset] = b\n"));
    CHECK(contains(text, "self.c: Union[Union[Literal[\"x\"], None], int, Unset] = c\n"));
    CHECK(contains(text, "self.d: Any = d\n"));
}

TEST_CASE("a Result has the blocks as content, or as content_ beside a property of that name") {
    protocol::ToolSpec own = tool("t", R"({"type":"object"})");
    own.output_schema = RawJson::parse(R"({"type":"object","properties":{"a":{}}})");
    CHECK(contains(text_of(generate("s", {own}), "mcptools/s/t.py"), "class Result(_Answer):"));
    own.output_schema = RawJson::parse(R"({"type":"object","properties":{"content":{}}})");
    CHECK(contains(text_of(generate("s", {own}), "mcptools/s/t.py"), "class Result(_ContentAnswer):"));
}

TEST_CASE("schemas become types") {
    struct Case {
        const char* schema;
        const char* annotation;
    };
    for (const auto& [schema, annotation] : std::initializer_list<Case>{
             {R"({"type":"string"})", "str"},
             {R"({"type":"number"})", "float"},
             {R"({"type":["integer","null"]})", "Union[int, None]"},
             {R"({"type":"string","nullable":true})", "Union[str, None]"},
             {R"({"enum":["a","b",1,true,null]})", R"(Union[Literal["a", "b", 1, True], None])"},
             {R"({"const":"x"})", R"(Literal["x"])"},
             {R"({"enum":[1.5,2]})", "Union[float, int]"},
             {R"({"enum":[1e400]})", "float"},
             {R"({"const":123456789012345678901234567890})", "int"},
             {R"({"type":"array"})", "List[Any]"},
             {R"({"type":"array","items":{"type":"array","items":{"type":"boolean"}}})", "List[List[bool]]"},
             {R"({"type":"array","prefixItems":[{"type":"string"},{}],"minItems":2,"maxItems":2})", "Tuple[str, Any]"},
             {R"({"type":"array","prefixItems":[{"type":"string"},{"type":"null"}],"items":false})",
              "List[Union[str, None]]"},
             {R"({"type":"array","prefixItems":[{"type":"string"}]})", "List[Any]"},
             {R"({"items":[{"type":"string"},{}],"additionalItems":false,"minItems":2})", "Tuple[str, Any]"},
             {R"({"type":"object"})", "Dict[str, Any]"},
             {R"({"type":"object","propertyNames":{"enum":["a"]},"additionalProperties":{}})", "Dict[str, Any]"},
             {R"({"type":"object","additionalProperties":{"type":"integer"}})", "Dict[str, int]"},
             {R"({"type":"object","properties":{"x":{}}})", "Union[P, Mapping[str, Any]]"},
             {R"({"type":"array","items":{"type":"object","properties":{"x":{}}}})",
              "Sequence[Union[PItem, Mapping[str, Any]]]"},
             {R"({"type":"object","additionalProperties":{"type":"object","properties":{"x":{}}}})",
              "Mapping[str, Union[PItem, Mapping[str, Any]]]"},
             {R"({"anyOf":[{"type":"string"},{"type":"integer"},{"type":"string"}]})", "Union[str, int]"},
             {R"({"anyOf":[{"type":"string"},{"description":"anything"}]})", "Any"},
             {R"({"type":"string","anyOf":[{"format":"a"},{"minLength":1}]})", "str"},
             {R"({"allOf":[{"$ref":"#/$defs/Port"},{"maximum":9}]})", "int"},
             {R"({"$ref":"#/$defs/Port"})", "int"},
             {R"({"$ref":"#port"})", "int"},
             {R"({"$ref":"#/$defs/a~1b%20c"})", "bool"},
             {R"({"$ref":"#/$defs/none"})", "Any"},
             {R"({"$ref":"https://example.com/x"})", "Any"},
             {R"({"$dynamicRef":"#port"})", "Any"},
             {R"({"type":["string","integer","array"]})", "Union[str, int, List[Any]]"},
             {R"({"type":"integer","not":{"const":1},"if":{"minimum":1},"then":{"maximum":2}})", "int"},
             {R"({"type":"number","minimum":1,"exclusiveMinimum":true})", "float"},
             {R"({"type":"string","format":"email","pattern":"^(?=x)\\p{L}"})", "str"},
             {R"({"oneOf":[{"const":"a","title":"A"},{"const":"b"}]})", R"(Union[Literal["a"], Literal["b"]])"},
             {R"({"type":"colour"})", "Any"},
             {R"(true)", "Any"},
             {R"({})", "Any"},
         }) {
        CAPTURE(schema);
        const std::string whole =
            std::string(R"({"type":"object","required":["p"],"properties":{"p":)") + schema +
            R"(},"$defs":{"Port":{"$anchor":"port","type":"integer"},"a/b c":{"type":"boolean"}}})";
        const Package package = generate("s", {tool("t", whole)});
        REQUIRE(package.skipped.empty());
        CHECK(contains(text_of(package, "mcptools/s/t.py"), std::string("self.p: ") + annotation + " = p\n"));
    }
}

TEST_CASE("what a tool says about the values that it offers is documented") {
    const std::string schema = R"({"type":"object","properties":{"unit":{"oneOf":[{"const":"kg","title":"Kilogram"},
        {"const":"g","description":"Gram"},{"const":"t"}]}}})";
    const std::string text = text_of(generate("s", {tool("t", schema)}), "mcptools/s/t.py");
    CHECK(contains(text, R"(unit: ["kg" (Kilogram), "g" (Gram)])"));
}

TEST_CASE("classes of arguments and of results that have one name do not hide each other") {
    protocol::ToolSpec both = tool(
        "t", R"({"type":"object","properties":{"entity":{"type":"object","properties":{"a":{"type":"string"}}}}})");
    both.output_schema =
        RawJson::parse(R"({"type":"object","properties":{"entity":{"type":"object","properties":{"b":{}}}}})");
    const std::string text = text_of(generate("s", {both}), "mcptools/s/t.py");
    CHECK(contains(text, "class Entity(_Struct):"));
    CHECK(contains(text, "class ResultEntity(_Struct):"));
    CHECK(contains(text, "self.entity: Union[Entity, Mapping[str, Any], Unset] = UNSET if entity is None else entity"));
    CHECK(contains(text, "    entity: Union[ResultEntity, Unset]\n"));
}

TEST_CASE("alternatives at the top become optional arguments") {
    const std::string schema = R"({"type":"object","properties":{"a":{"type":"string"}},"required":["a"],
        "oneOf":[{"properties":{"b":{"type":"integer"}},"required":["b"]},{"properties":{"c":{"type":"boolean"}}}]})";
    const std::string text = text_of(generate("s", {tool("t", schema)}), "mcptools/s/t.py");
    CHECK(contains(
        text,
        "        a: str,\n        b: Union[int, None, Unset] = UNSET,\n        c: Union[bool, None, Unset] = UNSET,"));
}
