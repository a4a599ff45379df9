#!/bin/bash
# An upload, a list and a download with installed programs in a root file system, which may have nothing else, not even a shell.
# Usage: unshare --net --mount --propagation=private first_upload.sh ROOT USER HOME DEVICE SERVER ARGUMENT...
#   ROOT             the root file system
#   USER             USER:GROUP who runs the programs, by number
#   HOME             a folder in ROOT that belongs to the user; the data directory is HOME/data, or that of the arguments
#   DEVICE, SERVER   the programs in ROOT; the arguments are those of the server
set -euo pipefail

root=$1 user=$2 device=$4 server=$5
export HOME=$3 LC_ALL=C.UTF-8
shift 5
ip link set lo up
mount -t proc proc "$root/proc"
# Nothing of this machine's environment counts.
inside=(env -i PATH=/usr/sbin:/usr/bin HOME="$HOME" LC_ALL=C.UTF-8 chroot --userspec="$user" "$root")
data=$HOME/data
for argument in "$@"; do case $argument in /var/lib/*) data=$argument ;; esac; done

"${inside[@]}" "$server" "$@" >"$root/log" 2>&1 &
serving=$!
trap 'kill "$serving"; wait "$serving" || true' EXIT
password=$root$data/initial-admin-password
until [ -e "$password" ] && "${inside[@]}" "$server" login --user admin --password-stdin <"$password" >/dev/null 2>&1; do
    kill -0 "$serving" || { cat "$root/log" >&2; exit 1; }
    sleep 0.05
done
"${inside[@]}" "$server" site create "North plant"
"${inside[@]}" "$server" device suite create --site 1 --display-name "Survey robots"
"${inside[@]}" "$server" device register 261121-000001 --suite deviceSuites/1
"${inside[@]}" "$device" init 261121-000001
head -c 100000000 /dev/urandom >"$root$HOME/drive.mcap"
chown "$user" "$root$HOME/drive.mcap"
"${inside[@]}" "$device" upload "$HOME/drive.mcap" --tag weather=rain
"${inside[@]}" "$server" ls weather=rain
"${inside[@]}" "$server" download drive.mcap --to "$HOME/downloads"
cmp "$root$HOME/drive.mcap" "$root$HOME/downloads/drive.mcap"
