#include "artifacts.hpp"

#include "base/encoding.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json_scan.hpp"
#include "protocol/messages/changes.hpp"
#include "protocol/messages/executions.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <filesystem>

namespace cellgate::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view picture_type = "image/";

// ".png" of "image/png", ".svg" of "image/svg+xml".
std::string extension_of(std::string_view mime) {
    const std::string_view name = mime.substr(picture_type.size());
    return "." + std::string(name.substr(0, name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789")));
}

// The bytes of the pictures in an output, with their types.
std::vector<std::pair<std::string, std::string>> pictures_of(const protocol::OutputRecord& record) {
    std::vector<std::pair<std::string, std::string>> pictures;
    if (record.output) {
        const std::string_view data = json_member(record.output->text(), "data");
        for (const auto& [mime, value] : data.starts_with('{') ? json_members(data) : decltype(json_members(data))()) {
            if (mime.starts_with(picture_type) && json_type(value) == "string") {
                const std::string text = decode_json_string(value);
                pictures.emplace_back(mime, decode_base64(text).value_or(text)); // SVG is text
            }
        }
    }
    for (const protocol::LargeDatum& file : record.files.value_or(std::vector<protocol::LargeDatum>())) {
        if (file.mime.starts_with(picture_type)) {
            pictures.emplace_back(file.mime, read_file(file.path).value_or(""));
        }
    }
    return pictures;
}

} // namespace

Artifacts::Artifacts(const std::string& directory, const std::string& workspace)
    // weakly_canonical() leaves a relative path that is not there relative.
    : directory_(fs::weakly_canonical(fs::absolute(directory)).string()) {
    const fs::path inside = fs::path(directory_).lexically_relative(fs::canonical(workspace));
    if (!inside.empty() && *inside.begin() != "..") {
        throw Error(ErrorCode::config_invalid,
                    fmt::format("expected a folder outside the workspace, found {}", directory_),
                    "a cell could put links into one that is inside");
    }
}

Task<void> Artifacts::save(TerminalClient* client, std::string execution_id, std::size_t cell) {
    co_await save_files(client, execution_id);
    co_await save_pictures(client, std::move(execution_id), cell);
}

Task<void> Artifacts::save_files(TerminalClient* client, std::string execution_id) {
    protocol::ChangesParams params{execution_id};
    const protocol::ChangesListResult list = co_await client->sidecar().call<protocol::ChangesList>(std::move(params));
    for (const protocol::ChangedFile& file : list.files) {
        if (!file.after || file.after->link) {
            continue;
        }
        protocol::ChangesReadParams asked{execution_id, file.path, protocol::ChangeSide::after};
        const protocol::ChangesReadResult content =
            co_await client->sidecar().call<protocol::ChangesRead>(std::move(asked));
        write(file.path, content.text ? *content.text : decode_base64(content.base64.value_or("")).value_or(""));
    }
}

Task<void> Artifacts::save_pictures(TerminalClient* client, std::string execution_id, std::size_t cell) {
    int number = 0;
    std::int64_t from = 0;
    bool complete = false;
    while (!complete) {
        protocol::OutputReadParams params;
        params.execution_id = execution_id;
        params.from_seq = from;
        const protocol::OutputReadResult page =
            co_await client->sidecar().call<protocol::OutputRead>(std::move(params));
        for (const protocol::OutputRecord& record : page.records) {
            for (const auto& [mime, bytes] : pictures_of(record)) {
                write(fmt::format("cell-{}-{}{}", cell, ++number, extension_of(mime)), bytes);
            }
        }
        complete = page.complete || page.records.empty();
        from = page.next_seq;
    }
}

void Artifacts::write(const std::string& path, std::string_view bytes) {
    const fs::path target = fs::path(directory_) / path;
    std::error_code error;
    fs::create_directories(target.parent_path(), error);
    constexpr mode_t mode = 0644;
    ReplacementFile file(AT_FDCWD, target.string() + ".", mode);
    if (error || !file.valid() || !write_all(file.fd(), bytes) || !file.commit(target.string())) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot write {}", target.string()),
                           error ? error.value() : errno);
    }
    written_.insert(path);
}

std::string Artifacts::summary() const {
    constexpr std::size_t max_named = 10;
    if (written_.empty()) {
        return fmt::format("nothing was saved to {}", directory_);
    }
    std::string named;
    std::size_t count = 0;
    for (const std::string& path : written_) {
        if (++count > max_named) {
            named += fmt::format(", and {} more", written_.size() - max_named);
            break;
        }
        named += (count == 1 ? "" : ", ") + path;
    }
    return fmt::format("saved {} file{} to {}: {}", written_.size(), written_.size() == 1 ? "" : "s", directory_,
                       named);
}

} // namespace cellgate::cli
