#pragma once
// `PlainSupport` is the support of a kernel of which only Jupyter's protocol is known.

#include "language_support.hpp"

namespace cellgate::session {

class PlainSupport : public LanguageSupport {
  public:
    explicit PlainSupport(jupyter::KernelChoice choice) : choice_(std::move(choice)) {}

    KernelLaunch launch(const LaunchPlace& place, Environment environment) const override;
    std::optional<packages::Python> python() const override { return std::nullopt; }
    std::optional<std::string> chdir_code(const std::string& /*directory*/) const override { return std::nullopt; }
    FailureCauses causes_of(const Failure& /*failure*/) const override { return {}; }
    std::optional<protocol::Note> install_note(const std::string& /*code*/, bool /*holds_installs*/) const override {
        return std::nullopt;
    }
    Task<void> on_started(const KernelAccess& /*kernel*/) override { co_return; }
    Task<std::optional<jupyter::Variables>> variables(const KernelAccess& /*kernel*/) const override {
        co_return std::nullopt;
    }
    Task<std::optional<std::string>> inspect(const KernelAccess& kernel, std::string code, std::int64_t cursor,
                                             std::int64_t detail_level) const override;
    Task<ExportAnswer> export_variable(const KernelAccess& kernel, std::string name) const override;
    Task<ImportAnswer> import_variable(const KernelAccess& kernel, std::string name, RawJson value) const override;

  private:
    jupyter::KernelChoice choice_;
};

} // namespace cellgate::session
