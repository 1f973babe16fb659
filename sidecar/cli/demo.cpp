// `cellgate demo`: the main job, on real parts, with its effects checked.

#include "commands.hpp"

namespace cellgate::cli {

void add_demo(CLI::App&, Run&) {}

} // namespace cellgate::cli
