#include "object_store.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <system_error>

namespace cellgate::changes {

namespace {

constexpr const char* kept_refs = "refs/cellgate/kept/";
constexpr std::size_t max_packs = 50; // a snapshot makes one

std::size_t count_packs(const std::string& repository) {
    std::error_code ignored;
    std::size_t packs = 0;
    for (const auto& each : std::filesystem::directory_iterator(repository + "/objects/pack", ignored)) {
        packs += each.path().extension() == ".pack" ? 1 : 0;
    }
    return packs;
}

} // namespace

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

std::vector<std::string> ObjectStore::existing(const std::vector<std::string>& ids) const {
    GitProcess check(folders_, {"cat-file", "--batch-check"});
    std::vector<std::string> found;
    for (const std::string& id : ids) {
        check.write(id + "\n");
        const std::optional<std::string> line = check.read_until('\n'); // "ID tree 123", or "ID missing"
        if (line && !line->ends_with(" missing")) {
            found.push_back(id);
        }
    }
    check.finish();
    return found;
}

void ObjectStore::keep(const std::vector<std::string>& ids) const {
    std::string commands;
    std::set<std::string> wanted;
    for (const std::string& id : existing(ids)) {
        if (wanted.insert(kept_refs + id).second) {
            commands += fmt::format("update {}{} {}\n", kept_refs, id, id);
        }
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

void ObjectStore::prune(bool all) const {
    const std::string before = all ? "now" : "1.hour.ago";
    if (all || count_packs(folders_.repository) > max_packs) {
        GitProcess repack(folders_, {"repack", "-A", "-d", "-q", "--unpack-unreachable=" + before});
        repack.finish();
    }
    GitProcess prune(folders_, {"prune", "--expire=" + before});
    prune.finish();
}

} // namespace cellgate::changes
