// What may be named for an install. tests/integration/test_install.py sends the same kinds to a sidecar, where the
// schema judges the answers.

#include "base/error.hpp"
#include "packages/requirements.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace cellgate;
using namespace cellgate::packages;

namespace {

const std::string nul("si\0x", 4);

} // namespace

TEST_CASE("names, extras and versions may be named") {
    for (const char* text : {"six",
                             "Six",
                             "a",
                             "typing_extensions",
                             "zope.interface",
                             "ruamel.yaml.clib",
                             "3to2",
                             "requests[socks]",
                             "requests[socks,use-chardet-on-py3]",
                             "six==1.16.0",
                             "six>=1.2,<2",
                             "six ~= 1.16",
                             "six >= 1.2 , != 1.3, < 2",
                             "six===1.0+local.1",
                             "six==1.*",
                             "torch==2.1.0+cpu",
                             "epoch==1!2.0",
                             "foo.zipper",
                             "tar",
                             "six.whl2",
                             "six==1.0.zip2",
                             "six<2.zip,>1",
                             "requests[socks]>=2,<3"}) {
        CAPTURE(text);
        CHECK(problem_of_requirement(text, false) == std::nullopt);
        CHECK(problem_of_requirement(text, true) == std::nullopt);
    }
}

// What pip would take for an option, a file, a marker or something else, and what a user could not read.
const std::vector<std::string> refused = {
    "",
    // options
    "-r",
    "-r file",
    "-rfile",
    "-e .",
    "--index-url=https://example.org/",
    "--",
    "-",
    "--target=/",
    "six --pre",
    "six -r x",
    " --pre",
    // markers, commands
    "pkg; id",
    "six;python_version<'4'",
    "six && id",
    "six|id",
    "$(id)",
    "`id`",
    "six>`id`",
    "six==$(id)",
    // paths and files
    "../x",
    "./x",
    "/tmp/x",
    "x/y",
    ".",
    "..",
    "~/x",
    "file:x",
    "file:///x",
    "x\\y",
    "six.whl",
    "six-1.0.tar.gz",
    "SIX.ZIP",
    "six.tgz",
    "six.zip[x]",
    "six.tar",
    "a.tar.lzma",
    "good==1.0.whl",
    "good===1.0.zip",
    "good[x]==1.0.Zip",
    "good>=1,<2.tar.gz",
    "good == 1.0.tgz",
    // more than one
    "a b",
    "six,idna",
    "six==1 idna",
    "six==1,idna",
    "six\nidna",
    "six\n",
    "\nsix",
    "six\r",
    "six\t",
    nul,
    std::string("six\0", 4),
    std::string(501, 'a'),
    // what a user cannot read
    "six\u202e",
    "si\u200bx",
    "ѕix",
    "six\x1b[2J",
    "\xff",
    // broken
    "six[",
    "six[]",
    "six[a",
    "six[a,]",
    "six[-x]",
    "six[a b]",
    "six[a][b]",
    "six==",
    "six=1",
    "six>1,",
    "six>,<2",
    "_six",
    "six_",
    "six.",
    ".six",
    "six==-1",
    "six==.*",
    "six==*",
    "six==1*",
    "six @",
    "six[a]b",
    "six ",
    "six==1 ",
    // from elsewhere, but not as it is allowed
    "https://example.org/six.whl",
    "git+https://example.org/six",
    "six @ http://example.org/x",
    "six @ file:///x",
    "six @ ssh://example.org/x",
    "six @ git+ssh://example.org/x",
    "six @ git+file:///x",
    "six @ /x",
    "six @ ../x",
    "six @ https://",
    "six @ https://-x",
    "six @ https://example.org/x; id",
    "six @ https://example.org/x y",
    "six @ git+https://example.org/x@--upload-pack=id",
    "six @ hg+https://example.org/x",
    "six@https:///x",
};

TEST_CASE("nothing else may, source builds or not") {
    for (const std::string& text : refused) {
        CAPTURE(text);
        CHECK(problem_of_requirement(text, false).has_value());
        CHECK(problem_of_requirement(text, true).has_value());
    }
}

TEST_CASE("a place is taken from who allows source builds") {
    for (const char* text : {"six @ https://example.org/six-1.0.tar.gz", "six@https://example.org/x",
                             "tool[a,b] @ git+https://example.org/ada/tool.git@v1.2#subdirectory=python",
                             "tool @ https://user:token@example.org/x?y=%20&z=(1)"}) {
        CAPTURE(text);
        CHECK(problem_of_requirement(text, true) == std::nullopt);
        CHECK(problem_of_requirement(text, false).value_or("").find("source builds") != std::string::npos);
    }
}

TEST_CASE("the error names the first one, in characters that can be seen, and what was expected") {
    CHECK_NOTHROW(require_requirements({"six"}, false));
    CHECK_THROWS_WITH_AS(require_requirements({"six", "si\u202ex; id"}, false),
                         doctest::Contains("params.packages[1]: expected a package as pip names it"), Error);
    CHECK_THROWS_WITH_AS(require_requirements({"six", "si\u202ex"}, false), doctest::Contains(R"("si\u{202e}x")"),
                         Error);
    CHECK_THROWS_WITH_AS(require_requirements({}, false), doctest::Contains("expected 1 to 64 packages, found 0"),
                         Error);
    CHECK_THROWS_AS(require_requirements(std::vector<std::string>(65, "six"), false), Error);
    CHECK_NOTHROW(require_requirements(std::vector<std::string>(64, "six"), false));
    try {
        require_requirements({"--pre"}, false);
        FAIL("it was taken");
    } catch (const Error& error) {
        CHECK(error.code == ErrorCode::invalid_params);
        CHECK_FALSE(error.hint.empty());
    }
}
