#pragma once
// `SavedTools` is the built-in tool server `saved`: functions that a user agreed to keep as tools, each in a file of
// its own outside every workspace. Its call runs the code in a session of its own, under the tool's rules; those
// that name a tool server are bound to the one that had the name then. Another code or other rules make it another tool
// to the gate. Saving and removing are tools of `host`, so that a user sees and allows all of it.

#include "async/loop.hpp"
#include "tool_server.hpp"
#include "tools/execution_rules.hpp"
#include "tools/saved_tool.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace cellgate::tools {

struct SaveToolResult {
    RawJson input_schema;
    RawJson output_schema;
    bool replaced = false;
    std::optional<RawJson> value; // of the test
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("inputSchema", self.input_schema);
        visit("outputSchema", self.output_schema);
        visit("replaced", self.replaced);
        visit("value", self.value);
    }
};

class SavedTools final : public ToolServer {
  public:
    // Nothing for a server that there is not by a user's word or that of a file of the workspace.
    using IdentityOf = std::function<std::optional<std::string>(const std::string& server)>;
    // Throws Error{rule_invalid} for a rule that can match no call of the tools that are known.
    using RequireFitting = std::function<void(const protocol::RuleSpec& rule)>;

    // `directory` is outside every workspace, and made when the first tool is saved; empty, as without a runner:
    // nothing can be saved. The runner stays as long as this.
    SavedTools(async::Loop& loop, std::string directory, SavedToolRunner* runner, IdentityOf identity_of,
               RequireFitting require_fitting, RecordedRules recorded_rules);

    // With the rules of the executions that `rulesOf` names, so that a user sees them.
    Task<SaveToolParams> with_rules(SaveToolParams params);

    // Throws Error{arguments_invalid} for what cannot be saved, whatever a user says.
    void require_savable(const SaveToolParams& params) const;
    // Throws Error{tool_server_failed} with what the code raised.
    Task<SaveToolResult> save(SaveToolParams params, CallContext context);
    // Throws Error{tool_not_found}.
    Task<void> remove(std::string name);

    bool is_usable() const override { return true; }
    const std::vector<ToolPtr>& tools() const override { return tools_; }
    Task<void> refresh() override;
    Task<void> check(ToolPtr tool, RawJson arguments) override;
    gate::Action action_of(const Tool& tool, RawJson arguments) const override;
    Task<std::optional<protocol::CallToolResult>> call(ToolPtr tool, gate::Action allowed, CallContext context,
                                                       std::shared_ptr<mcp::CallFollower> follower) override;
    Task<void> stop(std::string reason) override;

  private:
    void take(std::map<std::string, SavedTool> saved);
    Task<SavedToolRun> run(SavedTool tool, std::optional<RawJson> arguments, CallContext context);
    std::string file_of(const std::string& name) const;
    void require_no_run(const CallContext& context) const;

    async::Loop& loop_;
    std::string directory_;
    SavedToolRunner* runner_;
    IdentityOf identity_of_;
    RequireFitting require_fitting_;
    RecordedRules recorded_rules_;
    std::map<std::string, SavedTool> saved_;
    std::vector<ToolPtr> tools_;
};

} // namespace cellgate::tools
