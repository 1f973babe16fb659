#include "base/names.hpp"

#include "base/encoding.hpp"
#include "base/error.hpp"
#include "base/escape_unprintable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <sys/random.h>

namespace cellgate {

namespace {

constexpr std::size_t max_bytes = 64;

} // namespace

bool is_identifier(std::string_view name) {
    constexpr std::string_view alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    return !name.empty() && name.size() <= max_bytes && name.front() != '-' && name.front() != '.' &&
           name.find_first_not_of(alphanumeric) == std::string_view::npos;
}

void require_identifier(std::string_view name, std::string_view what) {
    if (!is_identifier(name)) {
        throw Error(ErrorCode::invalid_params,
                    fmt::format("expected a {} of 1 to {} letters, digits, \"_\", \"-\" and \".\", found \"{}\"", what,
                                max_bytes, escape_unprintable(name.substr(0, 100))));
    }
}

bool is_variable_name(std::string_view name) {
    constexpr std::size_t max_length = 128;
    constexpr std::string_view word = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    return !name.empty() && name.size() <= max_length && !(name.front() >= '0' && name.front() <= '9') &&
           name.find_first_not_of(word) == std::string_view::npos;
}

bool is_image_name(std::string_view name) {
    constexpr std::size_t max_length = 255;
    constexpr std::string_view alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    const auto is_part = [&](char c) {
        return alphanumeric.find(c) != std::string_view::npos ||
               std::string_view("._:/@-").find(c) != std::string_view::npos;
    };
    return !name.empty() && name.size() <= max_length && alphanumeric.find(name.front()) != std::string_view::npos &&
           std::all_of(name.begin(), name.end(), is_part);
}

std::string random_bytes(std::size_t count) {
    std::string bytes(count, '\0');
    if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
        throw system_error(ErrorCode::internal_error, "cannot read random bytes", errno);
    }
    return bytes;
}

std::string random_id() {
    constexpr std::size_t id_bytes = 16;
    return to_hex(random_bytes(id_bytes));
}

} // namespace cellgate
