#pragma once
// `without_credentials` is for what pip and builds print, which may hold the URL of a user's index with its password.

#include <string>
#include <string_view>

namespace cellgate::packages {

// The text with "****" for the user and password of each URL in it.
std::string without_credentials(std::string_view text);

} // namespace cellgate::packages
