#pragma once
// `RSupport` is the support of kernels for R. Copying a variable to it needs jsonlite, which IRkernel brings.

#include "plain_support.hpp"

namespace cellgate::session {

class RSupport final : public PlainSupport {
  public:
    using PlainSupport::PlainSupport;

    Task<std::optional<jupyter::Variables>> variables(const KernelAccess& kernel) const override;
    const VariableRules* variable_rules() const override;
    Task<ExportAnswer> export_variable(const KernelAccess& kernel, std::string name) const override;
    Task<ImportAnswer> import_variable(const KernelAccess& kernel, std::string name, RawJson value) const override;
};

} // namespace cellgate::session
