#pragma once
// Json is for small free-form values that we build or look into. What came from outside and goes on is RawJson, which
// keeps its bytes; message structs use json_codec.hpp.

#include <nlohmann/json.hpp>

namespace cellgate {

using Json = nlohmann::json;

} // namespace cellgate
