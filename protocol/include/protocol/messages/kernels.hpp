#pragma once
// `KernelListResult` is the list of available kernels; the other messages are queries to a session's kernel that run no
// code of a client: completion, documentation, variables. Offsets in code are counted in Unicode code points.

#include "base/json_codec.hpp"
#include "protocol/peer.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::protocol {

struct KernelListEntry {
    std::string name;
    std::string display_name;
    std::string language;
    std::string source; // "kernelspec" or "interpreter"
    std::optional<std::string> interpreter;
    std::optional<std::string> resource_dir;
    std::optional<std::string> problem;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("name", self.name);
        visit("displayName", self.display_name);
        visit("language", self.language);
        visit("source", self.source);
        visit("interpreter", self.interpreter);
        visit("resourceDir", self.resource_dir);
        visit("problem", self.problem);
    }
};

struct KernelListResult {
    std::vector<KernelListEntry> kernels;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("kernels", self.kernels);
    }
};

struct KernelCompleteParams {
    std::optional<std::string> session_id;
    std::string code;
    std::int64_t cursor_pos = 0;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("sessionId", self.session_id);
        visit("code", self.code);
        visit("cursorPos", self.cursor_pos);
    }
};

struct KernelCompleteResult {
    std::vector<std::string> matches;
    std::optional<std::vector<std::string>> types; // one for each match
    std::int64_t cursor_start = 0;
    std::int64_t cursor_end = 0;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("matches", self.matches);
        visit("types", self.types);
        visit("cursorStart", self.cursor_start);
        visit("cursorEnd", self.cursor_end);
    }
};

struct KernelInspectParams {
    std::optional<std::string> session_id;
    std::string code;
    std::int64_t cursor_pos = 0;
    std::optional<std::int64_t> detail_level;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("sessionId", self.session_id);
        visit("code", self.code);
        visit("cursorPos", self.cursor_pos);
        visit("detailLevel", self.detail_level);
    }
};

struct KernelInspectResult {
    bool found = false;
    std::optional<std::string> text;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("found", self.found);
        visit("text", self.text);
    }
};

struct KernelVariablesParams {
    std::optional<std::string> session_id;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("sessionId", self.session_id);
    }
};

struct KernelVariable {
    std::string name;
    std::string type;
    std::string value;
    std::optional<std::string> size;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("name", self.name);
        visit("type", self.type);
        visit("value", self.value);
        visit("size", self.size);
    }
};

struct KernelVariablesResult {
    std::vector<KernelVariable> variables;
    bool truncated = false;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("variables", self.variables);
        visit("truncated", self.truncated);
    }
};

struct KernelList : Request<Empty, KernelListResult> {
    static constexpr std::string_view name = "kernel/list";
};
struct KernelComplete : Request<KernelCompleteParams, KernelCompleteResult> {
    static constexpr std::string_view name = "kernel/complete";
};
struct KernelInspect : Request<KernelInspectParams, KernelInspectResult> {
    static constexpr std::string_view name = "kernel/inspect";
};
struct KernelVariables : Request<KernelVariablesParams, KernelVariablesResult> {
    static constexpr std::string_view name = "kernel/variables";
};

} // namespace cellgate::protocol
