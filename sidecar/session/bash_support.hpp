#pragma once
// `BashSupport` is the support of cellgate's own kernel for bash (kernel/bash_kernel.py).

#include "plain_support.hpp"

namespace cellgate::session {

class BashSupport final : public PlainSupport {
  public:
    using PlainSupport::PlainSupport;

    KernelLaunch launch(const LaunchPlace& place, Environment environment) const override;
    std::optional<std::string> chdir_code(const std::string& directory) const override;
    FailureCauses causes_of(const Failure& failure) const override;
};

} // namespace cellgate::session
