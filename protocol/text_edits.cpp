#include "protocol/text_edits.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace cellgate::protocol {

namespace {

// Where a place is in the text, whose columns are code points; nothing behind its end.
std::optional<std::size_t> offset_of(const std::string& text, std::int64_t line, std::int64_t column) {
    std::size_t at = 0;
    for (; line > 0; --line) {
        at = text.find('\n', at);
        if (at == std::string::npos) {
            return std::nullopt;
        }
        ++at;
    }
    for (; column > 0 && at < text.size() && text[at] != '\n'; --column) {
        ++at;
        while (at < text.size() && !begins_character(text[at])) {
            ++at;
        }
    }
    return at;
}

struct Change {
    std::size_t begin;
    std::size_t end;
    std::string new_text;
};

bool begins_before(const Change& one, const Change& other) {
    return one.begin < other.begin;
}

bool overlaps(const std::vector<Change>& changes, std::size_t begin, std::size_t end) {
    return std::any_of(changes.begin(), changes.end(),
                       [&](const Change& other) { return begin < other.end && other.begin < end; });
}

} // namespace

std::vector<std::size_t> mend(std::string& text, const std::vector<Diagnostic>& findings) {
    std::vector<std::size_t> mended;
    std::vector<Change> changes; // by where they begin, and then in the order of the findings
    for (std::size_t i = 0; i < findings.size(); ++i) {
        std::vector<Change> own;
        const std::vector<TextEdit> edits = findings[i].edits.value_or(std::vector<TextEdit>{});
        for (const TextEdit& edit : edits) {
            const std::optional<std::size_t> begin = offset_of(text, edit.line, edit.column);
            const std::optional<std::size_t> end = offset_of(text, edit.end_line, edit.end_column);
            if (begin && end && *begin <= *end && !overlaps(changes, *begin, *end)) {
                own.push_back({*begin, *end, edit.new_text});
            }
        }
        if (!edits.empty() && own.size() == edits.size()) {
            mended.push_back(i);
            for (const Change& change : own) {
                changes.insert(std::upper_bound(changes.begin(), changes.end(), change, begins_before), change);
            }
        }
    }
    for (auto each = changes.rbegin(); each != changes.rend(); ++each) {
        text.replace(each->begin, each->end - each->begin, each->new_text);
    }
    return mended;
}

bool apply_edits(std::string& text, const std::vector<Diagnostic>& findings) {
    return !mend(text, findings).empty();
}

} // namespace cellgate::protocol
