#pragma once
// `Json` is a small free-form value that we build or inspect. A value that is passed on is RawJson, which keeps its
// bytes; message structs use json_codec.hpp.

#include <nlohmann/json.hpp>

namespace cellgate {

using Json = nlohmann::json;

} // namespace cellgate
