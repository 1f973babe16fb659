#include "filters/system_calls.hpp"

#include "base/files.hpp"
#include "filters/system_call_filters.hpp"

namespace cellgate::sandbox {

UniqueFd system_call_filter(Network network) {
    return anonymous_file(network == Network::none ? without_network_filter : with_network_filter);
}

UniqueFd runtime_system_call_filter() {
    return anonymous_file(runtime_filter);
}

} // namespace cellgate::sandbox
