#include "object_store.hpp"

#include "base/error.hpp"
#include "base/json_codec.hpp"
#include "snapshot_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <sys/stat.h>
#include <system_error>

namespace cellgate::changes {

namespace {

constexpr const char* kept_refs = "refs/cellgate/kept/";
constexpr std::size_t max_packs = 8;

template <class Number>
Number parse_number(std::string_view text, int base) {
    Number number{};
    std::from_chars(text.data(), text.data() + text.size(), number, base);
    return number;
}

// "100644 blob ID\tPATH"
TreeEntry parse_entry(std::string_view line) {
    const std::size_t tab = line.find('\t');
    const std::size_t space = line.rfind(' ', tab);
    return {std::string(line.substr(tab + 1)), parse_number<std::uint32_t>(line.substr(0, line.find(' ')), 8),
            std::string(line.substr(space + 1, tab - space - 1))};
}

std::vector<TreeEntry> listed(const GitFolders& folders, const std::string& id) {
    GitProcess git(folders, {"ls-tree", "-r", "-z", "--full-tree", id});
    std::vector<TreeEntry> entries;
    while (const std::optional<std::string> line = git.read_until('\0')) {
        entries.push_back(parse_entry(*line));
    }
    git.finish();
    return entries;
}

std::size_t count_packs(const std::string& repository) {
    std::error_code ignored;
    std::size_t packs = 0;
    for (const auto& each : std::filesystem::directory_iterator(repository + "/objects/pack", ignored)) {
        packs += each.path().extension() == ".pack" ? 1 : 0;
    }
    return packs;
}

[[noreturn]] void fail_not_kept(const std::string& id) {
    throw Error(ErrorCode::invalid_params, "there is no snapshot " + id, "It may have been forgotten: the oldest are.");
}

} // namespace

void require_snapshot_id(const std::string& id) {
    const bool digits = id.find_first_not_of("0123456789abcdef") == std::string::npos;
    if ((id.size() != 40 && id.size() != 64) || !digits) {
        throw Error(ErrorCode::invalid_params, "expected the id of a snapshot, 40 hexadecimal digits");
    }
}

BlobReader::BlobReader(const GitFolders& folders) : git_(folders, {"cat-file", "--batch"}) {}

std::string BlobReader::read(const std::string& name) {
    git_.write(name + "\n");
    const std::optional<std::string> header = git_.read_until('\n'); // "ID blob SIZE", or "NAME missing"
    if (!header) {
        git_.finish();
    }
    if (!header || header->find(" blob ") == std::string::npos) {
        fail_not_kept(name);
    }
    const auto size = parse_number<std::size_t>(std::string_view(*header).substr(header->rfind(' ') + 1), 10);
    std::string bytes = git_.read(size);
    git_.read(1); // the end of the line
    if (bytes.size() != size) {
        throw Error(ErrorCode::store_failed, "git cat-file ended within " + name);
    }
    return bytes;
}

void ObjectStore::prepare() const {
    namespace fs = std::filesystem;
    const fs::path repository = folders_.repository;
    if (fs::exists(repository / "HEAD") && fs::exists(repository / "objects") && fs::exists(repository / "refs")) {
        return;
    }
    std::error_code error;
    fs::create_directories(repository, error);
    fs::permissions(repository.parent_path(), fs::perms::owner_all, error);
    if (error) {
        throw Error(ErrorCode::store_failed, fmt::format("cannot make {}: {}", repository.string(), error.message()));
    }
    GitProcess git({folders_.repository, ""}, {"init", "--quiet", "--bare", "--template="});
    git.finish();
}

std::uint64_t ObjectStore::bytes() const {
    std::uint64_t bytes = 0;
    std::error_code ignored;
    for (auto each = std::filesystem::recursive_directory_iterator(folders_.repository + "/objects", ignored);
         each != std::filesystem::recursive_directory_iterator(); each.increment(ignored)) {
        const std::uintmax_t size = each->is_regular_file(ignored) ? each->file_size(ignored) : 0;
        bytes += ignored ? 0 : size;
    }
    return bytes;
}

std::vector<TreeEntry> ObjectStore::tree(const std::string& id) const {
    require_snapshot_id(id);
    BlobReader blobs(folders_);
    blobs.read(id + ":" + about_name); // there is such a snapshot
    std::vector<TreeEntry> files;
    std::map<std::string, std::string> modes; // path: blob
    for (TreeEntry& entry : listed(folders_, id)) {
        if (entry.path.starts_with(files_prefix)) {
            entry.path.erase(0, files_prefix.size());
            files.push_back(std::move(entry));
        } else if (entry.path.starts_with(modes_prefix)) {
            modes.emplace(entry.path.substr(modes_prefix.size()), entry.blob);
        }
    }
    std::map<std::string, std::uint32_t> known; // blob: bits
    for (TreeEntry& entry : files) {
        const auto mode = modes.find(entry.path);
        if (S_ISLNK(entry.mode)) {
            entry.mode |= 0777U;
        } else if (mode != modes.end()) {
            const auto [bits, added] = known.try_emplace(mode->second);
            if (added) {
                bits->second = parse_number<std::uint32_t>(blobs.read(mode->second), 8);
            }
            entry.mode = S_IFREG | bits->second;
        }
    }
    return files;
}

Coverage ObjectStore::coverage(const std::string& id) const {
    require_snapshot_id(id);
    return from_json<Coverage>(BlobReader(folders_).read(id + ":" + about_name), "coverage");
}

std::string ObjectStore::read(const std::string& id, const std::string& path, std::size_t limit) const {
    require_snapshot_id(id);
    BlobReader(folders_).read(id + ":" + about_name);
    GitProcess git(folders_, {"cat-file", "blob", fmt::format("{}:{}{}", id, files_prefix, path)});
    std::string bytes = git.read(limit);
    if (!git.read(1).empty()) {
        throw Error(ErrorCode::limit_exceeded, fmt::format("{} has more than {} bytes", path, limit));
    }
    try {
        git.finish();
    } catch (const Error& error) {
        throw Error(ErrorCode::invalid_params, fmt::format("the snapshot has no file {}: {}", path, error.message));
    }
    return bytes;
}

void ObjectStore::keep(const std::vector<std::string>& ids) const {
    std::string commands;
    std::set<std::string> wanted;
    for (const std::string& id : ids) {
        require_snapshot_id(id);
        wanted.insert(kept_refs + id);
        commands += fmt::format("update {}{} {}\n", kept_refs, id, id);
    }
    GitProcess refs(folders_, {"for-each-ref", "--format=%(refname)", kept_refs});
    while (const std::optional<std::string> ref = refs.read_until('\n')) {
        if (!wanted.contains(*ref)) {
            commands += fmt::format("delete {}\n", *ref);
        }
    }
    refs.finish();
    GitProcess update(folders_, {"update-ref", "--stdin"});
    update.write(commands);
    update.finish();
}

void ObjectStore::prune() const {
    if (count_packs(folders_.repository) > max_packs) {
        GitProcess repack(folders_, {"repack", "-a", "-d", "-q"});
        repack.finish();
    }
    GitProcess prune(folders_, {"prune", "--expire=now"});
    prune.finish();
}

} // namespace cellgate::changes
