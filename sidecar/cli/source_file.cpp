#include "source_file.hpp"

#include "base/encoding.hpp"
#include "base/error.hpp"
#include "base/escape_unprintable.hpp"
#include "base/files.hpp"
#include "base/shell_words.hpp"
#include "file_language.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <utility>

namespace cellgate::cli {

namespace {

// Python reads files so: as UTF-8, after the mark that some editors put before it.
std::string text_of_file(const std::string& path) {
    std::optional<std::string> text = read_file(path);
    if (!text) {
        throw system_error(ErrorCode::config_invalid, fmt::format("cannot read {}", path), errno);
    }
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (text->starts_with(byte_order_mark)) {
        text->erase(0, byte_order_mark.size());
    }
    if (!is_utf8(*text)) {
        throw Error(
            ErrorCode::config_invalid, fmt::format("expected text in UTF-8 in {}", path),
            fmt::format("Convert it, say from Latin-1: iconv -f LATIN1 -t UTF-8 -- {} > NEW_FILE", shell_word(path)));
    }
    return std::move(*text);
}

} // namespace

// A notebook without a language is Python's, as notebooks were at first.
SourceFile read_source_file(const std::string& path) {
    SourceFile file;
    file.text = text_of_file(path);
    file.is_notebook = path.ends_with(".ipynb");
    if (file.is_notebook) {
        file.cells = cells_of_notebook(file.text);
        file.language = language_of_notebook(file.text).value_or("python");
    } else {
        file.cells = split_cells(file.text);
        file.language = language_of_file(path).value_or("");
    }
    return file;
}

int refuse_language(const std::string& path, const std::string& remedy) {
    fmt::print(stderr,
               "cellgate: expected a notebook (.ipynb), or a file whose ending names its language (.py, .ts, .js, .sh, "
               ".r, …), found {}\n  {}\n",
               escape_unprintable(path), escape_unprintable(remedy));
    return 2;
}

} // namespace cellgate::cli
