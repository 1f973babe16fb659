#include "wrappers/signature.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::wrappers;

namespace {

std::string signature_of(const std::string& name, const std::string& input, const std::string& output = {}) {
    protocol::ToolSpec tool;
    tool.name = name;
    tool.input_schema = RawJson::parse(input);
    if (!output.empty()) {
        tool.output_schema = RawJson::parse(output);
    }
    return signature("File-System", tool);
}

} // namespace

TEST_CASE("a signature has the module, required arguments first, and the fields of the result") {
    CHECK(
        signature_of("readFile", R"({"type": "object", "properties": {"head": {"type": "integer"},
        "path": {"type": "string"}}, "required": ["path"]})",
                     R"({"type": "object", "properties": {"content": {"type": "string"}}, "required": ["content"]})") ==
        "mcptools.file_system.readfile.run(path: str, head: int = ...) -> Result(content: str)");
    CHECK(signature_of("ping", R"({"type": "object"})") == "mcptools.file_system.ping.run() -> Text");
}

TEST_CASE("the classes that arguments need come behind it") {
    CHECK(signature_of("edit", R"({"type": "object", "properties": {"edits": {"type": "array", "items": {
        "type": "object", "properties": {"oldText": {"type": "string"}}, "required": ["oldText"]}}},
        "required": ["edits"]})")
              .ends_with("-> Text\nEdit(oldText: str)"));
}

TEST_CASE("a schema without a wrapper has none, and a long one is cut") {
    CHECK(signature_of("odd", R"({"type": "string"})").empty());
    std::string properties;
    for (int i = 0; i < 200; ++i) {
        properties += (i == 0 ? "\"a" : ", \"a") + std::to_string(i) + R"(": {"type": "string"})";
    }
    const std::string cut = signature_of("wide", R"({"type": "object", "properties": {)" + properties + "}}");
    CHECK(cut.size() <= 1010);
    CHECK(cut.ends_with(" …"));
}
