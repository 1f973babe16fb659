#include "large_data.hpp"

#include "base/encoding.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace cellgate::service {

namespace {

bool is_display(std::string_view output_type) {
    return output_type == R"("display_data")" || output_type == R"("execute_result")" ||
           output_type == R"("update_display_data")";
}

// Jupyter sends these as base64.
bool is_binary(std::string_view mime) {
    const bool media = mime.starts_with("image/") || mime.starts_with("audio/") || mime.starts_with("video/");
    return (media && !mime.ends_with("+xml")) || mime == "application/pdf";
}

// A value in nbformat is a string, the lines of one, or JSON.
std::string content_of(std::string_view mime, std::string_view value) {
    std::string text;
    if (json_type(value) == "string") {
        text = decode_json_string(value);
    } else if (json_type(value) == "array") {
        for (const std::string_view line : json_elements(value)) {
            if (json_type(line) != "string") {
                return std::string(value);
            }
            text += decode_json_string(line);
        }
    } else {
        return std::string(value);
    }
    if (is_binary(mime)) {
        if (std::optional<std::string> bytes = decode_base64(text)) {
            return std::move(*bytes);
        }
    }
    return text;
}

// The size of the file at `path`, which is written if it is not there. Nothing when it cannot be written.
std::optional<std::uint64_t> write_once(const std::string& path, std::string_view mime, std::string_view value) {
    struct stat found{};
    if (::lstat(path.c_str(), &found) == 0) {
        return static_cast<std::uint64_t>(found.st_size);
    }
    const std::string bytes = content_of(mime, value);
    // Two clients may get the same record at once.
    ReplacementFile file(AT_FDCWD, path + ".", 0600);
    if (!file.valid() || !write_all(file.fd(), bytes) || !file.commit(path)) {
        log_warning("cannot write {}: {}", path, std::strerror(errno));
        return std::nullopt;
    }
    return bytes.size();
}

void append_member(std::string& object, std::string_view key, std::string_view value) {
    object += object.size() > 1 ? "," : "";
    append_json_string(object, key);
    object += ':';
    object += value;
}

// `data` without the parts that were written to files.
std::string small_data(std::string_view data, const std::string& stem, std::vector<protocol::LargeDatum>& files) {
    std::string small = "{";
    for (const auto& [mime, value] : json_members(data)) {
        if (value.size() > max_inline_bytes) {
            const std::string path = fmt::format("{}.{}", stem, files.size());
            if (const std::optional<std::uint64_t> bytes = write_once(path, mime, value)) {
                files.push_back({mime, *bytes, path});
                continue;
            }
        }
        append_member(small, mime, value);
    }
    return small + "}";
}

} // namespace

void move_large_data_to_files(protocol::OutputRecord& record, const std::string& stem) {
    if (!record.output || record.output->text().size() <= max_inline_bytes) {
        return;
    }
    const auto members = json_members(record.output->text());
    const bool display = std::any_of(members.begin(), members.end(), [](const auto& member) {
        return member.first == "output_type" && is_display(member.second);
    });
    std::string output = "{";
    std::vector<protocol::LargeDatum> files;
    for (const auto& [key, value] : members) {
        if (display && key == "data" && json_type(value) == "object") {
            append_member(output, key, small_data(value, stem, files));
        } else {
            append_member(output, key, value);
        }
    }
    if (!files.empty()) {
        record.output = RawJson::checked(output + "}");
        record.files = std::move(files);
    }
}

void fit_into_message(protocol::OutputRecord& record, const std::optional<std::string>& stem, std::size_t limit) {
    if (!record.output || record.output->text().size() <= limit) {
        return;
    }
    if (stem) {
        move_large_data_to_files(record, *stem);
    }
    if (const std::size_t bytes = record.output->text().size(); bytes > max_message_bytes) {
        record.output.reset();
        record.files.reset();
        record.skipped_bytes = bytes;
    }
}

} // namespace cellgate::service
