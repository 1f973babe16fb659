#!/bin/sh
# get_editor.sh SUITE PACKAGE DIRECTORY: an editor of a suite of Debian (trixie, sid), with every library that it needs,
# unpacked below DIRECTORY, and a program in DIRECTORY to start it: nvim for the package neovim, hx for hx (Helix). Nothing of
# the system changes: apt works on lists and a status of its own, with the mirror and the keyring of the system. What the
# suite has now is taken, and its version is printed.
set -eu

die() {
    printf 'get_editor: %s\n' "$*" >&2
    exit 1
}

suite=$1
package=$2
case $package in
neovim)
    program=nvim
    runtime=VIMRUNTIME
    runtime_folder=usr/share/nvim/runtime
    ;;
hx)
    program=hx
    runtime=HELIX_RUNTIME
    runtime_folder=usr/lib/hx/runtime
    ;;
*) die "expected the package neovim or hx, found $package" ;;
esac
mkdir -p "$3"
place=$(CDPATH='' cd -- "$3" && pwd -P)

# shellcheck source=/dev/null
. /etc/os-release
[ "${ID-}" = debian ] || die "$package of $suite comes from Debian's archive, and this system is ${ID-unknown}"
# apt fills in these words itself.
# shellcheck disable=SC2016
mirror=$(apt-get indextargets --format '$(CODENAME) $(SITE)' | sed -n "s/^${VERSION_CODENAME} //p" | head -n 1)
[ -n "$mirror" ] || die "apt's sources name no mirror of $VERSION_CODENAME"

apt=$place/apt
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
: >"$apt/status"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$apt/sources.list"
cat >"$apt/apt.conf" <<CONF
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
Debug::NoLocking "true";
APT::Sandbox::User "";
APT::Install-Recommends "false";
APT::Get::Assume-Yes "true";
Acquire::Languages "none";
Binary::apt-get::APT::Keep-Downloaded-Packages "true";
DPkg::Post-Invoke-Success "";
CONF
export APT_CONFIG="$apt/apt.conf"
apt-get update -q >"$apt/log" 2>&1 || die "apt cannot read $suite: $(tail -n 3 "$apt/log")"
# With nothing installed, apt downloads everything that the package depends on.
apt-get install -q --download-only "$package" >>"$apt/log" 2>&1 || die "no $package from $suite: $(tail -n 3 "$apt/log")"

rm -rf "$place/root.new"
mkdir "$place/root.new"
for archive in "$apt"/cache/archives/*.deb; do
    dpkg -x "$archive" "$place/root.new"
done
rm -rf "$place/root" "$apt/cache" "$apt/lists"
mv "$place/root.new" "$place/root"

# Its own loader and libraries. Patched, since a terminal's Neovim starts its own program file again.
set -- "$place"/root/usr/lib/*-linux-gnu "$place"/root/lib/*-linux-gnu
path=''
for directory; do
    [ ! -d "$directory" ] || path=$path${path:+:}$directory
done
loader=$(find "$place/root/usr/lib" "$place/root/usr/lib64" "$place/root/lib64" "$place/root/lib" -name 'ld-linux-*.so*' \
    2>/dev/null | head -n 1)
patchelf --set-interpreter "$loader" --force-rpath --set-rpath "$path" "$place/root/usr/bin/$program"
cat >"$place/$program" <<RUN
#!/bin/sh
export $runtime="$place/root/$runtime_folder"
exec "$place/root/usr/bin/$program" "\$@"
RUN
chmod +x "$place/$program"
"$place/$program" --version | head -n 1
