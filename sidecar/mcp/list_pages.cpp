#include "list_pages.hpp"

#include "base/json_codec.hpp"
#include "failed.hpp"

#include <fmt/format.h>

namespace cellgate::mcp {

namespace {

constexpr std::size_t max_pages = 1000;
constexpr std::size_t max_items = 10'000;
constexpr std::size_t max_list_bytes = std::size_t{32} << 20;

} // namespace

std::optional<std::string> ListPages::add(const RawJson& page) {
    const std::string_view items = json_member(page.text(), member_);
    if (items.empty() || json_type(items) != "array") {
        throw failed(
            fmt::format("the server's answer to {} is broken: expected {} that are an array", method_, member_));
    }
    bytes_ += page.text().size();
    for (const std::string_view item : json_elements(items)) {
        items_.push_back(RawJson::checked(std::string(item)));
    }
    std::optional<std::string> next = json_member_text(page.text(), "nextCursor");
    if (next && !cursors_.insert(*next).second) {
        throw failed(fmt::format("the server's list of {} does not end: it gave the same cursor twice", member_));
    }
    if (cursors_.size() > max_pages || items_.size() > max_items || bytes_ > max_list_bytes) {
        throw failed(fmt::format("expected a list of at most {} {} on {} pages and {} bytes, found a longer one",
                                 max_items, member_, max_pages, max_list_bytes));
    }
    return next;
}

} // namespace cellgate::mcp
