#pragma once
// `Artifacts` is what `run --save DIR` keeps: the files that cells created or changed, as each cell left them, and the
// pictures that they showed. DIR is outside the workspace, where no cell can put links.

#include "terminal_client.hpp"

#include <cstddef>
#include <set>
#include <string>

namespace cellgate::cli {

class Artifacts {
  public:
    // Throws Error{config_invalid} for a folder in the workspace.
    Artifacts(const std::string& directory, const std::string& workspace);

    // Of a cell that has ended, which is counted from 1. Throws Error{store_failed}.
    Task<void> save(TerminalClient* client, std::string execution_id, std::size_t cell);
    // What was saved, in words.
    std::string summary() const;

  private:
    Task<void> save_files(TerminalClient* client, std::string execution_id);
    Task<void> save_pictures(TerminalClient* client, std::string execution_id, std::size_t cell);
    void write(const std::string& path, std::string_view bytes);

    std::string directory_;
    std::set<std::string> written_;
};

} // namespace cellgate::cli
