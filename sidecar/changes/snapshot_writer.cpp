#include "snapshot_writer.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

namespace cellgate::changes {

namespace {

// Of a file in a folder of the tree, as git takes it apart again: in quotes, with what is not plain as octal numbers.
std::string git_path(const char* folder, std::string_view path) {
    std::string text = fmt::format("\"{}/", folder);
    for (const char each : path) {
        const auto byte = static_cast<unsigned char>(each);
        if (byte < 0x20 || byte >= 0x7f || each == '"' || each == '\\') {
            text += fmt::format("\\{:03o}", byte);
        } else {
            text += each;
        }
    }
    text += '"';
    return text;
}

} // namespace

SnapshotWriter::SnapshotWriter(const GitFolders& folders, const std::string& base)
    : git_(folders, {"fast-import", "--quiet", "--force", "--depth=0", "--date-format=raw", "--done"}) {
    git_.write(fmt::format("commit {}\nmark :1\ncommitter cellgate <cellgate> 0 +0000\ndata 0\n", last_ref));
    if (!base.empty()) {
        git_.write(fmt::format("M 040000 {} \"\"\n", base));
    }
}

void SnapshotWriter::remove(const std::string& path) {
    git_.write(fmt::format("D {}\nD {}\n", git_path(files_folder, path), git_path(modes_folder, path)));
}

void SnapshotWriter::write_file(const char* mode, const std::string& path, std::string_view bytes) {
    git_.write(fmt::format("M {} inline {}\ndata {}\n", mode, path, bytes.size()));
    git_.write(bytes);
    git_.write("\n");
}

void SnapshotWriter::put(const std::string& path, const FileContent& content) {
    const std::uint32_t bits = content.mode & 07777U;
    const bool is_link = content.kind == Kind::link;
    write_file(is_link               ? "120000"
               : (bits & 0111U) != 0 ? "100755"
                                     : "100644",
               git_path(files_folder, path), content.bytes);
    if (is_link || bits == 0644 || bits == 0755) {
        git_.write(fmt::format("D {}\n", git_path(modes_folder, path)));
    } else {
        write_file("100644", git_path(modes_folder, path), fmt::format("{:04o}", bits));
    }
}

std::string SnapshotWriter::finish(std::string_view about) {
    write_file("100644", about_name, about);
    git_.write("\nls :1 \"\"\ndone\n");
    const std::optional<std::string> line = git_.read_until('\n'); // "040000 tree ID\t"
    git_.finish();
    constexpr std::string_view before_id = "040000 tree ";
    if (!line || !line->starts_with(before_id)) {
        throw Error(ErrorCode::store_failed,
                    "expected the id of a tree from git fast-import, found " + line.value_or("nothing"));
    }
    return line->substr(before_id.size(), line->find('\t') - before_id.size());
}

} // namespace cellgate::changes
