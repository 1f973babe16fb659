#include "aws_signature.hpp"

#include "base/encoding.hpp"
#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/percent_encoding.hpp"
#include "base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace cellgate::egress {

namespace {

constexpr std::string_view algorithm = "AWS4-HMAC-SHA256";
constexpr std::string_view terminator = "aws4_request";
constexpr std::size_t date_bytes = 8; // of 20150830T123600Z
constexpr const char* date_field = "x-amz-date";
constexpr const char* hash_field = "x-amz-content-sha256";
constexpr const char* token_field = "x-amz-security-token";

[[noreturn]] void refuse_signing(const std::string& why, const std::string& hint) {
    throw Error(ErrorCode::denied, "it cannot be signed again for AWS: " + why, hint);
}

// Without blanks around it, and with one for several in it.
std::string canonical_value(std::string_view value) {
    std::string canonical;
    for (const char c : trim(value)) {
        const char read = c == '\t' ? ' ' : c;
        if (read != ' ' || !canonical.ends_with(' ')) {
            canonical += read;
        }
    }
    return canonical;
}

std::string bytes_of(const Sha256Digest& digest) {
    return {digest.begin(), digest.end()};
}

bool is_scope_word(std::string_view text) {
    constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
}

// 20150830T123600Z
bool is_date(std::string_view text) {
    constexpr std::string_view form = "ddddddddTddddddZ";
    return std::equal(text.begin(), text.end(), form.begin(), form.end(),
                      [](char c, char of) { return of == 'd' ? c >= '0' && c <= '9' : c == of; });
}

// AWS4-HMAC-SHA256 Credential=ID/20150830/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-date, Signature=…
AwsScope read_authorization(std::string_view text) {
    constexpr std::size_t scope_parts = 4; // behind the key's id
    std::map<std::string_view, std::string_view> named;
    for (const std::string_view part : split(text.substr(algorithm.size()), ',')) {
        const std::string_view member = trim(part);
        const std::size_t equals = std::min(member.find('='), member.size());
        named[member.substr(0, equals)] = member.substr(std::min(equals + 1, member.size()));
    }
    const std::vector<std::string_view> scope = split(named["Credential"], '/');
    AwsScope found;
    if (scope.size() == scope_parts + 1 && scope.back() == terminator) {
        found.region = scope[2];
        found.service = scope[3];
    }
    if (!is_scope_word(found.region) || !is_scope_word(found.service)) {
        refuse_signing("its Authorization names no region and service", "Its Credential has the form "
                                                                        "ID/DATE/REGION/SERVICE/aws4_request.");
    }
    for (const std::string_view name : split(named["SignedHeaders"], ';')) {
        found.headers.emplace_back(name);
    }
    return found;
}

std::string_view path_of(std::string_view target) {
    return target.substr(0, target.find('?'));
}

std::string_view query_of(std::string_view target) {
    return target.substr(std::min(target.find('?'), target.size() - 1) + 1);
}

bool is_presigned(std::string_view target) {
    const std::vector<std::string_view> parameters = split(query_of(target), '&');
    return std::any_of(parameters.begin(), parameters.end(),
                       [](std::string_view each) { return form_decode(each).starts_with("X-Amz-Signature="); });
}

// What S3 takes in place of the body's hash: its content is not signed.
bool is_unsigned(const std::optional<std::string>& hash) {
    return hash == "UNSIGNED-PAYLOAD" || hash == "STREAMING-UNSIGNED-PAYLOAD-TRAILER";
}

void erase_token(RequestHead& head) {
    std::erase_if(head.fields, [](const auto& field) { return is_one_field(field.first, token_field); });
}

void require_signable(const RequestToJudge& request) {
    const std::optional<std::string> hash = request.head.single(hash_field);
    if (!is_date(request.head.single(date_field).value_or(""))) {
        refuse_signing("it has no x-amz-date such as 20150830T123600Z", "SDKs send one; a Date alone is not read.");
    }
    if (hash && hash->starts_with("STREAMING-") && !is_unsigned(hash)) {
        refuse_signing(fmt::format("each chunk of its body has a signature of its own ({})", *hash),
                       "Send the body in one piece, or with UNSIGNED-PAYLOAD.");
    }
    if (!request.complete && !hash) {
        refuse_signing(fmt::format("its body is over {} MiB and not kept, and it does not name its hash",
                                   max_known_body_bytes >> 20),
                       "Send less, or an x-amz-content-sha256.");
    }
}

// A body that is not kept is sent as it comes, so that the hash that the code named holds.
std::string payload_hash(RequestToJudge& request) {
    const std::optional<std::string> named = request.head.single(hash_field);
    if (named && (is_unsigned(named) || !request.complete)) {
        return *named;
    }
    std::string hash = sha256(request.body);
    if (named) {
        request.head.set(hash_field, hash);
    }
    return hash;
}

// Of all services but S3: without dot segments and empty ones (RFC 3986 section 5.2.4).
std::string normalized_path(std::string_view path) {
    std::vector<std::string_view> kept;
    for (const std::string_view part : split(path, '/')) {
        if (part == ".." && !kept.empty()) {
            kept.pop_back();
        } else if (!part.empty() && part != "." && part != "..") {
            kept.push_back(part);
        }
    }
    return fmt::format("/{}{}", fmt::join(kept, "/"), path.ends_with('/') && !kept.empty() ? "/" : "");
}

std::string canonical_path(std::string_view path, std::string_view service) {
    const bool is_s3 = service == "s3" || service == "s3express" || service.starts_with("s3-"); // s3-outposts
    return is_s3 ? percent_encode(percent_decode(path), "/") : percent_encode(normalized_path(path), "/");
}

std::string canonical_query(std::string_view query) {
    std::vector<std::pair<std::string, std::string>> parameters;
    for (const std::string_view each : split(query, '&')) {
        const std::size_t equals = std::min(each.find('='), each.size());
        const std::string_view value = each.substr(std::min(equals + 1, each.size()));
        if (!each.empty()) {
            parameters.emplace_back(percent_encode(form_decode(each.substr(0, equals))),
                                    percent_encode(form_decode(value)));
        }
    }
    std::sort(parameters.begin(), parameters.end());
    std::string canonical;
    for (const auto& [name, value] : parameters) {
        canonical += fmt::format("{}{}={}", canonical.empty() ? "" : "&", name, value);
    }
    return canonical;
}

// By name, with their values: what the code signed of what is still there, the host, and all of AWS's own. The fields
// about the body's length are only made when it is sent.
std::map<std::string, std::string> signed_headers(const RequestHead& head, std::string_view host,
                                                  const std::vector<std::string>& wanted) {
    std::map<std::string, std::string> found = {{"host", std::string(host)}};
    for (const auto& [name, value] : head.fields) {
        const bool is_wanted = std::find(wanted.begin(), wanted.end(), name) != wanted.end();
        if ((!is_wanted && !name.starts_with("x-amz-")) || name == "host" || name == "content-length" ||
            name == "transfer-encoding") {
            continue;
        }
        const auto [at, is_new] = found.emplace(name, canonical_value(value));
        if (!is_new) {
            at->second += "," + canonical_value(value);
        }
    }
    return found;
}

std::string signing_key(const AwsKeys& keys, std::string_view date, const AwsScope& scope) {
    std::string key = "AWS4" + keys.secret;
    for (const std::string_view part :
         {date, std::string_view(scope.region), std::string_view(scope.service), terminator}) {
        key = bytes_of(hmac_sha256_bytes(key, {part}));
    }
    return key;
}

// Of what a header has, without what divides it.
void require_key(std::string_view name, std::string_view value, std::string_view divides) {
    const bool fits = std::all_of(value.begin(), value.end(), [divides](char c) {
        return c > ' ' && c <= '~' && divides.find(c) == std::string_view::npos;
    });
    if (!fits || value.empty()) {
        refuse_signing(fmt::format("the rule's {} has characters that none has", name),
                       "The rule's value is ACCESSKEYID:SECRETKEY, or ACCESSKEYID:SECRETKEY:SESSIONTOKEN.");
    }
}

} // namespace

