#pragma once
// `TypescriptSupport` is the support of Deno's kernel, for TypeScript and JavaScript. Deno has all of its permissions:
// the sandbox is the boundary.

#include "plain_support.hpp"

#include <set>

namespace cellgate::session {

class TypescriptSupport final : public PlainSupport {
  public:
    using PlainSupport::PlainSupport;

    KernelLaunch launch(const LaunchPlace& place, Environment environment) const override;
    std::optional<std::string> chdir_code(const std::string& directory) const override;
    FailureCauses causes_of(const Failure& failure) const override;
    Task<void> on_started(const KernelAccess& kernel) override;
    Task<std::optional<jupyter::Variables>> variables(const KernelAccess& kernel) const override;
    // Of a variable its type and value.
    Task<std::optional<std::string>> inspect(const KernelAccess& kernel, std::string code, std::int64_t cursor,
                                             std::int64_t detail_level) const override;
    const VariableRules* variable_rules() const override;
    Task<ExportAnswer> export_variable(const KernelAccess& kernel, std::string name) const override;
    Task<ImportAnswer> import_variable(const KernelAccess& kernel, std::string name, RawJson value) const override;
    // While code waits for a promise, Deno takes an interrupt and then answers nothing more.
    bool may_be_spare() const override { return true; }
    bool may_hang_when_interrupted() const override { return true; }

  private:
    std::set<std::string> built_in_; // the names that Deno has by itself
};

} // namespace cellgate::session
