#pragma once
// `BashSupport` is the support of cellgate's own kernel for bash (kernel/bash_kernel.py).

#include "plain_support.hpp"

namespace cellgate::session {

class BashSupport final : public PlainSupport {
  public:
    using PlainSupport::PlainSupport;

    KernelLaunch launch(const LaunchPlace& place, Environment environment) const override;
    std::optional<std::string> chdir_code(const std::string& directory) const override;
    bool asks_before_programs() const override { return true; }
    std::string_view kernel_ends() const override;
    FailureCauses causes_of(const Failure& failure) const override;
    Task<std::optional<jupyter::Variables>> variables(const KernelAccess& kernel) const override;
    const VariableRules* variable_rules() const override;
    Task<ExportAnswer> export_variable(const KernelAccess& kernel, std::string name) const override;
    Task<ImportAnswer> import_variable(const KernelAccess& kernel, std::string name, RawJson value) const override;
};

} // namespace cellgate::session
