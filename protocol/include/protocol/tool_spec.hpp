#pragma once
// `ToolSpec` is a tool as an MCP server describes it (tools/list). All of it is untrusted text. Annotations are hints,
// never a reason to allow something.

#include "base/json_codec.hpp"

#include <optional>
#include <string>

namespace cellgate::protocol {

struct ToolAnnotations {
    std::optional<std::string> title;
    std::optional<bool> read_only_hint;
    std::optional<bool> destructive_hint;
    std::optional<bool> idempotent_hint;
    std::optional<bool> open_world_hint;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("title", self.title);
        visit("readOnlyHint", self.read_only_hint);
        visit("destructiveHint", self.destructive_hint);
        visit("idempotentHint", self.idempotent_hint);
        visit("openWorldHint", self.open_world_hint);
    }
};

struct ToolSpec {
    std::string name;
    std::optional<std::string> title;
    std::optional<std::string> description;
    RawJson input_schema;
    std::optional<RawJson> output_schema;
    std::optional<ToolAnnotations> annotations;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("name", self.name);
        visit("title", self.title);
        visit("description", self.description);
        visit("inputSchema", self.input_schema);
        visit("outputSchema", self.output_schema);
        visit("annotations", self.annotations);
    }
};

} // namespace cellgate::protocol
