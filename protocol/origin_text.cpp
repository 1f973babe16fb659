#include "protocol/origin_text.hpp"

#include "base/escape_unprintable.hpp"
#include "base/percent_encoding.hpp"

#include <fmt/format.h>

#include <string_view>

namespace cellgate::protocol {

namespace {

std::string file_name(std::string_view uri) {
    const std::string_view path = uri.substr(0, uri.find_first_of("?#")); // a cell of a notebook has a fragment
    return escape_unprintable(percent_decode(path.substr(path.rfind('/') + 1)));
}

} // namespace

std::string origin_text(const Origin& origin) {
    const std::string file = origin.uri ? file_name(*origin.uri) + " " : "";
    return fmt::format("{}line {} (reported by the code): {}", file, origin.line + 1, escape_unprintable(origin.text));
}

} // namespace cellgate::protocol
