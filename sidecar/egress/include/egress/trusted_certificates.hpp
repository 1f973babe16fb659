#pragma once
// make_inspection() gives the programs of one sandbox an authority of its own, by which hosts that are inspected are
// served, beside those that they trust anyway. Most programs read a variable of their environment for that.

#include "base/environment.hpp"
#include "egress/proxy.hpp"

#include <string>

namespace cellgate::egress {

// The variables of the sandbox that name the two files in `directory`. `also_strong`: those, too, that are stronger
// than what code says itself about the authorities that it trusts (requests, git, pip, boto).
Environment trust_variables(const std::string& directory, bool also_strong);

// Makes the authority, and writes the files. `name`: of the authority. `environment`: of the sandbox, which may name
// other authorities already. Where no authority can be made, `inspection` says why. Blocks for some milliseconds.
void make_inspection(Inspection& inspection, const std::string& name, const std::string& directory,
                     const Environment& environment);

} // namespace cellgate::egress
