#include "kernel_listing.hpp"

#include "base/environment.hpp"
#include "base/escape_unprintable.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace cellgate::cli {

namespace {

Task<void> list_into(async::Loop* loop, jupyter::KernelRequest request, std::vector<jupyter::KernelInfo>* kernels) {
    *kernels = co_await jupyter::list_kernels(*loop, std::move(request));
}

} // namespace

std::vector<jupyter::KernelInfo> installed_kernels(const std::string& workspace) {
    jupyter::KernelRequest request;
    request.workspace = std::filesystem::canonical(workspace);
    request.environment = process_environment();
    std::vector<jupyter::KernelInfo> kernels;
    async::Loop loop;
    loop.run(list_into(&loop, std::move(request), &kernels));
    return kernels;
}

std::string kernel_entry(const jupyter::KernelInfo& kernel) {
    std::string text = fmt::format("{}\n    {} ({}){}\n", escape_unprintable(kernel.name),
                                   escape_unprintable(kernel.display_name), escape_unprintable(kernel.language),
                                   kernel.from_workspace ? ", of this workspace: asks before it starts" : "");
    if (kernel.problem) {
        text += fmt::format("    cannot be started: {}\n", escape_unprintable(*kernel.problem));
    }
    return text;
}

} // namespace cellgate::cli
