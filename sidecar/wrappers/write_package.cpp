#include "wrappers/write_package.hpp"

#include "base/files.hpp"
#include "base/names.hpp"
#include "package_writer.hpp"
#include "python_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <optional>
#include <set>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace cellgate::wrappers {

namespace {

constexpr std::string_view aside_prefix = ".cellgate-";

[[noreturn]] void fail(const std::string& what, int error_number) {
    throw system_error(ErrorCode::wrapper_failed, what, error_number);
}

// Opens a folder in a folder, created if missing. A link in its place is refused, whatever its target.
UniqueFd open_folder(const UniqueFd& parent, const std::string& name) {
    if (mkdirat(parent.get(), name.c_str(), 0755) != 0 && errno != EEXIST) {
        fail(fmt::format("cannot make the folder {}", name), errno);
    }
    UniqueFd folder(openat(parent.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (folder.get() < 0) {
        const int error_number = errno;
        if (error_number == ELOOP || error_number == ENOTDIR) {
            throw Error(ErrorCode::wrapper_failed, fmt::format("{} is not a folder but a link or a file", name),
                        fmt::format("remove {}, or name another outDir", name));
        }
        fail(fmt::format("cannot open the folder {}", name), error_number);
    }
    return folder;
}

// The first bytes of a regular file, at most `most`; nothing if it does not exist. Another kind of file is refused.
// Code in a sandbox may have created it with any size, so callers read no more than they compare.
std::optional<std::string> read_start(const UniqueFd& folder, const std::string& name, std::size_t most) {
    const UniqueFd file(openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status{};
    if (file.get() < 0 && errno == ENOENT) {
        return std::nullopt;
    }
    if (file.get() < 0 && errno != ELOOP) {
        fail(fmt::format("cannot read {}", name), errno);
    }
    if (file.get() < 0 || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
        throw Error(ErrorCode::wrapper_failed, fmt::format("{} is not a regular file", name),
                    fmt::format("remove {}", name));
    }
    std::string text(most, '\0');
    std::size_t size = 0;
    while (size < text.size()) {
        const ssize_t count = read(file.get(), text.data() + size, text.size() - size);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            fail(fmt::format("cannot read {}", name), errno);
        }
        if (count == 0) {
            break;
        }
        size += static_cast<std::size_t>(count);
    }
    text.resize(size);
    return text;
}

bool is_ours(std::string_view start) {
    return start.starts_with(python_header) || start.starts_with(typescript_header);
}

// Temporary files next to the files that they will replace. One flush writes all of them to disk before the first
// rename: a flush for each file would dominate the time of a large package.
class Replacements {
  public:
    // `folder` outlives this.
    // `text` begins with the header by which files of cellgate are known.
    void add(const UniqueFd& folder, const std::string& name, const std::string& text);
    void commit();

  private:
    struct Replacement {
        int folder;
        std::string name;
        ReplacementFile file;
    };

    std::vector<Replacement> waiting_;
};

void Replacements::add(const UniqueFd& folder, const std::string& name, const std::string& text) {
    const std::optional<std::string> present = read_start(folder, name, text.size() + 1); // one more is another file
    if (present == text) {
        return;
    }
    if (present && !is_ours(*present)) {
        throw Error(ErrorCode::wrapper_failed, fmt::format("{} is there already and was not made by cellgate", name),
                    "move it away, or name another outDir");
    }
    ReplacementFile file(folder.get(), aside_prefix, 0644);
    if (!file.valid() || !write_all(file.fd(), text)) {
        fail(fmt::format("cannot write {}", name), errno);
    }
    file.close();
    waiting_.push_back({folder.get(), name, std::move(file)});
}

void Replacements::commit() {
    if (!waiting_.empty() && syncfs(waiting_.front().folder) != 0) {
        fail("cannot write the package", errno);
    }
    while (!waiting_.empty()) {
        Replacement& next = waiting_.back();
        if (!next.file.commit(next.name)) {
            fail(fmt::format("cannot replace {}", next.name), errno);
        }
        waiting_.pop_back();
    }
}

// The folder of a package made for another server is not ours, though both names give the same Python name.
void require_own(const UniqueFd& folder, const Package& package) {
    const PackageWriter& writer = writer_of(package.language);
    const std::string expected = writer.own_lines(package.server);
    const std::optional<std::string> present = read_start(folder, std::string(writer.index), expected.size());
    if (present && is_ours(*present) && present != expected) {
        throw Error(
            ErrorCode::wrapper_failed,
            fmt::format("mcptools/{} holds the wrappers of another server than {}", package.package,
                        string_literal(package.server)),
            fmt::format("give the server another name, name another outDir, or remove mcptools/{}", package.package));
    }
}

// Removes generated files that are not part of this package any more, and half-written files left over from a crash.
void remove_stale(const UniqueFd& folder, std::string_view suffix, const std::set<std::string>& kept) {
    const int copy = dup(folder.get());
    DIR* entries = copy < 0 ? nullptr : fdopendir(copy);
    if (entries == nullptr) {
        fail("cannot list the package's folder", errno);
    }
    // One by one: the folder may hold more names than memory does.
    while (const dirent* entry = readdir(entries)) {
        const std::string name = entry->d_name;
        const bool is_aside = name.starts_with(aside_prefix);
        if (kept.contains(name) || (!is_aside && !name.ends_with(suffix))) {
            continue;
        }
        try {
            const std::optional<std::string> start =
                read_start(folder, name, std::string_view(typescript_header).size());
            if (is_aside || (start && is_ours(*start))) {
                unlinkat(folder.get(), name.c_str(), 0);
            }
        } catch (const Error&) {
            // A link or a pipe with such a name is not ours.
        }
    }
    closedir(entries);
}

} // namespace

void write_package(const Package& package, const std::filesystem::path& out_dir) {
    const UniqueFd top(open(out_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (top.get() < 0) {
        fail(fmt::format("cannot open the folder {}", out_dir.string()), errno);
    }
    const UniqueFd shared = open_folder(top, "mcptools");
    const UniqueFd own = open_folder(shared, package.package);
    require_own(own, package);
    const std::string own_prefix = fmt::format("mcptools/{}/", package.package);
    std::set<std::string> kept;
    Replacements replacements;
    for (const File& file : package.files) {
        const std::string name = file.path.substr(file.path.rfind('/') + 1);
        const bool is_own = file.path.starts_with(own_prefix);
        replacements.add(is_own ? own : shared, name, file.text);
        if (is_own) {
            kept.insert(name);
        }
    }
    replacements.commit();
    remove_stale(own, writer_of(package.language).suffix, kept);
    for (const UniqueFd* folder : {&own, &shared, &top}) {
        if (fsync(folder->get()) != 0 && errno != EINVAL) {
            fail("cannot write the package's folder", errno);
        }
    }
}

} // namespace cellgate::wrappers
