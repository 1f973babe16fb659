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

constexpr std::string_view format = "cellgate files 2";

template <class T>
void append_value(std::string& out, const T& value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_text(std::string& out, std::string_view text) {
    append_value(out, std::uint64_t{text.size()});
    out.append(text);
}

void append_files(std::string& out, const std::vector<KeptFile>& files) {
    append_value(out, std::uint64_t{files.size()});
    for (const KeptFile& file : files) {
        append_text(out, file.path);
        append_value(out, file.stat);
    }
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
    std::vector<KeptFile> files() {
        std::vector<KeptFile> files;
        for (auto left = value<std::uint64_t>(); good_ && left > 0; --left) {
            std::string path(text());
            files.push_back({std::move(path), value<FileStat>()});
        }
        return files;
    }

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
    last.files = reader.files();
    last.watched = reader.files();
    if (!reader.good() || !reader.at_end()) {
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
    append_files(bytes, snapshot.files);
    append_files(bytes, snapshot.watched);
    ReplacementFile file(AT_FDCWD, path + ".", 0600);
    if (!file.valid() || !write_all(file.fd(), bytes) || !file.commit(path)) {
        throw system_error(ErrorCode::store_failed, "cannot write " + path, errno);
    }
}

} // namespace cellgate::changes
