#include "api_documents.hpp"

#include "base/error.hpp"
#include "base/regular_file.hpp"
#include "paths.hpp"
#include "visible_name.hpp"

#include <fmt/format.h>

#include <functional>
#include <sys/stat.h>

namespace cellgate::gate {

namespace {

constexpr std::size_t max_document_bytes = std::size_t{64} << 20;

Error unreadable_document(const std::string& path, const std::string& why, std::string hint = {}) {
    return {ErrorCode::rule_invalid, fmt::format("the OpenAPI document {}: {}", visible_name(path), why),
            std::move(hint)};
}

} // namespace

ApiDocuments::Kept ApiDocuments::read_file(const std::string& path, const Kept& kept) const {
    const std::optional<std::string> real = resolve_path(path, "/");
    if (real && (*real == root_ || real->starts_with(root_ + "/"))) {
        throw unreadable_document(path, "expected one outside the workspace, where code cannot change it",
                                  "Copy it to another folder, and name that copy.");
    }
    struct stat status = {};
    if (!real || ::stat(real->c_str(), &status) != 0) {
        throw unreadable_document(path, "there is no such file that you can read");
    }
    Kept found;
    found.version = {status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
    if (kept.document && kept.version == found.version) {
        return kept;
    }
    const RegularFile file = read_regular_file(*real, max_document_bytes + 1);
    if (file.error != 0) {
        throw unreadable_document(path, system_error(ErrorCode::rule_invalid, "it cannot be read", file.error).message);
    }
    if (file.bytes.size() > max_document_bytes) {
        throw unreadable_document(path, fmt::format("expected at most {} bytes", max_document_bytes));
    }
    try {
        found.document = std::make_shared<const ApiDocument>(ApiDocument::parse(file.bytes));
    } catch (const Error& error) {
        throw unreadable_document(path, error.message, error.hint);
    }
    return found;
}

Task<std::shared_ptr<const ApiDocument>> ApiDocuments::read(std::string path) {
    const Kept before = kept_[path];
    Kept now;
    std::function<void()> work = [&] { now = read_file(path, before); };
    co_await run_blocking_(std::move(work));
    kept_[path] = now;
    co_return now.document;
}

} // namespace cellgate::gate
