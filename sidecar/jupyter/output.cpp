#include "base/json_codec.hpp"
#include "output_reader.hpp"
#include "truncate_text.hpp"

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
static_assert(type_names.size() == static_cast<std::size_t>(OutputType::update_display_data) + 1); // the last one

constexpr std::size_t max_frames = 1000;
constexpr std::size_t max_payloads = 100;
constexpr std::size_t max_frame_bytes = 4096; // of a path, of a function's name

// An error is sent completely in one message and in a result.
constexpr std::size_t max_ename_bytes = 4096;
constexpr std::size_t max_evalue_bytes = std::size_t{256} << 10;
constexpr std::size_t max_traceback_bytes = std::size_t{1} << 20;

// Metadata that no renderer uses must not make a message too large to send.
constexpr std::size_t max_metadata_bytes = std::size_t{1} << 20;
constexpr std::size_t max_display_id_bytes = 4096;

std::string_view name_of(OutputType type) {
    return type_names[static_cast<std::size_t>(type)].second;
}

// One object's members by name, each of an expected type.
class Members {
  public:
    explicit Members(std::string_view object) : members_(json_members(object)) {}

    // Empty if there is none of that type.
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
        return RawJson::checked(std::move(text_));
    }

  private:
    std::string text_;
};

void require_size(std::string_view value, std::size_t max_bytes, std::string_view name) {
    if (value.size() > max_bytes) {
        throw Error(ErrorCode::parse_error,
                    fmt::format("expected a {} of at most {} bytes, found {}", name, max_bytes, value.size()));
    }
}

// Whether a JSON number is a valid execution count.
bool is_count(std::string_view number) {
    constexpr std::size_t max_digits = 15;
    return !number.empty() && number.size() <= max_digits &&
           number.find_first_not_of("0123456789") == std::string_view::npos;
}

void add_stream(Body& body, const Members& content) {
    const std::string_view name = content.require("name", "string");
    body.add("name", decode_json_string(name) == "stderr" ? "\"stderr\"" : "\"stdout\"");
    body.add("text", content.require("text", "string"));
}

void add_display(Body& body, const Members& content) {
    const std::string_view metadata = content.find("metadata", "object");
    require_size(metadata, max_metadata_bytes, "metadata");
    body.add("data", content.require("data", "object"));
    body.add("metadata", metadata.empty() ? "{}" : metadata);
}

void add_display_id(Body& body, const Members& content) {
    const std::string_view transient = content.find("transient", "object");
    const std::string_view id = transient.empty() ? transient : Members(transient).find("display_id", "string");
    require_size(id, max_display_id_bytes, "display_id");
    if (!id.empty()) {
        body.add("transient", fmt::format(R"({{"display_id":{}}})", id));
    }
}

// The replacement for a missing traceback.
std::string line_of(const std::string& ename, const std::string& evalue) {
    return ename.empty() || evalue.empty() ? ename + evalue : ename + ": " + evalue;
}

// The strings of an array; if they are too long together, only the first and the last.
std::vector<std::string> cut_lines(std::string_view traceback) {
    std::vector<std::string> lines;
    const std::vector<std::string_view> all = json_elements(traceback);
    constexpr std::size_t half = max_traceback_bytes / 2;
    constexpr std::size_t cost = 16; // of a line, in addition to its text
    std::size_t head = 0;
    for (std::size_t bytes = 0; head < all.size() && bytes + all[head].size() + cost <= half; ++head) {
        bytes += all[head].size() + cost;
    }
    std::size_t tail = all.size();
    for (std::size_t bytes = 0; tail > head && bytes + all[tail - 1].size() + cost <= half; --tail) {
        bytes += all[tail - 1].size() + cost;
    }
    const auto add = [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) {
            if (json_type(all[i]) == "string") {
                lines.push_back(decode_json_string(all[i]));
            }
        }
    };
    add(0, head);
    if (tail == head + 1) { // one long text
        if (json_type(all[head]) == "string") {
            lines.push_back(truncate_text(decode_json_string(all[head]), half));
        }
    } else if (tail > head) {
        lines.push_back(fmt::format("[\u2026 {} lines cut \u2026]", tail - head));
    }
    add(tail, all.size());
    return lines;
}

