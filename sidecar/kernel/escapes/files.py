"""Attempts on files: reading secrets, and writing what runs or is obeyed outside."""

import ctypes
import os
import socket
import sys

from attempts import (SECRET, any_of, attempt, below, call, home, libc, moved, moved_to, opened, place, read, succeeds,
                      work, write)


@attempt("fs-read-ssh", "private-home", "read ~/.ssh/id_rsa")
def read_ssh():
    return read(home(".ssh/id_rsa"))


@attempt("fs-read-env", "protected-files", "read .env of the workspace, or what one links to")
def read_env():
    names = (".env", ".envrc", "deploy/.env.production", "deploy/.env", "deploy/secrets/prod")
    return any_of([lambda name=name: read(work(name)) for name in names])


@attempt("fs-read-env-rename", "protected-files", "rename .env, or link to it, and read it")
def rename_env():
    def link():
        os.link(work(".env"), work("linked"))
        return read(work("linked"))

    def rename():
        os.rename(work(".env"), work("renamed"))
        return read(work("renamed"))
    return any_of([link, rename])


@attempt("fs-read-hardlink-preexisting", "protected-files", "read a secret by another name that it has had before")
def read_other_name():
    return any_of([lambda: read(work("notes.txt")), lambda: read(work("key.txt"))])


@attempt("fs-read-env-parent-rename", "mount-namespace", "rename a folder above .env and read it")
def rename_parent():
    def rename(old, new, name):
        os.rename(old, new)
        return read(os.path.join(new, name))
    return any_of([lambda: rename(work("deploy"), work("moved"), ".env.production"),
                   lambda: rename(place["workspace"], home("moved"), ".env")])


@attempt("fs-read-env-umount", "no-capabilities", "unmount what covers .env")
def unmount():
    if not os.path.ismount(work(".env")):
        return read(work(".env"))
    call(libc.umount2(work(".env").encode(), 2))
    return read(work(".env"))


@attempt("fs-read-env-userns-umount", "no-nested-namespaces", "unmount it in a user namespace of one's own")
def unmount_as_root():
    return succeeds("unshare", "-Urm", "sh", "-c", 'umount -l "$0"; grep -q CANARY "$0"', work(".env"))


@attempt("fs-read-host-environ", "pid-namespace", "read the environment of a process outside")
def read_environment():
    with open(f"/proc/{place['process']}/environ", "rb") as file:
        return SECRET.encode() in file.read()


@attempt("fs-read-etc", "mount-namespace", "see the names and tokens in /etc", seen_without=True)
def see_names():
    def names():
        with open("/etc/passwd") as file:
            return "daemon" in file.read()
    return any_of([lambda: os.path.exists("/etc/hostname"), lambda: os.path.exists("/etc/machine-id"), names])


@attempt("fs-proc-root", "mount-namespace", "read what the kernel shows to root only")
def read_proc():
    found = []
    for name in os.listdir("/proc"):
        path = "/proc/" + name
        if not name.isdigit() and os.path.isfile(path) and not os.stat(path).st_mode & 0o004:
            try:
                os.close(os.open(path, os.O_RDONLY))
                found.append(name)
            except OSError:
                pass
    return found


@attempt("fs-proc-write", "mount-namespace", "change a setting of the kernel, or anything in /proc but processes")
def write_proc():
    tops = [name for name in os.listdir("/proc") if not name.isdigit() and not os.path.islink("/proc/" + name)]
    return opened([path for name in tops for path in ["/proc/" + name, *below("/proc/" + name)]])


@attempt("fs-write-root", "mount-namespace", "write to the root directory, or into /dev")
def write_root():
    def make(path):
        os.mkdir(path)
        os.rmdir(path)
        return path
    return any_of([lambda: make("/cellgate-test"), lambda: make("/dev/cellgate-test")])


@attempt("fs-open-by-handle", "seccomp", "open a file outside by its handle")
def open_by_handle():
    kind, data = place["handle"]
    data = bytes.fromhex(data)
    handle = ctypes.create_string_buffer(len(data).to_bytes(4, sys.byteorder) + kind.to_bytes(4, sys.byteorder) + data)
    folder = os.open(place["workspace"], os.O_RDONLY)
    file = libc.open_by_handle_at(folder, handle, os.O_RDONLY)
    call(file)
    return SECRET.encode() in os.read(file, 100)


