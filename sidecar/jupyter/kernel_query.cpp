#include "jupyter/kernel_query.hpp"

#include "base/escape_unprintable.hpp"
#include "base/json_codec.hpp"
#include "base/terminal_colours.hpp"
#include "truncate_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace cellgate::jupyter {

namespace {

constexpr std::size_t max_matches = 1000;
constexpr std::size_t max_match_bytes = 1000;
constexpr std::size_t max_inspection_bytes = std::size_t{64} << 10;
constexpr std::size_t max_variables = 1000;
constexpr std::size_t max_variable_bytes = 500;

struct PlaceContent {
    const std::string& code;
    std::int64_t cursor = 0;
    std::optional<std::int64_t> detail_level = {};

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("code", self.code);
        visit("cursor_pos", self.cursor);
        visit("detail_level", self.detail_level);
    }
};

// IPython's extra data of each match, beyond Jupyter's protocol.
struct TypedMatch {
    std::string text;
    std::string type;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("text", self.text);
        visit("type", self.type);
    }
};

struct CompletionMetadata {
    std::optional<std::vector<TypedMatch>> typed;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("_jupyter_types_experimental", self.typed);
    }
};

struct CompletionContent {
    std::optional<std::vector<std::string>> matches;
    std::optional<std::int64_t> cursor_start;
    std::optional<std::int64_t> cursor_end;
    std::optional<CompletionMetadata> metadata;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("matches", self.matches);
        visit("cursor_start", self.cursor_start);
        visit("cursor_end", self.cursor_end);
        visit("metadata", self.metadata);
    }
};

struct InspectionContent {
    std::optional<bool> found;
    std::optional<std::map<std::string, RawJson>> data;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("found", self.found);
        visit("data", self.data);
    }
};

struct VariablesContent {
    std::vector<Variable> variables;
    bool truncated = false;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("variables", self.variables);
        visit("truncated", self.truncated);
    }
};

struct Evaluated {
    std::optional<std::map<std::string, RawJson>> data; // absent when it raised

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("data", self.data);
    }
};

struct EvaluatedExpressions {
    std::optional<Evaluated> value;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("value", self.value);
    }
};

struct EvaluateReplyContent {
    std::optional<EvaluatedExpressions> expressions;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("user_expressions", self.expressions);
    }
};

constexpr std::string_view silent_execution =
    R"("silent":true,"store_history":false,"allow_stdin":false,"stop_on_error":false)";

} // namespace

std::string shown_line(const std::string& text) {
    return escape_unprintable(truncate_text(text, max_variable_bytes));
}

KernelQuery completion_query(const std::string& code, std::int64_t cursor) {
    return {"complete", to_json(PlaceContent{code, cursor})};
}

Completion read_completion(std::string_view reply, std::int64_t cursor) {
    const auto content = from_json<CompletionContent>(reply, "complete_reply");
    const std::vector<std::string> matches = content.matches.value_or(std::vector<std::string>{});
    const std::vector<TypedMatch> typed =
        content.metadata.value_or(CompletionMetadata{}).typed.value_or(std::vector<TypedMatch>{});
    Completion completion;
    completion.cursor_start = std::clamp<std::int64_t>(content.cursor_start.value_or(cursor), 0, cursor);
    completion.cursor_end =
        std::clamp<std::int64_t>(content.cursor_end.value_or(cursor), completion.cursor_start, cursor);
    std::vector<std::string> types;
    for (std::size_t i = 0; i < matches.size() && completion.matches.size() < max_matches; ++i) {
        // It is inserted into code: it must not contain invisible characters.
        if (matches[i].size() > max_match_bytes || escape_unprintable(matches[i]) != matches[i]) {
            continue;
        }
        const bool is_typed = i < typed.size() && typed[i].text == matches[i];
        types.push_back(is_typed ? shown_line(typed[i].type) : "");
        completion.matches.push_back(matches[i]);
    }
    if (!typed.empty()) {
        completion.types = std::move(types);
    }
    return completion;
}

KernelQuery inspection_query(const std::string& code, std::int64_t cursor, std::int64_t detail_level) {
    return {"inspect", to_json(PlaceContent{code, cursor, detail_level})};
}

std::optional<std::string> read_inspection(std::string_view reply) {
    const auto content = from_json<InspectionContent>(reply, "inspect_reply");
    if (!content.found.value_or(false) || !content.data || !content.data->contains("text/plain")) {
        return std::nullopt;
    }
    return shown_description(from_json<std::string>(content.data->at("text/plain"), "inspect_reply.data"));
}

std::string shown_description(std::string_view text) {
    // An escape is at most seven times as long as its character.
    const std::string visible = escape_unprintable(truncate_text(without_colours(text), max_inspection_bytes), true);
    return truncate_text(visible, max_inspection_bytes);
}

KernelQuery code_query(std::string_view code) {
    std::string content = R"({"code":)";
    append_json_string(content, code);
    content += fmt::format(R"(,{},"user_expressions":{{}}}})", silent_execution);
    return {"execute", std::move(content)};
}

KernelQuery evaluation_query(std::string_view expression) {
    std::string content = fmt::format(R"({{"code":"",{},"user_expressions":{{"value":)", silent_execution);
    append_json_string(content, expression);
    content += "}}";
    return {"execute", std::move(content)};
}

std::optional<Variables> read_variables(std::string_view reply) {
    const auto content = from_json<EvaluateReplyContent>(reply, "execute_reply");
    if (!content.expressions || !content.expressions->value || !content.expressions->value->data ||
        !content.expressions->value->data->contains("application/json")) {
        return std::nullopt;
    }
    return shown_variables(content.expressions->value->data->at("application/json"));
}

Variables shown_variables(const RawJson& value) {
    const auto found = from_json<VariablesContent>(value, "variables");
    Variables variables;
    variables.truncated = found.truncated || found.variables.size() > max_variables;
    for (const Variable& each : found.variables) {
        if (variables.all.size() == max_variables) {
            break;
        }
        Variable variable{shown_line(each.name), shown_line(each.type), shown_line(each.value), {}};
        if (each.size) {
            variable.size = shown_line(*each.size);
        }
        variables.all.push_back(std::move(variable));
    }
    return variables;
}

} // namespace cellgate::jupyter
