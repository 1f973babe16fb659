#pragma once
// `SourceFile` is a file of code or a Jupyter notebook, as the cells that it is divided into.

#include "cells.hpp"

#include <string>
#include <vector>

namespace cellgate::cli {

struct SourceFile {
    std::string text;
    std::vector<Cell> cells;
    std::string language; // of cells that name none; empty: not known
    bool is_notebook = false;
};

// Throws Error{config_invalid} for a file that cannot be read, is not in UTF-8, or is no notebook.
SourceFile read_source_file(const std::string& path);

// Says that the language of the file is not known, with what to do, and returns the exit status: Python would read its
// text as its own.
int refuse_language(const std::string& path, const std::string& remedy);

} // namespace cellgate::cli
