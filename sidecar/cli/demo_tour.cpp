#include "demo_tour.hpp"

namespace cellgate::cli {

const std::string_view demo_tour = R"python(# %% Compute: this stays inside the sandbox and needs no answer.
from statistics import mean

temperatures = [11.5, 13.0, 17.2, 16.1, 12.8]
print("mean of", len(temperatures), "days:", round(mean(temperatures), 2))

# %% Plot, if matplotlib is there.
try:
    import matplotlib.pyplot as plt
except ImportError:
    print("matplotlib is not installed: no plot")
else:
    plt.figure(figsize=(3, 2))
    plt.plot(temperatures)
    plt.show()

# %% Read a file through a tool. The answer covers reading, not writing.
from mcptools.host import read_file, write_file

notes = read_file.run(path="notes.txt")
print("notes.txt says:", notes.content.strip())

# %% Write a report.
write_file.run(path="denied.txt", content="This must not be written.\n")

# %% Write a report, second try.
write_file.run(path="report.txt", content="mean: %.2f\n" % mean(temperatures))

# %% Write a summary; the user may change it.
write_file.run(path="summary.txt", content="All is well.\n")

# %% Code that looks for more than it was given.
import os, pathlib, socket

def attempt(what, action):
    try:
        action()
    except Exception as error:
        print("held:", what, "-", type(error).__name__ + ":", error)
    else:
        print("ESCAPED:", what)

attempt("reading the keys in ~/.ssh", lambda: os.listdir(SSH_DIRECTORY))
attempt("changing the rules", lambda: pathlib.Path(POLICY_DIRECTORY, "rules.json").write_text("{}"))
attempt("connecting to the network", lambda: socket.create_connection(("192.0.2.1", 80), timeout=2))
attempt("changing the tool's wrapper", lambda: open("mcptools/host/write_file.py", "a"))
)python";

const std::string_view demo_filesystem = R"python(# %% The same with a real MCP server.
from mcptools.filesystem import list_directory

print(list_directory.run(path=WORKSPACE).content)
)python";

} // namespace cellgate::cli
