#pragma once
// inject() puts the secrets that rules name into a request, or signs it with them. Neither the code nor the user sees
// the values.

#include "aws_signature.hpp"
#include "protocol/messages/policy.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::egress {

// The names of all secrets in them, sorted, each once.
std::vector<std::string> secret_names(const std::vector<protocol::Injection>& injections);

// Whether they put in a signature and nothing else: the secret key itself is not sent.
bool only_sign(const std::vector<protocol::Injection>& injections);

// What injections found in their places.
struct ClearedPlaces {
    std::optional<AwsScope> aws;           // where they sign it
    std::optional<std::string> unsignable; // why they cannot
};
// Removes what the code sent in the places of the injections.
ClearedPlaces clear_places(RequestToJudge& request, const std::vector<protocol::Injection>& injections);

// `cleared`: what clear_places() found in the request, which is what is sent now but for `host`. `values`: of all their
// secrets, by name. Throws Error{denied} for a value that no header can have, and for a request that cannot be signed.
void inject(RequestToJudge& request, std::string_view host, const ClearedPlaces& cleared,
            const std::vector<protocol::Injection>& injections, const std::map<std::string, std::string>& values);

} // namespace cellgate::egress