AwsScope take_aws_signature(RequestToJudge& request) {
    RequestHead& head = request.head;
    erase_token(head);
    const std::optional<std::string> authorization = head.single("authorization");
    head.erase("authorization");
    if (is_presigned(head.target)) {
        refuse_signing("its signature is in its URL", "Send the request itself, not by a presigned URL.");
    }
    if (authorization && authorization->starts_with("AWS4-ECDSA-")) {
        refuse_signing("its signature is by SigV4A, for several regions", "Use the endpoint of one region.");
    }
    if (!authorization || !authorization->starts_with(fmt::format("{} ", algorithm))) {
        refuse_signing("it has no signature of Signature Version 4",
                       "An SDK signs with the placeholders of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. Restart the "
                       "session, if the rule is newer than it.");
    }
    require_signable(request);
    return read_authorization(*authorization);
}

void sign_for_aws(RequestToJudge& request, std::string_view host, const AwsScope& scope, const AwsKeys& keys) {
    RequestHead& head = request.head;
    require_key("access key's id", keys.id, "/,=");
    require_key("secret key", keys.secret, "");
    erase_token(head);
    if (keys.token) {
        require_key("session token", *keys.token, "");
        head.set(token_field, *keys.token);
    }
    require_signable(request);
    const std::string hash = payload_hash(request);
    std::string names;
    std::string fields;
    for (const auto& [name, value] : signed_headers(head, host, scope.headers)) {
        names += (names.empty() ? "" : ";") + name;
        fields += fmt::format("{}:{}\n", name, value);
    }
    const std::string canonical =
        fmt::format("{}\n{}\n{}\n{}\n{}\n{}", head.method, canonical_path(path_of(head.target), scope.service),
                    canonical_query(query_of(head.target)), fields, names, hash);
    const std::string time = head.single(date_field).value_or("");
    const std::string date = time.substr(0, date_bytes);
    const std::string place = fmt::format("{}/{}/{}/{}", date, scope.region, scope.service, terminator);
    const std::string to_sign = fmt::format("{}\n{}\n{}\n{}", algorithm, time, place, sha256(canonical));
    head.set("authorization", fmt::format("{} Credential={}/{}, SignedHeaders={}, Signature={}", algorithm, keys.id,
                                          place, names, hmac_sha256(signing_key(keys, date, scope), {to_sign})));
}

} // namespace cellgate::egress
