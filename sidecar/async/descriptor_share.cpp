#include "async/descriptor_share.hpp"

#include <sys/resource.h>

namespace cellgate::async {

namespace {

std::size_t taken = 0; // of the process

} // namespace

std::optional<DescriptorShare> DescriptorShare::take(std::size_t count) {
    rlimit most{};
    ::getrlimit(RLIMIT_NOFILE, &most);
    if (taken + count > most.rlim_cur / 2) {
        return std::nullopt;
    }
    taken += count;
    return DescriptorShare(count);
}

DescriptorShare::~DescriptorShare() {
    taken -= count_;
}

} // namespace cellgate::async
