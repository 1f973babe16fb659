#pragma once
// `SavedTool` is a function of Python that a user keeps as a tool of the built-in server `saved`; a `SavedToolRunner`
// runs it. Each run is in a session of its own, in which nothing else has run: the rules of the tool count there, and
// for nothing else.

#include "base/task.hpp"
#include "gate/session_rule.hpp"
#include "protocol/tool_spec.hpp"
#include "tools/call_context.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::tools {

// The arguments of host/save_tool.
struct SaveToolParams {
    std::string name;
    std::string code;
    std::optional<std::string> description;
    std::optional<std::vector<std::string>> rules;
    std::optional<std::vector<std::string>> rules_of; // executions; not once they are resolved
    std::optional<RawJson> test;                      // arguments
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("name", self.name);
        visit("code", self.code);
        visit("description", self.description);
        visit("rules", self.rules);
        visit("rulesOf", self.rules_of);
        visit("test", self.test);
    }
};

// As it is kept.
struct SavedTool {
    protocol::ToolSpec spec;
    std::string code;                           // defines the function of the tool's name
    std::vector<std::string> rules;             // of its runs, as parse_rule() reads them
    std::map<std::string, std::string> servers; // that rules name -> their identities then
    std::string saved_at;
    std::optional<std::string> saved_by; // an agent that asked for it
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("spec", self.spec);
        visit("code", self.code);
        visit("rules", self.rules);
        visit("servers", self.servers);
        visit("savedAt", self.saved_at);
        visit("savedBy", self.saved_by);
    }
};

// What a run of the code has shown of the function.
struct SavedToolRun {
    std::string description; // the first paragraph of its docstring
    RawJson input_schema;
    RawJson output_schema;
    std::optional<RawJson> value; // that it returned, when it was called
    std::string printed;          // on stdout
};

struct SavedToolCode {
    std::string name;
    std::string code;
    std::vector<gate::SessionRule> rules;
};

class SavedToolRunner {
  public:
    SavedToolRunner() = default;
    SavedToolRunner(const SavedToolRunner&) = delete;
    SavedToolRunner& operator=(const SavedToolRunner&) = delete;
    virtual ~SavedToolRunner() = default;

    // Runs the code, and with `arguments` calls the function. Throws Error{tool_server_failed} with what the code
    // raised, and what the start of a kernel throws.
    virtual Task<SavedToolRun> run(SavedToolCode code, std::optional<RawJson> arguments, CallContext context) = 0;
    // Whether this is the session of such a run.
    virtual bool is_run(const std::string& session_id) const = 0;
};

} // namespace cellgate::tools
