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
    Task<std::optional<jupyter::Variables>> variables(Ask /*ask*/) const override { co_return std::nullopt; }

  private:
    jupyter::KernelChoice choice_;
};

} // namespace cellgate::session
