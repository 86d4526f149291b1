#!/bin/sh
echo "weft: 'bazel coverage' is not set up: Bazel's coverage tools are not in Debian" >&2
exit 1
