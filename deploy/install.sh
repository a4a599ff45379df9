#!/bin/sh
# Installs the server or the device program of data-gateway from a release: docs/installation.md describes every option.
# The file only defines functions until its last line, so that a file that was cut off while it was downloaded does nothing.
# Nothing is unpacked before the release's signature and the sum of the archive were verified.
set -u

usage() {
    cat <<'USAGE'
Usage: install.sh server|device --from URL|DIR [--version V] [--prefix DIR] [--package]
       install.sh uninstall server|device [--prefix DIR] [--package]
  --from URL|DIR  the folder of the release with SHA256SUMS and SHA256SUMS.asc; default: DATA_GATEWAY_FROM.
                  A URL begins with https://; http:// is accepted for this machine only.
  --version V     take the release from the folder V below URL|DIR, and refuse another version
  --prefix DIR    install below DIR; default: /usr/local for root, else ~/.local
  --package       install the Debian package with apt-get, as root
  --undo          the same as uninstall
USAGE
}

# The public key of the releases, in Base64. scripts/installer fills it in.
public_key() {
    cat <<'KEY'
@PUBLIC_KEY@
KEY
}

say() { printf 'install.sh: %s\n' "$*"; }

fail() {
    printf 'install.sh: %s\n' "$*" >&2
    exit 1
}

misuse() {
    printf 'install.sh: %s\n' "$1" >&2
    usage >&2
    exit 2
}

# Removes the downloads and the unfinished version. Only folders that this run created are removed, and only empty ones.
clean_up() {
    [ -z "$work" ] || rm -rf "$work"
    [ -z "$stage" ] || rm -rf "$stage"
    [ -z "$home" ] || rm -f "$home/current.new" "$home/manifest.new"
    printf '%s' "$created" | while IFS= read -r folder; do rmdir "$folder" 2>/dev/null || true; done
}

# The free space of the file system of a folder.
free_space() { printf '%s KiB are free in %s' "$(df -Pk "$1" | awk 'NR == 2 { print $4 }')" "$1"; }

require() {
    command -v "$1" >/dev/null 2>&1 || fail "the program $1 is missing; on Debian: apt-get install $2"
}

# Makes a folder and those above it, and records the new ones, the deepest first.
make_folder() {
    [ -d "$1" ] && return 0
    case $1 in */*) make_folder "${1%/*}" ;; esac
    [ -z "$1" ] && return 0
    mkdir "$1" 2>/dev/null || fail "cannot create the folder $1: choose a folder that you may write to with --prefix, or free space"
    created="$1
$created"
}

parse() {
    [ $# -gt 0 ] || misuse "the first argument is server, device or uninstall"
    while [ $# -gt 0 ]; do
        case $1 in
            server | device) kind=$1 ;;
            uninstall | --undo) action=uninstall ;;
            --package) package=yes ;;
            --from | --version | --prefix)
                [ $# -gt 1 ] || misuse "the option $1 needs a value"
                case $1 in
                    --from) from=$2 ;;
                    --version) version=$2 ;;
                    --prefix) prefix=$2 ;;
                esac
                shift
                ;;
            -h | --help)
                usage
                exit 0
                ;;
            *) misuse "the argument $1 is unknown" ;;
        esac
        shift
    done
    case $kind in
        server) name=data-gateway ;;
        device) name=data-gateway-device ;;
        *) misuse "name the program: server or device" ;;
    esac
    case $version in */* | .* | *[!A-Za-z0-9.+~-]*) misuse "the version $version is not valid" ;; esac
}

# Sets the folder of the installation; it is made absolute, because links and the manifest name it.
choose_prefix() {
    if [ -z "$prefix" ]; then
        if [ "$(id -u)" -eq 0 ]; then
            prefix=/usr/local
        else
            [ -n "${HOME:-}" ] || fail "HOME is not set: name a folder with --prefix"
            prefix=$HOME/.local
        fi
    fi
    case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
    case $prefix in *"
"*) fail "the folder of --prefix has a line feed in its name" ;; esac
    prefix=${prefix%/}
    home=$prefix/lib/$name
}

