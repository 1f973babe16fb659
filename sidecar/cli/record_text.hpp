#pragma once
// `record_text` is an entry of the record in words. An entry of an unknown type is shown by its type.

#include <string>
#include <string_view>

namespace cellgate::cli {

// "2026-01-05 09:31:00" of RFC 3339.
std::string short_time(std::string time);

// "41  2026-01-05 09:31:00  allowed by rule: tool read_file of filesystem". May have unprintable characters.
std::string record_line(std::string_view entry);

} // namespace cellgate::cli
