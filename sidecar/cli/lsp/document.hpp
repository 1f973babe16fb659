#pragma once
// `Document` is a file of cells that the editor has open. `LineMove` is where its lines went when it was changed.

#include "cells.hpp"
#include "lsp/messages.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::cli::lsp {

// The lines before and after a change stay what they are; those within become its first line.
class LineMove {
  public:
    LineMove(std::string_view before, std::string_view after);
    std::int64_t operator()(std::int64_t line) const;

  private:
    std::int64_t begin_ = 0; // the first line that changed
    std::int64_t end_ = 0;   // the first behind them that did not
    std::int64_t added_ = 0; // negative: removed
};

struct LineSpan {
    std::int64_t first = 0;
    std::int64_t last = 0;
};

class Document {
  public:
    // `language`: as LSP calls it. Without one that kernels have, it has no cells.
    Document(const std::string& language, std::string text);

    const std::string& text() const { return text_; }
    void set_text(std::string text);

    const std::vector<Cell>& cells() const { return cells_; }
    // The lines of its code.
    LineSpan span_of(const Cell& cell) const;
    // nullptr: none of them has this line.
    const Cell* cell_at(std::int64_t line) const;
    // In the spelling of kernelspecs.
    std::string language_of(const Cell& cell) const;
    // From its first to its last character.
    Range range_of(std::int64_t line) const;

  private:
    std::optional<std::string> language_;
    std::string text_;
    std::vector<Cell> cells_;
};

} // namespace cellgate::cli::lsp