choose_machine() {
    [ "$(uname -s)" = Linux ] || fail "this system is $(uname -s); there are programs for Linux only"
    case $(uname -m) in
        x86_64 | amd64) machine=amd64 ;;
        aarch64 | arm64) machine=arm64 ;;
        *) fail "there is no program for this machine ($(uname -m)); there are programs for x86_64 and aarch64" ;;
    esac
}

choose_source() {
    [ -n "$from" ] || misuse "name the place of the release with --from or DATA_GATEWAY_FROM"
    from=${from%/}
    protocol=
    case $from in
        *@*://* | *://*@*) fail "the URL $from has a user name or a password; remove it" ;;
        https://*) protocol=https ;;
        http://127.0.0.1 | http://127.0.0.1[:/]* | http://localhost | http://localhost[:/]* | http://\[::1\]*) protocol=http ;;
        *://*) fail "the URL $from does not begin with https://" ;;
        *) [ -d "$from" ] || fail "the folder $from does not exist" ;;
    esac
    [ -z "$version" ] || from=$from/$version
    if [ -n "$protocol" ]; then
        if command -v curl >/dev/null 2>&1; then
            tool=curl
        elif command -v wget >/dev/null 2>&1; then
            tool=wget
        else
            fail "curl and wget are missing; on Debian: apt-get install curl"
        fi
    fi
}

# Fetches a file of the release into the work folder.
fetch() {
    if [ -z "$protocol" ]; then
        [ -f "$from/$1" ] || fail "$from has no file $1"
        cp "$from/$1" "$work/$1" 2>"$work/error" || fail "cannot copy $1: $(cat "$work/error" 2>/dev/null); $(free_space "$work")"
        return
    fi
    if [ "$tool" = curl ]; then
        curl --proto "=$protocol" --proto-redir "=$protocol" --fail --silent --show-error --location --output "$work/$1" "$from/$1" 2>"$work/error"
    else
        # wget cannot be restricted to https after a redirection.
        wget --no-verbose --max-redirect=0 --tries=3 --output-document="$work/$1" "$from/$1" 2>"$work/error"
    fi || fail "cannot download $from/$1: $(tail -n 1 "$work/error" 2>/dev/null); $(free_space "$work")"
}

# Writes the embedded key to a keyring that only gpgv uses.
write_keyring() {
    case $(public_key) in *@PUBLIC*) fail "this is the template of install.sh without a public key; take the file of a release" ;; esac
    public_key | base64 -d >"$work/key.gpg" 2>/dev/null || fail "the public key in this file is damaged; download install.sh again"
}

verify_release() {
    fetch SHA256SUMS
    fetch SHA256SUMS.asc
    gpgv --homedir "$work" --keyring "$work/key.gpg" "$work/SHA256SUMS.asc" "$work/SHA256SUMS" >"$work/error" 2>&1 ||
        fail "the signature of SHA256SUMS is wrong; nothing was installed. gpgv reports: $(tail -n 1 "$work/error")"
}

