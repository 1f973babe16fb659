#pragma once
// `brief_traceback` is what an agent needs of a long traceback of IPython: the frames of its own code and the error.
// The calls within libraries are left out, and with them the errors on the way whose words the last one repeats.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::agent {

// `entries`: plain text, as IPython divides it. `rest`: where the whole is, in words. Nothing of a short traceback, or
// of one without frames of libraries.
std::optional<std::string> brief_traceback(const std::vector<std::string>& entries, std::string_view rest);

} // namespace cellgate::agent
