#pragma once
// `package_of` names the package that a module of Python is installed with.

#include <string>
#include <string_view>

namespace cellgate::packages {

// `module`: as imported, "sklearn.linear_model" too. Of most modules the package has the name of the module's first
// part; of some that are well known, another one ("scikit-learn").
std::string package_of(std::string_view module);

} // namespace cellgate::packages