# Finds the one file in SHA256SUMS whose name begins with $1 and ends with $2, and sets file, sum and found.
choose_file() {
    file=
    # Each line has a sum of 64 digits, a space, a space or an asterisk, and the name.
    while IFS= read -r line; do
        candidate=$(printf '%s\n' "$line" | cut -c 67-)
        case $candidate in "$1"[0-9]*"$2") ;; *) continue ;; esac
        case $candidate in */*) continue ;; esac
        [ -z "$file" ] || fail "SHA256SUMS lists several versions: $file, $candidate"
        file=$candidate
        sum=$(printf '%s\n' "$line" | cut -c 1-64)
    done <"$work/SHA256SUMS"
    [ -n "$file" ] || fail "the release has no file $1VERSION$2 for this machine"
    found=${file#"$1"}
    found=${found%"$2"}
    [ -z "$version" ] || [ "${found%-1}" = "$version" ] || fail "the release has the version $found, not $version"
}

fetch_verified() {
    fetch "$file"
    actual=$(sha256sum "$work/$file" | cut -c 1-64)
    [ "$actual" = "$sum" ] || fail "the sum of $file is wrong: the file is damaged, or the download was cut off; nothing was installed"
}

# The files of a version, as its manifest lists them, still exist.
is_complete() {
    [ -f "$home/$1.manifest" ] || return 1
    [ "$(head -n 1 "$home/$1.manifest")" = "$sum" ] || return 1
    sed 1d "$home/$1.manifest" | while IFS= read -r path; do
        [ -e "$home/$1/$path" ] || [ -L "$home/$1/$path" ] || exit 1
    done
}

# Removes the files that the manifest of a version lists, then the folders that are empty.
remove_version() {
    sed 1d "$home/$1.manifest" | LC_ALL=C sort -r | while IFS= read -r path; do
        if [ -d "$home/$1/$path" ] && [ ! -L "$home/$1/$path" ]; then
            rmdir "$home/$1/$path" 2>/dev/null || say "kept $home/$1/$path, which has files that were not installed"
        else
            rm -f "$home/$1/$path"
        fi
    done
    rmdir "$home/$1" 2>/dev/null || true
    rm -f "$home/$1.manifest"
}

# Unpacks the archive beside the versions, and checks that its links would replace nothing.
unpack() {
    top=$name-$found-linux-$machine
    tar -tzf "$work/$file" >"$work/list" 2>"$work/error" || fail "cannot read $file: $(tail -n 1 "$work/error")"
    if grep -Ev "^(\./)?$(printf '%s' "$top" | sed 's/[.+]/\\&/g')(/|\$)" "$work/list" >/dev/null || grep -E '(^|/)\.\.(/|$)' "$work/list" >/dev/null; then
        fail "$file has files outside of $top"
    fi
    for folder in "$prefix/bin" "$home"; do make_folder "$folder"; done
    # Left by a run that was killed.
    rm -rf "$home"/new.??????
    stage=$(mktemp -d "$home/new.XXXXXX" 2>/dev/null) || fail "cannot write to $home"
    tar -xzf "$work/$file" -C "$stage" --no-same-owner 2>"$work/error" ||
        fail "cannot unpack $file into $home: $(head -n 1 "$work/error"); $(free_space "$home"); nothing was installed"
    for program in "$stage/$top/bin"/*; do
        [ -f "$program" ] || fail "$file has no programs"
        link=$prefix/bin/${program##*/}
        [ ! -e "$link" ] && [ ! -L "$link" ] && continue
        [ "$(readlink "$link")" = "../lib/$name/current/bin/${program##*/}" ] ||
            fail "$link exists and is not from this installation; remove it, or choose another folder with --prefix"
    done
}

# Puts the version in place; the last step replaces one link, so that there is an old or a new version at every moment.
switch() {
    folder=$found number=1
    while [ -e "$home/$folder" ]; do
        folder=$found+$number number=$((number + 1))
    done
    before=$(readlink "$home/current" || true)
    # The manifest is complete before the folder exists, so that an interrupted installation can be removed.
    {
        echo "$sum"
        (cd "$stage/$top" && find . -mindepth 1 | sed 's|^\./||')
    } >"$home/manifest.new" 2>/dev/null || fail "cannot write to $home: the disk is full"
    mv "$home/manifest.new" "$home/$folder.manifest" || fail "cannot write to $home"
    chmod 755 "$stage/$top"
    if ! mv "$stage/$top" "$home/$folder"; then
        rm -f "$home/$folder.manifest"
        fail "cannot write to $home"
    fi
    if ! { ln -s "$folder" "$home/current.new" && mv -T "$home/current.new" "$home/current"; } 2>/dev/null; then
        remove_version "$folder"
        fail "cannot write to $home"
    fi
    # The folders that this installation created, for its removal.
    printf '%s' "$created" >>"$home/folders"
    created=
    for program in "$home/$folder/bin"/*; do
        ln -sfn "../lib/$name/current/bin/${program##*/}" "$prefix/bin/${program##*/}" || fail "cannot write to $prefix/bin"
    done
    # The version before stays: a running program may still use its files.
    for manifest in "$home"/*.manifest; do
        other=${manifest##*/} other=${other%.manifest}
        [ "$other" = "$folder" ] || [ "$other" = "$before" ] || remove_version "$other"
    done
    remove_stale_links
}

