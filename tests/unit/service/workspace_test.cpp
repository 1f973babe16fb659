#include "temp_folder.hpp"
#include "workspace.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace cellgate;
using namespace cellgate::service;

TEST_CASE("a relative path is one of the workspace, and an absolute one stays") {
    Workspace workspace;
    workspace.path = "/home/ada/project";
    CHECK(workspace.resolve("data/../a.py") == "/home/ada/project/a.py");
    CHECK(workspace.resolve("/srv/b.py") == "/srv/b.py");
    CHECK_THROWS_AS(workspace.resolve(""), Error);
    CHECK_THROWS_AS(workspace.resolve(std::string("a\0b", 3)), Error);
}

TEST_CASE("a workspace is its canonical folder, and nothing else is one") {
    const TempFolder folder;
    std::filesystem::create_directory(folder.path / "real");
    std::filesystem::create_symlink("real", folder.path / "link");
    std::ofstream(folder.path / "file") << "";
    SidecarOptions options;
    options.workspace = folder.path / "link";
    const Workspace workspace = open_workspace(options);
    CHECK(workspace.path == (folder.path / "real").string());
    CHECK(workspace.default_session().cwd == workspace.path);
    for (const char* wrong : {"file", "missing"}) {
        CAPTURE(wrong);
        options.workspace = folder.path / wrong;
        CHECK_THROWS_AS(open_workspace(options), Error);
    }
}

TEST_CASE("secrets are taken out of the environment, so that no program gets them") {
    const TempFolder folder;
    SidecarOptions options;
    options.workspace = folder.path;
    options.environment = {{"CELLGATE_SECRET_TOKEN", "x"}, {"CELLGATE_SECRET_", "no name"},
                           {"CELLGATE_SECRET_EMPTY", ""},  {"CELLGATE_SECRET_no-name", "y"},
                           {"CELLGATE_OTHER", "z"},        {"PATH", "/bin"}};
    const Workspace workspace = open_workspace(options);
    CHECK(workspace.secrets == Environment{{"TOKEN", "x"}});
    CHECK(workspace.environment == Environment{{"CELLGATE_OTHER", "z"}, {"PATH", "/bin"}});
}