@attempt("fs-disk-raw", "mount-namespace", "find a device beyond the harmless ones")
def find_device():
    harmless = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm", "fd", "core", "stdin", "stdout",
                "stderr", "console"}
    return sorted(set(os.listdir("/dev")) - harmless)[:3]


@attempt("fs-write-githook", "protected-files", "write a hook of git's, or its configuration")
def write_hook():
    return any_of([lambda name=name: write(work(".git/" + name), "a")
                   for name in ("hooks/pre-commit", "config", "commondir")])


@attempt("fs-mv-parent", "protected-files", "move or exchange a folder above a protected file, and plant another")
def move_parent():
    def exchange():
        os.makedirs(work("evil/.vscode"))
        return call(libc.renameat2(-100, work("part").encode(), -100, work("evil").encode(), 2))
    return any_of([lambda: write(work("part/.vscode/tasks.json")), exchange,
                   lambda: moved(work("part"), work("moved"), work("part/.vscode")),
                   lambda: moved(work("deploy/secrets"), work("secrets"), work("deploy/secrets")),
                   lambda: moved(work("deploy"), work("deployed"), work("deploy/secrets"))])


@attempt("fs-mv-git", "protected-files", "move .git away and plant another")
def move_git():
    return moved(work(".git"), work("git"), work(".git/hooks"))


@attempt("fs-write-mcpjson", "protected-files", "change .mcp.json, or replace it")
def write_configuration():
    return any_of([lambda: write(work(".mcp.json")),
                   lambda: os.replace(write(work("new")), work(".mcp.json")) or True])


@attempt("fs-write-vscode", "protected-names", "make a .vscode, or bring one in from elsewhere")
def make_configuration():
    def make():
        os.makedirs(work("sub/.vscode"))
        return write(work("sub/.vscode/tasks.json"))

    def bring():
        os.makedirs(work("new"))
        return write(os.path.join(moved_to(work("new"), work(".vscode")), "tasks.json"))

    return any_of([make, bring])


@attempt("fs-write-subrepo-hook", "protected-names", "make a repository in a folder, with a hook")
def make_repository():
    os.makedirs(work("sub/.git/hooks"))
    return write(work("sub/.git/hooks/pre-commit"))


@attempt("fs-write-linked", "protected-names", "make or change what a protected name resolves to over links")
def write_linked():
    def exchange():
        os.unlink(work("linked/current"))
        os.makedirs(work("linked/current/claude"))
        return write(work("linked/.claude/settings.json"))
    return any_of([lambda: write(work("linked/scripts/hook")), lambda: write(work("linked/conf/mcp.json")), exchange])


@attempt("fs-write-worktree", "protected-files", "change the repository that a worktree's .git names")
def write_repository():
    return any_of([lambda: write(work("trees/.bare/config"), "a"), lambda: write(work("trees/.bare/hooks/pre-commit"))])


@attempt("fs-bind-name", "protected-names", "give a socket a protected name")
def bind_name():
    server = socket.socket(socket.AF_UNIX)
    os.chdir(place["workspace"])
    server.bind("linked/.vscode")
    return True


@attempt("fs-replace-wrapper-dir", "protected-files", "move mcptools away and plant another, or change a wrapper")
def replace_wrappers():
    return any_of([lambda: write(work("mcptools/__init__.py")),
                   lambda: moved(work("mcptools"), work("old"), work("mcptools"))])


@attempt("fs-write-pth", "mount-namespace", "write where every Python starts")
def write_pth():
    import site

    def plant(folder):
        path = os.path.join(folder, "cellgate-test.pth")
        open(path, "x").close()
        os.unlink(path)
        return path
    return any_of([lambda folder=folder: plant(folder) for folder in site.getsitepackages()])


@attempt("fs-mknod", "no-capabilities", "make a block device")
def make_device():
    os.mknod(work("disk"), 0o60600, os.makedev(254, 0))
    return True
