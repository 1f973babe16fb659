#pragma once
// `ApiDocument` is what an OpenAPI document says about the requests that a host takes: each operation's name, method,
// path, and the schema of its body. Names and texts are the document's, and not safe to show as they are.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cellgate::gate {

struct ApiOperation {
    std::string id; // operationId, or "GET /repos/{owner}"
    std::string summary;
    std::string method;      // in capitals
    std::string path;        // with the path of its server: /v1/repos/{owner}/issues
    std::string body_schema; // JSON Schema of its body of JSON; empty: it says nothing
};

// The path with * in place of each {parameter}, as rules have it.
std::string path_pattern(std::string_view path);
// The names in braces.
std::vector<std::string> path_parameters(std::string_view path);

class ApiDocument {
  public:
    // JSON of OpenAPI 3. Throws Error{rule_invalid}, whose message follows the document's name.
    static ApiDocument parse(std::string_view text);

    const std::vector<ApiOperation>& operations() const { return operations_; }
    // By its id; nullptr when there is none.
    const ApiOperation* find(std::string_view id) const;

    struct Match {
        const ApiOperation* operation = nullptr;
        std::vector<std::pair<std::string, std::string>> parameters; // of the path, as they were sent
    };
    // The operation of a request, of several the one that says most of the path.
    std::optional<Match> find(std::string_view method, std::string_view path) const;

  private:
    std::vector<ApiOperation> operations_;
};

} // namespace cellgate::gate
