// Packages of npm: what may be named, and what of a build's folder becomes what kernels see.

#include "base/error.hpp"
#include "packages/module_packages.hpp"
#include "packages/npm_names.hpp"
#include "packages/npm_packages.hpp"
#include "packages/requirements.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace cellgate;
using namespace cellgate::packages;

namespace {

namespace fs = std::filesystem;

struct NpmFixture {
    TempFolder folder;
    std::string base = folder.path;
    store::Directories directories{base + "/state", base + "/config", base + "/runtime", base + "/data"};
    NpmPackages packages{directories, "/home/ada/plan"};
    NpmPackages with_scripts{directories, "/home/ada/plan", true};

    std::string read(const std::string& path) const {
        std::ifstream file(packages.shown() + "/" + path);
        std::ostringstream text;
        text << file.rdbuf();
        return text.str();
    }
};

// As Deno lays out a package: `folder` is "tiny@1.0.0", `name` its name.
void make_npm(const PackageFolder::Build& build, const std::string& folder, const std::string& name,
              const std::string& text) {
    const fs::path modules = fs::path(build.directory) / "packages/node_modules";
    const fs::path place = modules / ".deno" / folder / "node_modules" / name;
    fs::create_directories(place);
    std::ofstream(place / "index.js") << text;
    const fs::path link = modules / name;
    fs::create_directories(link.parent_path());
    fs::create_symlink((name.starts_with('@') ? "../.deno/" : ".deno/") + folder + "/node_modules/" + name, link);
}

std::string names_of(const std::vector<protocol::InstalledPackage>& installed) {
    std::string names;
    for (const protocol::InstalledPackage& each : installed) {
        names += each.name + "@" + each.version + " ";
    }
    return names;
}

} // namespace

TEST_CASE("a package of npm may have a scope, and a version or a range") {
    for (const char* text : {"npm:lodash", "npm:lodash@4", "npm:lodash@^4.17.21", "npm:lodash@~4", "npm:x@latest",
                             "npm:@std/yaml", "npm:@std/yaml@1.0.5-rc.1+x", "npm:a.b_c-d", "npm:-", "npm:3d"}) {
        CAPTURE(text);
        CHECK(problem_of_npm_package(text) == std::nullopt);
    }
    for (const char* text :
         {"lodash",    "npm:",      "npm:@",   "npm:@a",    "npm:@a/", "npm:@/a",  "npm:.a",
          "npm:../a",  "npm:/a",    "npm:a/b", "npm:A",     "npm:a@",  "npm:a@>1", "npm:a@^",
          "npm:a@^^1", "npm:a@1 2", "npm:a b", "npm:a@1@2", "npm:a\n", "npm:@A/b", "npm:a@https://e.org/",
          "npm:\u0455"}) {
        CAPTURE(text);
        CHECK(problem_of_npm_package(text) != std::nullopt);
    }
    CHECK(problem_of_npm_package("npm:" + std::string(297, 'a')) != std::nullopt);
}

TEST_CASE("the packages of one install are of one kind") {
    CHECK(require_packages({"six"}, false) == PackageKind::python);
    CHECK(require_packages({"npm:a", "npm:b@^1"}, true) == PackageKind::npm);
    CHECK_THROWS_WITH_AS(require_packages({"npm:a", "six"}, false), doctest::Contains("of one kind"), Error);
    CHECK_THROWS_WITH_AS(require_packages({"npm:a", "npm:B"}, false), doctest::Contains("params.packages[1]"), Error);
    CHECK_THROWS_AS(require_packages({}, false), Error);
}

TEST_CASE("installs add up, the link of a name is to the newest, and what was there stays as it is") {
    NpmFixture place;
    const PackageFolder::Build first = place.packages.begin();
    make_npm(first, "tiny@1.0.0", "tiny", "old");
    make_npm(first, "@std+yaml@1.0.5", "@std/yaml", "yaml");
    CHECK(names_of(place.packages.publish(first)) == "@std/yaml@1.0.5 tiny@1.0.0 ");
    const PackageFolder::Build second = place.packages.begin();
    make_npm(second, "tiny@1.1.0", "tiny", "new");
    make_npm(second, "@std+yaml@1.0.5", "@std/yaml", "another");
    make_npm(second, "peer@2.0.0_tiny@1.1.0", "peer", "peer");
    CHECK(names_of(place.packages.publish(second)) == "@std/yaml@1.0.5 peer@2.0.0 tiny@1.1.0 ");
    PackageFolder::discard(first);
    PackageFolder::discard(second);
    CHECK(place.read("tiny/index.js") == "new");
    CHECK(place.read(".deno/tiny@1.0.0/node_modules/tiny/index.js") == "old");
    CHECK(place.read("@std/yaml/index.js") == "yaml");
    CHECK(place.read("peer/index.js") == "peer");
}

TEST_CASE("an install that runs scripts replaces the version that is there") {
    NpmFixture place;
    for (const NpmPackages* packages : {&place.packages, &place.with_scripts, &place.packages}) {
        const PackageFolder::Build build = packages->begin();
        make_npm(build, "tiny@1.0.0", "tiny", packages == &place.with_scripts ? "built" : "plain");
        packages->publish(build);
        PackageFolder::discard(build);
    }
    CHECK(place.read("tiny/index.js") == "built");
}

TEST_CASE("of a hostile build nothing is followed, and odd names stay out") {
    NpmFixture place;
    const fs::path outside = place.base + "/outside";
    fs::create_directory(outside);
    const PackageFolder::Build build = place.packages.begin();
    const fs::path modules = fs::path(build.directory) / "packages/node_modules";
    make_npm(build, "tiny@1.0.0", "tiny", "x");
    fs::create_directory_symlink(outside, modules / ".deno/evil@1.0.0");
    fs::create_directory_symlink(outside, modules / "@scope");
    fs::create_directories(modules / ".deno/\u202e@1.0.0");
    fs::create_directories(modules / "folder");
    CHECK(names_of(place.packages.publish(build)) == "tiny@1.0.0 ");
    CHECK(fs::is_empty(outside));
    for (const char* name : {"@scope", "folder", ".deno/evil@1.0.0", ".deno/\u202e@1.0.0"}) {
        CAPTURE(name);
        CHECK_FALSE(fs::exists(fs::symlink_status(place.packages.shown() + "/" + name)));
    }
    for (const char* replaced : {"", "/.deno"}) {
        const PackageFolder::Build hostile = place.packages.begin();
        const std::string made = hostile.directory + "/packages/node_modules";
        make_npm(hostile, "tiny@2.0.0", "tiny", "x");
        fs::remove_all(made + replaced);
        fs::create_directory_symlink(outside, made + replaced);
        CHECK_THROWS_AS(place.packages.publish(hostile), Error);
    }
    CHECK(fs::is_empty(outside));
    CHECK_FALSE(fs::exists(place.packages.shown() + "/.deno/tiny@2.0.0"));
}

TEST_CASE("modules whose package has another name are known, all others have their own") {
    CHECK(package_of("sklearn.linear_model") == "scikit-learn");
    CHECK(package_of("PIL") == "pillow");
    CHECK(package_of("yaml") == "PyYAML");
    CHECK(package_of("pandas") == "pandas");
    CHECK(package_of("pandas.api") == "pandas");
    CHECK(package_of("") == "");
}
