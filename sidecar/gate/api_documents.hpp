#pragma once
// `ApiDocuments` is the OpenAPI documents that rules name, read off the loop and kept until their files change. One in
// the workspace is refused: code there could change what questions say. Private to the gate.

#include "base/run_blocking.hpp"
#include "base/task.hpp"
#include "gate/api_document.hpp"

#include <map>
#include <memory>
#include <string>
#include <tuple>

namespace cellgate::gate {

class ApiDocuments {
  public:
    // `root`: the workspace, without links.
    ApiDocuments(RunBlocking run_blocking, std::string root)
        : run_blocking_(std::move(run_blocking)), root_(std::move(root)) {}

    // Throws Error{rule_invalid}, whose message names the file.
    Task<std::shared_ptr<const ApiDocument>> read(std::string path);

  private:
    using Version = std::tuple<std::uint64_t, std::int64_t, std::int64_t, std::int64_t>; // inode, bytes, seconds, ns
    struct Kept {
        Version version;
        std::shared_ptr<const ApiDocument> document;
    };
    Kept read_file(const std::string& path, const Kept& kept) const; // blocks

    const RunBlocking run_blocking_;
    const std::string root_;
    std::map<std::string, Kept> kept_;
};

} // namespace cellgate::gate
