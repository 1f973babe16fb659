#pragma once
// `RecordFolder` is the directory of a record for one test; the functions beside it fill it, and wait for tasks that
// end without a loop.

#include "base/error.hpp"
#include "database.hpp"
#include "record/record.hpp"
#include "record/record_reader.hpp"
#include "temp_folder.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace cellgate::record {

// Its n-th entry is a minute after the one before.
inline const WallTime first_time = WallTime(std::chrono::seconds(1'800'000'000));

struct RecordFolder {
    TempFolder folder{"/dev/shm"}; // where synchronising takes no time
    std::string path = (folder.path / "record").string();
    std::string copy = (folder.path / "checkpoints").string(); // the checkpoints that are kept elsewhere

    RecordOptions options() const { return {path, "cellgate/test", copy, run_inline}; }
    std::string kept() const;
    // A connection that changes what it likes.
    Database open() const { return Database(path + "/record.sqlite", Database::Access::write); }
    RecordReader reader() const { return RecordReader(path); }
};

NewEntry numbered_entry(std::int64_t n);

// Runs a task that ends at once. Throws what it throws.
template <class T>
T result_of(Task<T> task);
template <>
void result_of(Task<void> task);

// The message of the error that it throws, or nothing.
std::string error_of(Task<void> task);

// Appends so many numbered entries, a batch each, and closes.
void fill(const RecordFolder& folder, std::int64_t count);

// The JSON of all entries.
std::vector<std::string> all_entries(const RecordReader& reader);

std::string file_text(const std::filesystem::path& path);

} // namespace cellgate::record

template <class T>
T cellgate::record::result_of(Task<T> task) {
    std::optional<T> result;
    const auto store = [](std::optional<T>* into, Task<T> from) -> Task<void> {
        into->emplace(co_await std::move(from));
    };
    result_of<void>(store(&result, std::move(task)));
    return std::move(*result);
}
