#include "base/json_codec.hpp"
#include "output_reader.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace cellgate::jupyter {

namespace {

constexpr std::array<std::pair<OutputType, std::string_view>, 6> type_names = {{
    {OutputType::stream, "stream"},
    {OutputType::display_data, "display_data"},
    {OutputType::execute_result, "execute_result"},
    {OutputType::error, "error"},
    {OutputType::clear_output, "clear_output"},
    {OutputType::update_display_data, "update_display_data"},
}};

constexpr std::size_t most_frames = 1000;

std::string_view name_of(OutputType type) {
    return type_names[static_cast<std::size_t>(type)].second;
}

// One object's members by name, each of an expected type.
class Members {
  public:
    explicit Members(std::string_view object) : members_(json_members(object)) {}

    // Empty when there is none of that type.
    std::string_view find(std::string_view name, std::string_view type) const {
        for (const auto& [key, value] : members_) {
            if (key == name && json_type(value) == type) {
                return value;
            }
        }
        return {};
    }
    std::string_view require(std::string_view name, std::string_view type) const {
        const std::string_view value = find(name, type);
        if (value.empty()) {
            throw Error(ErrorCode::parse_error, fmt::format("expected a member \"{}\" of type {}", name, type));
        }
        return value;
    }

  private:
    std::vector<std::pair<std::string, std::string_view>> members_;
};

class Body {
  public:
    // `size` of the content: growing would copy a large output again.
    Body(OutputType type, std::size_t size) {
        constexpr std::size_t names_of_ours = 100;
        text_.reserve(size + names_of_ours);
        text_ += fmt::format(R"({{"output_type":"{}")", name_of(type));
    }

    void add(std::string_view name, std::string_view value) {
        text_ += fmt::format(R"(,"{}":)", name);
        text_ += value;
    }
    RawJson done() && {
        text_ += '}';
        return RawJson::checked(text_);
    }

  private:
    std::string text_;
};

void add_stream(Body& body, const Members& content) {
    const std::string_view name = content.require("name", "string");
    body.add("name", decode_json_string(name) == "stderr" ? "\"stderr\"" : "\"stdout\"");
    body.add("text", content.require("text", "string"));
}

void add_display(Body& body, const Members& content) {
    const std::string_view metadata = content.find("metadata", "object");
    body.add("data", content.require("data", "object"));
    body.add("metadata", metadata.empty() ? "{}" : metadata);
}

void add_display_id(Body& body, const Members& content) {
    const std::string_view transient = content.find("transient", "object");
    const std::string_view id = transient.empty() ? transient : Members(transient).find("display_id", "string");
    if (!id.empty()) {
        body.add("transient", fmt::format(R"({{"display_id":{}}})", id));
    }
}

void add_error(Body& body, const Members& content) {
    const std::string_view traceback = content.require("traceback", "array");
    for (const std::string_view line : json_elements(traceback)) {
        if (json_type(line) != "string") {
            throw Error(ErrorCode::parse_error, "expected a traceback of strings");
        }
    }
    body.add("ename", content.require("ename", "string"));
    body.add("evalue", content.require("evalue", "string"));
    body.add("traceback", traceback);
}

struct FrameFields {
    std::optional<std::string> execution;
    std::optional<std::string> path;
    std::int64_t line = 0;
    std::string function;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("execution", self.execution);
        visit("path", self.path);
        visit("line", self.line);
        visit("function", self.function);
    }
};

std::vector<Frame> read_frames(std::string_view cellgate) {
    std::vector<Frame> frames;
    const std::string_view list = Members(cellgate).find("frames", "array");
    if (list.empty()) {
        return frames;
    }
    for (const std::string_view element : json_elements(list)) {
        if (frames.size() == most_frames) {
            break;
        }
        try {
            FrameFields fields = from_json<FrameFields>(element, "frame");
            if (fields.line >= 0) {
                frames.push_back(Frame{std::move(fields.execution), std::move(fields.path), fields.line,
                                       std::move(fields.function)});
            }
        } catch (const Error&) {
            // A frame that is none: the error itself still stands.
        }
    }
    return frames;
}

std::string text_of(std::string_view string) {
    return string.empty() ? std::string() : decode_json_string(string);
}

} // namespace

std::optional<OutputType> output_type(std::string_view msg_type) {
    for (const auto& [type, name] : type_names) {
        if (name == msg_type) {
            return type;
        }
    }
    return std::nullopt;
}

Output read_output(OutputType type, std::string_view text) {
    const Members content(text);
    Body body(type, text.size());
    switch (type) {
    case OutputType::stream:
        add_stream(body, content);
        break;
    case OutputType::execute_result: {
        const std::string_view count = content.find("execution_count", "number");
        body.add("execution_count", count.empty() ? "null" : count);
        add_display(body, content);
        break;
    }
    case OutputType::display_data:
    case OutputType::update_display_data:
        add_display(body, content);
        add_display_id(body, content);
        break;
    case OutputType::error:
        add_error(body, content);
        break;
    case OutputType::clear_output: {
        const std::string_view wait = content.find("wait", "boolean");
        body.add("wait", wait.empty() ? "false" : wait);
        break;
    }
    }
    return Output{type, std::move(body).done()};
}

Output notice(std::string_view text) {
    std::string line;
    append_json_string(line, fmt::format("[cellgate: {}]\n", text));
    Body body(OutputType::stream, line.size());
    body.add("name", "\"stderr\"");
    body.add("text", line);
    return Output{OutputType::stream, std::move(body).done()};
}

KernelError read_error(std::string_view text) {
    const Members content(text);
    KernelError error;
    error.ename = text_of(content.find("ename", "string"));
    error.evalue = text_of(content.find("evalue", "string"));
    const std::string_view traceback = content.find("traceback", "array");
    if (!traceback.empty()) {
        for (const std::string_view line : json_elements(traceback)) {
            if (json_type(line) == "string") {
                error.traceback.push_back(decode_json_string(line));
            }
        }
    }
    const std::string_view cellgate = content.find("cellgate", "object");
    if (!cellgate.empty()) {
        error.frames = read_frames(cellgate);
    }
    return error;
}

} // namespace cellgate::jupyter
