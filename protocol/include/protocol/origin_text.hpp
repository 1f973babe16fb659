#pragma once
// `origin_text` is where an action comes from, as a user reads it: "notes.py line 4 (reported by the code): x.run()".
// Of the document's address, which a client named, it is the file's name.

#include "protocol/messages/policy.hpp"

#include <string>

namespace cellgate::protocol {

std::string origin_text(const Origin& origin);

} // namespace cellgate::protocol