# Removes the links of programs that the present version does not have.
remove_stale_links() {
    for link in "$prefix/bin"/*; do
        case $(readlink "$link" || true) in "../lib/$name/current/bin/"*) [ -e "$link" ] || rm -f "$link" ;; esac
    done
}

install_archive() {
    choose_file "$name-" "-linux-$machine.tar.gz"
    present=$(readlink "$home/current" || true)
    if [ -n "$present" ] && is_complete "$present"; then
        say "$name $found is already installed in $home/$present; nothing was changed."
        return
    fi
    fetch_verified
    unpack
    switch
    say "installed $name $found in $home/$folder; the signature and the sum of $file are right."
    for program in "$home/$folder/bin"/*; do say "the program is $prefix/bin/${program##*/}"; done
    case :$PATH: in *":$prefix/bin:"*) ;; *) say "add $prefix/bin to PATH" ;; esac
    say "to undo: sh install.sh uninstall $kind --prefix '$prefix'"
}

install_package() {
    [ "$(id -u)" -eq 0 ] || fail "only root can install the package; without --package, root is not needed"
    require apt-get apt
    choose_file "${name}_" "_$machine.deb"
    installed=$(dpkg-query -W -f '${db:Status-Status} ${Version}' "$name" 2>/dev/null || true)
    if [ "$installed" = "installed $found" ]; then
        say "the package $name $found is already installed; nothing was changed."
        return
    fi
    fetch_verified
    # apt-get reads the file as another user.
    chmod 755 "$work"
    apt-get install -y "$work/$file" || fail "apt-get could not install $file"
    say "installed the package $name $found; the signature and the sum of $file are right."
    say "to undo: apt-get remove $name"
}

uninstall() {
    if [ -n "$package" ]; then
        apt-get remove -y "$name" || fail "apt-get could not remove the package $name"
        say "removed the package $name; its data and configuration stay."
        return
    fi
    if [ ! -d "$home" ]; then
        say "$name is not installed in $prefix; nothing was changed."
        return
    fi
    for link in "$prefix/bin"/*; do
        case $(readlink "$link" || true) in "../lib/$name/current/bin/"*) rm -f "$link" ;; esac
    done
    rm -rf "$home/current" "$home/current.new" "$home/manifest.new" "$home"/new.??????
    for manifest in "$home"/*.manifest; do
        [ -f "$manifest" ] || continue
        other=${manifest##*/}
        remove_version "${other%.manifest}"
    done
    # The list is read before it is removed: its last folder contains it.
    folders=$(cat "$home/folders" 2>/dev/null || true)
    rm -f "$home/folders"
    printf '%s\n' "$folders" | LC_ALL=C sort -ru | while IFS= read -r folder; do
        [ -z "$folder" ] || rmdir "$folder" 2>/dev/null || true
    done
    say "removed $name from $prefix. Keys, configuration and data stay."
}

main() {
    umask 022
    kind='' action=install package='' from=${DATA_GATEWAY_FROM:-} version='' prefix=''
    work='' stage='' home='' created='' name=''
    parse "$@"
    choose_prefix
    trap clean_up EXIT
    trap 'exit 130' HUP INT TERM
    if [ "$action" = uninstall ]; then
        uninstall
        return
    fi
    choose_machine
    choose_source
    require gpgv gpgv
    require sha256sum coreutils
    require tar tar
    require gzip gzip
    work=$(mktemp -d) || fail "cannot create a temporary folder; set TMPDIR to a folder with free space"
    write_keyring
    verify_release
    if [ -n "$package" ]; then install_package; else install_archive; fi
}

main "$@"
