#include "output_page.hpp"

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

Shown show(const protocol::OutputRecord& record) {
    Shown shown;
    if (!record.output) {
        shown.text = fmt::format("[{} bytes of output are not kept]\n", record.skipped_bytes.value_or(0));
        return shown;
    }
    const Output output = from_json<Output>(*record.output, "output");
    if (output.output_type == "stream") {
        shown.text = plain_text(output.text.value_or(""));
    } else if (output.output_type == "error") {
        const std::vector<std::string> lines = output.traceback.value_or(std::vector<std::string>{});
        for (const std::string& line : lines) {
            shown.text += plain_text(line) + "\n";
        }
        if (lines.empty()) {
            shown.text = fmt::format("{}: {}\n", output.ename.value_or(""), output.evalue.value_or(""));
        }
    } else if (output.data) {
        show_data(*output.data, shown);
    }
    return shown;
}

// Fills a page from records.
class PageWriter {
  public:
    PageWriter(OutputPage& page, Position position, std::size_t characters)
        : page_(page), position_(position), left_(characters) {}

    const Position& position() const { return position_; }

    // False when the page is full.
    bool add(const protocol::OutputRecord& record) {
        const Shown shown = show(record);
        if (!shown.picture.empty()) {
            add_picture(shown);
        }
        const std::string_view text =
            std::string_view(shown.text).substr(std::min(position_.offset, shown.text.size()));
        const std::size_t taken = bytes_of_characters(text, left_);
        left_ -= static_cast<std::size_t>(append_written(block_, text.substr(0, taken)));
        if (taken < text.size()) {
            position_ = Position{record.seq, position_.offset + taken};
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
    std::function<bool(const protocol::OutputRecord&)> take = [&all](const protocol::OutputRecord& record) {
        const Shown shown = show(record);
        append_written(all.text, shown.text);
        all.has_pictures = all.has_pictures || !shown.picture.empty();
        return all.text.size() <= max_gathered_bytes;
    };
    const ReadingEnd end =
        co_await read_records(sidecar, std::move(on_behalf), std::move(execution_id), 0, std::move(take));
    all.whole = end.complete && !end.stopped && end.withheld.empty();
    co_return all;
}

} // namespace

Task<OutputPage> read_output_page(SidecarClient* sidecar, std::shared_ptr<mcp::ToolCall> on_behalf,
                                  std::string execution_id, std::optional<std::string> cursor, std::size_t characters) {
    OutputPage page;
    PageWriter writer(page, cursor ? parse_cursor(*cursor) : Position{}, characters);
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

Task<OutputPage> read_output_ends(SidecarClient* sidecar, std::shared_ptr<mcp::ToolCall> on_behalf,
                                  std::string execution_id, std::size_t characters) {
    OutputPage page = co_await read_output_page(sidecar, on_behalf, execution_id, std::nullopt, characters);
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
    page = co_await read_output_page(sidecar, std::move(on_behalf), std::move(execution_id), std::nullopt, beginning);
    const std::size_t shown = beginning + count_characters(end);
    page.left_out = std::max(count_characters(all.text), shown) - shown;
    page.end = end;
    co_return page;
}

} // namespace cellgate::agent
