#pragma once
// `with_defaults` is a call's arguments with the defaults of required properties that the caller left out, as the
// tool's schema has them. It is done before the gate is asked, so these bytes are matched, shown and sent, too. Only
// properties of the schema itself count, not those behind a reference or an allOf.

#include "base/raw_json.hpp"

namespace cellgate::tools {

RawJson with_defaults(const RawJson& schema, RawJson arguments);

} // namespace cellgate::tools
