#include "output_reader.hpp"

#include "base/encoding.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cellgate::agent {

namespace {

constexpr std::uint64_t bytes_at_a_time = std::uint64_t{1} << 20;
constexpr std::string_view cut_mark = "\n[Output truncated]";
constexpr const char* plain_type = "text/plain";

// Adds up to `characters` in all.
class BoundedText {
  public:
    explicit BoundedText(std::size_t characters) : left_(characters) {}

    void add(std::string_view text) {
        if (cut_) {
            return;
        }
        const std::size_t taken = bytes_of_characters(text, left_);
        left_ -= static_cast<std::size_t>(append_written(text_, text.substr(0, taken)));
        cut_ = taken < text.size();
    }
    std::string take() { return cut_ ? std::move(text_) + std::string(cut_mark) : std::move(text_); }

  private:
    std::string text_;
    std::size_t left_;
    bool cut_ = false;
};

std::string traceback_of(const Output& output) {
    std::string text;
    for (const std::string& line : output.traceback.value_or(std::vector<std::string>{})) {
        text += plain_text(line) + "\n";
    }
    return text;
}

bool has_image(const std::map<std::string, RawJson>& data) {
    return std::any_of(data.begin(), data.end(), [](const auto& each) { return each.first.starts_with("image/"); });
}

// Sorts outputs by where they were written.
struct StreamSorter {
    explicit StreamSorter(std::size_t characters) : out(characters), err(characters), value(characters) {}
    BoundedText out;
    BoundedText err;
    BoundedText value;
    Streams streams;

    void add(const protocol::OutputRecord& record) {
        if (!record.output) {
            out.add(fmt::format("[{} bytes of output are not kept]\n", record.skipped_bytes.value_or(0)));
            return;
        }
        Output output = from_json<Output>(*record.output, "output");
        if (output.output_type == "stream") {
            (output.name == "stderr" ? err : out).add(plain_text(output.text.value_or("")));
        } else if (output.output_type == "error") {
            streams.traceback = traceback_of(output);
        } else if (output.data) {
            add_data(std::move(*output.data), output.output_type == "execute_result");
        }
    }
    void add_data(std::map<std::string, RawJson> data, bool is_value) {
        const std::optional<std::string> text = readable_text(data);
        if (is_value) {
            value.add(plain_text(text.value_or("")));
            streams.value = value.take();
        } else if (text && !has_image(data)) { // else it stands for the image: <Figure size 640x480 with 1 Axes>
            out.add(plain_text(*text) + "\n");
        }
        streams.data.push_back(std::move(data));
    }
};

// Without what was overwritten. A carriage return stays at the end, and at the beginning where it overwrites what was
// written before.
std::string without_overwritten(std::string_view text) {
    std::string kept;
    std::size_t line = 0;
    bool begins_again = false;
    for (const char c : text) {
        if (c == '\r') {
            begins_again = true;
            continue;
        }
        if (begins_again && c != '\n') {
            kept.resize(line);
            if (line == 0) {
                kept = "\r";
            }
        }
        begins_again = false;
        kept += c;
        line = c == '\n' ? kept.size() : line;
    }
    return begins_again ? kept + "\r" : kept;
}

} // namespace

std::string plain_text(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\x1b') {
            plain += text[i];
            continue;
        }
        const char kind = i + 1 < text.size() ? text[i + 1] : '\0';
        if (kind == '[') { // parameters, then a letter
            i += 2;
            while (i < text.size() && (text[i] < '@' || text[i] > '~')) {
                ++i;
            }
        } else if (kind == ']') { // a text, up to BEL or ESC backslash
            i += 2;
            while (i < text.size() && text[i] != '\a' && text[i] != '\x1b') {
                ++i;
            }
            i += i + 1 < text.size() && text[i] == '\x1b' && text[i + 1] == '\\' ? 1 : 0;
        } else {
            ++i;
        }
    }
    return without_overwritten(plain);
}

std::ptrdiff_t append_written(std::string& text, std::string_view written) {
    const bool overwrites = text.ends_with('\r') || written.find('\r') != std::string_view::npos;
    const std::size_t line = overwrites ? text.rfind('\n') + 1 : text.size(); // 0 without a line break
    std::string last = text.substr(line);
    const auto before = static_cast<std::ptrdiff_t>(count_characters(last));
    last += written;
    if (overwrites) {
        last = without_overwritten(last);
        last.erase(0, last.starts_with('\r') ? 1 : 0);
    }
    text.resize(line);
    text += last;
    return static_cast<std::ptrdiff_t>(count_characters(last)) - before;
}

std::size_t bytes_of_characters(std::string_view text, std::size_t count) {
    std::size_t at = 0;
    while (at < text.size() && count > 0) {
        at += decode_utf8(text.substr(at)).length;
        --count;
    }
    return at;
}

std::optional<std::string> text_of_data(const std::map<std::string, RawJson>& data, const std::string& type) {
    const auto found = data.find(type);
    if (found == data.end() || found->second.type() != "string") {
        return std::nullopt;
    }
    return decode_json_string(found->second.text());
}

std::optional<std::string> readable_text(const std::map<std::string, RawJson>& data) {
    const std::optional<std::string> plain = text_of_data(data, plain_type);
    if (plain && !(plain->starts_with('<') && plain->ends_with('>'))) {
        return plain;
    }
    for (const char* type : {"text/markdown", "text/latex"}) {
        if (std::optional<std::string> text = text_of_data(data, type)) {
            return text;
        }
    }
    const auto json = data.find("application/json");
    return json == data.end() ? plain : std::optional(json->second.text());
}

Task<ReadingEnd> read_records(SidecarClient* sidecar, std::shared_ptr<mcp::ToolCall> on_behalf,
                              std::string execution_id, std::int64_t from_seq,
                              std::function<bool(const protocol::OutputRecord& record)> take) {
    ReadingEnd end;
    bool more = true;
    while (more && !end.complete && !end.stopped) {
        protocol::OutputReadParams params{execution_id, from_seq, bytes_at_a_time};
        protocol::OutputReadResult result;
        try {
            result = co_await sidecar->call<protocol::OutputRead>(std::move(params), on_behalf);
        } catch (const protocol::RemoteError& error) {
            if (error.code != ErrorCode::denied) {
                throw;
            }
            end.withheld = error.message;
            break;
        }
        for (const protocol::OutputRecord& record : result.records) {
            end.stopped = !take(record);
            if (end.stopped) {
                break;
            }
        }
        from_seq = result.next_seq;
        end.complete = result.complete;
        more = !result.records.empty();
    }
    co_return end;
}

Task<Streams> read_streams(SidecarClient* sidecar, std::shared_ptr<mcp::ToolCall> on_behalf, std::string execution_id,
                           std::size_t characters) {
    StreamSorter sorter(characters);
    std::function<bool(const protocol::OutputRecord&)> take = [&sorter](const protocol::OutputRecord& record) {
        sorter.add(record);
        return true;
    };
    ReadingEnd end = co_await read_records(sidecar, std::move(on_behalf), std::move(execution_id), 0, std::move(take));
    sorter.streams.out = sorter.out.take();
    sorter.streams.err = sorter.err.take();
    sorter.streams.withheld = std::move(end.withheld);
    co_return std::move(sorter.streams);
}

} // namespace cellgate::agent
