#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Stands in for the program `kernpack`. It is run by a link, and does as the files beside the link
# say: `version`, `answer` and `stderr` are what it says, `status` is how it ends, and of `object`
# and `functions` it makes its outputs. Where `answer-to-arch` is there, it refuses `--arch` by it.
# It writes its arguments into `called`, a line each.
here=$(dirname "$0")
if [ "$1" = --version ]; then
    cat "$here/version"
    exit 0
fi
pwd > "$here/folder"
case " $* " in
    *" --arch="*) [ ! -e "$here/answer-to-arch" ] || { cat "$here/answer-to-arch"; exit 1; } ;;
esac
printf '%s\n' "$@" > "$here/called"
while [ $# -gt 0 ]; do
    case "$1 $2" in
        "-o "*.o) cp "$here/object" "$2" ;;
        "-o "*.rs) cp "$here/functions" "$2" ;;
    esac
    shift
done
cat "$here/answer"
cat "$here/stderr" >&2
status=$(cat "$here/status")
[ "$status" != killed ] || kill -9 $$
exit "$status"
