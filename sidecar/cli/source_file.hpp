#pragma once
// `SourceFile` is a file of code or a Jupyter notebook, as the cells that it is divided into.

#include "base/error.hpp"
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

// Of a file whose language is not known: Python would read its text as its own.
Error unknown_language(const std::string& path, const std::string& hint);

} // namespace cellgate::cli
