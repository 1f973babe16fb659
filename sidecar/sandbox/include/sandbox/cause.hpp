#pragma once
// Why a sandbox is as it is: the causes that an explanation, and a note, tells apart.

namespace cellgate::sandbox {

// Who decided that something is in the sandbox as it is.
enum class Cause {
    baseline, // every sandbox has it so
    guard,   // it keeps something from the cell that nobody asked to keep
    user,  // the settings file, or what a user added
    machine, // it is so outside too: files' permissions, or that there is none
};

} // namespace cellgate::sandbox
