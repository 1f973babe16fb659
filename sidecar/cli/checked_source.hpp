#pragma once
// `CheckedSource` is a file as `cellgate check` looks at it: for each language one text, in which the lines of the
// others are blank, so that lines are those of the file and a cell knows the names of the cells before it. A cell of a
// magic such as %%bash is a text of its own.

#include "protocol/messages/kernels.hpp"
#include "source_file.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace cellgate::cli {

struct CheckedPiece {
    std::string language;
    std::string code;
};

class CheckedSource {
  public:
    // `language`: of cells that name none; empty: the file's.
    CheckedSource(SourceFile file, const std::string& language);

    bool has_language() const { return !file_.language.empty(); }
    const std::vector<CheckedPiece>& pieces() const { return pieces_; }
    // "FILE:3:1", counted from 1; in a notebook "FILE: cell 2, line 3".
    std::string place_of(const std::string& path, const protocol::Diagnostic& found) const;

    void note_missing(const std::string& checker) { missing_.insert(checker); }
    const std::set<std::string>& missing() const { return missing_; }

    // See protocol::mend(). A notebook stays as it is.
    std::vector<std::size_t> apply(const std::vector<protocol::Diagnostic>& findings);
    const std::string& text() const { return file_.text; }

  private:
    SourceFile file_;
    std::vector<CheckedPiece> pieces_;
    std::vector<std::int64_t> cell_lines_; // of a notebook, of each cell's first line in the joined text
    std::set<std::string> missing_;
};

} // namespace cellgate::cli
