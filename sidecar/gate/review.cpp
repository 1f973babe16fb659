// Which results a user wants to see before an agent does, and which output an agent gets at once.
#include "gate_impl.hpp"

namespace cellgate::gate {

Task<bool> Gate::reviews(Request request) {
    const std::shared_ptr<Impl> impl = impl_;
    impl->refresh();
    const PendingRequest entry(std::move(request));
    co_return co_await impl->policy.reviews(entry.payload, entry.context());
}

bool Gate::allows_output(const Request& request) {
    impl_->refresh();
    const PendingRequest entry(request);
    PathSnapshot paths = impl_->policy.snapshot(); // a rule about output has no paths
    const PolicyResult result = impl_->policy.rules().evaluate(entry.payload, entry.context(), paths);
    return result.effect == Effect::allow && !result.needs_use();
}

} // namespace cellgate::gate
