#include "shown_output.hpp"

#include "base/json_codec.hpp"
#include "base/json_scan.hpp"

#include <fmt/format.h>

#include <string_view>

namespace cellgate::service {

namespace {

constexpr std::size_t max_shown_bytes = std::size_t{64} << 10; // of data that is no plain text

// The text of a string; the JSON of any other value.
std::string text_of(std::string_view value) {
    return json_type(value) == "string" ? decode_json_string(value) : std::string(value);
}

bool is_text(std::string_view type) {
    return type.starts_with("text/") || type.ends_with("json") || type.ends_with("xml") || type.ends_with("javascript");
}

// As cells have it.
std::string shown_data(std::string_view data) {
    std::string shown;
    for (const auto& [type, value] : json_members(data)) {
        const std::string text = text_of(value);
        if (type == "text/plain") {
            shown += text + "\n";
        } else if (is_text(type) && text.size() <= max_shown_bytes) {
            shown += fmt::format("[{}]\n{}\n", type, text);
        } else {
            shown += fmt::format("[{}, {} bytes]\n", type, text.size());
        }
    }
    return shown;
}

std::string shown_error(std::string_view traceback, const std::string& name, const std::string& value) {
    std::string shown;
    for (const std::string_view line : json_elements(traceback)) {
        shown += text_of(line) + "\n";
    }
    const std::string summary = fmt::format("{}: {}", name, value);
    return shown.find(summary) == std::string::npos ? shown + summary + "\n" : shown;
}

// Of display data and whatever else a kernel says: nothing that is sent is left out.
std::string shown_members(std::string_view output) {
    std::string shown;
    for (const auto& [name, value] : json_members(output)) {
        if (name == "data") {
            shown += shown_data(value);
        } else if (name == "execution_count") {
            shown += fmt::format("Out[{}]: ", value);
        } else if (name != "output_type" && value != "{}") {
            shown += fmt::format("[{}] {}\n", name, text_of(value));
        }
    }
    return shown;
}

std::string shown_block(std::string_view block) {
    const std::optional<std::string> text = json_member_text(block, "text");
    if (text && json_member_text(block, "type") == "text" && json_members(block).size() == 2) {
        return *text + "\n";
    }
    return block.size() <= max_shown_bytes
               ? std::string(block) + "\n"
               : fmt::format("[{}, {} bytes]\n", json_member_text(block, "type").value_or("data"), block.size());
}

} // namespace

std::string shown_text(const store::JournalRecord& record) {
    if (!record.output) {
        return fmt::format("[{} bytes of output are not kept]\n", record.bytes);
    }
    const std::string& output = record.output->text();
    const std::optional<std::string> type = json_member_text(output, "output_type");
    if (type == "stream") {
        return json_member_text(output, "text").value_or("");
    }
    if (type == "error") {
        const std::string_view traceback = json_member(output, "traceback");
        return shown_error(traceback.empty() ? "[]" : traceback, json_member_text(output, "ename").value_or(""),
                           json_member_text(output, "evalue").value_or(""));
    }
    return shown_members(output);
}

std::string shown_text(const protocol::CallToolResult& result) {
    std::string shown;
    const RawJson json = to_raw_json(result);
    for (const auto& [name, value] : json_members(json.text())) {
        if (name != "content") {
            shown += fmt::format("[{}] {}\n", name, value);
            continue;
        }
        for (const std::string_view block : json_elements(value)) {
            shown += shown_block(block);
        }
    }
    return shown;
}

std::string shown_text(const protocol::ExecuteResult& result, const std::string& output) {
    std::string shown;
    const auto show = [&](const std::string& text) {
        shown += output.find(text) == std::string::npos ? text + "\n" : "";
    };
    if (result.error) {
        show(fmt::format("{}: {}", result.error->ename, result.error->evalue));
        for (const std::string& line : result.error->traceback) {
            show(line);
        }
        for (const protocol::ExecutionFrame& frame : result.error->frames) {
            show(fmt::format("at {} line {}, {}", frame.uri.value_or("code"), frame.line + 1, frame.function));
        }
    }
    for (const protocol::Note& note : result.notes.value_or(std::vector<protocol::Note>())) {
        show(fmt::format("[{}; {}]", note.text, note.remedy));
    }
    return shown;
}

} // namespace cellgate::service