void add_error(Body& body, const std::string& ename, const std::string& evalue, std::vector<std::string> traceback) {
    if (traceback.empty()) {
        traceback.push_back(line_of(ename, evalue));
    }
    body.add("ename", to_json(ename));
    body.add("evalue", to_json(evalue));
    std::string lines;
    for (const std::string& line : traceback) {
        lines += (lines.empty() ? "[" : ",") + to_json(line);
    }
    body.add("traceback", lines + "]");
}

void add_error(Body& body, const Members& content) {
    const std::string_view traceback = content.require("traceback", "array");
    const std::vector<std::string_view> lines = json_elements(traceback);
    for (const std::string_view line : lines) {
        if (json_type(line) != "string") {
            throw Error(ErrorCode::parse_error, "expected a traceback of strings");
        }
    }
    const std::string_view ename = content.require("ename", "string");
    const std::string_view evalue = content.require("evalue", "string");
    if (!lines.empty() && ename.size() <= max_ename_bytes && evalue.size() <= max_evalue_bytes &&
        traceback.size() <= max_traceback_bytes) {
        body.add("ename", ename);
        body.add("evalue", evalue);
        body.add("traceback", traceback);
        return;
    }
    add_error(body, truncate_text(decode_json_string(ename), max_ename_bytes),
              truncate_text(decode_json_string(evalue), max_evalue_bytes), cut_lines(traceback));
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
        if (frames.size() == max_frames) {
            break;
        }
        try {
            FrameFields fields = from_json<FrameFields>(element, "frame");
            if (fields.line >= 0 && fields.path.value_or("").size() <= max_frame_bytes &&
                fields.function.size() <= max_frame_bytes) {
                frames.push_back(Frame{std::move(fields.execution), std::move(fields.path), fields.line,
                                       std::move(fields.function)});
            }
        } catch (const Error&) {
            // An invalid frame is skipped; the error itself is kept.
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
        body.add("execution_count", is_count(count) ? count : "null");
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

Output error_output(const KernelError& error) {
    Body body(OutputType::error, error.evalue.size());
    add_error(body, error.ename, error.evalue, {});
    return Output{OutputType::error, std::move(body).done()};
}

Payload read_payload(std::string_view text) {
    Payload payload;
    const std::string_view list = Members(text).find("payload", "array");
    if (list.empty()) {
        return payload;
    }
    for (const std::string_view element : json_elements(list)) {
        if (json_type(element) != "object" || payload.shown.size() == max_payloads) {
            continue;
        }
        const Members members(element);
        const std::string source = text_of(members.find("source", "string"));
        std::string_view data;
        std::string made;
        if (source == "ask_exit") {
            payload.asks_exit = payload.asks_exit || members.find("keepkernel", "boolean") != "true";
        } else if (source == "page") {
            data = members.find("data", "object");
        } else if (const std::string_view next = members.find("text", "string");
                   source == "set_next_input" && !next.empty()) {
            made = fmt::format(R"({{"text/plain":{}}})", next);
            data = made;
        }
        if (!data.empty()) {
            Body body(OutputType::display_data, data.size());
            body.add("data", data);
            body.add("metadata", "{}");
            payload.shown.push_back(Output{OutputType::display_data, std::move(body).done()});
        }
    }
    return payload;
}

KernelError read_error(std::string_view text) {
    const Members content(text);
    KernelError error;
    error.ename = truncate_text(text_of(content.find("ename", "string")), max_ename_bytes);
    error.evalue = truncate_text(text_of(content.find("evalue", "string")), max_evalue_bytes);
    const std::string_view traceback = content.find("traceback", "array");
    if (!traceback.empty()) {
        error.traceback = cut_lines(traceback);
    }
    const std::string_view cellgate = content.find("cellgate", "object");
    if (!cellgate.empty()) {
        error.frames = read_frames(cellgate);
        error.was_printed = Members(cellgate).find("printed", "boolean") == "true";
    }
    return error;
}

} // namespace cellgate::jupyter
