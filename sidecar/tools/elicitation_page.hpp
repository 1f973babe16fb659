#pragma once
// `host_of_page` is the host of a page that a tool server asks the user to open, as it is shown beside the URL.

#include <string>

namespace cellgate::tools {

// With the port, if the URL names one. Throws Error{invalid_params} for a URL that is not http or https, or that
// browsers and readers may take for another host's.
std::string host_of_page(const std::string& url);

} // namespace cellgate::tools
