#include "output_page.hpp"

#include "base/text.hpp"
#include "brief_traceback.hpp"
#include "cut_output.hpp"
#include "output_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

namespace cellgate::agent {

namespace {

// In base64, of one page. Models take less than that.
constexpr std::size_t max_picture_bytes = std::size_t{4} << 20;
constexpr std::array<std::string_view, 4> picture_types = {"image/png", "image/jpeg", "image/webp", "image/gif"};

// Of an output whose end is looked for.
constexpr std::size_t max_gathered_bytes = std::size_t{4} << 20;

struct Position {
    std::int64_t seq = 0;
    std::size_t offset = 0; // in the text that is made of the record
};

Position parse_cursor(const std::string& cursor) {
    Position position;
    const char* end = cursor.data() + cursor.size();
    const auto first = std::from_chars(cursor.data(), end, position.seq);
    if (first.ec == std::errc() && first.ptr != end && *first.ptr == ':' && position.seq >= 0) {
        const auto second = std::from_chars(first.ptr + 1, end, position.offset);
        if (second.ec == std::errc() && second.ptr == end) {
            return position;
        }
    }
    throw Error(ErrorCode::invalid_params, "cursor: expected one that a result named as `next`");
}

struct Shown {
    std::string text;
    std::string picture_type;
    std::string picture; // base64
    bool is_brief = false;
};

std::string without_space(std::string base64) {
    std::erase_if(base64, [](char c) { return c == '\n' || c == '\r' || c == ' '; });
    return base64;
}

void show_data(const std::map<std::string, RawJson>& data, Shown& shown) {
    for (const std::string_view type : picture_types) {
        if (std::optional<std::string> picture = text_of_data(data, std::string(type))) {
            shown.picture_type = type;
            shown.picture = without_space(std::move(*picture));
            return;
        }
    }
    if (const std::optional<std::string> text = readable_text(data)) {
        shown.text = plain_text(*text) + "\n";
        return;
    }
    std::string types;
    for (const auto& [type, value] : data) {
        types += (types.empty() ? "" : ", ") + type;
    }
    shown.text = fmt::format("[{}]\n", types);
}

void show_error(const Output& output, const std::string& rest, Shown& shown) {
    std::vector<std::string> lines = output.traceback.value_or(std::vector<std::string>{});
    std::transform(lines.begin(), lines.end(), lines.begin(), [](const std::string& line) { return plain_text(line); });
    if (std::optional<std::string> brief = rest.empty() ? std::nullopt : brief_traceback(lines, rest)) {
        shown.text = std::move(*brief);
        shown.is_brief = true;
        return;
    }
    for (const std::string& line : lines) {
        shown.text += line + "\n";
    }
    if (lines.empty()) {
        shown.text = fmt::format("{}: {}\n", output.ename.value_or(""), output.evalue.value_or(""));
    }
}

// `brief`: of an execution in whose result tracebacks are brief; empty: they are whole.
Shown show(const protocol::OutputRecord& record, const std::string& brief) {
    Shown shown;
    if (!record.output) {
        shown.text = fmt::format("[{} bytes of output are not kept]\n", record.skipped_bytes.value_or(0));
        return shown;
    }
    const Output output = from_json<Output>(*record.output, "output");
    if (output.output_type == "stream") {
        shown.text = plain_text(output.text.value_or(""));
    } else if (output.output_type == "error") {
        const std::string rest = brief.empty() ? std::string() : where_all_is(brief, fmt::format("{}:0", record.seq));
        show_error(output, rest, shown);
    } else if (output.data) {
        show_data(*output.data, shown);
    }
    return shown;
}

// Fills a page from records.
class PageWriter {
  public:
    PageWriter(OutputPage& page, Position position, std::size_t characters, std::string brief)
        : page_(page), position_(position), left_(characters), brief_(std::move(brief)) {}

    const Position& position() const { return position_; }

    // False when the page is full.
    bool add(const protocol::OutputRecord& record) {
        const Shown shown = show(record, brief_);
        if (!shown.picture.empty()) {
            add_picture(shown);
        }
        const std::string_view text =
            std::string_view(shown.text).substr(std::min(position_.offset, shown.text.size()));
        const std::size_t taken = bytes_of_characters(text, left_);
        left_ -= static_cast<std::size_t>(append_written(block_, text.substr(0, taken)));
        if (taken < text.size()) {
            position_ = Position{record.seq, shown.is_brief ? 0 : position_.offset + taken};
            return false;
        }
        position_ = Position{record.seq + record.count, 0};
        return true;
    }
    void finish() {
        if (block_.ends_with('\r')) {
            block_.pop_back();
        }
        if (!block_.empty()) {
            page_.content.add_text(block_);
            block_.clear();
        }
    }

