// Signature Version 4. The signatures are those that botocore makes of the same requests; the first are AWS's own
// published ones.
#include "aws_signature.hpp"
#include "base/error.hpp"
#include "base/hash.hpp"
#include "injection.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace cellgate;
using namespace cellgate::egress;

namespace {

const AwsKeys keys{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", std::nullopt};
const std::string with_token = "AQoDYXdzEPT//////////wEXAMPLEtoken";
constexpr const char* body_hash = "230d8358dc8e8890b4c58deeb62912ee2f20357ae92a5cc861b98e68fe31acb5"; // of "body"

struct Case {
    std::string line; // "GET /"
    std::string fields;
    std::string body;
    std::string service = "service";
    std::string listed = "host;x-amz-date";
};

// As the code signed it.
RequestToJudge signed_by_code(const Case& given, const std::string& more = {}) {
    RequestToJudge request;
    const std::string authorization = fmt::format(
        "AWS4-HMAC-SHA256 Credential=cellgate-secret-1/20150830/us-east-1/{}/aws4_request, SignedHeaders={}, "
        "Signature=aa",
        given.service, given.listed);
    request.head =
        parse_head(fmt::format("{} HTTP/1.1\r\nX-Amz-Date: 20150830T123600Z\r\n{}Authorization: {}\r\n{}\r\n",
                               given.line, given.fields, authorization, more));
    request.body = given.body;
    return request;
}

std::string signed_again(RequestToJudge request, const AwsKeys& with = keys) {
    const AwsScope scope = take_aws_signature(request);
    sign_for_aws(request, "example.amazonaws.com", scope, with);
    return request.head.single("authorization").value_or("");
}

std::string signature_of(const Case& given) {
    const std::string text = signed_again(signed_by_code(given));
    const std::string lead =
        fmt::format("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/{}/aws4_request, SignedHeaders={}, "
                    "Signature=",
                    given.service, given.listed);
    return text.starts_with(lead) ? text.substr(lead.size()) : "another form: " + text;
}

std::string refusal_of(RequestToJudge request) {
    try {
        signed_again(std::move(request));
    } catch (const Error& error) {
        CHECK(error.code == ErrorCode::denied);
        CHECK(!error.hint.empty());
        return error.message;
    }
    return "signed";
}

} // namespace

TEST_CASE("a signature is that of the published examples") {
    const std::pair<Case, const char*> cases[] = {
        {{"GET /", "", ""}, "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
        {{"POST /", "", ""}, "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
        {{"GET /?Param2=value2&Param1=value1", "", ""},
         "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
        {{"GET /?Param1=value2&Param1=value1&Param1=", "", ""},
         "593492d3ab742ebd4f836e9d691e9b09c00713319b152c7c1e11167c3a131c30"},
        {{"GET /%E1%88%B4", "", ""}, "697b34846207a3f72246f99d74ae1ee4fe54f44bb06730c58a0d339eb079596d"},
        {{"GET //example//", "", ""}, "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84"},
        {{"GET /example1/../b/./", "", ""}, "0b867cc1c01088741ef3c5175a9b8aae7f8e4e32ba46aff9ac2bfc25bbf5791e"},
        {{"GET /example%20space/", "", ""}, "446b817944c553435b35e813c261ff4e161fff982d1bacdef1c87f6785dd1662"},
        {{"POST /", "Content-Type: application/x-www-form-urlencoded\r\n", "Param1=value1", "service",
          "content-type;host;x-amz-date"},
         "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
        {{"GET /", "My-Header1: value1\r\nMy-Header2:  \"a   b   c\" \r\n", "", "service",
          "host;my-header1;my-header2;x-amz-date"},
         "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
        {{"POST /", "Content-Type: application/x-amz-json-1.0\r\nX-Amz-Target: DynamoDB_20120810.GetItem\r\n",
          R"({"TableName":"t"})", "dynamodb", "content-type;host;x-amz-date;x-amz-target"},
         "67b42fda0f4d4a8a3feb708a871ec12f3f241075092d1aeaa6aeeb83906a0d7a"},
    };
    for (const auto& [given, expected] : cases) {
        CAPTURE(given.line);
        CHECK(signature_of(given) == expected);
    }
}

TEST_CASE("S3 has its path as it is, and says the hash of its body") {
    const std::string listed = "host;x-amz-content-sha256;x-amz-date";
    const auto hash = [](const std::string& value) { return fmt::format("X-Amz-Content-Sha256: {}\r\n", value); };
    CHECK(signature_of({"PUT /bucket/a//b%20c/../d%2Be", hash(body_hash), "body", "s3", listed}) ==
          "88399e7450fcd9b7e318b8a71e34c7ed6b1453f10f2e1d8d0d55266d61b58a91");
    const char* unsigned_body = "6a7e77e3d5e8fb0db8be9e529ea68bc9c152f09c49bcfa024831319d688c98cc";
    CHECK(signature_of({"PUT /bucket/a", hash("UNSIGNED-PAYLOAD"), "body", "s3", listed}) == unsigned_body);
    CHECK(signature_of({"PUT /bucket/a", hash("UNSIGNED-PAYLOAD"), "other", "s3", listed}) == unsigned_body);
    const Case list{"GET /bucket?list-type=2&prefix=a%2Fb&delimiter=%2F&acl", hash(sha256("")), "", "s3", listed};
    CHECK(signature_of(list) == "1e3a75f7a3196eaeba982c96f71f53ff60eb7c3bb45bfa73ab783127676784ad");
}

TEST_CASE("the query is signed as servers read it, however it is spelled") {
    const std::string signature = signature_of({"GET /?a=b%20c&d=%2F~&e", "", ""});
    for (const std::string query : {"a=b+c&d=%2f%7e&e", "e=&d=/~&a=b%20c", "&e&&a=%62 c&d=/~"}) {
        CAPTURE(query);
        RequestToJudge request = signed_by_code({"GET /", "", ""});
        request.head.target = "/?" + query;
        CHECK(signed_again(request).ends_with(signature));
    }
    CHECK(signature_of({"GET /?a=b%20c&d=%2F~&f", "", ""}) != signature); // the control
}

TEST_CASE("the token is the rule's, and the code's is never sent") {
    RequestToJudge request = signed_by_code({"POST /", "X-Amz-Security-Token: cellgate-secret-2\r\n", "", "service",
                                             "host;x-amz-date;x-amz-security-token"},
                                            "X_Amz_Security_Token: cellgate-secret-2\r\n");
    AwsKeys session = keys;
    session.token = with_token;
    CHECK(signed_again(request, session)
              .ends_with("SignedHeaders=host;x-amz-date;x-amz-security-token, "
                         "Signature=b6a1c6bffa914494d4a2e956a93116fc8e13bed2243ccaa15c429dc49bf980b9"));
    CHECK(signed_again(request).ends_with("5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"));
    const AwsScope scope = take_aws_signature(request);
    CHECK(to_text(request.head).find("cellgate-secret") == std::string::npos);
    sign_for_aws(request, "example.amazonaws.com", scope, keys);
    CHECK(!request.head.single("x-amz-security-token"));
}

TEST_CASE("an edited request is signed as edited") {
    RequestToJudge request =
        signed_by_code({"PUT /bucket/a", fmt::format("X-Amz-Content-Sha256: {}\r\nX-Gone: 1\r\n", sha256("first")),
                        "first", "s3", "host;x-amz-content-sha256;x-amz-date;x-gone"});
    const AwsScope scope = take_aws_signature(request);
    request.body = "body";
    request.head.target = "/bucket/a//b%20c/../d%2Be";
    request.head.erase("x-gone");
    sign_for_aws(request, "example.amazonaws.com", scope, keys);
    CHECK(request.head.single("x-amz-content-sha256") == body_hash);
    CHECK(request.head.single("authorization")
              .value_or("")
              .ends_with("88399e7450fcd9b7e318b8a71e34c7ed6b1453f10f2e1d8d0d55266d61b58a91"));
    request.head.set("x-amz-meta-added", "1"); // AWS wants all of its own signed
    request.head.set("content-length", "4");
    sign_for_aws(request, "example.amazonaws.com", scope, keys);
    CHECK(request.head.single("authorization")
              .value_or("")
              .find("SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-meta-added,") != std::string::npos);
    request.head.erase("x-amz-date");
    CHECK_THROWS_AS(sign_for_aws(request, "example.amazonaws.com", scope, keys), Error);
}

TEST_CASE("a signature is over the host to which the request goes") {
    RequestToJudge request = signed_by_code({"GET /", "Host: other.example\r\n", ""});
    CHECK(signed_again(request).ends_with("5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"));
}

TEST_CASE("what cannot be signed again is refused, with what to do") {
    const auto with = [](const std::string& authorization, const std::string& line = "GET /") {
        RequestToJudge request = signed_by_code({line, "", ""});
        request.head.erase("authorization");
        if (!authorization.empty()) {
            request.head.set("authorization", authorization);
        }
        return request;
    };
    const auto credential = [](const std::string& scope) {
        return "AWS4-HMAC-SHA256 Credential=" + scope + ", SignedHeaders=host, Signature=aa";
    };
    CHECK(refusal_of(with(credential("a/20150830/us-east-1/s3/aws4_request"))) == "signed"); // the control
    CHECK(refusal_of(with("")).find("no signature of Signature Version 4") != std::string::npos);
    CHECK(refusal_of(with("AWS ID:c2ln")).find("no signature of Signature Version 4") != std::string::npos);
    CHECK(refusal_of(with("AWS4-ECDSA-P256-SHA256 Credential=a/b/s3/aws4_request")).find("SigV4A") !=
          std::string::npos);
    for (const std::string scope : {"", "a", "a/20150830/us-east-1/s3/aws4", "a/20150830//s3/aws4_request",
                                    "a/20150830/us-east-1/s 3/aws4_request", "20150830/us-east-1/s3/aws4_request"}) {
        CAPTURE(scope);
        CHECK(refusal_of(with(credential(scope))).find("no region and service") != std::string::npos);
    }
    CHECK(refusal_of(with("AWS4-HMAC-SHA256 ")).find("no region and service") != std::string::npos);
    CHECK(refusal_of(with("", "GET /?X-Amz-Algorithm=AWS4-HMAC-SHA256&X%2DAmz-Signature=aa")).find("in its URL") !=
          std::string::npos);
    RequestToJudge undated = signed_by_code({"GET /", "", ""});
    undated.head.set("x-amz-date", "2015-08-30");
    CHECK(refusal_of(undated).find("no x-amz-date") != std::string::npos);
    const auto hashed = [](const std::string& hash) {
        return signed_by_code({"PUT /", fmt::format("X-Amz-Content-Sha256: {}\r\n", hash), "body", "s3"});
    };
    CHECK(refusal_of(hashed("STREAMING-AWS4-HMAC-SHA256-PAYLOAD")).find("each chunk") != std::string::npos);
    CHECK(refusal_of(hashed("STREAMING-UNSIGNED-PAYLOAD-TRAILER")) == "signed");
    RequestToJudge long_one = signed_by_code({"PUT /", "", ""});
    long_one.complete = false;
    CHECK(refusal_of(long_one).find("over 8 MiB") != std::string::npos);
    for (const std::string hash : {"UNSIGNED-PAYLOAD", body_hash}) { // it is sent as it comes
        RequestToJudge known = hashed(hash);
        known.complete = false;
        CHECK(refusal_of(known) == "signed");
    }
}

TEST_CASE("keys that a header would not carry as they are, are refused and not shown") {
    const auto refused = [](AwsKeys with) {
        try {
            signed_again(signed_by_code({"GET /", "", ""}), with);
        } catch (const Error& error) {
            return error.message.find("has characters that none has") != std::string::npos &&
                   error.message.find("KEY") == std::string::npos;
        }
        return false;
    };
    CHECK(!refused({"ID", "a/KEY+", "token/+="})); // the control
    CHECK(refused({"a/KEY+", "ID", std::nullopt}));
    CHECK(refused({"KEY\n", "a", std::nullopt}));
    CHECK(refused({"", "KEY", std::nullopt}));
    CHECK(refused({"ID", "KEY\r\nx: y", std::nullopt}));
    CHECK(refused({"ID", "a", "KEY x"}));
}

TEST_CASE("a rule's keys sign last, over what other rules put in") {
    protocol::Injection aws;
    aws.as = protocol::InjectionAs::aws;
    aws.value = "AKIDEXAMPLE:${secret:KEY}";
    protocol::Injection header;
    header.as = protocol::InjectionAs::header;
    header.name = "X-Amz-Meta-More";
    header.value = "${secret:MORE}";
    const std::map<std::string, std::string> values = {{"KEY", keys.secret}, {"MORE", "more"}};
    RequestToJudge request = signed_by_code({"GET /", "", ""});
    const ClearedPlaces cleared = clear_places(request, {aws, header});
    REQUIRE(!cleared.unsignable);
    CHECK(!request.head.single("authorization"));
    inject(request, "example.amazonaws.com", cleared, {aws, header}, values);
    const std::string both = request.head.single("authorization").value_or("");
    CHECK(both.find("SignedHeaders=host;x-amz-date;x-amz-meta-more,") != std::string::npos);
    inject(request, "example.amazonaws.com", cleared, {header, aws}, values);
    CHECK(request.head.single("authorization") == both);
    CHECK(only_sign({aws}));
    CHECK(!only_sign({aws, header}));
    RequestToJudge unsigned_one = signed_by_code({"GET /", "", ""});
    unsigned_one.head.erase("authorization");
    CHECK(clear_places(unsigned_one, {aws}).unsignable.value_or("").find("Restart the session") != std::string::npos);
    CHECK(!clear_places(unsigned_one, {header}).unsignable);
}
