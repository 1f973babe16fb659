#include "output_text.hpp"

#include "base/json_codec.hpp"
#include "terminal_text.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <vector>

namespace cellgate::cli {

namespace {

struct DisplayedOutput {
    std::string output_type;
    std::optional<std::string> name;
    std::optional<std::string> text;
    std::optional<std::map<std::string, RawJson>> data;
    std::optional<std::string> ename;
    std::optional<std::vector<std::string>> traceback;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("output_type", self.output_type);
        visit("name", self.name);
        visit("text", self.text);
        visit("data", self.data);
        visit("ename", self.ename);
        visit("traceback", self.traceback);
    }
};

// The value of a MIME type in nbformat: a string, or a list of strings.
std::string mime_text(const RawJson& value) {
    if (value.type() == "string") {
        return decode_json_string(value.text());
    }
    std::string text;
    if (value.type() == "array") {
        for (const std::string_view line : json_elements(value.text())) {
            text += json_type(line) == "string" ? decode_json_string(line) : std::string(line);
        }
        return text;
    }
    return value.text();
}

} // namespace

OutputText output_text(const RawJson& output, bool colours) {
    DisplayedOutput shown;
    try {
        shown = from_json<DisplayedOutput>(output, "output");
    } catch (const Error& error) {
        return {true, terminal_text("an output that cannot be shown: " + error.message, false) + "\n"};
    }
    OutputText text;
    if (shown.text) {
        text = {shown.name == "stderr", terminal_text(*shown.text, colours)};
    }
    if (shown.traceback && shown.ename != "SystemExit") { // the program's own end: there is nothing to trace
        text.is_error = true;
        for (const std::string& entry : *shown.traceback) {
            text.text += terminal_text(entry, colours) + "\n";
        }
    }
    if (shown.data) {
        if (const auto plain = shown.data->find("text/plain"); plain != shown.data->end()) {
            text.text += terminal_text(mime_text(plain->second), colours) + "\n";
        }
        for (const auto& [mime, value] : *shown.data) {
            if (mime.starts_with("image/")) {
                text.text += fmt::format("[{}, {} bytes]\n", terminal_text(mime, false), value.text().size());
            }
        }
    }
    return text;
}

} // namespace cellgate::cli
