#include "record_testing.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <sstream>

namespace cellgate::record {

std::string RecordFolder::kept() const {
    return file_text(copy);
}

NewEntry numbered_entry(std::int64_t n) {
    return {first_time + std::chrono::minutes(n),
            n % 3 == 0 ? "cell.started" : "tool.called",
            "user",
            fmt::format("s{}", n % 2),
            n % 3 == 0 ? std::optional(fmt::format("x{}", n)) : std::nullopt,
            RawJson::parse(fmt::format(R"({{"n":{},"text":"number {}"}})", n, n))};
}

template <>
void result_of(Task<void> task) {
    std::exception_ptr error;
    TaskScope scope([&error](std::exception_ptr thrown) { error = std::move(thrown); });
    scope.spawn(std::move(task));
    REQUIRE(scope.running() == 0);
    if (error) {
        std::rethrow_exception(error);
    }
}

std::string error_of(Task<void> task) {
    try {
        result_of(std::move(task));
    } catch (const Error& error) {
        CHECK(error.code == ErrorCode::store_failed);
        return error.message;
    }
    return {};
}

void fill(const RecordFolder& folder, std::int64_t count) {
    Record record(folder.options());
    for (std::int64_t n = 0; n < count; ++n) {
        record.append(numbered_entry(n), Durability::written);
    }
    result_of(record.close());
}

std::vector<std::string> all_entries(const RecordReader& reader) {
    std::vector<std::string> entries;
    reader.each(0, [&](const StoredEntry& entry) {
        entries.push_back(entry.json);
        return true;
    });
    return entries;
}

std::string file_text(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

} // namespace cellgate::record
