#include "kernel_source.hpp"

#include "base/sync.hpp"
#include "kernel_instance.hpp"

#include <algorithm>
#include <array>

namespace cellgate::session {

namespace {

bool is_existing(const protocol::KernelChoice& choice) {
    return choice.connection_file.has_value();
}

bool is_on_server(const protocol::KernelChoice& choice) {
    return choice.server.has_value();
}

bool is_any(const protocol::KernelChoice& /*choice*/) {
    return true;
}

template <Task<void> (KernelInstance::*get)()>
Task<std::unique_ptr<KernelInstance>> with_kernel(KernelContext context) {
    auto instance = std::make_unique<KernelInstance>(context);
    co_await on_failure((instance.get()->*get)(), instance->end(Duration::zero()));
    co_return std::move(instance);
}

constexpr std::array sources = {
    KernelSource{is_existing, with_kernel<&KernelInstance::connect>,
                 "the kernel was not started by cellgate, so it is not restarted either", true},
    KernelSource{is_on_server, with_kernel<&KernelInstance::start_on_server>, "", false},
    KernelSource{is_any, KernelInstance::start_process, "", true},
};

} // namespace

const KernelSource& source_of(const protocol::KernelChoice& choice) {
    return *std::find_if(sources.begin(), sources.end(),
                         [&choice](const KernelSource& source) { return source.gives(choice); });
}

} // namespace cellgate::session
