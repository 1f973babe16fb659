#pragma once
// `sign_for_aws` signs a request by Signature Version 4 of AWS, in the place of a signature that code made with
// placeholders. What is signed is the request as it is sent, so that one that a user edited is signed as edited.

#include "request_action.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::egress {

// What the code's signature was for.
struct AwsScope {
    std::string region;
    std::string service;
    std::vector<std::string> headers; // in lower case
};

struct AwsKeys {
    std::string id;
    std::string secret;
    std::optional<std::string> token;
};

// Takes the code's signature out of a request, and its token. Throws Error{denied}, with both taken out too, for a
// request that cannot be signed again.
AwsScope take_aws_signature(RequestToJudge& request);

// `host`: as the request's Host field will have it. Throws Error{denied} for keys that no header can have, and for a
// request that was edited into one that cannot be signed.
void sign_for_aws(RequestToJudge& request, std::string_view host, const AwsScope& scope, const AwsKeys& keys);

} // namespace cellgate::egress