  private:
    void add_picture(const Shown& shown) {
        if (shown.picture.size() > picture_bytes_) {
            block_ += fmt::format("[{} of {} bytes: more than fits in a result. Show it smaller]\n", shown.picture_type,
                                  shown.picture.size() / 4 * 3);
            return;
        }
        picture_bytes_ -= shown.picture.size();
        finish();
        page_.content.add_image(shown.picture_type, shown.picture);
    }

    OutputPage& page_;
    Position position_;
    std::size_t left_;
    std::string brief_; // as show() has it
    std::size_t picture_bytes_ = max_picture_bytes;
    std::string block_; // of text, not yet in the content
};

struct Gathered {
    std::string text;
    bool has_pictures = false;
    bool whole = false; // it is all of the output
};

Task<Gathered> gather(SidecarClient* sidecar, std::shared_ptr<mcp::ToolCall> on_behalf, std::string execution_id) {
    Gathered all;
    std::function<bool(const protocol::OutputRecord&)> take = [&all,
                                                               execution_id](const protocol::OutputRecord& record) {
        const Shown shown = show(record, execution_id);
        append_written(all.text, shown.text);
        all.has_pictures = all.has_pictures || !shown.picture.empty();
        return all.text.size() <= max_gathered_bytes;
    };
    const ReadingEnd end =
        co_await read_records(sidecar, std::move(on_behalf), std::move(execution_id), 0, std::move(take));
    all.whole = end.complete && !end.stopped && end.withheld.empty();
    co_return all;
}

Task<OutputPage> read_page(SidecarClient* sidecar, std::shared_ptr<mcp::ToolCall> on_behalf, std::string execution_id,
                           Position position, std::size_t characters, bool is_brief) {
    OutputPage page;
    PageWriter writer(page, position, characters, is_brief ? execution_id : std::string());
    std::function<bool(const protocol::OutputRecord&)> take = [&writer](const protocol::OutputRecord& record) {
        return writer.add(record);
    };
    const std::int64_t first = writer.position().seq;
    ReadingEnd end =
        co_await read_records(sidecar, std::move(on_behalf), std::move(execution_id), first, std::move(take));
    page.cut = end.stopped;
    page.withheld = std::move(end.withheld);
    writer.finish();
    if (page.cut || (!end.complete && page.withheld.empty())) {
        page.next = fmt::format("{}:{}", writer.position().seq, writer.position().offset);
    }
    co_return page;
}

} // namespace

std::string where_all_is(const std::string& execution_id, const std::string& cursor, std::string_view what) {
    return fmt::format("read_output with execution_id \"{}\" and cursor \"{}\" gives {}", execution_id, cursor, what);
}

Task<OutputPage> read_output_page(SidecarClient* sidecar, std::shared_ptr<mcp::ToolCall> on_behalf,
                                  std::string execution_id, std::optional<std::string> cursor, std::size_t characters) {
    const Position position = cursor ? parse_cursor(*cursor) : Position{};
    co_return co_await read_page(sidecar, std::move(on_behalf), std::move(execution_id), position, characters, false);
}

Task<OutputPage> read_output_ends(SidecarClient* sidecar, std::shared_ptr<mcp::ToolCall> on_behalf,
                                  std::string execution_id, std::size_t characters) {
    constexpr Position start{};
    OutputPage page = co_await read_page(sidecar, on_behalf, execution_id, start, characters, true);
    if (!page.cut) {
        co_return page;
    }
    const Gathered all = co_await gather(sidecar, on_behalf, execution_id);
    if (!all.whole) {
        co_return page;
    }
    if (const std::optional<std::string> json =
            all.has_pictures ? std::optional<std::string>() : cut_json(all.text, characters)) {
        OutputPage shortened;
        shortened.content.add_text(*json);
        shortened.next = "0:0";
        shortened.cut = true;
        shortened.is_shortened = true;
        co_return shortened;
    }
    const std::string_view end = end_of(all.text, characters / 4);
    const std::size_t beginning = characters - characters / 4;
    page = co_await read_page(sidecar, std::move(on_behalf), std::move(execution_id), start, beginning, true);
    const std::size_t shown = beginning + count_characters(end);
    page.left_out = std::max(count_characters(all.text), shown) - shown;
    page.end = end;
    co_return page;
}

} // namespace cellgate::agent
