#pragma once
// `PythonSupport` is the support of Python kernels. ipykernel is started through cellgate's bootstrap, which installed
// packages and all that is about variables need; any other Python kernel starts as its kernelspec says.

#include "plain_support.hpp"

namespace cellgate::session {

class PythonSupport final : public PlainSupport {
  public:
    // `image`: that the kernel is in, if it is in one.
    explicit PythonSupport(jupyter::KernelChoice choice, std::shared_ptr<const sandbox::Image> image = nullptr)
        : PlainSupport(choice), choice_(std::move(choice)), python_(packages::python_of(choice_)) {
        if (python_) {
            python_->image = std::move(image);
        }
    }

    KernelLaunch launch(const LaunchPlace& place, Environment environment) const override;
    std::optional<packages::Python> python() const override { return python_; }
    std::optional<std::string> chdir_code(const std::string& directory) const override;
    FailureCauses causes_of(const Failure& failure) const override;
    std::optional<protocol::Note> install_note(const std::string& code, bool holds_installs) const override;
    Task<std::optional<jupyter::Variables>> variables(const KernelAccess& kernel) const override;
    bool may_be_spare() const override { return python_.has_value(); }
    bool asks_before_programs() const override { return python_.has_value(); }
    const VariableRules* variable_rules() const override;
    Task<ExportAnswer> export_variable(const KernelAccess& kernel, std::string name) const override;
    Task<ImportAnswer> import_variable(const KernelAccess& kernel, std::string name, RawJson value) const override;

  private:
    jupyter::KernelChoice choice_;
    std::optional<packages::Python> python_; // of ipykernel
};

} // namespace cellgate::session
