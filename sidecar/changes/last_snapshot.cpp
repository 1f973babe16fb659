#include "last_snapshot.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json_codec.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <type_traits>

namespace cellgate::changes {

namespace {

static_assert(std::is_trivially_copyable_v<FileStat>);

constexpr std::string_view format = "cellgate files 1";

void append_text(std::string& out, std::string_view text) {
    const std::uint64_t size = text.size();
    out.append(reinterpret_cast<const char*>(&size), sizeof size);
    out.append(text);
}

// Reads what is appended above; once something does not fit, nothing more is read.
class FileReader {
  public:
    explicit FileReader(std::string_view bytes) : rest_(bytes) {}

    bool good() const { return good_; }
    bool at_end() const { return rest_.empty(); }

    template <class T>
    T value() {
        T value{};
        const std::string_view bytes = take(sizeof value);
        std::memcpy(&value, bytes.data(), bytes.size());
        return value;
    }
    std::string_view text() { return take(value<std::uint64_t>()); }

  private:
    std::string_view take(std::uint64_t size) {
        good_ = good_ && size <= rest_.size();
        const std::string_view taken = good_ ? rest_.substr(0, size) : std::string_view();
        rest_.remove_prefix(taken.size());
        return taken;
    }

    std::string_view rest_;
    bool good_ = true;
};

} // namespace

std::optional<LastSnapshot> load_last_snapshot(const std::string& path) {
    const std::optional<std::string> bytes = read_file(path);
    if (!bytes) {
        return std::nullopt;
    }
    FileReader reader(*bytes);
    if (reader.text() != format) {
        return std::nullopt;
    }
    LastSnapshot last;
    last.id = reader.text();
    const std::string_view coverage = reader.text();
    while (reader.good() && !reader.at_end()) {
        std::string name(reader.text());
        last.files.push_back({std::move(name), reader.value<FileStat>()});
    }
    if (!reader.good()) {
        return std::nullopt;
    }
    last.coverage = from_json<Coverage>(coverage, "coverage");
    return last;
}

void save_last_snapshot(const std::string& path, const LastSnapshot& snapshot) {
    std::string bytes;
    append_text(bytes, format);
    append_text(bytes, snapshot.id);
    append_text(bytes, to_json(snapshot.coverage));
    for (const KeptFile& file : snapshot.files) {
        append_text(bytes, file.path);
        bytes.append(reinterpret_cast<const char*>(&file.stat), sizeof file.stat);
    }
    ReplacementFile file(AT_FDCWD, path + ".", 0600);
    if (!file.valid() || !write_all(file.fd(), bytes) || !file.commit(path)) {
        throw system_error(ErrorCode::store_failed, "cannot write " + path, errno);
    }
}

} // namespace cellgate::changes
